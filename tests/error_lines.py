"""Lines of standard error of a process that a test has started."""

from __future__ import annotations

NOTICES = ("compiles the same code; waiting for it", "for this CPU, only once")


def error_lines(errors: str | bytes) -> list[str]:
    """Return the lines of standard error that are not notices about compiling."""
    text = errors if isinstance(errors, str) else errors.decode()
    return [line for line in text.splitlines() if not any(notice in line for notice in NOTICES)]
