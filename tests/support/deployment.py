"""The Dockerfile and the compose file read as Docker does, and their services as processes of this machine."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
VARIABLE = re.compile(r"\$(?:\$|\{(?P<name>\w+)(?::-(?P<default>[^}]*))?\})")


class Instruction(NamedTuple):
    """One instruction of a Dockerfile: ``HEALTHCHECK --interval=5s CMD …`` is named HEALTHCHECK."""

    name: str
    options: dict[str, str]
    text: str

    @property
    def words(self) -> list[str]:
        """Its arguments, whether written as JSON or as words."""
        return list(json.loads(self.text)) if self.text.startswith("[") else shlex.split(self.text)


def read_dockerfile(text: str) -> Iterator[Instruction]:
    """The instructions of a Dockerfile."""
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for line in lines.replace("\\\n", " ").splitlines():
        name, _, rest = line.strip().partition(" ")
        options = {}
        while match := re.match(r"--([a-z-]+)=(\S+)\s+", rest):
            options[match[1]] = match[2]
            rest = rest[match.end() :]
        if name:
            yield Instruction(name, options, rest.strip())


DOCKERFILE = list(read_dockerfile((REPOSITORY / "Dockerfile").read_text(encoding="utf-8")))
LAST_STAGE = DOCKERFILE[max(place for place, found in enumerate(DOCKERFILE) if found.name == "FROM") :]


def the(name: str) -> Instruction:
    """The only instruction of that name in the last stage."""
    (found,) = (instruction for instruction in LAST_STAGE if instruction.name == name)
    return found


def health_check() -> list[str]:
    """The command of the HEALTHCHECK."""
    kind, _, command = the("HEALTHCHECK").text.partition(" ")
    assert kind == "CMD"
    return list(json.loads(command))


def image_environment() -> dict[str, str]:
    """What the image sets, without the PATH."""
    pairs = (word.partition("=") for found in LAST_STAGE if found.name == "ENV" for word in found.words)
    return {name: value for name, _, value in pairs if name != "PATH"}


def interpolate(value: Any, variables: Mapping[str, str]) -> Any:
    """Fill in the ``${NAME:-default}`` in all texts of a compose file. An empty variable counts as none."""
    if isinstance(value, dict):
        return {key: interpolate(inner, variables) for key, inner in value.items()}
    if isinstance(value, list):
        return [interpolate(inner, variables) for inner in value]
    if not isinstance(value, str):
        return value
    return VARIABLE.sub(
        lambda found: variables.get(found["name"]) or found["default"] or "" if found["name"] else "$", value
    )


def services(**variables: str) -> dict[str, dict[str, Any]]:
    """The services of the compose file, with `variables` for the .env file."""
    text = (REPOSITORY / "docker-compose.yml").read_text(encoding="utf-8")
    found: dict[str, dict[str, Any]] = interpolate(yaml.safe_load(text), variables)["services"]
    for service in found.values():
        if "env_file" in service:
            service["environment"] = variables | service["environment"]
    return found


@dataclass
class Machine:
    """Where services run as local processes: the sources here, or what the Dockerfile made of them."""

    folder: Path  # for logs and data
    python: Path
    environment: dict[str, str]  # counts more than that of image and service
    unset: frozenset[str] = frozenset()  # variables of the image that count for the image only
    places: dict[str, str] = field(default_factory=dict)  # text of the files -> what stands for it here

    @classmethod
    def of_sources(cls, folder: Path) -> Machine:
        """The sources, with code compiled for this processor: there may be such code already."""
        cache = {name: os.environ[name] for name in ("NUKIDORA_CACHE", "XDG_CACHE_HOME") if name in os.environ}
        unset = frozenset({"NUMBA_CPU_NAME", "NUKIDORA_CACHE"} - cache.keys())
        return cls(folder, Path(sys.executable), {"PYTHONPATH": str(REPOSITORY), **cache}, unset)

    def here(self, text: str) -> str:
        """A text of the files with the places of this machine."""
        for there, here in self.places.items():
            text = text.replace(there, here)
        return text

    def command(self, words: Sequence[str]) -> list[str]:
        """A command of a container."""
        return [str(self.python) if word == "python" else self.here(word) for word in words]

    def environment_of(self, service: dict[str, Any]) -> dict[str, str]:
        """The environment of a container; the caller's own is not in it, but for the search path and home."""
        inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        own = {name: self.here(value) for name, value in service.get("environment", {}).items()}
        image = {name: value for name, value in image_environment().items() if name not in self.unset}
        return inherited | image | own | self.environment

    def start(self, name: str, service: dict[str, Any]) -> subprocess.Popen[bytes]:
        """Run the service; what it says goes to ``NAME.log``."""
        command = self.command([*the("ENTRYPOINT").words, *service.get("command", the("CMD").words)])
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                command, cwd=self.folder, env=self.environment_of(service), stdout=log, stderr=subprocess.STDOUT
            )

    def is_healthy(self, service: dict[str, Any]) -> bool:
        """Run the image's health check beside the service."""
        checked = subprocess.run(
            self.command(health_check()), env=self.environment_of(service), capture_output=True, timeout=30
        )
        return checked.returncode == 0

    def log(self, name: str) -> str:
        """What a service has said so far."""
        return (self.folder / f"{name}.log").read_text(encoding="utf-8")


SUBJECT_TO_DOCKER = re.compile(r"(?<![\w/.])/(?=(?:build|opt/nukidora|cache|data)\b)")


class Build:
    """Carries out a Dockerfile in a folder that stands for the root of every stage. Users stay as they are."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folder = root
        base = root / "usr"
        subprocess.run([sys.executable, "-m", "venv", str(base)], check=True)
        self.environment = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
        self.environment["PATH"] = f"{base / 'bin'}:{os.environ['PATH']}"

    def inside(self, text: str) -> str:
        """A text with the paths of the image."""
        return SUBJECT_TO_DOCKER.sub(f"{self.root}/", text)

    def carry_out(self, instruction: Instruction) -> None:
        """One instruction. Raises CalledProcessError where a RUN fails."""
        words = instruction.words if instruction.name != "RUN" else []
        if instruction.name == "WORKDIR":
            self._folder = Path(self.inside(instruction.text))
            self._folder.mkdir(parents=True, exist_ok=True)
        elif instruction.name == "ENV":
            pairs = (word.partition("=") for word in words)
            set_here = {name: self.inside(value) for name, _, value in pairs}
            set_here = {name: value.replace("$PATH", self.environment["PATH"]) for name, value in set_here.items()}
            self.environment |= set_here
        elif instruction.name == "COPY" and "from" not in instruction.options:
            self._copy(words[:-1], self._folder / self.inside(words[-1]))
        elif instruction.name == "RUN" and not instruction.text.startswith("useradd "):
            command = re.sub(r" --(owner|group)=\S+", "", self.inside(instruction.text))
            subprocess.run(["bash", "-c", command], cwd=self._folder, env=self.environment, check=True)

    def _copy(self, sources: list[str], target: Path) -> None:
        into = target if len(sources) > 1 or target.is_dir() else target.parent
        into.mkdir(parents=True, exist_ok=True)
        for source in sources:
            options = ["--recursive", "--preserve=timestamps"]
            subprocess.run(["cp", *options, str(REPOSITORY / source), str(target)], check=True)
