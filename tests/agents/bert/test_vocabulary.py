"""The vocabulary is the document's table, row by row."""

from __future__ import annotations

import numpy as np
import pytest

from agents.bert import labels, vocabulary
from agents.bert.encoding import readable
from agents.bert.vocabulary import CLASSES, INDEX_OF_TILE, N_TOKENS, OFFSET, TILE_ORDER, tile_name, token_name
from engine.tiles import MJAI_NAMES, N_TILES
from tests.support.reference_encoder import LABELS, ROWS, TILES


def test_the_vocabulary_has_the_rows_of_the_document() -> None:
    assert [(each.name, each.size, each.offset) for each in CLASSES] == ROWS
    assert {row.name: row.first for row in ROWS} == OFFSET
    assert N_TOKENS == 994
    special = (vocabulary.PAD, vocabulary.CLS, vocabulary.SEP, vocabulary.EOS, vocabulary.MASK, vocabulary.UNK)
    assert special == (0, 1, 2, 3, 4, 5)
    assert all(len(each.names) in (0, each.size) for each in CLASSES)
    for row in ROWS:
        assert {token_name(token).split(":")[0] for token in range(row.first, row.first + row.size)} == {row.name}


def test_tiles_are_in_the_documents_order() -> None:
    assert [MJAI_NAMES[tile] for tile in TILE_ORDER] == TILES
    assert [tile_name(index) for index in range(N_TILES)] == TILES
    assert INDEX_OF_TILE[TILE_ORDER].tolist() == list(range(N_TILES))


def test_labels_are_numbered_as_the_document_says() -> None:
    assert list(labels.LABEL_NAMES) == LABELS
    assert labels.N_LABELS == 46


# Names ----------------------------------------------------------------------------------------------------------------


def test_token_names_are_unique() -> None:
    names = [token_name(token) for token in range(N_TOKENS)]
    assert len(set(names)) == N_TOKENS
    assert all(name and not set(name) & set(" \n") for name in names)


@pytest.mark.parametrize(
    ("token", "name"),
    [
        (0, "[PAD]"), (7, "style:hanchan"), (10, "player_id:2"), (12, "bakaze:S"), (20, "honba:3"),
        (24, "delta_score_before:-48k"), (72, "delta_score_before:+0k"), (217, "delta_score_after:+48k"),
        (240, "dora_marker:0p"), (241, "dora_marker:1p"), (303, "tehai:7z"), (324, "tsumo:0s"), (344, "can_ryukyoku"),
        (350, "player0_dahai:1m"), (387, "player0_dahai:1m*"), (638, "player1_reach"), (494, "player0_daiminkan:7z"),
        (993, "player2_nukidora"),
    ],
)  # fmt: skip
def test_names(token: int, name: str) -> None:
    assert token_name(token) == name


def test_readable_names_the_tokens_in_one_line() -> None:
    assert (
        readable(np.array([1, 6, 2, 350, 3, 0, 0], dtype=np.uint16)) == "[CLS] style:east [SEP] player0_dahai:1m [EOS]"
    )
    assert readable(np.zeros(5, dtype=np.uint16)) == ""


@pytest.mark.parametrize("number", [-1, 994, 65_535])
def test_a_number_that_is_not_a_token_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match=f"^{number} is not a token: tokens are numbered 0 … 993$"):
        token_name(number)
    with pytest.raises(ValueError, match="is not a token"):
        readable(np.array([1, number]))
