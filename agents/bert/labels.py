"""The 46 labels the BERT bot chooses among, and the engine actions they stand for.

========= ============ ==========================================================================
number    label        actions; if several are legal, the first is played
========= ============ ==========================================================================
0-36      dahai tile   discard that tile: tsumogiri if it is the drawn one, else from the hand
37        reach        RIICHI; the discard is a separate decision
38        pon          PON_RED, PON: a red five counts in the meld, but may have to be discarded from the hand
39        daiminkan
40        ankan        of the kind just drawn, else the lowest kind
41        kakan        of the kind just drawn, else the lowest kind
42        nukidora
43        hora         TSUMO, RON: never both legal
44        ryukyoku     KYUSHU_KYUHAI
45        none         PASS
========= ============ ==========================================================================
"""

from __future__ import annotations

import numpy as np

from agents.bert.vocabulary import INDEX_OF_TILE, TILE_ORDER, tile_name
from agents.compiled.menu import is_legal
from engine import actions as engine_actions
from engine.actions import (
    ANKAN,
    DAIMINKAN,
    DISCARD,
    KAKAN,
    KYUSHU_KYUHAI,
    N_ACTIONS,
    NUKIDORA,
    PASS,
    PON,
    PON_RED,
    RIICHI,
    RON,
    TSUMO,
    TSUMOGIRI,
    require_actions,
)
from engine.compiling import inner, kernel
from engine.kernels import write_legal
from engine.table import TABLE, raw_bytes
from engine.tiles import KIND_OF, N_KINDS, N_TILES

REACH_LABEL, PON_LABEL, DAIMINKAN_LABEL, ANKAN_LABEL, KAKAN_LABEL, NUKIDORA_LABEL = range(N_TILES, N_TILES + 6)
HORA_LABEL, RYUKYOKU_LABEL, NONE_LABEL = range(N_TILES + 6, N_TILES + 9)
N_LABELS = NONE_LABEL + 1
LABEL_NAMES: tuple[str, ...] = (
    *(f"dahai {tile_name(index)}" for index in range(N_TILES)),
    *("reach", "pon", "daiminkan", "ankan", "kakan", "nukidora", "hora", "ryukyoku", "none"),
)

ONE = np.uint64(1)
NO_ACTION = -1

# action -> label; that of TSUMOGIRI depends on the drawn tile
LABEL_OF = np.full(N_ACTIONS, NO_ACTION, dtype=np.int64)
LABEL_OF[DISCARD : DISCARD + N_TILES] = INDEX_OF_TILE
LABEL_OF[RIICHI] = REACH_LABEL
LABEL_OF[[PON, PON_RED]] = PON_LABEL
LABEL_OF[DAIMINKAN] = DAIMINKAN_LABEL
LABEL_OF[ANKAN : ANKAN + N_KINDS] = ANKAN_LABEL
LABEL_OF[KAKAN : KAKAN + N_KINDS] = KAKAN_LABEL
LABEL_OF[NUKIDORA] = NUKIDORA_LABEL
LABEL_OF[[TSUMO, RON]] = HORA_LABEL
LABEL_OF[KYUSHU_KYUHAI] = RYUKYOKU_LABEL
LABEL_OF[PASS] = NONE_LABEL

require_actions("LABEL_OF of agents/bert/labels.py", (n for n in range(RIICHI, ANKAN) if LABEL_OF[n] != NO_ACTION))

# label -> actions in the order they are tried; those of dahai and the kans depend on the drawn tile
ACTIONS_OF = np.full((N_LABELS, 2), NO_ACTION, dtype=np.int64)
ACTIONS_OF[REACH_LABEL, 0] = RIICHI
ACTIONS_OF[PON_LABEL] = PON_RED, PON
ACTIONS_OF[DAIMINKAN_LABEL, 0] = DAIMINKAN
ACTIONS_OF[NUKIDORA_LABEL, 0] = NUKIDORA
ACTIONS_OF[HORA_LABEL] = TSUMO, RON
ACTIONS_OF[RYUKYOKU_LABEL, 0] = KYUSHU_KYUHAI
ACTIONS_OF[NONE_LABEL, 0] = PASS


@inner
def label_of(t: np.record, action: int) -> int:
    """The label of a legal action of the viewer."""
    return INDEX_OF_TILE[t.drawn] if action == TSUMOGIRI else LABEL_OF[action]


@inner
def legal_labels(t: np.record) -> np.uint64:
    """Bit mask of the labels of the viewer's legal actions."""
    actions = np.empty(N_ACTIONS, dtype=np.int64)
    labels = np.uint64(0)
    for i in range(write_legal(t, np.int64(t.viewer), actions)):
        labels |= ONE << np.uint64(label_of(t, actions[i]))
    return labels


@inner
def kan_of(t: np.record, first: int) -> int:
    """The ankan or kakan to play, `first` being that of kind 0: of the drawn kind if legal, else of the lowest kind."""
    if t.drawn >= 0 and is_legal(t, first + KIND_OF[t.drawn]):
        return first + KIND_OF[t.drawn]
    for kind in range(N_KINDS):
        if is_legal(t, first + kind):
            return first + kind
    return np.int64(NO_ACTION)


@inner
def action_of(t: np.record, label: int) -> int:
    """The legal action that a label stands for, -1 if there is none."""
    if label < N_TILES:
        tile = TILE_ORDER[label]
        if t.drawn == tile and is_legal(t, np.int64(TSUMOGIRI)):
            return np.int64(TSUMOGIRI)
        return DISCARD + tile if is_legal(t, DISCARD + tile) else np.int64(NO_ACTION)
    if label == ANKAN_LABEL:
        return kan_of(t, np.int64(ANKAN))
    if label == KAKAN_LABEL:
        return kan_of(t, np.int64(KAKAN))
    for action in ACTIONS_OF[label]:
        if action >= 0 and is_legal(t, action):
            return action
    return np.int64(NO_ACTION)


@kernel("uint8[::1], uint64[::1]")
def _legal_all(raw: np.ndarray, masks: np.ndarray) -> None:
    views = raw.view(TABLE)
    for k in range(len(masks)):
        masks[k] = legal_labels(views[k])


@kernel("uint8[::1], int64[::1], uint8[::1]")
def _label_all(raw: np.ndarray, actions: np.ndarray, labels: np.ndarray) -> None:
    views = raw.view(TABLE)
    for k in range(len(actions)):
        labels[k] = label_of(views[k], actions[k])


@kernel("uint8[::1], int64[::1], int64[::1]")
def _action_all(raw: np.ndarray, labels: np.ndarray, actions: np.ndarray) -> None:
    views = raw.view(TABLE)
    for k in range(len(labels)):
        actions[k] = action_of(views[k], np.int64(labels[k]))


def legal_masks(views: np.ndarray) -> np.ndarray:
    """uint64[n]: in each mask bit k is set if label k stands for a legal action in that view of `views` TABLE[n]."""
    masks = np.empty(len(views), dtype=np.uint64)
    _legal_all(raw_bytes(views), masks)
    return masks


def legal_table(views: np.ndarray) -> np.ndarray:
    """bool[n, N_LABELS]: whether a label stands for a legal action in `views` TABLE[n]."""
    return ((legal_masks(views)[:, None] >> np.arange(N_LABELS, dtype=np.uint64)) & np.uint64(1)).astype(bool)


def labels_of(views: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """uint8[n]: the labels of legal `actions` int64[n] in `views` TABLE[n]."""
    labels = np.empty(len(views), dtype=np.uint8)
    _label_all(raw_bytes(views), np.ascontiguousarray(actions, dtype=np.int64), labels)
    return labels


def actions_of(views: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """int64[n]: the actions that `labels` integer[n] stand for in `views` TABLE[n].

    Raises ValueError if a number is not a label, or a label stands for no legal action in its view.
    """
    if (bad := np.flatnonzero((labels < 0) | (labels >= N_LABELS))).size:
        raise ValueError(f"view {bad[0]}: {labels[bad[0]]} is not a label: labels are numbered 0 … {N_LABELS - 1}")
    actions = np.empty(len(views), dtype=np.int64)
    _action_all(raw_bytes(views), np.ascontiguousarray(labels, dtype=np.int64), actions)
    if (bad := np.flatnonzero(actions < 0)).size:
        view = views[bad[0]]
        legal = engine_actions.actions_of(*view["legal"][view["viewer"]].tolist())
        named = ", ".join(map(engine_actions.action_name, legal))
        raise ValueError(f"view {bad[0]}: no legal action is {LABEL_NAMES[labels[bad[0]]]!r}; legal: {named}")
    return actions
