"""Each extra alone: what README and docs promise for it needs no package of another one.

The quick tests hide all other packages of this environment. The long ones install the wheel with the extra into a fresh
environment, and nothing else.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from importlib.metadata import distributions, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.postgres import free_port
from tests.support.wheel import build_wheel

REPOSITORY = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ONLY = REPOSITORY / "tests" / "support" / "only"
NONE = "none"  # stands for no extra

MATCH = "python -m arena --games 3 --length east --jobs 1 --bots"
# A script for each extra, which bash runs in a folder with `examples` and `tests/data`. The first block of each is also
# the quick test, and every block is what a page promises.
SCRIPTS: dict[str, tuple[str, str]] = {
    NONE: (
        f"""
{MATCH} random,random,random
for program in arena client console review analyse pack bert linear rl search engine; do
    python -m nukidora $program --help
done
python -W error::RuntimeWarning - <<'END'
from nukidora import Game, PlayerState, Replay, Tables, make_bot, play, score
state, game = PlayerState(), Game(7)
for message in game.new_messages(0):
    state.update(message)
assert state.legal == game.legal(0)
assert len(Tables(range(3)).records) == 3
assert str(score("123456789p11s23s", "4s"))
END
python -m engine show examples/game.mjson --round 1
python -m engine validate examples/game.mjson
""",
        f"""
python -m arena --bots random,random,random --games 3
{MATCH} rule,efficiency,yaku --statistics --json result.json --save games
{MATCH} linear,softmax,tsumogiri
{MATCH} selfplay,residual,rule@-300
nukidora arena league --bots rule,efficiency,tsumogiri,random --games 12 --length east
python -m engine convert examples/game.mjson game.json
python -m agents.review examples/game.mjson --seat 0 --bot rule --html review.html
python -m agents.analyse 123p456s11z99m2256p --bot rule --json analysis.json
python -m agents.pack tsumogiri -o bot.pyz
{MATCH} "exec:python bot.pyz,random,random"
{MATCH} mjsonp://localhost:$MJAI_PORT/room,random,random &
until python -m agents.client tsumogiri mjsonp://localhost:$MJAI_PORT/room --games 3; do sleep 1; done
wait $!
python -m agents.linear export choices.csv --selfplay tsumogiri,random,random --games 20
python -m agents.linear train weights --data choices.csv --set epochs=1
""",
    ),
    "server": (
        """
python -m server --help
python -c 'import server.commands, agents.client.websocket, agents.bert.bot, agents.cnn.inference'
""",
        f"""
{MATCH} bert,cnn,random
python -m agents.review examples/game.mjson --seat 0 --bot bert --json review.json
python -m server token add aki --data data
NUKIDORA_LENGTH=east python -m server --port $PORT --mjai-port $MJAI_PORT --data data &
trap "kill $!" EXIT
up="from urllib.request import urlopen; urlopen('http://localhost:$PORT/healthz')"
until python -c "$up" 2>/dev/null; do sleep 1; done
python -m agents.client tsumogiri mjsonp://localhost:$MJAI_PORT/try+random+random
python -m agents.client bert ws://localhost:$PORT/mjai/try+rule+random
python -m agents.client.example localhost $MJAI_PORT try+random+random
python -m server backup saved.db --data data
""",
    ),
    "train": (
        """
python - <<'END'
import agents.bert.evaluation.commands, agents.bert.export.command, agents.bert.training.data.build
import agents.bert.training.trainer, agents.cnn.export, agents.cnn.model, agents.rl.plot, agents.rl.commands
END
""",
        f"""
python -m agents.bert data dataset --selfplay tsumogiri,random,random --games 40 --teacher efficiency
python -m agents.bert data dataset --add --records examples/game.mjson tests/data/records
python -m agents.bert train dataset runs/bert --from micro --batch-size 16 --steps 2
python -m agents.bert evaluate runs/bert/model --data dataset --samples 50
python -m agents.bert export runs/bert/model
python -m agents.bert train dataset runs/cnn --from dwarf --batch-size 16 --steps 2
{MATCH} bert:runs/bert/model,cnn:runs/cnn/model,random
python -m agents.rl train runs/rl --minutes 0.1 --jobs 1 --set measure_against=random --set opponents=random \\
    --set tables=16 --set width=8 --set hidden=8 --set walls=1
{MATCH} residual:runs/rl,random,random
""",
    ),
    "rl": (
        """
python - <<'END'
import gymnasium
from nukidora.envs import sanma_v0
envs = gymnasium.make_vec("nukidora.envs:nukidora/Sanma-v0", num_envs=2, opponents=("random", "random"))
envs.reset(seed=1)
envs.step(envs.action_space.sample())
env = sanma_v0.env(render_mode="rgb_array")
env.reset(seed=7)
print(env.render().shape)
END
""",
        """
python - <<'END'
import gymnasium
from nukidora.envs import sanma_v0
envs = gymnasium.make_vec("nukidora.envs:nukidora/Sanma-v0", num_envs=8, opponents=("rule", "bert"))
observations, info = envs.reset(seed=1)
for _ in range(20):
    observations, rewards, terminations, truncations, info = envs.step(envs.action_space.sample())
env = sanma_v0.env(observation="planes", reward="placement", length="east")
env.reset(seed=7)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    env.step(None if terminated else env.action_space(agent).sample(observation["action_mask"]))
END
python examples/maskable_ppo.py --steps 2048 --games 3
python examples/ppo.py runs/ppo --minutes 0.1
python -m arena --bots examples/ppo.py:Trained:runs/ppo,tsumogiri,random --games 3 --jobs 1
""",
    ),
    "archive": (
        """
python -m engine convert tests/data/records --out games.tar.zst
""",
        """
python -m engine validate games.tar.zst --json report.json
python -m engine show games.tar.zst:phoenix_2024_1.mjson --round 1
python -c 'import engine.records.majsoul_binary'
""",
    ),
    "report": (
        """
python -c 'import arena.page.figures, matplotlib.figure, arena.parquet, pyarrow.parquet, pandas'
""",
        f"""
{MATCH} efficiency,random,tsumogiri --html report.html --parquet rows --decisions
python -m arena stats tests/data/records/phoenix* --html players.html --parquet records
python -c 'import pandas; print(len(pandas.read_parquet("rows/rounds.parquet")))'
python -c 'from arena import play; print(play(["random"] * 3, games=3, length="east").dataframe())'
python -m agents.linear export choices.parquet --selfplay tsumogiri,random,random --games 6
""",
    ),
    "cluster": (
        """
python -c 'import engine.common.cluster_pool; engine.common.cluster_pool.import_ray()'
""",
        """
python -m arena --games 30 --bots tsumogiri,random,random --cluster local --jobs 1
""",
    ),
}


def installed_by(extra: str) -> set[str]:
    """The distributions that nukidora with an extra installs, as far as they are here."""
    here = {canonicalize_name(each.name): each for each in distributions()}
    wanted = [Requirement(text) for text in PROJECT["dependencies"] + PROJECT["optional-dependencies"].get(extra, [])]
    found: set[tuple[str, str]] = set()
    while wanted:
        requirement = wanted.pop()
        name = canonicalize_name(requirement.name)
        for part in {"", *requirement.extras}:
            if name in here and (name, part) not in found:
                found.add((name, part))
                needs = map(Requirement, here[name].requires or ())
                wanted += [each for each in needs if each.marker is None or each.marker.evaluate({"extra": part})]
    return {name for name, _ in found}


def run(script: str, folder: Path, programs: Path, **variables: str) -> None:
    """Run a script in a folder with what the commands of the pages read there."""
    for source in ("examples", "tests/data"):
        (folder / source).parent.mkdir(parents=True, exist_ok=True)
        (folder / source).symlink_to(REPOSITORY / source)
    ports = {"PORT": str(free_port()), "MJAI_PORT": str(free_port())}
    path = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=os.environ | path | ports | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def test_there_is_a_script_for_every_extra() -> None:
    for_developers = {"test", "dev", "docs"}
    assert set(SCRIPTS) == {NONE, *PROJECT["optional-dependencies"]} - for_developers


@pytest.mark.slow
@pytest.mark.parametrize("extra", SCRIPTS)
def test_no_package_of_another_extra_is_imported(extra: str, tmp_path: Path) -> None:
    own = installed_by(extra) | {"nukidora", "pip", "setuptools"}
    hidden = {
        module for module, names in packages_distributions().items() if own.isdisjoint(map(canonicalize_name, names))
    }
    assert {"numpy", "numba", "rich"}.isdisjoint(hidden)
    assert "pytest" in hidden
    variables = {"WITHOUT": ",".join(hidden), "PYTHONPATH": f"{ONLY}{os.pathsep}{REPOSITORY}"}
    run(
        SCRIPTS[extra][0],
        tmp_path,
        Path(sys.executable).parent,
        **variables,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our wheel."""
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A fresh virtual environment, always at the same place, so that machine code is compiled once for all."""
    folder = tmp_path_factory.getbasetemp() / "environment"
    venv.create(folder, with_pip=True)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.long
@pytest.mark.timeout(3600)  # pip installs up to two gigabytes
@pytest.mark.parametrize("extra", SCRIPTS)
def test_each_extra_alone_does_what_is_promised(extra: str, wheel: Path, environment: Path, tmp_path: Path) -> None:
    wanted = f"nukidora[{extra}] @ {wheel.as_uri()}" if extra != NONE else f"nukidora @ {wheel.as_uri()}"
    pip = [environment / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--constraint", REPOSITORY / "constraints.txt", wanted], check=True)
    run("".join(SCRIPTS[extra]), tmp_path, environment / "bin")
