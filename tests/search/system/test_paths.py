"""File names from Python callers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pytest

from search.system.paths import as_paths, take_paths


class Entry:
    """A path-like object that is no Path, as `os.scandir` returns it."""

    def __fspath__(self) -> str:
        return "a.psv"


@pytest.mark.parametrize("named", ["a.psv", Path("a.psv"), PurePosixPath("a.psv"), Entry()])
def test_every_path_like_object_names_a_file(named):
    assert as_paths(named) == as_paths([named]) == as_paths((named,)) == (Path("a.psv"),)


@dataclass(frozen=True)
class Options:
    files: tuple[Path, ...]
    output: Path
    also: Path | None = None
    named: str = "default"
    span: tuple[int, int] = (1, 2)

    def __post_init__(self) -> None:
        take_paths(self)


@dataclass(frozen=True)
class More(Options):
    last: Path | None = None


def test_fields_that_are_paths_become_paths_and_others_stay():
    assert More("a", "b", "c", "d", last="e") == More((Path("a"),), Path("b"), Path("c"), "d", (1, 2), Path("e"))
    assert More(["a", Entry()], Path("b")).files == (Path("a"), Path("a.psv"))
    assert More((), "b").also is None


def test_other_types_are_type_errors():
    with pytest.raises(TypeError):
        Options((), 7)
    with pytest.raises(TypeError):
        Options(7, os.curdir)
