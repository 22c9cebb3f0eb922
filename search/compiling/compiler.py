"""How Numba is told to compile: its own passes, one for indices, what callers link, and whole programs.

What callers link of a function is kept before machine code is made of it. Numba keeps what LLVM leaves behind then,
which is no program any more: of two arrays on the stack that are never needed at once LLVM makes one and lets both
names stand for it (`StackColoring`), also where a vector is loaded of the one that was given 16 bytes of alignment, and
the one that remains has 8. Compiled again within a caller, such a load ends the process.

Numba optimises a function with all that it calls, but must leave each of those as others may call it, too: every call
passes arguments that the callee does not read, writes its result to memory, and asks afterwards whether an exception
was raised. Where a function is a *program*, one that Python calls, all below it belongs to it alone ("private" in
LLVM's words), and LLVM's passes between procedures take that away: for the search an eighth of its time. A program has
a copy of its own of all that it calls, so only what computes for long is worth being one.

These are compiler passes of the kind that Numba's developers' manual describes ("Customizing the Compiler"); a
program's library leans on `CPUCodeLibrary` as it is in Numba 0.61 to 0.68.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.typed_passes import NoPythonSupportedFeatureValidation

from search.compiling.indices import UnsignedIndices
from search.compiling.target import NUMBA_CONFIG
from search.system.interrupt import ended_by_interrupt


class Library(JITCodeLibrary):  # type: ignore[misc]  # Numba is untyped
    """The code of a function, and what its callers link."""

    def _finalize_final_module(self) -> None:
        # Numba keeps what it gives away first, and gives away nothing that is not final.
        self._finalized = True
        self._get_module_for_linking()
        self._finalized = False
        # LLVM calls back with the object that it has made, and an exception there is lost, and the object with it.
        with ended_by_interrupt(lambda: None):
            super()._finalize_final_module()


class ProgramLibrary(Library):
    """The code of a function that owns what it calls."""

    def _optimize_final_module(self) -> None:
        # Numba has linked what is called into the module by the time that it optimises it.
        called = {
            function.name
            for library in self._linking_libraries
            for function in library._get_module_for_linking().functions
            if not function.is_declaration
        }
        # Not "internal": the loader of compiled code would take such a function for one of that name elsewhere.
        for function in self._final_module.functions:
            if function.name in called and not function.is_declaration:
                function.linkage = "private"
        # Neighbouring scalars become vectors, too, as in clang: Numba leaves that out since LLVM 11 and 14 went wrong
        # there. It reads this when it makes its passes, under its global lock.
        before, NUMBA_CONFIG.SLP_VECTORIZE = NUMBA_CONFIG.SLP_VECTORIZE, 1
        try:
            super()._optimize_final_module()
        finally:
            NUMBA_CONFIG.SLP_VECTORIZE = before


@register_pass(mutates_CFG=False, analysis_only=True)  # type: ignore[untyped-decorator]
class MakeLibrary(FunctionPass):  # type: ignore[misc]
    """Gives the function that is compiled such a library; where there is one, the pass that lowers makes no other."""

    _name = "make_library"
    _kind = Library

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Set `state.library`; nothing of the function is changed."""
        codegen = state.targetctx.codegen()
        state.library = self._kind(codegen, state.func_id.func_qualname)
        state.library.enable_object_caching()
        return False


@register_pass(mutates_CFG=False, analysis_only=True)  # type: ignore[untyped-decorator]
class MakeProgram(MakeLibrary):
    """Likewise a program's."""

    _name = "make_program"
    _kind = ProgramLibrary


class Compiler(CompilerBase):  # type: ignore[misc]
    """Numba's own passes, computed indices taken as they are, and a library of this project's."""

    added: tuple[Any, ...] = (UnsignedIndices, MakeLibrary)

    def define_pipelines(self) -> list[Any]:
        """The one pipeline, of compiled code alone."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        for one in self.added:
            passes.add_pass_after(one, NoPythonSupportedFeatureValidation)
        passes.finalize()
        return [passes]


class ProgramCompiler(Compiler):
    """With a program's library."""

    added = (UnsignedIndices, MakeProgram)
