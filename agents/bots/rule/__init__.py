"""The rule bot: weighs speed, value, danger and placement, and takes the action that promises most.

Everything is measured in places: an expected placement better by one is worth 1. `placement` turns payments into that
unit, `speed` knows how likely a hand is to win in time, `value` what it may be worth, `safety` and `threat` what a
discard may cost; `attack` puts speed and value together, and `discard`, `calls` and `bot` choose. What is known about
one decision is gathered in a record, `mind`.
"""

from __future__ import annotations

from agents.base import compiled
from agents.bots.rule.bot import decide, weigh

make = compiled("rule", decide, weigh)
