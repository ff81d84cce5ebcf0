"""The rule bot: it estimates speed, value, danger and placement, and takes the action with the highest expected value.

The unit of every expected value (``ev``) is one placement: an action with an ev higher by 1 is expected to finish one
placement better. The modules, from facts to decisions:

* `placement`: the value of a score situation, and of payments in it;
* `speed`: tables of the chance to win, by shanten, ukeire, draws left and threat level;
* `value`: han that a hand has, and the plans (tanyao, half flush ...) by which it may gain more;
* `safety`, `threat`: the chance that a discard deals in, and what that costs;
* `attack`: the expected value of going for a win, from speed and value;
* `context`: the record of all this for one view;
* `discard`, `calls`, `bot`: the choice. Start with `bot.choose`.
"""

from __future__ import annotations

from agents.base import compiled_factory
from agents.bots.rule.bot import action_values, decide

make = compiled_factory("rule", decide, action_values)
