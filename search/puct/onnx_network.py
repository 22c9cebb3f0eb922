"""A policy-value network in an ONNX file of dlshogi's format, run by onnxruntime.

Inputs `input1` float32 (positions, 62, 9, 9) and `input2` (positions, 57, 9, 9), outputs `output_policy` (positions,
2187), logits of the move labels, and `output_value` (positions, 1), the mover's win rate. Names, shapes and meanings
are those that dlshogi and its relatives load. A network that predicts draws has a third output, `output_draw`
(positions, 1), a probability.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from search.puct.onnx_file import Device, first_line, open_session
from search.puct.planes import LABELS, PLANES1, PLANES2, make_planes
from search.rules.sfen import position_from_sfen
from search.rules.shogi import START_SFEN
from search.system.metadata import one_line

INPUTS = {"input1": (PLANES1, 9, 9), "input2": (PLANES2, 9, 9)}
OUTPUTS = {"output_policy": (LABELS,), "output_value": (1,)}
DRAW_OUTPUT = "output_draw"
_CHECKED = (
    START_SFEN,
    "lr1g3nl/4k4/p2snP1+Pp/1Gp1p1p+B1/3n1b3/P1PS3l1/1P6P/2KS5/LN5s1 b R2P2g5p 99",
)
"""Positions of the trial run: the starting position, and one with pieces in hand and a king in check."""


class OnnxNetwork:
    """A network in a file of this format. Calling it returns policy, win rates and draw rates.

    Raises OSError, or ValueError that says how the file differs from the format.
    """

    def __init__(self, path: Path, device: Device = "cpu") -> None:
        self._session = open_session(path, device)
        self._check_signature(path)
        names = [output.name for output in self._session.get_outputs()]
        self._outputs = [name for name in (*OUTPUTS, DRAW_OUTPUT) if name in names]
        self._check_values(path)

    @property
    def has_draw(self) -> bool:
        """Whether the network predicts draws."""
        return DRAW_OUTPUT in self._outputs

    def __call__(self, input1: np.ndarray, input2: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Evaluate planes f4; return policy logits f4 (B, 2187), win rates f4 (B,) and draw probabilities f4 (B,) or
        None."""
        policy, win_rate, *draw = self._session.run(self._outputs, {"input1": input1, "input2": input2})
        return policy, win_rate.reshape(-1), draw[0].reshape(-1) if draw else None

    def win_rates(self, input1: np.ndarray, input2: np.ndarray) -> np.ndarray:
        """Evaluate planes f4; return win rates f4 (B,) alone, which leaves the policy on the device."""
        found = self._session.run(["output_value"], {"input1": input1, "input2": input2})
        return np.asarray(found[0]).reshape(-1)

    def _check_signature(self, path: Path) -> None:
        for what, wanted, found in (
            ("input", INPUTS, {given.name: given for given in self._session.get_inputs()}),
            ("output", OUTPUTS, {given.name: given for given in self._session.get_outputs()}),
        ):
            if missing := set(wanted) - set(found):
                raise ValueError(
                    f"{path}: not a policy-value network of dlshogi's format: no {what} {min(missing)}, it has "
                    f"{one_line(', '.join(found)) or 'none'}; export it with these names"
                )
            if what == "input" and (extra := set(found) - set(wanted)):
                name = one_line(min(extra))
                raise ValueError(f"{path}: it requires an input {name} that dlshogi's format does not have")
            for name, shape in wanted.items():
                _check_tensor(path, found[name], shape)

    def _check_values(self, path: Path) -> None:
        """Run the network on two positions: shapes may differ from the declared ones, and numbers may be invalid."""
        positions = [position_from_sfen(sfen) for sfen in _CHECKED]
        pieces = np.array([position["board"] for position in positions], np.uint8)
        hands = np.array([position["hands"].reshape(-1) for position in positions], np.uint8)
        try:
            policy, win_rate, draw = self(*make_planes(pieces, hands, np.array([False, True])))
        except Exception as error:
            raise ValueError(f"{path}: onnxruntime cannot run it on two positions: {first_line(error)}") from None
        if policy.shape != (2, LABELS) or win_rate.shape != (2,):
            raise ValueError(f"{path}: outputs {policy.shape} and {win_rate.shape} for two positions; export it again")
        for name, values in (("output_value", win_rate), (DRAW_OUTPUT, draw)):
            if values is not None and not ((values >= 0) & (values <= 1)).all():
                raise ValueError(
                    f"{path}: {name} must be a rate from 0 to 1, not {values[0]:g}; export it with a sigmoid"
                )
        if not np.isfinite(policy).all():
            raise ValueError(f"{path}: output_policy is not finite: the weights are damaged; copy or train it again")


def open_network(content: bytes, device: Device = "cpu") -> OnnxNetwork:
    """Return the network in an ONNX file's content. Raises as `OnnxNetwork` does."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.onnx"
        path.write_bytes(content)
        return OnnxNetwork(path, device)


def _check_tensor(path: Path, found: Any, shape: tuple[int, ...]) -> None:
    if found.type != "tensor(float)":
        raise ValueError(f"{path}: {found.name} must be float32, not {found.type}")
    # The size of a symbolic axis is unknown until the network runs; a number must be the right one.
    sizes = found.shape[1:]
    if len(found.shape) != 1 + len(shape) or any(
        isinstance(size, int) and size != wanted for size, wanted in zip(sizes, shape, strict=True)
    ):
        raise ValueError(
            f"{path}: {found.name} must be (positions, {', '.join(map(str, shape))}), not "
            f"({', '.join(one_line(size) for size in found.shape)}): the network is for other features or moves"
        )
    if isinstance(found.shape[0], int):
        raise ValueError(
            f"{path}: {found.name} takes exactly {found.shape[0]} positions at a time; export it with "
            f"a dynamic batch axis"
        )
