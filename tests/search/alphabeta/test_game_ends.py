"""Ends of games: the fourth occurrence, perpetual check, declaration by points, the try rule."""

from __future__ import annotations

import random

import cshogi
import numpy as np
import pytest
from rsshogi.core import Board

from search.alphabeta.engine import AlphaBetaEngine
from search.engine import Limits
from search.evaluation.material import material_network
from search.rules.declaration import (
    NO_RULE,
    RULE_24,
    RULE_24_HANDICAP,
    RULE_27,
    RULE_27_HANDICAP,
    TRY_RULE,
    can_declare,
    declaration_points,
    points_left_out,
    try_move,
)
from search.rules.movegen import list_moves
from search.rules.position import do_move, do_null_move, in_check, new_position
from search.rules.repetition import DRAW, INFERIOR, LOSS, NO_REPETITION, WIN, fourfold, repetition
from search.rules.set_up import set_board
from search.rules.sfen import get_sfen, move_from_usi, move_to_usi, position_from_sfen
from search.rules.shogi import EMPTY, KINDS, KING, SQUARES

TWO_KINGS_AND_A_ROOK = "4k4/9/9/9/9/9/9/4R4/K8 w - 1"
A_PAWN_GIVEN = "4k4/9/9/9/5p3/9/4+p4/7B1/4K4 w g2p 1"
A_PAWN_TAKEN = "4e4f 2h4f P*4e"
"""Black may repeat with an extra pawn and be mated by a gold on 5h, or capture the pawn that supports this mate."""


def play(pos: np.void, moves: str) -> None:
    for usi in moves.split():
        do_move(pos, np.int64(move_from_usi(usi)))


def test_the_fourth_occurrence_is_a_draw_and_the_third_is_not():
    pos = position_from_sfen("startpos")
    for _ in range(3):
        assert fourfold(pos) == NO_REPETITION
        play(pos, "2h3h 8b7b 3h2h 7b8b")
    assert fourfold(pos) == DRAW


def test_perpetual_check_loses():
    """Black's rook checks on two files, and white's king moves between them."""
    pos = position_from_sfen(TWO_KINGS_AND_A_ROOK)
    for _ in range(3):
        assert fourfold(pos) == NO_REPETITION
        play(pos, "5a4a 5h4h 4a5a 4h5h")
    assert fourfold(pos) == WIN  # white, to move, was checked throughout
    play(pos, "5a4a")
    assert fourfold(pos) == LOSS  # one ply later the checking side is to move


def test_one_quiet_move_in_the_cycle_makes_it_a_draw():
    pos = position_from_sfen(TWO_KINGS_AND_A_ROOK)
    for _ in range(3):
        play(pos, "5a4a 5h4h 4a5a 9i9h 5a4a 9h9i 4a5a 4h5h")
    assert fourfold(pos) == DRAW


def test_passes_make_no_repetition():
    pos = position_from_sfen("startpos")
    for _ in range(4):
        do_null_move(pos)
    assert pos["keys"][4] == pos["keys"][0]
    assert repetition(pos, np.int64(32), np.int64(32)) == NO_REPETITION
    play(pos, "2h3h 8b7b 3h2h 7b8b")
    assert repetition(pos, np.int64(32), np.int64(32)) == DRAW
    assert repetition(pos, np.int64(3), np.int64(32)) == NO_REPETITION


@pytest.mark.parametrize(
    ("start", "moves", "within", "before"),
    [
        ("startpos", "2h3h 8b7b 3h2h 7b8b", DRAW, DRAW),
        (TWO_KINGS_AND_A_ROOK, "5a4a 5h4h 4a5a 4h5h", WIN, NO_REPETITION),
        (TWO_KINGS_AND_A_ROOK, "5a4a 5h4h 4a5a 4h5h 5a4a", LOSS, NO_REPETITION),
        (TWO_KINGS_AND_A_ROOK, " ".join(["5a4a 5h4h 4a5a 4h5h"] * 3), WIN, WIN),  # the fourth occurrence of the rule
        (A_PAWN_GIVEN, A_PAWN_TAKEN + " 4f2h", INFERIOR, NO_REPETITION),
    ],
)
def test_a_repetition_of_a_position_before_the_root_is_at_most_a_draw(start, moves, within, before):
    pos = position_from_sfen(start)
    play(pos, moves)
    assert repetition(pos, np.int64(32), np.int64(4)) == within
    assert repetition(pos, np.int64(32), np.int64(3)) == before


def test_winning_a_pawn_by_repetition_does_not_hide_a_mate():
    found = AlphaBetaEngine(material_network(), 1).analyse(A_PAWN_GIVEN, A_PAWN_TAKEN.split(), nodes=2000)
    assert (found.best_move, abs(found.score) < 5000) == ("4f5g", True)


@pytest.mark.parametrize(("analysis", "drawn"), [(False, True), (True, False)])
def test_in_an_analysis_a_position_of_the_game_does_not_save_a_lost_side(analysis, drawn):
    engine = AlphaBetaEngine(material_network(), 1)
    engine.set_position("4k4/9/9/9/9/9/9/1R7/4K4 w - 1", ["5a4a", "5i4i", "4a5a", "4i5i"])
    engine.ready()
    found = engine.search(Limits(nodes=2000, analysis=analysis))[0]
    assert (found.score == 0) == drawn, found.score


def test_scores_of_play_are_not_used_in_an_analysis_nor_those_of_an_analysis_in_play():
    """A search of the other kind takes exactly the nodes of one with an empty table."""
    engine = AlphaBetaEngine(material_network(), 1)
    engine.set_position("startpos")
    nodes = {}
    for before, analysis in ((False, False), (False, True), (True, True), (True, False)):
        engine.new_game()
        for kind in (before, analysis):
            engine.ready()
            for thread in engine._threads:
                thread.clear()  # the histories hold for both kinds
            found = engine.search(Limits(depth=6, analysis=kind))[0]
        nodes[before, analysis] = found.nodes
    assert nodes[False, True] == nodes[True, False] > nodes[False, False] == nodes[True, True]


@pytest.mark.parametrize("seed", range(20))
def test_occurrences_agree_with_rsshogi(seed):
    """rsshogi finds the same fourth occurrences in random moves of two kings and a rook."""
    generator, pos, board = random.Random(seed), position_from_sfen(TWO_KINGS_AND_A_ROOK), Board(TWO_KINGS_AND_A_ROOK)
    found = False
    for _ in range(150):
        moves = list_moves(pos)
        if not moves:
            break
        # Few choices make positions repeat.
        move = sorted(moves)[generator.randrange(min(2, len(moves)))]
        board.apply_usi(move_to_usi(move))
        do_move(pos, np.int64(move))
        found = fourfold(pos) != NO_REPETITION
        assert found == board.is_repetition(3), get_sfen(pos)  # rsshogi counts repetitions, not occurrences
        if found:
            break


def entered_positions(count: int, seed: int):
    """Draw positions with the mover's king in or near the enemy camp and pieces around it."""
    generator = random.Random(seed)
    made = 0
    while made < count:
        turn = generator.randrange(2)
        board, hands = np.full(SQUARES, EMPTY, np.uint8), np.zeros((2, 7), np.uint8)
        squares = list(range(SQUARES))
        generator.shuffle(squares)
        camp = [s for s in squares if (s % 9 < 3) == (turn == 0) and s % 9 not in (3, 4, 5)]
        home = [s for s in squares if s % 9 in (3, 4, 5)]
        board[camp.pop() if generator.random() < 0.9 else home.pop()] = turn * KINDS + KING
        board[home.pop()] = (1 - turn) * KINDS + KING
        for kind, total in ((8, 12), (9, 3), (10, 3), (11, 3), (12, 2), (13, 2), (6, 3)):
            for _ in range(generator.randrange(total + 1)):
                if len(camp) > 8:
                    board[camp.pop()] = turn * KINDS + kind
        for kind, total in ((0, 6), (6, 1), (4, 2), (5, 2)):
            on_board = int(np.isin(board, [kind, kind + 8, kind + KINDS, kind + 8 + KINDS]).sum())
            hands[turn, kind] = generator.randrange(max(1, total + 1 - (on_board if kind in (4, 5) else 0)))
        pos = new_position()
        if set_board(pos, board, hands, np.int64(turn), np.int64(200)) == 0:
            made += 1
            yield pos


def counted_by_hand(pos: np.void) -> tuple[int, int, bool]:
    """Return (points, pieces in the camp, king entered), counted by the wording of the rule."""
    turn, points, pieces, entered = int(pos["turn"]), 0, 0, False
    for square in range(SQUARES):
        piece = int(pos["board"][square])
        inside = square % 9 < 3 if turn == 0 else square % 9 > 5
        if piece == EMPTY or piece // KINDS != turn or not inside:
            continue
        kind = piece % KINDS
        if kind == KING:
            entered = True
            continue
        pieces += 1
        points += 5 if kind in (4, 5, 12, 13) else 1
    hand = pos["hands"][turn]
    return points + sum(int(n) * (5 if kind in (4, 5) else 1) for kind, n in enumerate(hand)), pieces, entered


def worth(kind: int) -> int:
    """Points of a piece; the king counts one."""
    return 5 if kind in (4, 5, 12, 13) else 1


@pytest.mark.parametrize(
    ("sfen", "points"),
    [  # YaneuraOu's test: with handicaps of two pieces white needs 17 and 21 points, of four pieces 15 and 19
        ("startpos", 0),
        ("lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1", 10),
        ("1nsgkgsn1/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1", 12),
    ],
)
def test_the_points_of_a_handicap(sfen, points):
    assert points_left_out(position_from_sfen(sfen)) == points


def test_declarations_on_positions_with_entered_kings():
    seen = set()
    for pos in entered_positions(600, 1):
        points, pieces, entered = counted_by_hand(pos)
        assert declaration_points(pos) == (points, pieces, entered)
        allowed = entered and pieces >= 10 and not in_check(pos)
        assert can_declare(pos, np.int64(RULE_24)) == (allowed and points >= 31)
        assert can_declare(pos, np.int64(RULE_27)) == (allowed and points >= (28 if pos["turn"] == 0 else 27))
        assert can_declare(pos, np.int64(RULE_27)) == cshogi.Board(get_sfen(pos)).is_nyugyoku()
        assert not can_declare(pos, np.int64(NO_RULE))
        assert not can_declare(pos, np.int64(TRY_RULE))
        seen.add((can_declare(pos, np.int64(RULE_24)), can_declare(pos, np.int64(RULE_27))))
        given = 56 - sum(worth(int(piece) % KINDS) for piece in pos["board"] if piece != EMPTY)
        given -= sum(int(n) * worth(kind) for hand in pos["hands"] for kind, n in enumerate(hand))
        assert points_left_out(pos) == given
        left_out = given if pos["turn"] else 0
        assert can_declare(pos, np.int64(RULE_24_HANDICAP)) == (allowed and points >= 31 - left_out)
        needed = 27 - left_out if pos["turn"] else 28
        assert can_declare(pos, np.int64(RULE_27_HANDICAP)) == (allowed and points >= needed)
    assert seen == {(False, False), (False, True), (True, True)}


@pytest.mark.parametrize("rank", ["9", "4l4"])
def test_declarations_in_check_are_invalid(rank):
    """The king on the third rank, 10 pieces beside it, 32 points; a lance above it gives check."""
    sfen = f"+R+R+B+B5/{rank}/+P+P+P+PK+P+P2/9/9/9/9/9/4k4 b 6P 1"
    pos = position_from_sfen(sfen)
    assert declaration_points(pos) == (32, 10, True)
    for rule in (RULE_24, RULE_27, RULE_24_HANDICAP, RULE_27_HANDICAP):
        assert can_declare(pos, np.int64(rule)) == (rank == "9")
    assert cshogi.Board(sfen).is_nyugyoku() == (rank == "9")


@pytest.mark.parametrize(
    ("sfen", "move"),
    [
        ("9/4K4/9/9/9/9/9/9/k8 b - 1", "5b5a"),
        ("9/9/9/9/9/9/9/4k4/K8 w - 1", "5h5i"),
        ("9/3K5/9/9/9/9/9/9/k8 b - 1", "6b5a"),
        ("9/3K5/9/9/9/9/9/9/k3r4 b - 1", None),  # the square is attacked
        ("4G4/4K4/9/9/9/9/9/9/k8 b - 1", None),  # a piece of its own is there
        ("9/9/4K4/9/9/9/9/9/k8 b - 1", None),
    ],
)
def test_tries_are_found(sfen, move):
    found = int(try_move(position_from_sfen(sfen)))
    assert (move_to_usi(found) if found else None) == move
