"""Numba's cache of compiled functions, made safe: never stale, checked before it is unpickled, locked.

Numba's own looks only at the file that defines a function, trusts whatever lies in its directory and lets two processes
write one index. Here a function's directory is named after all sources it can reach, a signature has a file of its own,
and a miss takes a lock, looks again, and holds it until the outermost function is compiled and kept. Hits take none.

This leans on Numba's internals as of 0.61 to 0.68: `Dispatcher.compile` asks `_cache.load_overload`, compiles what is
missing and gives it to `_cache.save_overload`, all under the global compiler lock.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
from pathlib import Path
from typing import Any

from numba.core import caching
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from search.compiling.cache_directory import say_once
from search.compiling.cache_files import CodeFiles, CompileLock, ReleasedFiles
from search.compiling.source_digest import code_name
from search.compiling.target import RELEASED
from search.system.interrupt import interrupted_at_once


@functools.cache
def _code_files(directory: Path) -> CodeFiles:
    return CodeFiles(directory)


@functools.cache
def _released_files(directory: Path) -> ReleasedFiles:
    return ReleasedFiles(directory)


class CompileCache(caching.Cache):  # type: ignore[misc]  # Numba is untyped
    """One function's compiled forms."""

    def __init__(self, function: Any, lock: CompileLock) -> None:
        """`function` is the Python function, of a source file; `lock` is that of the environment's directory."""
        self._py_func = function
        self._name = repr(function)
        code = function.__code__
        name = code_name(code.co_filename, function.__globals__.get("__spec__"))
        self._lock = lock
        self._files = _code_files(lock.directory / name)
        self._released = _released_files(RELEASED / lock.directory.name / name)
        self._cache_path = str(self._files.directory)
        plain = function.__qualname__.replace("<", "").replace(">", "")
        self._stem = f"{plain}-{code.co_firstlineno}"
        self.enable()

    def _file(self, signature: Any, codegen: Any) -> str:
        """The file of one signature; types are equal where their names are."""
        # The module's name counts, as code that is loaded imports its module by it.
        key = (self._py_func.__module__, *self._index_key(str(signature), codegen))
        return f"{self._stem}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The function compiled for a signature, or None, with the lock held if it can be had."""
        # All that loaded code calls. What Numba knows of Python's and NumPy's functions (`target_context.refresh()`)
        # takes a quarter of a start; its compiler loads it where something has to be compiled.
        rtsys.initialize(target_context)
        if not self._enabled:
            return None
        found = self._load(sig, target_context)
        if found is None and self._lock.begin():
            found = self._load(sig, target_context)  # another process may have compiled it meanwhile
        return found

    def _load(self, signature: Any, target_context: Any) -> Any:
        name = self._file(signature, target_context.codegen())
        for files in (self._files, self._released):  # what had to be compiled again comes first
            content = files.read(name)
            if content is None:
                continue
            try:
                return CompileResult._rebuild(target_context, *pickle.loads(content))
            except Exception:  # it is what was written, and still of no use: a game is worth more than knowing why
                files.say_damaged()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled for a signature, but no code with an address baked in."""
        if not self._enabled:
            return
        if data.library.has_dynamic_globals or not all(part.can_cache for part in data.lifted):
            say_once(
                f"{self._name} is compiled at each start: it holds an address, or a global array that is too large"
            )
            return
        self._files.write(self._file(sig, data.codegen), dumps(data._reduce()), self._lock)

    def flush(self) -> None:
        """Forget what was kept."""
        for file in self._files.directory.glob(f"{self._stem}.*.nbc"):
            file.unlink(missing_ok=True)


def keep_compiled(dispatcher: Any, lock: CompileLock) -> None:
    """Give a dispatcher (of `numba.njit` without `cache`) this cache; one without a source file has none."""
    if not os.path.isfile(dispatcher.py_func.__code__.co_filename):
        return
    dispatcher._cache = CompileCache(dispatcher.py_func, lock)
    compile_one = dispatcher.compile

    def compile_alone(sig: Any) -> Any:
        with global_compiler_lock, lock.compiling(), interrupted_at_once():
            return compile_one(sig)

    dispatcher.compile = compile_alone
