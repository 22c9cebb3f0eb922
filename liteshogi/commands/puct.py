"""`liteshogi puct`: the PUCT search as a USI engine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from search.usi.process import main
from search.usi.puct import PuctAdapter, load_beside
from search.usi.streams import info_string


@dataclass(frozen=True)
class Command:
    """Speak USI and play by PUCT search with a policy-value network in dlshogi's ONNX format."""

    net: tyro.conf.Positional[Path]
    """ONNX file with the inputs input1 and input2, the outputs output_policy and output_value, and optionally
    output_draw."""

    def run(self) -> None:
        try:
            model = load_beside(self.net)
        except OSError as error:
            print(info_string(f"Error! {error}"))  # GUIs show the last line of a process that ends
            raise
        main(PuctAdapter(model))
