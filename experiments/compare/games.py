"""Games of the networks that a comparison has trained, against one opponent, this engine.

At equal nodes value networks play in this process. Of residual networks playouts are counted, which do not compare with
nodes, and the opponent has a fixed depth. So neither a busy machine nor the networks' speed has a say. By the clock all
play alike, and speed is part of what is played.
"""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from experiments.arena.engine_match import Match, play_match
from experiments.matches.counted_games import CountedGames
from experiments.matches.counted_match import CountedMatch, play_counted_match
from experiments.network_kinds import as_player
from search.evaluation.network_file import load_network
from search.system.bounds import check_numbers

PATIENCE = 60_000
"""Milliseconds a move, more than either player takes."""
OPPONENT_NODES = 200_000
"""Nodes a move at most of an opponent of a fixed depth: ten times what depth 9 takes, but where one side is all but
mated its extensions may have no end."""


@dataclass(frozen=True)
class GameOptions:
    """How networks play."""

    games: int = 0
    """Games of each network's first seed, 0 for none."""
    openings: Path | None = None
    """Balanced positions to begin from, played with both colours, needed for more than two games: without them residual
    networks begin at the start, where games at equal playouts repeat themselves; value networks with random moves."""
    playouts: int = 50
    """Playouts a move of residual networks."""
    opponent_depth: int = 9
    """Depth of their opponent's searches, of 200,000 nodes at most."""
    nodes: int = 1000
    """Nodes a move of value networks, and of their opponent."""
    byoyomi: int = 0
    """Milliseconds a move of as many games by the clock; 0 for none."""
    opponent: str = "default"
    """This engine's network on the other side: a file or a name."""

    def check(self) -> None:
        """Raises OSError or ValueError in words for what would else be refused when all networks are trained."""
        check_numbers(self, "playouts", "opponent_depth", "nodes")
        check_numbers(self, "games", "byoyomi", least=0)
        if self.games % 2:
            raise ValueError(f"--games {self.games}: an even number is needed, for openings are played in pairs")
        if self.games > 2 and self.openings is None:
            raise ValueError(
                "--openings: is needed for more than 2 games; from the start residual networks repeat theirs"
            )
        for field in fields(self) if not self.games else ():
            if getattr(self, field.name) != field.default:
                raise ValueError(f"--{field.name.replace('_', '-')}: is for --games; give that too")
        if self.games:
            load_network(self.opponent)
            CountedGames(nodes=self.nodes, games=self.games, openings=self.openings).lines()

    def folder(self, name: str, kind: str) -> str:
        """That of a network's games, told apart by what is played."""
        limits = {
            "playouts": f"{self.playouts}-against-depth-{self.opponent_depth}",
            "nodes": f"{self.nodes}-nodes",
            "clock": f"{self.byoyomi}-ms",
        }
        opponent = "" if self.opponent == "default" else f"-{Path(self.opponent).stem}"
        return f"{name}-{limits[kind]}{opponent}"


def play_playouts(model: Path, options: GameOptions, place: Path) -> dict[str, Any]:
    """Play what is left of a residual network's games; the report of `play_match`, the network being first."""
    return asdict(
        play_match(
            Match(
                f"liteshogi puct {shlex.quote(str(model))}",
                "liteshogi",
                games=options.games,
                byoyomi=PATIENCE,
                openings=options.openings,
                first_option=(f"NodesLimit={options.playouts}", "Mate_Root_Search=0"),
                second_option=(
                    f"DepthLimit={options.opponent_depth}",
                    f"NodesLimit={OPPONENT_NODES}",
                    *as_player(options.opponent)[1],
                ),
                output=place,
            )
        )
    )


def play_nodes(net: Path, options: GameOptions, place: Path) -> dict[str, Any]:
    """The same of a value network at equal nodes: the report of `play_counted_match`."""
    return asdict(
        play_counted_match(
            CountedMatch(
                first=str(net),
                second=options.opponent,
                nodes=options.nodes,
                games=options.games,
                openings=options.openings,
                output=place,
            )
        )
    )


def play_clock(net: Path, options: GameOptions, place: Path) -> dict[str, Any]:
    """The same of any network at equal time: the report of `play_match`."""
    command, chosen = as_player(str(net))
    return asdict(
        play_match(
            Match(
                command,
                "liteshogi",
                games=options.games,
                byoyomi=options.byoyomi,
                openings=options.openings,
                first_option=chosen,
                second_option=as_player(options.opponent)[1],
                output=place,
            )
        )
    )
