"""Modules with shapes but without values, to know their size before memory is allocated.

PyTorch's device `meta` keeps no values. Random numbers and arithmetic there go through its compiler, which takes
seconds to load; here such a call leaves the tensor as it is, which has the shape already.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_SHAPE_STAYS = (torch.nn.init.normal_, torch.Tensor.div)


class _NoValues(TorchFunctionMode):
    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function in _SHAPE_STAYS:
            return args[0] if args else kwargs["tensor"]
        return (torch.empty if function is torch.randn else function)(*args, **(kwargs or {}))


@contextmanager
def shapes_alone() -> Iterator[None]:
    """Within the block, build modules on the device `meta`: they have shapes and no values."""
    with torch.device("meta"), _NoValues():
        yield
