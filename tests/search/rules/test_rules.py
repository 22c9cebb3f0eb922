"""The rules against cshogi, and against themselves: undo, and keys that do not depend on the path."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from types import SimpleNamespace

import cshogi
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.compiling.jit import jit
from search.evaluation.evaluation_speed import read_move_lists
from search.rules.declaration import RULE_27, can_declare
from search.rules.movegen import INFERIOR, MAX_MOVES, QUIET, TACTICAL, is_legal, list_moves
from search.rules.perft import make_leaves, perft, timed_perft
from search.rules.position import (
    BLACKS,
    PAWNS,
    SIDE_KEY,
    WHITES,
    do_move,
    do_null_move,
    gives_check,
    in_check,
    key_after,
    new_position,
    position_dtype,
    undo_move,
    undo_null_move,
)
from search.rules.repetition import repetition
from search.rules.sfen import get_sfen, move_from_usi, move_to_usi, position_from_sfen, set_sfen
from search.rules.shogi import EMPTY, KINDS

VERDICTS = {
    0: cshogi.NOT_REPETITION,
    1: cshogi.REPETITION_DRAW,
    2: cshogi.REPETITION_WIN,
    3: cshogi.REPETITION_LOSE,
    4: cshogi.REPETITION_SUPERIOR,
    5: cshogi.REPETITION_INFERIOR,
}
PER_PLY = ("keys", "board_keys", "packed_hands", "check_runs", "all_checkers", "moves", "captured", "null_distance")
PER_PLY += ("removed", "added", "part_keys")


def snapshot(pos: np.void) -> list[bytes]:
    """Return every field of the record, the per-ply arrays up to the current ply."""
    upto = int(pos["ply"]) + 1
    names = position_dtype.names or ()
    return [np.asarray(pos[name][:upto] if name in PER_PLY else pos[name]).tobytes() for name in names]


def compare_with_cshogi(pos: np.void, board: cshogi.Board) -> None:
    """Compare one position: legal moves, check, repetition verdict, declaration, SFEN and hcp."""
    assert {move_to_usi(move) for move in list_moves(pos)} == {cshogi.move_to_usi(move) for move in board.legal_moves}
    assert in_check(pos) == board.is_check()
    assert VERDICTS[repetition(pos, np.int64(1 << 20), np.int64(1 << 20))] == board.is_draw()
    assert can_declare(pos, np.int64(RULE_27)) == board.is_nyugyoku()
    assert get_sfen(pos) == board.sfen()


@pytest.mark.parametrize("seed", range(6))
def test_random_games_agree_with_cshogi(play_random, roots, seed):
    for root in roots:
        start = position_from_sfen(root)
        if start["king"].max() > 80:
            continue
        board = cshogi.Board(get_sfen(start))
        played = 0
        for pos, line in play_random(root, seed, 120):
            for move in line[played:]:
                board.push_usi(move_to_usi(move))
            played = len(line)
            compare_with_cshogi(pos, board)


@pytest.mark.parametrize("seed", range(3))
def test_the_key_after_a_move_is_known_before_it(play_random, roots, seed):
    for root in roots:
        for pos, _ in play_random(root, seed + 40, 60):
            for move in list_moves(pos):
                expected = key_after(pos, np.int64(move))
                do_move(pos, np.int64(move))
                assert expected == pos["key"], (get_sfen(pos), move_to_usi(move))
                undo_move(pos, np.int64(move))


def shuffling_game(seed: int, plies: int, root: str):
    """Play random games that prefer to move back, so that repetitions of every kind occur."""
    pos, board, generator = position_from_sfen(root), cshogi.Board(root), random.Random(seed)
    for _ in range(plies):
        moves = list_moves(pos)
        if not moves:
            return
        checks, backs = [], []
        last = int(pos["moves"][pos["ply"] - 1]) if pos["ply"] >= 2 else 0
        for move in moves:
            if last and move == ((last & 127) << 7 | (last >> 7 & 127)):
                backs.append(move)
            do_move(pos, np.int64(move))
            if in_check(pos):
                checks.append(move)
            undo_move(pos, np.int64(move))
        pool = backs if backs and generator.random() < 0.6 else checks if checks and generator.random() < 0.7 else moves
        move = generator.choice(pool)
        do_move(pos, np.int64(move))
        board.push_usi(move_to_usi(move))
        yield pos, board


def test_repetition_verdicts_agree_with_cshogi():
    roots = (
        "4k4/9/9/9/9/9/9/3R5/4K4 b Pp 1",
        "3k5/9/9/9/2r6/9/9/4B4/4K4 b Gg 1",
        "ln1g3nl/1r3kg2/p2pppsp1/3s2p1p/1pp4P1/P1P1SP2P/1PSPP1P2/2G2G1R1/LN1K3NL w Bb 28",
    )
    seen = set()
    for seed in range(30):
        for pos, board in shuffling_game(seed, 60, roots[seed % 3]):
            verdict = repetition(pos, np.int64(1 << 20), np.int64(1 << 20))
            assert VERDICTS[verdict] == board.is_draw(), get_sfen(pos)
            seen.add(verdict)
    assert seen == set(VERDICTS)


@pytest.mark.parametrize("seed", range(4))
def test_undo_restores_the_whole_record(play_random, roots, seed):
    for root in roots:
        for pos, _ in play_random(root, seed, 60):
            before = snapshot(pos)
            for move in list_moves(pos):
                checks = gives_check(pos, np.int64(move))
                do_move(pos, np.int64(move))
                assert in_check(pos) == checks, move_to_usi(move)
                undo_move(pos, np.int64(move))
                assert snapshot(pos) == before, move_to_usi(move)
            if not in_check(pos):
                do_null_move(pos)
                undo_null_move(pos)
                assert snapshot(pos) == before


@pytest.mark.parametrize("seed", range(3))
def test_a_played_record_equals_one_that_is_set_up(play_random, roots, seed):
    """Keys, bitboards, checkers do not depend on the path."""
    for root in roots:
        for pos, _ in play_random(root, seed + 100, 80):
            fresh = new_position()
            set_sfen(fresh, get_sfen(pos))
            for name in ("board", "hands", "turn", "king", "key", "colours", "groups", "checkers"):
                assert np.array_equal(pos[name], fresh[name]), name
            assert pos["board_keys"][pos["ply"]] == fresh["board_keys"][0]
            assert np.array_equal(pos["packed_hands"][pos["ply"]], fresh["packed_hands"][0])
            parts = pos["part_keys"][pos["ply"]]
            assert np.array_equal(parts, fresh["part_keys"][0])
            assert parts[BLACKS] ^ parts[WHITES] ^ parts[PAWNS] ^ SIDE_KEY * pos["turn"] == fresh["board_keys"][0]


@jit
def accepted_moves(pos, accepted):
    """Write the 15-bit moves that `is_legal` accepts; return their number."""
    count = np.int64(0)
    for move in range(1 << 15):
        if is_legal(pos, np.int64(move)):
            accepted[count] = move
            count += 1
    return count


@pytest.mark.parametrize("seed", range(2))
def test_is_legal_accepts_exactly_the_legal_moves(play_random, roots, seed):
    accepted = np.zeros(1 << 15, np.uint16)
    for root in roots:
        for pos, _ in play_random(root, seed + 200, 30):
            legal = set(list_moves(pos))
            count = accepted_moves(pos, accepted)
            assert legal == set(accepted[:count].tolist())


def test_stages_partition_the_moves(play_random, roots):
    for root in roots:
        for pos, _ in play_random(root, 7, 80):
            tactical, quiet = list_moves(pos, TACTICAL), list_moves(pos, QUIET)
            useful = list_moves(pos, TACTICAL | QUIET)
            assert sorted(tactical + quiet) == sorted(useful)
            assert len(set(useful)) == len(useful)
            everything = list_moves(pos)
            assert set(useful) <= set(everything)
            assert len(set(everything)) == len(everything)
            for move in tactical:
                moved = pos["board"][move >> 7 & 127] % KINDS
                assert pos["board"][move & 127] != EMPTY or (moved == 0 and move >> 14)
            inferior = set(everything) - set(useful)
            assert all(pos["board"][move >> 7 & 127] % KINDS in (0, 1, 4, 5) for move in inferior)
            assert INFERIOR == 4


AFTER_7G7F = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2"
PERFT = {
    "startpos": (30, 900, 25470, 719731),
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1": (207, 28684, 4809015),
    "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1": (593, 105677),
}


def test_perft_is_timed_without_compiling(monkeypatch):
    clock, waits = [0.0], [60.0]

    def compiled_at_first(sfen, depth):
        clock[0] += waits.pop() if waits else 0
        return perft(sfen, depth)

    monkeypatch.setattr("search.rules.perft.perft", compiled_at_first)
    monkeypatch.setattr("search.rules.perft.time", SimpleNamespace(perf_counter=lambda: clock[0]))
    nodes, seconds, below = timed_perft("startpos", 2)
    assert (nodes, below) == (900, {})
    assert not waits
    assert seconds == 0
    nodes, _, below = timed_perft("startpos", 2, divided=True)
    assert nodes == sum(below.values()) == 900
    assert below["7g7f"] == 30


def test_perft_counts_behind_moves():
    assert timed_perft("startpos moves 7g7f", 1, divided=True)[::2] == timed_perft(AFTER_7G7F, 1, divided=True)[::2]
    kings = ("5i5h", "5a5b", "5h5i", "5b5a") * 500  # more moves than a record has room for
    assert perft(f"position startpos moves {' '.join(kings)}", 2) == 900
    with pytest.raises(ValueError, match="move 1, 7g7c, is not legal"):
        perft("startpos moves 7g7c", 1)


def test_perft_reference_counts():
    """Counts published with YaneuraOu's unit test and shared by several libraries."""
    for sfen, counts in PERFT.items():
        for depth, count in enumerate(counts, 1):
            assert perft(sfen, depth) == count
            if depth <= 2:
                pos = position_from_sfen(sfen)
                assert make_leaves(pos, np.int64(depth), np.zeros((depth + 1, MAX_MOVES), np.uint16)) == count


def test_drop_pawn_mate_is_illegal_and_harmless_pawn_checks_are_not():
    mate = position_from_sfen("3nkn3/3n1n3/4G4/9/9/9/9/9/4K4 b P 1")
    assert "P*5b" not in {move_to_usi(move) for move in list_moves(mate)}
    escape = position_from_sfen("3nk4/3n1n3/4G4/9/9/9/9/9/4K4 b P 1")
    assert "P*5b" in {move_to_usi(move) for move in list_moves(escape)}
    for pos in (mate, escape):
        compare_with_cshogi(pos, cshogi.Board(get_sfen(pos)))


@given(st.integers(0, (1 << 16) - 1))
@settings(max_examples=200)
def test_move_notation_round_trips(move):
    target, origin = move & 127, move >> 7 & 127
    if target < 81 and (origin < 81 or (origin < 88 and not move & 1 << 14)) and 0 < move < 1 << 15:
        assert move_from_usi(move_to_usi(move)) == move


@st.composite
def edited_sfens(draw):
    """Draw a position's SFEN with one to three characters changed."""
    text = list("4k4/9/2n3p2/9/9/2P6/9/1B5R1/LNSGKGSNL b 2p 1")
    for _ in range(draw(st.integers(1, 3))):
        text[draw(st.integers(0, len(text) - 1))] = draw(st.sampled_from("lnsgkrbpLNSGKRBP+123456789/ bw-"))
    return "".join(text)


def test_any_text_is_a_position_or_a_value_error():
    accepted = set()

    @given(edited_sfens() | st.text(max_size=120))
    @settings(max_examples=300)
    def read(text):
        pos = new_position()
        try:
            set_sfen(pos, text)
        except ValueError:
            return
        assert position_from_sfen(get_sfen(pos))["key"] == pos["key"]
        accepted.add(text)

    read()
    assert len(accepted) > 3


@pytest.mark.parametrize(
    ("sfen", "words"),
    [
        ("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL x - 1", "side to move"),
        ("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1 b - 1", "ranks"),
        ("lnsgkgsnl/1r5b1/ppppppppp1/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1", "rank 3"),
        ("Pnsgkgsnl/1r5b1/1pppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1", "never move"),
        ("lnsgkgsnl/1r5b1/ppppppppp/9/4P4/9/PPPP1PP1P/1B2P2R1/LNSGKGSNL b - 1", "two unpromoted pawns"),
        ("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b P 1", "more pieces"),
        ("4k4/9/9/9/9/9/9/9/4R3K b - 1", "in check"),
        ("9/9/9/9/9/9/9/9/3KK4 b - 1", "two kings"),
    ],
)
def test_impossible_positions_are_refused(sfen, words):
    with pytest.raises(ValueError, match=words):
        position_from_sfen(sfen)


def follow(board: cshogi.Board, line: list[int], played: int) -> int:
    """Bring cshogi's board up to a line of which it has played `played` moves; return how many it has then."""
    for move in line[played:]:
        board.push_usi(move_to_usi(move))
    return len(line)


@pytest.mark.slow
def test_two_hundred_thousand_positions_agree_with_cshogi(play_random, roots):
    count, seed = 0, 1000
    while count < 200_000:
        for root in roots[:4]:
            board, played = cshogi.Board(get_sfen(position_from_sfen(root))), 0
            for pos, line in play_random(root, seed, 250):
                played = follow(board, line, played)
                compare_with_cshogi(pos, board)
                count += 1
        seed += 1
    print(json.dumps({"random_positions": count, "differences": 0}))


@pytest.mark.slow
def test_recorded_games_agree_with_cshogi(data_folder):
    """Compare every position of the recorded games in the folder of `--data`."""
    path = data_folder / "games" / "games.jsonl.xz"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    games, count = read_move_lists(path, 100_000), 0
    for first, last in pairwise(games.starts.tolist()):
        pos, board = position_from_sfen("startpos"), cshogi.Board()
        for move in games.moves[first:last].tolist():
            compare_with_cshogi(pos, board)
            do_move(pos, np.int64(move))
            board.push_usi(move_to_usi(move))
            count += 1
    print(json.dumps({"recorded_positions": count, "differences": 0}))
