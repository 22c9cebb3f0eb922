"""The kinds of network files, detected from their contents."""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import ClassVar

from safetensors import SafetensorError, safe_open

from lite.training.folder import NETWORK_NAME
from search.evaluation.shipped import network_file
from search.system.files import require_file, require_utf8
from search.system.metadata import one_line
from search.system.paths import PathLike


class Kind(Enum):
    """Kind of a network file; the value describes it in error messages."""

    FOLDED = "a folded network"
    VALUE = "a trained value network"
    POLICY_VALUE = "a trained policy-value network"
    VALUE_ONNX = "a value network in ONNX"
    POLICY_VALUE_ONNX = "a policy-value network in ONNX"

    @property
    def has_policy(self) -> bool:
        """Whether networks of this kind have a policy head."""
        return self in (Kind.POLICY_VALUE, Kind.POLICY_VALUE_ONNX)


NETWORK_SUFFIXES = (".safetensors", ".bin", ".nnue", ".onnx")
_FORMATS = {"liteshogi network": Kind.VALUE, "liteshogi policy-value network": Kind.POLICY_VALUE}


class UnsuitableNetwork(ValueError):
    """The error for a network whose kind cannot be used for a purpose; carries the network's path and kind."""

    def __init__(self, network_path: PathLike, kind: Kind, complaint: str) -> None:
        """`complaint` continues the sentence that names path and kind, from the relative pronoun on."""
        super().__init__(f"{os.fspath(network_path)}: is {kind.value}, {complaint}")
        self.network_path, self.kind = os.fspath(network_path), kind


class UnplayableNetwork(UnsuitableNetwork):
    """The error for a network that no engine here plays."""

    REMEDIES: ClassVar[Mapping[Kind, str]] = {
        Kind.VALUE: "fold it first",
        Kind.POLICY_VALUE: "export it as ONNX first",
        Kind.VALUE_ONNX: "use the folded network that it was made from",
    }

    def __init__(self, network_path: PathLike, kind: Kind) -> None:
        super().__init__(network_path, kind, f"which no engine here plays; {self.REMEDIES[kind]}")


def has_network_suffix(name: PathLike) -> bool:
    """Return whether a name ends like that of a network's file, in letters of either case."""
    return Path(name).suffix.lower() in NETWORK_SUFFIXES


def network_file_of(network_path: PathLike) -> Path:
    """Return the file of a network that is named by a path, a shipped name, or the folder of a training run."""
    path = network_file(network_path)
    return path / NETWORK_NAME if path.is_dir() else path


def kind_of(network_path: PathLike) -> Kind:
    """Return the kind of a network that is named by a path, a shipped name, or the folder of a training run.

    A file of no other kind counts as folded; loading it reports what is wrong. Raises OSError, or ValueError for a
    damaged safetensors file.
    """
    path = network_file_of(network_path)
    if path.suffix.lower() == ".onnx":
        from search.puct.onnx_file import open_session

        planes = any(given.name == "input1" for given in open_session(path).get_inputs())
        return Kind.POLICY_VALUE_ONNX if planes else Kind.VALUE_ONNX
    if Path(network_path).is_dir() and not path.is_file():
        raise FileNotFoundError(
            f"{os.fspath(network_path)}: contains no {NETWORK_NAME}, so it is not the folder of a training run"
        )
    if path.exists():
        require_file(path)
    if path.suffix.lower() == ".safetensors" and path.is_file():
        require_utf8(path)
        try:
            with safe_open(path, "numpy") as file:
                return _FORMATS.get((file.metadata() or {}).get("format", ""), Kind.FOLDED)
        except SafetensorError as error:
            reason = one_line(error, 400)
            raise ValueError(f"{path}: not a safetensors file, or a truncated one ({reason})") from None
    return Kind.FOLDED
