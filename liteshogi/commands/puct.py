"""`liteshogi puct`: the PUCT search as a USI engine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from search.usi.process import main
from search.usi.puct import PuctAdapter, load_beside


@dataclass(frozen=True)
class Command:
    """Speak USI and play by PUCT search with a policy-value network in dlshogi's ONNX format."""

    net: tyro.conf.Positional[Path]
    """ONNX file with the inputs input1 and input2, the outputs output_policy and output_value, and optionally
    output_draw."""

    def run(self) -> None:
        main(PuctAdapter(load_beside(self.net)))
