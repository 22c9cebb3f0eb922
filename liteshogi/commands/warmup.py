"""`liteshogi warmup`: compile the engines ahead of their first start."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

from liteshogi.commands.arguments import Json
from liteshogi.json_output import json_text
from search.compiling.jit import CACHE_DIRECTORY
from search.warmup import remove_unused, warm_up


@dataclass(frozen=True)
class Compiled:
    """Compiled code after a warm-up."""

    seconds: float
    """Seconds that compiling or loading took."""
    directory: str
    """Folder of the compiled code."""
    removed: int
    """Number of unused modules whose compiled code was deleted."""
    puct: bool
    """Whether PUCT was compiled, which requires onnxruntime."""


@dataclass(frozen=True)
class Command:
    """Compile the engines in advance, so that the first start in a GUI is fast.

    PUCT is compiled only if onnxruntime is installed, which it requires. Compiled code that was not used for a month is
    deleted.
    """

    json: Json = False

    def run(self) -> None:
        puct = find_spec("onnxruntime") is not None
        seconds = warm_up(puct)
        removed = remove_unused()
        if self.json:
            print(json_text(Compiled(round(seconds, 3), str(CACHE_DIRECTORY), removed, puct)))
        else:
            with_puct = "" if puct else " (without PUCT, which requires onnxruntime)"
            print(f"compiled code ready in {seconds:.1f} s: {CACHE_DIRECTORY}{with_puct}")
