"""The training that a plan's options describe.

Options have the names of a run's run.json. They are typed by the dataclasses that hold them: those of the training,
of its optimiser, and of the network, which the option `kind` chooses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar, get_origin, get_type_hints

from experiments.resnet.network import ResnetConfig
from experiments.resnet.train import ResnetTraining
from lite.networks.build import CONFIGS
from lite.training.optimiser import OptimiserConfig
from lite.training.options import ValueTraining, has_progress_axis
from lite.typed import nearest, typed
from search.system.metadata import one_line

Given = TypeVar("Given")
Training = ValueTraining | ResnetTraining
RESNET = "resnet"
KINDS = (*CONFIGS, RESNET)
"""Kinds of networks that a plan can train."""
LANES = 32
"""The width of the engine's rows is a multiple of this."""
OF_A_POINT = ("kind", "positions")
"""Options of a point that are no fields of its training: what is trained, and how much of the data is cut for it."""
OF_A_RUN = ("output", "resume", "overwrite", "max_steps")
"""Fields that a plan cannot set: every network is trained to the end, in a folder of its own."""


def training_of(options: Mapping[str, Any], place: str) -> Training:
    """Return the training that `options` describe. Raises ValueError that begins with `place` and names the option."""
    kind = options.get("kind")
    if kind not in KINDS:
        raise ValueError(f"{place}: kind {str(kind)[:40]!r}: choose {', '.join(KINDS)}")
    outer: type[Any] = ResnetTraining if kind == RESNET else ValueTraining
    parts = {"network": _network(str(kind)), "optimiser": OptimiserConfig}
    given = {"data": [], **{name: value for name, value in options.items() if name not in OF_A_POINT}}
    made: Training = from_flat(outer, parts, given, place, OF_A_RUN)
    if isinstance(made, ValueTraining) and not has_progress_axis(made.network):
        return replace(made, progress_table=None)  # a plan gives one to all of its networks
    return made


def checked_training(options: Mapping[str, Any], place: str) -> Training:
    """Return `training_of` the options. Raises ValueError for a network that cannot be built, too, and for one that the
    engine would make wider than the options say."""
    training = training_of(options, place)
    try:
        replace(training, valid=(), device="cpu").check()  # other machines may do it, on a GPU
        training.network.check()
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
    width = getattr(training.network, "width", LANES)
    if width % LANES:
        wider = width + -width % LANES
        raise ValueError(f"{place}: width {width}: the engine pads its rows to {wider}; choose a multiple of {LANES}")
    return training


def default_options(kind: str) -> Mapping[str, object]:
    """Return the default of each option of a kind of network, and the default seed, as JSON has them."""
    found = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(_network(kind)()).items()}
    return {name.replace("_", "-"): value for name, value in found.items()} | {"seed": 0}


def from_flat(
    kind: type[Given],
    parts: Mapping[str, type[Any]],
    options: Mapping[str, Any],
    place: str,
    without: tuple[str, ...] = (),
) -> Given:
    """Return the dataclass `kind` from options by the names of its fields and of those of its dataclasses `parts`.

    A name may have hyphens for underscores, and lack the underscore at its end; a single number stands for a list of
    one. Raises ValueError that begins with `place` and names an option that is unknown, among `without`, or ill-typed.
    """
    owners: dict[str, type[Any]] = {name: kind for name in _fields(kind) if name not in (*parts, *without)}
    for part in parts.values():
        owners |= dict.fromkeys(_fields(part), part)
    found: dict[type[Any], dict[str, Any]] = {owner: {} for owner in (kind, *parts.values())}
    for name, value in options.items():
        field = name.replace("-", "_")
        field = field if field in owners else f"{field}_"
        if (owner := owners.get(field)) is None:
            names = [one.rstrip("_").replace("_", "-") for one in owners]
            near = nearest(name.replace("_", "-"), names)
            raise ValueError(f"{place}: {one_line(name)}: unknown option" + (f"; is {near} meant?" if near else ""))
        is_one = type(value) is int and get_origin(get_type_hints(owner)[field]) is tuple
        found[owner][field] = [value] if is_one else value
    made = {name: typed(part, found[part], place) for name, part in parts.items()}
    return replace(typed(kind, found[kind], place), **made)  # type: ignore[type-var]


def _network(kind: str) -> type[Any]:
    return ResnetConfig if kind == RESNET else CONFIGS[kind]


def _fields(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
