"""The verb `tune`: the numbers of the search tuned by games (SPSA), run by ShogiArena.

Every update plays pairs of games between the search with all numbers moved a little one way and the search with all
moved the other way, and takes a step toward the side that won (Spall, "Multivariate stochastic approximation using a
simultaneous perturbation gradient approximation", IEEE TAC 37, 1992). ShogiArena keeps the state in the run's
directory: a tuning that is cut goes on when the same command runs again.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from experiments.arena import run_arena, write_engine
from search.parameters import PARAMETERS, Parameter

_GAIN = 0.002
"""Learning rate at the end, as OpenBench's and Fishtest's users choose it."""


@dataclass(frozen=True)
class Tune:
    """Tune numbers of the search by games against itself (SPSA)."""

    names: tyro.conf.Positional[tuple[str, ...]] = ()
    """Parameters to tune, see search/parameters.py; without names all."""
    openings: Annotated[Path, tyro.conf.arg(help_behavior_hint="(required)")] = Path("openings.sfen")
    """File of positions, one SFEN or `startpos moves` line each."""
    updates: int = 500
    """Steps to take."""
    pairs: int = 2
    """Pairs of games a step."""
    nodes: int = 10_000
    """Nodes a move."""
    parallel: int = 1
    """Games at a time."""
    max_plies: int = 256
    """A game of so many moves is a draw."""
    engine: str = "liteshogi"
    """Command of the engine."""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("runs/tune")
    """Directory of the run; run the same command again to go on with it."""
    json: bool = False
    """Print one JSON object and nothing else."""

    def run(self) -> None:
        chosen = chosen_parameters(self.names)
        if min(self.updates, self.pairs, self.nodes, self.parallel) < 1:
            raise ValueError("--updates, --pairs, --nodes and --parallel must be at least 1")
        if not self.openings.is_file():
            raise FileNotFoundError(f"{self.openings}: there is no such file of openings; give --openings")
        self.output.mkdir(parents=True, exist_ok=True)
        working = self.output / "engine"  # ShogiArena keeps a copy of it with the run, so it must not hold the run
        working.mkdir(exist_ok=True)
        place = {"working_directory": str(working.absolute()), "environment": {"LITESHOGI_TUNE": "1"}}
        engine = write_engine(self.output, "engine", self.engine, {"USI_Hash": 16}, **place)
        (self.output / "space.yaml").write_text(json.dumps(space(chosen), indent=1), encoding="utf-8")
        configuration = self.output / "tune.yaml"
        configuration.write_text(json.dumps(self._configuration(engine), indent=1), encoding="utf-8")
        games = self.output / "games"
        if read_values(games, chosen)["updates"] < self.updates:  # ShogiArena fails on a run that has ended
            try:
                run_arena("run", "spsa", str(configuration), "--run-dir", str(games))
            except KeyboardInterrupt:
                print("interrupted; run the same command again to go on", file=sys.stderr)
        report = read_values(games, chosen)
        if self.json:
            print(json.dumps(report))
            return
        print(f"after {report['updates']} updates")
        for name, row in report["parameters"].items():
            print(f"{name:26} {row['default']:6d} -> {row['value']:9.2f}")

    def _configuration(self, engine: str) -> dict[str, Any]:
        return {
            "experiment_name": "tune",
            "engines": [{"engine_path": str((self.output / engine).absolute())}],
            "spsa": {
                "space": str((self.output / "space.yaml").absolute()),
                "num_updates": self.updates,
                "pairs_per_update": self.pairs,
                "num_parallel": self.parallel,
                "algorithm": {"name": "classic", "A": {"mode": "ratio", "value": 0.1}},
                "variants": {"integer_rounding": "stochastic", "apply": {"clear_hash": False}},
            },
            "rules": {
                "time_control": {"node_limit": self.nodes},
                "initial_positions": {
                    "type": "file",
                    "source": str(self.openings.absolute()),
                    "flip_policy": "pair_both",
                },
                "adjudication": {"max_plies": self.max_plies, "sync_max_plies_with_engine": False},
                "repetition_occurrences_to_draw": 4,
            },
            "dashboard": {"enabled": False},
        }


def chosen_parameters(names: tuple[str, ...]) -> list[Parameter]:
    """The parameters of these names, all if there are none; ValueError names one that does not exist."""
    known = {parameter.name: parameter for parameter in PARAMETERS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"no such parameter: {unknown[0]}; there are {', '.join(known)}")
    return [known[name] for name in names] if names else list(PARAMETERS)


def space(parameters: list[Parameter]) -> dict[str, Any]:
    """ShogiArena's description of what may be changed, and how far at the end."""
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
                "schedule": {"c_end": parameter.step, "r_end": _GAIN},
                "description": parameter.meaning,
            }
            for parameter in parameters
        ],
    }


def read_values(run: Path, parameters: list[Parameter]) -> dict[str, Any]:
    """{updates, parameters: {name: {default, value}}} from ShogiArena's ledger, or the defaults."""
    current = run / "spsa" / "current.json"
    state = json.loads(current.read_text(encoding="utf-8")) if current.is_file() else {}
    values = state.get("theta", {})
    return {
        "updates": int(state.get("update_idx", 0)),
        "parameters": {
            parameter.name: {
                "default": parameter.default,
                "value": float(values.get(parameter.name, parameter.default)),
            }
            for parameter in parameters
        },
    }
