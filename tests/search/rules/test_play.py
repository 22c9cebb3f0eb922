"""Positions as a start and moves: read as cshogi reads them, and never longer than a record."""

from __future__ import annotations

import cshogi
import pytest

from search.rules.play import set_game, split_moves, without_ending
from search.rules.position import new_position
from search.rules.sfen import get_sfen, move_to_usi, set_sfen
from search.rules.shogi import START_SFEN


@pytest.mark.parametrize(
    ("text", "start", "moves"),
    [
        ("startpos", "startpos", ()),
        (" startpos moves 7g7f  3c3d ", "startpos", ("7g7f", "3c3d")),
        ("startpos moves", "startpos", ()),
        ("position\tstartpos\tmoves\t7g7f\r\n", "startpos", ("7g7f",)),
        (f"sfen {START_SFEN} moves 7g7f", f"sfen {START_SFEN}", ("7g7f",)),
        (f"position sfen {START_SFEN} moves 7g7f", f"sfen {START_SFEN}", ("7g7f",)),
        (START_SFEN, START_SFEN, ()),
    ],
)
def test_start_and_moves_are_split(text, start, moves):
    assert split_moves(text) == (start, moves)


@pytest.mark.parametrize("ending", ["", " resign", " win", "\tresign break win\r\n"])
@pytest.mark.parametrize("start", ["startpos", START_SFEN, f"position sfen {START_SFEN} moves 7g7f 3c3d"])
def test_the_ending_of_a_game_in_a_file_is_left_out(start, ending):
    assert without_ending(start + ending) == start


def test_a_move_after_the_ending_of_a_game_in_a_file_is_an_error():
    with pytest.raises(ValueError, match="a move after the ending: '3c3d'"):
        without_ending("startpos moves 7g7f resign 3c3d")


def test_the_moves_of_a_position_have_no_ending():
    with pytest.raises(ValueError, match="'resign' is not a USI move"):
        set_game(new_position(), *split_moves("startpos moves 7g7f resign"))


def test_games_lead_to_the_positions_of_cshogi(play_random):
    pos, board = new_position(), cshogi.Board()
    for seed in range(5):
        line = [*play_random("startpos", seed, 80)][-1][1]
        moves = [move_to_usi(move) for move in line]
        board.set_position(" ".join(["startpos moves", *moves]))
        set_game(pos, "startpos", moves)
        assert get_sfen(pos) == board.sfen()


def test_a_long_game_keeps_its_last_moves():
    shuffle = ("2h3h", "8b7b", "3h2h", "7b8b") * 50
    pos = new_position()
    for longest, plies in ((40, 40), (60, 60), (1000, 200)):
        set_game(pos, "startpos", shuffle, longest)
        assert (pos["ply"], pos["game_ply"]) == (plies, 201)
        assert get_sfen(pos).split()[:3] == START_SFEN.split()[:3]


def test_written_games_can_be_read():
    pos, again = new_position(), new_position()
    set_game(pos, "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 999999", ("7g7f", "3c3d"))
    assert get_sfen(pos).endswith(" b - 999999")
    set_sfen(again, get_sfen(pos))
    assert again["key"] == pos["key"]


def test_the_first_move_that_is_not_legal_is_named():
    pos = new_position()
    with pytest.raises(ValueError, match=r"move 2, 7g7f, is not legal in .* w - 2"):
        set_game(pos, "startpos", ("7g7f", "7g7f", "9a9b"))
    with pytest.raises(ValueError, match="not a USI move"):
        set_game(pos, "startpos", ("P*5z",))


def test_an_invalid_move_is_named_only_if_it_is_reached():
    pos = new_position()
    for moves, words in (
        (("7g7f", "3c3d", "nonsense", "7g7f"), "'nonsense' is not a USI move"),
        (("7g7f", "7g7f", "nonsense"), "move 2, 7g7f, is not legal"),
        (("7g7f", "resign"), "'resign' is not a USI move"),
    ):
        with pytest.raises(ValueError, match=words):
            set_game(pos, "startpos", moves)
    assert get_sfen(pos).endswith(" w - 2")  # as that move found it
