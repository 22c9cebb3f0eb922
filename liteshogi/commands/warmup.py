"""`liteshogi warmup`: the engine compiled ahead, for installers."""

from __future__ import annotations

import json
from dataclasses import dataclass

from liteshogi.commands.arguments import Json
from search.machine.jit import CACHE_DIRECTORY
from search.warmup import remove_unused, warm_up


@dataclass(frozen=True)
class Command:
    """Compile the engine ahead, so that its first start in a GUI is as quick as every other."""

    json: Json = False

    def run(self) -> None:
        seconds = warm_up()
        removed = remove_unused()
        if self.json:
            print(json.dumps({"seconds": round(seconds, 3), "directory": str(CACHE_DIRECTORY), "removed": removed}))
        else:
            print(f"compiled code ready in {seconds:.1f} s: {CACHE_DIRECTORY}")
