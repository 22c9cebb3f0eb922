"""`liteshogi puct NET`: the PUCT player as a USI engine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from search.usi.process import main
from search.usi.puct import PuctAdapter, load_beside


@dataclass(frozen=True)
class Command:
    """Speak USI with a policy-value network in an ONNX file of dlshogi's format, searched by PUCT."""

    net: tyro.conf.Positional[Path]
    """ONNX file: inputs input1 and input2, outputs output_policy, output_value and perhaps output_draw."""

    def run(self) -> None:
        main(PuctAdapter(load_beside(self.net)))
