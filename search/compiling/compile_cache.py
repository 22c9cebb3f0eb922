"""Numba's cache of compiled functions, made safe: never stale, checked before it is unpickled, locked.

Numba's own cache looks only at the file that defines a function, trusts every file in its directory and lets two
processes write one index. Here a function's directory is named after all sources that it can reach, and each signature
has a file of its own. A miss takes a lock, looks again, and holds the lock until the outermost function is compiled and
stored. A hit takes no lock.

This depends on Numba's internals as of 0.61 to 0.68: `Dispatcher.compile` asks `_cache.load_overload`, compiles what is
missing and passes it to `_cache.save_overload`, all under the global compiler lock.
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

from search.compiling.cache_directory import report_once
from search.compiling.cache_files import CodeFiles, CompileLock, ReleasedFiles
from search.compiling.progress import PROGRESS
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
    """The compiled versions of one function."""

    def __init__(self, function: Any, lock: CompileLock) -> None:
        """`function` is a Python function of a source file; `lock` is the lock of the environment's directory."""
        self._py_func = function
        self._name = repr(function)
        self._place = f"{function.__module__}.{function.__qualname__}"
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
        """Return the name of one signature's file; types are equal if their names are."""
        # The module's name is part of the key, because loaded code imports its module by this name.
        key = (self._py_func.__module__, *self._index_key(str(signature), codegen))
        return f"{self._stem}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the function compiled for a signature, or None, then with the lock held if it can be taken."""
        # Loaded code calls nothing else. Loading Numba's versions of Python's and NumPy's functions
        # (`target_context.refresh()`) takes a quarter of a start; Numba's compiler loads them if something has to be
        # compiled.
        rtsys.initialize(target_context)
        if not self._enabled:
            return None
        found = self._load(sig, target_context)
        if found is None and self._lock.begin():
            found = self._load(sig, target_context)  # another process may have compiled it meanwhile
        if found is None:
            PROGRESS.begin(self._place)
        else:
            PROGRESS.load(self._place)
        return found

    def _load(self, signature: Any, target_context: Any) -> Any:
        name = self._file(signature, target_context.codegen())
        for files in (self._files, self._released):  # code that had to be compiled again comes first
            content = files.read(name)
            if content is None:
                continue
            try:
                return CompileResult._rebuild(target_context, *pickle.loads(content))
            except Exception:  # intact, but unusable: finishing a game matters more than the reason
                files.report_damaged()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store the code that was compiled for a signature, unless it contains an address."""
        if not self._enabled:
            return
        PROGRESS.end(self._place)
        if data.library.has_dynamic_globals or not all(part.can_cache for part in data.lifted):
            report_once(f"{self._name} is compiled at each start: it contains an address or a large global array")
            return
        self._files.write(self._file(sig, data.codegen), dumps(data._reduce()), self._lock)

    def flush(self) -> None:
        """Delete the stored code of this function."""
        for file in self._files.directory.glob(f"{self._stem}.*.nbc"):
            file.unlink(missing_ok=True)


def keep_compiled(dispatcher: Any, lock: CompileLock) -> None:
    """Give a dispatcher (of `numba.njit` without `cache`) this cache; a function without a source file gets none."""
    if not os.path.isfile(dispatcher.py_func.__code__.co_filename):
        return
    dispatcher._cache = CompileCache(dispatcher.py_func, lock)
    compile_one = dispatcher.compile

    def compile_alone(sig: Any) -> Any:
        with global_compiler_lock, lock.compiling(), PROGRESS.compiling(), interrupted_at_once():
            return compile_one(sig)

    dispatcher.compile = compile_alone
