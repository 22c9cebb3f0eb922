"""The options that labels of points show: those whose values differ among networks of a kind."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from experiments.sweep.space import in_brief
from experiments.sweep.training import KINDS, default_options

Values = Mapping[str, tuple[Any, ...]]
"""Options, each with all of its values: one, or several of a space."""


def single_values(options: Mapping[str, Any]) -> Values:
    """Return the options of one network with their values."""
    return {name: (value,) for name, value in options.items()}


def varied_options(
    given: Iterable[Values], whole: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
) -> Mapping[str, Mapping[str, frozenset[str]]]:
    """Return the options that have several values, by kind of network, each with the brief texts that several of its
    values share. An option that is not given has the default of its kind.

    whole: returns options with those of a plan that they leave out."""
    by_kind: dict[str, list[Values]] = {}
    for values in given:
        for kind in values.get("kind", (whole({}).get("kind"),)):
            common = {**(default_options(kind) if kind in KINDS else {}), **whole({"kind": kind})}
            by_kind.setdefault(str(kind), []).append({**single_values(common), **values})
    return {kind: _shared_texts(options) for kind, options in by_kind.items()}


def _shared_texts(options: Sequence[Values]) -> Mapping[str, frozenset[str]]:
    """Return the options that have several values, each with the brief texts that several of its values share."""
    found = {}
    for name in dict.fromkeys(name for one in options for name in one if name not in ("kind", "seed")):
        values = {json.dumps(value): value for one in options for value in one.get(name, (None,))}
        if len(values) > 1:
            texts = Counter(map(in_brief, values.values()))
            found[name] = frozenset(text for text, count in texts.items() if count > 1)
    return found
