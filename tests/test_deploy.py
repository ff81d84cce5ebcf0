"""Docker files: their contents are consistent, and every service of the compose file works as a local process."""

from __future__ import annotations

import asyncio
import importlib.metadata
import itertools
import os
import re
import signal
import subprocess
import threading
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from sqlalchemy import make_url

from engine.common.cluster import import_ray
from server.flags import make_flags, read_settings
from server.settings import PREFIX, SETTINGS, Settings
from server.settings_file import VARIABLE, read_file
from server.store import Store
from tests.support.deployment import (
    DOCKERFILE,
    LAST_STAGE,
    REPOSITORY,
    Instruction,
    Machine,
    health_check,
    image_environment,
    services,
    the,
)
from tests.support.postgres import Cluster, find_binaries, free_port, postgres_cluster, postgres_url
from tests.support.processes import wait_for

__all__ = ["postgres_cluster", "postgres_url"]

BOTS = ("bert", "rule", "random")
OUR_IMAGE = ("server", "arena", *BOTS)
CLUSTER = ("ray-head", "ray-worker")  # our image with one more extra
DEFAULTS = SETTINGS
CONSTRAINTS = REPOSITORY / "constraints.txt"
PATIENCE = 900  # seconds: the rules may have to be compiled first


class Wanted(NamedTuple):
    """A package with the requested extras."""

    name: str
    extras: frozenset[str]


def of_name(name: str, instructions: list[Instruction] = DOCKERFILE) -> list[Instruction]:
    """The instructions with that name."""
    return [instruction for instruction in instructions if instruction.name == name]


# The Dockerfile -------------------------------------------------------------------------------------------------------


def test_the_image_compiles_and_runs_as_the_user_that_the_documentation_names() -> None:
    """Code compiled in it runs on any processor."""
    names = [instruction.name for instruction in LAST_STAGE]
    (added,) = (found for found in of_name("RUN", LAST_STAGE) if found.text.startswith("useradd "))
    assert the("USER").text == added.words[-1] != "root"
    (compiled_at,) = (at for at, found in enumerate(LAST_STAGE) if found.name == "RUN" and "warm_up" in found.text)
    assert max(names.index("USER"), names.index("ENV")) < compiled_at
    assert image_environment()["NUMBA_CPU_NAME"] == "generic"
    uid = added.words[added.words.index("--uid") + 1]
    assert f"user {uid}," in (REPOSITORY / "docs" / "deploy.md").read_text(encoding="utf-8")


def test_all_is_installed_at_the_pinned_versions() -> None:
    installs = [found.text for found in of_name("RUN") if "pip install" in found.text]
    assert installs
    assert all(("--constraint constraints.txt" in text) != ("--no-deps" in text) for text in installs)
    assert all(":" in found.words[0] for found in of_name("FROM"))


def test_everything_that_is_installed_is_pinned() -> None:
    pyproject = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    project = pyproject["project"]
    extras = project["optional-dependencies"].values()
    texts = [*pyproject["build-system"]["requires"], *project["dependencies"], *itertools.chain(*extras)]
    pins = {canonicalize_name(line.partition("==")[0]) for line in CONSTRAINTS.read_text(encoding="utf-8").splitlines()}
    assert {requirement.name for requirement in all_needed(texts)} - pins == set()


def all_needed(texts: list[str]) -> set[Wanted]:
    """The transitive dependencies of requirements, as far as they are installed here."""
    todo = [Requirement(text) for text in texts]
    needed: set[Wanted] = set()
    while todo:
        requirement = todo.pop()
        wanted = Wanted(canonicalize_name(requirement.name), frozenset(requirement.extras))
        if wanted in needed or wanted.name == "nukidora":
            continue
        needed.add(wanted)
        with suppress(importlib.metadata.PackageNotFoundError):  # build dependencies are not installed
            for further in map(Requirement, importlib.metadata.requires(wanted.name) or ()):
                environments = [{"extra": extra} for extra in ("", *wanted.extras)]
                if further.marker is None or any(map(further.marker.evaluate, environments)):
                    todo.append(further)
    return needed


def test_the_build_context_has_what_the_image_needs_and_no_secrets() -> None:
    assert of_name("ADD") == []
    copied = {word for found in of_name("COPY") if not found.options for word in found.words[:-1]}
    ignored = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").split()
    assert ignored[ignored.index("*") + 1 :][-2:] == ["**/__pycache__", "**/.env*"]
    let_in = {line[1:] for line in ignored if line.startswith("!")}
    assert {source.split("/")[0] for source in copied} == let_in, ".dockerignore and COPY differ"
    assert [source for source in copied if not (REPOSITORY / source).exists()] == []
    pyproject = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    assert let_in >= set(pyproject["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])
    assert let_in.isdisjoint({".git", ".venv", ".env", "data", "tests"})


def test_the_image_publishes_the_ports_and_the_folder_of_the_server() -> None:
    environment = image_environment()
    assert the("EXPOSE").words == [str(DEFAULTS["port"].default), str(DEFAULTS["mjai_port"].default)]
    assert the("VOLUME").words == [environment["NUKIDORA_DATA"]]
    assert f"'{DEFAULTS['port'].default}'" in " ".join(health_check())
    assert Settings(host=environment["NUKIDORA_HOST"]).tokens_needed, "the image needs no tokens by default"


def test_the_health_check_ignores_proxies(tmp_path: Path) -> None:
    class Healthy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/healthz" else 404)
            self.end_headers()

    with ThreadingHTTPServer(("127.0.0.1", 0), Healthy) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            machine = Machine.of_sources(tmp_path)
            machine.environment |= {"NUKIDORA_PORT": str(server.server_port), "http_proxy": "http://127.0.0.1:9"}
            assert machine.is_healthy({})
        finally:
            server.shutdown()
            thread.join()


# The compose file -----------------------------------------------------------------------------------------------------


def test_compose_starts_server_database_and_bots_and_has_three_profiles() -> None:
    profiles = {name: service.get("profiles", []) for name, service in services().items()}
    assert profiles == {
        **{name: [] for name in ("server", "db", *BOTS)},
        "caddy": ["tls"],
        "arena": ["arena"],
        **{name: ["cluster"] for name in CLUSTER},
    }


def test_images_are_those_of_this_version_or_pinned() -> None:
    pyproject = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    ours = f"nukidora:{pyproject['project']['version']}"
    for name, service in services().items():
        if name in (*OUR_IMAGE, *CLUSTER):
            assert service["image"] == (f"{ours}-cluster" if name in CLUSTER else ours)
            assert "build" in service
        else:
            assert re.fullmatch(r"[a-z]+:\d+[\w.-]*", service["image"])


def test_containers_of_our_image_may_not_gain_privileges() -> None:
    for name in (*OUR_IMAGE, *CLUSTER):
        assert services()[name]["cap_drop"] == ["ALL"]
        assert services()[name]["security_opt"] == ["no-new-privileges:true"]


def test_services_wait_for_their_dependencies_and_restart() -> None:
    found = services()
    needs = {name: list(service.get("depends_on", {})) for name, service in found.items()}
    waiting = {"server": ["db"], "caddy": ["server"], "ray-worker": ["ray-head"]} | {bot: ["server"] for bot in BOTS}
    assert {name: needed for name, needed in needs.items() if needed} == waiting
    conditions = (each["condition"] for service in found.values() for each in service.get("depends_on", {}).values())
    assert set(conditions) == {"service_healthy"}
    restarts = {name: service["restart"] for name, service in found.items()}
    assert restarts.pop("arena") == "no"
    assert set(restarts.values()) == {"unless-stopped"}
    # The image's health check queries the server: in other containers of the image it would always fail.
    checked = {name for name in (*OUR_IMAGE, *CLUSTER) if not found[name].get("healthcheck", {}).get("disable")}
    assert checked == {"server", "ray-head"}


def test_ports_are_published_to_this_machine_only_by_default() -> None:
    assert {port.split(":")[0] for service in services().values() for port in service.get("ports", [])} == {"127.0.0.1"}
    assert services(PUBLISH="0.0.0.0")["server"]["ports"] == ["0.0.0.0:8000:8000", "0.0.0.0:11600:11600"]
    for name in ("db", *CLUSTER):
        assert "ports" not in services()[name]


def test_ports_are_those_of_the_server() -> None:
    server = services()["server"]
    inside = [port.rpartition(":")[2] for port in server["ports"]]
    assert inside == [server["environment"]["NUKIDORA_PORT"], server["environment"]["NUKIDORA_MJAI_PORT"]]
    assert inside == [str(DEFAULTS["port"].default), str(DEFAULTS["mjai_port"].default)]
    urls = {word for bot in BOTS for word in services()[bot]["command"] if "://" in word}
    assert urls == {f"mjsonp://server:{inside[1]}/default"}
    caddyfile = (REPOSITORY / "docker" / "Caddyfile").read_text(encoding="utf-8")
    assert re.findall(r"reverse_proxy (\S+)", caddyfile) == [f"server:{inside[0]}"]


def known_variables() -> set[str]:
    """The environment variables that nukidora reads."""
    sources = (
        path.read_text(encoding="utf-8")
        for package in ("engine", "agents")
        for path in (REPOSITORY / package).rglob("*.py")
    )
    read = {name for text in sources for name in re.findall(rf'environ(?:\.get\(|\[)"({PREFIX}\w+)"', text)}
    return read | {VARIABLE} | {PREFIX + name.upper() for name in DEFAULTS}


def test_every_variable_that_is_set_is_read() -> None:
    in_files = (REPOSITORY / name for name in ("docker-compose.yml", ".env.example", "Dockerfile", "docs/deploy.md"))
    named = {
        name for path in in_files for name in re.findall(rf"\b{PREFIX}[A-Z_]+\b", path.read_text(encoding="utf-8"))
    }
    assert named <= known_variables()


def test_every_variable_of_the_compose_file_is_in_the_example() -> None:
    compose = (REPOSITORY / "docker-compose.yml").read_text(encoding="utf-8")
    defaults = dict(re.findall(r"\$\{(\w+):-([^}]*)\}", compose))
    explained = dict(
        re.findall(r"^# (\w+)=(.*)$", (REPOSITORY / ".env.example").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert explained == defaults


def test_settings_of_the_env_file_apply_but_for_those_that_docker_needs() -> None:
    given = {PREFIX + name.upper(): "given" for name in DEFAULTS}
    environment = services(**given)["server"]["environment"]
    fixed = {name for name in given if environment[name] != "given"}
    assert fixed == {PREFIX + name for name in ("HOST", "PORT", "MJAI_PORT", "DATA", "DATABASE")}
    for path in (".env.example", "docs/deploy.md"):
        text = (REPOSITORY / path).read_text(encoding="utf-8")
        (told,) = re.findall(r"but for ([^.]*?),\s(?:# )?which the compose file sets", text)
        assert {PREFIX + name.removeprefix(PREFIX) for name in re.findall(r"\b[A-Z][A-Z_]+\b", told)} == fixed, path


def test_access_is_open_on_this_machine_and_can_be_restricted(monkeypatch: pytest.MonkeyPatch) -> None:
    for variables, needed in (({}, False), ({"NUKIDORA_ACCESS": "token"}, True), ({"NUKIDORA_ACCESS": "auto"}, True)):
        with monkeypatch.context() as patch:
            for name, value in services(**variables)["server"]["environment"].items():
                patch.setenv(name, value)
            assert read_settings(make_flags(), {}, read_file("")).tokens_needed is needed
    assert services(RULE_TOKEN="secret")["rule"]["environment"]["NUKIDORA_TOKEN"] == "secret"


def test_the_server_uses_the_database_of_the_compose_file() -> None:
    found = services(POSTGRES_PASSWORD="other")
    url = make_url(found["server"]["environment"]["NUKIDORA_DATABASE"])
    made = found["db"]["environment"]
    assert (url.host, url.port, url.drivername) == ("db", None, "postgresql")
    assert (url.username, url.password, url.database) == (
        made["POSTGRES_USER"],
        made["POSTGRES_PASSWORD"],
        made["POSTGRES_DB"],
    )


def test_volumes_are_declared_and_mounted_at_the_data_folder() -> None:
    found = services()
    assert found["server"]["volumes"] == [f"journals:{found['server']['environment']['NUKIDORA_DATA']}"]
    text = (REPOSITORY / "docker-compose.yml").read_text(encoding="utf-8")
    declared = re.findall(r"^  (\w+):$", text.partition("\nvolumes:\n")[2], re.MULTILINE)
    used = {volume.split(":")[0] for service in found.values() for volume in service.get("volumes", [])}
    assert {volume for volume in used if not volume.startswith("./")} == set(declared)
    assert [volume for volume in used if volume.startswith("./") and not (REPOSITORY / volume).exists()] == []


# Running --------------------------------------------------------------------------------------------------------------


@contextmanager
def started(machine: Machine, name: str, service: dict[str, Any]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a service during the block, then stop it as Docker does."""
    process = machine.start(name, service)
    try:
        yield process
        assert process.poll() is None, f"{name} ended: {machine.log(name)}"
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    finally:
        process.kill()
        process.wait()
        print(f"{name}:\n{machine.log(name)}")  # shown if the test fails


async def games_in(url: str) -> list[list[str]]:
    """The players of each game stored in a database."""
    store = await Store.open(url)
    try:
        return [sorted(seat.name for seat in game.seats) for game in (await store.games()).items]
    finally:
        await store.close()


def play_until_a_game_is_stored(machine: Machine, cluster: Cluster, database: str) -> None:
    """Run the database's health check, the server and the bots of the compose file until a game is stored."""
    found = services(NUKIDORA_LENGTH="east", BOT_PAUSE="0")
    port, mjai_port = str(free_port()), str(free_port())
    server = found["server"]
    machine.substitutions = {
        server["environment"]["NUKIDORA_DATABASE"]: database,
        "server:11600": f"127.0.0.1:{mjai_port}",
    }
    ours = {"NUKIDORA_PORT": port, "NUKIDORA_MJAI_PORT": mjai_port, "NUKIDORA_DATA": str(machine.folder / "data")}
    machine.environment = machine.environment | ours

    _, ready, *options = found["db"]["healthcheck"]["test"]
    binaries = find_binaries()
    assert binaries is not None
    at_port = os.environ | {"PGPORT": str(cluster.port)}
    subprocess.run([str(binaries / ready), *options], env=at_port, check=True, capture_output=True)

    assert not machine.is_healthy(server)
    with started(machine, "server", server) as serving:
        wait_for(lambda: machine.is_healthy(server) or serving.poll() is not None, PATIENCE, "healthy server")
        with ExitStack() as bots:
            for bot in BOTS:
                bots.enter_context(started(machine, bot, found[bot]))
            wait_for(lambda: asyncio.run(games_in(database)), PATIENCE, "game stored")
        wait_for(lambda: machine.is_healthy(server), PATIENCE, "server that is still healthy")
    assert serving.returncode == 0, machine.log("server")
    assert asyncio.run(games_in(database))[-1] == sorted(BOTS)
    assert not machine.is_healthy(server)


@pytest.mark.slow
def test_the_services_play_and_store_games(tmp_path: Path, postgres_cluster: Cluster, postgres_url: str) -> None:
    play_until_a_game_is_stored(Machine.of_sources(tmp_path), postgres_cluster, postgres_url)


@pytest.mark.slow
@pytest.mark.long
def test_the_arena_service_plays_its_games(tmp_path: Path) -> None:
    machine = Machine.of_sources(tmp_path)
    process = machine.start("arena", services()["arena"])
    try:
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()
    assert "1,002 games in " in machine.log("arena")


@pytest.mark.slow
@pytest.mark.long
def test_the_arena_plays_on_the_services_of_the_cluster(tmp_path: Path) -> None:
    import_ray()
    from ray.util import get_node_ip_address

    found, machine, port = services(), Machine.of_sources(tmp_path), free_port()
    machine.substitutions = {"ray-head:6379": f"{get_node_ip_address()}:{port}", "--port=6379": f"--port={port}"}
    words = ["arena", "--cluster", "ray-head:6379", "--games", "300", "--bots", "rule,random,random"]
    with started(machine, "ray-head", found["ray-head"]) as head:
        wait_for(lambda: machine.is_healthy(found["ray-head"]) or head.poll() is not None, PATIENCE, "healthy head")
        with ExitStack() as workers:
            for number in range(2):  # in turn: one that times out as it begins would be restarted by Docker
                workers.enter_context(started(machine, f"ray-worker-{number}", found["ray-worker"]))
                wait_for(partial(has_cpus, machine, found["ray-head"], number + 1), PATIENCE, f"worker {number}")
            arena = machine.start("cluster-arena", found["ray-head"] | {"command": words})
            assert arena.wait(PATIENCE) == 0, machine.log("cluster-arena")
    assert "300 games in " in machine.log("cluster-arena")
    assert "(jobs: 2)" in machine.log("cluster-arena")


def n_cpus(machine: Machine, service: dict[str, Any]) -> int:
    """How many CPUs Ray has."""
    command = machine.command(["python", "-m", "ray.scripts.scripts", "status", "--address=ray-head:6379"])
    told = subprocess.run(command, env=machine.environment_of(service), capture_output=True, text=True, timeout=60)
    cpus = re.search(r"/(\d+)\.0 CPU", told.stdout)
    return int(cpus[1]) if cpus else 0


def has_cpus(machine: Machine, service: dict[str, Any], n: int) -> bool:
    """Whether the workers of a cluster have ``n`` CPUs."""
    return n_cpus(machine, service) == n
