"""The layers after the first one that the options of dense, lite and untied networks describe.

Without stacks, shortcut and squares, the layers are plain linear layers, which each network names itself. With one of
these parts, they are one `LayerStacks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from lite.networks.activation import ACTIVATIONS
from lite.networks.layer_stacks import LayerStacks
from lite.networks.limits import check_size
from search.evaluation.network import MAX_LAYER
from search.evaluation.stacks import HANDS, MAX_STACKS, PROGRESS, ordered_tokens, stack_count
from search.system.bounds import briefly

StackName = Literal[
    "hand4", "hand16", "hand64", "hand64z", "hand256", "hand1024",
    "k3k3", "k9k9", "k9k9z", "k13k13z", "k21k21", "k29k29",
    "progress2", "progress3", "progress4", "progress8", "progress16", "progress32",
]  # fmt: skip


class LaterOptions(Protocol):
    """Options of a network's layers after the first one."""

    @property
    def activation(self) -> str: ...
    @property
    def buckets(self) -> int: ...
    @property
    def hidden_squares(self) -> bool: ...
    @property
    def shortcut(self) -> bool: ...
    @property
    def stacks(self) -> tuple[StackName, ...]: ...


def check_later_layers(options: LaterOptions, hidden: tuple[int, ...]) -> None:
    """Raise ValueError if the options do not fit together; `hidden` has the checked sizes of the hidden layers."""
    for name in ("hidden_squares", "shortcut"):
        if not isinstance(getattr(options, name), bool):
            raise ValueError(f"{name} {briefly(getattr(options, name))}: must be true or false")
        if getattr(options, name) and not hidden:
            raise ValueError(f"{name}: needs a hidden layer, and `hidden` names none")
    if options.shortcut:
        check_size("hidden with a shortcut", hidden[0], MAX_LAYER - 1)
    check_stacks(options.stacks)
    if options.buckets > 1 and (options.shortcut or options.stacks):
        raise ValueError(f"buckets {options.buckets}: not beside stacks or a shortcut; choose a hand axis instead")


def check_stacks(tokens: Any) -> None:
    """Raise ValueError unless `tokens` is a tuple of axes, with a number of stacks that can be evaluated."""
    if not isinstance(tokens, tuple):
        raise ValueError(f"stacks {briefly(tokens)}: must be names of axes")
    try:
        count = stack_count(ordered_tokens(tokens))
    except ValueError as error:
        raise ValueError(f"stacks: {error}") from None
    if count > MAX_STACKS:
        raise ValueError(f"stacks {briefly(tokens)}: {count:,} stacks; at most {MAX_STACKS:,} can be evaluated")


def later_layers(options: LaterOptions, inputs: int, hidden: Sequence[int], outputs: int) -> LayerStacks | None:
    """Return the layers after the first one, or None if plain linear layers are enough."""
    if not (options.stacks or options.shortcut or options.hidden_squares):
        return None
    return LayerStacks(
        inputs,
        hidden,
        outputs,
        options.stacks,
        hidden_squares=options.hidden_squares,
        shortcut=options.shortcut,
        ceiling=ACTIVATIONS[options.activation].ceiling,
    )


def counts_all_pawns(tokens: Sequence[str]) -> bool:
    """Return whether the index of stacks depends on more of a hand than the first eight pawns."""
    return any(token in PROGRESS or (token in HANDS and any(HANDS[token].weights)) for token in tokens)
