"""Detect the notation of a game file by its suffix, unless its first lines clearly belong to another notation.

Sites offer CSA or KIF as `.txt` (Shogi Quest), and users rename files. Read by its suffix alone, every line of such a
file would be refused without a helpful reason.
"""

from __future__ import annotations

import re
from pathlib import Path

from lite.notation.kif_lines import FILES, is_ki2

CSA, KIF, KI2, USI = "csa", "kif", "ki2", "usi"
SUFFIXES = {
    ".csa": CSA,
    ".kif": KIF,
    ".kifu": KIF,
    ".ki2": KI2,
    ".ki2u": KI2,
    ".usi": USI,
    ".sfen": USI,
    ".txt": USI,
}
_CSA_LINE = re.compile(
    r"V[0-9][0-9.]*\s*$|N[+-]|\$[A-Z_]+[+-]?:|PI(?:[1-9]{2}[A-Z]{2})*\s*(?:,|$)|P[1-9][ *+-]|P[+-][0-9]{2}[A-Z]{2}"
    r"|[+-]\s*$|[+-][0-9]{4}[A-Z]{2}"
)
_KIF_LINE = re.compile(r"手数--|[0-9０-９]{1,6}\s+[▲△▼▽☗☖]?(?:[１-９1-9][一二三四五六七八九１-９1-9]|同)")
_USI_LINE = re.compile(r"(?:position\s|startpos\b|sfen\s|(?:[0-9a-zA-Z+]{1,18}/){8})")
_HEADER = re.compile(rf"[^：|]{{1,20}}：|[^\x00-\x7f][^：:|]{{0,19}}:|[|｜]|[+＋][-－]|{FILES}")
"""A header or a line of a diagram, in KIF and KI2."""


def game_format(path: Path) -> str | None:
    """Return `csa`, `kif`, `ki2` or `usi` by the file's suffix, or None for other suffixes."""
    return SUFFIXES.get(path.suffix.lower())


def detect_format(text: str, named: str) -> str:
    """Return the notation of a text, decided by the first line that occurs in one notation only; without such a line,
    `named`, the notation of the suffix."""
    headers = False
    for line in text.removeprefix("\ufeff").splitlines():
        line = line.strip()
        if not line or line[0] in "#*'&":
            continue
        found = _line_format(line, named)
        if found is not None:
            return found
        if not headers and not _HEADER.match(line):
            return named
        headers = True
    return KIF if headers and named in (CSA, USI) else named


def _line_format(line: str, named: str) -> str | None:
    """Return the notation that has such a line, preferably `named`; None if the line occurs in none or several."""
    forms = {CSA: _CSA_LINE.match(line), USI: _USI_LINE.match(line), KIF: _KIF_LINE.match(line), KI2: is_ki2(line)}
    if forms[named]:
        return named
    return next((form for form, match in forms.items() if match), None)
