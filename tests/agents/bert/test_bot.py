"""The BERT bot plays what its network says, legally, and tells what it thought."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.base import ActionValues, Agent
from agents.bert import bot
from agents.bert.bot import SURE, Bert, Options, gumbel_noise, read_options
from agents.bert.checkpoint import REGRET_UNIT
from agents.bert.encoding import Encoded, encode
from agents.bert.inference import Predictions, load, softmax
from agents.bert.labels import LABEL_NAMES, N_LABELS, labels_of, legal_table
from agents.bert.symmetries import LABEL_MAPS, SUITS_SWAPPED, variant_of
from agents.external.adapters import AgentBot
from agents.registry import make
from arena.chunk import play_chunk
from arena.schedule import Settings
from engine.game import Game
from engine.mjai.actions import action_message
from engine.mjai.bot_messages import parse_reply
from tests.support.small_networks import TINY, weights, write_network


class Opinion:
    """A network that says the same of every position, and counts how often it is asked of how many."""

    def __init__(self, policy: np.ndarray) -> None:
        self.policy = policy.astype(np.float32)
        self.asked: list[int] = []

    def __call__(self, ids: np.ndarray, lengths: np.ndarray, n_state: np.ndarray) -> Predictions:
        n = len(ids)
        self.asked.append(n)
        placement = np.tile(np.array([0.5, 0.3, 0.2], dtype=np.float32), (n, 1))
        return Predictions(np.tile(self.policy, (n, 1)), placement, np.full(n, 12.34567, dtype=np.float32))


def of_opinion(policy: np.ndarray, seed: int = 0, **options: Any) -> tuple[Bert, Opinion]:
    opinion = Opinion(policy)
    return Bert(opinion, "bert", Options(**options), seed), opinion  # type: ignore[arg-type]


def spec(network: Path, options: str = "") -> str:
    return f"bert:{network}{options}"


RANDOM_POLICY = np.random.default_rng(5).normal(0, 3, N_LABELS)
RANDOM_OPINION = RANDOM_POLICY[None], RANDOM_POLICY[None]  # with the suits as they are, and swapped


def mean_policy(first: np.ndarray, swapped: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """float[n, N_LABELS]: the logits that come of what is said of positions and of them with their suits swapped."""
    own = np.where(legal, first, -np.inf)
    back = np.where(legal, swapped[:, LABEL_MAPS[SUITS_SWAPPED]], -np.inf)
    return np.where(softmax(own).max(axis=1, keepdims=True) < SURE, (own + back) / 2, own)


def policy_of(network: Path, views: np.ndarray) -> np.ndarray:
    """The same of all views, by a network."""
    net, encoded = load(network), encode(views)
    swapped = variant_of(encoded, SUITS_SWAPPED)
    first, second = (net(each.ids, each.lengths, each.n_state).policy for each in (encoded, swapped))
    return mean_policy(first, second, legal_table(views))


# What it plays --------------------------------------------------------------------------------------------------------


def test_its_worths_are_its_probabilities(network: Path, views: np.ndarray) -> None:
    """What is learned from a teacher comes out again: softmax(worth / REGRET_UNIT) is the policy."""
    bert = make(spec(network))
    assert isinstance(bert, ActionValues)
    worths, legal = bert.action_values(views), legal_table(views)
    assert np.array_equal(np.isfinite(worths).sum(axis=1), legal.sum(axis=1))
    n = len(views)
    assert (worths[np.arange(n), bert.act(views)] >= worths.max(axis=1)).all()
    policy = policy_of(network, views)
    for i in np.flatnonzero(legal.sum(axis=1) > 1)[:200]:
        labels = np.flatnonzero(legal[i])
        actions = np.flatnonzero(np.isfinite(worths[i]))
        own = dict(zip(labels_of(views[[i] * len(actions)], actions).tolist(), actions, strict=True))
        found = softmax(np.array([worths[i, own[label]] for label in labels]) / REGRET_UNIT)
        assert np.allclose(found, softmax(policy[i, labels]), atol=1e-4)


@pytest.mark.parametrize("options", ["", "?temperature=2"])
def test_games_in_the_arena_are_the_same_in_one_chunk_as_in_several(network: Path, options: str) -> None:
    """An illegal answer would raise."""
    settings = Settings((spec(network, options), "random", "efficiency"), 9, 7, "tenhou", "east")
    whole = play_chunk(settings, settings.make_bots(), [0, 1, 2], None, lambda over: None)
    parts = [play_chunk(settings, settings.make_bots(), [wall], None, lambda over: None) for wall in range(3)]
    assert (whole.counts == np.concatenate([part.counts for part in parts])).all()
    assert whole.decisions == sum(part.decisions for part in parts) > 1000


@pytest.mark.parametrize("options", ["", "?temperature=2"])
def test_answers_do_not_depend_on_the_batch(network: Path, options: str, views: np.ndarray) -> None:
    agent = make(spec(network, options), seed=3)
    actions = agent.act(views)
    assert (agent.act(views[::-1])[::-1] == actions).all()
    alone = [int(agent.act(views[i : i + 1])[0]) for i in range(len(views))]
    assert alone == actions.tolist()
    assert (make(spec(network, options), seed=3).act(views) == actions).all()
    same = (make(spec(network, options), seed=4).act(views) == actions).all()
    assert same == (options == "")


def test_the_likeliest_legal_label_is_played(network: Path, views: np.ndarray) -> None:
    labels = labels_of(views, make(spec(network)).act(views))
    policy, legal = policy_of(network, views), legal_table(views)  # illegal labels have -inf there
    assert (labels == policy.argmax(axis=1)).all()
    encoded = encode(views)
    alone = load(network)(encoded.ids, encoded.lengths, encoded.n_state).policy
    assert (alone.argmax(axis=1) != labels).mean() > 0.5, "the likeliest labels must often be illegal"
    assert (np.where(legal, alone, -np.inf).argmax(axis=1) != labels).mean() > 0.1, "a second look must change some"
    assert len(set(labels.tolist())) > 20


@pytest.mark.parametrize("temperature", [0.0, 1.0, 1e300])
def test_no_illegal_label_is_ever_played(views: np.ndarray, temperature: float) -> None:
    legal = legal_table(views)
    for label in range(N_LABELS):
        policy = np.where(np.arange(N_LABELS) == label, 1e30, 0)
        agent, _ = of_opinion(policy, temperature=temperature)
        labels = labels_of(views, agent.act(views))
        assert legal[np.arange(len(views)), labels].all()
        if temperature <= 1:
            assert (labels == label)[legal[:, label]].all()


def test_the_network_is_asked_only_where_there_is_a_choice(views: np.ndarray) -> None:
    agent, opinion = of_opinion(1e6 * RANDOM_POLICY)
    choices = legal_table(views).sum(axis=1)
    assert {1, 2} <= set(choices.tolist())
    agent.act(views)
    assert opinion.asked == [(choices > 1).sum()]
    agent.act(views[choices == 1])
    assert opinion.asked == [(choices > 1).sum()]
    assert len(agent.act(views[:0])) == 0


def test_where_it_is_not_sure_it_looks_again_with_suits_swapped(views: np.ndarray) -> None:
    looks: list[Encoded] = []

    class Watched(Opinion):
        def __call__(self, ids: np.ndarray, lengths: np.ndarray, n_state: np.ndarray) -> Predictions:
            looks.append(Encoded(ids, n_state, lengths))
            return super().__call__(ids, lengths, n_state)

    views = views[legal_table(views).sum(axis=1) > 1]
    legal = legal_table(views)
    Bert(Watched(RANDOM_POLICY), "bert", Options(), seed=0).act(views)  # type: ignore[arg-type]
    unsure = softmax(np.where(legal, RANDOM_POLICY, -np.inf)).max(axis=1) < SURE
    assert 0 < unsure.sum() < len(views)
    swapped = variant_of(encode(views[unsure]), SUITS_SWAPPED)
    assert len(looks) == 2
    assert all((found == wanted).all() for found, wanted in zip(looks[1], swapped, strict=True))
    assert not (looks[1].ids == looks[0].ids[unsure]).all(axis=1).any()


def test_views_are_left_as_they_are(network: Path, views: np.ndarray) -> None:
    before = views.tobytes()
    make(spec(network, "?temperature=1&top=3")).act(views)
    assert views.tobytes() == before


# Temperature ----------------------------------------------------------------------------------------------------------


def frequencies(view: np.ndarray, temperature: float, n: int = 4000) -> np.ndarray:
    """How often each label is played over many seeds."""
    labels = []
    for seed in range(n):
        agent, _ = of_opinion(RANDOM_POLICY, seed, temperature=temperature)
        labels.append(int(labels_of(view, agent.act(view))[0]))
    return np.bincount(labels, minlength=N_LABELS) / n


@pytest.fixture(scope="module")
def wide_choice(views: np.ndarray) -> np.ndarray:
    """TABLE[1]: the view with the most legal labels."""
    most = int(legal_table(views).sum(axis=1).argmax())
    return views[most : most + 1]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_labels_are_drawn_as_likely_as_they_are(wide_choice: np.ndarray, temperature: float) -> None:
    legal = legal_table(wide_choice)[0]
    assert legal.sum() >= 12
    expected = softmax(mean_policy(*RANDOM_OPINION, legal[None])[0] / temperature)
    found = frequencies(wide_choice, temperature)
    tolerance = 5 * np.sqrt(expected * (1 - expected) / 4000) + 1e-9
    assert (np.abs(found - expected) <= tolerance).all()


def test_as_it_cools_it_becomes_greedy(wide_choice: np.ndarray) -> None:
    best = mean_policy(*RANDOM_OPINION, legal_table(wide_choice))[0].argmax()
    for temperature in (0.0, 1e-9, 1e-300):
        assert frequencies(wide_choice, temperature, n=50)[best] == 1


def test_chance_comes_from_the_view_and_the_seed(views: np.ndarray) -> None:
    noise = gumbel_noise(views, seed=1)
    assert (gumbel_noise(views[::-1], seed=1)[::-1] == noise).all()
    assert (gumbel_noise(views, seed=(1 << 64) - 1) != noise).all()
    assert np.isfinite(noise).all()
    assert len(np.unique(noise)) > 0.9 * noise.size
    assert abs(noise.mean() - np.euler_gamma) < 0.05
    assert abs(noise.var() - np.pi**2 / 6) < 0.1


# What it tells --------------------------------------------------------------------------------------------------------


def replies(agent: Agent, seed: int = 5) -> list[dict[str, Any]]:
    """Its replies as seat 0 of a game."""
    players = [AgentBot(agent), *(AgentBot(make("efficiency")) for _ in range(2))]
    game, said = Game(seed), []
    while not game.over:
        for seat in game.asked:
            legal = game.legal(seat)
            reply = players[seat].react(game.new_messages(seat))
            if seat == 0:
                said.append(reply)
                reply = {key: value for key, value in reply.items() if key != "ext_bot"}
            game.act(seat, next(action for action in legal if action_message(game.table, seat, action) == reply))
    return said


def test_remarks_go_along_with_replies(network: Path) -> None:
    bots = make(spec(network)), make(spec(network, "?top=3"))
    plain, telling = ([*replies(bot), *replies(bot, seed=3)] for bot in bots)
    assert not any("ext_bot" in reply for reply in plain)
    assert plain == [{key: value for key, value in reply.items() if key != "ext_bot"} for reply in telling]
    thought_about = [reply for reply in telling if "ext_bot" in reply]
    assert len(thought_about) > 100
    for reply in thought_about:
        remark = reply["ext_bot"]
        candidates = remark["candidate"]
        assert 2 <= len(candidates) <= 3
        assert candidates[0] == {"token": remark["token"], "prob": remark["prob"]}
        shares = [candidate["prob"] for candidate in candidates]
        assert shares == sorted(shares, reverse=True)
        assert 0 < sum(shares) <= 1.001
        assert sum(remark["placement"]) == pytest.approx(1, abs=0.001)
        assert isinstance(remark["points"], float)
        named = reply["type"] if reply["type"] != "dahai" else f"dahai {reply['pai']}"
        assert remark["token"] == named


def test_what_is_remarked(views: np.ndarray) -> None:
    agent, opinion = of_opinion(RANDOM_POLICY, top=N_LABELS)
    asked = np.flatnonzero(legal_table(views).sum(axis=1) > 1)
    for row in asked[::10]:
        (label,) = labels_of(views[row : row + 1], agent.act(views[: row + 1])[-1:])
        legal = legal_table(views[row : row + 1])
        shares = softmax(mean_policy(*RANDOM_OPINION, legal)[0])
        expected = sorted(np.flatnonzero(legal).tolist(), key=lambda each: -shares[each])
        n_asked = len(opinion.asked)
        remark = agent.annotate()
        assert len(opinion.asked) == n_asked, "a remark asks nothing"
        assert [each["token"] for each in remark["candidate"]] == [LABEL_NAMES[each] for each in expected]
        assert [each["prob"] for each in remark["candidate"]] == pytest.approx(shares[expected], abs=1e-4)
        assert remark["token"] == LABEL_NAMES[label]
        assert (remark["placement"], remark["points"]) == ([0.5, 0.3, 0.2], 12.3457)
        assert len(json.dumps(remark).encode()) < 4096


def test_nothing_is_remarked_on_what_was_not_thought_about(views: np.ndarray) -> None:
    choices = legal_table(views).sum(axis=1)
    lone, wide = (views[rows[0] : rows[0] + 1] for rows in map(np.flatnonzero, (choices == 1, choices > 1)))
    agent, _ = of_opinion(RANDOM_POLICY, top=1)
    assert agent.annotate() == {}
    agent.act(wide)
    assert agent.annotate() != {}
    agent.act(np.concatenate([wide, lone]))
    assert agent.annotate() == {}
    agent.act(wide)
    agent.act(lone)
    assert agent.annotate() == {}


def test_what_was_drawn_is_told_though_others_were_likelier(wide_choice: np.ndarray) -> None:
    tokens = set()
    for seed in range(30):
        agent, _ = of_opinion(RANDOM_POLICY, seed, temperature=5.0, top=1)
        (label,) = labels_of(wide_choice, agent.act(wide_choice))
        remark = agent.annotate()
        assert remark["token"] == LABEL_NAMES[label]
        assert remark["prob"] <= remark["candidate"][0]["prob"]
        tokens.add(remark["token"])
    assert len(tokens) > 5


def test_the_server_takes_the_longest_remark(network: Path) -> None:
    for reply in replies(make(spec(network, f"?top={N_LABELS}")))[:200]:
        read = parse_reply(json.dumps(reply))
        assert read.get("ext_bot") == reply.get("ext_bot")


# By name --------------------------------------------------------------------------------------------------------------


def test_options() -> None:
    assert read_options("") == Options(temperature=0.0, top=0, device="cpu")
    assert read_options("temperature=0.5&top=46&device=cuda") == Options(0.5, 46, "cuda")
    assert read_options("top=0") == read_options("temperature=0") == Options()


KNOWN = r"temperature: .*; top: .*0 to 46; device: cpu or cuda$"


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ("heat=1", r"^the bot bert has no option 'heat', but " + KNOWN),
        ("greedy", r"^the bot bert has no option 'greedy', but " + KNOWN),
        ("=", r"^the bot bert has no option '', but " + KNOWN),
        ("top=1&top=2", r"^the bot bert is given the option 'top' twice$"),
        ("temperature", r"^the bot bert cannot take 'temperature'; temperature: .* from 0 up$"),
        ("temperature=-1", r"^the bot bert cannot take 'temperature=-1'; temperature: .* from 0 up$"),
        ("temperature=nan", r"cannot take 'temperature=nan'"),
        ("temperature=inf", r"cannot take 'temperature=inf'"),
        ("temperature=hot", r"cannot take 'temperature=hot'"),
        ("top=47", r"^the bot bert cannot take 'top=47'; top: .*0 to 46$"),
        ("top=-1", r"cannot take 'top=-1'"),
        ("top=1.5", r"cannot take 'top=1\.5'"),
        ("device=tpu", r"^the bot bert cannot take 'device=tpu'; device: cpu or cuda$"),
        ("temperature=1?top=1", r"cannot take 'temperature=1\?top=1'"),
    ],
)
def test_options_that_will_not_do(network: Path, options: str, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        make(spec(network, f"?{options}"))


def test_its_name_tells_networks_apart(network: Path) -> None:
    assert make(spec(network)).name == f"bert:{network.name}"
    assert make(spec(network, "?top=3")).name == f"bert:{network.name}"
    assert make(spec(network, "?temperature=0.50")).name == f"bert:{network.name}?temperature=0.5"


def test_the_network_that_comes_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, views: np.ndarray) -> None:
    monkeypatch.setattr(bot, "OWN_FOLDER", tmp_path / "weights")
    for name in ("bert", "bert:", "bert:?top=1"):
        with pytest.raises(
            ValueError, match=r"^the bot bert has no network of its own .* name a folder, as bert:FOLDER$"
        ):
            make(name)
    own = write_network(tmp_path / "weights")
    expected = make(f"bert:{own}").act(views)
    for name in ("bert", "bert:", "bert:?top=1"):
        assert make(name).name == "bert"
        assert (make(name).act(views) == expected).all()


def test_a_folder_that_will_not_do(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"^{tmp_path}/nowhere: there is no such folder"):
        make(f"bert:{tmp_path}/nowhere?top=1")


def test_a_folder_named_as_people_do(network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(network.parent)
    monkeypatch.setenv("HOME", str(network.parent))
    for folder in (".", f"~/{network.name}", f"../{network.parent.name}/{network.name}/"):
        os.chdir(network if folder == "." else network.parent)
        assert make(f"bert:{folder}").name == f"bert:{network.name}"


def test_a_network_is_loaded_once_for_all_bots_and_again_when_it_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, views: np.ndarray
) -> None:
    folder = write_network(tmp_path / "network")
    loads: list[Path] = []

    def counting(folder: Path, device: str) -> Callable[..., Predictions]:
        loads.append(folder)
        return load(folder, device)

    monkeypatch.setattr(bot, "load", counting)
    before = [make(f"bert:{folder}", seed).act(views) for seed in range(3)]
    assert len(loads) == 1
    assert all((actions == before[0]).all() for actions in before)

    (folder / "config.json").unlink()
    (folder / "model.safetensors").unlink()
    folder.rmdir()
    write_network(folder, TINY, weights(TINY, seed=2))
    os.utime(folder / "model.safetensors", (1, 1))
    assert (make(f"bert:{folder}").act(views) != before[0]).any()
    assert len(loads) == 2
