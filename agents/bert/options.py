"""The options of the commands of ``python -m agents.bert``.

Importing a command's module, with numba or torch, takes seconds: it is imported once its options are parsed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from agents import registry
from agents.bert.families import DEFAULT_SIZE, FAMILIES
from agents.bert.training.config import TrainingConfig
from agents.training.settings import add_settings, settings_in
from engine.common.options import Parser, positive, seed, three_bots

ALL = "all"  # decisions
SAMPLES = 50_000  # of an evaluation
OBJECTIVES = {
    "pretrain": "Trains a BERT to predict masked tokens.",
    "train": "Trains policy and value to imitate the targets in the data.",
    "improve": "Improves a trained policy by the results of rollouts (data --rollouts).",
}
TRAINING_EPILOG = """\
Ctrl-C saves a checkpoint; the same command resumes from it. OUT/model has the network with the lowest policy_loss (of
pretrain: loss) in validation; metrics.csv and tensorboard/ have all metrics. On N GPUs:
torchrun --nproc-per-node N -m agents.bert …
"""
DATA_EPILOG = """\
A folder may hold data of several sources: give --selfplay several times, or run the command again with --add. If it is
interrupted, the same command continues it. One game in twenty is for validation, chosen by its file name or seed: all
of its samples or none.

--records        mjlog XML, tenhou.net/6 JSON or mjai, compressed or not, in files, zip, tar or databases of logs. The
                 rules are those named in the record, otherwise Tenhou's. OUT/bad_files.txt lists unusable records.
                 Four-player games are left out; python -m engine convert chooses among the others.
--selfplay       hanchan by Tenhou's rules; the seating changes from game to game. Quote a bot that contains a comma:
                 --selfplay 'rule,rule,"bert:my,folder"'
--decisions      all; winners: of the players who finished first; rank:N: of those who finished N-th (1-3);
                 player:NAME: of one player; in self-play the name is the bot as given to --selfplay
--teacher        targets are the teacher's action values (rule, yaku, linear and search have them) or its probabilities
                 (residual, selfplay, softmax, ensemble and networks), otherwise its action
--hard-examples  keep only the decisions in which the bot's expected regret, by the teacher's action values, is 0.006
                 placement or more, and one in eight of the others; of a teacher with probabilities, 1.5 nats or more
--rollouts       for decisions in which a bot is unsure whether to call, or to declare a kan or riichi: roll out each
                 action that it considers, and the teacher's, N times; the teacher plays all seats to the end of the
                 round. Also rolls out the best three discards in one of three decisions in which they are close. Some
                 other decisions are kept without rollouts. For: python -m agents.bert improve
--playouts       the bot that plays all seats in the rollouts in place of the teacher: linear and softmax are faster

With --hard-examples and --rollouts only bots with action values give samples, and they play their highest action value,
whatever their option temperature. The temperature of a teacher flattens the probabilities that are learned. That of a
bot flattens the probabilities of its mistakes, by which hard examples are chosen.

exit codes: 0 finished, 1 failed, 2 bad arguments, 130 interrupted
"""
EVALUATE_EPILOG = """\
The network is measured as it plays on a CPU (model.onnx), but without test-time augmentation.

With --data: accuracy and loss on the validation games, recall and precision by label, and how well the predicted
placement and final points are calibrated. All samples of a game share its outcome, so the precision of these metrics
depends on the number of games.

With --records: how often the network and the rule bot choose what the recorded players did, wherever more than one
label was legal. A clone has a few records in tests/data/records. For comparison the published numbers of wahaha's
network are printed; it was trained on 20,000 games of the archive it was tested on, and its count leaves out the
discards that follow a pon or a riichi.

±          half the width of the 95 % interval; a game is one observation
recall     of the samples in which the label was played, the share in which it was predicted
precision  of the samples in which the label was predicted, the share in which it was played
"""


SETTINGS = settings_in(TrainingConfig)
UNUSED = {"pretrain": {"value_weight", "teacher"}, "train": set(), "improve": {"teacher"}}  # settings by objective


def data_parser() -> Parser:
    """The command line of ``data``."""
    parser = Parser(
        "agents.bert data",
        description="Makes training data from recorded games or self-play.",
        epilog=DATA_EPILOG,
    )
    parser.add_argument("out", type=Path, metavar="OUT", help="data folder")
    parser.add_argument(
        "--records", type=Path, nargs="+", action="extend", metavar="PATH", help="records, archives, or folders of them"
    )
    parser.add_argument(
        "--selfplay",
        type=three_bots,
        action="append",
        metavar="A,B,C",
        help=f"three of {', '.join(registry.names())}",
    )
    parser.add_argument("--games", type=positive, default=1000, metavar="N", help="of each --selfplay (default 1000)")
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="of walls and bots (default 0)")
    parser.add_argument(
        "--decisions", default=ALL, metavar="WHOSE", help="all (default), winners, player:NAME or rank:N"
    )
    parser.add_argument("--teacher", metavar="BOT", help="learn from this bot, not from what was played")
    targets = parser.add_mutually_exclusive_group()
    targets.add_argument("--hard-examples", action="store_true", help="keep decisions in which the bot probably errs")
    targets.add_argument("--rollouts", type=positive, default=0, metavar="N", help="learn from N rollouts an action")
    parser.add_argument("--playouts", metavar="BOT", help="plays the rollouts (default: the teacher)")
    parser.add_argument("--add", action="store_true", help="add to the data in OUT")
    return parser


def training_parser(objective: str) -> Parser:
    """The command line of an objective; the fields of TrainingConfig are its settings."""
    parser = Parser(
        f"agents.bert {objective}",
        description=OBJECTIVES[objective],
        epilog=TRAINING_EPILOG,
    )
    parser.add_argument("data", metavar="DATA", help="data folder, made by: python -m agents.bert data")
    parser.add_argument("out", metavar="OUT", type=Path, help="folder of the run")
    if objective == "improve":
        parser.add_argument(
            "--from", dest="model", required=True, metavar="FOLDER", help="the trained network to improve"
        )
    else:
        sizes = {
            family.name: ", ".join(f"{name} ({size})" for name, size in family.sizes.items())
            for family in FAMILIES.values()
        }
        start = f"a size: {sizes['bert']}"
        if objective == "train":
            start += f", or of a CNN: {sizes['cnn']}"
        start += f"; or the folder of a network (default {DEFAULT_SIZE})"
        parser.add_argument("--from", dest="model", default=DEFAULT_SIZE, metavar="SIZE|FOLDER", help=start)
    add_settings(parser, {name: each for name, each in SETTINGS.items() if name not in UNUSED[objective]})
    return parser


def average_parser() -> Parser:
    """The command line of ``average``."""
    parser = Parser(
        "agents.bert average",
        description="Averages the weights of a network before and after more training. This keeps most of the gain "
        "and undoes most of the unintended change. The mean of independently trained networks plays badly.",
    )
    parser.add_argument("model", metavar="NETWORK", nargs="+", help="folders of networks, two or more")
    parser.add_argument("out", metavar="OUT", type=Path, help="folder of their mean")
    return parser


def deepen_parser() -> Parser:
    """The command line of ``deepen``."""
    parser = Parser(
        "agents.bert deepen",
        description="Makes a deeper BERT from a trained one; it plays about as well and can learn more.",
    )
    parser.add_argument("model", metavar="NETWORK", help="folder of a network")
    parser.add_argument("out", metavar="OUT", type=Path, help="folder of the deeper one")
    parser.add_argument("--layers", type=positive, required=True, metavar="N", help="layers of the deeper network")
    return parser


def export_parser() -> Parser:
    """The command line of ``export``."""
    parser = Parser(
        "agents.bert export",
        description="""makes model.onnx, which the bot plays on a CPU, from a checkpoint's weights.

The graph is built, calibrated on games of the bot rule and quantized to 8 bits. The commands train, improve, average
and deepen do the same for the networks they write; this one is for weights that came from elsewhere or changed.
""",
    )
    parser.add_argument(
        "checkpoint", metavar="NETWORK", type=Path, help="folder with config.json and model.safetensors"
    )
    return parser


def evaluate_parser() -> Parser:
    """The command line of ``evaluate``."""
    parser = Parser(
        "agents.bert evaluate",
        description="How well a network predicts, on validation games and on recorded games.",
        epilog=EVALUATE_EPILOG,
    )
    parser.add_argument("model", type=Path, metavar="NETWORK", help="folder of a network")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="data folder, whose validation games are used")
    parser.add_argument(
        "--records",
        type=Path,
        nargs="+",
        action="extend",
        metavar="PATH",
        help="recorded games: files, archives, or folders of them",
    )
    parser.add_argument(
        "--samples",
        type=positive,
        default=SAMPLES,
        metavar="N",
        help=f"validation samples at most (default {SAMPLES:,}); the same ones every time",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all metrics")
    return parser


# command -> its command line
PARSERS: dict[str, Callable[[], Parser]] = {
    "data": data_parser,
    **{objective: partial(training_parser, objective) for objective in OBJECTIVES},
    "deepen": deepen_parser,
    "average": average_parser,
    "export": export_parser,
    "evaluate": evaluate_parser,
}
