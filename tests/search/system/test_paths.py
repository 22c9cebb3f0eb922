"""Files named from Python."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pytest

from search.system.paths import as_paths, take_paths


class Entry:
    """What `os.scandir` gives is such a thing: no Path, yet it stands for one."""

    def __fspath__(self) -> str:
        return "a.psv"


@pytest.mark.parametrize("named", ["a.psv", Path("a.psv"), PurePosixPath("a.psv"), Entry()])
def test_a_file_is_named_by_whatever_stands_for_a_path(named):
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


def test_what_is_no_path_is_a_type_error():
    with pytest.raises(TypeError):
        Options((), 7)
    with pytest.raises(TypeError):
        Options(7, os.curdir)
