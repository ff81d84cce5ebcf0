"""The bot `human`: the network of `bert` with weights of its own."""

from __future__ import annotations

import numpy as np
import pytest

from agents.base import ActionValues
from agents.registry import make
from engine.records.files import read_records
from engine.records.replay import Replay
from engine.table import TABLE
from tests.conftest import DATA


def agreement(bot: str) -> float:
    """How often a bot chooses what the players of some hanchan of the phoenix room chose, where there was a choice."""
    views, chosen = [], []
    for path in sorted((DATA / "records").glob("phoenix_202[45]*"))[:4]:
        for decision in Replay(read_records(path)):
            if len(decision.legal) > 1:
                views.append(decision.view)
                chosen.append(int(decision.action))
    return float(np.mean(make(bot).act(np.array(views, dtype=TABLE)) == chosen))


@pytest.mark.slow
def test_it_chooses_what_people_choose_more_often_than_bert() -> None:
    assert agreement("human") > 0.775 > 0.765 > agreement("bert")


def test_it_has_the_options_of_bert_and_a_name_of_its_own() -> None:
    bot = make("human:?temperature=0.5")
    assert (make("human").name, bot.name) == ("human", "human?temperature=0.5")
    assert isinstance(bot, ActionValues)
    with pytest.raises(ValueError, match=r"human.*bert:my/folder"):
        make("human:my/folder?top=3")
