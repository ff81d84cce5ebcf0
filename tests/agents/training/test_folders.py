"""A folder holds the run of one trainer."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.training.folders import FILES, check_folder


@pytest.mark.parametrize(("trainer", "name"), [(trainer, name) for trainer in FILES for name in FILES[trainer]])
def test_a_trainer_refuses_the_runs_of_the_others(trainer: str, name: str, tmp_path: Path) -> None:
    for each in FILES:
        check_folder(tmp_path / "new", each)
        check_folder(tmp_path, each)
    (tmp_path / name).touch()
    check_folder(tmp_path, trainer)
    for other in FILES.keys() - {trainer}:
        with pytest.raises(ValueError, match=rf"holds a run of {trainer}; take another folder$"):
            check_folder(tmp_path, other)
