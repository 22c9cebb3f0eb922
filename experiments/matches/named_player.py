"""A player of this engine as a match names it: its network, and options by their USI names."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.games.player import Player, PuctPlayer
from experiments.network_kinds.kind import has_network_suffix
from experiments.network_kinds.player_command import chosen_network, engine_of
from lite.records.formats import MOST_VISITS
from search.alphabeta.bench import search_signature
from search.alphabeta.parameters import EVERY_STEP, PARAMETERS, SHORT, STEPS
from search.evaluation.nnue_file import is_nnue
from search.evaluation.shipped import network_file
from search.levels import FULL, NAMES, level_named
from search.system.bounds import MOST_MEGABYTES
from search.system.options import OptionError
from search.system.paths import PathLike
from search.usi.network_options import NETWORK_OPTIONS, network_choice
from search.usi.usi_options import Check, Combo, Option, OptionValues, Spin

HASH_MB = 16
"""Default megabytes of a player's table: clearing a larger one takes as long as a short game."""
_PARAMETERS = tuple(Spin(one.name, one.default, one.low, one.high) for one in PARAMETERS)
_STEPS = tuple(Check(re.sub(r"\W", "_", f"skip_{name}"), False) for name in STEPS)
OPTIONS: tuple[Option, ...] = (
    Spin("USI_Hash", HASH_MB, 1, MOST_MEGABYTES),
    *NETWORK_OPTIONS,
    Spin("Draw_Value_Black", 500, 0, 1000),
    Spin("Draw_Value_White", 500, 0, 1000),
    Combo("Level", FULL, NAMES),
    *_PARAMETERS,
    *_STEPS,
)


@dataclass(frozen=True)
class NamedPlayer:
    """A player with its network's path and its options."""

    player: Player | PuctPlayer
    net: str
    """Path of its network, or the name of a shipped one."""
    chosen: dict[str, str]
    """Options that differ from their defaults, without its network."""

    @property
    def by_alphabeta(self) -> Player:
        """The player of the alpha-beta search at full strength. Raises ValueError for a network that PUCT plays, and
        for a level."""
        if isinstance(self.player, PuctPlayer):
            raise ValueError(f"{self.net}: is played by PUCT; give a network that alpha-beta plays")
        if self.player.level is not None:
            raise ValueError(f"Level={self.player.level.name}: only matches and leagues play levels; leave it out")
        return self.player

    @property
    def draws_moves(self) -> bool:
        """Whether its moves depend on a game's seed, as those of a level do."""
        return isinstance(self.player, Player) and self.player.level is not None

    @property
    def deciding(self) -> dict[str, str]:
        """The options that decide which games are played; a level is given by its numbers."""
        level = None if isinstance(self.player, PuctPlayer) else self.player.level
        return self.chosen if level is None else self.chosen | {"Level": level.rule}

    @property
    def conditions(self) -> Mapping[str, object]:
        """Conditions of the player's runs: the signature of the alpha-beta search; PUCT has none."""
        return {} if isinstance(self.player, PuctPlayer) else {"signature": search_signature()}

    def name(self, whole: bool) -> str:
        """Return the name for readers, with the file name of its network or its `whole` path."""
        limits = {what: getattr(self.player, what, 0) for what in ("nodes", "depth")}
        return player_name(self.net if whole else Path(self.net).name, limits, self.chosen)


def player_name(network_path: str, limits: Mapping[str, int], chosen: Mapping[str, str]) -> str:
    """Return a player's name for readers, from its network, its nodes and depth per move, and its options."""
    words = [f"{most} {what}" for what, most in limits.items() if most]
    return f"{network_path} ({', '.join([*words, *(f'{option}={value}' for option, value in chosen.items())])})"


def names_of_two(first: NamedPlayer, second: NamedPlayer, labels: Sequence[str]) -> tuple[str, str]:
    """Return the names of a match's players for readers: labels, or where these are empty networks, by no more of their
    paths than differs, and options. Players that are the same are called first and second."""
    whole = first.name(False) == second.name(False)
    names = [one.name(whole) for one in (first, second)]
    if first.name(True) == second.name(True):
        names = [f"{side} {name}" for side, name in zip(("first", "second"), names, strict=True)]
    return labels[0] or names[0], labels[1] or names[1]


def plays_in_process(command: str) -> bool:
    """Return whether `read_player` takes a command, or reports what is wrong with it: a network, or this engine."""
    program, _ = engine_of(command)
    if program.startswith("liteshogi puct"):
        return program != command  # a command of this form starts another process
    is_missing_network = has_network_suffix(program) and not Path(program).is_file()
    return program == "liteshogi" or is_missing_network


def read_player(
    command: PathLike, options: Sequence[str] | None, nodes: int, depth: int, field: str = ""
) -> NamedPlayer:
    """Return the player of a network's path, a shipped network's name, or `liteshogi`, with NAME=VALUE options.

    `options`: None where the user can give none. `field`: the field that holds them; empty if they follow the player,
    which errors then name. Raises OSError, or ValueError (OptionError where a field is at fault), also for another
    engine."""
    command, can_be_set, options = os.fspath(command), options is not None, options or ()
    program, settings = engine_of(command)
    if program.startswith("liteshogi puct") and Path(command).is_file():
        return _puct_player(Path(command), options, nodes, depth, field)
    if program != "liteshogi":
        kind = "PUCT" if program.startswith("liteshogi puct") else "another engine"
        if kind != "PUCT" and has_network_suffix(program):
            raise FileNotFoundError(f"{program}: there is no such network")
        raise OptionError(
            f"{command}: `nodes` and `depth` are for networks, named by their files, and this is {kind}; "
            "a match plays it by the clock with `byoyomi` MILLISECONDS",
            "nodes",
            "depth",
            "byoyomi",
        )
    values = OptionValues(OPTIONS)
    for setting in (*settings, *options):
        try:
            _set(values, setting)
        except ValueError as error:
            raise _option_error(field, command, f"{setting}: {error}") from None
    net, scale, named = network_choice(values)
    if scale is not None and not is_nnue(network_file(net)):
        raise _option_error(field, command, f"FV_SCALE={scale}: {net} is no nn.bin and has a scale of its own")
    if named is not None and not is_nnue(network_file(net)):
        raise _option_error(field, command, f"EvalArchitecture={named}: {net} is no nn.bin and describes itself")
    level = level_named(values.text("Level"))
    if level is not None and (why := level.why_weakened(nodes, depth)):
        raise _option_error(field, command, f"Level={level.name}: {why}")
    skipped = sum(1 << bit for bit, step in enumerate(_STEPS) if values.flag(step.name))
    player = Player(
        chosen_network(values, can_be_set),
        nodes,
        depth,
        # A parameter that is given at its default overrides the other default of short searches.
        {one.name: values.number(one.name) for one in _PARAMETERS if values.is_set(one.name)},
        EVERY_STEP & ~skipped,
        values.number("USI_Hash"),
        (values.number("Draw_Value_Black") / 1000, values.number("Draw_Value_White") / 1000),
        level,
    )
    chosen = {
        option.name: values.text(option.name)
        for option in OPTIONS
        if values.is_set(option.name)
        and option.name != "EvalFile"
        and (option.name in SHORT or values.text(option.name) != str(option.default))
    }
    return NamedPlayer(player, net, chosen)


def _puct_player(network_path: Path, options: Sequence[str], nodes: int, depth: int, field: str) -> NamedPlayer:
    if depth or not 2 <= nodes <= MOST_VISITS:
        raise OptionError(
            f"{network_path}: is played by PUCT, which is limited by `nodes`, 2 to {MOST_VISITS:,} as records have "
            "room for, and not by `depth`",
            "nodes",
            "depth",
        )
    if options:
        raise _option_error(field, str(network_path), f"{options[0]}: a PUCT player in this process has no options")
    return NamedPlayer(PuctPlayer(network_path.read_bytes(), nodes), str(network_path), {})


def _option_error(field: str, player: str, words: str) -> ValueError:
    return OptionError(f"`{field}` {words}", field) if field else ValueError(f"{player}: {words}")


def _set(values: OptionValues, setting: str) -> None:
    """Set an option. Raises ValueError."""
    name, equals, text = setting.partition("=")
    if not equals:
        raise ValueError("write NAME=VALUE")
    known = {option.name.lower(): option.name for option in OPTIONS}
    if name.lower() not in known:
        close = difflib.get_close_matches(name.lower(), known, 1)
        hint = f"did you mean {known[close[0]]}?" if close else f"it has {', '.join(known.values())}"
        raise ValueError(f"a player in this process has no such option; {hint}")
    values.set(name, text)
