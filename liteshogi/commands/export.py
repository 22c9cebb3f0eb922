"""`liteshogi export`: write a network in formats of other programs."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from experiments.network_kinds.exporting import Export, HeaderExport, NnBinExport, OnnxExport, export
from lite.amounts import amount
from liteshogi.commands.arguments import Json, Net, Output, Overwrite
from liteshogi.json_output import json_text
from search.system.interrupt import ends_as_interrupts


@dataclass(frozen=True)
class Command:
    """Write a network for other programs: ONNX, YaneuraOu's nn.bin, a C++ header, or test vectors.

    ONNX of a value network has the inputs x1 (positions, 81) and x2 (positions, 57), int64, and one output: the
    logit (positions, 1), and a second column for draws if the network has a draw output. ONNX of a policy-value
    network has dlshogi's inputs and outputs. Both are checked against the trained network. Exporting an imported
    nn.bin restores its bytes, with compressed weights in their shortest form, as YaneuraOu writes them. A C++
    header evaluates a folded network in another engine; its weights are written to a .bin file of the same name
    (docs/guide/adopt_in_cpp.md). Test vectors list the intermediate values of a few positions
    (docs/how/network_reader.md).
    """

    net: Net
    """Network to export. For ONNX: a trained network file or the folder of its run. For an nn.bin, a header and test
    vectors: a folded network; an nn.bin needs one of YaneuraOu's architectures."""
    output: Output
    """File to write; its suffix chooses the format: .onnx, .bin (nn.bin), .h (C++ header) or .json (test vectors)."""
    data: tuple[Path, ...] = ()
    """Records on which ONNX is checked. Default: random positions."""
    draw: bool = True
    """Export the draw output of a policy-value network as output_draw. Auxiliary outputs are never exported."""
    overwrite: Overwrite = False
    json: Json = False

    def run(self) -> None:
        with ends_as_interrupts():
            found = export(self.net, self.output, self.data, self.draw, self.overwrite)
        if isinstance(found, NnBinExport) and not found.names_itself:
            print(
                f"warning: {self.output}: its text does not name this network; give its readers the name "
                f"{found.architecture} (EvalArchitecture, liteshogi import --architecture)",
                file=sys.stderr,
            )
        print(json_text(found) if self.json else f"{self.output}: {found.bytes:,} bytes, {as_text(found)}")


def as_text(found: Export) -> str:
    """Return the result as text."""
    if isinstance(found, OnnxExport):
        checked = amount(found.positions, "position")
        return f"differs from the trained network by at most {found.max_error:.1e} on {checked}"
    if isinstance(found, HeaderExport):
        return f"with {found.weights}, {found.weights_bytes:,} bytes, which the program reads when it runs"
    if isinstance(found, NnBinExport):
        text = f"{found.architecture}; set YaneuraOu's FV_SCALE to {found.fv_scale}"
        if found.fv_scale == found.default_fv_scale:
            return text
        return (
            f"{text}, which means {found.kept_cp_per_logit:.0f} cp per logit, the nearest to the network's "
            f"{found.cp_per_logit:.0f}; readers without that option use {found.default_fv_scale}, and so "
            f"{found.default_cp_per_logit:.0f} cp per logit"
        )
    return amount(found.positions, "position")
