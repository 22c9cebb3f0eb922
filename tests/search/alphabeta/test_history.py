"""Histories: they stay within limits, bonuses order moves, and corrections approach the observed error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.alphabeta.correction import LIMIT, correct, learn_correction
from search.alphabeta.forward_pruning import enough_moves
from search.alphabeta.history import learn_quiet, reward
from search.alphabeta.parameters import CORRECTION, EVERY_STEP, LATE_MOVE_PRUNING
from search.alphabeta.picker import next_move, start_picking
from search.alphabeta.single_search import begin_search
from search.alphabeta.thread import HISTORIES, NO_CONTINUATION, SearchThread
from search.alphabeta.transposition import TranspositionTable
from search.evaluation.material import material_network
from search.rules.movegen import list_moves
from search.rules.position import do_move, undo_move
from search.rules.sfen import move_from_usi, set_sfen
from search.rules.shogi import START_SFEN
from search.score import MAX_EVALUATION

PLY = np.int64(8)


@pytest.fixture
def thread() -> SearchThread:
    thread = SearchThread(material_network(), TranspositionTable(1))
    set_sfen(thread.position, START_SFEN)
    thread.record["continuation"] = NO_CONTINUATION
    return thread


@given(
    st.integers(-1000, 1000), st.lists(st.integers(-40000, 40000), max_size=40), st.sampled_from((1000, 8192, 30000))
)
def test_a_history_stays_within_its_limit_and_moves_in_the_direction_of_the_bonus(value, bonuses, limit):
    for bonus in bonuses:
        after = int(reward(np.int16(value), np.int64(bonus), np.int64(limit)))
        assert abs(after) <= limit
        # At the limit, or if the bonus is lost in rounding, the value may stay.
        assert after == value or (after > value) == (bonus > 0)
        value = after


def ordered(thread: SearchThread) -> list[int]:
    start_picking(thread.position, thread.record, PLY, np.int64(0), np.int64(0))
    moves = []
    while move := int(next_move(thread.position, thread.record, PLY, np.int64(0))):
        moves.append(move)
    return moves


@pytest.mark.parametrize("usi", ["1g1f", "9i9h", "2h7h", "5i5h"])
def test_bonuses_move_a_move_to_the_front_and_penalties_to_the_end(thread, usi):
    move = np.int64(move_from_usi(usi))
    pos, record = thread.position, thread.record
    everything = sorted(int(m) for m in list_moves(pos))
    learn_quiet(pos, record, PLY, move, np.int64(1500))
    assert ordered(thread)[0] == move
    for _ in range(40):
        learn_quiet(pos, record, PLY, move, np.int64(-2000))
    assert ordered(thread)[-1] == move
    assert sorted(ordered(thread)) == everything


def test_safe_quiet_checks_precede_other_quiet_moves(thread):
    set_sfen(thread.position, "4k4/9/4P4/9/9/9/9/9/4K4 b G 1")
    safe, lost = move_from_usi("G*5b"), move_from_usi("G*4a")
    assert ordered(thread)[0] == safe
    learn_quiet(thread.position, thread.record, PLY, np.int64(move_from_usi("5i5h")), np.int64(800))
    moves = ordered(thread)
    assert moves.index(safe) < moves.index(move_from_usi("5i5h")) < moves.index(lost)


@settings(max_examples=30)
@given(
    error=st.integers(-3000, 3000), depth=st.integers(1, 40), evaluation=st.integers(-MAX_EVALUATION, MAX_EVALUATION)
)
def test_corrections_approach_the_error_within_their_limits(error, depth, evaluation):
    thread = SearchThread(material_network(), TranspositionTable(1))
    pos, record = thread.position, thread.record
    set_sfen(pos, START_SFEN)
    record["continuation"] = NO_CONTINUATION
    plain = int(correct(pos, record, PLY, np.int64(evaluation)))
    assert plain == evaluation
    for _ in range(8):
        learn_correction(pos, record, PLY, np.int64(depth), np.int64(error), error > 0)
    corrected = int(correct(pos, record, PLY, np.int64(evaluation)))
    assert np.abs(record["correction"]).max() <= LIMIT
    assert abs(corrected) <= MAX_EVALUATION
    if corrected != evaluation:
        assert (corrected > evaluation) == (error > 0)
    record["steps"] = EVERY_STEP & ~CORRECTION
    assert int(correct(pos, record, PLY, np.int64(evaluation))) == evaluation


def test_unrelated_positions_share_no_correction(thread):
    pos, record = thread.position, thread.record
    correct(pos, record, PLY, np.int64(0))
    learn_correction(pos, record, PLY, np.int64(10), np.int64(400), True)
    at_home = int(correct(pos, record, PLY, np.int64(0)))
    assert at_home > 0
    move = np.int64(move_from_usi("7g7f"))
    do_move(pos, move)  # each colour has its own corrections
    assert abs(int(correct(pos, record, PLY, np.int64(0)))) < at_home
    undo_move(pos, move)
    assert int(correct(pos, record, PLY, np.int64(0))) == at_home


def test_no_quiet_move_is_skipped_at_depth_one_in_the_first_iterations(thread):
    record = thread.record
    first = int(record["parameters"]["late_move_iteration"])
    for iteration, skips in ((first - 1, False), (first, True)):
        record["root_depth"] = iteration
        assert bool(enough_moves(record, np.int64(1), np.int64(60), False)) is skips
        assert enough_moves(record, np.int64(2), np.int64(60), False)
        assert not enough_moves(record, np.int64(2), np.int64(2), False)
    record["steps"] = EVERY_STEP & ~LATE_MOVE_PRUNING
    assert not enough_moves(record, np.int64(2), np.int64(60), False)


def test_histories_by_ply_are_reset_for_each_search(thread):
    thread.record["low_ply_history"] = 7000
    assert begin_search(thread.position, thread.record, np.int64(1)) > 0
    assert np.all(thread.record["low_ply_history"] == HISTORIES["low_ply_history"])
