"""Every kernel that this machine can run equals NumPy to the bit, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from search.compiling.jit import KERNEL
from search.compiling.target import KERNELS
from search.evaluation import kernels

SCRIPT = """
import dataclasses
import numpy as np
from search.evaluation import kernels
from search.evaluation.evaluation_speed import random_network
from search.compiling.jit import KERNEL
from search.primitives.memory import aligned_zeros
from search.evaluation.network import Shards, evaluate_reference
from search.evaluation.static_evaluation import evaluate_batch

generator = np.random.default_rng(7)
INT = np.int64

def aligned(array):
    copy = aligned_zeros(array.size, array.dtype).reshape(array.shape)
    copy[...] = array
    return copy

def address(array):
    return np.uint64(array.ctypes.data)

for width in (32, 64, 96, 128, 160, 256, 544):
    narrow = aligned(generator.integers(-128, 128, (40, width)).astype(np.int8))
    rows = aligned(generator.integers(-32768, 32768, (40, width)).astype(np.int16))
    source, target = rows[0], aligned(np.zeros(width, np.int16))
    for added, removed in ((0, 0), (1, 1), (2, 0), (0, 3), (20, 19)):
        lists = generator.integers(0, 40, added + removed + 1)
        plus, minus = lists[:added], lists[added:added + removed]
        for table in (narrow, rows):
            places = aligned(np.array([address(table[i]) for i in lists], np.uint64))
            kernels.sum_rows(address(target), address(source), address(places), INT(added), address(places[added:]),
                             INT(removed), INT(width), INT(table.itemsize))
            expected = source + table[plus].sum(0, dtype=np.int16) - table[minus].sum(0, dtype=np.int16)
            assert (target == expected).all(), ("sum_rows", width, added, removed, table.dtype)
    for shift in (0, 1, 6, 15):
        clipped = np.clip((rows[1] + rows[2]) >> shift, 0, 127).astype(INT)
        for activate, expected in ((kernels.activate, clipped), (kernels.activate_squared, (clipped ** 2 + 64) >> 7)):
            out = aligned(np.full(width + 64, 99, np.uint8))
            activate(address(rows[1]), address(rows[2]), INT(shift), address(out), INT(width))
            assert (out[:width] == expected).all(), (activate, width, shift)
            assert (out[width:] == 99).all()

    for wrapped, shift in ((0, 0), (1, 0), (1, 6), (0, 15), (0, 5)):
        sums = (((rows[3] + rows[4]) << wrapped) >> (wrapped + shift)).astype(INT)
        half = width // 2
        expected = (np.clip(sums[:half], 0, 127) * np.clip(sums[half:], 0, 127)) >> 7
        out = aligned(np.full(half + 64, 99, np.uint8))
        kernels.activate_pairwise(address(rows[3]), address(rows[4]), INT(wrapped), INT(shift), address(out),
                                  INT(width))
        assert (out[:half] == expected).all(), ("activate_pairwise", width, shift)
        assert (out[half:] == 99).all()

for count in (16, 32, 48, 1024):
    for shift in (0, 1, 6, 8):
        near = generator.integers(-(129 << shift), 129 << shift, count - 4)
        sums = aligned(np.append(near, [-(1 << 31), (1 << 31) - 1, 8159, 8160]).astype(np.int32))
        out = aligned(np.full(2 * count + 64, 99, np.uint8))
        kernels.square_and_clip(address(sums), INT(count), INT(shift), address(out))
        squares = np.minimum(sums.astype(INT) ** 2 >> (2 * shift + 7), 127)
        assert (out[:count] == squares).all() and (out[count:2 * count] == np.clip(sums >> shift, 0, 127)).all()
        assert (out[2 * count:] == 99).all()
    for shift in (9, 20, 24, 31):  # of a layer with a shortcut and without squares
        sums = aligned(generator.integers(-(1 << 31), 1 << 31, count).astype(np.int32))
        out = aligned(np.full(2 * count + 64, 99, np.uint8))
        kernels.square_and_clip(address(sums), INT(count), INT(shift), address(out))
        assert (out[count:2 * count] == np.clip(sums >> shift, 0, 127)).all(), ("square_and_clip", count, shift)

# Most weights of which int16 holds the products of 1, 2 and 4 groups.
for largest, together in ((128, 1), (64, 2), (32, 4)):
    together = max(count for count in kernels.TOGETHER if count <= together)
    choices = np.array([-largest, 1 - largest, -1, 0, 1, 5, largest - 1], np.int8)
    for inputs in (16, 32, 48, 96, 256, 272, 288, 384, 512, 2048):
        for outputs in (1, 2, 15, 16, 17, 32, 33, 48, 80):
            # All the extremes: the least weights with inputs of 127.
            weight = generator.choice(choices, (outputs, inputs))
            x = aligned(generator.choice(np.array([0, 0, 1, 64, 127], np.uint8), inputs))
            if outputs % 2:
                weight[0], x[:] = -largest, 127
                assert kernels.groups_together(weight, inputs) == together
            count = INT(kernels.groups_together(weight, inputs))
            bias = generator.integers(-(1 << 31), 1 << 31, outputs).astype(np.int32)
            packed, biases = aligned(kernels.pack_weights(weight, inputs)), aligned(kernels.pack_biases(bias))
            padded = kernels.padded_outputs(outputs)
            sums = (weight.astype(np.int64) @ x.astype(np.int64) + bias).astype(np.int32)
            found = aligned(np.full(padded + 16, 77, np.int32))
            kernels.affine(address(x), INT(inputs), address(packed), address(biases), INT(padded), count,
                           address(found))
            assert (found[:outputs] == sums).all() and (found[outputs:padded] == 0).all(), ("affine", inputs, outputs)
            assert (found[padded:] == 77).all()
            for shift in (0, 6, 31):
                cut = aligned(np.full(padded + 16, 99, np.uint8))
                kernels.affine_clipped(address(x), INT(inputs), address(packed), address(biases), INT(padded),
                                       INT(shift), count, address(cut))
                assert (cut[:outputs] == np.clip(sums >> shift, 0, 127)).all(), ("clipped", inputs, outputs, shift)
                assert (cut[outputs:padded] == 0).all() and (cut[padded:] == 99).all()

for inputs in (32, 64, 96, 1024):
    for outputs in (1, 7, 8):
        weight = generator.choice(np.array([-128, -127, -1, 0, 1, 5, 127], np.int8), (outputs, inputs))
        x = aligned(generator.choice(np.array([0, 1, 64, 127], np.uint8), inputs))
        bias = generator.integers(-(1 << 31), 1 << 31, outputs).astype(np.int32)
        packed, biases = aligned(kernels.pack_narrow_weights(weight, inputs)), aligned(kernels.pack_biases(bias))
        found = aligned(np.full(32, 77, np.int32))
        kernels.affine_narrow(address(x), INT(inputs), address(packed), address(biases), address(found))
        sums = (weight.astype(np.int64) @ x.astype(np.int64) + bias).astype(np.int32)
        assert (found[:outputs] == sums).all() and (found[outputs:16] == 0).all() and (found[16:] == 77).all()

# Whole networks on made-up boards: half of the squares empty, kings anywhere or nowhere, rows that wrap.
pieces = np.where(generator.random((60, 81)) < 0.7, 28, generator.integers(0, 28, (60, 81))).astype(np.uint8)
pieces[(pieces % 14 == 7)] = 28
for one in pieces:
    one[generator.permutation(81)[:2]] = 7, 21
    crowd = np.flatnonzero((one != 28) & (one % 14 != 7))[38:]
    one[crowd] = 28
hands = np.zeros((60, 14), np.uint8)
hands[:10, :2] = 3
for one, held in zip(pieces, hands):
    men = np.flatnonzero((one != 28) & (one % 14 != 7))
    one[men[38 - int(held.sum()):]] = 28
checks = generator.random(60) < 0.3
for spec in (("piece_square", 96, (32,), 1), ("piece_square", 32, (), 2),
             ("k_p", 64, (20, 9, 40), 2, ("value", "draw")), ("half_kp", 32, (3,), 2),
             ("king_piece_square", 160, (32, 32), 1), ("k_p", 192, (32,), 2),
             ("piece_square", 96, (32,), 1, ("value",), "squared_clipped_relu"),
             ("king_piece_square", 64, (8,), 2, ("value",), "dual_clipped_relu", 5)):
    net = random_network(*spec)
    for case in (net, dataclasses.replace(net, rows=net.rows * np.int16(700), input_shift=4)):
        found = evaluate_batch(case, pieces, hands, checks)
        assert (found == evaluate_reference(case, pieces, hands, checks)).all(), spec
PAIRWISE = "pairwise_clipped_relu"
for spec, parts in ((("half_ka_hm2", 64, (8, 32), 2), dict(stacks=("k3k3",), hidden_squares=True, shortcut=True)),
                    (("k_a2", 96, (16, 32), 2), dict(stacks=("hand16", "progress4"), shards=Shards(32, 16, 4))),
                    (("half_kp_vm", 544, (17, 5), 1), dict(shortcut=True, shards=Shards(0, 16, 17))),
                    (("piece_square", 160, (9,), 2), dict(stacks=("hand4",), hidden_squares=True))):
    net = random_network(*spec, activation=PAIRWISE, **parts)
    for case in (net, dataclasses.replace(net, rows=net.rows * np.int16(700), input_shift=4)):
        found = evaluate_batch(case, pieces, hands, checks)
        assert (found == evaluate_reference(case, pieces, hands, checks)).all(), spec
print("equal", KERNEL)
"""


@pytest.mark.parametrize(
    ("weights", "together"),
    [
        ([32] * 32, 4),
        ([-32] * 32, 4),
        ([32] * 16 + [-128] * 4 + [0] * 12, 4),  # the same group's other products are in other sums
        ([33, 33, 0, 0] * 8, 2),
        ([64] * 32, 2),
        ([-65] * 32, 1),
        ([0] * 30 + [127, 127], 4),
        ([0] * 16 + [127, 127, 0, 0, 2, 2, 0, 0, 1] + [0] * 7, 2),
        ([0] * 16 + [127, 127, 0, 0, 3, 2, 0, 0, 1] + [0] * 7, 1),
        ([0] * 20 + [127, 127, 0, 0, 3, 2], 2),  # the second pair ends with inputs that have no weight
    ],
)
def test_int16_holds_the_sums_of_groups(weights: list[int], together: int) -> None:
    stacks = np.zeros((3, 2, len(weights)), np.int8)
    stacks[2, 1] = weights
    assert kernels.groups_together(stacks, 32, (1, 2, 4)) == together


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernel_equals_numpy(kernel: str, tmp_path: Path) -> None:
    # KERNEL is the best kernel of the machine, unless the environment selects another.
    if not os.environ.get("LITESHOGI_KERNEL") and KERNELS.index(kernel) < KERNELS.index(KERNEL):
        pytest.skip(f"this CPU has no {kernel}")
    environment = os.environ | {"LITESHOGI_KERNEL": kernel, "PYTHONPATH": str(Path(__file__).parents[3])}
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=environment, timeout=250)
    if "this CPU cannot run it" in run.stderr:
        pytest.skip(f"this CPU has no {kernel}")
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout.strip() == f"equal {kernel}"
