"""The code blocks of README and docs run as they stand, in what looks like a fresh clone."""

from __future__ import annotations

import doctest
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Scale
from tests.support.markdown_blocks import REPOSITORY, Block, BlockError, Clone, blocks_of, copy_checkout, sessions

PAGES = ["README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in sorted((REPOSITORY / "docs").glob("*.md")))]
PATIENCE = 900  # seconds that a block may take; most take a few

# Part of a block, by page -> why the block is not run. Their commands are parsed by test_docs_commands.
NOT_RUN = {
    "docs/deploy.md": {
        "docker compose --profile tls up": "needs Docker",
        "docker compose exec -T db pg_dump": "needs Docker and PostgreSQL",
        "adduser python3-venv": "changes the machine",
        "sudo tee /etc/nukidora.toml": "changes the machine",
        "sudo tee /usr/local/sbin/nukidora-server": "changes the machine",
        "createuser --pwprompt": "changes the machine, and asks for a password",
        "systemctl daemon-reload": "needs systemd",
        "python -m server backup nukidora.backup": "needs a server's database: see tests/server/test_backup.py",
        "nukidora-server backup": "needs the service",
        "nukidora-server restore": "needs the service",
        "RENAME TO nukidora_before": "needs the service's PostgreSQL",
    },
    "docs/training.md": {
        "data human --records records/": "an hour, and records of one's own",
        "experiments/human.sh": "an hour, and records of one's own",
        "--from laptop": "hours",
        "--from compact": "hours",
        "deepen runs": "hours",
        "improve rollouts": "hours",
        "export runs": "needs a trained network",
        "benchmarks.bert --model": "needs a trained network",
        "temperature=": "needs a trained network",
    },
    "docs/weekend.md": {
        "agents.rl train runs/mine": "hours",
        "bundled_network.sh runs/weekend": "a day",
        "experiments/gpu.sh": "ten minutes, and records of one's own",
        "torchrun --nproc-per-node 4": "hours; needs several GPUs",
        "--sprt 0,-0.02": "needs a trained network",
    },
    "docs/players.md": {"agents.console --bots rule,bert": "needs a terminal: see tests/agents/console"},
    "docs/arena.md": {
        "experiments/control_variates.py": "two minutes",
        "--bots selfplay,rule,efficiency": "a minute: see tests/web/test_pictures.py",
    },
    "docs/archives.md": {"experiments/archive_memory.py": "minutes; needs matplotlib"},
    "docs/ladder.md": {"arena ladder": "a quarter of an hour"},
    "docs/cluster.md": {
        "ray start --head": "needs several machines: see tests/cluster",
        "--cluster 192.168.0.10:6379 --json": "needs several machines",
        "--profile cluster up": "needs Docker: see tests/test_deploy.py",
        "agents.rl train": "hours",
        "python -m benchmarks.cluster": "minutes",
    },
    "docs/experiments.md": {
        "evaluate agents/bert/weights": "ten minutes; measures the bundled network",
        "distil_human.py runs/start": "hours, and records of one's own",
    },
}
# Part of a block, by page: it takes minutes.
LONG = {
    "README.md": ["python3 -m nukidora --version"],
    "docs/quickstart.md": ["train dataset runs/first", "examples/reinforce.py"],
}
# The pages whose blocks are run by CI, too; those of the others by `make test-long`.
FIRST_PAGES = ("README.md", "CONTRIBUTING.md", "docs/quickstart.md")
FEWER = re.compile(r"(?<=--games )\d{3,}")  # games that a block plays, where it does not run at length
SESSIONS = [session for page in PAGES for session in sessions(blocks_of(page, "sh"))]


def marked(session: list[Block], parts: Any) -> bool:
    return any(part in block.text for block in session for part in parts.get(block.page, ()))


def parameter(session: list[Block]) -> Any:
    long = session[0].page not in FIRST_PAGES or marked(session, LONG)
    return pytest.param(session, marks=[pytest.mark.long] if long else [], id=str(session[0]))


@pytest.mark.slow
@pytest.mark.parametrize("session", [parameter(each) for each in SESSIONS if not marked(each, NOT_RUN)])
def test_a_shell_block_runs(session: list[Block], scale: Scale, tmp_path: Path) -> None:
    if scale == "quick":
        session = [replace(block, text=FEWER.sub("30", block.text)) for block in session]
    Clone(tmp_path).run(session, PATIENCE)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page, "python")])
def test_the_python_blocks_of_a_page_run_in_order(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy_checkout(tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks_of(page, "python"):
        if ">>>" in block.text:
            test = doctest.DocTestParser().get_doctest(block.text, names, str(block), page, block.line)
            failed = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, clear_globs=False).failed
            names = test.globs
            assert not failed, f"{block}: {capsys.readouterr().out}"
        else:
            exec(compile(block.text, str(block), "exec"), names)


@pytest.mark.parametrize("parts", [NOT_RUN, LONG])
def test_each_entry_of_the_tables_is_in_one_block(parts: Any) -> None:
    entries = [(page, part) for page, of_page in parts.items() for part in of_page]
    found = [(page, part, sum(part in block.text for block in blocks_of(page, "sh"))) for page, part in entries]
    assert [entry for entry in found if entry[2] != 1] == []


def test_every_block_has_a_language_that_is_read() -> None:
    """A block of shell or Python that is called something else would not be run."""
    known = {"sh", "python", "toml", "ini", "yaml", "nginx", "json", "text"}
    fences = [
        (page, line)
        for page in PAGES
        for line in (REPOSITORY / page).read_text(encoding="utf-8").splitlines()
        if line.lstrip().startswith("```") and line.strip() != "```"
    ]
    assert [fence for fence in fences if fence[1].strip("` ") not in known] == []


@pytest.mark.parametrize("page", PAGES)
def test_no_page_installs_nukidora_from_an_index(page: str) -> None:
    """It is on none: whoever registers the name there could run anything."""
    assert re.findall(r"pip install [^`\n]*\bnukidora\b", (REPOSITORY / page).read_text(encoding="utf-8")) == []


def of(text: str) -> list[Block]:
    return [Block("page.md", number, "sh", part) for number, part in enumerate(text.split("---\n"), 1)]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    return Clone(tmp_path_factory.mktemp("clone"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("my-bot mjsonp://localhost:11600/default\n", "my-bot"),
        ("false\ntrue\n", "exit code 1"),
        ("python -c 'import warnings; warnings.warn(\"old\")'\n", "UserWarning:"),
        ("pip install nukidora\n", "only projects in a folder"),
        ("pip install -c constrains.txt -e .\n", "no such file"),
        ('pip install -e ".[sever]"\n', "no such extra: sever"),
        ("make aren\n", "aren"),
        ("python -m arena --hands 3\n", "--hands"),
        ("python -c 'print(1)'\n---\n# in a second terminal\ntrue\n", "does not say where it listens"),
        ("echo mjsonp://localhost:11600; sleep 60\n---\n# in a second terminal\nfalse\n", "exit code 1"),
    ],
)
def test_what_a_reader_would_trip_over_is_noticed(clone: Clone, text: str, complaint: str) -> None:
    with pytest.raises(BlockError) as failed:
        clone.run(of(text), PATIENCE)
    assert complaint in str(failed.value)
