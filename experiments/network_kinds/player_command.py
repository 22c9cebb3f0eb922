"""The USI command that plays with a network."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from experiments.network_kinds.kind import Kind, UnplayableNetwork, kind_of
from search.evaluation.network_file import load_network
from search.evaluation.nnue_file import is_nnue
from search.evaluation.shipped import is_shipped
from search.system.files import require_file


def as_player(command: str) -> tuple[str, tuple[str, ...]]:
    """Return the command and the options of the USI engine that a user names.

    A network's file or shipped name stands for this engine with that network, and the folder of another source tree of
    this engine stands for the engine in it. Any other text is a command itself. Raises OSError, UnplayableNetwork, or
    ValueError for a damaged network, a pipe or a device.
    """
    path = Path(command)
    # os.path returns False for a command that is too long for a path, where pathlib raises.
    if command != "liteshogi" and os.path.isfile(path / "liteshogi" / "__main__.py"):
        return _source_tree(path), ()
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        require_file(path)
    is_network = os.path.isfile(path) and (path.suffix in (".safetensors", ".onnx") or is_nnue(path))
    is_run = os.path.isdir(path) and command != "liteshogi"  # the program's name, also in its own source tree
    if not is_shipped(command) and not is_network and not is_run:
        return command, ()
    kind = kind_of(command)
    if kind is Kind.FOLDED:
        load_network(command)  # a damaged file is reported before any game is lost by it
        return "liteshogi", (f"EvalFile={command if is_shipped(command) else path.absolute()}",)
    if kind is Kind.POLICY_VALUE_ONNX:
        return f"liteshogi puct {shlex.quote(str(path.absolute()))}", ()
    raise UnplayableNetwork(command, kind)


def _source_tree(folder: Path) -> str:
    """Return the command of the engine whose sources are in a folder, run by this Python with its libraries."""
    start = (
        f"import sys; sys.path.insert(0, {folder.absolute().as_posix()!r}); from liteshogi.__main__ import main; main()"
    )
    return shlex.join([Path(sys.executable).as_posix(), "-c", start])
