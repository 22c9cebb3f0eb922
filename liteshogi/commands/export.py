"""`liteshogi export`: a trained network in the formats of other programs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from experiments.network_kinds import export
from lite.amounts import amount
from liteshogi.commands.arguments import Json, Net, Output, Overwrite
from search.system.interrupt import ends_as_interrupts


@dataclass(frozen=True)
class Command:
    """Write a network for other programs: ONNX, YaneuraOu's nn.bin, a C++ header, test vectors.

    A value network's ONNX takes x1 (positions, 81) and x2 (positions, 57), int64, and gives the logit (positions, 1),
    with a draw head that of the draw beside it; a policy-value network's is that of dlshogi's family; both are checked
    against the trained network. An nn.bin that was imported becomes the same bytes again. A C++ header evaluates a
    folded network in another engine, its weights lie in a file of the same name in .bin beside it
    (docs/guide/adopt_in_cpp.md). Test vectors tell what the network makes of a few positions, step by step
    (docs/how/network_file.md).
    """

    net: Net
    """For ONNX a trained network file, or its run's directory; for an nn.bin a folded HalfKP or K+P; for a header
    and test vectors any folded one."""
    output: Output
    """File to write, in .onnx, .bin, .h or, test vectors, .json."""
    data: tuple[Path, ...] = ()
    """Records to check ONNX on; random positions without them."""
    draw: bool = True
    """Write a policy-value network's draw head as the output output_draw; auxiliary heads are always left out."""
    overwrite: Overwrite = False
    json: Json = False

    def run(self) -> None:
        with ends_as_interrupts():
            found = export(self.net, self.output, self.data, self.draw, self.overwrite)
        if self.json:
            print(json.dumps(found))
            return
        if found["format"] == "onnx":
            text = f"equals it to {found['max_error']:.1e} on {amount(found['positions'], 'position')}"
        elif found["format"] == "C++":
            beside = f"{found['weights']}, {found['weights_bytes']:,} bytes"
            text = f"with {beside}, which goes where the program finds it"
        elif found["format"] == "test vectors":
            text = amount(found["positions"], "position")
        else:
            text = f"{found['architecture']}; set YaneuraOu's FV_SCALE to {found['fv_scale']}"
            if found["fv_scale"] != found["untold_fv_scale"]:
                text += (
                    f", which has {found['kept_cp_per_logit']:.0f} cp a logit, the nearest to the network's "
                    f"{found['cp_per_logit']:.0f}: readers that are not told take {found['untold_fv_scale']}, and so "
                    f"{found['untold_cp_per_logit']:.0f} cp a logit"
                )
        print(f"{self.output}: {found['bytes']:,} bytes, {text}")
