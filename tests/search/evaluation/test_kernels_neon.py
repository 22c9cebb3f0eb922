"""The kernels of 64-bit ARM equal NumPy to the bit, compiled here and run by an emulator.

Numba compiles only for this machine, so llvmlite compiles the intrinsics of `kernels_vector` as functions of a module,
and a program in C calls them. The loops around them are the same on every CPU and are repeated here.
"""

from __future__ import annotations

import importlib.util
import inspect
import shutil
import subprocess
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from llvmlite import binding, ir

from search.compiling import jit
from search.evaluation import kernels_vector
from search.evaluation.kernels import pack_biases, padded_outputs
from search.primitives.llvm import i64

COMPILER = shutil.which("aarch64-linux-gnu-gcc")
EMULATOR = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
DRIVER = Path(__file__).with_name("call_kernels.c")
PLACE = 1 << 33
"""Address where the driver maps the memory."""
INTRINSICS = (
    *("_sum_one", "_sum_two", "_sum_three", "_sum_four", "_activate_blocks", "_activate_squared_blocks"),
    *("_multiply_blocks", "_multiply_half_blocks", "_multiply_doubled", "_clip_blocks", "_square_and_clip", "_narrow"),
    *("_one", "_two", "_one_clipped", "_two_clipped"),
)


@pytest.fixture
def vector_kernels(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import `kernels_vector` as on a machine with the kernel `neon`."""
    monkeypatch.setattr(jit, "KERNEL", "neon")
    spec = importlib.util.spec_from_file_location("kernels_vector_of_neon", kernels_vector.__file__)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def object_file(module: ModuleType) -> bytes:
    """Compile the intrinsics as functions for 64-bit ARM, with Numba's optimisations."""
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    target = binding.Target.from_triple("aarch64-unknown-linux-gnu")
    machine = target.create_target_machine(cpu="cortex-a76", opt=3, reloc="pic", codemodel="default")
    code = ir.Module()
    for name in INTRINSICS:
        define = getattr(module, name)._defn
        signature, emit = define(*[None] * len(inspect.signature(define).parameters))
        function = ir.Function(code, ir.FunctionType(ir.VoidType(), [i64] * len(signature.args)), name)
        builder = ir.IRBuilder(function.append_basic_block())
        emit(SimpleNamespace(get_dummy_value=lambda: None), builder, signature, function.args)
        builder.ret_void()
    compiled = binding.parse_assembly(str(code))
    compiled.triple, compiled.data_layout = machine.triple, str(machine.target_data)
    passes = binding.create_pass_builder(machine, binding.create_pipeline_tuning_options(3))
    passes.getModulePassManager().run(compiled, passes)
    return bytes(machine.emit_object(compiled))


class Calls:
    """Memory that the driver maps at PLACE, the calls with it, and the expected content."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0
        self.lines: list[str] = []
        self.expected: list[tuple[str, int, np.ndarray]] = []

    def put(self, array: np.ndarray) -> int:
        """Copy an array to the memory; return its address, which is aligned to a cache line."""
        place, content = PLACE + self.size, array.tobytes()
        self.parts.append(content + b"\0" * (-len(content) % 64))
        self.size += len(self.parts[-1])
        return place

    def put_room(self, label: str, expected: np.ndarray) -> int:
        """Reserve memory for an expected result, followed by 64 bytes that must not change; return its address."""
        room = np.full(expected.nbytes + 64, 99, np.uint8)
        place = self.put(room)
        self.expected.append((label, place - PLACE, np.append(expected.view(np.uint8), room[-64:])))
        return place

    def call(self, name: str, *arguments: int) -> None:
        self.lines.append(" ".join(map(str, (INTRINSICS.index(name), *arguments, *[0] * (8 - len(arguments))))))

    def judge(self, program: Path, memory: Path) -> None:
        memory.write_bytes(b"".join(self.parts))
        assert EMULATOR
        command = [EMULATOR, "-cpu", "cortex-a76", program, memory]
        subprocess.run(command, input="\n".join(self.lines), text=True, check=True, timeout=200)
        found = np.fromfile(memory, np.uint8)
        for label, place, expected in self.expected:
            assert (found[place : place + len(expected)] == expected).all(), label


def add_sums(calls: Calls, generator: np.random.Generator) -> None:
    for tile, name in enumerate(INTRINSICS[:4], 1):
        width = 32 * tile + 32
        for dtype in (np.int8, np.int16):
            limits = np.iinfo(dtype)
            table = generator.integers(limits.min, limits.max + 1, (40, width)).astype(dtype)
            source = generator.integers(-32768, 32768, width).astype(np.int16)
            rows, start = calls.put(table), calls.put(source)
            for added, removed in ((0, 0), (1, 1), (2, 0), (0, 3), (20, 19)):
                chosen = generator.integers(0, 40, added + removed)
                places = calls.put((rows + chosen * table[0].nbytes).astype(np.uint64))
                plus, minus = table[chosen[:added]], table[chosen[added:]]
                expected = source + plus.sum(0, dtype=np.int16) - minus.sum(0, dtype=np.int16)
                target = calls.put_room(f"{name} {dtype} {added} {removed}", expected[32:])
                lists = places, added, places + 8 * added, removed
                calls.call(name, target - 64, start, *lists, 32, table.itemsize)  # from lane 32 on


def add_activations(calls: Calls, generator: np.random.Generator) -> None:
    for width in (32, 64, 160):
        sums = generator.integers(-32768, 32768, (2, width)).astype(np.int16)
        source, extra = calls.put(sums[0]), calls.put(sums[1])
        for shift in (0, 1, 6, 15):
            clipped = np.clip((sums[0] + sums[1]) >> shift, 0, 127).astype(np.int64)
            for name, expected in zip(INTRINSICS[4:6], (clipped, (clipped**2 + 64) >> 7), strict=True):
                target = calls.put_room(f"{name} {width} {shift}", expected.astype(np.uint8))
                calls.call(name, source, extra, shift, target, width // 32)


def add_products(calls: Calls, generator: np.random.Generator) -> None:
    for width in (32, 64, 160):
        sums = generator.integers(-32768, 32768, (2, 2 * width)).astype(np.int16)
        source, extra = calls.put(sums[0]), calls.put(sums[1])
        for wrapped, shift in ((0, 0), (1, 0), (1, 6)):
            total = (((sums[0] + sums[1]) << wrapped) >> (wrapped + shift)).astype(np.int64)
            first, second = np.clip(total, 0, 127).reshape(2, width)
            expected = (first * second >> 7).astype(np.uint8)
            for name, block in (("_multiply_blocks", 32), ("_multiply_half_blocks", 16)):
                target = calls.put_room(f"{name} {width} {shift}", expected)
                calls.call(name, source, extra, 2 * width, wrapped, shift, target, width // block)
            if (wrapped, shift) == (1, 0):
                target = calls.put_room(f"_multiply_doubled {width}", expected)
                calls.call("_multiply_doubled", source, extra, 2 * width, target, width // 32)
        target = calls.put_room(f"_clip_blocks {width}", np.clip(sums[0] + sums[1], 0, 127)[:width].astype(np.uint8))
        calls.call("_clip_blocks", source, extra, 0, target, width // 32)


def add_squares(calls: Calls, generator: np.random.Generator) -> None:
    for count in (16, 48):
        for shift in (0, 6, 8):
            near = generator.integers(-(129 << shift), 129 << shift, count - 2)
            sums = np.append(near, [-(1 << 31), (1 << 31) - 1]).astype(np.int32)
            squares = np.minimum(sums.astype(np.int64) ** 2 >> (2 * shift + 7), 127)
            expected = np.append(squares, np.clip(sums >> shift, 0, 127)).astype(np.uint8)
            target = calls.put_room(f"_square_and_clip {count} {shift}", expected)
            calls.call("_square_and_clip", calls.put(sums), count // 16, shift, target)


def add_narrow_layers(calls: Calls, generator: np.random.Generator, module: ModuleType) -> None:
    for inputs in (32, 96, 1024):
        for outputs in (1, 8):
            weight = generator.choice(np.array([-128, -1, 0, 5, 127], np.int8), (outputs, inputs))
            x = generator.choice(np.array([0, 1, 64, 127], np.uint8), inputs)
            bias = generator.integers(-(1 << 31), 1 << 31, outputs).astype(np.int32)
            sums = np.zeros(16, np.int32)
            sums[:outputs] = (weight.astype(np.int64) @ x.astype(np.int64) + bias).astype(np.int32)
            places = [calls.put(one) for one in (x, module.pack_narrow_weights(weight, inputs), pack_biases(bias))]
            target = calls.put_room(f"_narrow {inputs} {outputs}", sums)
            calls.call("_narrow", places[0], inputs // 8, *places[1:], target)


def add_layers(calls: Calls, generator: np.random.Generator, module: ModuleType) -> None:
    for inputs in (16, 32, 48, 96, 256, 288, 384, 2048):
        for outputs in (1, 15, 16, 17, 32, 48, 80):
            # Extremes: weights of -128 with inputs of 127.
            weight = generator.choice(np.array([-128, -127, -1, 0, 1, 5, 127], np.int8), (outputs, inputs))
            x = generator.choice(np.array([0, 0, 1, 64, 127], np.uint8), inputs)
            if outputs % 2:
                weight[0], x[:] = -128, 127
            bias = generator.integers(-(1 << 31), 1 << 31, outputs).astype(np.int32)
            padded = padded_outputs(outputs)
            sums = np.zeros(padded, np.int32)
            sums[:outputs] = (weight.astype(np.int64) @ x.astype(np.int64) + bias).astype(np.int32)
            arrays = x, module.pack_weights(weight, inputs), pack_biases(bias)
            of_inputs, of_weights, of_biases = (calls.put(array) for array in arrays)
            for kind, shift in (("", 0), ("_clipped", 0), ("_clipped", 6), ("_clipped", 31)):
                expected = np.clip(sums >> shift, 0, 127).astype(np.uint8) if kind else sums
                target = calls.put_room(f"{kind} {inputs} {outputs} {shift}", expected)
                for first in range(0, padded, 32):
                    name = ("_one" if padded - first == 16 else "_two") + kind
                    place = of_weights + 4 * first, 4 * padded, of_biases + 4 * first
                    calls.call(name, of_inputs, inputs // 4, *place, shift, 1, target + expected.itemsize * first)


def test_the_kernels_compile_for_arm(vector_kernels: ModuleType) -> None:
    assert len(object_file(vector_kernels)) > 1000


def test_the_kernels_of_arm_equal_numpy(vector_kernels: ModuleType, tmp_path: Path) -> None:
    if not (COMPILER and EMULATOR):
        pytest.skip("64-bit ARM cannot be tried: install qemu-user and gcc-aarch64-linux-gnu")
    (tmp_path / "kernels.o").write_bytes(object_file(vector_kernels))
    defines = [f"-DKERNELS={','.join(INTRINSICS)}", f"-DPLACE={PLACE}"]
    files = [DRIVER, tmp_path / "kernels.o", "-o", tmp_path / "call_kernels"]
    subprocess.run([COMPILER, "-static", "-O1", "-Wall", "-Werror", *defines, *files], check=True)
    calls, generator = Calls(), np.random.default_rng(7)
    add_sums(calls, generator)
    add_activations(calls, generator)
    add_products(calls, generator)
    add_squares(calls, generator)
    add_narrow_layers(calls, generator, vector_kernels)
    add_layers(calls, generator, vector_kernels)
    calls.judge(tmp_path / "call_kernels", tmp_path / "memory")
