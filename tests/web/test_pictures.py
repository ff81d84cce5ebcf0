"""The pictures of README and docs show what the commands beside them make now."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.pictures import DOCS, PICTURES, REPOSITORY, content_of, with_content


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_up_to_date(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    browser = request.getfixturevalue("browser") if PICTURES[name].browser else None
    now = PICTURES[name].content(tmp_path, browser)
    assert content_of(DOCS / name).splitlines() == now.splitlines(), f"docs/{name} is stale: run make pictures"


def test_every_picture_of_readme_is_made() -> None:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^]]*\]\(docs/(\S+)\)", text)
    assert len(shown) == 4
    assert set(shown) <= set(PICTURES)


@pytest.mark.parametrize("name", ["a.svg", "a.png"])
def test_a_picture_keeps_its_content(name: str, tmp_path: Path) -> None:
    text = "1.5 ± 0.1 <b> & 日本\n--games"
    drawn = (DOCS / name.replace("a.svg", "view.svg").replace("a.png", "report.png")).read_bytes()
    (tmp_path / name).write_bytes(with_content(drawn, text, Path(name).suffix))
    assert content_of(tmp_path / name) == text
