"""Games of the networks that a comparison has trained: PUCT with each against this engine at a fixed depth.

Playouts and depth are counted, so that neither a busy machine nor the networks' speed has a say.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.arena.match import Match, play_match
from experiments.resnet.network import load_resnet
from experiments.resnet.onnx import CHECKED, export_resnet
from export.positions import read_sample

PATIENCE = 60_000
"""Milliseconds a move: no limit is ever reached by these games."""


@dataclass(frozen=True)
class GameOptions:
    """How a network's games are played."""

    games: int = 0
    """Games of each residual network's first seed against this engine at a fixed depth; 0 for none."""
    openings: Path | None = None
    """Balanced positions to begin from, played with both colours; the start position without them."""
    playouts: int = 50
    """Playouts a move."""
    opponent_depth: int = 9
    """Depth of the opponent's searches."""


def play_games(run: Path, options: GameOptions, place: Path) -> dict[str, Any]:
    """Play what is left of a trained network's games; the report of `play_match`, the network being first."""
    model = place / "model.onnx"
    if not model.is_file():
        export_resnet(load_resnet(run)[0], model, read_sample((), CHECKED))
    match = Match(
        f"liteshogi puct {shlex.quote(str(model))}",
        "liteshogi",
        games=options.games,
        byoyomi=PATIENCE,
        openings=options.openings,
        first_option=(f"NodesLimit={options.playouts}", "Mate_Root_Search=0"),
        second_option=(f"DepthLimit={options.opponent_depth}",),
        output=place,
    )
    return play_match(match)
