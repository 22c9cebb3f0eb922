"""What the tests of sweeps describe them by."""

from __future__ import annotations

from pathlib import Path

MEASURE = '[measure]\nvalid = ["v.hcpe3"]\nyardstick = ["y.hcpe"]\n'
TRAIN = '[train]\nkind = "dense"\ndata = ["d.hcpe"]\nlambda = 1.0\n'
GRID = "[[space]]\nwidth = [32, 64]\nhidden = [[8], [16, 16]]\nseed = [0, 1]\n"


def described(folder: Path, text: str) -> Path:
    path = folder / "sweep.toml"
    path.write_text(text)
    return path
