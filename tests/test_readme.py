"""What the README shows runs as it stands there."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import numpy as np

from engine.tables import Tables

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def test_the_examples_with_a_prompt_print_what_they_show() -> None:
    examples = [block for block in BLOCKS if ">>>" in block]
    assert examples
    for block in examples:
        test = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
        assert doctest.DocTestRunner().run(test).failed == 0


def test_the_other_examples_run_and_the_bot_plays() -> None:
    names: dict[str, Any] = {}
    for block in BLOCKS:
        if ">>>" not in block:
            exec(block, names)
    assert names["game"].over
    tables = Tables(range(4))
    for _ in tables.play([names["Eager"]().act], np.zeros((4, 3), dtype=np.int8)):
        pass
    assert (tables.records["seat"]["score"].sum(axis=1) == 105_000).all()
