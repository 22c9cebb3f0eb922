"""A win by force that is no mate, a declaration or the opponent's perpetual check, is not called one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from experiments.analyse.analyse import Analysing, analyse_games
from experiments.analyse.annotated_kif import without_analysis
from lite.notation.game import Game
from lite.notation.games import read_games

ENTERED = "sfen KRRBBGGS1/GGSSPPP2/PPPP5/9/9/9/9/9/8k b - 1 moves 2a1b+ 1i1h"
"""Black can declare at once, and still can after a move."""
CHECKS = "sfen 8k/9/9/9/9/9/9/7R1/K8 b - 1 moves" + 3 * " 2h1h 1a2a 1h2h 2a1a"
"""Black gives check until the position has come four times."""


@pytest.mark.parametrize(
    ("line", "shown", "words"),
    [
        (ENTERED, ["入玉宣言", "先手勝ち（入玉宣言）", "入玉宣言"], "入玉宣言で勝ち"),
        (CHECKS, 2 * ["後手勝ち（連続王手の千日手）"], "連続王手の千日手で勝ち"),
    ],
    ids=["declaration", "perpetual check"],
)
def test_page_terminal_and_kif_name_the_way_to_win(
    line: str, shown: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "game.usi").write_text(f"{line}\n")
    options = Analysing("default", (tmp_path / "game.usi",), nodes=300, multipv=2, hash_mb=4, language="ja")
    (found,) = analyse_games(options).games
    data = re.search(r'<script type="application/json" id="game">(.*?)</script>', found.page.read_text("utf-8"))
    assert data is not None
    steps = json.loads(data[1])["steps"]
    assert [step["lines"][0]["text"] for step in steps[-len(shown) :]] == shown
    progress = capsys.readouterr().err.splitlines()
    assert all(text in line for text, line in zip(shown[::-1], progress[::-1], strict=False))
    assert f"\n*#詰み={'先手' if line is ENTERED else '後手'}勝ち\n*{words}\n" in found.kif.read_text("utf-8")
    (again,) = read_games(found.kif, unfinished=True)
    assert isinstance(again, Game)
    assert without_analysis(again.comments[len(again.moves)]) == []
