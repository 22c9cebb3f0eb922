"""USI engines play pairs of games from balanced openings through ShogiArena: every two of them, or one against all.

ShogiArena keeps games and state in a folder of its own below the run's; the same command resumes an interrupted run.
Every opening is played twice with exchanged colours, so that its bias cancels out. An engine that crashes, makes an
illegal move or exceeds its time has lost that game.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from experiments.arena.arena_games import ArenaGame, read_arena_games, read_failure, read_mishaps, seat_names
from experiments.arena.process import ARENA, GAMES, LOG, check_arena, run_arena, write_inputs
from experiments.games.openings import read_openings
from experiments.games.player import Ending
from experiments.jobs.produce import report_complete
from experiments.jobs.progress import Progress
from experiments.matches.in_process_games import OTHER_GAMES
from experiments.usi_client.engines import Engine, ask_engine, engine_command
from experiments.usi_client.identity import playing_conditions
from lite.amounts import amount
from lite.datasets.plan import plan_run
from lite.datasets.provenance import sha256_of
from lite.run_folder import RunPlan, RunWriter
from search.levels import FULL, NAMES, level_named
from search.system.bounds import MOST_AT_ONCE, check_numbers
from search.system.files import make_directory, require_file, write_atomically
from search.system.options import OptionError

OPENINGS = "openings.sfen"
"""File of openings in ShogiArena's folder, rewritten because ShogiArena reads a byte order mark or a comment as a move
and keeps equal openings."""
_BY_RULES = Ending(max_moves=(1 << 31) - 1, declaration="NoEnteringKing")
"""Games that end by mate and repetitions alone: the rest is a matter of ShogiArena and the engines."""


@dataclass(frozen=True, kw_only=True)
class UsiGames:
    """Options of games between USI engines."""

    games: int = 20
    """Games between each two engines; an even number plays every opening with both colours."""
    time: int = 0
    """Milliseconds that each side has for all its moves, where nodes and depth are unlimited."""
    increment: int = 0
    """Milliseconds that a side gains with each of its moves and may save."""
    byoyomi: int = 100
    """Milliseconds per move once a side's other time is used up; unused byoyomi is lost."""
    nodes: int = 0
    """Nodes per move (`go nodes`); 0 means no limit. With a limit there is no clock."""
    depth: int = 0
    """Depth per move (`go depth`); 0 means no limit. With a limit there is no clock."""
    openings: Path | None = None
    """File of openings, as `read_openings` takes it; without it every game begins from the start position."""
    parallel: int = 1
    """Games at a time: the two engines of a game never think at once, so a game needs one core."""
    max_moves: int = 320
    """Move number at which a game is drawn, opening included."""
    seed: int = 1
    """Seed of the order of the openings."""
    output: Path = Path("runs/match")
    """Folder of the run, with the games as KIF in kif/; the same command resumes an interrupted run."""

    def check(self) -> None:
        """Raise OptionError for options that cannot be used."""
        check_numbers(self, "games", "max_moves")
        check_numbers(self, "parallel", most=MOST_AT_ONCE)
        check_numbers(self, "nodes", "depth", "time", "increment", "byoyomi", least=0)
        if not (self.nodes or self.depth or self.time or self.increment or self.byoyomi):
            raise OptionError("`byoyomi` 0: must be at least 1 where there is no other time", "byoyomi")
        if self.increment and self.byoyomi:
            raise OptionError("`increment` and `byoyomi`: ShogiArena's clocks have one of them", "increment", "byoyomi")
        if 0 < self.time < self.increment:
            raise OptionError(
                f"`time` {self.time}: less than `increment` {self.increment}, which ShogiArena subtracts from the "
                "remaining time that it reports, so an engine's first move would have none",
                "time",
                "increment",
            )
        if self.openings is not None:
            require_file(self.openings)
        if self.openings is None and self.games > 2 and (self.nodes or self.depth):
            raise OptionError(
                "`openings`: required, as with `nodes` or `depth` engines repeat their games from the start position",
                "openings",
                "nodes",
                "depth",
            )


@dataclass(frozen=True)
class Played:
    """All games of a run through ShogiArena."""

    names: list[str]
    """Names of the engines for readers."""
    games: list[ArenaGame]
    remarks: list[str]
    """Lines for readers on what went wrong."""


def play_engines(
    rules: UsiGames,
    verb: str,
    players: Sequence[tuple[str, Sequence[str]]],
    call: Callable[[list[Engine]], Sequence[str]],
    total: int,
    gauntlet: bool = False,
) -> Played:
    """Play the remaining games, and write all of them as KIF into `kif/` of the run.

    verb: of the run. players: command and NAME=VALUE options of each. call: returns the engines' names for readers.
    total: number of games of the whole run. Raises OSError or ValueError, also if no game came to an end;
    KeyboardInterrupt if it was stopped.
    """
    check_arena()
    from experiments.arena.kif_games import write_games  # requires rsshogi, which ShogiArena brings

    for command, _ in players:
        engine_command(command)  # reports a misspelt network before the options that engines would require
    rules.check()
    openings = _read_openings(rules.openings, total // rules.games * math.ceil(rules.games / 2))
    engines = dict(zip(seat_names(len(players)), (ask_engine(*one) for one in players), strict=True))
    for engine in engines.values():
        _check_level(engine, rules)
    names = dict(zip(engines, call(list(engines.values())), strict=True))
    inputs = {f"{seat}.yaml": engine.description(rules.parallel) for seat, engine in engines.items()}
    inputs["match.yaml"] = _configuration(rules, list(engines), gauntlet)
    arena = rules.output / ARENA
    with RunWriter(rules.output, _plan(rules, verb, engines, names, gauntlet)) as run:
        if run.is_new and arena.exists():
            shutil.rmtree(arena)  # games that were begun, perhaps with other options, and none has ended
        make_directory(arena)
        write_inputs(arena, inputs)
        if openings:
            write_atomically(arena / OPENINGS, "\n".join([*openings, ""]).encode())
        record = _Record(run, arena, total, next(iter(names)))
        if (measured := record.measure())[0] >= total:
            report_complete(rules.output, measured[1], OTHER_GAMES)
        with Progress(total, record.measure) as progress:

            def watch() -> None:
                record.add_new()
                progress.show()

            try:
                run_arena(arena, "run", "tournament", str(arena / "match.yaml"), watch=watch)
            finally:
                record.add_new()
        games = read_arena_games(arena)
        run.update({"games": len(games)})
        remarks = _remarks(arena, games, names, total)
        remarks += write_games(arena / GAMES / "game.db", rules.output / "kif", names)
    return Played(list(names.values()), games, remarks)


def _check_level(engine: Engine, rules: UsiGames) -> None:
    """Raise ValueError if the limits of the games would make another player of a level of this engine."""
    name = str(engine.options.get("Level", FULL))
    if engine.id_name.startswith("LiteShogi") and name in NAMES:
        level = level_named(name)
        if level is not None and (why := level.why_weakened(rules.nodes, rules.depth)):
            raise ValueError(f"{engine.program.name}: Level={name}: {why}")


def _plan(rules: UsiGames, verb: str, engines: dict[str, Engine], names: dict[str, str], gauntlet: bool) -> RunPlan:
    """Return the plan of a run. Raises as `playing_conditions`."""
    digests = {path: sha256_of(path) for engine in engines.values() for path in engine.files()}
    # Without the fields of a subclass: of two players, or of a command.
    fixed = [name for name in UsiGames.__dataclass_fields__ if name not in ("output", "openings")]
    options = {name: value for name, value in asdict(rules).items() if name in fixed}
    options["openings"] = None if rules.openings is None else sha256_of(rules.openings)
    return plan_run(
        verb,
        options | {"gauntlet": gauntlet},
        goal={"players": list(names.values())},
        conditions=playing_conditions(engines, digests),
        others=[*digests, *([rules.openings] if rules.openings else [])],
    )


class _Record:
    """Adds the games that ShogiArena has finished to the results of the run."""

    def __init__(self, run: RunWriter, arena: Path, total: int, first: str) -> None:
        self._run, self._arena, self._total, self._first = run, arena, total, first
        self._known = {game.game: game for game in run.lines(ArenaGame)}

    def add_new(self) -> None:
        """Add games that have ended since the last call, or that have another result since they failed."""
        for game in read_arena_games(self._arena):
            if self._known.get(game.game) != game:
                self._run.append(game)
                self._known[game.game] = game

    def measure(self) -> tuple[int, str]:
        """Return (games that have ended, text with the first engine's points)."""
        own = [one for one in self._known.values() if one.players[0] == self._first]
        points = sum(one.points or 0 for one in own)
        done = len(self._known)
        return done, f"{done} of {self._total} games, first engine {points:g} points of {len(own)}"


def _read_openings(path: Path | None, pairs: int) -> tuple[str, ...]:
    """Return the openings of a file, each once; none without a file.

    Raises OSError, or ValueError if no game can be played from a line or there are fewer than pairs, each of which
    takes its own."""
    if path is None:
        return ()
    openings = tuple(dict.fromkeys(read_openings(path, _BY_RULES)))
    if len(openings) < pairs:
        raise OptionError(
            f"`openings` {path}: {amount(len(openings), 'opening')}, and each of {pairs} pairs of games takes one of "
            "its own; reduce `games`, or give more openings",
            "openings",
            "games",
        )
    return openings


def _remarks(arena: Path, games: list[ArenaGame], names: dict[str, str], total: int) -> list[str]:
    """Return lines on what went wrong. Raises ValueError if no game came to an end."""
    count = sum(one.points is None for one in games)
    log = arena / LOG
    failed = f"{amount(count, 'game')} failed ({read_failure(arena)}), see {log}"
    if count == len(games):
        raise OptionError(
            f"no game came to an end: {failed if count else f'see {log}'}; to play again, remove {arena.parent} or "
            "give another `output`",
            "output",
        )
    mishaps = read_mishaps(arena, list(names))
    remarks = [f"{names[one]} {what}, counted as lost, see {log}" for one, what in mishaps.items()]
    if count:
        remarks.append(f"{failed}, not counted")
    if missing := total - len(games):
        remarks.append(f"{amount(missing, 'game')} not played, see {log}")
    return remarks


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
    # A game of every meeting, then the next of each: an interrupted league has about as many of each. A gauntlet has
    # this order by itself.
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
            "adjudication": {"max_plies": rules.max_moves, "sync_max_plies_with_engine": False},
            "repetition_occurrences_to_draw": 4,
        },
        "dashboard": {"enabled": False},
    }
