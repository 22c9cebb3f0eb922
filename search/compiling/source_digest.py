"""The digest of every source that compiled code depends on, found through imports.

Jitted code contains the functions and constants that it uses, of any module, and all of them come through import
statements. These are found by a text search at the head of a file, in a function or in a docstring: a false match costs
a compilation, a missed one would mean stale code. A function that another module registers (`numba.extending.overload`)
counts if the module that calls it imports the registering one, directly or not.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

_PACKAGES = ("search", "lite", "export", "experiments", "liteshogi")
_HERE = os.path.realpath(__file__)
_CHECKOUT = functools.reduce(lambda path, _: os.path.dirname(path), __name__.split("."), _HERE)
"""The directory that contains the packages."""

_NOISE = re.compile(r"#[^\n]*|\\\r?\n")
_IMPORT = re.compile(
    r"import(?<=\bimport)\b[ \t]*(\([^)]*\)|[^\n;]*)"
)  # begins with letters, which is five times as fast
_FROM = re.compile(r"\bfrom\s*([.\w]+)\s*$")


def _shared_name(file: str) -> str:
    """Return a file's path relative to the checkout, equal for all checkouts; of a file elsewhere the whole path."""
    return file.removeprefix(_CHECKOUT + os.sep).replace(os.sep, "/")


def _roots(top: str, file: str) -> list[str]:
    """Return the directories that may hold the source of the package or module `top`, imported in `file`."""
    if top in _PACKAGES:
        return [_CHECKOUT]
    if _shared_name(file).split("/")[0] in _PACKAGES:
        return []
    library = os.path.dirname(os.__file__)  # with its `site-packages`
    installed = re.compile(r"[\\/](?:site|dist)-packages\b")
    return [path or "." for path in sys.path if not path.startswith(library) and not installed.search(path)]


@functools.cache
def _sources(path: str) -> tuple[str, ...]:
    """Return the sources that importing the module or package at a path (without suffix) may run."""
    files = (f"{path}.py", os.path.join(path, "__init__.py"))
    return tuple(os.path.realpath(file) for file in files if os.path.isfile(file))


@functools.cache
def _is_package(path: str) -> bool:
    return os.path.isdir(path)


def _statements(text: str) -> set[tuple[str, str]]:
    """Return the import statements of a source: (module after `from` or nothing, dotted name after `import`)."""
    text = _NOISE.sub(" ", text)
    found = set()
    for statement in _IMPORT.finditer(text):
        start = statement.start()
        module = _FROM.search(text, text.rfind("\n", 0, start) + 1, start)
        for alias in statement[1].strip("() \t\r").split(","):
            if words := alias.split():
                found.add((module[1] if module else "", words[0]))
    return found


def _imported(file: str, text: str) -> Iterator[str]:
    """Yield the sources that a file's import statements may run, except those of third-party packages."""
    for module, name in _statements(text):
        below = module.lstrip(".")
        parts = [part for part in f"{below}.{name}".split(".") if part]
        if above := len(module) - len(below):
            roots = [functools.reduce(lambda path, _: os.path.dirname(path), range(above), file)]
            yield from _sources(roots[0])
        else:
            roots = _roots(parts[0], file)
        for path in roots:
            for part in parts:
                path = f"{path}{os.sep}{part}"
                yield from _sources(path)
                if not _is_package(path):
                    break


@functools.cache
def _scan(file: str) -> tuple[bytes, frozenset[str]]:
    """Return the digest of a source with its name, and the sources that it imports."""
    with open(file, "rb") as opened:
        raw = opened.read()
    return _digest(file, raw), frozenset(_imported(file, raw.decode("utf-8", "replace")))


def reach(file: str) -> set[str]:
    """Return the real paths of a source file and of all files that it imports, directly or not."""
    reached, waiting = set(), [os.path.realpath(file)]
    while waiting:
        source = waiting.pop()
        if source not in reached:
            reached.add(source)
            waiting += _scan(source)[1] - reached
    return reached


def program_digest() -> str:
    """Return the digest of all sources of this program's packages; equal sources have equal digests on all machines."""
    folders = (Path(_CHECKOUT, package) for package in _PACKAGES)
    return _joined(_digest(str(path), path.read_bytes()) for folder in folders for path in folder.rglob("*.py"))


def _digest(file: str, raw: bytes) -> bytes:
    """Return the digest of a source and its name."""
    return hashlib.sha256(_shared_name(file).encode() + b"\0" + raw).digest()


def _joined(digests: Iterable[bytes]) -> str:
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()


_named: dict[str, tuple[object, str]] = {}


def code_name(file: str, loaded: object) -> str:
    """Return the directory name of a module's compiled code: its name and the digest of all sources that it reaches.

    `loaded` is the module's `__spec__`. If it is not the same as before, the module was loaded again, maybe with other
    sources.
    """
    known = _named.get(file)
    if known is not None and known[0] is loaded:
        return known[1]
    if known is not None:
        for remembered in (_scan, _sources, _is_package):
            remembered.cache_clear()
    digest = _joined(_scan(source)[0] for source in reach(file))
    shared = _shared_name(os.path.realpath(file))
    stem = os.path.basename(shared) if os.path.isabs(shared) else shared.replace("/", ".")
    name = f"{stem.removesuffix('.py')}-{digest[:16]}"
    _named[file] = (loaded, name)
    return name
