"""USI engines play from balanced openings in pairs, run by ShogiArena: every two of them, or the first against all.

ShogiArena keeps the games and the state in the run's directory: a run that is cut goes on when the same command runs
again. Every opening is played twice with colours changed, so that its bias cancels out. An engine that breaks off,
makes an illegal move or says nothing in time has lost that game.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.arena.process import GAMES, LOG, check_arena, described_run, run_arena
from experiments.arena.results import Result, read_failure, read_mishaps, read_results, seat_names
from experiments.games.openings import read_openings
from experiments.jobs.progress import Progress
from experiments.jobs.shards import LEDGER
from experiments.usi_client.engines import Engine, ask_engine, engine_command
from lite.amounts import amount
from search.system.bounds import MOST_AT_ONCE, check_numbers
from search.system.files import write_atomically

OPENINGS = "openings.sfen"
"""In the folder of a run: the user's openings as ShogiArena reads them, which takes a byte order mark or a comment for
a move and does not know equal ones."""


@dataclass(frozen=True, kw_only=True)
class UsiGames:
    """How USI engines play."""

    games: int = 20
    """Games of two engines; an even number plays every opening with both colours."""
    time: int = 0
    """Milliseconds of a side for all its moves, where nodes and depth have no limit."""
    increment: int = 0
    """Milliseconds that a side gets for each of its moves, to be saved."""
    byoyomi: int = 100
    """Milliseconds of each move that cannot be saved, once there is no other time."""
    nodes: int = 0
    """A move, by `go nodes`; 0: no limit. Then nobody has a clock."""
    depth: int = 0
    """Likewise, by `go depth`."""
    openings: Path | None = None
    """File of positions as `read_openings` takes it; without it every game starts at the start."""
    parallel: int = 1
    """Games at a time: two engines of one game never think at once, so one game needs one core."""
    max_plies: int = 320
    """A game of so many moves is a draw."""
    seed: int = 1
    """Order of the openings."""
    output: Path = Path("runs/match")
    """Directory of the run, with the games as KIF in kif/; run the same command again to go on with it."""


def play_engines(
    rules: UsiGames,
    players: Sequence[tuple[str, Sequence[str]]],
    call: Callable[[list[Engine]], Sequence[str]],
    total: int,
    gauntlet: bool = False,
) -> tuple[list[str], list[Result], list[str]]:
    """Play what is left of the games, and write all of them as KIF into `kif/` of the run.

    players: command and NAME=VALUE options of each. call: what readers call the engines. total: games that there will
    be. Returns those names, the results of all games, and remarks on what went wrong. Raises OSError or ValueError in
    words, also if no game came to an end; KeyboardInterrupt if it was stopped.
    """
    check_arena()
    from experiments.arena.kif_games import write_games  # needs what is installed with ShogiArena

    for command, _ in players:
        engine_command(command)  # a misspelt network is no engine either: said before what engines would need
    clock = (rules.time, rules.increment, rules.byoyomi)
    check_numbers(rules, "games", "max_plies")
    check_numbers(rules, "parallel", most=MOST_AT_ONCE)
    check_numbers(rules, "nodes", "depth", "time", "increment", "byoyomi", least=0)
    if not (rules.nodes or rules.depth or any(clock)):
        raise ValueError("--byoyomi: must be at least 1 where there is no other time")
    if rules.increment and rules.byoyomi:
        raise ValueError("--increment: not with --byoyomi; ShogiArena's clocks have one of them")
    if 0 < rules.time < rules.increment:
        raise ValueError(
            f"--time {rules.time}: less than --increment {rules.increment}, without which ShogiArena tells engines "
            "what is left; a first move would be told that nothing is"
        )
    if rules.openings is not None and not rules.openings.is_file():
        raise FileNotFoundError(f"{rules.openings}: there is no such file of openings")
    if rules.openings is None and rules.games > 2 and (rules.nodes or rules.depth):
        raise ValueError("--openings: is needed, for with --nodes or --depth engines repeat their games from the start")
    if (rules.output / LEDGER).exists():
        raise ValueError(f"{rules.output}: holds a match in process; use another --output")
    openings = _read_openings(rules.openings, total // rules.games * math.ceil(rules.games / 2))
    engines = dict(zip(seat_names(len(players)), (ask_engine(*one) for one in players), strict=True))
    descriptions = {f"{seat}.yaml": engine.description(rules.parallel) for seat, engine in engines.items()}
    files = [file for engine in engines.values() for file in engine.files()]
    files += [rules.openings] if rules.openings else []
    names = dict(zip(engines, call(list(engines.values())), strict=True))
    configuration = _configuration(rules, list(engines), gauntlet)
    with described_run(rules.output, {**descriptions, "match.yaml": configuration}, files):
        if openings:
            write_atomically(rules.output / OPENINGS, "\n".join([*openings, ""]).encode())
        with Progress(total, lambda: _progress(rules.output, total, next(iter(names)))) as progress:
            run_arena(rules.output, "run", "tournament", str(rules.output / "match.yaml"), watch=progress.show)
        results = read_results(rules.output)
        remarks = _remarks(rules.output, results, names, total)
        remarks += write_games(rules.output / GAMES / "game.db", rules.output / "kif", names)
    return list(names.values()), results, remarks


def _read_openings(path: Path | None, pairs: int) -> tuple[str, ...]:
    """The openings of a file, each once; of no file none. OSError, or ValueError if a line is none or they are fewer
    than the pairs, each of which takes its own."""
    if path is None:
        return ()
    openings = tuple(dict.fromkeys(read_openings(path)))
    if len(openings) < pairs:
        raise ValueError(
            f"{path}: {amount(len(openings), 'opening')}, and each of {pairs} pairs of games takes one of its own; "
            "ask for fewer games, or give more openings"
        )
    return openings


def _remarks(output: Path, results: list[Result], names: dict[str, str], total: int) -> list[str]:
    """What went wrong; ValueError if no game came to an end."""
    count = sum(one.points is None for one in results)
    log = output / LOG
    failed = f"{amount(count, 'game')} failed ({read_failure(output)}), see {log}"
    if count == len(results):
        raise ValueError(
            f"no game came to an end: {failed if count else f'see {log}'}; to play again, remove {output} or give "
            "another --output"
        )
    mishaps = read_mishaps(output, list(names))
    remarks = [f"{names[one]} {what}, counted as lost, see {log}" for one, what in mishaps.items()]
    if count:
        remarks.append(f"{failed}, counted for nobody")
    if missing := total - len(results):
        remarks.append(f"{amount(missing, 'game')} not played, see {log}")
    return remarks


def _progress(output: Path, total: int, first: str) -> tuple[int, str]:
    """Games that have ended, and how the first engine stands."""
    results = read_results(output)
    own = [one for one in results if one.players[0] == first]
    points = sum(one.points or 0 for one in own)
    return len(results), f"{len(results)} of {total} games, first engine {points:g} points of {len(own)}"


def _configuration(rules: UsiGames, seats: list[str], gauntlet: bool) -> dict[str, Any]:
    positions: dict[str, Any] = {"type": "startpos", "flip_policy": "pair_both"}
    if rules.openings is not None:
        positions = {
            "type": "file",
            "source": OPENINGS,
            "flip_policy": "pair_both",
            "selection_policy": "without_replacement",
        }
    counted = {"node_limit": rules.nodes, "depth_limit": rules.depth}
    limits = {name: limit for name, limit in counted.items() if limit}
    per_move = {"byoyomi_ms": rules.byoyomi} if rules.byoyomi else {"increment_ms": rules.increment}
    # A game of every meeting, then the next of each: a league that is cut has about as many for all. A gauntlet goes
    # round by itself.
    rounds = {"game_order": "interleave"} if len(seats) > 2 and not gauntlet else {}
    return {
        "experiment_name": "match",
        "engines": [{"name": seat, "engine_path": f"{seat}.yaml"} for seat in seats],
        "tournament": {
            "scheduler": "gauntlet" if gauntlet else "round_robin",
            "games_per_pair": rules.games,
            "num_parallel": rules.parallel,
            "seed": rules.seed,
            **rounds,
        },
        "rules": {
            "time_control": limits or {"time_ms": rules.time, **per_move},
            "initial_positions": positions,
            "adjudication": {"max_plies": rules.max_plies, "sync_max_plies_with_engine": False},
            "repetition_occurrences_to_draw": 4,
        },
        "dashboard": {"enabled": False},
    }
