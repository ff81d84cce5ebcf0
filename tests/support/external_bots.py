"""External bots as scripts, of every framing. They play tsumogiri until they commit the fault in their command."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

# bot.py FRAMING FAULT SEAT: the fault is committed at the bot's third draw; "-" for none.
SCRIPT = '''
import json
import signal
import subprocess
import sys
import time

framing, fault, seat = sys.argv[1], sys.argv[2], int(sys.argv[3])
draws = 0
if fault == "unstoppable":  # ignores SIGTERM and the end of stdin
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if fault == "grandchild":  # hangs, and so does a child of its own, which ignores SIGTERM
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    print(subprocess.Popen([sys.executable, "-c", code]).pid, file=sys.stderr, flush=True)

if fault == "daemon":  # hangs, and so does one that has left its process group, and whose parent has exited
    code = (
        "import os, sys, time\\n"
        "if os.fork(): os._exit(0)\\n"
        "os.setsid()\\n"
        "if os.fork(): os._exit(0)\\n"
        "print(os.getpid(), file=sys.stderr, flush=True)\\n"
        "time.sleep(600)"
    )
    subprocess.run([sys.executable, "-c", code])


def fail(event):
    if fault == "crash":
        print("Traceback (most recent call last):", "ValueError: no idea", sep="\\n", file=sys.stderr)
        sys.exit(3)
    if fault == "long-crash":
        sys.exit("\\n".join(f"line {number}" for number in range(30)))
    if fault in ("hang", "unstoppable", "grandchild", "daemon"):
        time.sleep(600)
    if fault == "illegal":
        event = {"type": "tsumo", "pai": "9m" if event["pai"] != "9m" else "1m"}
    if fault == "garbage":
        print("thinking ...", flush=True)
    if fault == "extra-line":
        print('{"type":"none"}', flush=True)
    if fault == "long-line":
        print('{"type":"none","meta":"' + 70_000 * "x" + '"}', flush=True)
    if fault == "much-stderr":
        for number in range(3_000):
            print("line", number, 80 * "x", file=sys.stderr)
    return event


def reply(event):
    global draws
    if event["type"] == "end_game" and fault == "exit":
        sys.exit()
    if event["type"] == "end_game" and fault == "farewell":
        print("good game", flush=True)
        return None
    if event["type"] == "tsumo" and event["actor"] == seat:
        draws += 1
        if draws == 3:
            event = fail(event)
        return {"type": "dahai", "actor": seat, "pai": event["pai"], "tsumogiri": True}
    return {"type": "none"}


def answer(line):
    """The reply to a line of input, None for none."""
    if framing == "array":
        replies = [reply(event) for event in json.loads(line)]
        return replies[-1]
    event = json.loads(line)
    answered = reply(event)
    if framing == "event":
        return answered
    if event.get("can_act") is False or (answered["type"] == "none" and "can_act" not in event):
        return None  # like Mortal, which replies only where it has a choice
    return answered


for line in sys.stdin:
    answered = answer(line)
    if answered is not None:
        print(json.dumps(answered), flush=True)
    if fault == "slow-exit" and "end_game" in line:  # exits after the game, and not before the next one begins
        sys.stdin.readline()
        break
if fault == "unstoppable":
    time.sleep(600)
'''


def command(folder: Path, framing: str, fault: str = "-") -> str:
    """The command of such a bot; its script is written to `folder`."""
    script = folder / "tsumogiri_bot.py"
    script.write_text(SCRIPT)
    return f"{sys.executable} {script} {framing} {fault} {{id}}"


def still_running(folder: Path) -> list[str]:
    """The commands of running processes that mention `folder`; [] on systems without /proc."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has exited meanwhile
            found.append(process.read_text(errors="replace").replace("\0", " "))
    return [line for line in found if str(folder) in line]
