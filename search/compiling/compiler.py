"""Numba compilers of this project: unsigned indices, code that callers can link, and whole programs.

Most functions are only called by other jitted functions, which link them and optimise the whole. Optimising them alone,
too, and making machine code of them takes 40 % of a first start and is of no use. So both wait until Python calls the
function (`compile_cache.py`), and what is stored of it until then is the code that callers link.

The code that callers link is stored before machine code is made from it. Numba would store the code that LLVM leaves
behind, which is not a valid program any more: of two arrays on the stack that are never needed at once LLVM makes one
and lets both names stand for it (`StackColoring`). It does so even if a vector is loaded from the array with an
alignment of 16 bytes and the other has 8. Compiled again within a caller, such a load ends the process.

Numba optimises a function with all functions that it calls, but each of these must stay callable by others, too. So
every call passes arguments that the callee does not read, writes its result to memory, and asks afterwards whether an
exception was raised. A *program* is a function that Python calls. All functions below it belong to it alone (LLVM calls
this "private"), and LLVM's passes between procedures remove those costs, an eighth of the search's time. A program has
its own copy of all functions that it calls, so only a function that computes for long should be one.

The passes are of the kind that Numba's developers' manual describes ("Customizing the Compiler"). The libraries depend
on `CPUCodeLibrary` as of Numba 0.61 to 0.68.
"""

from __future__ import annotations

from typing import Any

from llvmlite.binding import parse_bitcode
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.typed_passes import NativeLowering, NoPythonSupportedFeatureValidation

from search.compiling.branch_weights import LowerBranches
from search.compiling.indices import UnsignedIndices
from search.compiling.numba_shortcuts import take_shortcuts
from search.compiling.target import NUMBA_CONFIG
from search.system.interrupt import ended_by_interrupt

take_shortcuts()

LINKABLE = "linkable"
"""The kind of a stored library without machine code, beside Numba's own kinds."""


class Unfinished:
    """Stands for the entry point of a function without machine code. Numba needs another object for each function."""


class Library(JITCodeLibrary):  # type: ignore[misc]  # Numba is untyped
    """The code of a function: the module that its callers link, and machine code once its address is needed."""

    _machine_code = False

    def _optimize_final_module(self) -> None:
        pass  # `_make_machine_code` does it

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True
        # Numba stores the module for linking when it is first asked for, here before machine code is made from it.
        self._get_module_for_linking()

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of a function of this library, 0 if there is none of that name."""
        self._ensure_finalized()
        if not self._machine_code:
            self._make_machine_code()
        return int(super().get_pointer_to_function(name))

    def _make_machine_code(self) -> None:
        """Optimise the function with all functions that it calls and make machine code of it."""
        self._optimise()
        self._final_module.verify()
        self._dynamic_globals.clear()  # Numba lists them again
        # LLVM passes the object code to a callback. An exception raised there would be lost, and the object code with
        # it.
        with ended_by_interrupt(lambda: None):
            super()._finalize_final_module()
        self._machine_code = True

    def _optimise(self) -> None:
        super()._optimize_final_module()

    def serialize_using_object_code(self) -> tuple[str, str, Any]:
        """Return the library's name, its kind and its content, for the cache."""
        self._ensure_finalized()
        if self._machine_code:
            found: tuple[str, str, Any] = super().serialize_using_object_code()
            return found
        return self.name, LINKABLE, self._get_module_for_linking().as_bitcode()

    @classmethod
    def linkable(cls, codegen: Any, name: str, bitcode: bytes) -> Library:
        """Return a library without machine code, for callers; `bitcode` is its module for linking."""
        library = cls(codegen, name)
        library.enable_object_caching()
        library._final_module = parse_bitcode(bitcode)
        library._finalize_final_module()
        return library

    def own(self, *names: str) -> Library:
        """Return a copy that has machine code of the named functions, whether or not they are called in it.

        A copy, because an interrupt leaves a library that LLVM takes no second time.
        """
        shared = self._get_module_for_linking()
        copy = Library.linkable(self._codegen, self.name, shared.as_bitcode())
        copy._shared_module = shared  # and not the module that is optimised
        for name in names:
            copy._final_module.get_function(name).linkage = "external"
        return copy


class ProgramLibrary(Library):
    """The code of a function that owns all functions it calls."""

    def _optimise(self) -> None:
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
            super()._optimise()
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


@register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[untyped-decorator]
class LowerForCallers(NativeLowering):  # type: ignore[misc]
    """Numba's lowering without machine code: the function is for callers until `compile_cache.py` finishes it."""

    _name = "lower_for_callers"
    lowering_class: Any = LowerBranches

    def run_pass(self, state: Any) -> bool:
        """Set `state.cr` to the lowered function with an `Unfinished` entry point."""
        state.flags.no_compile = True
        super().run_pass(state)
        entry = Unfinished()
        state.targetctx.insert_user_function(entry, state.cr.fndesc, [state.library])
        state.reload_init.extend(state.library._reload_init)
        state.cr = state.cr._replace(cfunc=entry)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[untyped-decorator]
class LowerProgram(NativeLowering):  # type: ignore[misc]
    """Numba's lowering of a program, which makes its machine code at once."""

    _name = "lower_program"
    lowering_class: Any = LowerBranches


class Compiler(CompilerBase):  # type: ignore[misc]
    """Numba's own passes, with computed indices taken as unsigned and a library of this project."""

    added: tuple[Any, ...] = (UnsignedIndices, MakeLibrary)
    lowering: Any = LowerForCallers

    def define_pipelines(self) -> list[Any]:
        """Return the one pipeline, which makes compiled code only."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        for one in self.added:
            passes.add_pass_after(one, NoPythonSupportedFeatureValidation)
        passes.passes = [(self.lowering if one is NativeLowering else one, text) for one, text in passes.passes]
        passes.finalize()
        return [passes]


class ProgramCompiler(Compiler):
    """The compiler of programs, with a program's library."""

    added = (UnsignedIndices, MakeProgram)
    lowering = LowerProgram
