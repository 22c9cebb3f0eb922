"""Two USI engines play from balanced openings in pairs, run by ShogiArena, counted as Elo with error.

ShogiArena keeps the games and the state in the run's directory: a match that is cut goes on when the same command runs
again. Every opening is played twice with colours changed, so that its bias cancels out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.arena.engines import ask_engine, player_names
from experiments.arena.process import GAMES, LOG, described_run, find_arena, run_arena
from experiments.arena.results import (
    FIRST,
    SECOND,
    Result,
    pair_results,
    read_failure,
    read_mishaps,
    read_results,
)
from experiments.arena.strength import measure_strength
from experiments.factory.shards import LEDGER
from experiments.progress import Progress


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

    Raises OSError or ValueError in words, also if no game came to an end; KeyboardInterrupt if it was stopped.
    """
    find_arena()
    from experiments.arena.games import write_games  # needs what is installed with ShogiArena

    if match.games < 1 or match.byoyomi < 1 or match.parallel < 1:
        raise ValueError("--games, --byoyomi and --parallel must be at least 1")
    if match.openings is not None and not match.openings.is_file():
        raise FileNotFoundError(f"{match.openings}: there is no such file of openings")
    if (match.output / LEDGER).exists():
        raise ValueError(f"{match.output}: holds a match in process; use another --output")
    engines = {
        FIRST: ask_engine(match.first, match.first_option),
        SECOND: ask_engine(match.second, match.second_option),
    }
    descriptions = {f"{name}.yaml": engine.description() for name, engine in engines.items()}
    files = [*engines[FIRST].files(), *engines[SECOND].files(), *([match.openings] if match.openings else [])]
    names = dict(zip(engines, player_names(engines[FIRST], engines[SECOND]), strict=True))
    with described_run(match.output, {**descriptions, "match.yaml": _configuration(match)}, files):
        with Progress(match.games, lambda: _progress(match)) as progress:
            run_arena(match.output, "run", "tournament", str(match.output / "match.yaml"), watch=progress.show)
        report = _report(match, names)
        write_games(match.output / GAMES / "game.db", match.output / "kif", names)
    return report


def _report(match: Match, names: dict[str, str]) -> dict[str, Any]:
    """What there is to say of a match; ValueError if no game came to an end."""
    report = count_results(read_results(match.output))
    log = match.output / LOG
    failed = f"{report['failed']} games failed ({read_failure(match.output)}), see {log}"
    if not report["games"]:
        raise ValueError(
            f"no game came to an end: {failed if report['failed'] else f'see {log}'}; to play again, remove "
            f"{match.output} or give another --output"
        )
    mishaps = read_mishaps(match.output)
    remarks = [f"{names[one]} {what}, counted as lost, see {log}" for one, what in mishaps.items()]
    if report["failed"]:
        remarks.append(f"{failed}, and count for nobody")
    if missing := match.games - report["games"] - report["failed"]:
        remarks.append(f"{missing} games were not played, see {log}")
    return {**names, **report, "remarks": remarks}


def _progress(match: Match) -> tuple[int, str]:
    """Games that have ended, and how they stand."""
    results = read_results(match.output)
    points = sum(one.points or 0 for one in results)
    return len(results), f"{len(results)} of {match.games} games, first engine {points:g} points"


def _configuration(match: Match) -> dict[str, Any]:
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
        "engines": [{"name": name, "engine_path": f"{name}.yaml"} for name in (FIRST, SECOND)],
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


def count_results(results: list[Result]) -> dict[str, Any]:
    """The first engine's games, wins, draws, losses, points, Elo and the ends of its 95 % interval; games that failed,
    and how often which word of ShogiArena's ended a game."""
    wins, draws, losses = (sum(one.points == points for one in results) for points in (1.0, 0.5, 0.0))
    strength = measure_strength(pair_results(results))
    return {
        "games": wins + draws + losses,
        "wins": wins,
        "draws": draws,
        "losses": losses,
        "points": wins + draws / 2,
        "elo": strength.elo,
        "elo_low": strength.low,
        "elo_high": strength.high,
        "failed": len(results) - wins - draws - losses,
        "endings": dict(Counter(one.ending for one in results).most_common()),
    }
