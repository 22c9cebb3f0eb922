"""Labels of many positions equal the engine's results for single positions."""

from __future__ import annotations

import cshogi
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.factory.seen import Seen, code_hashes
from experiments.factory.walk import sample_codes, walk
from experiments.labels.labels import blend_results
from experiments.labels.study import QUIESCENCE, SEARCH, STATIC, UNLABELLED, Stopped, Studio
from lite.training.targets import score_win_rates
from search.alphabeta.engine import AlphaBetaEngine
from search.alphabeta.sampling import MAIN
from search.alphabeta.sampling import QUIESCENCE as IN_QUIESCENCE
from search.evaluation.network_file import load_network
from search.evaluation.static_evaluation import evaluate_sfens


@pytest.fixture(scope="module")
def network():
    return load_network("default")


@pytest.fixture(scope="module")
def boards() -> list[cshogi.Board]:
    """Return positions of random games, in check and not."""
    random, found = np.random.default_rng(11), []
    for _ in range(6):
        board = cshogi.Board()
        for _ in range(70):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(moves[random.integers(len(moves))])
            if random.random() < 0.3 and list(board.legal_moves):
                found.append(board.copy())
    assert any(board.is_check() for board in found)
    return found


def codes_of(boards) -> np.ndarray:
    codes = np.zeros((len(boards), 32), np.uint8)
    for board, code in zip(boards, codes, strict=True):
        board.to_hcp(code)
    return codes


def test_static_labels_equal_the_evaluation(network, boards):
    scores, moves = Studio(network).study(codes_of(boards), STATIC)
    for board, score in zip(boards, scores.tolist(), strict=True):
        if board.is_check():
            assert score == UNLABELLED
        else:
            assert score == evaluate_sfens(network, [board.sfen()])[0].score_cp
    assert not moves.any()


def test_searched_labels_equal_those_of_the_engine(network, boards):
    studio, engine = Studio(network, hash_mb=8), AlphaBetaEngine(network, 8)
    for board in boards[:12]:
        studio.forget()
        engine.new_game()
        scores, moves = studio.study(codes_of([board]), SEARCH, nodes=700)
        found = engine.analyse(board.sfen(), nodes=700)
        assert int(scores[0]) == found.score
        assert cshogi.move_to_usi(board.move_from_move16(int(moves[0]))) == found.best_move


def test_invalid_positions_have_no_label(network):
    codes = np.zeros((2, 32), np.uint8)
    codes[1] = 255
    for how in (STATIC, QUIESCENCE, SEARCH):
        assert Studio(network).study(codes, how, nodes=50)[0].tolist() == [UNLABELLED, UNLABELLED]


def test_leaves_are_quiet_ends_of_lines(network, boards):
    studio = Studio(network)
    codes = codes_of(boards)
    scores, _ = studio.study(codes, QUIESCENCE)
    studio.forget()
    leaves, places = studio.leaves(codes, QUIESCENCE)
    assert len(leaves) > len(boards) // 2
    worth, _ = Studio(network).study(leaves, STATIC)
    fitting = []
    for leaf, place, said in zip(leaves, places, worth.tolist(), strict=True):
        board = cshogi.Board()
        board.set_hcp(leaf.copy())
        assert not board.is_check()
        sign = 1 if board.turn == boards[place].turn else -1
        if abs(int(scores[place])) < 20000:
            fitting.append(sign * said == scores[place])
    # A quiescence score is the evaluation at the end of its line, unless the table gave a value without a line.
    assert np.mean(fitting) > 0.95


def test_samples_are_positions_of_the_search(network, boards):
    codes = codes_of(boards)
    plain = Studio(network).study(codes, SEARCH, nodes=900)
    studio = Studio(network)
    samples = studio.samples(codes, 900, 16, seed=4)
    assert 8 * len(codes) < len(samples) < 32 * len(codes)
    assert set(samples["where"].tolist()) == {MAIN, IN_QUIESCENCE}
    own, other = [], []
    for code, source in zip(sample_codes(samples)[::7], samples["source"][::7].tolist(), strict=True):
        board = cshogi.Board()
        board.set_hcp(code.copy())
        assert board.is_ok()
        assert not board.is_check()
        own.append(differing_squares(board, boards[source]))
        other.append(differing_squares(board, boards[::-1][source]))
    assert np.mean(own) < 0.5 * np.mean(other)  # positions of a search are similar to its root
    # Keeping them does not change the search.
    again = Studio(network)
    searched = again._run(codes, SEARCH, 900, 0, False, 50, 9)
    assert searched[0].tolist() == plain[0].tolist()
    assert searched[1].tolist() == plain[1].tolist()


def differing_squares(one, two) -> int:
    return sum(piece != other for piece, other in zip(one.pieces, two.pieces, strict=True))


def test_a_study_is_stopped_from_another_thread(network, boards):
    studio = Studio(network)
    studio.stop()
    with pytest.raises(Stopped):
        studio.study(codes_of(boards), SEARCH, nodes=1000)


def test_walks_consist_of_legal_moves(boards):
    codes = codes_of(boards)
    for least, most in ((0, 0), (1, 1), (0, 3)):
        found, steps, places = walk(codes, least, most, seed=3)
        assert len(found) > len(boards) // 3
        assert all(least <= step <= most for step in steps.tolist())
        for code, step, place in zip(found, steps.tolist(), places, strict=True):
            board = cshogi.Board()
            board.set_hcp(code.copy())
            assert board.is_ok()
            assert not board.is_check()
            assert (board.turn - boards[place].turn - step) % 2 == 0
            if step == 0:
                assert code.tolist() == codes[place].tolist()
            if step == 1:
                assert code.tobytes() in children(boards[place])
    assert walk(codes, 0, 3, 1)[0].tolist() != walk(codes, 0, 3, 2)[0].tolist()


@pytest.mark.parametrize(("least", "most"), [(1, 1), (1, 4), (0, 3)])
def test_lengths_and_moves_of_walks_are_uniform(least, most):
    starts = np.tile(codes_of([cshogi.Board()]), (30_000, 1))
    found, steps, _ = walk(starts, least, most, seed=7)
    _, lengths = np.unique(steps, return_counts=True)
    assert len(lengths) == most - least + 1
    _, moves = np.unique(found[steps == 1], axis=0, return_counts=True)
    assert len(moves) == 30
    for counts in (lengths, moves):
        expected = counts.sum() / len(counts)
        assert ((counts - expected) ** 2 / expected).sum() < len(counts) + 6 * (
            2 * len(counts)
        ) ** 0.5  # chi-squared test


def children(board) -> set[bytes]:
    found = set()
    for move in board.legal_moves:
        board.push(move)
        found.add(codes_of([board])[0].tobytes())
        board.pop()
    return found


@given(st.lists(st.binary(min_size=32, max_size=32), min_size=1, max_size=40))
@settings(max_examples=50)
def test_added_positions_are_known(found):
    codes = np.frombuffer(b"".join(found), np.uint8).reshape(-1, 32)
    seen, met = Seen(1), set()
    first = seen.add(code_hashes(codes))
    for code, fresh in zip(found, first.tolist(), strict=True):
        assert fresh or code in met
        met.add(code)
    assert not seen.add(code_hashes(codes[-1:])).any()


def test_almost_nothing_is_forgotten_while_there_is_room():
    seen = Seen(1)  # room for 131,072
    hashes = np.random.default_rng(3).integers(1, 1 << 63, 40_000, dtype=np.uint64)
    assert seen.add(hashes).mean() == 1
    assert seen.add(hashes[:2000]).mean() < 0.005
    seen.add(np.random.default_rng(4).integers(1, 1 << 63, 1_000_000, dtype=np.uint64))
    assert seen.add(hashes).mean() > 0.99


@given(
    st.lists(st.integers(-29_999, 29_999), min_size=1, max_size=20),
    st.floats(0, 1),
    st.floats(200, 1000),
)
@settings(max_examples=100)
def test_blending_moves_scores_toward_results(scores, share, scale):
    given_scores = np.array(scores, np.int16)
    for result in (0.0, 0.5, 1.0):
        blended = blend_results(given_scores, np.full(len(scores), result), share, scale).astype(int)
        limit = np.clip(given_scores, -10 * scale, 10 * scale)
        if result == 1.0:
            assert (blended >= np.floor(limit) - 1).all()
        if result == 0.0:
            assert (blended <= np.ceil(limit) + 1).all()
        assert (np.abs(blended) <= 10 * scale + 1).all()
        rate = (1 - share) * score_win_rates(given_scores, scale) + share * result
        inside = (rate > 1e-4) & (rate < 1 - 1e-4)  # ten logits are 0.00005 from 0 or 1
        np.testing.assert_allclose(score_win_rates(blended, scale)[inside], rate[inside], atol=0.7 / (4 * scale))
    untouched = blend_results(given_scores, np.full(len(scores), np.nan), share, scale)
    assert untouched.tolist() == scores


def test_blending_keeps_mates_and_missing_scores():
    scores = np.array([31_990, -31_000, UNLABELLED, 0], np.int16)
    blended = blend_results(scores, np.array([0.0, 1.0, 1.0, 1.0]), 0.5, 600)
    assert blended.tolist() == [31_990, -31_000, UNLABELLED, round(600 * np.log(3))]


@pytest.mark.parametrize("scale", [600.0, 3000.0, 5000.0, 1e6])
def test_blended_scores_stay_below_mates(scale):
    blended = blend_results(np.array([800, -800], np.int16), np.array([1.0, 0.0]), 1.0, scale)
    most = min(10 * scale, 29_999)
    assert blended.tolist() == [most, -most]
