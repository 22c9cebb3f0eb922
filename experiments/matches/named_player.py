"""A player of this engine's as a match names it: its network, and options by the names that USI gives them."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.games.player import Player, PuctPlayer
from experiments.network_kinds import as_player
from lite.records.formats import MOST_VISITS
from search.alphabeta.bench import search_signature
from search.alphabeta.parameters import EVERY_STEP, PARAMETERS, SHORT, STEPS
from search.evaluation.network_file import load_network
from search.evaluation.nnue_file import is_nnue
from search.evaluation.shipped import network_file
from search.system.bounds import MOST_MEGABYTES
from search.system.paths import PathLike
from search.usi.alphabeta import DEFAULT_FV_SCALE
from search.usi.options import Check, FileName, Option, OptionValues, Spin

NETWORKS = (".safetensors", ".bin", ".onnx")
HASH_MB = 16
"""Clearing a larger table takes as long as a short game."""
_PARAMETERS = tuple(Spin(one.name, one.default, one.low, one.high) for one in PARAMETERS)
_STEPS = tuple(Check(re.sub(r"\W", "_", f"skip_{name}"), False) for name in STEPS)
OPTIONS: tuple[Option, ...] = (
    Spin("USI_Hash", HASH_MB, 1, MOST_MEGABYTES),
    FileName("EvalFile", "default"),
    Spin("FV_SCALE", DEFAULT_FV_SCALE, 1, 128),
    Spin("Draw_Value_Black", 500, 0, 1000),
    Spin("Draw_Value_White", 500, 0, 1000),
    *_PARAMETERS,
    *_STEPS,
)


@dataclass(frozen=True)
class NamedPlayer:
    """A player, and what it was made from."""

    player: Player | PuctPlayer
    net: str
    """File of its network, or `default`."""
    chosen: dict[str, str]
    """The options that change something, but for its network."""

    @property
    def by_alphabeta(self) -> Player:
        """The player; ValueError in words for one that PUCT plays."""
        if isinstance(self.player, PuctPlayer):
            raise ValueError(f"{self.net}: is played by PUCT; name a network that alpha-beta plays")
        return self.player

    @property
    def signature(self) -> int | None:
        """Of the search by which the player's runs are known; PUCT has none."""
        return None if isinstance(self.player, PuctPlayer) else search_signature()

    def name(self, whole: bool) -> str:
        """For readers; with the `whole` path of its network."""
        limits = {what: getattr(self.player, what, 0) for what in ("nodes", "depth")}
        return player_name(self.net if whole else Path(self.net).name, limits, self.chosen)


def player_name(net: str, limits: Mapping[str, int], chosen: Mapping[str, str]) -> str:
    """What readers call a player of a network, of the nodes and the depth of a move, and of options."""
    words = [f"{most} {what}" for what, most in limits.items() if most]
    return f"{net} ({', '.join([*words, *(f'{option}={value}' for option, value in chosen.items())])})"


def plays_in_process(command: str) -> bool:
    """Whether `read_player` takes a command, or is to say what is wrong with it: a network, or this engine."""
    program, _ = as_player(command)
    if program.startswith("liteshogi puct"):
        return program != command  # the command itself is that of another process
    is_missing_network = Path(program).suffix in NETWORKS and not Path(program).is_file()
    return program == "liteshogi" or is_missing_network


def read_player(command: PathLike, options: Sequence[str], nodes: int, depth: int, flag: str) -> NamedPlayer:
    """A player of a network's file, `default` or `liteshogi`, with NAME=VALUE options; `flag` is what gives those.

    Raises OSError or ValueError in words, also for another engine."""
    command = os.fspath(command)
    program, settings = as_player(command)
    if program.startswith("liteshogi puct") and Path(command).is_file():
        return _puct_player(Path(command), options, nodes, depth, flag)
    if program != "liteshogi":
        kind = "PUCT" if program.startswith("liteshogi puct") else "another engine"
        if kind != "PUCT" and Path(program).suffix in NETWORKS:
            raise FileNotFoundError(f"{program}: there is no such network")
        raise ValueError(
            f"{command}: --nodes and --depth are for networks, named by their files, and this is {kind}; "
            "liteshogi match plays it by the clock: --byoyomi MILLISECONDS"
        )
    values, given = OptionValues(OPTIONS), set()
    for setting in (*settings, *options):
        try:
            given.add(_set(values, setting))
        except ValueError as error:
            raise ValueError(f"{flag} {setting}: {error}") from None
    scale, net = values.number("FV_SCALE"), values.text("EvalFile")
    if scale != DEFAULT_FV_SCALE and not is_nnue(network_file(net)):
        raise ValueError(f"{flag} FV_SCALE={scale}: {net} is no nn.bin, and has a scale of its own")
    skipped = sum(1 << bit for bit, step in enumerate(_STEPS) if values.flag(step.name))
    player = Player(
        load_network(net, None if scale == DEFAULT_FV_SCALE else scale),
        nodes,
        depth,
        # One that is given at its default is given to short searches, too, which may have another.
        {one.name: values.number(one.name) for one in _PARAMETERS if one.name in given},
        EVERY_STEP & ~skipped,
        values.number("USI_Hash"),
        (values.number("Draw_Value_Black") / 1000, values.number("Draw_Value_White") / 1000),
    )
    chosen = {
        option.name: values.text(option.name)
        for option in OPTIONS
        if option.name in given - {"EvalFile"}
        and (option.name in SHORT or values.text(option.name) != str(option.default))
    }
    return NamedPlayer(player, net, chosen)


def _puct_player(net: Path, options: Sequence[str], nodes: int, depth: int, flag: str) -> NamedPlayer:
    if depth or not 2 <= nodes <= MOST_VISITS:
        raise ValueError(
            f"{net}: is played by PUCT, of which --nodes are counted, 2 to {MOST_VISITS:,} as records have room for, "
            "and no --depth"
        )
    if options:
        raise ValueError(f"{flag} {options[0]}: a PUCT player in this process has no options")
    return NamedPlayer(PuctPlayer(net.read_bytes(), nodes), str(net), {})


def _set(values: OptionValues, setting: str) -> str:
    """Set an option; its name."""
    name, equals, text = setting.partition("=")
    if not equals:
        raise ValueError("write NAME=VALUE")
    known = {option.name.lower(): option.name for option in OPTIONS}
    if name.lower() not in known:
        close = difflib.get_close_matches(name.lower(), known, 1)
        hint = f"did you mean {known[close[0]]}?" if close else f"it has {', '.join(known.values())}"
        raise ValueError(f"a player in this process has no such option; {hint}")
    values.set(name, text)
    return known[name.lower()]
