"""Figures of matplotlib as files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from search.system.files import write_atomically

AS_TYPED: Any = {"text.parse_math": False}
"""Settings for names from users: text between two dollar signs is not a formula."""


def write_figure(figure: Any, path: Path) -> None:
    """Lay a figure out tightly and save it, see `save_figure`."""
    figure.tight_layout()
    save_figure(figure, path)


def save_figure(figure: Any, path: Path) -> None:
    """Save and close a figure: as SVG if the path ends in .svg, else as PNG."""
    from matplotlib import pyplot

    content = io.BytesIO()
    if path.suffix.lower() == ".svg":
        figure.savefig(content, format="svg", metadata={"Date": None})  # equal pictures give equal files
    else:
        figure.savefig(content, format="png", dpi=110)
    pyplot.close(figure)
    write_atomically(path, content.getvalue())
