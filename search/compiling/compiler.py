"""Numba compilers of this project: unsigned indices, code that callers can link, and whole programs.

The code that callers link is stored before machine code is made from it. Numba would store the code that LLVM leaves
behind, which is not a valid program any more: of two arrays on the stack that are never needed at once LLVM makes one
and lets both names stand for it (`StackColoring`). It does so even if a vector is loaded from the array with an
alignment of 16 bytes and the other has 8. Compiled again within a caller, such a load ends the process.

Numba optimises a function with all functions that it calls, but each of these must stay callable by others, too. So
every call passes arguments that the callee does not read, writes its result to memory, and asks afterwards whether an
exception was raised. A *program* is a function that Python calls. All functions below it belong to it alone (LLVM calls
this "private"), and LLVM's passes between procedures remove those costs, an eighth of the search's time. A program has
its own copy of all functions that it calls, so only a function that computes for long should be one.

The passes are of the kind that Numba's developers' manual describes ("Customizing the Compiler"). A program's library
depends on `CPUCodeLibrary` as of Numba 0.61 to 0.68.
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
    """The code of a function, and the module that its callers link."""

    def _finalize_final_module(self) -> None:
        # Numba stores the module for linking when it is first asked for, and only a final library may be asked.
        self._finalized = True
        self._get_module_for_linking()
        self._finalized = False
        # LLVM passes the object code to a callback. An exception raised there would be lost, and the object code with
        # it.
        with ended_by_interrupt(lambda: None):
            super()._finalize_final_module()


class ProgramLibrary(Library):
    """The code of a function that owns all functions it calls."""

    def _optimize_final_module(self) -> None:
        # Numba has linked the called functions into the module before it optimises it.
        called = {
            function.name
            for library in self._linking_libraries
            for function in library._get_module_for_linking().functions
            if not function.is_declaration
        }
        # Not "internal": the loader of compiled code would confuse such a function with another of the same name.
        for function in self._final_module.functions:
            if function.name in called and not function.is_declaration:
                function.linkage = "private"
        # Neighbouring scalars become vectors, too, as in clang. Numba turns this off because LLVM 11 and 14 had defects
        # there. Numba reads the setting when it makes its passes, under its global lock.
        before, NUMBA_CONFIG.SLP_VECTORIZE = NUMBA_CONFIG.SLP_VECTORIZE, 1
        try:
            super()._optimize_final_module()
        finally:
            NUMBA_CONFIG.SLP_VECTORIZE = before


@register_pass(mutates_CFG=False, analysis_only=True)  # type: ignore[untyped-decorator]
class MakeLibrary(FunctionPass):  # type: ignore[misc]
    """Create the library of the function being compiled; the lowering pass then creates no other."""

    _name = "make_library"
    _kind = Library

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Set `state.library`; the function itself does not change."""
        codegen = state.targetctx.codegen()
        state.library = self._kind(codegen, state.func_id.func_qualname)
        state.library.enable_object_caching()
        return False


@register_pass(mutates_CFG=False, analysis_only=True)  # type: ignore[untyped-decorator]
class MakeProgram(MakeLibrary):
    """Create the library of a program."""

    _name = "make_program"
    _kind = ProgramLibrary


class Compiler(CompilerBase):  # type: ignore[misc]
    """Numba's own passes, with computed indices taken as unsigned and a library of this project."""

    added: tuple[Any, ...] = (UnsignedIndices, MakeLibrary)

    def define_pipelines(self) -> list[Any]:
        """Return the one pipeline, which makes compiled code only."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        for one in self.added:
            passes.add_pass_after(one, NoPythonSupportedFeatureValidation)
        passes.finalize()
        return [passes]


class ProgramCompiler(Compiler):
    """The compiler of programs, with a program's library."""

    added = (UnsignedIndices, MakeProgram)
