"""The shapes of a network are known without building it and without PyTorch's compiler."""

from __future__ import annotations

import subprocess
import sys

_EVERY_KIND = """
import sys
import torch
from experiments.resnet.network import PolicyValueNetwork, ResnetConfig
from lite.networks.dense import DenseConfig
from lite.networks.lite_value import LiteConfig
from lite.networks.nnue import HalfKpConfig, KpConfig
from lite.networks.shapes import shapes_alone
from lite.networks.untied import UntiedConfig

kinds = [
    DenseConfig(8, (4,), 2, draw=True, king="zones", buckets=2).build,
    LiteConfig((4, 2, 8)).build,
    UntiedConfig((4, 2, 8), perspectives=2).build,
    HalfKpConfig(32, (8,)).build,
    KpConfig(32, (8, 4)).build,
    lambda: PolicyValueNetwork(ResnetConfig(1, 4, squeeze=2, draw=True)),
]
def shapes(network):
    return {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
known = []
for build in kinds:
    with shapes_alone():
        sketch = build()
    assert all(tensor.is_meta for tensor in sketch.state_dict().values())
    known.append(shapes(sketch))
assert not {"sympy", "torch._dynamo"} & sys.modules.keys() or torch.__version__.startswith("2.9.")  # which loads SymPy
assert known == [shapes(build()) for build in kinds]
"""


def test_shapes_are_known_without_building_the_network():
    done = subprocess.run([sys.executable, "-c", _EVERY_KIND], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
