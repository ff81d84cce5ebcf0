"""python -m agents.bert data: makes training files from recorded games or self-play."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from agents.base import ActionValues
from agents.bert.training.data import decisions, selfplay
from agents.bert.training.data.manifest import BAD_FILES, contents, list_bad_files, take_in
from agents.bert.training.data.shards import exists
from agents.bert.training.data.sources import Chunk, Records, SelfPlay, Source, SourceError, teacher_of
from agents.bert.training.data.workers import fill_all
from agents.registry import names
from engine.common.options import Parser, describe_error, positive, three_bots, usable_cores
from engine.common.progress import Progress
from engine.common.workers import WorkerError

FINISHED, FAILED, INTERRUPTED = 0, 1, 130

EPILOG = """\
One folder may hold data of several sources: several --selfplay in one command, or more commands, the further ones with
--add. The same command again goes on where it was interrupted. One game in twenty, told by its name or seed, is held
out of training: all its positions or none.

--records     mjlog XML, tenhou.net/6 JSON or mjai, gzipped or not; the rules are those the file names, or Tenhou's.
              Files of no use are listed in OUT/bad_files.txt.
--selfplay    hanchan by Tenhou's rules. Who sits where changes from game to game. A bot with a comma in it stands in
              double quotes: --selfplay 'rule,rule,"bert:my,folder"'
--decisions   all; winners: of those who finished first; rank:N: of those who finished first (1), second or third;
              player:NAME: of one player, in self-play of one bot, as it is named there
--teacher     a bot that weighs its actions, as rule does, also teaches how much worse the others are
--doubtful    of bots that weigh their actions, and of them alone, only the decisions in which one may expect to lose
              0.006 places or more by the teacher's word, and one in eight of the others
--trials      where a bot that plays hesitates to call, to declare a kan or riichi, each action that it or the teacher
              thinks of is tried N times: the teacher plays all seats from there to the end of the round. So are the
              best three discards in one of three decisions in which they are close; some other decisions come along, to
              be left as they are. For: python -m agents.bert improve
exit codes: 0 finished, 1 failed, 2 bad arguments, 130 interrupted
"""


def make_parser() -> Parser:
    """The command line."""
    parser = Parser(
        "agents.bert data",
        description="Makes training files from recorded games or self-play.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("out", type=Path, metavar="OUT", help="folder of the training files")
    parser.add_argument(
        "--records", type=Path, nargs="+", action="extend", metavar="PATH", help="files, or folders of them"
    )
    parser.add_argument(
        "--selfplay",
        type=three_bots,
        action="append",
        default=[],
        metavar="A,B,C",
        help=f"three of {', '.join(names())}",
    )
    parser.add_argument("--games", type=positive, default=1000, metavar="N", help="of each --selfplay (default 1000)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of walls and bots (default 0)")
    parser.add_argument(
        "--decisions", default=decisions.ALL, metavar="WHOSE", help="all (default), winners, player:NAME or rank:N"
    )
    parser.add_argument("--teacher", metavar="BOT", help="learn what this bot would have done, not what was played")
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--doubtful", action="store_true", help="only what the bot that plays may get wrong")
    chosen.add_argument("--trials", type=positive, default=0, metavar="N", help="learn what comes of N trials")
    parser.add_argument("--add", action="store_true", help="put this beside what else is in OUT")
    parser.add_argument(
        "--jobs", type=positive, default=usable_cores(), metavar="N", help="processes (default: all cores)"
    )
    return parser


def sources(given: argparse.Namespace) -> list[Source]:
    """The sources that the arguments name. Raises ValueError, OSError."""
    found: list[Source] = []
    whose = decisions.parse(given.decisions)
    teacher = teacher_of(given.teacher)
    if given.trials and (teacher is None or not given.selfplay):
        raise ValueError("--trials needs --selfplay, and a --teacher that plays the rounds out")
    if given.doubtful and (teacher is None or not given.selfplay):
        raise ValueError("--doubtful needs --selfplay, and a --teacher that knows better")
    if given.records and (given.trials or given.doubtful):
        raise ValueError("--trials, --doubtful choose decisions of --selfplay: add --records by another command, --add")
    for bots in given.selfplay:
        made = selfplay.make_bots(bots, given.seed)
        if (given.trials or given.doubtful) and not any(isinstance(bot, ActionValues) for bot in made):
            raise ValueError(f"--trials, --doubtful: none of {','.join(bots)} weighs its actions; bert and rule do")
        if whose.player is not None and whose.player not in bots:
            raise ValueError(f"--decisions {given.decisions}: no such bot plays in --selfplay {','.join(bots)}")
        found.append(
            SelfPlay(bots, given.games, given.seed, given.decisions, given.teacher, given.trials, given.doubtful)
        )
    if given.records:
        found.append(Records(given.records, given.decisions, given.teacher))
    if not found:
        raise ValueError("of what? give --records PATH or --selfplay A,B,C")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Make training files and return the exit code."""
    parser = make_parser()
    given = parser.parse_args(arguments)
    try:
        tasks = take_in(given.out, sources(given), add=given.add)
    except (ValueError, OSError) as error:
        parser.error(describe_error(error))
    code, why = make(given.out, tasks, given.jobs)
    if code != FINISHED:
        note(f"agents.bert data: {why}; the same command goes on")
    try:
        n_positions = report(given.out)
    except (ValueError, OSError) as error:
        note(f"agents.bert data: {describe_error(error)}")
        return code or FAILED
    if code == FINISHED and n_positions == 0:
        note(f"agents.bert data: {given.out}: nothing to learn from")
        return FAILED
    return code


def note(line: str) -> None:
    """Print a line to stderr."""
    print(line, file=sys.stderr, flush=True)


def make(out: Path, tasks: list[tuple[int, Chunk]], jobs: int) -> tuple[int, str]:
    """Make what is still missing; returns the exit code, and why it was left."""
    todo = [(number, chunk) for number, chunk in tasks if not exists(out, number)]
    total = sum(chunk.n for _, chunk in tasks)
    done = total - sum(chunk.n for _, chunk in todo)
    if not todo:
        note(f"{out}: finished already")
        return FINISHED, ""
    if done:
        note(f"going on from {done:,} of {total:,} games")
    try:
        with Progress("games", total, done) as progress, closing(fill_all(out, todo, jobs)) as filled:
            for n in filled:
                progress.advance(n)
    except KeyboardInterrupt:
        return INTERRUPTED, "interrupted"
    except (SourceError, WorkerError, OSError) as error:
        return FAILED, describe_error(error)
    return FINISHED, ""


def report(out: Path) -> int:
    """Print what the folder holds by now; returns its positions. Raises ValueError for damaged data, OSError."""
    made = contents(out)
    print(f"{out}: {made}")
    if n_bad := list_bad_files(out):
        print(f"{n_bad:,} files of no use, in whole or in part: see {out / BAD_FILES}")
    return made.positions
