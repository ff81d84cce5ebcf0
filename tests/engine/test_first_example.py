"""The first example of README, and what the engine needs to be installed.

>>> import numpy as np
>>> from nukidora import Game, make_bot
>>> game, bot = Game(seed=14, names=("Aki", "Ben", "Chi")), make_bot("rule")
>>> while not game.over:
...     for seat in game.asked:
...         game.act(seat, bot.act(np.array([game.view(seat)]))[0])
>>> print(game.results[0])
Ben wins by tsumo on 6p with 23457p 12350678s, ura indicators 1p
riichi 1, menzen tsumo 1, red dora 1, ura dora 1, nukidora 1: 5 han 30 fu, mangan, 6,000 points
Aki -4,000 · Ben +7,000 · Chi -2,000
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agents.registry import make as make_bot
from engine.cli import main
from engine.game import Game
from engine.records.files import read_records
from engine.records.replay import Replay

REPOSITORY = Path(__file__).resolve().parent.parent.parent
EXAMPLE = REPOSITORY / "examples" / "game.mjson"
ENGINE_ALONE = """
import sys
for name in ("pydantic", "pydantic_core", "websockets", "fastapi", "uvicorn", "sqlalchemy", "torch", "onnxruntime"):
    sys.modules[name] = None  # an import of it raises ModuleNotFoundError
from nukidora import Game, PlayerState, Replay, Tables, score
from engine.cli import main
from engine.records.files import read_records
state, game = PlayerState(), Game(7)
for message in game.new_messages(0):
    state.update(message)
assert state.legal == game.legal(0)
assert len(Tables(range(3)).records) == 3
assert str(score("123456789p11s23s", "4s"))
assert Replay(read_records(sys.argv[1])).check() == []
sys.exit(main(["show", sys.argv[1]]) or main(["validate", sys.argv[1]]))
"""


@pytest.mark.slow
def test_the_engine_needs_only_numpy_numba_and_rich() -> None:
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", ENGINE_ALONE, str(EXAMPLE)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1][:21]) == (0, "files 1 · rounds 5 · "), done.stderr


def test_the_example_record_follows_the_rules() -> None:
    replay = Replay(read_records(EXAMPLE))
    assert replay.check() == []
    types = [event["type"] for event in replay.record.events]
    assert {"reach", "nukidora", "pon", "ryukyoku"} <= set(types)
    wins = [event for event in replay.record.events if event["type"] == "hora"]
    assert {event["actor"] == event["target"] for event in wins} == {True, False}


def test_the_example_record_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(EXAMPLE)]) == 0
    assert "wins by tsumo on 8s" in capsys.readouterr().out


def test_a_round_whose_beginning_was_taken_is_not_in_the_results() -> None:
    whole, taken, bot = Game(seed=14), Game(seed=14), make_bot("rule")
    taken.take_messages()
    while not whole.over:
        seat = whole.asked[0]
        action = int(bot.act(np.array([whole.view(seat)]))[0])
        whole.act(seat, action)
        taken.act(seat, action)
    assert len(whole.results) > 1
    assert taken.results == whole.results[1:]
