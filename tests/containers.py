"""``python -m tests.containers``: builds the image and runs the services, on Debian, without Docker and any registry.

The base images are made from Debian's packages by debootstrap, the image from the Dockerfile by podman, and
podman-compose (from PyPI) starts the services of docker-compose.yml. One line a step, with its seconds. Needs root.

Everything lies in one folder and happens in namespaces of its own: processes and mounts end with this program, however
it ends, and the folder is removed. Neither the ports nor the firewall of this machine are touched.
"""

from __future__ import annotations

import ast
import ctypes
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.support.base_images import BASES
from tests.support.deployment import DOCKERFILE, REPOSITORY, services

PROGRAMS = {  # and Debian's package of each
    "debootstrap": "debootstrap",
    "podman": "podman",
    "buildah": "buildah",
    "runc": "runc",
    "/usr/lib/podman/netavark": "netavark",
    "/usr/lib/podman/aardvark-dns": "aardvark-dns",
    "/usr/libexec/podman/catatonit": "catatonit",
    "iptables": "iptables",
    "ip": "iproute2",
    "unshare": "util-linux",
    "git": "git",
}
OUR_IMAGE = services()["server"]["image"]
BOTS = ("bert", "rule", "random")
SETTINGS = {"NUKIDORA_LENGTH": "east", "BOT_PAUSE": "0.2"}  # short games, which a kill still meets in play
PATIENCE = 180  # seconds for the services to do something
LINES = 60  # of the log, after a failure
CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x20000000, 0x40000000
PR_SET_PDEATHSIG = 1


class StepError(Exception):
    """A step that did not do what it should, in one line."""


class Rehearsal:
    """All steps, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sources = folder / "nukidora"
        self.log = folder / "log"
        self.sources.mkdir()
        self.environment = os.environ | configuration(folder)

    # Running programs -------------------------------------------------------------------------------------------------

    def run(self, *command: str | Path, check: bool = True, stdin: Any = subprocess.DEVNULL) -> str:
        """Run a program in the sources' folder; returns what it prints, which goes to the log as well."""
        with self.log.open("a", encoding="utf-8") as log:
            print(f"$ {shlex.join(map(str, command))}", file=log, flush=True)
            done = subprocess.run(
                command, cwd=self.sources, env=self.environment, stdin=stdin, stdout=subprocess.PIPE, stderr=log
            )
            printed = done.stdout.decode("utf-8", "replace")
            log.write(printed)
        if check and done.returncode:
            raise StepError(f"{shlex.join(map(str, command[:3]))} … ended with exit code {done.returncode}")
        return printed

    def compose(self, *words: str, options: Sequence[str] = ()) -> str:
        """Run podman-compose, without a pod, which Docker does not have either."""
        return self.run(self.folder / "venv/bin/podman-compose", "--in-pod", "false", *options, *words)

    def inspect(self, service: str, what: str) -> str:
        """A value that podman tells of a service's container."""
        return self.run("podman", "inspect", "--format", what, container(service)).strip()

    def is_healthy(self, service: str) -> bool:
        """Run the health check of a container once, which is done by a timer of systemd where that runs."""
        self.run("podman", "healthcheck", "run", container(service), check=False)
        return self.inspect(service, "{{.State.Health.Status}}") == "healthy"

    # Images -----------------------------------------------------------------------------------------------------------

    def make_base(self, image: str) -> None:
        """Make a base image from Debian's packages. The end of its tag names the version of Debian."""
        name, version, release = one(r"(\w+):([\d.]+)-(?:\w+-)*(\w+)", image).groups()
        base, root = BASES[name], self.folder / "root"
        packages = base.packages.format(version)
        self.run("debootstrap", "--variant=minbase", f"--include={packages}", release, root)
        self.run("chroot", root, "sh", "-euc", base.setup)
        changes = [word for instruction in base.instructions for word in ("--change", instruction)]
        with subprocess.Popen(["tar", "-C", root, "--create", "."], stdout=subprocess.PIPE) as tar:
            self.run("podman", "import", *changes, "-", f"docker.io/library/{image}", stdin=tar.stdout)
        shutil.rmtree(root)

    def install_compose(self) -> None:
        self.run(sys.executable, "-m", "venv", self.folder / "venv")
        self.run(self.folder / "venv/bin/pip", "install", "podman-compose")

    def build(self) -> None:
        """Build the image from the Dockerfile, with this machine's network and pip's configuration."""
        options = ["--format=docker", "--layers=false", "--network=host", *self.pip_options()]
        self.compose("build", "server", options=["--podman-build-args", shlex.join(options)])

    def pip_options(self) -> list[str]:
        """Options of a build for which pip is configured as it is here, with the files that are named there."""
        listed = self.run(self.folder / "venv/bin/pip", "config", "list").splitlines()
        values = {}
        for line in sorted(listed, key=lambda line: line.startswith(":env:")):  # the environment overrides files
            name, _, value = line.partition("=")
            values[name.rpartition(".")[2]] = str(ast.literal_eval(value))
        file = self.folder / "pip.conf"
        file.write_text("[global]\n" + "".join(f"{name} = {value}\n" for name, value in values.items()))
        words = {word for value in values.values() for word in value.split()}
        # The pages of an index in files lie beside the files.
        named = {
            Path(word.removeprefix("file://")).parent if word.startswith("file://") else Path(word) for word in words
        }
        mounts = [f"{path}:{path}" for path in sorted(named) if path.is_absolute() and path.exists()]
        return [f"--volume={mount}:ro" for mount in (f"{file}:/etc/pip.conf", *mounts)]

    # Services ---------------------------------------------------------------------------------------------------------

    def start(self, *names: str) -> None:
        """Start services whose dependencies run."""
        self.compose("up", "--detach", "--no-deps", *names)

    def kill(self, how: Callable[[], object]) -> str:
        """Kill the server while a game is played, and wait until this game is stored. Returns what became of it."""
        (game,) = until(lambda: [game for game in games("playing") if game["rounds"]], "round that is over")
        how()
        until(lambda: self.inspect("server", "{{.State.Running}}") == "true", "server that runs again")
        (stored,) = until(
            lambda: [found for found in games("finished") if found["id"] == game["id"]], "end of its game"
        )
        if any(seat["taken_over"] or seat["cut_off"] for seat in stored["seats"]):
            raise StepError(f"a bot did not come back: {stored}")
        return f"its game went on after round {game['rounds']} and was stored after {stored['rounds']}"

    def kill_container(self) -> None:
        """Kill the container, as its owner would, and start it again: it counts as stopped until then."""
        self.run("podman", "kill", container("server"))
        self.compose("start", "server")

    def kill_process(self) -> None:
        """Kill the first process of the container, as the kernel does where memory is short; podman restarts it."""
        os.kill(int(self.inspect("server", "{{.State.Pid}}")), signal.SIGKILL)

    def stop(self) -> str:
        """Stop the server and the bots, and tell their exit codes."""
        self.compose("stop", "server", *BOTS)
        codes = {name: self.inspect(name, "{{.State.ExitCode}}") for name in ("server", *BOTS)}
        if codes["server"] != "0":
            raise StepError(f"the server ended with exit code {codes['server']}")
        return f"exit codes {codes}"

    def compiled(self) -> list[str]:
        """The containers that had to compile something."""
        logs = {name: self.run("podman", "logs", container(name)) for name in ("server", *BOTS)}
        return [name for name, log in logs.items() if "compiling" in log]

    # All of it --------------------------------------------------------------------------------------------------------

    def steps(self) -> None:
        """Everything, a line a step."""
        copy_sources(self.sources)
        (self.sources / ".env").write_text("".join(f"{name}={value}\n" for name, value in SETTINGS.items()))
        images = [services()["db"]["image"], *{found.words[0] for found in DOCKERFILE if found.name == "FROM"}]
        for image in images:
            with step(f"{image} made from Debian's packages"):
                self.make_base(image)
        with step("podman-compose installed"):
            self.install_compose()
        with step(f"{OUR_IMAGE} built") as told:
            self.build()
            size = int(self.run("podman", "image", "inspect", "--format", "{{.Size}}", OUR_IMAGE))
            told(f"{size / 1e6:.0f} MB")
        unshare(CLONE_NEWNET)
        self.run("ip", "link", "set", "lo", "up")
        with step("the database is healthy"):
            self.start("db")
            until(lambda: self.is_healthy("db"), "healthy database")
        with step("the server is healthy"):
            self.start("server")
            until(lambda: self.is_healthy("server"), "healthy server")
        with step(f"a game of {', '.join(BOTS)} is stored"):
            self.start(*BOTS)
            until(lambda: games("finished"), "stored game")
        with step("the server's container killed and started") as told:
            told(self.kill(self.kill_container))
        with step("the server's process killed, and restarted") as told:
            told(self.kill(self.kill_process))
        with step("the server is healthy"):
            until(lambda: self.is_healthy("server"), "healthy server")
        with step("the server is not healthy without the database"):
            self.compose("stop", "db")
            until(lambda: not self.is_healthy("server"), "unhealthy server")
        with step("the server is healthy with it"):
            self.compose("start", "db")
            until(lambda: self.is_healthy("server"), "healthy server")
        with step("games in the arena") as told:
            words = ("run", "--rm", "-T", "arena", "arena", "--games", "300", "--bots", "rule,efficiency,rule")
            told(one(r"\d+ games in .*", self.compose(*words, options=["--profile", "arena"]))[0])
        with step("the server and the bots stop") as told:
            told(self.stop())
        if self.compiled():
            raise StepError(f"not all machine code is in the image: {', '.join(self.compiled())} compiled")


def container(service: str) -> str:
    """The name that podman-compose gives the container of a service."""
    return f"nukidora_{service}_1"


def games(status: str) -> list[dict[str, Any]]:
    """What the server's HTTP API tells of the games; nothing if it does not answer."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with suppress(OSError), direct.open(f"http://127.0.0.1:8000/api/games?status={status}", timeout=5) as answer:
        return list(json.load(answer)["items"])
    return []


def until(wanted: Callable[[], Any], what: str) -> Any:
    """Wait until something is there, and return it. Raises StepError."""
    deadline = time.monotonic() + PATIENCE
    while not (found := wanted()):
        if time.monotonic() > deadline:
            raise StepError(f"no {what} within {PATIENCE} s")
        time.sleep(0.2)
    return found


def one(pattern: str, text: str) -> re.Match[str]:
    """Where a pattern matches in a text. Raises StepError."""
    found = re.search(pattern, text)
    if found is None:
        raise StepError(f"no {pattern!r} in {text!r}")
    return found


@contextmanager
def step(text: str) -> Iterator[Callable[[str], None]]:
    """Print a line about a step when it is done, with its seconds and what is told of it."""
    began, said = time.monotonic(), [text]
    yield said.append
    print(f"{time.monotonic() - began:6.1f} s  {': '.join(said)}", flush=True)


def copy_sources(target: Path) -> None:
    """Copy what git knows of, or would add: what a clone of this state of the repository has."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"], cwd=REPOSITORY, capture_output=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (REPOSITORY / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, target / name)


def configuration(folder: Path) -> dict[str, str]:
    """Write podman's configuration, for storage in a folder; returns the environment variables that name it."""
    limits = {
        "nofile": resource.getrlimit(resource.RLIMIT_NOFILE)[1],
        "nproc": 32_768,
    }  # conmon allows no more processes
    (folder / "containers.conf").write_text(
        f"""
[containers]
init_path = "/usr/libexec/podman/catatonit"
default_ulimits = {json.dumps([f"{name}={limit}:{limit}" for name, limit in limits.items()])}
[engine]
runtime = "runc" # crun refuses a machine with both kinds of cgroups
cgroup_manager = "cgroupfs"
events_logger = "file"
lock_type = "file"
tmp_dir = "{folder}/libpod"
[network]
network_backend = "netavark"
network_config_dir = "{folder}/networks"
"""
    )
    (folder / "storage.conf").write_text(
        f"""
[storage]
driver = "overlay" # STORAGE_DRIVER=vfs in the environment overrides it
graphroot = "{folder}/images"
runroot = "{folder}/run"
"""
    )
    return {
        "CONTAINERS_CONF": f"{folder}/containers.conf",
        "CONTAINERS_STORAGE_CONF": f"{folder}/storage.conf",
        "DISABLE_HC_SYSTEMD": "true",  # this program runs the health checks
        "TMPDIR": str(folder),
    }


def unshare(namespace: int) -> None:
    """Leave a namespace for a new one."""
    if ctypes.CDLL(None, use_errno=True).unshare(namespace):
        raise StepError(f"no namespaces here: {os.strerror(ctypes.get_errno())}")


def rehearse(folder: Path) -> int:
    """All steps, as the first process of a namespace: what it leaves running ends with it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    rehearsal = Rehearsal(folder)
    try:
        unshare(CLONE_NEWNS)
        rehearsal.run("mount", "--make-rprivate", "/")
        rehearsal.run("mount", "--types", "proc", "proc", "/proc")
        rehearsal.steps()
        return 0
    except StepError as failure:
        for name in rehearsal.run("podman", "ps", "--all", "--format={{.Names}}", check=False).split():
            rehearsal.run("podman", "logs", "--tail=20", name, check=False)
        print(*rehearsal.log.read_text(encoding="utf-8").splitlines()[-LINES:], sep="\n", file=sys.stderr)
        print(f"tests.containers: {failure}", file=sys.stderr)
        return 1
    finally:
        rehearsal.run("podman", "rm", "--all", "--force", "--time=0", check=False)


def main() -> int:
    """Run everything in a folder and namespaces of its own, and remove the folder."""
    missing = {package for program, package in PROGRAMS.items() if not shutil.which(program)}
    if missing or os.geteuid() != 0:
        needed = f"apt-get install {' '.join(sorted(missing))}" if missing else "run it as root"
        print(f"tests.containers: it makes images and containers: {needed}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        unshare(CLONE_NEWPID)
    except StepError as failure:
        print(f"tests.containers: {failure}", file=sys.stderr)
        return 1
    folder = Path(tempfile.mkdtemp(prefix="nukidora-"))
    process = subprocess.Popen([sys.executable, "-m", "tests.containers", folder], start_new_session=True)
    try:
        return process.wait()
    except KeyboardInterrupt:
        return 130
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(folder)
        for group in sorted(Path("/sys/fs/cgroup").glob("**/libpod_parent/**/"), reverse=True):
            with suppress(OSError):  # another podman's
                group.rmdir()


if __name__ == "__main__":
    sys.exit(rehearse(Path(sys.argv[1])) if sys.argv[1:] else main())
