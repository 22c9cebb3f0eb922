"""`liteshogi import`: an nn.bin of YaneuraOu as a network file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import tyro

from export.nnue import import_nnue
from liteshogi.commands.arguments import Json, Output


@dataclass(frozen=True)
class Command:
    """Read an nn.bin of YaneuraOu (HalfKP or K+P of any widths) and write it as a network file."""

    source: tyro.conf.Positional[Path]
    """The nn.bin."""
    output: Output
    """File to write."""
    fv_scale: int | None = None
    """Divisor of its output, YaneuraOu's option FV_SCALE; without it what the file's words say, else 16."""
    json: Json = False

    def run(self) -> None:
        found = import_nnue(self.source, self.output, self.fv_scale)
        if self.json:
            print(json.dumps(found))
        else:
            print(f"{self.output}: {found['architecture']}, FV_SCALE {found['fv_scale']}, sha256 {found['sha256']}")
