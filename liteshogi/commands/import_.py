"""`liteshogi import`: an nn.bin of YaneuraOu as a network file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import tyro

from export.nnue import import_nnue
from liteshogi.commands.arguments import Json, Output, Overwrite


@dataclass(frozen=True)
class Command:
    """Read an nn.bin of YaneuraOu (classic or SFNN, any feature set but halfkpe9) and write it as a network file."""

    net: tyro.conf.Positional[Path]
    """The nn.bin."""
    output: Output
    """File to write, in .safetensors."""
    fv_scale: int | None = None
    """Divisor of its output, YaneuraOu's option FV_SCALE, which `export` names for a network of your own; without it
    what the file's words say, else 16."""
    architecture: str = ""
    """YaneuraOu's name of the architecture, as SFNN_halfka2_1024_7_64_k3k3, for a file that does not say it itself;
    empty: the file's text, hashes and sizes decide."""
    overwrite: Overwrite = False
    json: Json = False

    def run(self) -> None:
        found = import_nnue(self.net, self.output, self.fv_scale, self.overwrite, self.architecture or None)
        if self.json:
            print(json.dumps(found))
        else:
            print(f"{self.output}: {found['architecture']}, FV_SCALE {found['fv_scale']}, sha256 {found['sha256']}")
