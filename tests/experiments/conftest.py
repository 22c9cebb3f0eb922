"""For all experiments: positions of the sample behind which no game stands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lite.datasets.convert import Conversion, convert
from lite.records.formats import NO_RESULT, hcpe_dtype
from tests.experiments.scripted_engine import scripted
from tests.experiments.small_resnet import onnx_file, trained

__all__ = ["onnx_file", "scripted", "trained", "without_games"]

SAMPLE = Path(__file__).parents[2] / "experiments" / "sample" / "valid_sample.hcpe3"


@pytest.fixture(scope="session")
def without_games(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A hundred hcpe records."""
    path = tmp_path_factory.mktemp("sample") / "played.hcpe"
    convert(Conversion((SAMPLE,), path))
    records = np.fromfile(path, hcpe_dtype)[:100]
    records["padding"], records["result"] = NO_RESULT, 0
    return records.tobytes()
