"""Refuse plans that cannot be carried out, before any work."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.sweep.data import refuse_circles
from experiments.sweep.entries import Entry
from experiments.sweep.plan import Plan, data_of
from experiments.sweep.space import extremes
from experiments.sweep.training import checked_training, training_of
from lite.training.correction import corrected_network
from lite.training.options import ValueTraining
from lite.typed import typed
from search.system.metadata import one_line


def plan_of(entries: Mapping[str, Any], place: str) -> Plan:
    """Return the plan of a TOML document's entries. Raises ValueError that begins with `place`."""
    for name in ("space", "point", "peer"):
        if isinstance(entries.get(name), dict):
            raise ValueError(f"{place}: [{name}]: there may be several, so write [[{name}]]")
    plan = typed(Plan, dict(entries), place)
    try:
        _check(plan)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
    return plan


def _check(plan: Plan) -> None:
    """Raise ValueError for a plan that cannot be carried out."""
    for number in (plan.seed, *plan.seeds):
        if not 0 <= number < 1 << 31:
            raise ValueError(f"seed {number}: a whole number from 0 to 2^31 - 1 is needed")
    if not plan.seeds or len(set(plan.seeds)) < len(plan.seeds):
        raise ValueError("seeds: name at least one, and none twice")
    if plan.search != "grid" and (plan.points < 1 or not plan.spaces):
        raise ValueError(f"search {plan.search!r} needs `points` of at least 1, and a [[space]] to choose from")
    if plan.search not in ("grid", "random") and not (plan.measure.yardstick and plan.measure.repeats):
        raise ValueError(f"search {plan.search!r} goes by d1-RMSE and time: give a `yardstick`, and `repeats`")
    if not plan.entries and not plan.spaces:
        raise ValueError("no [[space]], [[point]] or [[peer]]: nothing to do")
    plan.measure.check()
    refuse_circles(plan.sets)
    earlier: set[str] = set()
    for number, (entry, place) in enumerate(zip(plan.entries, plan.places(), strict=True)):
        is_peer = number >= len(plan.point)
        if fault := _fault(entry, is_peer, plan, earlier):
            raise ValueError(f"{place}: {fault}")
        if not is_peer:
            _check_training(plan, entry.options, place)
        earlier.add(entry.name)
    for number, space in enumerate(plan.spaces, 1):
        for options in extremes(space):
            _check_training(plan, options, f"space {number}" if len(plan.spaces) > 1 else "space")
    for name, table in plan.table.items():
        if table.form == "kinds" and not plan.measure.kinds:
            raise ValueError(f"table {name!r}: form 'kinds' needs [measure.kinds]")


def _fault(entry: Entry, is_peer: bool, plan: Plan, earlier: set[str]) -> str:
    """Return an error message; empty if there is none. earlier: names of the entries before this one."""
    if is_peer and not (entry.name and entry.net):
        return "needs a name and a net"
    if unknown := [name for name in entry.tables or () if name not in plan.table]:
        return f"tables: no [table.{one_line(unknown[0])}]"
    if entry.after and entry.after not in earlier:
        return f"after {entry.after[:40]!r}: no earlier point of that name"
    if entry.name and entry.name in earlier:
        return "another point or peer has this name; choose a name of its own"
    return entry.fault()


def _check_training(plan: Plan, options: Mapping[str, Any], place: str) -> None:
    """Raise ValueError for options of a network that cannot be trained."""
    whole = plan.whole(options)
    positions, data = whole.get("positions", 0), data_of(whole)
    if type(positions) is not int or positions < 0:
        raise ValueError(f"{place}: positions {str(positions)[:40]!r}: a whole number is needed, 0 for all")
    if not data:
        raise ValueError(f"{place}: data: a list of files or of sets of [data] is needed")
    suffixes = {Path(name).suffix for name in data if name not in plan.data} - {""}
    if positions and suffixes not in (set(), {".hcpe"}, {".hcpe3"}):
        of = ", ".join(sorted(suffixes))
        raise ValueError(f"{place}: positions: are cut of hcpe, or of hcpe3 alone, not of {of}")
    checked_training(whole, place)


def check_effects(plan: Plan, plays: bool) -> None:
    """Raise OSError or ValueError for what a sweep refuses and a report ignores: entries without effect, and
    corrections that cannot be added to their networks.

    `plays`: whether the plan's games are played."""
    if plan.search == "grid" and plan.points:
        raise ValueError(f"points {plan.points}: search 'grid' takes every combination; choose 'random' for fewer")
    if plan.search != "grid" and plan.seeds != (0,):
        raise ValueError(
            f"seeds: have no effect on points that search {plan.search!r} chooses; put `seed` in the [[space]], and "
            "`seeds` in each [[point]]"
        )
    if plan.seeds != (0,) and "seed" in plan.train:
        raise ValueError("seeds: have no effect beside `seed` of [train]; leave out one")
    for number, (given, place) in enumerate(zip((*plan.point, *plan.peer), plan.places(), strict=True)):
        if number < len(plan.point):
            if {"seed", "seeds"} <= given.keys():
                raise ValueError(f"{place}: seeds: have no effect beside `seed`; leave out one")
        elif idle := sorted(given.keys() & {"after", "line", "options", "seeds"}):
            raise ValueError(f"{place}: {', '.join(idle)}: no effect on a network made elsewhere; leave it out")
    if plays and plan.playing and plan.playing.who == "named" and not any(entry.games for entry in plan.entries):
        raise ValueError("play: who = 'named', but no point has `games = true`")
    for point in plan.known_points():
        training = training_of(point.options, point.label) if "correct" in point.options else None
        if isinstance(training, ValueTraining):
            try:
                corrected_network(training)
            except ValueError as error:
                raise ValueError(f"{point.label}: {error}") from None
