"""Bots in other people's style, as scripts: they discard what they draw, until they do what their fault says."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

# bot.py FRAMING FAULT SEAT: the fault comes with the third draw of its own; "-" for none.
SCRIPT = '''
import json
import signal
import subprocess
import sys
import time

framing, fault, seat = sys.argv[1], sys.argv[2], int(sys.argv[3])
draws = 0
if fault == "deaf":  # minds neither SIGTERM nor the end of stdin
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def fail(event):
    if fault == "crash":
        print("Traceback (most recent call last):", "ValueError: no idea", sep="\\n", file=sys.stderr)
        sys.exit(3)
    if fault in ("hang", "deaf"):
        time.sleep(600)
    if fault == "family":  # hangs, and so does its child, which does not mind SIGTERM
        deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
        print(subprocess.Popen([sys.executable, "-c", deaf]).pid, file=sys.stderr, flush=True)
        time.sleep(600)
    if fault == "lie":
        event = {"type": "tsumo", "pai": "9m" if event["pai"] != "9m" else "1m"}
    if fault == "garbage":
        print("thinking ...", flush=True)
    if fault == "chatter":
        print('{"type":"none"}', flush=True)
    if fault == "long":
        print('{"type":"none","meta":"' + 70_000 * "x" + '"}', flush=True)
    if fault == "flood":
        for number in range(3_000):
            print("line", number, 80 * "x", file=sys.stderr)
    return event


def reply(event):
    global draws
    if event["type"] == "end_game" and fault == "leave":
        sys.exit()
    if event["type"] == "tsumo" and event["actor"] == seat:
        draws += 1
        if draws == 3:
            event = fail(event)
        return {"type": "dahai", "actor": seat, "pai": event["pai"], "tsumogiri": True}
    return {"type": "none"}


def answer(line):
    """What is printed for a line, if anything."""
    if framing == "array":
        replies = [reply(event) for event in json.loads(line)]
        return replies[-1]
    event = json.loads(line)
    answered = reply(event)
    if framing == "event":
        return answered
    if event.get("can_act") is False or (answered["type"] == "none" and "can_act" not in event):
        return None  # like Mortal, which takes no part unless it has a choice
    return answered


for line in sys.stdin:
    said = answer(line)
    if said is not None:
        print(json.dumps(said), flush=True)
    if fault == "linger" and "end_game" in line:  # leaves with the end of the game, and takes its time
        time.sleep(0.3)
        break
if fault == "deaf":
    time.sleep(600)
'''


def command(folder: Path, framing: str, fault: str = "-") -> str:
    """The command of such a bot, whose script is written into `folder`."""
    script = folder / "tsumogiri_bot.py"
    script.write_text(SCRIPT)
    return f"{sys.executable} {script} {framing} {fault} {{id}}"


def still_running(folder: Path) -> list[str]:
    """The commands of the processes that mention `folder`, where the system has /proc."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # gone by now
            found.append(process.read_text(errors="replace").replace("\0", " "))
    return [line for line in found if str(folder) in line]
