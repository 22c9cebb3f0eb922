"""Fixtures of all experiments: positions without games, and a Ray cluster on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lite.datasets.conversion import Conversion
from lite.datasets.convert import convert
from lite.records.formats import NO_RESULT, hcpe_dtype
from tests.experiments.scripted_engine import scripted
from tests.experiments.small_resnet import onnx_file, trained

__all__ = ["cluster", "onnx_file", "scripted", "trained", "without_games"]

SAMPLE = Path(__file__).parents[2] / "experiments" / "sample" / "valid_sample.hcpe3"


@pytest.fixture(scope="session")
def without_games(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A hundred hcpe records."""
    path = tmp_path_factory.mktemp("sample") / "played.hcpe"
    convert(Conversion((SAMPLE,), path))
    records = np.fromfile(path, hcpe_dtype)[:100]
    records["padding"], records["result"] = NO_RESULT, 0
    return records.tobytes()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """The head of a Ray cluster, with one CPU."""
    made = pytest.importorskip("ray.cluster_utils").Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    yield made
    made.shutdown()
