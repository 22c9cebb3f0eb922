"""JSON Schema of the objects that commands print with `--json`, made from the dataclasses of their results.

`python -m liteshogi.json_schema` prints the schema of all commands, which docs/how/json_schema.json holds.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from liteshogi.option_help import field_docstrings


@dataclass(frozen=True)
class Printed:
    """The object that a command prints."""

    results: tuple[str, ...]
    """Dataclasses as `module:Class`; the object has the fields of one of them."""
    by_name: str = ""
    """Dataclass of the values of an object with free names, which may be printed instead of `results`; or empty."""
    listed: str = ""
    """Name of a list of such objects, which the printed object has as its only field; empty if it is one itself."""
    without: tuple[str, ...] = ()
    """Fields of the dataclass that are not printed, or printed as those in `adds`."""
    adds: Mapping[str, str] | None = None
    """Further fields that may be present: their meaning by name; `*` stands for any name."""


_REFUSALS = {
    "records_read": "Number of records that were read from the sources.",
    "refused": "Number of refused records by reason.",
    "first_refused": "The first refused records.",
}
_TOTALS = {"*": "Sums of the counts of all jobs, such as games, positions and bytes.", **_REFUSALS}
_D1 = {
    "d1_rmse": "Error of the win rate after one ply and quiescence against long searches (with a yardstick).",
    "d1_rmse_error": "Standard error of d1_rmse.",
    "d1_scale": "Centipawns per logit that suit the network best.",
    "d1_positions": "Number of positions of the yardstick.",
    **{f"d1_{name}": f"{text[:-1]} of the yardstick." for name, text in _REFUSALS.items()},
    "result_log_loss": "Log loss of the win rate after one ply and quiescence against results (with a yardstick).",
    "result_log_loss_error": "Standard error of result_log_loss, over the games where they are known.",
    "result_accuracy": "Share of winners that the win rate after one ply and quiescence predicts, without draws.",
    "result_accuracy_error": "Standard error of result_accuracy, over the games where they are known.",
    "result_scale": "Centipawns per logit that suit the network best for predicting results.",
    "result_positions": "Number of positions of the yardstick with results.",
    "result_games": "Number of games of these positions; null if unknown, where errors treat positions as independent.",
    "result_refused": "Number of refused records by reason of a yardstick with results.",
}
_PRODUCTION = ("experiments.jobs.produce:Production",)
_TRAINED = ("lite", "untied", "dense", "half_kp", "k_p", "sfnn", "resnet")
_TRAINING = Printed(
    ("lite.training.run:Outcome",),
    without=("tested",),
    adds={"*": "Figures of the test on held-out games: loss, and those of `liteshogi test`."},
)

PRINTED: dict[str, Printed] = {
    "match": Printed(
        (
            "experiments.matches.in_process_match:MatchReport",
            "experiments.arena.engine_match:EngineMatchReport",
            "experiments.league.league:LeagueReport",
        ),
    ),
    "floodgate": Printed(("experiments.csa.server_results:ServerReport",)),
    "warmup": Printed(("liteshogi.commands.warmup:Compiled",)),
    "mate": Printed(("liteshogi.commands.mate:Solved",)),
    "eval": Printed(("experiments.network_kinds.position_values:EvaluatedPosition",), listed="positions"),
    "convert": Printed(("lite.datasets.convert:ConversionSummary",)),
    "book": Printed(("search.book.convert:ConvertedBook",)),
    "stat": Printed(("lite.datasets.stat:DataSummary",)),
    "selfplay alphabeta": Printed(_PRODUCTION, without=("totals", "refusals"), adds=_TOTALS),
    "selfplay puct": Printed(_PRODUCTION, without=("totals", "refusals"), adds=_TOTALS),
    "expand": Printed(_PRODUCTION, without=("totals", "refusals"), adds=_TOTALS),
    "relabel": Printed(_PRODUCTION, without=("totals", "refusals"), adds=_TOTALS),
    **dict.fromkeys((f"train {kind}" for kind in _TRAINED), _TRAINING),
    "loop": Printed(("liteshogi.commands.loop:PrintedLoop",)),
    "fold": Printed(("export.fold:FoldReport",)),
    "export": Printed(
        tuple(f"experiments.network_kinds.exporting:{kind}Export" for kind in ("Onnx", "NnBin", "Header", "Vector"))
    ),
    "import": Printed(("export.nnue:ImportedNetwork",)),
    "test": Printed(("experiments.network_kinds.testing:NetworkReport",), adds=_D1),
    "sweep": Printed(("experiments.sweep.sweep:SweepReport",)),
    "yardstick": Printed(("experiments.sweep.yardstick_records:YardstickReport",)),
    "report": Printed(("experiments.report.report:Written", "liteshogi.commands.report:PrintedChecks")),
    "demo": Printed(("experiments.demo:DemoReport",)),
    "bench search": Printed(("search.alphabeta.bench:BenchResult", "search.puct.playout_speed:PlayoutSpeed")),
    "bench engines": Printed(("experiments.engine_speed:SpeedReport",)),
    "bench pipes": Printed(("search.usi.pipe_speed:PipeTimes",)),
    "bench steps": Printed(("search.alphabeta.step_nodes:StepCosts",)),
    "bench evaluation": Printed(
        ("search.evaluation.evaluation_speed:Times",),
        adds={
            "default": "Times of the default network; null if a network was named.",
            "half_kp": "Times of HalfKP 256x2-32-32 with random weights.",
            "kernel": "Kernel of the evaluation.",
            "games": "Number of games.",
            "positions": "Number of positions.",
            "source": "Source of the games.",
        },
    ),
    "bench planes": Printed(("experiments.resnet.plane_speed:PlaneBench",)),
    "bench reading": Printed(
        ("lite.records.reading_speed:EpochSpeed",), by_name="lite.records.reading_speed:ReadingSpeed"
    ),
    "bench training": Printed((), adds={"*": "Positions per second of one kind of network and computation."}),
    "bench factory": Printed(("experiments.factory.factory_speed:FactoryRates",)),
    "perft": Printed(("liteshogi.commands.perft:Counted", "search.rules.perft:PerftSpeed")),
    "judge moves": Printed(
        ("experiments.judge.losses:LossReport",),
        adds={"worst": "Positions with the greatest losses of the first variant."},
    ),
    "judge positions": Printed(("experiments.judge.selection:SelectionReport",)),
    "judge refutations": Printed(("experiments.judge.refutations:RefutationReport",)),
    "judge health": Printed(("experiments.judge.health_report:HealthReport",)),
    "judge parameters": Printed(("experiments.judge.parameter_effects:EffectsReport",)),
    "judge effects": Printed(("experiments.judge.game_effects:GameEffectsReport",)),
    "judge match": Printed(("experiments.judge.judged_match:JudgedMatchReport",)),
    "tune": Printed(("experiments.tuning.tune:TuningReport",)),
    "analyse": Printed(("liteshogi.commands.analyse:PrintedGames",)),
    "explain": Printed(
        ("liteshogi.commands.explain:PrintedExplanation", "liteshogi.commands.explain:PrintedComparison"),
    ),
}
"""The printed object of each command, by its verb and kind."""


def all_schemas() -> dict[str, Any]:
    """Return one JSON Schema with a definition for each command and for each dataclass in its object."""
    definitions: dict[str, Any] = {}
    commands = {name: schema_of(printed, definitions) for name, printed in PRINTED.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Objects that commands of liteshogi print with --json, by command",
        "properties": commands,
        "$defs": dict(sorted(definitions.items())),
    }


def schema_of(printed: Printed, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a printed object; dataclasses in it are added to `definitions`."""
    whole = [_object(_loaded(name), definitions) for name in printed.results]
    for one in whole:
        for name in printed.without:
            del one["properties"][name]
        one["required"] = [name for name in one["required"] if name not in printed.without]
        if printed.adds:
            one["properties"] |= {name: {"description": text} for name, text in printed.adds.items() if name != "*"}
    if printed.by_name:
        values = _object(_loaded(printed.by_name), definitions)
        whole.append({"type": "object", "additionalProperties": values})
    found: dict[str, Any] = whole[0] if len(whole) == 1 else {"anyOf": whole} if whole else {"type": "object"}
    if printed.adds and "*" in printed.adds:
        found["additionalProperties"] = {"description": printed.adds["*"]}
    if printed.listed:
        return {
            "type": "object",
            "properties": {printed.listed: {"type": "array", "items": found}},
            "required": [printed.listed],
        }
    return found


def _loaded(name: str) -> type:
    module, _, kind = name.partition(":")
    loaded: type = getattr(importlib.import_module(module), kind)
    return loaded


def _object(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a dataclass."""
    hints, texts = get_type_hints(kind), field_docstrings(kind)
    properties: dict[str, Any] = {}
    required = []
    for one in fields(kind):  # type: ignore[arg-type]
        described = {"description": texts[one.name]} if one.name in texts else {}
        properties[one.name] = _value(hints[one.name], definitions) | described
        required.append(one.name)
    summary = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
    return {"type": "object", "description": summary, "properties": properties, "required": required}


_SIMPLE: dict[Any, dict[str, Any]] = {
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    str: {"type": "string"},
    Path: {"type": "string"},
    NoneType: {"type": "null"},
    Any: {},
}


def _value(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a type."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind in _SIMPLE:
        return dict(_SIMPLE[kind])
    if is_dataclass(kind):
        name = f"{kind.__module__}.{kind.__qualname__}"  # type: ignore[union-attr]
        if name not in definitions:
            definitions[name] = {}  # in case it contains itself
            definitions[name] = _object(kind, definitions)  # type: ignore[arg-type]
        return {"$ref": f"#/$defs/{name}"}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [one.value for one in kind]}
    if origin is Literal:
        return {"enum": list(parts)}
    if origin in (Union, UnionType):
        return {"anyOf": [_value(part, definitions) for part in parts]}
    if origin is tuple and parts[-1] is not Ellipsis:
        return {"type": "array", "prefixItems": [_value(part, definitions) for part in parts]}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _value(parts[1], definitions)}
    if parts:
        return {"type": "array", "items": _value(parts[0], definitions)}
    return {}


def as_text() -> str:
    """Return the schema of all commands as the file holds it."""
    return json.dumps(all_schemas(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(as_text(), end="")
