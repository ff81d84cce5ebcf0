#!/usr/bin/env bash
# The size of a virtual environment with each extra alone, and the largest packages in it, in MB.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(mktemp --directory)
trap 'rm -rf "$folder"' EXIT
for extra in "" server train rl report archive cluster; do
  python3 -m venv "$folder/venv"
  "$folder/venv/bin/pip" install --quiet --disable-pip-version-check --constraint constraints.txt ".${extra:+[$extra]}"
  size=$(du --summarize --block-size=1MB "$folder/venv" | cut --fields=1)
  largest=$(cd "$folder"/venv/lib/python3*/site-packages && du --summarize --block-size=1MB -- * | sort --numeric-sort --reverse |
    head -4 | awk '{printf "%s %s, ", $2, $1}')
  echo "${extra:-none}: $size MB; ${largest%, }"
  rm -r "$folder/venv"
done
