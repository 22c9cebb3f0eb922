"""Incremental evaluation always equals the evaluation of the position alone."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import random

import numpy as np
import pytest

from liteshogi.commands.eval import Command as Evaluate
from search.evaluation import accumulator
from search.evaluation.accumulator import (
    MAX_BACK,
    SLOTS,
    Accumulators,
    evaluate,
    evaluate_output,
    reset_accumulators,
)
from search.evaluation.evaluation_speed import random_network
from search.evaluation.network import EvalNetwork, Shards, centipawns_reference, evaluate_reference
from search.evaluation.network_file import save_network
from search.evaluation.network_record import network_record
from search.evaluation.static_evaluation import evaluate_batch, evaluate_sfens
from search.rules.movegen import list_moves
from search.rules.position import do_move, do_null_move, undo_move, undo_null_move
from search.rules.sfen import get_sfen, move_from_usi, move_to_usi, position_from_sfen
from search.rules.shogi import EMPTY, KINDS, KING, PAWN

NETS = {
    "lite": ("piece_square", 96, (32,), 1),
    "odd": ("piece_square", 32, (5, 3), 2),
    "no hidden layer": ("k_p", 160, (), 1),
    "k_p": ("k_p", 64, (17, 33), 2),
    "half_kp": ("half_kp", 64, (32, 32), 2),
    "half_kp, one view": ("half_kp", 32, (7,), 1),
    "king buckets": ("king_piece_square", 128, (48,), 2),
    "draw": ("piece_square", 64, (16,), 1, ("value", "draw")),
    "squared": ("piece_square", 96, (32,), 1, ("value",), "squared_clipped_relu"),
    "sfnn": ("half_ka_hm2", 64, (8, 32), 2, ("value",), "pairwise_clipped_relu", 1),
    "sfnn, hands": ("k_a2", 96, (16, 32), 2, ("value",), "pairwise_clipped_relu", 1),
    "sfnn, progress": ("half_ka2", 128, (8, 9), 2, ("value", "draw"), "pairwise_clipped_relu", 1),
    "half_kp_vm": ("half_kp_vm", 64, (8, 32), 2),
    "half_ka1": ("half_ka1", 32, (5,), 2),
    "half_ka_hm1": ("half_ka_hm1", 32, (5,), 2),
    "dual": ("king_piece_square", 64, (9, 5), 2, ("value", "draw"), "dual_clipped_relu", 8),
}

PARTS = {
    "sfnn": {"stacks": ("k3k3",), "hidden_squares": True, "shortcut": True},
    "sfnn, hands": {"stacks": ("hand64z", "k9k9z"), "hidden_squares": True, "shards": Shards(0, 48, 2)},
    "sfnn, progress": {"stacks": ("progress8",), "shortcut": True},
}


@pytest.fixture(scope="module")
def nets() -> dict[str, EvalNetwork]:
    # Rows whose sums sometimes wrap in int16.
    found = {name: random_network(*spec, **PARTS.get(name, {})) for name, spec in NETS.items()}
    odd = found["odd"]
    found["odd"] = dataclasses.replace(odd, rows=odd.rows * np.int16(300), input_shift=5)
    return found


def movers_view(pos: np.void) -> tuple[np.ndarray, np.ndarray, bool]:
    board, hands = pos["board"].astype(np.int64), pos["hands"].reshape(-1).copy()
    if pos["turn"]:
        board = np.where(board == EMPTY, EMPTY, (board + KINDS) % (2 * KINDS))[::-1]
        hands = np.roll(hands, 7)
    return board.astype(np.uint8), hands, bool(pos["checkers"].any())


class Witness:
    """Collects positions and their outputs, for a comparison with the reference in one batch."""

    def __init__(self, net: EvalNetwork) -> None:
        self.net, self.accumulators = net, Accumulators(net)
        self.views: list[tuple[np.ndarray, np.ndarray, bool]] = []
        self.found: list[list[int]] = []

    def look(self, pos: np.void) -> None:
        record = self.accumulators.record
        output = int(evaluate_output(pos, record, network_record(self.net)))
        self.found.append([output, int(record["draw_output"])][: len(self.net.outputs)])
        self.views.append(movers_view(pos))

    def judge(self) -> None:
        pieces, hands, in_check = (np.array(column) for column in zip(*self.views, strict=True))
        expected = evaluate_reference(self.net, pieces, hands, in_check)
        assert (np.array(self.found) == expected).all()
        assert len(np.unique(expected[:, 0])) > 1 or len(expected) < 3


@pytest.mark.parametrize("name", NETS)
def test_evaluation_along_games_equals_the_reference(
    nets: dict[str, EvalNetwork], name: str, play_random, roots
) -> None:
    """Evaluate every ply, then every third on average, which makes longer and interrupted chains of updates."""
    for rate in (1.0, 0.3):
        generator, witness = random.Random(3), Witness(nets[name])
        for seed, root in enumerate(roots):
            for pos, _ in play_random(root, seed, 120):
                if generator.random() < rate:
                    witness.look(pos)
        witness.judge()


def walk(pos: np.void, witness: Witness, generator: random.Random, depth: int, budget: list[int]) -> None:
    """Walk a tree as in a search: some moves of each position, null moves and some evaluations; undo all."""
    if generator.random() < 0.7:
        witness.look(pos)
    if depth == 0 or budget[0] <= 0:
        return
    if not pos["checkers"].any() and generator.random() < 0.3:
        do_null_move(pos)
        walk(pos, witness, generator, depth - 1, budget)
        undo_null_move(pos)
    moves = list_moves(pos)
    for move in generator.sample(moves, min(3, len(moves))):
        budget[0] -= 1
        do_move(pos, np.int64(move))
        walk(pos, witness, generator, depth - 1, budget)
        undo_move(pos, np.int64(move))


@pytest.mark.parametrize("name", NETS)
def test_evaluation_in_a_tree_with_undo_and_null_moves_equals_the_reference(
    nets: dict[str, EvalNetwork], name: str, roots
) -> None:
    for seed, root in enumerate(roots):
        witness, pos = Witness(nets[name]), position_from_sfen(root)
        walk(pos, witness, random.Random(seed), 9, [400])
        witness.judge()


def test_slots_of_long_games_do_not_mix(nets: dict[str, EvalNetwork]) -> None:
    """Kings move for 600 plies, so that slots are reused, also by repeated positions."""
    for name in ("half_kp", "lite", "king buckets"):
        pos = position_from_sfen("4k4/9/9/9/9/9/9/9/4K4 b G 1")
        generator, witness = random.Random(5), Witness(nets[name])
        for _ in range(600):
            moves = list_moves(pos)
            if not moves:
                break
            do_move(pos, np.int64(generator.choice(moves)))
            if generator.random() < 0.5:
                witness.look(pos)
        witness.judge()


def test_another_game_may_use_the_same_accumulators(nets: dict[str, EvalNetwork], play_random, roots) -> None:
    witness = Witness(nets["half_kp"])
    for root in (*roots, "9/9/9/9/9/9/9/9/9 b - 1", "4k4/9/9/9/9/9/9/9/9 w G 1"):
        witness.look(position_from_sfen(root))
    reset_accumulators(witness.accumulators.record)
    assert len(np.unique(witness.accumulators.record["keys"])) == 1  # does not belong to a position
    for root in roots:
        witness.look(position_from_sfen(root))
    witness.judge()


def test_only_the_needed_perspectives_are_summed(nets: dict[str, EvalNetwork]) -> None:
    for name, perspectives in (("lite", 1), ("half_kp", 2)):
        accumulators, pos = Accumulators(nets[name]), position_from_sfen("startpos")
        evaluate_output(pos, accumulators.record, network_record(nets[name]))
        assert (accumulators.record["keys"] == pos["key"]).sum() == perspectives


DANCE = ["2h3h", "8b7b", "3h2h", "7b8b", "2h3h", "8b7b", "3h2h", "7b8b", "2h3h", "8b7b", "3h2h"]


@pytest.mark.parametrize(
    ("moves", "updated"),
    [
        (["7g7f"], [True, True]),
        (["5i5h"], [False, True]),  # the king changes the bucket
        (DANCE[:MAX_BACK], [True, True]),
        (DANCE[: MAX_BACK + 1], [False, False]),
    ],
)
def test_sums_are_updated_from_those_of_the_last_plies(
    nets: dict[str, EvalNetwork], moves: list[str], updated: list[bool]
) -> None:
    """A wrong sum stays wrong by the same amount after an update; only a refresh corrects it."""
    net, pos, accumulators = nets["half_kp"], position_from_sfen("startpos"), Accumulators(nets["half_kp"])
    evaluate_output(pos, accumulators.record, network_record(net))
    wrong = sums_of(accumulators, pos)
    wrong += 1
    for move in moves:
        do_move(pos, np.int64(move_from_usi(move)))
    fresh = Accumulators(net)
    for one in (accumulators, fresh):
        evaluate_output(pos, one.record, network_record(net))
    differences = sums_of(accumulators, pos) - sums_of(fresh, pos)
    assert differences.tolist() == [net.width * [int(one)] for one in updated]


def sums_of(accumulators: Accumulators, pos: np.void) -> np.ndarray:
    """Return the sums in the slot of a position, i2 (perspectives, width), as a view."""
    width = int(accumulators.record["width_bytes"]) // 2
    slot = ctypes.c_int16 * (2 * width)
    address = int(accumulators.record["sums"]) + int(pos["ply"]) % SLOTS * ctypes.sizeof(slot)
    return np.frombuffer(slot.from_address(address), np.int16).reshape(2, width)


def test_loading_any_network_compiles_nothing(nets: dict[str, EvalNetwork]) -> None:
    pos = position_from_sfen("startpos")
    functions = (accumulator.update, accumulator.refresh, accumulator.forward, evaluate_output, evaluate)

    def overloads() -> list[int]:
        return [len(function.overloads) for function in functions]

    evaluate(pos, Accumulators(nets["lite"]).record, network_record(nets["lite"]))
    before = overloads()
    for net in (*nets.values(), random_network("k_p", 224, (9, 100, 3), 2)):
        evaluate(pos, Accumulators(net).record, network_record(net))
    assert overloads() == before
    # Functions from the cache contain their callees, which then have no overloads.
    assert max(before) == before[-1] == 1


@pytest.mark.parametrize("name", ["half_kp", "k_p"])
def test_more_men_than_a_set_has_leave_none_missing(nets: dict[str, EvalNetwork], name: str) -> None:
    """A batch may hold 40 men of which one is a king; the second position has both kings."""
    pieces, hands, in_check = np.full((2, 81), EMPTY, np.uint8), np.zeros((2, 14), np.uint8), np.zeros(2, np.bool_)
    pieces[:, :39], pieces[:, 60] = PAWN, KING
    pieces[1, 0] = KINDS + KING
    found = evaluate_batch(nets[name], pieces, hands, in_check)
    assert (found == evaluate_reference(nets[name], pieces, hands, in_check)).all()


def test_centipawns_equal_the_reference(nets: dict[str, EvalNetwork]) -> None:
    generator = np.random.default_rng(2)
    outputs = [0, 1, -1, 2**31 - 1, -(2**31), *generator.integers(-100_000, 100_000, 200).tolist()]
    for divisor, logit in ((1, 1 / 1000), (16, 1 / 600), (24, 0.01), (7, 1e-5 * 20)):
        net = dataclasses.replace(nets["lite"], output_divisor=divisor, logit_per_output=logit)
        found = [int(accumulator.centipawns(np.int64(output), network_record(net))) for output in outputs]
        assert found == centipawns_reference(net, outputs)


def test_evaluations_of_sfens_and_of_the_verb_are_equal(
    nets: dict[str, EvalNetwork], play_random, tmp_path, capsys
) -> None:
    net = nets["draw"]
    sfens, walks, expected = [], [], []
    accumulators = Accumulators(net)
    for pos, line in play_random("startpos", 4, 12):
        sfens.append(get_sfen(pos))
        walks.append(" ".join(["startpos moves", *map(move_to_usi, line)]))
        output = evaluate_output(pos, accumulators.record, accumulators.network)
        expected.append(int(accumulator.centipawns(output, accumulators.network)))
    found = evaluate_sfens(net, sfens)
    assert [one.score_cp for one in found] == expected
    assert [one.score_cp for one in evaluate_sfens(net, walks)] == expected
    assert all(0 < one.win_rate < 1 and one.draw is not None and 0 <= one.draw <= 1 for one in found)
    save_network(net, tmp_path / "net.safetensors")
    assert evaluate_sfens(tmp_path / "net.safetensors", sfens) == found
    (tmp_path / "sfens.txt").write_text("\n".join(sfens[1:]) + "\n\n")
    Evaluate(str(tmp_path / "net.safetensors"), (sfens[0],), tmp_path / "sfens.txt", json=True).run()
    printed = json.loads(capsys.readouterr().out)["positions"]
    assert [one["score_cp"] for one in printed] == expected
    assert set(printed[0]) == {"sfen", "output", "score_cp", "win_rate", "draw"}
    with pytest.raises(ValueError, match="must have board"):
        evaluate_sfens(net, ["startpos b"])
    with pytest.raises(ValueError, match="move 2, 7g7f"):
        evaluate_sfens(net, ["startpos moves 7g7f 7g7f"])
    with pytest.raises(TypeError, match="'startpos' is one position"):
        evaluate_sfens(net, "startpos")
    with pytest.raises(ValueError, match="no white king"):
        evaluate_sfens(net, ["9/9/4P4/9/9/9/9/9/4K4 b G 1"])
    with pytest.raises(ValueError, match="no black and no white king"):
        evaluate_sfens(net, ["9/9/4P4/9/9/9/9/9/9 b G 1"])
    with pytest.raises(ValueError, match="no positions"):
        Evaluate("default").run()
