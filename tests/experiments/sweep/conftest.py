"""What the tests of sweeps describe them by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from experiments.sweep.configuration import Point
from experiments.sweep.work import SweepWorker

MEASURE = '[measure]\nvalid = ["v.hcpe3"]\nyardstick = ["y.hcpe"]\n'
TRAIN = '[train]\nkind = "dense"\ndata = ["d.hcpe"]\nlambda = 1.0\n'
GRID = "[[space]]\nwidth = [32, 64]\nhidden = [[8], [16, 16]]\nseed = [0, 1]\n"


def described(folder: Path, text: str) -> Path:
    path = folder / "sweep.toml"
    path.write_text(text)
    return path


def figures_of(point: Point) -> dict[str, Any]:
    """Invented, the better the dearer."""
    width = point.options.get("width") or 10 * point.options["dims"][0]
    invented = {"d1_rmse": 1 / width, "d1_rmse_error": 0.001, "accuracy": 0.6, "log_loss": 0.6, "evaluation_ns": width}
    maker = {"cpu": "One CPU", "kernel": "avx2", "version": "1", "commit": "a"}
    told = {"label": point.label, "options": dict(point.options), "net": "n", "nps": 1000, "bytes": 1, "sha256": "0"}
    return invented | maker | told | {"features": "piece_square", "shape": [width, 1], "multiply_adds": width}


@pytest.fixture
def invented(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Points that cost nothing; the labels of those that were done."""
    done: list[str] = []

    def measured(_: SweepWorker, point: Point) -> dict[str, Any]:
        done.append(point.label)
        if point.options.get("width") == 64:
            raise ValueError("no net\nof this width")
        return figures_of(point)

    monkeypatch.setattr(SweepWorker, "_measured", measured)
    return done
