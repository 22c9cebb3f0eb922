"""What a process that a test has started complains of."""

from __future__ import annotations


def complaints(errors: str | bytes) -> list[str]:
    """The lines of its standard error, less the one that is no complaint: that another process, a test's perhaps, is
    just compiling what both need."""
    text = errors if isinstance(errors, str) else errors.decode()
    return [line for line in text.splitlines() if not line.endswith("compiles the same code; waiting for it")]
