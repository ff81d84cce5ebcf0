"""Training data: the same samples from self-play, records and live views, and how they are split and batched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agents import registry
from agents.bert.labels import N_LABELS, labels_of
from agents.bert.training.data.dataset import VALIDATION_ONE_IN, Dataset
from agents.bert.training.data.records import RecordFault, file_id
from agents.bert.training.data.seat_filter import SeatFilter, parse_seat_filter
from agents.bert.training.data.selfplay import SelfPlayConfig
from agents.bert.training.data.selfplay import play as self_play
from agents.bert.training.data.shards import MAX_REGRET, Shard, load, save
from agents.bert.training.targets.played import PlayedActions
from agents.bert.training.targets.teacher import Teacher
from engine.mjai.messages import Message
from engine.records.files import write_record
from engine.records.model import GameRecord
from engine.rules import TENHOU
from tests.support.folders import folder_bytes
from tests.support.small_games import BOTS, SEED, Played, chosen, collect_records, play, rows_in

N_GAMES = 6
CONFIG = SelfPlayConfig(BOTS, SEED)


@pytest.fixture(scope="module")
def live() -> list[Played]:
    return [play(number) for number in range(N_GAMES)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same games from self-play, in three shards."""
    folder = tmp_path_factory.mktemp("data")
    for number, first in enumerate(range(0, N_GAMES, 2)):
        save(self_play(CONFIG, first, 2), folder, number)
    return folder


def saved(shard: Shard, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    save(shard, folder, 0)
    return folder


def test_self_play_gives_the_samples_of_live_views(live: list[Played], folder: Path) -> None:
    rows = rows_in(folder)
    assert Counter(rows) == chosen(live)
    assert len(rows) > 1000
    assert len({row[3] for row in rows}) > 30  # labels


@pytest.mark.parametrize("ending", [".mjson", ".mjson.gz", ".json", ".json.gz"])
def test_records_give_the_samples_of_live_views(ending: str, live: list[Played], tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}{ending}" for number in range(N_GAMES)]
    for game, path in zip(live, paths, strict=True):
        write_record(game.record, path)
    shard, faults = collect_records(paths, SeatFilter(), PlayedActions())
    assert faults == []
    expected = chosen(live, lambda game, decision: game.recorded[decision])
    assert Counter(rows_in(saved(shard, tmp_path / "data"))) == expected
    assert expected != chosen(live), "no ron overrides a call: the test does not cover that"


def test_the_id_of_a_recorded_game_is_that_of_its_file_name(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    names = ("a.json", "a.mjson.gz", "a.xml.zst", "sub/a.xml", "b.json", "a.b.json")
    ids = [file_id(tmp_path / name) for name in names]
    assert len(set(ids[:4])) == 1
    assert len(set(ids)) == 3
    assert all(0 <= each < 1 << 64 for each in ids)


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
def test_seat_filter(text: str, wanted: Callable[[Played, int], bool], live: list[Played], tmp_path: Path) -> None:
    def is_wanted(game: Played, decision: int) -> bool:
        return wanted(game, int(game.views[decision]["viewer"][0]))

    shard = self_play(replace(CONFIG, decisions=text), 0, N_GAMES)
    assert Counter(rows_in(saved(shard, tmp_path / "played"))) == chosen(live, is_wanted)
    paths = [tmp_path / f"{number}.mjson" for number in range(N_GAMES)]
    for game, path in zip(live, paths, strict=True):
        write_record(game.record, path)
    shard, _ = collect_records(paths, parse_seat_filter(text), PlayedActions())
    recorded = chosen(live, lambda game, decision: game.recorded[decision] and is_wanted(game, decision))
    assert Counter(rows_in(saved(shard, tmp_path / "recorded"))) == recorded


@pytest.mark.slow
def test_targets_of_a_teacher_are_its_action_values(live: list[Played], tmp_path: Path) -> None:
    """The label is its choice; the regrets are the differences of its action values."""
    teacher = registry.make("rule")
    shard = self_play(replace(CONFIG, teacher="rule"), 0, N_GAMES)
    samples = {row[:2]: row for row in rows_in(saved(shard, tmp_path / "data"))}
    n_several = 0
    for game in live:
        views, choice = game.all_views, teacher.act(game.all_views)
        values, labels = teacher.action_values(views), labels_of(views, choice)
        for i, (row, is_open) in enumerate(zip(game.rows, game.open, strict=True)):
            if not is_open:
                continue
            sample = samples[row[:2]]
            assert sample[2] == row[2]
            assert sample[4:6] == row[4:6]
            expected = np.full(N_LABELS, np.inf)
            for action in np.flatnonzero(np.isfinite(values[i])):
                label = labels_of(views[i : i + 1], np.array([action]))[0]
                expected[label] = min(expected[label], values[i].max() - values[i, action])
            regret = np.frombuffer(sample[6], dtype=np.float32)
            assert regret[labels[i]] == 0.0 == regret[sample[3]]
            assert np.array_equal(np.isfinite(regret), np.isfinite(expected))
            known = np.minimum(expected, MAX_REGRET)[np.isfinite(expected)]
            assert (np.abs(regret[np.isfinite(regret)] - known) < 0.0085 * np.cbrt(known) ** 2 + 1e-6).all()
            n_several += len(known) > 1
    assert n_several > 500


def test_a_teacher_labels_records_as_self_play(live: list[Played], tmp_path: Path) -> None:
    path = tmp_path / "game.mjson"
    write_record(live[0].record, path)
    played = self_play(replace(CONFIG, teacher="rule"), 0, 1)
    recorded, _ = collect_records([path], SeatFilter(), Teacher(registry.make("rule")))
    assert Counter(rows_in(saved(recorded, tmp_path / "a"))) <= Counter(rows_in(saved(played, tmp_path / "b")))
    assert len(recorded.samples) > 0.9 * len(played.samples)


def test_games_without_the_player_are_left_out(live: list[Played], tmp_path: Path) -> None:
    paths = [tmp_path / "with.mjson", tmp_path / "without.mjson"]
    write_record(renamed(live[0].record, ["a", "b", "c"]), paths[0])
    write_record(renamed(live[1].record, ["d", "e", "f"]), paths[1])
    shard, faults = collect_records(paths, parse_seat_filter("player:b"), PlayedActions())
    assert faults == []
    assert shard.games["id"].tolist() == [file_id(paths[0])]
    assert set(shard.samples["seat"].tolist()) == {1}
    assert shard.games["n_samples"].tolist() == [len(shard.samples)]


def renamed(record: GameRecord, names: list[str]) -> GameRecord:
    return GameRecord([record.events[0] | {"names": names}, *record.events[1:]], TENHOU, "own")


# -- unusable record files


def changed(record: GameRecord, number: int, **keys: object) -> GameRecord:
    """The record with some keys of one event changed."""
    events: list[Message] = [*record.events]
    events[number] = events[number] | keys
    return GameRecord(events, TENHOU, "own")


def third_discard(record: GameRecord, number: int) -> int:
    """The event that is the third discard of round `number`."""
    start = [index for index, event in enumerate(record.events) if event["type"] == "start_kyoku"][number]
    return [index for index, event in enumerate(record.events) if event["type"] == "dahai" and index > start][2]


def test_bad_files_are_listed_and_the_others_are_used(live: list[Played], tmp_path: Path) -> None:
    good = [tmp_path / "0.mjson", tmp_path / "9.mjson"]
    for path, game in zip(good, live, strict=False):
        write_record(game.record, path)
    ended = live[2].record
    write_record(GameRecord([*ended.events[:-1], {"type": "end_game"}], TENHOU, "own"), tmp_path / "unended.mjson")
    write_record(changed(ended, 1, scores=[10**30] * 3), tmp_path / "odd.mjson")
    write_record(changed(ended, len(ended.events) - 1, scores=["a", "b"]), tmp_path / "scores.mjson")
    halfway, index = [*ended.events], third_discard(ended, 2)
    halfway[index] = {key: value for key, value in halfway[index].items() if key != "pai"}
    write_record(GameRecord(halfway, TENHOU, "own"), tmp_path / "halfway.mjson")
    open_round = [event for event in ended.events if event["type"] != "end_kyoku"]
    write_record(GameRecord(open_round, TENHOU, "own"), tmp_path / "open.mjson")
    (tmp_path / "text.mjson").write_text("hello")
    (tmp_path / "gone.mjson").symlink_to(tmp_path / "nowhere")
    names = ("0", "gone", "halfway", "odd", "open", "scores", "text", "unended", "9")
    paths = [tmp_path / f"{name}.mjson" for name in names]
    shard, faults = collect_records(paths, SeatFilter(), PlayedActions())
    assert Counter(rows_in(saved(shard, tmp_path / "data"))) == chosen(live[:2], lambda game, i: game.recorded[i])
    assert shard.games["id"].tolist() == list(map(file_id, good))
    assert [Path(fault.file).stem for fault in faults] == list(names[1:-1])
    assert all(fault.what.startswith("left out: ") for fault in faults)
    assert faults[-1] == RecordFault(
        str(tmp_path / "unended.mjson"), "end_game", "left out: the final scores are not recorded"
    )


def test_where_a_record_departs_from_the_rules_the_rest_of_the_round_is_left_out(
    live: list[Played], tmp_path: Path
) -> None:
    game = live[3]
    event = third_discard(game.record, 1)
    tile = "1m" if game.record.events[event]["pai"] != "1m" else "9m"
    path = tmp_path / "cheat.mjson"
    write_record(changed(game.record, event, pai=tile), path)
    shard, faults = collect_records([path], SeatFilter(), PlayedActions())
    assert [(fault.file, fault.what.split()[0]) for fault in faults] == [(str(path), "recorded")]
    kept = Counter(rows_in(saved(shard, tmp_path / "data")))
    others = chosen([game], lambda game, decision: game.recorded[decision] and game.rounds[decision] != 1)
    assert kept > others  # what came before that event is kept
    assert kept < chosen([game])


# -- reading


def test_the_split_is_by_game(folder: Path) -> None:
    train, validation = Dataset(folder), Dataset(folder, validation=True)
    assert not set(train.indices) & set(validation.indices)
    games = np.concatenate([np.array(load(folder, number).games) for number in range(3)])
    of_game = np.repeat(np.arange(N_GAMES), games["n_samples"])
    for_validation = games["id"] % VALIDATION_ONE_IN == 0
    assert 0 < for_validation.sum() < N_GAMES
    assert np.array_equal(validation.indices, np.flatnonzero(for_validation[of_game]))
    assert np.array_equal(train.indices, np.flatnonzero(~for_validation[of_game]))
    assert (len(train), len(validation)) == (len(train.indices), len(validation.indices))


def test_samples_of_a_shard_are_sorted_by_game(folder: Path) -> None:
    for number in range(3):
        shard = load(folder, number)
        counts = shard.games["n_samples"]
        assert np.array_equal(shard.samples["game"], np.repeat(np.arange(len(counts)), counts))
        assert (
            shard.games["n_tokens"].sum()
            == (shard.samples["n_state"].astype(int) + shard.samples["n_record"] + 2).sum()
        )


@pytest.mark.parametrize("shuffled", [1, 16])
def test_an_epoch_has_every_sample_once(shuffled: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.bert.training.data.dataset.SHUFFLED_SHARDS", shuffled)
    data = Dataset(folder)
    size = 32
    missed: list[int] = []
    for epoch in range(8):
        indices = np.concatenate(list(data.batches(size, seed=1, epoch=epoch)))
        assert len(np.unique(indices)) == len(indices) == len(data) // size * size
        assert np.isin(indices, data.indices).all()
        missed += np.setdiff1d(data.indices, indices).tolist()
    assert len(set(missed)) > len(missed) // 2  # not always the same
    assert abs(data.lengths(np.array(missed)).mean() - data.lengths(data.indices).mean()) < 5  # nor only long ones


def test_game_ids_of_samples(folder: Path) -> None:
    ids = np.concatenate([np.array(load(folder, number).games["id"]) for number in range(3)])
    counts = np.concatenate([np.array(load(folder, number).games["n_samples"]) for number in range(3)])
    indices = np.random.default_rng(0).permutation(int(counts.sum()))
    assert np.array_equal(Dataset(folder).game_ids(indices), np.repeat(ids, counts)[indices])


def test_the_order_follows_from_seed_and_epoch(folder: Path) -> None:
    def order(seed: int, epoch: int) -> list[list[int]]:
        return [batch.tolist() for batch in Dataset(folder).batches(64, seed, epoch)]

    assert order(1, 0) == order(1, 0)
    assert sorted(order(1, 0)) != sorted(order(1, 1))
    assert sorted(order(1, 0)) != sorted(order(2, 0))


def test_batches_have_samples_of_similar_length(folder: Path) -> None:
    data = Dataset(folder)
    batches = list(data.batches(32, seed=0, epoch=0))
    spread = np.mean([np.ptp(data.lengths(batch)) for batch in batches])
    assert spread < np.ptp(data.lengths(data.indices)) / 4
    longest = [data.lengths(batch).max() for batch in batches]
    assert longest != sorted(longest)  # the batches themselves come in any order
    for batch in batches:
        width = data.batch(batch).input_ids.shape[1]
        assert data.lengths(batch).max() <= width < data.lengths(batch).max() + 8


def test_few_samples_are_one_batch(folder: Path) -> None:
    data = Dataset(folder, validation=True)
    (batch,) = data.batches(100_000, seed=0, epoch=0)
    assert sorted(batch) == data.indices.tolist()


def test_missing_and_damaged_data_is_refused(folder: Path, tmp_path: Path) -> None:
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
