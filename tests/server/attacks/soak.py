"""python -m tests.server.attacks: all attacks in turn against one server, while honest bots play.

Prints a line a minute, and a table of all attacks at the end or at Ctrl-C. The exit code is 1 if one did harm.
"""

from __future__ import annotations

import argparse
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import cycle

from engine.common.options import Parser, positive_number
from engine.common.program import FAILED, OK
from tests.server.attacks.catalogue import ATTACKS
from tests.server.attacks.siege import MB, STRICT, Outcome, Siege, quantile, siege
from tests.support.attacker import Attack

MINUTE = 60.0
LEGEND = """\
worst and p99: ms that honest bots wait for the server's next message. own: worst delay of the measuring process itself.
new: ms until a newcomer plays. MB: memory that the server needs more at most. conns, sent: the attacker's connections,
and the MB that it sent. closed: those that the server closed. CPU: of the server, in percent of one processor.
"""
HEAD = (
    f"{'attack':46} {'worst':>7} {'p99':>7} {'own':>5} {'new':>7} {'MB':>6} {'faults':>6} {'drops':>5} "
    f"{'log':>6} {'conns':>7} {'closed':>7} {'sent':>7} {'CPU':>4}"
)


def row(outcomes: Sequence[Outcome]) -> str:
    """The line of an attack in the table, however often it was run."""
    waits = [wait for outcome in outcomes for wait in outcome.seen.waits]
    newcomers = [outcome.newcomer for outcome in outcomes]
    slowest = max([newcomer for newcomer in newcomers if not isinstance(newcomer, str)], default=0.0)
    new = "none" if any(isinstance(newcomer, str) for newcomer in newcomers) else f"{1000 * slowest:,.0f}"
    harm = sorted({text for outcome in outcomes for text in outcome.complaints(STRICT)})
    return (
        f"{outcomes[0].attack.name:46} {1000 * max(it.worst for it in outcomes):7,.0f} "
        f"{1000 * quantile(waits, 0.99):7.1f} "
        f"{1000 * max(lag for outcome in outcomes for lag in outcome.seen.lags):5.0f} "
        f"{new:>7} "
        f"{max(outcome.memory for outcome in outcomes) / MB:6.1f} "
        f"{sum(len(outcome.seen.errors) for outcome in outcomes):6} {sum(len(it.seen.drops) for it in outcomes):5} "
        f"{max(len(outcome.log) for outcome in outcomes):6,} {max(it.sent.connections for it in outcomes):7,} "
        f"{max(it.sent.closed for it in outcomes):7,} {max(it.sent.bytes for it in outcomes) / MB:7.1f} "
        f"{100 * max(it.cpu for it in outcomes):4.0f}" + "".join(f"\n    {text}" for text in harm)
    )


def minute_line(minute: float, under: Siege, outcomes: Sequence[Outcome]) -> str:
    """What happened in a minute."""
    waits = [wait for outcome in outcomes for wait in outcome.seen.waits]
    return (
        f"minute {minute:.0f}: {under.server.memory / MB:.0f} MB, {under.server.descriptors} descriptors, worst wait "
        f"{1000 * max(it.worst for it in outcomes):,.0f} ms, p99 {1000 * quantile(waits, 0.99):.1f} ms, "
        f"{sum(len(it.seen.errors) for it in outcomes)} faults, {sum(len(it.seen.drops) for it in outcomes)} drops, "
        f"{sum(it.seen.games for it in outcomes)} games, {len(outcomes)} attacks"
    )


def soak(under: Siege, attacks: Sequence[Attack], minutes: float | None, seconds: float, done: list[Outcome]) -> None:
    """Attack in turn, each once or for that many minutes in all; every outcome is added to `done`."""
    started, minute, n_told = time.monotonic(), 1, 0
    for attack in attacks if minutes is None else cycle(attacks):
        done.append(under.strike(attack, seconds))
        passed = (time.monotonic() - started) / MINUTE
        if passed > minute:
            print(minute_line(minute, under, done[n_told:]), flush=True)
            minute, n_told = int(passed) + 1, len(done)
        if minutes is not None and passed > minutes:
            break


def attack_names(text: str) -> list[Attack]:
    """The attacks whose names contain the text. Raises ArgumentTypeError."""
    found = [attack for name, attack in ATTACKS.items() if text in name]
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is part of no attack's name; they are: {', '.join(ATTACKS)}")
    return found


def main(argv: Sequence[str]) -> int:
    """Attack and print; returns the exit code."""
    parser = Parser("tests.server.attacks", description=__doc__)
    parser.add_argument(
        "--minutes", type=positive_number, metavar="N", help="in all (default: until each attack was run once)"
    )
    parser.add_argument("--seconds", type=positive_number, default=5.0, metavar="S", help="of each attack at a time")
    parser.add_argument("--only", type=attack_names, metavar="TEXT", help="only attacks whose name contains this")
    parser.add_argument("--access", choices=("auto", "token"), default="auto", help="who may play on the server")
    args = parser.parse_args(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # else the server would go on
    done: list[Outcome] = []
    try:
        with suppress(KeyboardInterrupt), siege(games=3, access=args.access) as under:
            soak(under, args.only or list(ATTACKS.values()), args.minutes, args.seconds, done)
    finally:  # also where the server has died
        print("\n" + LEGEND + "\n" + HEAD)
        for name in dict.fromkeys(outcome.attack.name for outcome in done):
            print(row([outcome for outcome in done if outcome.attack.name == name]))
    harmless = not any(outcome.complaints(STRICT) for outcome in done)
    return OK if harmless else FAILED
