"""Commands that remedy an error: packages name the file at fault and its kind, and the command is written here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from liteshogi.word_order import spelling
from search.system.command_line import shell_text


def remedy(error: BaseException) -> str:
    """Return the command that remedies an error, or an error that caused it, as the end of its line; else "".

    Classes of errors are looked up among the loaded modules: an error of a module that is not loaded cannot have been
    raised.
    """
    for one in _causes(error):
        if command := _command(one):
            return f": {command}"
    return ""


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _command(error: BaseException) -> str:
    if isinstance(error, _class("experiments.network_kinds.kind", "UnplayableNetwork")):
        return _of_unplayable(error)
    if isinstance(error, _class("search.evaluation.network_file", "NetworkFolder")):
        return _of_folder(error.path)
    if isinstance(error, _class("experiments.network_kinds.exporting", "UnsuitableSuffix")) and error.unfolded:
        return _fold(error.network_path)
    if isinstance(error, _class("search.evaluation.nnue_identification", "MissingSetting")):
        value = {"architecture": "NAME", "fv_scale": "N"}[error.field]
        return f"liteshogi import {_quoted(error.path)} -o net.safetensors {spelling(error.field, None)} {value}"
    if isinstance(error, _class("lite.training.checkpoint", "UnfoldedCorrection")):
        return f"liteshogi fold {_quoted(error.path)} --onto NET -o net.safetensors"
    if isinstance(error, _class("export.fold", "UnfoldableNnBin")):
        return f"liteshogi import {_quoted(error.path)} -o net.safetensors"
    if isinstance(error, _class("lite.records.formats", "NotRecords")):
        return f"liteshogi convert {_quoted(error.path)} -o {_quoted(error.path.stem or 'games')}.hcpe3"
    if isinstance(error, _class("experiments.labels.yardstick", "MissingYardstick")):
        return f"liteshogi yardstick HELD-OUT-GAMES -o {_quoted(error.name)}"
    if isinstance(error, _class("experiments.labels.yardstick", "UnfinishedYardstick")):
        return shell_text(("liteshogi", *error.arguments))
    return ""


def _class(module: str, name: str) -> Any:
    """Return a class of a loaded module, or an empty tuple, of which nothing is an instance."""
    return getattr(sys.modules.get(module), name, ())


def _of_unplayable(error: Any) -> str:
    return _made_playable(error.network_path, error.kind.name)


def _of_folder(path: Path) -> str:
    """Return the command that makes a network file of a training run's folder; "" for another folder."""
    from experiments.network_kinds.kind import kind_of

    try:
        return _made_playable(path, kind_of(path).name)
    except (OSError, ValueError):
        return ""


def _made_playable(network_path: object, kind: str) -> str:
    match kind:
        case "VALUE":
            return _fold(network_path)
        case "POLICY_VALUE":
            return f"liteshogi export {_quoted(network_path)} -o net.onnx"
    return ""


def _fold(network_path: object) -> str:
    return f"liteshogi fold {_quoted(network_path)} -o net.safetensors"


def _quoted(path: object) -> str:
    return shell_text((str(path),))
