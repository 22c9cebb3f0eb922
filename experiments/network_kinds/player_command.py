"""The USI command that plays with a network."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.network_kinds.kind import Kind, UnplayableNetwork, kind_of
from search.alphabeta.parameters import PARAMETERS
from search.evaluation.network import EvalNetwork
from search.evaluation.network_file import load_network
from search.evaluation.nnue_file import is_nnue
from search.evaluation.shipped import is_shipped
from search.system.files import require_file
from search.system.options import OptionError
from search.usi.network_options import NETWORK_OPTIONS, network_choice, with_options
from search.usi.usi_options import OptionValues

_NETWORK_OPTIONS = [option.name.lower() for option in NETWORK_OPTIONS]
_PARAMETERS = {parameter.name for parameter in PARAMETERS}


def as_player(command: str, options: Sequence[str] | None = None) -> tuple[str, tuple[str, ...]]:
    """Return the command and all options of the USI engine that a user names with NAME=VALUE options.

    `options`: None where the user can give none. This engine declares its search's parameters if one is among them. A
    network is read as the options say, so that a damaged file is reported before any game is lost by it. Raises as
    `engine_of` and `chosen_network` do.
    """
    program, settings = engine_of(command)
    if settings:
        values = OptionValues(NETWORK_OPTIONS)
        values.set("EvalFile", command)
        for setting in options or ():
            name, _, text = setting.partition("=")
            if name.lower() in _NETWORK_OPTIONS:
                values.set(name, text)
        chosen_network(values, options is not None)
    names = {setting.partition("=")[0].lower() for setting in options or ()}
    if names & _PARAMETERS and (program == "liteshogi" or _is_source_tree(command)):
        program += " --tunable"
    return program, (*settings, *(options or ()))


def chosen_network(values: OptionValues, can_be_set: bool) -> EvalNetwork:
    """Return the network that the values of `NETWORK_OPTIONS` choose.

    Raises OSError or ValueError as `load_network` does; where the options can be set, an error names the option at
    fault.
    """
    try:
        return load_network(*network_choice(values))
    except OptionError as error:
        if not can_be_set:
            raise
        raise ValueError(with_options(error)) from None


def engine_of(command: str) -> tuple[str, tuple[str, ...]]:
    """Return the command and the options of the USI engine that a user names, without reading a network.

    A network's file or shipped name stands for this engine with that network, and the folder of another source tree of
    this engine stands for the engine in it. Any other text is a command itself. Raises OSError, UnplayableNetwork, or
    ValueError for a damaged safetensors file, a pipe or a device.
    """
    path = Path(command)
    if _is_source_tree(command):
        return _source_tree(path), ()
    # os.path returns False for a command that is too long for a path, where pathlib raises.
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        require_file(path)
    is_network = os.path.isfile(path) and (path.suffix.lower() in (".safetensors", ".onnx") or is_nnue(path))
    is_run = os.path.isdir(path) and command != "liteshogi"  # the program's name, also in its own source tree
    if not is_shipped(command) and not is_network and not is_run:
        return command, ()
    kind = kind_of(command)
    if kind is Kind.FOLDED:
        return "liteshogi", (f"EvalFile={command if is_shipped(command) else path.absolute()}",)
    if kind is Kind.POLICY_VALUE_ONNX:
        return f"liteshogi puct {shlex.quote(str(path.absolute()))}", ()
    raise UnplayableNetwork(command, kind)


def _is_source_tree(command: str) -> bool:
    """Return whether a command is the folder of another source tree of this engine."""
    return command != "liteshogi" and os.path.isfile(Path(command) / "liteshogi" / "__main__.py")


def _source_tree(folder: Path) -> str:
    """Return the command of the engine whose sources are in a folder, run by this Python with its libraries."""
    start = (
        f"import sys; sys.path.insert(0, {folder.absolute().as_posix()!r}); from liteshogi.__main__ import main; main()"
    )
    return shlex.join([Path(sys.executable).as_posix(), "-c", start])
