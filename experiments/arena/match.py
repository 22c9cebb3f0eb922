"""Two USI engines play from balanced openings in pairs, run by ShogiArena, counted as Elo with error.

ShogiArena keeps the games and the state in the run's directory: a match that is cut goes on when the same command runs
again. Every opening is played twice with colours changed, so that its bias cancels out.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.arena.games import write_games
from experiments.arena.process import run_arena, write_engine

ELO = 400 / math.log(10)


@dataclass(frozen=True)
class Match:
    """Who plays, and how."""

    first: str
    """Command of the first engine: a path, or `liteshogi` for this installation's, perhaps with arguments:
    'liteshogi puct model.onnx'."""
    second: str
    """Command of the second engine."""
    games: int = 20
    """Games to play; an even number plays every opening with both colours."""
    byoyomi: int = 100
    """Milliseconds a move."""
    openings: Path | None = None
    """File of positions, one SFEN or `startpos moves` line each; without it every game starts at the start."""
    first_option: tuple[str, ...] = ()
    """NAME=VALUE options of the first engine."""
    second_option: tuple[str, ...] = ()
    """NAME=VALUE options of the second engine."""
    parallel: int = 1
    """Games at a time: two engines of one game never think at once, so one game needs one core."""
    max_plies: int = 320
    """A game of so many moves is a draw."""
    seed: int = 1
    """Order of the openings."""
    output: Path = Path("runs/match")
    """Directory of the run, with the games as KIF in kif/; run the same command again to go on with it."""


def play_match(match: Match) -> dict[str, Any]:
    """Play what is left of the games, and write all of them as KIF into `kif/` of the run; the report of all.

    Raises OSError or ValueError in words, KeyboardInterrupt if it was stopped.
    """
    if match.games < 1 or match.byoyomi < 1 or match.parallel < 1:
        raise ValueError("--games, --byoyomi and --parallel must be at least 1")
    if match.openings is not None and not match.openings.is_file():
        raise FileNotFoundError(f"{match.openings}: there is no such file of openings")
    match.output.mkdir(parents=True, exist_ok=True)
    configuration, games = match.output / "match.yaml", match.output / "games"
    engines = [
        _write_engine(match.output, "first", match.first, match.first_option),
        _write_engine(match.output, "second", match.second, match.second_option),
    ]
    configuration.write_text(json.dumps(_configuration(match, engines), indent=1), encoding="utf-8")
    run_arena("run", "tournament", str(configuration), "--run-dir", str(games))
    summary = json.loads(run_arena("results", "summary", str(games), "--format", "json"))
    write_games(games / "game.db", match.output / "kif", {})
    return count_results(summary)


def _write_engine(directory: Path, name: str, command: str, options: tuple[str, ...]) -> str:
    """An engine's description; JSON is YAML too."""
    values: dict[str, str | int] = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals:
            raise ValueError(f"option {option!r} of the {name} engine: write NAME=VALUE")
        values[key] = int(value) if value.lstrip("-").isdigit() else value
    return write_engine(directory, name, command, values)


def _configuration(match: Match, engines: list[str]) -> dict[str, Any]:
    positions: dict[str, Any] = {"type": "startpos", "flip_policy": "pair_both"}
    if match.openings is not None:
        positions = {
            "type": "file",
            "source": str(match.openings.absolute()),
            "flip_policy": "pair_both",
            "selection_policy": "without_replacement",
        }
    return {
        "experiment_name": "match",
        "engines": [{"engine_path": engine} for engine in engines],
        "tournament": {
            "scheduler": "round_robin",
            "games_per_pair": match.games,
            "num_parallel": match.parallel,
            "seed": match.seed,
        },
        "rules": {
            "time_control": {"time_ms": 0, "byoyomi_ms": match.byoyomi},
            "initial_positions": positions,
            "adjudication": {"max_plies": match.max_plies, "sync_max_plies_with_engine": False},
            "repetition_occurrences_to_draw": 4,
        },
        "dashboard": {"enabled": False},
    }


def count_results(summary: dict[str, Any]) -> dict[str, Any]:
    """The first engine's games, wins, draws, losses, points, Elo and the half width of its 95 % interval."""
    first = next(engine for engine in summary["engines"] if str(engine["engine"]).startswith("first"))
    wins, draws, losses = (int(first[key]) for key in ("wins", "draws", "losses"))
    elo, error = elo_of(wins, draws, losses)
    return {
        "games": wins + draws + losses,
        "wins": wins,
        "draws": draws,
        "losses": losses,
        "points": wins + draws / 2,
        "elo": elo,
        "elo_error": error,
        "failed": int(summary["failed_games"]),
        "endings": summary["raw_result_counts"],
    }


def elo_of(wins: int, draws: int, losses: int) -> tuple[float | None, float | None]:
    """Elo difference of a score, and half its 95 % interval by the normal approximation of the mean of the results.

    None where every game has the same end: the logistic scale has no number for that.
    """
    games = wins + draws + losses
    if games == 0:
        return None, None
    mean = (wins + draws / 2) / games
    if mean in (0, 1):
        return None, None
    variance = (wins * (1 - mean) ** 2 + draws * (0.5 - mean) ** 2 + losses * mean**2) / games
    error = 1.96 * math.sqrt(variance / games)
    return ELO * math.log(mean / (1 - mean)), ELO * error / (mean * (1 - mean))
