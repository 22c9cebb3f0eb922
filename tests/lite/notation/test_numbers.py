"""Numbers are read in every width, handicaps in every spelling, and moves may continue from a diagram's number."""

from __future__ import annotations

import cshogi
import pytest
from cshogi import KIF

from lite.notation.game import GameError
from lite.notation.ki2 import read_ki2
from lite.notation.kif import read_kif, read_start, read_variations
from lite.notation.kif_lines import HANDICAPS, handicap_sfen
from lite.notation.kif_writer import kif_text
from lite.notation.numbers import half_width, number
from search.rules.sfen import move_to_usi
from search.rules.shogi import START_SFEN


@pytest.mark.parametrize(
    ("text", "value"),
    [("77", 77), ("７７", 77), ("七十七", 77), ("七七", 77), ("十", 10), ("十一", 11), ("百十二", 112), ("二百", 200)],
)
def test_numbers_of_every_kind_are_read(text: str, value: int) -> None:
    assert number(text) == value


def test_half_width_keeps_the_length() -> None:
    text = "（ ０：０５／００：００：１２）＋－−＝候補１"
    assert half_width(text) == "( 0:05/00:00:12)+--=候補1"
    assert len(half_width(text)) == len(text)


VARIATION = (
    "手合割：平手\n   1 ７六歩(77)\n   2 ３四歩(33)\n   3 ２六歩(27)\n   4 投了\n\n{}\n   3 ６六歩(67)\n   4 投了\n"
)


@pytest.mark.parametrize(
    "head", ["変化：3手", "変化：３手", "変化:３手", "変化：三手", "　変化： ３手", "変化 ：3手", "変化３手"]
)
def test_a_variation_begins_at_a_number_of_any_width(head: str) -> None:
    game = read_kif(VARIATION.format(head), "a")
    found, error = read_variations(game)
    assert error is None
    assert [(one.first, move_to_usi(one.moves[-1])) for one in found] == [(3, "6g6f")]
    assert "   3 ２六歩(27)   +\n" in kif_text(game)
    game = read_ki2(f"▲７六歩 △３四歩 ▲２六歩\nまで3手で先手の勝ち\n\n{head}\n▲６六歩\n投了\n", "a")
    assert [one.first for one in read_variations(game)[0]] == [3]


@pytest.mark.parametrize("move", ["８六歩(87)", "８６歩（８７）", "86歩(87)"])
@pytest.mark.parametrize("ninth", ["９", "9", "  ９", "   9"])
def test_the_ninth_move_may_go_to_the_eighth_file(ninth: str, move: str) -> None:
    """It resembles the line of file numbers above a diagram."""
    kings = ["５八玉(59)", "５二玉(51)", "５九玉(58)", "５一玉(52)"] * 2
    text = "".join(f"{number} {king}\n" for number, king in enumerate(kings, 1))
    game = read_kif(f"{text}{ninth} {move}\n10 投了\n", "a")
    assert (len(game.moves), move_to_usi(int(game.moves[8]))) == (9, "8g8f")


@pytest.mark.parametrize(
    "clock",
    ["( 0:05/00:00:05)", "（ 0:05/00:00:05）", "（０：０５／００：００：０５）", "(0:05)", "（0：05）", "( 0:05 )"],
)
def test_clocks_of_any_width_are_read(clock: str) -> None:
    game = read_kif(f"   1 ７六歩（７７）   {clock}\n   2 投了 {clock}\n", "a")
    assert game.times.tolist() == [5000, 5000]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("２枚落ち", "二枚落ち"),
        ("2枚落ち", "二枚落ち"),
        ("二枚落", "二枚落ち"),
        ("4枚落ち", "四枚落ち"),
        ("６枚落", "六枚落ち"),
        ("10枚落ち", "十枚落ち"),
        ("１０枚落ち", "十枚落ち"),
        ("角落", "角落ち"),
        ("飛落ち", "飛車落ち"),
        ("飛車香落ち", "飛香落ち"),
        ("左香落ち", "香落ち"),
        ("左７枚落ち", "左七枚落ち"),
        ("香落ち　", "香落ち"),
        ("二枚落ち（飛角）", "二枚落ち"),
        ("七枚落ち（左）", "左七枚落ち"),
        ("7枚落ち(右側)", "右七枚落ち"),
    ],
)
def test_handicaps_in_every_spelling_are_read(written: str, name: str) -> None:
    assert handicap_sfen(written) == HANDICAPS[name]
    assert read_kif(f"手合割：{written}\n   1 ５二玉(51)\n   2 投了\n", "a").start_sfen == HANDICAPS[name]


def test_the_even_position_is_read_and_unknown_handicaps_are_refused() -> None:
    assert handicap_sfen("平手　") == START_SFEN
    with pytest.raises(GameError, match="九枚落ち"):
        read_kif("手合割：九枚落ち\n   1 ６二銀(71)\n   2 投了\n", "a")


DIAGRAM = """手合割：その他
{white}の持駒：なし
  ９ ８ ７ ６ ５ ４ ３ ２ １
+---------------------------+
|v香v桂v銀v金v玉v金v銀v桂v香|一
| ・v飛 ・ ・ ・ ・ ・v角 ・|二
|v歩v歩v歩v歩v歩v歩 ・v歩v歩|三
| ・ ・ ・ ・ ・ ・v歩 ・ ・|四
| ・ ・ ・ ・ ・ ・ ・ ・ ・|五
| ・ ・ 歩 ・ ・ ・ ・ ・ ・|六
| 歩 歩 ・ 歩 歩 歩 歩 歩 歩|七
| ・ 角 ・ ・ ・ ・ ・ 飛 ・|八
| 香 桂 銀 金 玉 金 銀 桂 香|九
+---------------------------+
{black}の持駒：なし
"""
EVEN = DIAGRAM.format(black="先手", white="後手")
HANDICAP = DIAGRAM.format(black="下手", white="上手")
MOVES = """  78 ８四歩(83)
  79 ２六歩(27)
  80 投了
まで79手で先手の勝ち

変化：79手
  79 ６六歩(67)
  80 ８五歩(84)
"""
AGAIN = MOVES.replace("変化：79手", "変化：2手").replace("まで79手", "まで2手")
for old, new in (("  78 ", "   1 "), ("  79 ", "   2 "), ("  80 ", "   3 ")):
    AGAIN = AGAIN.replace(old, new)


@pytest.mark.parametrize("moves", [MOVES, MOVES.replace("まで79手", "まで2手"), AGAIN])
@pytest.mark.parametrize(
    "turn",
    [
        "手数＝77\n後手番\n",
        "手数＝７７　▲７六歩　まで\n",
        "手数=77 手\n後手番\n",
        "手数：77\n後手番\n",
        "後手番\n手数＝七十七\n",
    ],
)
def test_moves_may_continue_from_the_number_of_a_diagram(turn: str, moves: str) -> None:
    game = read_kif(EVEN + turn + moves, "a")
    assert (len(game.moves), game.result, game.first_ply) == (2, 1, 77)
    found, error = read_variations(game)
    assert error is None
    assert [(one.first, [move_to_usi(move) for move in one.moves]) for one in found] == [(2, ["8c8d", "6g6f", "8d8e"])]
    again = read_kif(kif_text(game), "a")
    assert (again.moves.tolist(), again.first_ply, again.variations) == (game.moves.tolist(), 77, game.variations)


def test_a_diagram_without_a_turn_has_black_to_move_unless_numbers_continue() -> None:
    assert read_kif(f"{EVEN}手数＝77\n*注\n{MOVES}", "a").start_sfen.split()[1] == "w"
    text = f"{EVEN}手数＝77\n   1 ２六歩(27)\n   2 投了\n"
    game = read_kif(text, "a")
    assert (game.start_sfen.split()[1], game.first_ply) == ("b", 77)
    assert read_kif(kif_text(game), "a").start_sfen == game.start_sfen
    with pytest.raises(GameError, match="先手番 was assumed"):
        read_kif(text.replace("２六歩(27)", "８四歩(83)"), "a")


def test_ki2_variations_may_count_from_the_number_of_a_diagram() -> None:
    text = f"{EVEN}手数＝77\n後手番\n△８四歩 ▲２六歩\nまで79手で先手の勝ち\n\n変化：79手\n▲６六歩\n"
    for written in (text, text.replace("まで79手", "まで2手"), text.replace("変化：79手", "変化：2手")):
        game = read_ki2(written, "a")
        assert (game.result, game.first_ply) == (1, 77)
        assert [one.first for one in read_variations(game)[0]] == [2]
    with pytest.raises(GameError, match="78 moves"):
        read_ki2(text.replace("まで79手", "まで78手"), "a")


def test_kif_variations_may_count_from_a_diagram() -> None:
    """Each variation by itself; a long one may reach the numbers that include the moves before the diagram."""
    main, variation = f"{EVEN}手数＝77\n後手番\n{MOVES}".split("変化：79手\n")
    assert variation.startswith("  79 ６六歩")
    own = variation.replace("  79 ", "   2 ").replace("  80 ", "   3 ")
    kings = ["５二玉(51)", "５八玉(59)", "５一玉(52)", "５九玉(58)"] * 20
    long = "".join(f"{number:4d} {king}\n" for number, king in enumerate(kings, 3))
    for text in (f"変化：79手\n{variation}", f"変化：２手\n{own}", f"変化：79手\n{own}"):
        found, error = read_variations(read_kif(f"{main}{text}\n変化：3手\n{long}", "a"))
        assert error is None
        assert [(one.first, len(one.moves)) for one in found] == [(2, 3), (3, 82)]
        assert [move_to_usi(move) for move in found[0].moves] == ["8c8d", "6g6f", "8d8e"]


@pytest.mark.parametrize(
    ("head", "move"), [("変化：十手", 10), ("変化：0手", 0), ("変化：5手", 5), ("変化：x手", None)]
)
def test_a_variation_of_a_move_that_does_not_exist_is_refused(head: str, move: int | None) -> None:
    found, error = read_variations(read_kif(VARIATION.format(head), "a"))
    assert found == []
    expected = f"cannot read '{head}'" if move is None else f"begins at move {move} of the game, .* has 3 moves"
    with pytest.raises(GameError, match=f"a, variation 1: {expected}"):
        raise error or AssertionError


@pytest.mark.parametrize("first", [2, 77, 79])
def test_moves_with_another_first_number_are_refused(first: int) -> None:
    with pytest.raises(GameError, match=str(first)):
        read_kif(f"{EVEN}手数＝77\n後手番\n  {first} ８四歩(83)\n  {first + 1} 投了\n", "a")
    with pytest.raises(GameError, match="78"):
        read_kif(f"{EVEN}後手番\n  78 ８四歩(83)\n  79 投了\n", "a")


@pytest.mark.parametrize(("diagram", "assumed", "line"), [(EVEN, "先手番", "後手番"), (HANDICAP, "下手番", "上手番")])
def test_a_refusal_names_the_turn_that_a_diagram_does_not_give(diagram: str, assumed: str, line: str) -> None:
    for reader, moves in ((read_kif, "   1 ８四歩(83)\n   2 投了\n"), (read_ki2, "△８四歩\n投了\n")):
        with pytest.raises(GameError, match=rf"move 1 .*{assumed} was assumed; add the line {line}"):
            reader(diagram + moves, "a")
        with pytest.raises(GameError) as caught:
            reader(f"{diagram}{assumed}\n{moves}", "a")
        assert "assumed" not in str(caught.value)
        assert reader(f"{diagram}{line}\n{moves}", "a").result == 2
    checked = diagram.replace("| ・ ・ 歩 ・ ・ ・ ・ ・ ・|六", "| ・ ・ ・ ・ ・ ・ ・ ・ ・|六")
    checked = checked.replace("|v歩v歩v歩v歩v歩v歩 ・v歩v歩|三", "|v歩v歩v歩v歩 香v歩 ・v歩v歩|三")
    with pytest.raises(GameError, match=f"{assumed} was assumed"):  # the side that does not move is in check
        read_start(checked)


@pytest.mark.parametrize(
    ("line", "side"),
    [("手番：後手", "w"), ("手番: 後手番", "w"), ("手番：△", "w"), ("後手の番", "w"), ("手番：▲", "b")],
)
def test_the_side_to_move_of_a_diagram_may_be_a_header(line: str, side: str) -> None:
    assert read_start(f"{EVEN}{line}\n").split()[1] == side
    assert read_start(f"{line}\n{EVEN}").split()[1] == side


@pytest.mark.parametrize("name", ["香落ち", "二枚落ち", "十枚落ち"])
def test_the_diagram_of_a_named_handicap_has_white_to_move(name: str) -> None:
    start = handicap_sfen(name)
    assert start is not None
    game = read_kif(f"手合割：{name}\n   1 ５二玉(51)\n   2 投了\n", "a")
    diagram = KIF.board_to_bod(cshogi.Board(start)).replace("\n後手番", "")
    again = read_kif(f"手合割：{name}\n{diagram}\n   1 ５二玉(51)\n   2 投了\n", "a")
    assert again.start_sfen == game.start_sfen
    assert again.moves.tolist() == game.moves.tolist()
    assert read_start(f"手合割：{name}\n{diagram}\n先手番\n").split()[1] == "b"
    assert read_start(f"手合割：{name}\n{EVEN}").split()[1] == "b"  # another position: nothing is known


def test_diagrams_with_full_width_lines_and_separated_hands_are_read() -> None:
    lines = EVEN.replace("|v歩v歩v歩", "| ・ ・v歩").replace("先手の持駒：なし", "先手の持駒：{}")
    for hand in ("歩二", "歩二枚", "歩2枚", "歩、歩", "歩・歩", "歩，歩", "歩２、"):
        for written in (lines, lines.replace("|", "｜").replace("+-", "＋－").replace("-+", "－＋")):
            assert read_start(written.format(hand)).split()[2] == "2P"
