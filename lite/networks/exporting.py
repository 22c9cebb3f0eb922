"""Operations in the form that the exporter to ONNX can write."""

from __future__ import annotations

import torch


def exporting() -> bool:
    """Return whether the module is being exported to ONNX, which lacks some operations."""
    return bool(torch.compiler.is_exporting() or torch.onnx.is_in_onnx_export())


def sum_rows_to_export(table: torch.Tensor, rows: torch.Tensor, padding: int) -> torch.Tensor:
    """Return an embedding bag by operations of ONNX, for any number of positions; `padding` marks "no row"."""
    return (table[rows] * (rows != padding).unsqueeze(2).to(table.dtype)).sum(1)
