"""The framings of programs that speak mjai on stdin and stdout.

=========  =========================================================================================================
framing    what the program does
=========  =========================================================================================================
``array``  reads one line for each of its decisions, a JSON array of all events since its last reply, and writes one
           reply line (mjai.app)
``event``  reads one event a line and writes one reply line to each, ``none`` where it has nothing to do
``asked``  reads one event a line and writes a reply line only where it has a decision (Mortal); events without a
           decision are marked ``"can_act":false``, which such programs understand
=========  =========================================================================================================
"""

from __future__ import annotations

AUTO, ARRAY, EVENT, ASKED = "auto", "array", "event", "asked"
FRAMINGS = (AUTO, EVENT, ASKED, ARRAY)
TIMEOUT = 30.0  # seconds for one reply; a bot may load a large network before the first one
