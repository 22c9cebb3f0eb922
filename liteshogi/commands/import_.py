"""`liteshogi import`: an nn.bin of YaneuraOu as a network file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from export.nnue import import_nnue
from liteshogi.commands.arguments import Json, Output, Overwrite
from liteshogi.json_output import json_text
from search.system.interrupt import ends_as_interrupts


@dataclass(frozen=True)
class Command:
    """Convert an nn.bin of YaneuraOu (classic or SFNN, any feature set but halfkpe9) to a network file."""

    net: tyro.conf.Positional[Path]
    """The nn.bin."""
    output: Output
    """File to write (.safetensors)."""
    fv_scale: int | None = None
    """Divisor of the output, YaneuraOu's option FV_SCALE, which `export` prints for a network trained here. Default:
    the divisor in the file's text, else 16."""
    architecture: str = ""
    """YaneuraOu's name of the architecture, such as SFNN_halfka2_1024_7_64_k3k3, for a file whose text, hashes and
    sizes do not determine it. Empty: they decide."""
    overwrite: Overwrite = False
    json: Json = False

    def run(self) -> None:
        with ends_as_interrupts():
            found = import_nnue(self.net, self.output, self.fv_scale, self.overwrite, self.architecture or None)
        if self.json:
            print(json_text(found))
        else:
            print(f"{self.output}: {found.architecture}, FV_SCALE {found.fv_scale}, sha256 {found.sha256}")
