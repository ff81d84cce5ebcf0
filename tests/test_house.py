"""What is installed is what the repository says: packages, versions, pins."""

from __future__ import annotations

import importlib.metadata
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

REPOSITORY = Path(__file__).resolve().parent.parent
NAMESPACES = ("engine", "agents", "server")
REGULAR = ("arena", "nukidora")  # packages with an __init__.py


@pytest.fixture(scope="module")
def pyproject() -> dict[str, Any]:
    return tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pins() -> dict[str, Version]:
    """Package -> its one version in constraints.txt."""
    lines = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8").splitlines()
    found = {}
    for requirement in (Requirement(line) for line in lines if line and not line.startswith("#")):
        (specifier,) = requirement.specifier
        assert specifier.operator == "==", f"{requirement} is not a pin"
        found[canonicalize_name(requirement.name)] = Version(specifier.version)
    return found


def direct_requirements(pyproject: dict[str, Any]) -> list[Requirement]:
    project = pyproject["project"]
    texts = [*project["dependencies"], *(text for extra in project["optional-dependencies"].values() for text in extra)]
    return [requirement for requirement in map(Requirement, texts) if requirement.name != project["name"]]


def test_every_package_of_the_repository_is_shipped(pyproject: dict[str, Any]) -> None:
    shipped = pyproject["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert sorted(shipped) == sorted([*NAMESPACES, *REGULAR])
    typed = [path.parent for package in NAMESPACES for path in (REPOSITORY / package).glob("*/__init__.py")]
    typed += [REPOSITORY / package for package in REGULAR]
    assert [str(folder) for folder in typed if not (folder / "py.typed").exists()] == []


def test_every_folder_of_sources_is_a_package(pyproject: dict[str, Any]) -> None:
    sources = (path for package in pyproject["tool"]["mypy"]["files"] for path in (REPOSITORY / package).rglob("*.py"))
    folders = {path.parent for path in sources} - {REPOSITORY / package for package in NAMESPACES}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def test_installed_version_is_that_of_the_sources(pyproject: dict[str, Any]) -> None:
    try:
        installed = importlib.metadata.version("nukidora")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("nukidora runs from its sources here, without being installed")
    assert installed == pyproject["project"]["version"]


def test_every_requirement_is_pinned_within_its_range(pyproject: dict[str, Any], pins: dict[str, Version]) -> None:
    requirements = direct_requirements(pyproject)
    for requirement in requirements:
        assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)]), str(requirement)
