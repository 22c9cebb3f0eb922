"""Files of openings."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.games.openings import read_openings
from experiments.games.player import Ending

LINES = ("startpos", "startpos moves 7g7f 3c3d", "4k4/9/9/9/9/9/9/5R3/8K b - 1")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_openings_of_all_editors_are_read(tmp_path: Path, encoding: str, end: str) -> None:
    """Editors of Windows write a byte order mark."""
    path = tmp_path / "openings.txt"
    path.write_bytes(end.join((*LINES, "# 平手", "")).encode(encoding))
    assert read_openings(path) == LINES


def test_an_opening_may_be_a_game_with_its_ending(tmp_path: Path) -> None:
    path = tmp_path / "games.usi"
    path.write_text("startpos moves 7g7f 3c3d resign\nposition startpos moves 2g2f win\n")
    assert read_openings(path, Ending()) == ("startpos moves 7g7f 3c3d", "startpos moves 2g2f")
    path.write_text("startpos moves 7g7f resign 3c3d\n")
    with pytest.raises(ValueError, match=r"games\.usi line 1: a move after the ending: '3c3d'"):
        read_openings(path)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("4k4/9/9/9/9/9/9/5R3/8K b - 321", "move limit"),
        ("4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1", "mate"),
        ("k8/2K6/1G7/9/9/9/9/9/9 w - 1", "mate"),  # without a move and not in check, which also loses
        ("+P+P+PK+P4/+P+P+P+P+P4/+P8/9/9/9/9/4k4/9 b 2R2B2G2S2N2L6P2g2s2n2lp 200", "declaration"),
        (f"startpos moves {3 * '2h3h 8b7b 3h2h 7b8b '}", "sennichite"),
    ],
)
def test_an_opening_of_a_finished_game_is_an_error_if_games_begin_from_it(
    tmp_path: Path, line: str, words: str
) -> None:
    path = tmp_path / "openings.sfen"
    path.write_text(f"# known\n{LINES[0]}\n{line}\n")
    assert read_openings(path) == (LINES[0], line.strip())
    with pytest.raises(ValueError, match=rf"openings\.sfen line 3: the game is over \({words}\); remove"):
        read_openings(path, Ending())
    path.write_text(LINES[2].removesuffix("1") + "320")
    assert len(read_openings(path, Ending())) == 1
