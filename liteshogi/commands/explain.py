"""`liteshogi explain`: why a network values a position as it does, in figures and as a picture."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from experiments.explain.as_text import as_text, difference_as_text
from experiments.explain.explain import compare, explain
from liteshogi.commands.arguments import Json, Overwrite
from search.system.files import check_output


@dataclass(frozen=True)
class Command:
    """Tell what each piece contributes to a network's value of a position, and the static value after each move."""

    sfen: tyro.conf.Positional[str]
    """The position: an SFEN in quotes, or `startpos`."""
    net: str | None = None
    """A network of any kind: a file, a run's directory, or the name of one that is shipped; `default` if none is
    named."""
    compare: tuple[str, str] | None = None
    """Two networks instead, and the pieces on which they disagree most."""
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    """The board coloured by contribution, as .svg or .png; two boards of two networks."""
    overwrite: Overwrite = False
    json: Json = False

    def run(self) -> None:
        if self.net is not None and self.compare is not None:
            raise ValueError("--compare names both networks: leave --net out, or name that network there")
        if self.output is not None:
            check_output(self.output, (".svg", ".png"), self.overwrite)
        found = [explain(net, self.sfen) for net in self.compare or (self.net or "default",)]
        differences = compare(*found) if self.compare else None
        if self.output is not None:
            from experiments.explain.picture import draw_contributions

            draw_contributions(found, self.output)
        if self.json:
            figures = found[0].figures
            if differences is not None:
                figures = {"nets": [one.figures for one in found], "differences": differences}
            print(json.dumps(figures))
            return
        print("\n\n".join(as_text(one) for one in found))
        if differences is not None and self.compare:
            print("\n" + difference_as_text(self.compare, differences))
