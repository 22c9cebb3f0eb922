"""Options that change moves or reports: the book, draws, declarations, win rates, an nn.bin's scale."""

from __future__ import annotations

import re

import pytest

from search.score import score_of_rate
from tests.yaneuraou_networks import network_bytes, without_text

# White's cornered king has one move, and both sides have moved to and fro: that move repeats the position.
CORNERED = "sfen 8k/9/9/9/9/9/9/K8/1R5R1 w - 1 moves 1a1b 9h9g 1b1a 9g9h"
"""White to move; 1a1b is the only legal move and was played before."""
TURNED = "sfen 1r5r1/8k/9/9/9/9/9/9/K8 b - 1 moves 9i9h 1b1c 9h9i 1c1b"
CHOICE = "sfen 4k4/9/9/9/9/9/9/9/2G1K4 b - 1 moves 7i7h 5a4a 7h7i 4a5a"
"""Black is a gold ahead and may repeat by 7i7h."""


def score(lines: list[str]) -> int:
    """Return the centipawns of the last `info`."""
    scores = [match for line in lines if (match := re.search(r" score cp (-?\d+) ", line))]
    return int(scores[-1][1])


@pytest.mark.parametrize("permille", [0, 300, 500, 700, 1000])
def test_a_forced_repetition_has_the_value_of_a_draw(protocol, permille):
    scale = protocol.usi._engine.network.cp_per_logit
    worth = score_of_rate(permille / 1000, scale)
    for position, mine, other in ((CORNERED, "White", "Black"), (TURNED, "Black", "White")):
        protocol.send(f"setoption name Draw_Value_{mine} value {permille}")
        protocol.send(f"setoption name Draw_Value_{other} value {1000 - permille or 1000}", f"position {position}")
        assert score(protocol.send("go depth 6").until("bestmove")) == worth


def test_the_value_of_a_draw_decides_whether_the_engine_repeats(protocol):
    protocol.send("setoption name Draw_Value_Black value 1000", f"position {CHOICE}", "go depth 5")
    lines = protocol.until("bestmove")
    assert score(lines) == 20000
    protocol.send("setoption name Draw_Value_Black value 0", f"position {CHOICE}", "go depth 5")
    lines = protocol.until("bestmove")
    assert score(lines) > 100
    assert lines[-1].split()[1] != "7i7h"


@pytest.mark.parametrize(
    ("position", "winning"),
    [
        ("+P+P+P+P+P+PK1+R/+P+P+PG5/9/9/9/9/9/9/4k4 b R2BG", {"24", "24H", "27", "27H"}),
        # White gives a rook and a bishop, ten points: with the handicap counted, 17 or 21 points are enough.
        ("4K4/9/9/9/9/9/+p+p+p+p+p+p3/+p+p+p+p1k3/9 w B3G4S4N4L8Prg", set()),
        ("4K4/9/9/9/9/9/+p+p+p+p+p+p3/+p+p+p+p1k3/9 w B2G4S4N4L8Pr2g", {"27H"}),
        ("4K4/9/9/9/9/9/+p+p+p+p+p+p3/+p+p+p+p1k3/9 w B3S4N4L8Pr4gs", {"27H"}),
        ("4K4/9/9/9/9/9/+p+p+p+p+p+p3/+p+p+p+p1k3/9 w B2S4N4L8Pr4g2s", {"27H", "24H"}),
    ],
)
def test_declaration_by_each_name_of_the_rule(protocol, position, winning):
    protocol.send(f"position sfen {position} 200")
    for points in ("24", "24H", "27", "27H"):
        move = protocol.send(f"setoption name EnteringKingRule value CSARule{points}", "go depth 1").bestmove()
        assert (move == "win") == (points in winning), points
    for rule in ("NoEnteringKing", "TryRule"):
        assert protocol.send(f"setoption name EnteringKingRule value {rule}", "go depth 1").bestmove() != "win"


def test_win_rates_are_reported_on_request(protocol):
    protocol.send("position startpos", "go depth 3")
    assert not [line for line in protocol.until("bestmove") if " wdl " in line]
    protocol.send("setoption name UCI_ShowWDL value true", "go depth 3")
    matches = [
        re.search(r" score cp (-?\d+) wdl (\d+) 0 (\d+) nodes ", line) for line in protocol.until("bestmove")[:-1]
    ]
    assert matches
    for match in matches:
        assert match
        points, wins, losses = (int(number) for number in match.groups())
        assert wins + losses == 1000
        assert (wins >= 500) == (points >= 0) or abs(points) < 5


def test_the_scale_of_an_nn_bin_is_an_option(protocol, nnue_content, tmp_path):
    path = tmp_path / "nn.bin"
    path.write_bytes(nnue_content("k_p", 32, 8, 8))
    engine = protocol.usi._engine
    protocol.send(f"setoption name EvalFile value {path}").settle()
    assert engine.network.output_divisor == 16
    protocol.send("setoption name FV_SCALE value 24").settle()
    assert engine.network.output_divisor == 24
    protocol.send("setoption name FV_SCALE value 16").settle()
    assert engine.network.output_divisor == 16
    said = "".join(protocol.send("setoption name FV_SCALE value 24", "setoption name EvalFile value default").settle())
    assert "FV_SCALE: default is no nn.bin and has a scale of its own; ignored" in said
    assert "EvalFile default: " in said
    said = "".join(protocol.send("setoption name EvalArchitecture value SFNN_kp_64_7_32").settle())
    assert "FV_SCALE, EvalArchitecture: default is no nn.bin" in said
    protocol.send("setoption name FV_SCALE value 16", "setoption name EvalArchitecture value auto").settle()
    assert "outside 1 to 128" in "".join(protocol.send("setoption name FV_SCALE value 0").settle())


def test_the_architecture_of_an_nn_bin_is_an_option(protocol, tmp_path):
    content, path = network_bytes("SFNN_kp_64_7_32_hand64_k3k3"), tmp_path / "nn.bin"
    path.write_bytes(without_text(content))
    engine = protocol.usi._engine
    said = "".join(protocol.send(f"setoption name EvalFile value {path}").settle())
    assert "unknown architecture" in said
    assert "SFNN_kp_64_7_32_hand64z_k3k3" in said
    assert "name it (EvalArchitecture)" in said
    for token in ("hand64", "hand64z"):
        protocol.send(f"setoption name EvalArchitecture value SFNN_kp_64_7_32_{token}_k3k3").settle()
        assert engine.network.stacks.tokens == (token, "k3k3")
        assert protocol.send("position startpos", "go depth 2").bestmove() != "resign"
    said = "".join(protocol.send("setoption name EvalArchitecture value AUTO").settle())
    assert "name it (EvalArchitecture)" in said
    said = "".join(protocol.send("setoption name EvalArchitecture value SFNN_kp_64_7_32_k4k4").settle())
    assert "unknown part 'k4k4'" in said
    assert engine.network.stacks.tokens == ("hand64z", "k3k3")
    protocol.send("setoption name EvalFile value default", "setoption name EvalArchitecture value auto").settle()


def test_sixty_four_threads_play(protocol):
    protocol.send("setoption name Threads value 64", "position startpos", "go nodes 20000")
    assert protocol.bestmove() != "resign"
    assert len(protocol.usi._engine._threads) == 64
    protocol.send("setoption name Threads value 1").settle()
    assert len(protocol.usi._engine._threads) == 1


@pytest.fixture
def book(tmp_path):
    """Return the folder of a book that plays 9g9f, which no search would play."""
    start = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
    after = "lnsgkgsnl/1r5b1/ppppppppp/9/9/P8/1PPPPPPPP/1B5R1/LNSGKGSNL w - 2"
    (tmp_path / "mine.db").write_text(
        f"#YANEURAOU-DB2016 1.00\nsfen {after}\n1c1d none 7 3 5\nsfen {start}\n9g9f 1c1d 12 30 5\n"
    )
    return tmp_path


def test_a_game_from_the_book(protocol, book):
    protocol.send(f"setoption name BookDir value {book}", "setoption name BookFile value mine.db")
    protocol.send("setoption name USI_Ponder value true")
    assert protocol.settle()[:-1] == ["readyok"]
    lines = protocol.send("position startpos", "go btime 1000 wtime 1000").until("bestmove")
    assert lines == ["info multipv 1 depth 30 score cp 12 pv 9g9f 1c1d", "bestmove 9g9f ponder 1c1d"]
    # While pondering, the move is held; a search for analysis does not use the book.
    protocol.send("position startpos moves 9g9f", "go ponder btime 1000 wtime 1000")
    protocol.until("info multipv 1 depth 3 score cp 7 pv 1c1d")
    assert protocol.waiting() == []
    assert protocol.send("ponderhit").bestmove() == "1c1d"
    protocol.send("position startpos", "go infinite").until("info depth 3")
    assert protocol.send("stop").bestmove() != "9g9f"
    assert protocol.send("go depth 3 searchmoves 2g2f").bestmove() == "2g2f"
    protocol.send("setoption name USI_OwnBook value false", "go depth 3")
    assert protocol.bestmove() != "9g9f"
    protocol.send("setoption name USI_OwnBook value true", "go depth 3")
    assert protocol.bestmove() == "9g9f"
    protocol.send("setoption name BookFile value no_book", "go depth 3")
    assert protocol.bestmove() != "9g9f"


def test_an_unreadable_book_is_reported_and_the_engine_plays_on(protocol, book):
    for name, message in (("missing.db", "no such book"), ("bad.db", "bad.db: line 2")):
        (book / "bad.db").write_text("#YANEURAOU-DB2016 1.00\nrubbish\n")
        said = "".join(protocol.send(f"setoption name BookFile value {book / name}").settle())
        assert message in said
        assert "continuing without" in said
        protocol.send("position startpos", "go depth 2")
        assert protocol.bestmove() != "resign"
    protocol.send(f"setoption name BookFile value {book / 'mine.db'}").settle()
    (book / "mine.db").unlink()
    lines = protocol.send("position startpos", "go depth 2").until("bestmove")
    assert "continuing without" in lines[0]
    assert lines[-1].split()[1] != "resign"


def test_search_parameters_are_options_only_for_tuning(start):
    session = start().send("usi")
    assert not any("razor_margin" in line for line in session.until("usiok"))
    session.send("setoption name razor_margin value 100")
    assert "'razor_margin'" in session.until("info string")[-1]

    session = start(flags=["--tunable"]).send("usi")
    assert "option name razor_margin type spin default 306 min 80 max 800" in session.until("usiok")
    session.send("usi_tunables").until("usi_tunablesok")
    session.send("setoption name USI_Hash value 2", "isready").until("readyok")
    nodes = []
    for margin in (85, 30, 85):
        session.send(f"setoption name reverse_futility_margin value {margin}", "isready").until("readyok")
        lines = session.send("usinewgame", "position startpos", "go depth 7").until("bestmove")
        nodes.append(re.search(r" nodes (\d+) ", lines[-2])[1])
    assert nodes[0] == nodes[2] != nodes[1]
    for value in ("10000", "much"):
        session.send(f"setoption name reverse_futility_margin value {value}")
        assert f"reverse_futility_margin {value}"[:23] in session.until("info string")[-1]
    session.send("quit")
    assert session.ended() == 0
