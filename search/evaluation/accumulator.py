"""Incremental evaluation: each perspective's summed rows, kept per ply and updated only when they are needed.

Slot `ply & 255` holds the sums of the position whose key it carries, so that sums of an undone line are never used for
another one. An evaluation looks a few plies back for valid sums, then adds and removes the rows of all moves since in
one pass. If it finds none, or if the own king has changed its bucket since, it starts from sums kept for the king's
square. The result is always the integer of `search.evaluation.network.evaluate_reference`.
"""

from __future__ import annotations

import ctypes

import numpy as np
from numba import types

from search.compiling.jit import jit
from search.evaluation.draw_value import log_of_rate, steps_of, weigh_draw
from search.evaluation.kernels import (
    activate,
    activate_pairwise,
    activate_squared,
    affine,
    affine_clipped,
    affine_narrow,
    square_and_clip,
    sum_rows,
)
from search.evaluation.network import MAX_LAYER, MAX_LAYERS, SCORE_SHIFT, EvalNetwork
from search.evaluation.network_record import network_record
from search.evaluation.output_buckets import bucket_of_position
from search.evaluation.stacks import king_blocks, progress_of_code, stack_of_position, whole_progress
from search.primitives.bits import popcount, trailing_zeros
from search.primitives.llvm import make_load, make_store
from search.primitives.memory import CACHE_LINE, aligned_zeros, load_word, new_record, record_dtype, store_word
from search.rules.position import in_check, position_dtype
from search.rules.shogi import CODES, EMPTY, HAND_CODES, HAND_KINDS, HAND_OFFSET, HAND_SLOTS, KINDS, KING, SQUARES
from search.score import MAX_EVALUATION

SLOTS = 256
MAX_BACK = 10
"""Plies that an update looks back: beyond these, its rows (up to four per ply) cost as much as those of a refresh."""
FAR = 30
"""Most squares and hands that differ from the kept position; with more, an empty board is a nearer start."""
LIST = 128
_NO_KEY = 0x9E3779B97F4A7C15
"""Key of an empty slot; no more likely to be a position's key than any other number."""
_MEN = 38
PLACEMENT_BYTES = 96
"""Bytes at the start of a position's record that hold the pieces: board and hands; the turn after them is ignored."""
assert position_dtype.fields is not None
assert [position_dtype.fields[name][1] for name in ("board", "hands", "turn")] == [0, SQUARES, PLACEMENT_BYTES - 1]
# After a kept placement: its men without the kings, and the number of missing men whose rows its sums hold.
_MEN_PLACE, _MISSING_PLACE = np.uint64(PLACEMENT_BYTES), np.uint64(PLACEMENT_BYTES + 8)
_NOTHING, _BYTE, _BYTE_START = np.uint64(0), np.uint64(0xFF), np.uint64(56)
_LOWEST_BITS = np.uint64(0x0101010101010101)

accumulator_dtype = record_dtype(
    [
        ("sums", np.uint64),  # address of int16 [SLOTS][2][width]
        ("inputs", np.uint64),  # address of u8: the first layer's inputs
        ("hidden_sums", np.uint64),  # address of int32: the first hidden layer's sums
        ("hidden", np.uint64, MAX_LAYERS),  # addresses of u8: a layer's inputs
        ("outputs", np.uint64),  # address of int32: the output layer's sums
        ("added_list", np.uint64),  # address of uint64 [LIST]: addresses of rows
        ("removed_list", np.uint64),
        ("kept", np.uint64),  # address of the entries of `refresh`: [perspective][king square], each `kept_bytes`
        ("empty", np.uint64),  # address of an entry for an empty board
        ("kept_bytes", np.int64),  # int16 [width] sums, the placement they are of, uint64 men and missing rows
        ("width_bytes", np.int64),
        ("keys", np.uint64, (SLOTS, 2)),  # [slot, perspective]: key of the position that the slot holds
        ("king_offsets", np.int64, (SLOTS, 2)),  # [slot, perspective]: the king's offset of its rows
        ("progress_keys", np.uint64, SLOTS),  # key of the position whose progress the slot holds
        ("progress_kings", np.int64, SLOTS),  # its kings, see `_kings`
        ("progress_sums", np.int64, SLOTS),
        ("draw_output", np.int64),  # raw draw output of the last evaluation, if the network has one
        ("draw_worth", np.int64, 2),  # logarithm of the value of a draw for each colour, see draw_value.py
    ]
)


class Accumulators:
    """Sums and scratch memory of one thread for one network.

    Jitted functions take `record`, which belongs to the thread, and `network`, the network's record, which threads
    share.
    """

    def __init__(self, net: EvalNetwork) -> None:
        self.network = network_record(net)
        widest = net.perspectives * net.view_inputs
        sums = aligned_zeros(SLOTS * 2 * net.width, np.int16)
        lists = aligned_zeros(2 * LIST, np.uint64)
        scratch = aligned_zeros(widest + (2 * MAX_LAYERS + 8) * MAX_LAYER, np.uint8)
        kept_bytes = 2 * net.width + 2 * CACHE_LINE
        kept = aligned_zeros((2 * (SQUARES + 1) + 1) * kept_bytes, np.uint8).reshape(-1, kept_bytes)
        bias = ctypes.string_at(int(self.network["bias"]), 2 * net.width)  # its lanes in the record's order
        kept[:, : 2 * net.width] = np.frombuffer(bias, np.uint8)
        kept[:, 2 * net.width : 2 * net.width + SQUARES] = EMPTY
        self.record = new_record(accumulator_dtype, [sums, lists, scratch, kept])
        record = self.record
        record["sums"] = sums.ctypes.data
        record["added_list"], record["removed_list"] = lists.ctypes.data, lists.ctypes.data + 8 * LIST
        record["inputs"] = scratch.ctypes.data
        record["outputs"] = scratch.ctypes.data + widest
        record["hidden_sums"] = scratch.ctypes.data + widest + 4 * MAX_LAYER
        for index in range(MAX_LAYERS):
            record["hidden"][index] = scratch.ctypes.data + widest + (8 + 2 * index) * MAX_LAYER
        record["kept"], record["empty"] = kept.ctypes.data, kept[-1].ctypes.data
        record["kept_bytes"] = kept_bytes
        record["width_bytes"] = 2 * net.width
        reset_accumulators(record)
        self.set_draw_value((0, 0))

    def set_draw_value(self, draw_value: tuple[int, int]) -> None:
        """Set the value of a draw for black and white in centipawns, for a network that predicts draws."""
        set_draw_worth(self.record, self.network, *map(np.int64, draw_value))


@jit
def set_draw_worth(accumulators, net, black, white):
    """Set the value of a draw for each colour, int64 centipawns."""
    if net.has_draw != 0:
        accumulators.draw_worth[0] = log_of_rate(steps_of(black, net.steps_per_centipawn), net)
        accumulators.draw_worth[1] = log_of_rate(steps_of(white, net.steps_per_centipawn), net)


@jit
def reset_accumulators(accumulators):
    """Forget all sums, as for another game. Results never depend on it, because slots carry keys."""
    for slot in range(SLOTS):
        accumulators.progress_keys[slot] = np.uint64(_NO_KEY)
        for perspective in range(2):
            accumulators.keys[slot, perspective] = np.uint64(_NO_KEY)
    accumulators.draw_output = 0


_load_int32 = make_load(types.int32, 32)
_store_address = make_store(types.uint64, 64)


@jit
def sums_address(accumulators, slot, perspective):
    """Return the address of the int16 sums of a slot."""
    return accumulators.sums + np.uint64((slot * 2 + perspective) * accumulators.width_bytes)


@jit
def _king_offset(pos, net, perspective):
    return net.king_offsets[perspective, pos.king[perspective]]


@jit
def _code_map(perspective, king_offset):
    """Return where the map from codes to rows begins, for an own king with this offset."""
    return (2 * perspective + (king_offset & 1)) * (CODES + 1)


@jit
def _block(net, king_offset):
    """Return the address of the rows of an own king with this offset."""
    return net.rows + np.uint64(king_offset & ~1)


@jit
def _list_row(net, rows, count, code_map, code, block):
    """Put a code's row on a list if it has one; return the new length."""
    offset = np.int64(_load_int32(net.code_offsets, code_map + code))
    if offset < 0:
        return count
    _store_address(rows, count, block + np.uint64(offset))
    return count + 1


@jit
def _list_hand(net, rows, count, code_map, colour, kind, fewer, more, block):
    """Put on a list the rows that a hand of `more` of a kind has and one of `fewer` has not; return the new length."""
    first = HAND_CODES + colour * HAND_SLOTS + HAND_OFFSET[kind]
    for nth in range(fewer, more):
        count = _list_row(net, rows, count, code_map, first + nth, block)
    return count


@jit
def _is_man(piece):
    """Return 1 for a piece of the set of 38 men, 0 for a king or an empty square."""
    return np.int64(piece != EMPTY and piece % KINDS != KING)


@jit
def _distance(placement, other):
    """Return the number of squares and hands in which two placements (addresses) differ."""
    count = np.uint64(0)
    for word in range(PLACEMENT_BYTES // 8):
        place = np.uint64(8 * word)
        differing = load_word(placement + place) ^ load_word(other + place)
        for shift in (4, 2, 1):  # sets the lowest bit of each byte if any of its bits is set
            differing |= differing >> np.uint64(shift)
        count += popcount(differing & _LOWEST_BITS)
    return count


@jit
def refresh(pos, accumulators, net, perspective):
    """Update the sums kept for the perspective's king square to the position, and copy them to its ply's slot.

    Only the difference to the last position with the king there is added or removed ("Finny tables" in chess engines,
    after Luecx's Koivisto), or the difference to an empty board if that is smaller.
    """
    king_offset = _king_offset(pos, net, perspective)
    king = np.int64(pos.king[perspective])
    entry = accumulators.kept + np.uint64((perspective * (SQUARES + 1) + king) * accumulators.kept_bytes)
    width_bytes, placement = np.uint64(accumulators.width_bytes), np.uint64(pos.board.ctypes.data)
    known = entry if _distance(placement, entry + width_bytes) <= FAR else accumulators.empty
    past_snapshot, snapshot = known + width_bytes, entry + width_bytes
    code_map, block = _code_map(perspective, king_offset), _block(net, king_offset)
    added, removed = accumulators.added_list, accumulators.removed_list
    added_count, removed_count = np.int64(0), np.int64(0)
    men = np.int64(load_word(past_snapshot + _MEN_PLACE))
    for word in range(PLACEMENT_BYTES // 8):
        place = np.uint64(8 * word)
        present, past = load_word(placement + place), load_word(past_snapshot + place)
        differing = present ^ past
        store_word(snapshot + place, present)
        while differing != _NOTHING:
            shift = trailing_zeros(differing) & _BYTE_START
            differing &= ~(_BYTE << shift)
            new, old = np.int64((present >> shift) & _BYTE), np.int64((past >> shift) & _BYTE)
            index = 8 * word + np.int64(shift >> np.uint64(3))
            if index < SQUARES:
                men += _is_man(new) - _is_man(old)
                if old != EMPTY:
                    code = old * SQUARES + index
                    removed_count = _list_row(net, removed, removed_count, code_map, code, block)
                if new != EMPTY:
                    code = new * SQUARES + index
                    added_count = _list_row(net, added, added_count, code_map, code, block)
            elif index < SQUARES + 2 * HAND_KINDS:
                men += new - old
                colour, kind = (index - SQUARES) // HAND_KINDS, (index - SQUARES) % HAND_KINDS
                added_count = _list_hand(net, added, added_count, code_map, colour, kind, old, new, block)
                removed_count = _list_hand(net, removed, removed_count, code_map, colour, kind, new, old, block)
    store_word(snapshot + _MEN_PLACE, np.uint64(men))
    if net.missing_row >= 0:
        row, missing = block + np.uint64(net.missing_row), max(_MEN - men, np.int64(0))
        summed = np.int64(load_word(past_snapshot + _MISSING_PLACE))
        for _ in range(summed, missing):
            _store_address(added, added_count, row)
            added_count += 1
        for _ in range(missing, summed):
            _store_address(removed, removed_count, row)
            removed_count += 1
        store_word(snapshot + _MISSING_PLACE, np.uint64(missing))
    slot = np.int64(pos.ply) & (SLOTS - 1)
    sums, none = sums_address(accumulators, slot, perspective), np.int64(0)
    sum_rows(entry, known, added, added_count, removed, removed_count, net.width, net.lane_bytes)
    sum_rows(sums, entry, added, none, removed, none, net.width, net.lane_bytes)
    accumulators.keys[slot, perspective] = pos.key
    accumulators.king_offsets[slot, perspective] = king_offset


@jit
def update(pos, accumulators, net, perspective):
    """Write the sums of a perspective (0 black, 1 white) to the slot of the position's ply."""
    ply = np.int64(pos.ply)
    slot = ply & (SLOTS - 1)
    if accumulators.keys[slot, perspective] == pos.key:
        return
    king_offset = _king_offset(pos, net, perspective)
    for back in range(1, min(MAX_BACK, ply) + 1):
        source = (ply - back) & (SLOTS - 1)
        if (
            accumulators.keys[source, perspective] == pos.keys[ply - back]
            and accumulators.king_offsets[source, perspective] == king_offset
        ):
            code_map, block = _code_map(perspective, king_offset), _block(net, king_offset)
            added, removed = np.int64(0), np.int64(0)
            for step in range(ply - back + 1, ply + 1):
                for change in range(2):
                    code = np.int64(pos.removed[step, change])
                    removed = _list_row(net, accumulators.removed_list, removed, code_map, code, block)
                    code = np.int64(pos.added[step, change])
                    added = _list_row(net, accumulators.added_list, added, code_map, code, block)
            sum_rows(
                sums_address(accumulators, slot, perspective),
                sums_address(accumulators, source, perspective),
                accumulators.added_list,
                added,
                accumulators.removed_list,
                removed,
                net.width,
                net.lane_bytes,
            )
            accumulators.keys[slot, perspective] = pos.key
            accumulators.king_offsets[slot, perspective] = king_offset
            return
    refresh(pos, accumulators, net, perspective)


@jit
def keep_progress(pos, accumulators, total):
    """Put the progress regression's sum (int64) into the slot of the position's ply."""
    slot = np.int64(pos.ply) & (SLOTS - 1)
    accumulators.progress_keys[slot] = pos.key
    accumulators.progress_kings[slot] = _kings(pos)
    accumulators.progress_sums[slot] = total


@jit
def _kings(pos):
    """Return a number for the squares of both kings, int64."""
    return np.int64(pos.king[0]) << 8 | np.int64(pos.king[1])


@jit
def _update_progress(pos, accumulators, net):
    """Write the progress regression's sum to the slot of the position's ply.

    It follows from that of an earlier position of the line whose kings stood on the same squares, else from all pieces.
    Moves leave the number of missing men as it is.
    """
    ply, kings = np.int64(pos.ply), _kings(pos)
    if accumulators.progress_keys[ply & (SLOTS - 1)] == pos.key:
        return
    for back in range(1, min(MAX_BACK, ply) + 1):
        source = (ply - back) & (SLOTS - 1)
        if accumulators.progress_keys[source] == pos.keys[ply - back] and accumulators.progress_kings[source] == kings:
            black, white = king_blocks(pos)
            total = accumulators.progress_sums[source]
            for step in range(ply - back + 1, ply + 1):
                for change in range(2):
                    total += progress_of_code(net, black, white, np.int64(pos.added[step, change]))
                    total -= progress_of_code(net, black, white, np.int64(pos.removed[step, change]))
            keep_progress(pos, accumulators, total)
            return
    keep_progress(pos, accumulators, whole_progress(pos, net))


@jit
def _activate_view(sums, extra, net, inputs):
    if net.pairwise != 0:
        activate_pairwise(sums, extra, net.wrapped_bits, net.input_shift, inputs, net.width)
        return
    if net.square_offset != 0:
        activate(sums, extra, net.input_shift, inputs, net.width)
    if net.square_offset >= 0:
        activate_squared(sums, extra, net.input_shift, inputs + np.uint64(net.square_offset), net.width)


@jit
def forward(pos, accumulators, net):
    """Return the raw value output (int64) from sums that are up to date.

    The draw output goes to `accumulators.draw_output`.
    """
    mover = np.int64(pos.turn)
    slot = np.int64(pos.ply) & (SLOTS - 1)
    extra = net.check_row if in_check(pos) else net.zero_row
    inputs = accumulators.inputs
    _activate_view(sums_address(accumulators, slot, mover), extra, net, inputs)
    if net.perspectives == 2:
        other = sums_address(accumulators, slot, 1 - mover)
        _activate_view(other, net.zero_row, net, inputs + np.uint64(net.view_inputs))
    stack = np.int64(0)
    if net.stacks != 1:
        stack = stack_of_position(pos, net, accumulators.progress_sums[slot])
    first, last, direct = np.int64(0), net.layer_count - 1, np.int64(0)
    if net.squares_hidden != 0:
        sums, target = accumulators.hidden_sums, accumulators.hidden[0]
        weights, biases = _stack_layer(net, stack, 0)
        if net.narrow != 0:
            affine_narrow(inputs, net.inputs[0], weights, biases, sums)
        else:
            affine(inputs, net.inputs[0], weights, biases, net.outputs[0], net.together[0], sums)
        square_and_clip(sums, net.outputs[0], net.shifts[0], target)
        if net.shortcut >= 0:
            direct = np.int64(_load_int32(sums, net.shortcut))
        inputs, first = target, np.int64(1)
    for layer in range(first, last):
        target = accumulators.hidden[layer]
        weights, biases = _stack_layer(net, stack, layer)
        affine_clipped(
            inputs, net.inputs[layer], weights, biases, net.outputs[layer],
            net.shifts[layer], net.together[layer], target,
        )  # fmt: skip
        inputs = target
    weights, biases = _stack_layer(net, stack, last)
    affine(
        inputs, net.inputs[last], weights, biases, net.outputs[last], net.together[last], accumulators.outputs
    )  # fmt: skip
    value = np.int64(0)
    if net.buckets != 1:
        value = bucket_of_position(pos, net.buckets) * (1 + net.has_draw)
    if net.has_draw != 0:
        accumulators.draw_output = np.int64(_load_int32(accumulators.outputs, value + 1))
    return np.int64(np.int32(np.int64(_load_int32(accumulators.outputs, value)) + direct))


@jit
def _stack_layer(net, stack, layer):
    """Return the addresses of a layer's weights and biases in a stack."""
    weights = net.weights[layer] + np.uint64(stack * net.weight_bytes[layer])
    return weights, net.biases[layer] + np.uint64(stack * net.bias_bytes[layer])


@jit
def bring_up(pos, accumulators, net):
    """Update the sums that the network reads; a search does it while its table's entry is fetched."""
    mover = np.int64(pos.turn)
    update(pos, accumulators, net, mover)
    if net.perspectives == 2:
        update(pos, accumulators, net, 1 - mover)
    if net.progress_parts != 1:
        _update_progress(pos, accumulators, net)


@jit
def evaluate_output(pos, accumulators, net):
    """Return the raw value output of the position, from the mover's view; int64."""
    bring_up(pos, accumulators, net)
    return forward(pos, accumulators, net)


@jit
def centipawns(output, net):
    """Return the centipawns of a raw output: divided, scaled, rounded half away from zero, clamped to +-20000."""
    size = output if output >= 0 else -output
    if net.output_divisor != 1:
        size //= net.output_divisor
    size = min(size, np.int64(1 << 28))
    score = min((size * net.centipawns_per_output + (1 << SCORE_SHIFT - 1)) >> SCORE_SHIFT, MAX_EVALUATION)
    return score if output >= 0 else -score


@jit
def evaluate(pos, accumulators, net):
    """Return the score of the position in centipawns, from the mover's view, within +-20000; int64.

    If the network predicts draws, the value of a draw counts by its probability.
    """
    score = centipawns(evaluate_output(pos, accumulators, net), net)
    if net.has_draw != 0:
        output = np.int64(accumulators.draw_output)
        size = abs(output) // net.output_divisor
        draw = steps_of(size if output >= 0 else -size, net.steps_per_draw_output)
        worth, rest = accumulators.draw_worth[pos.turn], accumulators.draw_worth[1 - pos.turn]
        return weigh_draw(score, draw, np.int64(worth), np.int64(rest), net)
    return score
