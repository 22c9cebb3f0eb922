"""First positions of game files. Mate problems may have neither moves nor the attacker's king."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lite.notation.games import GameError, read_games, read_starts
from lite.notation.kif import read_kif
from lite.notation.kif_writer import kif_text
from search.rules.shogi import START_SFEN

TSUME = """後手の持駒：飛二　角二　金三　銀四　桂四　香四　歩十七
  ９ ８ ７ ６ ５ ４ ３ ２ １
+---------------------------+
| ・ ・ ・ ・v玉 ・ ・ ・ ・|一
| ・ ・ ・ ・ ・ ・ ・ ・ ・|二
| ・ ・ ・ ・ 歩 ・ ・ ・ ・|三
| ・ ・ ・ ・ ・ ・ ・ ・ ・|四
| ・ ・ ・ ・ ・ ・ ・ ・ ・|五
| ・ ・ ・ ・ ・ ・ ・ ・ ・|六
| ・ ・ ・ ・ ・ ・ ・ ・ ・|七
| ・ ・ ・ ・ ・ ・ ・ ・ ・|八
| ・ ・ ・ ・ ・ ・ ・ ・ ・|九
+---------------------------+
先手の持駒：金
先手：
後手：
"""
SFEN = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1"
CSA = "V2.2\nP151OU\nP-51OU\nP+53FU00KI\nP-00AL\n"


@pytest.mark.parametrize(
    ("name", "text", "starts"),
    [
        ("tsume.kif", TSUME, [SFEN]),
        ("tsume.kif", TSUME + "手数----指手---------消費時間--\n   1 ５二金打\n   2 詰み\nまで1手で詰\n", [SFEN]),
        ("tsume.kif", TSUME + "   1 ５二金打\n", [SFEN]),
        ("tsume.ki2", TSUME + "▲５二金\nまで1手で先手の勝ち\n", [SFEN]),
        ("tsume.kif", TSUME + "後手番\n", [SFEN.replace(" b ", " w ")]),
        ("tsume.kif", "先手の持駒：飛\n後手番\n" + TSUME + "先手番\n", [SFEN]),  # the last is meant
        ("game.kif", "手合割：平手\n   1 ７六歩(77)\n", [START_SFEN]),
        ("tsume.csa", "V2.2\nN+a,+\n'*b,+\nP-51OU\nP+53FU00KI\nP-00AL\n+\n+0052KI\n", [SFEN]),
        ("two.csa", "P-51OU\nP+53FU00KI\nP-00AL\n+\n/\nPI,+\n+7776FU\n", [SFEN, START_SFEN]),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "cp932"])
def test_first_positions_are_read(tmp_path: Path, name: str, text: str, starts: list[str], encoding: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding=encoding)
    assert read_starts(path) == starts


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("  ９ ８ ７ ６ ５ ４ ３ ２ １", "９ ８ ７ ６ ５ ４ ３ ２ １"),
        ("  ９ ８ ７ ６ ５ ４ ３ ２ １", "　９　８　７　６　５　４　３　２　１"),
        ("  ９ ８ ７ ６ ５ ４ ３ ２ １", "  9  8  7  6  5  4  3  2  1"),
        ("  ９ ８ ７ ６ ５ ４ ３ ２ １", "９８７６５４３２１"),
        ("  ９ ８ ７ ６ ５ ４ ３ ２ １\n", ""),
        ("・", "･"),
        ("v玉", "ｖ玉"),
        ("\n", "\n    "),
        ("：", ":"),
    ],
)
@pytest.mark.parametrize("name", ["tsume.kif", "tsume.ki2", "tsume.txt"])
def test_diagrams_as_pages_and_mails_write_them_are_read(tmp_path: Path, name: str, written: str, read: str) -> None:
    for text in (TSUME, TSUME + "手数----指手---------消費時間--\n   1 ５二金打\n"):
        (tmp_path / name).write_text(text.replace(written, read), encoding="utf-8")
        assert read_starts(tmp_path / name) == [SFEN]


@pytest.mark.parametrize(
    "key", ["持駒", "▲持駒", "☗持駒", "先手持駒", "攻方の持駒", "攻め方 持駒", "下手の持ち駒", "先手 の 持駒"]
)
@pytest.mark.parametrize("other", ["△持駒", "▽持駒", "☖持ち駒", "後手持駒", "玉方の持駒", "受方持駒", "上手の持駒"])
@pytest.mark.parametrize("colon", ["：", ":"])
def test_hands_under_every_key_are_read(tmp_path: Path, key: str, other: str, colon: str) -> None:
    text = TSUME.replace("先手の持駒：", f"{key}{colon}").replace("後手の持駒：", f"{other}{colon}")
    for name in ("tsume.kif", "tsume.ki2"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert read_starts(tmp_path / name) == [SFEN]


@pytest.mark.parametrize("key", ["甲の持駒", "持駒（先手）", "残りの持ち駒"])
def test_a_hand_of_an_unclear_side_is_refused(tmp_path: Path, key: str) -> None:
    """Ignoring it would give another position."""
    path = tmp_path / "tsume.kif"
    path.write_text(TSUME.replace("先手の持駒", key), encoding="utf-8")
    with pytest.raises(GameError, match=re.escape(key)):
        read_starts(path)


def test_a_hand_below_the_moves_is_not_a_header() -> None:
    game = read_kif("   1 ７六歩(77)\n甲の持駒：歩\n   2 投了\n", "a")
    assert game.headers == {}
    assert read_kif(kif_text(game), "a").moves.tolist() == game.moves.tolist()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.kif", TSUME.replace("v玉", "v王v王"), "a board diagram with 10 squares on rank 1"),
        ("a.kif", TSUME.replace("|九\n", f"|九\n|{' ・' * 9}|十\n"), "a board diagram of 10 ranks"),
        ("a.kif", TSUME + "\nwhatever\n", "cannot read the line 'whatever'"),
        ("a.kif", TSUME.replace("歩十七", "歩十九"), "no hand holds so many"),
        ("a.csa", "PI\n+\n/\nP-51OU\n", "game 2: no first position"),
        ("a.csa", "P-51OU\nP+51HI41OU31OU\n+\n", "game 1: its first position: two kings"),
    ],
)
def test_an_error_names_the_file_of_an_unreadable_position(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(GameError, match=message) as caught:
        read_starts(path)
    assert str(caught.value).startswith(str(path))


def test_a_game_without_a_king_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tsume.kif"
    path.write_text(TSUME + "手数----指手---------消費時間--\n   1 ５二金打\n   2 詰み\n", encoding="utf-8")
    (error,) = read_games(path, unfinished=True)
    assert isinstance(error, GameError)
    assert re.match(rf"{re.escape(str(path))}: .*king", str(error))
