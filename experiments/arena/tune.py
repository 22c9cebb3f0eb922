"""The numbers of the search tuned by games (SPSA), run by ShogiArena.

Every update plays pairs of games between the search with all numbers moved a little one way and the search with all
moved the other way, and takes a step toward the side that won (Spall, "Multivariate stochastic approximation using a
simultaneous perturbation gradient approximation", IEEE TAC 37, 1992). ShogiArena keeps the state in the run's
directory: a tuning that is cut goes on when the same command runs again.
"""

from __future__ import annotations

import contextlib
import json
import math
import sqlite3
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from experiments.arena.engines import Engine, ask_engine
from experiments.arena.process import GAMES, described_run, find_arena, run_arena
from experiments.progress import Progress
from search.alphabeta.parameters import PARAMETERS, Parameter

_DRIFT = 0.2
"""The gain of a tuning is this by the root of its pairs. Chance alone then moves a number by half its step or so:
a pair's result has a standard deviation of 1.5, and the schedule takes 1.55 times the last update's step on average
(root mean square). At 10,000 pairs it is the 0.002 that users of OpenBench and Fishtest choose for such lengths."""


@dataclass(frozen=True)
class Tuning:
    """What is tuned, and by which games."""

    names: tuple[str, ...] = ()
    """Parameters to tune, see search/alphabeta/parameters.py; without names all."""
    openings: Path = Path("openings.sfen")
    """File of positions, one SFEN or `startpos moves` line each."""
    updates: int = 500
    """Steps to take."""
    pairs: int = 4
    """Pairs of games a step; enough of them keep all parallel games busy."""
    nodes: int = 10_000
    """Nodes a move."""
    byoyomi: int | None = None
    """Milliseconds a move instead."""
    gain: float | None = None
    """Learning rate at the end (r_end of OpenBench and Fishtest); by default from the number of games."""
    parallel: int = 1
    """Games at a time: two engines of one game never think at once, so one game needs one core."""
    max_plies: int = 256
    """A game of so many moves is a draw."""
    seed: int = 1
    """Order of the openings, and which way each number is moved."""
    engine: str = "liteshogi"
    """Command of the engine."""
    output: Path = Path("runs/tune")
    """Directory of the run; run the same command again to go on with it. `tune.png` there shows the values."""

    @property
    def games(self) -> Path:
        """ShogiArena's directory in that of the run."""
        return self.output / GAMES


def tune(options: Tuning) -> dict[str, Any]:
    """Take the steps that are left and draw how the values went; the figures of `tuned_values`.

    Raises OSError or ValueError in words. Stopped by KeyboardInterrupt it draws how far it came.
    """
    find_arena()
    chosen = chosen_parameters(options.names)
    thinking = options.nodes if options.byoyomi is None else options.byoyomi
    if min(options.updates, options.pairs, thinking, options.parallel, options.max_plies) < 1:
        raise ValueError("--updates, --pairs, --nodes, --byoyomi, --parallel and --max-plies must be at least 1")
    if options.seed < 0 or (options.gain is not None and not 0 < options.gain < math.inf):
        raise ValueError("--seed must not be negative and --gain must be above 0")
    if not options.openings.is_file():
        raise FileNotFoundError(f"{options.openings}: there is no such file of openings; give --openings")
    engine = _ask_engine(options, chosen)
    gain = options.gain or _DRIFT / math.sqrt(options.updates * options.pairs)
    descriptions = {
        "tune.yaml": _configuration(options),
        "engine.yaml": engine.description(),
        "space.yaml": space(chosen, gain),
    }
    with described_run(options.output, descriptions, [*engine.files(), options.openings]):
        engine.directory.mkdir(exist_ok=True)
        if any(options.games.glob("*")) and not ledger(options.games).is_file():
            raise ValueError(f"{options.games} holds no tuning that can go on: remove it, or give another --output")
        try:
            if len(read_history(options.games)) < options.updates:  # ShogiArena fails on a run that has ended
                with Progress(options.updates, lambda: _progress(options)) as progress:
                    run_arena(options.output, "run", "spsa", str(options.output / "tune.yaml"), watch=progress.show)
        finally:
            history = read_history(options.games)
            if history:
                from experiments.pictures import draw_tuning

                draw_tuning(history, chosen, options.output / "tune.png")
    return tuned_values(history, chosen)


def _ask_engine(options: Tuning, parameters: list[Parameter]) -> Engine:
    """The engine that is to play; ValueError if it does not take the parameters."""
    engine = ask_engine(options.engine, ["USI_Hash=16"], {"LITESHOGI_TUNE": "1"})
    missing = [one.name for one in parameters if one.name not in engine.declared]
    if missing:
        raise ValueError(f"{options.engine}: the engine has no option {missing[0]}; only this search can be tuned")
    # ShogiArena copies an engine's directory with the run, so it must not hold the run.
    return replace(engine, directory=(options.output / "engine").absolute())


def _progress(options: Tuning) -> tuple[int, str]:
    """Updates that have been taken."""
    done = len(read_history(options.games))
    return done, f"{done} of {options.updates} updates"


def _configuration(options: Tuning) -> dict[str, Any]:
    limit = {"node_limit": options.nodes} if options.byoyomi is None else {"time_ms": 0, "byoyomi_ms": options.byoyomi}
    return {
        "experiment_name": "tune",
        "engines": [{"engine_path": str((options.output / "engine.yaml").absolute())}],
        "spsa": {
            "space": str((options.output / "space.yaml").absolute()),
            "num_updates": options.updates,
            "pairs_per_update": options.pairs,
            "run_seed": f"{options.seed % 2**256:064x}",
            "num_parallel": options.parallel,
            "algorithm": {"name": "classic", "A": {"mode": "ratio", "value": 0.1}},
            "variants": {"integer_rounding": "stochastic", "apply": {"clear_hash": False}},
        },
        "rules": {
            "time_control": limit,
            "initial_positions": {
                "type": "file",
                "source": str(options.openings.absolute()),
                "flip_policy": "pair_both",
            },
            "adjudication": {"max_plies": options.max_plies, "sync_max_plies_with_engine": False},
            "repetition_occurrences_to_draw": 4,
        },
        # So long it asks the engine what can be tuned, which the space says; for the rest engine.yaml has patience.
        "system": {"engine_handshake_timeout": 2},
        "dashboard": {"enabled": False},
    }


def chosen_parameters(names: tuple[str, ...]) -> list[Parameter]:
    """The parameters of these names, all if there are none; ValueError names one that does not exist."""
    known = {parameter.name: parameter for parameter in PARAMETERS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"no such parameter: {unknown[0]}; there are {', '.join(known)}")
    return [known[name] for name in names] if names else list(PARAMETERS)


def space(parameters: list[Parameter], gain: float) -> dict[str, Any]:
    """ShogiArena's description of what may be changed, and how far: by `step` and with `gain` at the end."""
    return {
        "schema_version": "shogiarena.spsa.space.v1",
        "target": {"engine_family": "LiteShogi", "protocol": "usi_options"},
        "parameters": [
            {
                "id": parameter.name,
                "target": {"option": parameter.name, "value_encoding": "integer"},
                "value_type": "int",
                "initial": parameter.default,
                "bounds": {"min": parameter.low, "max": parameter.high},
                "schedule": {"c_end": parameter.step, "r_end": gain},
                "description": parameter.meaning,
            }
            for parameter in parameters
        ],
    }


def ledger(run: Path) -> Path:
    """Where ShogiArena keeps the books of a tuning, which outlive any end."""
    return run / "spsa" / "ledger.sqlite3"


def read_history(run: Path) -> list[dict[str, float]]:
    """The values by name after each update so far; ValueError if the ledger cannot be read."""
    if not ledger(run).is_file():
        return []
    question = "SELECT theta_final_json FROM updates WHERE state = 'COMMITTED' ORDER BY update_idx"
    try:
        with contextlib.closing(sqlite3.connect(ledger(run).absolute().as_uri() + "?mode=ro", uri=True)) as books:
            return [json.loads(values) for (values,) in books.execute(question)]
    except sqlite3.Error as error:
        raise ValueError(f"{ledger(run)}: {error}; begin again with another --output") from error


def tuned_values(history: list[dict[str, float]], parameters: list[Parameter]) -> dict[str, Any]:
    """{updates, parameters: {name: {default, value, steps}}}: what has become of the defaults, and in steps of each."""
    values = history[-1] if history else {}
    rows = {}
    for one in parameters:
        value = float(values.get(one.name, one.default))
        rows[one.name] = {"default": one.default, "value": value, "steps": (value - one.default) / one.step}
    return {"updates": len(history), "parameters": rows}
