"""Training files: the same positions from self-play, records and live views, read back whole and in fair batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from agents import registry
from agents.bert.labels import N_LABELS, labels_of
from agents.bert.training.data import records, selfplay
from agents.bert.training.data.dataset import HELD_OUT_OF, Dataset
from agents.bert.training.data.decisions import Decisions, parse
from agents.bert.training.data.records import Fault
from agents.bert.training.data.shards import WORST_REGRET, Shard, load, save
from engine.mjai.messages import Message
from engine.records.files import write_record
from engine.records.model import GameRecord
from engine.rules import TENHOU
from tests.support.small_games import BOTS, SEED, Played, chosen, folder_bytes, play, rows_in

N_GAMES = 6


@pytest.fixture(scope="module")
def live() -> list[Played]:
    return [play(number) for number in range(N_GAMES)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same games from self-play, in three shards."""
    folder = tmp_path_factory.mktemp("data")
    bots = selfplay.make_bots(BOTS, SEED)
    for number, first in enumerate(range(0, N_GAMES, 2)):
        save(selfplay.play(bots, BOTS, SEED, first, 2, Decisions()), folder, number)
    return folder


def saved(shard: Shard, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    save(shard, folder, 0)
    return folder


def test_self_play_is_what_live_views_encode(live: list[Played], folder: Path) -> None:
    rows = rows_in(folder)
    assert Counter(rows) == chosen(live)
    assert len(rows) > 1000
    assert len({row[3] for row in rows}) > 30  # labels


@pytest.mark.parametrize("ending", [".mjson", ".mjson.gz", ".json", ".json.gz"])
def test_records_give_what_live_views_encode(ending: str, live: list[Played], tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}{ending}" for number in range(N_GAMES)]
    for game, path in zip(live, paths, strict=True):
        write_record(game.record, path)
    shard, faults = records.gather(paths, Decisions())
    assert faults == []
    expected = chosen(live, lambda game, decision: game.recorded[decision])
    assert Counter(rows_in(saved(shard, tmp_path / "data"))) == expected
    assert expected != chosen(live), "no ron hides a call: the test does not see what becomes of it"


def test_a_game_is_told_by_its_file_name(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    names = ("a.json", "a.mjson.gz", "sub/a.xml", "b.json", "a.b.json")
    ids = [records.identity(tmp_path / name) for name in names]
    assert ids[0] == ids[1] == ids[2]
    assert len(set(ids)) == 3
    assert all(0 <= identity < 1 << 64 for identity in ids)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("all", lambda game, seat: True),
        ("winners", lambda game, seat: game.game.ranks[seat] == 1),
        ("rank:2", lambda game, seat: game.game.ranks[seat] == 2),
        ("rank:3", lambda game, seat: game.game.ranks[seat] == 3),
        ("player:random", lambda game, seat: game.names[seat] == "random"),
        ("player:rule", lambda game, seat: game.names[seat] == "rule"),
    ],
)
def test_whose_decisions_count(
    text: str, wanted: Callable[[Played, int], bool], live: list[Played], tmp_path: Path
) -> None:
    def is_wanted(game: Played, decision: int) -> bool:
        return wanted(game, int(game.views[decision]["viewer"][0]))

    shard = selfplay.play(selfplay.make_bots(BOTS, SEED), BOTS, SEED, 0, N_GAMES, parse(text))
    assert Counter(rows_in(saved(shard, tmp_path / "played"))) == chosen(live, is_wanted)
    paths = [tmp_path / f"{number}.mjson" for number in range(N_GAMES)]
    for game, path in zip(live, paths, strict=True):
        write_record(game.record, path)
    shard, _ = records.gather(paths, parse(text))
    recorded = chosen(live, lambda game, decision: game.recorded[decision] and is_wanted(game, decision))
    assert Counter(rows_in(saved(shard, tmp_path / "recorded"))) == recorded


def test_a_teacher_says_what_is_to_be_learned(live: list[Played], tmp_path: Path) -> None:
    """Its choice, and how much worse it thinks every other label that it weighs."""
    teacher = registry.make("rule")
    shard = selfplay.play(selfplay.make_bots(BOTS, SEED), BOTS, SEED, 0, N_GAMES, Decisions(), teacher=teacher)
    learned = {row[:2]: row for row in rows_in(saved(shard, tmp_path / "taught"))}
    n_told = 0
    for game in live:
        views, chosen_by_it = game.all_views, teacher.act(game.all_views)
        worths, labels = teacher.action_values(views), labels_of(views, chosen_by_it)
        for i, (row, is_open) in enumerate(zip(game.rows, game.open, strict=True)):
            if not is_open:
                continue
            taught = learned[row[:2]]
            assert taught[2] == row[2]
            assert taught[4:6] == row[4:6]
            expected = np.full(N_LABELS, np.inf)
            for action in np.flatnonzero(np.isfinite(worths[i])):
                label = labels_of(views[i : i + 1], np.array([action]))[0]
                expected[label] = min(expected[label], worths[i].max() - worths[i, action])
            found = np.frombuffer(taught[6], dtype=np.float32)
            assert found[labels[i]] == 0.0 == found[taught[3]]
            assert np.array_equal(np.isfinite(found), np.isfinite(expected))
            told = np.minimum(expected, WORST_REGRET)[np.isfinite(expected)]
            assert (np.abs(found[np.isfinite(found)] - told) < 0.0085 * np.cbrt(told) ** 2 + 1e-6).all()
            n_told += len(told) > 1
    assert n_told > 500


def test_records_may_be_taught_too(live: list[Played], tmp_path: Path) -> None:
    path = tmp_path / "game.mjson"
    write_record(live[0].record, path)
    teacher = registry.make("rule")
    played = selfplay.play(selfplay.make_bots(BOTS, SEED), BOTS, SEED, 0, 1, Decisions(), teacher=teacher)
    recorded, _ = records.gather([path], Decisions(), teacher)
    assert Counter(rows_in(saved(recorded, tmp_path / "a"))) <= Counter(rows_in(saved(played, tmp_path / "b")))
    assert len(recorded.positions) > 0.9 * len(played.positions)


def test_games_without_the_player_are_left_out(live: list[Played], tmp_path: Path) -> None:
    paths = [tmp_path / "with.mjson", tmp_path / "without.mjson"]
    write_record(renamed(live[0].record, ["a", "b", "c"]), paths[0])
    write_record(renamed(live[1].record, ["d", "e", "f"]), paths[1])
    shard, faults = records.gather(paths, parse("player:b"))
    assert faults == []
    assert shard.games["id"].tolist() == [records.identity(paths[0])]
    assert set(shard.positions["seat"].tolist()) == {1}
    assert shard.games["n_positions"].tolist() == [len(shard.positions)]


def renamed(record: GameRecord, names: list[str]) -> GameRecord:
    return GameRecord([record.events[0] | {"names": names}, *record.events[1:]], TENHOU, "own")


@pytest.mark.parametrize("text", ["", "al", "rank:0", "rank:4", "rank", "player:", "player", "winners:1"])
def test_other_words_for_whose_decisions_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"none of all, winners, player:NAME"):
        parse(text)


# -- record files of no use


def changed(record: GameRecord, number: int, **keys: object) -> GameRecord:
    """The record with some keys of one event changed."""
    events: list[Message] = [*record.events]
    events[number] = events[number] | keys
    return GameRecord(events, TENHOU, "own")


def third_discard(record: GameRecord, number: int) -> int:
    """The event that is the third discard of round `number`."""
    start = [place for place, event in enumerate(record.events) if event["type"] == "start_kyoku"][number]
    return [place for place, event in enumerate(record.events) if event["type"] == "dahai" and place > start][2]


def test_bad_files_are_listed_and_cost_nothing_else(live: list[Played], tmp_path: Path) -> None:
    good = [tmp_path / "0.mjson", tmp_path / "9.mjson"]
    for path, game in zip(good, live, strict=False):
        write_record(game.record, path)
    ended = live[2].record
    write_record(GameRecord([*ended.events[:-1], {"type": "end_game"}], TENHOU, "own"), tmp_path / "unended.mjson")
    write_record(changed(ended, 1, scores=[10**30] * 3), tmp_path / "odd.mjson")
    write_record(changed(ended, len(ended.events) - 1, scores=["a", "b"]), tmp_path / "scores.mjson")
    halfway, place = [*ended.events], third_discard(ended, 2)
    halfway[place] = {key: value for key, value in halfway[place].items() if key != "pai"}
    write_record(GameRecord(halfway, TENHOU, "own"), tmp_path / "halfway.mjson")
    open_round = [event for event in ended.events if event["type"] != "end_kyoku"]
    write_record(GameRecord(open_round, TENHOU, "own"), tmp_path / "open.mjson")
    (tmp_path / "text.mjson").write_text("hello")
    (tmp_path / "gone.mjson").symlink_to(tmp_path / "nowhere")
    names = ("0", "gone", "halfway", "odd", "open", "scores", "text", "unended", "9")
    shard, faults = records.gather([tmp_path / f"{name}.mjson" for name in names], Decisions())
    assert Counter(rows_in(saved(shard, tmp_path / "data"))) == chosen(live[:2], lambda game, i: game.recorded[i])
    assert shard.games["id"].tolist() == list(map(records.identity, good))
    assert [Path(fault.file).stem for fault in faults] == list(names[1:-1])
    assert all(fault.what.startswith("left out: ") for fault in faults)
    assert faults[-1] == Fault(
        str(tmp_path / "unended.mjson"), "end_game", "left out: the final scores are not recorded"
    )


def test_where_a_record_departs_the_rest_of_the_round_is_lost(live: list[Played], tmp_path: Path) -> None:
    game = live[3]
    event = third_discard(game.record, 1)
    tile = "1m" if game.record.events[event]["pai"] != "1m" else "9m"
    path = tmp_path / "cheat.mjson"
    write_record(changed(game.record, event, pai=tile), path)
    shard, faults = records.gather([path], Decisions())
    assert [(fault.file, fault.what.split()[0]) for fault in faults] == [(str(path), "recorded")]
    kept = Counter(rows_in(saved(shard, tmp_path / "data")))
    others = chosen([game], lambda game, decision: game.rounds[decision] != 1)
    assert kept > others  # what came before that event is kept
    assert kept < chosen([game])


# -- reading


def test_the_split_is_by_game(folder: Path) -> None:
    train, held_out = Dataset(folder), Dataset(folder, held_out=True)
    assert not set(train.places) & set(held_out.places)
    games = np.concatenate([np.array(load(folder, number).games) for number in range(3)])
    of_game = np.repeat(np.arange(N_GAMES), games["n_positions"])
    is_held_out = games["id"] % HELD_OUT_OF == 0
    assert 0 < is_held_out.sum() < N_GAMES
    assert np.array_equal(held_out.places, np.flatnonzero(is_held_out[of_game]))
    assert np.array_equal(train.places, np.flatnonzero(~is_held_out[of_game]))
    assert (len(train), len(held_out)) == (len(train.places), len(held_out.places))


def test_positions_of_a_shard_follow_game_after_game(folder: Path) -> None:
    for number in range(3):
        shard = load(folder, number)
        counts = shard.games["n_positions"]
        assert np.array_equal(shard.positions["game"], np.repeat(np.arange(len(counts)), counts))
        assert (
            shard.games["n_tokens"].sum()
            == (shard.positions["n_state"].astype(int) + shard.positions["n_record"] + 2).sum()
        )


@pytest.mark.parametrize("mixed", [1, 16])
def test_an_epoch_has_every_position_once(mixed: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.bert.training.data.dataset.MIXED_SHARDS", mixed)
    data = Dataset(folder)
    size = 32
    missed: list[int] = []
    for epoch in range(8):
        places = np.concatenate(list(data.batches(size, seed=1, epoch=epoch)))
        assert len(np.unique(places)) == len(places) == len(data) // size * size
        assert np.isin(places, data.places).all()
        missed += np.setdiff1d(data.places, places).tolist()
    assert len(set(missed)) > len(missed) // 2  # not always the same
    assert abs(data.lengths(np.array(missed)).mean() - data.lengths(data.places).mean()) < 5  # nor only long ones


def test_positions_tell_their_game(folder: Path) -> None:
    ids = np.concatenate([np.array(load(folder, number).games["id"]) for number in range(3)])
    counts = np.concatenate([np.array(load(folder, number).games["n_positions"]) for number in range(3)])
    places = np.random.default_rng(0).permutation(int(counts.sum()))
    assert np.array_equal(Dataset(folder).game_ids(places), np.repeat(ids, counts)[places])


def test_the_order_is_that_of_seed_and_epoch(folder: Path) -> None:
    def order(seed: int, epoch: int) -> list[list[int]]:
        return [batch.tolist() for batch in Dataset(folder).batches(64, seed, epoch)]

    assert order(1, 0) == order(1, 0)
    assert sorted(order(1, 0)) != sorted(order(1, 1))
    assert sorted(order(1, 0)) != sorted(order(2, 0))


def test_batches_share_out_positions_by_length(folder: Path) -> None:
    data = Dataset(folder)
    batches = list(data.batches(32, seed=0, epoch=0))
    spread = np.mean([np.ptp(data.lengths(batch)) for batch in batches])
    assert spread < np.ptp(data.lengths(data.places)) / 4
    longest = [data.lengths(batch).max() for batch in batches]
    assert longest != sorted(longest)  # the batches themselves come in any order
    for batch in batches:
        ids = data.batch(batch).ids
        assert data.lengths(batch).max() <= ids.shape[1] < data.lengths(batch).max() + 8


def test_few_positions_make_one_batch(folder: Path) -> None:
    data = Dataset(folder, held_out=True)
    (batch,) = data.batches(100_000, seed=0, epoch=0)
    assert sorted(batch) == data.places.tolist()


def test_what_is_no_training_data_is_said_so(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no training files here"):
        Dataset(tmp_path)
    for name, content in folder_bytes(folder).items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "000001.state.npy").write_bytes(folder_bytes(folder)["000001.state.npy"][:-50])
    with pytest.raises(ValueError, match=r"000001\.state\.npy: damaged or missing"):
        Dataset(tmp_path)
    np.save(tmp_path / "000001.state.npy", np.zeros(10))
    with pytest.raises(ValueError, match=r"000001\.state\.npy: made by another version"):
        Dataset(tmp_path)
