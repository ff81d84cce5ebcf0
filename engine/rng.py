"""The random generator of compiled code: splitmix64, and numbers from its words.

Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014), with the constants of Vigna's
splitmix64.c. The same seed gives the same numbers on every machine.
"""

from __future__ import annotations

import numpy as np

from engine.compiling import inner

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # added to the state for each number: 2^64 divided by the golden ratio
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
LOW_32 = np.uint64(0xFFFFFFFF)


@inner
def splitmix(x: np.uint64) -> np.uint64:
    """The output function of splitmix64: a bijection of 64-bit words, used as a hash as well."""
    x = (x ^ (x >> np.uint64(30))) * MIX_1
    x = (x ^ (x >> np.uint64(27))) * MIX_2
    return x ^ (x >> np.uint64(31))


@inner
def scaled(word: np.uint64, n: int) -> int:
    """A number in [0, n) from the high 32 bits of a random word (multiply and shift; bias below n / 2^32)."""
    return np.int64(((word >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@inner
def random_below(state: np.uint64, n: int) -> tuple[np.uint64, int]:
    """The next generator state and an unbiased number in [0, n) (Lemire 2019: multiply and reject, 32 bits)."""
    bound = np.uint64(n)
    while True:
        state = state + GOLDEN
        product = (splitmix(state) >> np.uint64(32)) * bound
        low = product & LOW_32
        if low >= bound or low >= (LOW_32 + np.uint64(1) - bound) % bound:  # the division is rarely needed
            return state, np.int64(product >> np.uint64(32))


@inner
def uniform(word: np.uint64) -> float:
    """A number in (0, 1), neither end included, from the high 53 bits of a random word."""
    return (np.float64(word >> np.uint64(11)) + 0.5) * 2.0**-53


@inner
def gumbel(word: np.uint64) -> float:
    """A number of the standard Gumbel distribution from a random word.

    The argmax of logits plus such numbers is a sample from their softmax (the Gumbel-max trick).
    """
    return -np.log(-np.log(uniform(word)))
