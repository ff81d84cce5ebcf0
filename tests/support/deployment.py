"""Parses the Dockerfile and the compose file, and runs their services as local processes."""

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
    """One instruction of a Dockerfile; ``HEALTHCHECK --interval=5s CMD …`` has the name HEALTHCHECK."""

    name: str
    options: dict[str, str]
    text: str

    @property
    def words(self) -> list[str]:
        """The arguments, written as JSON or as shell words."""
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
LAST_STAGE = DOCKERFILE[max(index for index, found in enumerate(DOCKERFILE) if found.name == "FROM") :]


def the(name: str) -> Instruction:
    """The only instruction with that name in the last stage."""
    (found,) = (instruction for instruction in LAST_STAGE if instruction.name == name)
    return found


def health_check() -> list[str]:
    """The command of the HEALTHCHECK."""
    kind, _, command = the("HEALTHCHECK").text.partition(" ")
    assert kind == "CMD"
    return list(json.loads(command))


def image_environment() -> dict[str, str]:
    """The environment variables that the image sets, without PATH."""
    pairs = (word.partition("=") for found in LAST_STAGE if found.name == "ENV" for word in found.words)
    return {name: value for name, _, value in pairs if name != "PATH"}


def interpolate(value: Any, variables: Mapping[str, str]) -> Any:
    """Replace ``${NAME:-default}`` in all strings of a compose file. An empty variable counts as unset."""
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
    """The services of the compose file, with `variables` as the contents of .env."""
    text = (REPOSITORY / "docker-compose.yml").read_text(encoding="utf-8")
    found: dict[str, dict[str, Any]] = interpolate(yaml.safe_load(text), variables)["services"]
    for service in found.values():
        if "env_file" in service:
            service["environment"] = variables | service["environment"]
    return found


@dataclass
class Machine:
    """Runs services as local processes, from these sources."""

    folder: Path  # for logs and data
    environment: dict[str, str]  # overrides that of image and service
    unset: frozenset[str] = frozenset()  # variables that only the real image sets
    substitutions: dict[str, str] = field(default_factory=dict)  # text in the files -> its local replacement

    @classmethod
    def of_sources(cls, folder: Path) -> Machine:
        """Run from the sources, with code compiled for this processor, which may be cached already."""
        cache = {name: os.environ[name] for name in ("NUKIDORA_CACHE", "XDG_CACHE_HOME") if name in os.environ}
        unset = frozenset({"NUMBA_CPU_NAME", "NUKIDORA_CACHE"} - cache.keys())
        return cls(folder, {"PYTHONPATH": str(REPOSITORY), **cache}, unset)

    def substitute(self, text: str) -> str:
        """A text of the files with the substitutions applied."""
        for old, new in self.substitutions.items():
            text = text.replace(old, new)
        return text

    def command(self, words: Sequence[str]) -> list[str]:
        """The local command for a command of a container."""
        return [sys.executable if word == "python" else self.substitute(word) for word in words]

    def environment_of(self, service: dict[str, Any]) -> dict[str, str]:
        """The environment of a container. Of the caller's environment, only PATH, HOME and LANG are inherited."""
        inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        own = {name: self.substitute(value) for name, value in service.get("environment", {}).items()}
        image = {name: value for name, value in image_environment().items() if name not in self.unset}
        return inherited | image | own | self.environment

    def start(self, name: str, service: dict[str, Any]) -> subprocess.Popen[bytes]:
        """Start the service; its output goes to ``NAME.log``."""
        command = self.command([*the("ENTRYPOINT").words, *service.get("command", the("CMD").words)])
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                command, cwd=self.folder, env=self.environment_of(service), stdout=log, stderr=subprocess.STDOUT
            )

    def is_healthy(self, service: dict[str, Any]) -> bool:
        """Run the health check of the service, or that of the image."""
        _, *own = service.get("healthcheck", {}).get("test", ["CMD"])
        checked = subprocess.run(
            self.command(own or health_check()), env=self.environment_of(service), capture_output=True, timeout=30
        )
        return checked.returncode == 0

    def log(self, name: str) -> str:
        """The output of a service so far."""
        return (self.folder / f"{name}.log").read_text(encoding="utf-8")
