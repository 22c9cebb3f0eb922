"""`liteshogi explain`: contributions of the pieces to a network's evaluation, as text and as a picture."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from experiments.explain.as_text import as_text, difference_as_text
from experiments.explain.explain import compare, differences_as_json, explain
from experiments.language.choose import Language, words_for
from experiments.language.words import Words
from liteshogi.commands.arguments import Json, Overwrite
from search.system.files import check_output
from search.system.options import OptionError


@dataclass(frozen=True)
class Command:
    """Show each piece's contribution to the evaluation, and the evaluation after each legal move."""

    sfen: tyro.conf.Positional[str]
    """Position in quotes: an SFEN or `startpos`, optionally with `moves 7g7f ...`."""
    net: str | None = None
    """Network of any kind: a file, the folder of a training run, or the name of a shipped one. Default: `default`."""
    compare: tuple[str, str] | None = None
    """Explain two networks, and show the pieces on which they disagree most."""
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    """Picture to write, .svg or .png: the board coloured by contribution, one board per network."""
    overwrite: Overwrite = False
    language: Language = "auto"
    """Language of text, picture and errors: ja, en, or auto. auto is Japanese if the system's locale is Japanese."""
    json: Json = False

    @property
    def words(self) -> Words:
        """Return the texts of the reader's language."""
        return words_for(self.language)

    def run(self) -> None:
        if self.net is not None and self.compare is not None:
            raise OptionError("`net` and `compare` both name networks; choose one", "net", "compare")
        if self.output is not None:
            check_output(self.output, (".svg", ".png"), self.overwrite)
        found = [explain(net, self.sfen) for net in self.compare or (self.net or "default",)]
        words = self.words
        differences = compare(*found) if self.compare else None
        if self.output is not None:
            from experiments.explain.picture import draw_contributions

            draw_contributions(found, self.output, words)
        if self.json:
            figures = found[0].as_json() if differences is None else differences_as_json(found, differences)
            print(json.dumps(figures))
            return
        print("\n\n".join(as_text(one, words) for one in found))
        if differences is not None and self.compare:
            print("\n" + difference_as_text(self.compare, differences, words))
