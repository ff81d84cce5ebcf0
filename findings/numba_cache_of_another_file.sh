#!/usr/bin/env bash
# numba 0.68.1 (PyPI): a rule changed in one file is not in the cached machine code of a kernel in another file.
#
# With njit(cache=True) the code of a function is stored with a stamp of its own source file. Functions it calls are compiled
# into it, and their files are no part of the stamp. After a change of the callee a new process answers by the new
# rule if the callee is called from Python, and by the old rule if the same callee is called by the cached kernel.
#
# Surprising: "touch the caller", the usual way round a stamp of times, does not help since the stamp is a hash of the
# content. An engine split into files (rules here, the loop that plays games there) then plays by rules no longer
# in its source, while unit tests of the changed function pass. Numba's documentation names the limit in a sentence.
#
# Seen (kernel's answer, the callee's own answer; 200 expected after the change):
#     first: 2 1
#     callee changed: 2 100
#     caller touched: 2 100
#     cache removed: 200 100
#
# What to do: keep the cache in a folder named after a hash of all sources (NUMBA_CACHE_DIR), or remove __pycache__ after
# every change; never compare engines with a cache older than the code.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check numba==0.68.1 numpy==2.4.6

cat >probe.py <<'PROBE'
import os
import pathlib
import shutil
import subprocess
import sys

RULES = """
from numba import njit

@njit(cache=True)
def points():
    return {}
"""
KERNEL = """
from numba import njit
from rules import points

@njit(cache=True)
def twice():
    return 2 * points()

print(twice(), points())
"""


def run(name):
    done = subprocess.run([sys.executable, "kernel.py"], check=True, capture_output=True, text=True)
    print(f"{name}:", done.stdout.strip(), flush=True)


pathlib.Path("kernel.py").write_text(KERNEL)
pathlib.Path("rules.py").write_text(RULES.format(1))
run("first")
pathlib.Path("rules.py").write_text(RULES.format(100))
run("callee changed")
os.utime("kernel.py", (2_000_000_000, 2_000_000_000))
run("caller touched")
shutil.rmtree("__pycache__")
run("cache removed")
PROBE
cat >expected.txt <<'EXPECTED'
first: 2 1
callee changed: 2 100
caller touched: 2 100
cache removed: 200 100
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: numba 0.68.1 notices changes of a callee in another file, or forgets them otherwise" >&2
    exit 1
}
