"""Numba's cache of compiled functions, made safe: never stale, checked before it is unpickled, locked.

Numba's own cache looks only at the file that defines a function, trusts every file in its directory and lets two
processes write one index. Here a function's directory is named after all sources that it can reach, and each signature
has a file of its own. A miss takes the directory's lock, looks again, and holds the lock until the module's outermost
function under way is compiled and stored. A hit takes no lock.

So several processes compile at once, each another module. They cannot wait for each other in a circle: a process that
holds a module's lock waits only for modules that this one imports, and no module imports itself by way of others.

A function that only other jitted functions call is stored without machine code (`compiler.py`). When Python calls it,
its machine code is made and stored in place of that.

This depends on Numba's internals as of 0.61 to 0.68: `Dispatcher.compile` asks `_cache.load_overload`, compiles what is
missing and passes it to `_cache.save_overload`, all under the global compiler lock. A dispatcher's C code calls
`_compile_for_args` for a call from Python whose types it does not know yet.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numba.core import caching
from numba.core.compiler import CompileResult, compile_result
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from search.compiling.cache_directory import report_once
from search.compiling.cache_files import CodeFiles, CompileLock, ReleasedFiles
from search.compiling.compiler import LINKABLE, Library, Unfinished
from search.compiling.numba_shortcuts import rare_collections
from search.compiling.progress import PROGRESS
from search.compiling.source_digest import code_name
from search.compiling.target import RELEASED
from search.system.interrupt import interrupted_at_once


@functools.cache
def _code_files(directory: Path) -> CodeFiles:
    return CodeFiles(directory)


@functools.cache
def _lock_of(directory: Path) -> CompileLock:
    return CompileLock(directory)


@functools.cache
def _released_files(directory: Path) -> ReleasedFiles:
    return ReleasedFiles(directory)


class CompileCache(caching.Cache):  # type: ignore[misc]  # Numba is untyped
    """The compiled versions of one function."""

    def __init__(self, function: Any, directory: Path) -> None:
        """`function` is a Python function of a source file; `directory` is that of the environment."""
        self._py_func = function
        self._name = repr(function)
        self._place = f"{function.__module__}.{function.__qualname__}"
        code = function.__code__
        name = code_name(code.co_filename, function.__globals__.get("__spec__"))
        self.lock = _lock_of(directory / name)
        self._files = _code_files(directory / name)
        self._released = _released_files(RELEASED / directory.name / name)
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
        if found is None and self.lock.begin():
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
                return _rebuild(target_context, *pickle.loads(content))
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
        self._files.write(self._file(sig, data.codegen), dumps(data._reduce()), self.lock)

    def finish(self, function: Any) -> Any:
        """Return a function that had no machine code with it: loaded, or made and stored."""
        types = tuple(function.signature.args)
        self.lock.begin()
        stored = self._load(types, function.target_context)  # another process may have made it meanwhile
        if stored is not None and not isinstance(stored.entry_point, Unfinished):
            return stored
        PROGRESS.begin(self._place)
        finished = _with_machine_code(function)
        self.save_overload(types, finished)
        return finished

    def flush(self) -> None:
        """Delete the stored code of this function."""
        for file in self._files.directory.glob(f"{self._stem}.*.nbc"):
            file.unlink(missing_ok=True)


def _rebuild(target_context: Any, library: Any, *rest: Any) -> Any:
    """Return the stored function, with an `Unfinished` entry point if it has no machine code."""
    name, kind, content = library
    if kind != LINKABLE:
        return CompileResult._rebuild(target_context, library, *rest)
    fndesc, environment, signature, objectmode, lifted, annotation, reload_init, referenced = rest
    return compile_result(
        typing_context=target_context.typing_context,
        target_context=target_context,
        entry_point=Unfinished(),
        fndesc=fndesc,
        environment=environment,
        signature=signature,
        objectmode=objectmode,
        lifted=lifted,
        type_annotation=annotation,
        library=Library.linkable(target_context.codegen(), name, content),
        reload_init=reload_init,
        referenced_envs=referenced,
    )


def keep_compiled(dispatcher: Any, directory: Path) -> None:
    """Give a dispatcher (of `numba.njit` without `cache`) this cache; a function without a source file gets none.

    directory: of the environment's compiled code.

    The functions of a dispatcher without a cache are finished at the first call from Python, too.
    """
    cache = None
    if os.path.isfile(dispatcher.py_func.__code__.co_filename):
        cache = dispatcher._cache = CompileCache(dispatcher.py_func, directory)
    compile_one, compile_for_python, add = dispatcher.compile, dispatcher._compile_for_args, dispatcher.add_overload

    @contextlib.contextmanager
    def compiling() -> Iterator[None]:
        lock = contextlib.nullcontext() if cache is None else cache.lock.compiling()
        with global_compiler_lock, lock, PROGRESS.compiling(), interrupted_at_once(), rare_collections():
            yield

    def compile_alone(sig: Any) -> Any:
        with compiling():
            return compile_one(sig)

    def add_overload(function: Any) -> None:
        types = tuple(function.signature.args)
        if isinstance(function.entry_point, Unfinished):
            dispatcher.overloads[types] = function  # but not in the C code's table of what Python may call
            return
        add(function)
        # The functions that it calls may never have had machine code of their own, which would have set these.
        for environment in function._find_referenced_environments():
            function.codegen.set_env(environment.env_name, environment)

    def compile_and_finish(*arguments: Any, **keywords: Any) -> Any:
        entry = compile_for_python(*arguments, **keywords)
        if not isinstance(entry, Unfinished):
            return entry
        with compiling():
            found = next((one for one in dispatcher.overloads.values() if one.entry_point is entry), None)
            if found is None:  # another thread has finished it
                return compile_for_python(*arguments, **keywords)
            finished = _with_machine_code(found) if cache is None else cache.finish(found)
            finished.target_context.insert_user_function(finished.entry_point, finished.fndesc, [finished.library])
            add_overload(finished)
            return finished.entry_point

    dispatcher.compile = compile_alone
    dispatcher.add_overload = add_overload
    dispatcher._compile_for_args = compile_and_finish


def _with_machine_code(function: Any) -> Any:
    context, description = function.target_context, function.fndesc
    library = function.library.own(description.llvm_func_name, description.llvm_cpython_wrapper_name)
    entry = context.get_executable(library, description, function.environment)
    return function._replace(entry_point=entry, library=library)
