"""The command with missing libraries, closed streams and interruptions."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from liteshogi import __main__ as front_door
from search.rules.shogi import START_SFEN
from tests.error_lines import error_lines
from tests.yaneuraou_networks import network_bytes

BARE = (
    "import sys\nclass Missing:\n    def find_spec(self, name, *more):\n        if name in {missing!r}:\n"
    "            raise ModuleNotFoundError(name, name=name)\nsys.meta_path.insert(0, Missing())\n"
    "sys.argv = ['liteshogi', *{arguments!r}]\n{main}"
)
SAMPLE = Path(__file__).parents[2] / "experiments" / "sample" / "valid_sample.hcpe3"
MAIN = "from liteshogi.__main__ import main; main()"


@pytest.mark.parametrize(
    ("module", "verb", "rest", "extra"),
    [("torch", "train", ["lite", "--help"], "train"), ("cshogi", "convert", ["--help"], "train")],
)
def test_a_missing_library_names_the_extra_that_brings_it(module, verb, rest, extra):
    script = BARE.format(missing=(module,), arguments=[verb, *rest], main=MAIN)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    if done.returncode == 0:
        pytest.skip(f"{verb} needs {module} only when it runs")
    assert done.returncode == 1
    assert done.stderr.strip() == f"error: this needs {module}: pip install 'liteshogi[{extra}]'"


@pytest.mark.parametrize("arguments", [["--version"], ["perft", "startpos", "1"], ["eval", "default", "startpos"]])
def test_a_missing_base_library_is_named(arguments):
    missing = ("numba", "llvmlite", "numpy", "safetensors", "tyro")
    script = BARE.format(missing=missing, arguments=arguments, main=MAIN)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert re.fullmatch(r"error: this needs (numba|tyro): pip install liteshogi\n", done.stderr)


@pytest.mark.parametrize(
    "arguments",
    [
        ["eval", "default", "startpos"],
        ["explain", "startpos"],
        ["perft", "startpos", "2"],
        ["bench", "--depth", "2"],
        ["bench", "evaluation", "-h"],
    ],
)
def test_the_engines_own_verbs_need_no_extra(arguments):
    missing = ("torch", "cshogi", "onnx", "onnxruntime", "matplotlib", "shogiarena", "rsshogi")
    script = BARE.format(missing=missing, arguments=arguments, main=MAIN)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=250)
    assert (done.returncode, error_lines(done.stderr)) == (0, [])


@pytest.mark.parametrize(
    ("verb", "rest"),
    [
        ("selfplay", ["alphabeta", "default", "--nodes", "20", "--positions", "1"]),
        ("match", ["default", "lite-16-4-32", "--nodes", "20", "--games", "2"]),
    ],
)
def test_games_in_process_do_not_load_pytorch(verb, rest, tmp_path):
    """PyTorch takes longer to load than everything else together, in each process of a factory."""
    rest = [*rest, "--max-moves", "40", "-o", str(tmp_path / "made")]
    script = BARE.format(missing=("torch",), arguments=[verb, *rest], main=MAIN)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=250)
    assert (done.returncode, "error" in done.stderr) == (0, False), done.stderr


def test_a_misspelt_verb_is_guessed():
    done = subprocess.run([sys.executable, "-m", "liteshogi", "trian"], capture_output=True, text=True, timeout=60)
    assert "did you mean train?" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
@pytest.mark.parametrize("arguments", [["--help"], ["eval", "default", *["startpos"] * 200]])
def test_a_closed_pipe_is_quiet(arguments):
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(
        [sys.executable, "-m", "liteshogi", *arguments], stdout=write_end, stderr=subprocess.PIPE, timeout=240
    )
    os.close(write_end)
    assert (done.returncode, error_lines(done.stderr)) == (0, [])


def test_an_interruption_prints_one_line(monkeypatch, capsys):
    @dataclass(frozen=True)
    class Broken:
        def run(self) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr(front_door, "_load", lambda words: Broken)
    monkeypatch.setattr(sys, "argv", ["liteshogi", "eval"])
    with pytest.raises(SystemExit) as ended:
        front_door.main()
    assert ended.value.code == 130
    assert capsys.readouterr().err.strip() == "interrupted"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    "line",
    [
        "convert SAMPLE -o a.hcpe",
        "export dense-64-16 -o net.h",
        "fold TRAINED -o net.safetensors --positions 100",
        "import NN -o net.safetensors",
        "book BOOK -o book.ybb",
    ],
)
def test_a_request_to_end_leaves_no_hidden_file(line, tmp_path, tmp_path_factory):
    """SIGTERM arrives when all output is written under hidden names."""
    inputs = tmp_path_factory.mktemp("inputs")
    places = {
        "SAMPLE": SAMPLE,
        "TRAINED": Path(__file__).parents[1] / "data" / "networks" / "dense.safetensors",
        "NN": inputs / "nn.bin",
        "BOOK": inputs / "book.db",
    }
    places["NN"].write_bytes(network_bytes("SFNN_kp_64_7_32_hand64"))
    places["BOOK"].write_text(f"#YANEURAOU-DB2016 1.00\nsfen {START_SFEN}\n7g7f none 0 0\n")
    words = [str(places.get(word, word)) for word in line.split()]
    end = "import os, signal, sys; from search.system.files import WholeFile\n"
    end += "WholeFile.finish = lambda file: os.kill(os.getpid(), signal.SIGTERM)\n"
    script = f"{end}sys.argv = ['liteshogi', *{words!r}]\n{MAIN}"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=250)
    assert (done.returncode, error_lines(done.stderr)[-1]) == (130, "interrupted")
    assert not list(tmp_path.iterdir())
