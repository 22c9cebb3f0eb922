"""Files of a training run: the network, which users share, and the training state, which only a resume needs.

Both are safetensors files (plain arrays and a JSON header: reading one runs no code), written to a temporary file and
moved into place, so that a crash leaves the old or the new file whole. A checksum covers everything that is read.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from lite.networks.build import network_from_config
from lite.networks.shapes import shapes_alone
from lite.networks.value_network import ValueNetwork
from lite.training.folder import network_file
from lite.training.optimiser_steps import Optimiser
from search.system.files import require_file, require_utf8, write_atomically
from search.system.metadata import one_line, parse_json, sort_header

NETWORK = "liteshogi network"
STATE = "liteshogi training state"
VERSION = "2"

Module = TypeVar("Module", bound=torch.nn.Module)


def file_format(path: Path) -> str:
    """Return the format that a safetensors file names; empty if it names none. Raises OSError or ValueError."""
    require_file(path)
    require_utf8(path)
    try:
        with safe_open(path, "pt") as file:
            return str((file.metadata() or {}).get("format", ""))
    except SafetensorError as error:
        raise ValueError(f"{path}: not a safetensors file, or only a part of one ({one_line(error, 400)})") from None


def _checksum(tensors: dict[str, torch.Tensor], data: str) -> str:
    """Return the CRC-32 of the JSON and every tensor with its name, type and shape."""
    total = zlib.crc32(data.encode())
    for name in sorted(tensors):
        array = np.ascontiguousarray(tensors[name].numpy())
        total = zlib.crc32(f"\0{name} {array.dtype.str} {tuple(tensors[name].shape)}\0".encode(), total)
        total = zlib.crc32(array.reshape(-1).view(np.uint8).data, total)
    return f"{total:08x}"


@contextmanager
def named_errors(path: Path, what: str) -> Iterator[None]:
    """Within the block, turn every error of wrong contents into a ValueError of one line that names the file."""
    try:
        yield
    except KeyError as error:
        raise ValueError(f"{path}: {what}: {error} is missing in it") from None
    except (
        TypeError, ValueError, AttributeError, IndexError, OverflowError, RuntimeError, SafetensorError
    ) as error:  # fmt: skip
        raise ValueError(f"{path}: {what}: {one_line(error, 400)}") from None


def read_tensors(path: Path, kind: str) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Return the tensors and the JSON of a file that `write_tensors` wrote as `kind`.

    Raises FileNotFoundError or ValueError, also for numbers that are not finite.
    """
    found = file_format(path) or "safetensors file of another program"
    if found != kind:
        raise ValueError(f"{path}: this is a {one_line(found)}, not a {kind}; give a training run, or a file of one")
    with named_errors(path, f"not a {kind}, or only a part of one; copy or train it again"):
        with safe_open(path, "pt") as file:
            header = file.metadata()
            version, text = header.get("version"), header["data"]
            # Copies: what is a view of the file changes with it, and keeps Windows from replacing it.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 (not a mapping)
        data = parse_json(text)
        if not isinstance(data, dict):
            raise ValueError("its description is no JSON object")
    if version != VERSION:
        found = f"a {kind} of version {one_line(version)}; this program reads version {VERSION}"
        raise ValueError(f"{path}: {found}; train it again")
    if header.get("checksum") != _checksum(tensors, text):
        raise ValueError(f"{path}: the checksum does not fit: the file is damaged; copy or train it again")
    for name, tensor in tensors.items():
        # In one dimension: PyTorch computes with no more than 64, which a forged file may have.
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor.reshape(-1)).all()):
            raise ValueError(f"{path}: {one_line(name)} holds numbers that are not finite; copy or train it again")
    return tensors, data


def write_tensors(path: Path, kind: str, tensors: dict[str, torch.Tensor], data: dict[str, Any]) -> None:
    """Write a safetensors file whose header names its `kind` and holds JSON data, atomically."""
    tensors = {name: tensor.contiguous().cpu() for name, tensor in tensors.items()}
    text = json.dumps(data, sort_keys=True)
    header = {"format": kind, "version": VERSION, "data": text, "checksum": _checksum(tensors, text)}
    write_atomically(path, sort_header(save(tensors, header)))


@dataclass(frozen=True)
class SavedTraining:
    """The training of a network, as its file describes it."""

    cp_per_logit: float | None
    """Scale of the network's centipawns; None if the file has none."""
    provenance: Mapping[str, Any]
    """Everything that was saved about the training: JSON as the version that trained the network wrote it; see
    `NetworkOrigin`."""

    @property
    def corrected(self) -> str | None:
        """SHA-256 of the network that the trained one corrects; None if it stands alone."""
        options = self.provenance.get("options")
        return options.get("correct") if isinstance(options, Mapping) else None


class UnfoldedCorrection(ValueError):
    """The error for a correction in the place of a network that stands alone; carries its path."""

    def __init__(self, path: Path | str, corrected: str) -> None:
        super().__init__(
            f"{path}: is a correction of the network of SHA-256 {corrected}, without which it evaluates nothing; fold "
            "it onto that network"
        )
        self.path = path


def save_model(path: Path, model: ValueNetwork, training: Mapping[str, Any]) -> None:
    """Write a network with its configuration and `training`: its data, options, figures and scale as JSON."""
    save_module(path, NETWORK, model, training)


def load_model(path: Path | str) -> tuple[ValueNetwork, SavedTraining]:
    """Return a network in evaluation mode and its training; `path` may be the folder of its run.

    Raises FileNotFoundError, or ValueError for a foreign, truncated or inconsistent file.
    """
    return load_module(path, NETWORK, network_from_config)


def load_standalone_model(path: Path | str) -> tuple[ValueNetwork, SavedTraining]:
    """Return what `load_model` returns. Raises as it does, and UnfoldedCorrection for a correction of a network."""
    model, training = load_model(path)
    if training.corrected is not None:
        raise UnfoldedCorrection(path, training.corrected)
    return model, training


def save_module(path: Path, kind: str, module: torch.nn.Module, training: Mapping[str, Any]) -> None:
    """Write a module with its `config`, JSON that builds it again, and its training as a file that names its `kind`."""
    write_tensors(path, kind, module.state_dict(), {"network": module.config, "training": dict(training)})


def load_module(path: Path | str, kind: str, build: Callable[[Any], Module]) -> tuple[Module, SavedTraining]:
    """Return a module in evaluation mode and its training, from a file of any kind.

    `build` makes the module of a configuration, or raises ValueError. It is built on the device `meta` first: a forged
    configuration of a few bytes could ask for more memory than there is. Raises as `load_model`.
    """
    path = network_file(Path(path))
    tensors, data = read_tensors(path, kind)
    with named_errors(path, f"not a {kind}"):
        config, training = data["network"], data["training"]
        scale = training.get("cp_per_logit")
        is_number = isinstance(scale, int | float) and not isinstance(scale, bool)
        if "cp_per_logit" in training and not (is_number and 0 < scale < float("inf")):
            raise ValueError(f"its cp_per_logit {scale!r} is not a positive number; train it again")
    with named_errors(path, "the weights do not fit the configuration stored with them"):
        with shapes_alone():
            wanted = {name: tuple(tensor.shape) for name, tensor in build(config).state_dict().items()}
        found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
        for name in sorted(wanted.keys() | found.keys()):
            if wanted.get(name) != found.get(name):
                raise ValueError(f"{name} should be {wanted.get(name, 'absent')}, is {found.get(name, 'absent')}")
        model = build(config)
        model.load_state_dict(tensors)
    return model.eval(), SavedTraining(None if scale is None else float(scale), training)


def save_state(path: Path, parts: dict[str, dict[str, torch.Tensor]], data: dict[str, Any]) -> None:
    """Write everything that a resumed run needs: groups of tensors by name, and JSON."""
    tensors = {f"{group}/{name}": tensor for group, members in parts.items() for name, tensor in members.items()}
    write_tensors(path, STATE, tensors, data)


def load_state(path: Path) -> tuple[dict[str, dict[str, torch.Tensor]], dict[str, Any]]:
    """Return the tensors and the JSON that `save_state` wrote. Raises FileNotFoundError or ValueError."""
    tensors, data = read_tensors(path, STATE)
    parts: dict[str, dict[str, torch.Tensor]] = {}
    for name, tensor in tensors.items():
        group, _, member = name.partition("/")
        parts.setdefault(group, {})[member] = tensor
    return parts, data


def optimiser_tensors(optimiser: Optimiser) -> dict[str, torch.Tensor]:
    """Return an optimiser's tensors by "parameter number/name"; its hyperparameters come from the options."""
    return {
        f"{index}/{name}": value
        for index, parameter in enumerate(optimiser.parameters)
        for name, value in optimiser.state.get(parameter, {}).items()
    }


def restore_optimiser(optimiser: Optimiser, tensors: dict[str, torch.Tensor]) -> None:
    """Restore what `optimiser_tensors` returned. Raises ValueError, or errors of torch, for tensors that do not fit."""
    parameters = optimiser.parameters
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, tensor in tensors.items():
        index, name = key.split("/", 1)
        if not 0 <= int(index) < len(parameters) or tensor.shape != (
            torch.Size() if name == "step" else parameters[int(index)].shape
        ):
            raise ValueError(f"the optimiser's {key} is of no parameter of the network")
        state.setdefault(int(index), {})[name] = tensor
    if len({frozenset(values) for values in state.values()}) > 1:
        raise ValueError("the optimiser does not hold the same of every parameter")
    for number, values in state.items():
        parameter = parameters[number]
        optimiser.state[parameter] = {
            # In the parameter's own memory order (channels last), which fused steps require.
            name: value.to(parameter.device)
            if name == "step"
            else torch.empty_like(parameter, requires_grad=False).copy_(value)
            for name, value in values.items()
        }


def json_safe(value: Any) -> Any:
    """Return a value with the NumPy scalars and paths in its containers as JSON values."""
    if isinstance(value, dict):
        return {str(key): json_safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_safe(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Path):
        return str(value)
    return value
