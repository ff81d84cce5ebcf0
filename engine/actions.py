"""The numbering of actions. A menu, the set of legal actions, is a bit mask of two 64-bit words.

======== ================== ==================================================================
number   name               meaning
======== ================== ==================================================================
0-36     DISCARD + tile37   discard that tile from the hand (tedashi); also after pon
37       TSUMOGIRI          discard the tile just drawn
38       RIICHI             declare riichi; the discard is the next action
39       PON                with two tiles that are not red
40       PON_RED            with the red five and another five
41       DAIMINKAN
42       NUKIDORA
43       TSUMO
44       RON
45       KYUSHU_KYUHAI      abort the round with nine terminals and honours
46       PASS
47-80    ANKAN + kind
81-114   KAKAN + kind
======== ================== ==================================================================

If the hand holds another tile equal to the drawn one, DISCARD and TSUMOGIRI are legal for it, else only TSUMOGIRI.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from engine.common.complete import require_rows
from engine.tiles import MJAI_NAMES, N_KINDS

DISCARD = 0
TSUMOGIRI = 37
RIICHI = 38
PON = 39
PON_RED = 40
DAIMINKAN = 41
NUKIDORA = 42
TSUMO = 43
RON = 44
KYUSHU_KYUHAI = 45
PASS = 46
ANKAN = 47
KAKAN = ANKAN + N_KINDS
N_ACTIONS = KAKAN + N_KINDS
MASK_WORDS = 2

ACTION_NAMES: tuple[str, ...] = (
    *(f"discard {name}" for name in MJAI_NAMES),
    "tsumogiri",
    "riichi",
    "pon",
    "pon with red",
    "daiminkan",
    "nukidora",
    "tsumo",
    "ron",
    "kyushu kyuhai",
    "pass",
    *(f"ankan {name}" for name in MJAI_NAMES[:N_KINDS]),
    *(f"kakan {name}" for name in MJAI_NAMES[:N_KINDS]),
)
if len(ACTION_NAMES) != N_ACTIONS:
    raise ImportError(f"ACTION_NAMES of engine/actions.py has {len(ACTION_NAMES)} names for {N_ACTIONS} actions")


def require_actions(place: str, rows: Iterable[int]) -> None:
    """Raise ImportError, which names `place`, unless its `rows` are all actions but discards, ankan and kakan."""
    names = (ACTION_NAMES[action] for action in rows)
    require_rows(place, names, ACTION_NAMES[RIICHI:ANKAN], "ACTION_NAMES of engine/actions.py")


def action_name(action: int) -> str:
    """Return the name of an action for messages; ``"answer 999"`` if the number is not an action."""
    return ACTION_NAMES[action] if 0 <= action < N_ACTIONS else f"answer {action}"


class Action(int):
    """The number of an action, which shows its name.

    >>> Action(13), Action(13) == 13, str(Action(13)), Action(13).name
    (<Action 13: discard 5p>, True, '13', 'discard 5p')
    """

    __slots__ = ()
    __str__ = int.__repr__  # as a number, in files and messages

    @property
    def name(self) -> str:
        """The name, such as ``discard 5p``."""
        return action_name(self)

    def __repr__(self) -> str:
        return f"<Action {int(self)}: {self.name}>"


ACTIONS = np.array([Action(number) for number in range(N_ACTIONS)], dtype=object)  # number -> its Action


def menu_text(actions: Iterable[int]) -> str:
    """Return the names of actions in compact form: ``discard 1p 2p 9s, tsumogiri, riichi``."""
    groups: dict[str, list[str]] = {}
    for action in actions:
        name = action_name(action)
        verb, _, tile = name.rpartition(" ") if name.startswith(("discard ", "ankan ", "kakan ")) else (name, "", "")
        groups.setdefault(verb, []).append(tile)
    return ", ".join(" ".join([verb, *tiles]).rstrip() for verb, tiles in groups.items())


def actions_of(low: int, high: int) -> list[int]:
    """Return the actions whose bits are set in the mask (`low`, `high`), in ascending order."""
    word = int(low) | int(high) << 64
    found: list[int] = []
    while word:
        bit = word & -word
        found.append(ACTIONS[bit.bit_length() - 1])
        word ^= bit
    return found
