"""`liteshogi warmup --puct`: the PUCT player compiled ahead."""

from __future__ import annotations

import json
from dataclasses import dataclass

from liteshogi.commands.arguments import Json
from search.machine.jit import CACHE_DIRECTORY
from search.warmup import warm_up_puct


@dataclass(frozen=True)
class Command:
    """Compile the PUCT player ahead; which network it will play with does not matter."""

    json: Json = False

    def run(self) -> None:
        seconds = warm_up_puct()
        if self.json:
            print(json.dumps({"seconds": round(seconds, 3), "directory": str(CACHE_DIRECTORY)}))
        else:
            print(f"compiled code of the PUCT player ready in {seconds:.1f} s: {CACHE_DIRECTORY}")
