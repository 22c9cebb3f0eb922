"""hcp and psv codes: equal to cshogi's both ways, handicaps included; invalid codes are refused."""

from __future__ import annotations

import random

import cshogi
import numpy as np
import pytest
from cshogi import KIF
from hypothesis import given, settings
from hypothesis import strategies as st

from search.rules.huffman import CODE_BYTES, HCP, PSV, check_pieces, decode, encode
from search.rules.position import new_position
from search.rules.set_up import BOARD_OK, OPPONENT_IN_CHECK, set_board
from search.rules.shogi import EMPTY, GOLD, HAND_KINDS, KINDS, KING, PAWN, PIECES_IN_BOX, PRO_PAWN, SQUARES

HANDICAPS = sorted(sfen for sfen in KIF.Parser.HANDYCAP_SFENS.values() if sfen)


def of_cshogi(board: cshogi.Board) -> tuple[np.ndarray, np.ndarray, int]:
    """Return a cshogi board in this project's numbers; cshogi's hands are in the order P L N S G B R."""
    pieces = [EMPTY if p == 0 else (p - 1 if p < 16 else p - 17 + KINDS) for p in board.pieces]
    hands = np.array(board.pieces_in_hand, np.uint8)[:, [0, 1, 2, 3, 5, 6, 4]]
    return np.array(pieces, np.uint8), hands, board.turn


def cshogi_code(board: cshogi.Board, dialect: int) -> np.ndarray:
    code = np.zeros(CODE_BYTES, np.uint8)
    board.to_hcp(code) if dialect == HCP else board.to_psfen(code)
    return code


@pytest.mark.parametrize("dialect", [HCP, PSV])
def test_codes_equal_those_of_cshogi(dialect: int) -> None:
    generator = random.Random(dialect)
    full_hands = "l+P3g1nl/3sg1ks1/p1np1pp1p/2p4p1/9/4B1P2/P2P1PN1P/1+p1K2GR1/LNS3S1L b R2Pbg2p 45"
    for sfen in [*HANDICAPS * 3, full_hands]:
        board = cshogi.Board(sfen=sfen)
        for _ in range(120):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(generator.choice(moves))
            code = cshogi_code(board, dialect)
            pieces, hands, turn = decode(code, dialect)
            expected = of_cshogi(board)
            assert np.array_equal(pieces, expected[0]), board.sfen()
            assert np.array_equal(hands, expected[1]), board.sfen()
            assert turn == expected[2]
            assert encode(pieces, hands, turn, dialect) == code.tobytes(), board.sfen()


@st.composite
def placements(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, int]:
    """Draw any pieces of a set anywhere: on squares, in hands, in the box."""
    board, hands = np.full(SQUARES, EMPTY, np.uint8), np.zeros((2, HAND_KINDS), np.uint8)
    free = draw(st.permutations(range(SQUARES)))
    kings, free = free[:2], free[2:]
    board[kings[0]], board[kings[1]] = KING, KINDS + KING
    for kind in range(HAND_KINDS):
        for _ in range(int(PIECES_IN_BOX[kind])):
            where = draw(st.integers(0, 4))
            colour = draw(st.integers(0, 1))
            if where == 0:
                hands[colour, kind] += 1
            elif where < 4:
                promoted = kind < 6 and draw(st.booleans())
                board[free[0]] = colour * KINDS + (PRO_PAWN + kind if promoted else kind)
                free = free[1:]
    return board, hands, draw(st.integers(0, 1))


@settings(max_examples=150)
@given(placements(), st.sampled_from([HCP, PSV]))
def test_codes_are_read_back_or_refused_with_a_reason(
    placement: tuple[np.ndarray, np.ndarray, int], dialect: int
) -> None:
    board, hands, turn = placement
    if check_pieces(board, hands):
        with pytest.raises(ValueError, match="not a position"):
            encode(board, hands, turn, dialect)
        return
    code = encode(board, hands, turn, dialect)
    again = decode(code, dialect)
    assert np.array_equal(again[0], board)
    assert np.array_equal(again[1], hands)
    assert again[2] == turn


def test_a_damaged_code_is_refused_or_a_position() -> None:
    accepted = []

    @settings(max_examples=300)
    @given(st.lists(st.integers(0, 255), max_size=3), st.sampled_from([HCP, PSV]))
    def decode_flipped(bits: list[int], dialect: int) -> None:
        code = bytearray(encode(*start(), 0, dialect))
        for bit in bits:
            code[bit >> 3] ^= 1 << (bit & 7)
        try:
            board, hands, turn = decode(bytes(code), dialect)
        except ValueError:
            return
        # An accepted position must also be accepted by the rules, except for checks, and must survive the way back.
        assert set_board(new_position(), board, hands, turn, 1) in (BOARD_OK, OPPONENT_IN_CHECK)
        again = decode(encode(board, hands, turn, dialect), dialect)
        assert np.array_equal(again[0], board)
        assert np.array_equal(again[1], hands)
        accepted.append(bytes(code))

    decode_flipped()
    assert len(set(accepted)) > 10


@settings(max_examples=100)
@given(st.binary(min_size=CODE_BYTES, max_size=CODE_BYTES), st.sampled_from([HCP, PSV]))
def test_noise_is_refused_with_a_message(code: bytes, dialect: int) -> None:
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        decode(code, dialect)


def start() -> tuple[np.ndarray, np.ndarray]:
    board, hands, _ = of_cshogi(cshogi.Board())
    return board, hands


def test_each_kind_of_impossible_position_is_named() -> None:
    board, hands = start()
    board[40] = GOLD
    with pytest.raises(ValueError, match="more pieces"):
        encode(board, hands, 0)
    board, hands = start()
    board[6], board[4] = EMPTY, PAWN  # the pawn of the first file moves up
    encode(board, hands, 0)
    board[15], board[3] = EMPTY, PAWN  # a second pawn on the first file
    with pytest.raises(ValueError, match="two pawns"):
        encode(board, hands, 0)
    board, hands = start()
    board[40], board[36] = KING, EMPTY
    with pytest.raises(ValueError, match="king"):
        encode(board, hands, 0)
    board, hands = start()
    board[6], board[0] = EMPTY, PAWN
    with pytest.raises(ValueError, match="never move"):
        encode(board, hands, 0)
    code = bytearray(encode(*start(), 0))
    code[0] |= 0xFE  # the black king on square 127
    with pytest.raises(ValueError, match="king"):
        decode(bytes(code))
    with pytest.raises(ValueError, match="32 bytes"):
        decode(b"\0" * 31)
    with pytest.raises(ValueError, match=r"256 bits|not encode a piece"):
        decode(encode(*start(), 0)[:16] + b"\xff" * 16)
