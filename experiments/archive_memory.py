"""Shows that reading an archive takes constant memory, whatever its length: makes one, validates it, and plots.

    python experiments/archive_memory.py [--games 100000] [--figure docs/archive_memory.svg]

Three `efficiency` play the games, which are added to a .tar.zst as they are played (an existing archive is reused).
Then ``python -m engine validate`` reads it, and the memory of its processes is sampled from /proc. The figure needs
matplotlib.
"""

from __future__ import annotations

import argparse
import gzip
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from engine.common.progress import Progress
from engine.records.packing import WRITERS

REPOSITORY = Path(__file__).resolve().parent.parent
BATCH = 999  # games of one call of the arena, three rotations of each wall
EVERY = 0.5  # seconds between two samples


def make_archive(path: Path, games: int) -> None:
    """Let the arena play that many games, or up to a batch more, and write them to a .tar.zst."""
    partial = path.with_name(path.name + ".partial")
    writer = WRITERS[".tar.zst"](partial, 0)
    with Progress("games", games) as progress:
        for seed in range(-(-games // BATCH)):
            with tempfile.TemporaryDirectory() as folder:
                command = [
                    sys.executable,
                    "-m",
                    "arena",
                    "--bots",
                    "efficiency,efficiency,efficiency",
                    "--seed",
                    str(seed),
                ]
                command += ["--games", str(BATCH), "--save", folder]
                subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
                for record in sorted(Path(folder).iterdir()):
                    writer.add(f"{seed}/{record.name.removesuffix('.gz')}", gzip.decompress(record.read_bytes()))
            progress.advance(BATCH)
    writer.finish()
    partial.rename(path)


def memory(pid: int) -> tuple[float, float]:
    """Return the memory in MB of a process, and of all its children together."""

    def resident(of: int) -> float:
        try:
            lines = Path(f"/proc/{of}/smaps_rollup").read_text().splitlines()
        except OSError:  # it has ended
            return 0.0
        return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1000  # shared pages: a share

    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return resident(pid), sum(resident(int(child)) for child in children)


def watch(archive: Path) -> list[tuple[float, float, float]]:
    """Validate an archive; returns samples of seconds, MB of the reader and MB of the workers."""
    samples = []
    start = time.monotonic()
    with subprocess.Popen([sys.executable, "-m", "engine", "validate", str(archive)], cwd=REPOSITORY) as validating:
        while validating.poll() is None:
            try:
                samples.append((time.monotonic() - start, *memory(validating.pid)))
            except OSError:
                break
            time.sleep(EVERY)
    if validating.returncode:
        raise SystemExit(f"validating {archive} has failed")
    return samples


def plot(samples: list[tuple[float, float, float]], games: int, figure: Path) -> None:
    """Write the figure."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.fonttype"] = "none"  # text stays text
    matplotlib.rcParams["svg.hashsalt"] = "nukidora"  # the same figure, the same bytes
    from matplotlib import pyplot

    seconds, reader, workers = zip(*samples, strict=True)
    _, axes = pyplot.subplots(figsize=(7, 3.5), layout="constrained")
    axes.plot([each / 60 for each in seconds], workers, label="workers, together")
    axes.plot([each / 60 for each in seconds], reader, label="the process that reads the archive")
    axes.set(xlabel="minutes", ylabel="MB", ylim=(0, None), xlim=(0, None))
    axes.set_title(f"validating an archive of {games:,} games")
    axes.legend(loc="lower right")
    axes.grid(alpha=0.3)
    pyplot.savefig(figure, metadata={"Date": None, "Creator": None})


def main() -> None:
    """Make, read and plot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--archive", type=Path, help="where the archive is or will be (default: archive-GAMES.tar.zst)")
    parser.add_argument("--figure", type=Path, default=REPOSITORY / "docs" / "archive_memory.svg")
    options = parser.parse_args()
    games = -(-options.games // BATCH) * BATCH
    archive = options.archive or Path(f"archive-{games}.tar.zst")
    if not archive.exists():
        make_archive(archive, games)
    samples = watch(archive)
    plot(samples, games, options.figure)
    for share in (0.1, 0.25, 0.5, 0.75, 0.98):
        seconds, reader, workers = samples[int(share * (len(samples) - 1))]
        print(f"after {seconds:,.0f} s: reader {reader:.0f} MB, workers {workers:.0f} MB")
    print(f"{games:,} games, archive {archive.stat().st_size / 1e6:.1f} MB; wrote {options.figure}")


if __name__ == "__main__":
    main()
