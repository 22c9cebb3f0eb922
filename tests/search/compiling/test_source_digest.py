"""The sources that a module reaches, found by the text of its import statements."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from search.compiling import source_digest
from search.compiling.source_digest import code_name, program_digest, reach

CHECKOUT = Path(__file__).parents[3]


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """Make a directory on the path with modules `one` to `five` and a package `house` with `room` and `garden`."""
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("one", "two", "three", "four", "five", "house/__init__", "house/room", "house/garden/__init__"):
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# {name}\n")
    return Path(os.path.realpath(tmp_path))


def reached(sources: Path, text: str, where: str = "main.py") -> set[str]:
    path = sources / where
    path.write_text(text)
    for remembered in (source_digest._scan, source_digest._sources, source_digest._is_package):
        remembered.cache_clear()
    return {str(Path(file).relative_to(sources)) for file in reach(str(path))} - {where}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import one", {"one.py"}),
        ("import one as first, two\nimport numpy", {"one.py", "two.py"}),
        ("from one import a, b", {"one.py"}),
        ("def f():\n    from one import a\n    import two; import three", {"one.py", "two.py", "three.py"}),
        ("if True: import one", {"one.py"}),
        ("from one import (  # with (brackets)\n    a,  # of two\n    b as c,\n)\nimport two", {"one.py", "two.py"}),
        ("from house import room", {"house/__init__.py", "house/room.py"}),
        ("from house import (\n    nothing,\n    room as r,\n)", {"house/__init__.py", "house/room.py"}),
        ("import house.room", {"house/__init__.py", "house/room.py"}),
        ("from house.room import *", {"house/__init__.py", "house/room.py"}),
        ("from house \\\n    import \\\n    garden", {"house/__init__.py", "house/garden/__init__.py"}),
        ("important = 1\nthe_import = 'imports one'", set()),
    ],
)
def test_import_statements_are_found(sources, text, names):
    assert reached(sources, text) == names


@pytest.mark.parametrize("text", ["from . import room", "from .room import a", "from .  import (room)"])
def test_relative_imports_are_found(sources, text):
    assert reached(sources, text, "house/other.py") == {"house/__init__.py", "house/room.py"}


def test_relative_imports_from_above_are_found(sources):
    assert reached(sources, "from ..room import a", "house/garden/tree.py") == {"house/__init__.py", "house/room.py"}


def test_reached_modules_are_transitive_and_may_be_circular(sources):
    (sources / "one.py").write_text("import two")
    (sources / "two.py").write_text("import three")
    (sources / "three.py").write_text("import one")
    assert reached(sources, "import one") == {"one.py", "two.py", "three.py"}


def test_a_name_changes_with_reached_sources_when_a_module_is_reloaded(sources):
    (sources / "main.py").write_text("import one")
    main = str(sources / "main.py")
    first, second, third = object(), object(), object()
    name = code_name(main, first)
    (sources / "two.py").write_text("changed = 1")
    assert code_name(main, second) == name
    (sources / "one.py").write_text("changed = 1")
    assert code_name(main, second) == name, "the loaded sources have not changed"
    assert code_name(main, third) != name


def test_all_loaded_modules_are_reached():
    """The scan against the interpreter: modules that an import loads were found."""
    loaded = "[module.__file__ for name, module in sys.modules.items() if name.startswith('search')]"
    code = f"import sys, search.alphabeta.root; print(*{loaded})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=CHECKOUT, timeout=60)
    files = {os.path.realpath(file) for file in done.stdout.split()}
    assert str(CHECKOUT / "search" / "rules" / "position.py") in files
    assert files <= reach(str(CHECKOUT / "search" / "alphabeta" / "root.py"))


def test_modules_that_nothing_jitted_imports_are_not_reached():
    usi = str(CHECKOUT / "search" / "usi" / "session.py")
    assert usi not in reach(str(CHECKOUT / "search" / "alphabeta" / "search.py"))
    assert usi not in reach(str(CHECKOUT / "lite" / "records" / "decode.py"))


def test_equal_sources_elsewhere_are_the_same_program(tmp_path, monkeypatch):
    def digest_in(place: str) -> str:
        monkeypatch.setattr("search.compiling.source_digest._CHECKOUT", str(tmp_path / place))
        return program_digest()

    for place in ("one", "other"):
        (tmp_path / place / "lite" / "deep").mkdir(parents=True)
        (tmp_path / place / "lite" / "deep" / "a.py").write_text("A = 1\n")
        (tmp_path / place / "unrelated.py").write_text(place)
    alike = digest_in("one")
    assert digest_in("other") == alike
    changed = tmp_path / "other" / "lite" / "deep" / "a.py"
    changed.write_text("A = 2\n")
    assert digest_in("other") != alike
    changed.write_text("A = 1\n")
    changed.rename(changed.with_name("b.py"))
    assert digest_in("other") != alike
