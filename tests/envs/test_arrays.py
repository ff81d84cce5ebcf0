"""Arrays that are used again."""

from __future__ import annotations

import numpy as np
import torch

from nukidora.envs.arrays import KEPT, Arrays


def address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def test_an_array_that_nobody_holds_is_given_again() -> None:
    arrays = Arrays((4, 5), np.float32)
    first = arrays.take()
    assert (first.shape, first.dtype, first.flags.writeable) == ((4, 5), np.float32, True)
    before = address(first)
    del first
    assert address(arrays.take()) == before


def test_what_holds_a_part_of_an_array_holds_it() -> None:
    arrays = Arrays((4, 5), np.float32)
    holders = [lambda a: a, lambda a: a[1:, 2], lambda a: a.reshape(2, 10)[0], torch.from_numpy, memoryview]
    for hold in holders:
        array = arrays.take()
        array[:] = 7
        held = hold(array)
        del array
        for _ in range(2 * KEPT):
            arrays.take()[:] = 0
        assert (np.asarray(held) == 7).all()
        del held


def test_no_more_arrays_are_kept_than_a_few() -> None:
    arrays = Arrays((2,), np.int8)
    held = [arrays.take() for _ in range(10)]
    assert len({address(each) for each in held}) == 10
    assert len(arrays._kept) == KEPT
