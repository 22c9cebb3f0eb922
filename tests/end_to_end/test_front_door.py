"""The front door: help of every verb, errors in one line, and nothing but JSON on standard output."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
import tyro

from liteshogi.__main__ import _run, _summaries, parse
from liteshogi.verbs import SECTIONS, VERBS, kinds_overview, overview
from liteshogi.word_order import arranged
from search.rules.shogi import START_SFEN
from tests.error_lines import error_lines
from tests.yaneuraou_networks import network_bytes, without_text


def liteshogi(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "liteshogi", *arguments], capture_output=True, text=True, timeout=250, encoding="utf-8"
    )


COMMANDS = [
    " ".join(words) for name, verb in VERBS.items() for words in ([(name, kind) for kind in verb.kinds] or [(name,)])
]


FIRST_ITERATION = (
    "A search always finishes its first iteration, so it may exceed a limit below 500 by up to about 2,000 nodes."
)


def test_help_shows_every_verb_on_one_screen():
    lines = liteshogi("--help").stdout.splitlines()
    assert len(lines) <= 50
    assert max(map(len, lines)) <= 80
    for name, verb in VERBS.items():
        assert f"  {name:<17} {verb.summary}" in lines
    assert [line for line in lines if line.rstrip(":") in SECTIONS] == [f"{section}:" for section in SECTIONS]
    assert overview().splitlines() == lines


@pytest.mark.parametrize("name", [name for name, verb in VERBS.items() if verb.kinds])
def test_help_of_a_verb_shows_its_kinds(name):
    lines = liteshogi(name, "--help").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    summaries = _summaries(name)
    assert list(summaries) == list(VERBS[name].kinds)
    assert all(summary.endswith(".") for summary in summaries.values())
    assert kinds_overview(name, summaries).splitlines() == lines


def test_the_version_has_what_a_bug_report_needs(capsys):
    from liteshogi import __version__
    from search.compiling.jit import KERNEL

    assert _run(["--version"]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == f"liteshogi {__version__}"
    assert [line.split()[0] for line in rest] == ["Python", "CPU", "compiled"]
    assert rest[1].endswith(f", kernel {KERNEL}")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    with pytest.raises(SystemExit) as ended:
        _run([*command.split(), "--help"])
    assert not ended.value.code
    shown = capsys.readouterr().out
    assert f"usage: liteshogi {command}" in shown
    assert "--json" in shown or command == "puct"  # which speaks USI
    words = " ".join(shown.replace("│", " ").split())
    assert re.findall(r"\S+[^.] \((?:default:|required\))", words) == [], "an option without help"
    assert re.findall(r"default: /\S*", words) == [], "a path of this machine"
    assert "\n\n\n" not in shown, "a stray empty line"
    flags = [word.strip("-").replace("-", "_") for word in re.findall(r"--[a-z-]+(?= )", shown)]
    assert [name for name in flags if f"`{name}`" in words] == [], "a field in place of its flag"


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("train lite", "its learning rate jumps to the value that a run of the new length has at this step."),
        ("expand", "and of interruptions: results are written in the order of their jobs."),  # in a nested dataclass
        ("loop", "overfit on 300,000 (docs/results/loop.md). (default: 3000000)"),
        *((command, FIRST_ITERATION) for command in ("match", "analyse", "selfplay alphabeta")),
    ],
)
def test_help_is_wrapped_independently_of_the_source(command, sentence, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    with pytest.raises(SystemExit):
        _run([*command.split(), "--help"])
    assert sentence in capsys.readouterr().out


def test_training_without_a_kind_lists_the_kinds(capsys):
    assert _run(["train", "games.hcpe3"]) == 2
    assert capsys.readouterr().err == (
        "error: train requires a kind first, one of lite, untied, dense, half_kp, k_p, sfnn, resnet: "
        "liteshogi train lite ...\n"
    )


@pytest.mark.parametrize(("typed", "meant"), [("train half-kp x", "train half_kp"), ("bench plane", "bench planes")])
def test_a_misspelt_kind_is_guessed(typed, meant, capsys):
    assert _run(typed.split()) == 2
    assert f"did you mean {meant}?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("sought", "spelled"),
    [
        ("export --nnue halfkp.safetensors -o nn.bin", "-o NAME.bin"),
        ("export --cpp NET -o lite_eval.h", "-o NAME.h"),
        ("export runs/mine --onnx -o net.onnx", "-o NAME.onnx"),
    ],
)
def test_options_that_one_would_look_for_name_the_spelling_that_works(sought, spelled, capsys):
    assert _run(sought.split()) == 2
    said = capsys.readouterr()
    (line,) = said.err.splitlines()
    assert line.startswith("error: ")
    assert spelled in line
    assert said.out == ""


@pytest.mark.parametrize(
    ("command", "rate"),
    [("train lite", "None"), ("train dense", "0.04"), ("train half_kp", "0.005"), ("train resnet", "0.002")],
)
def test_help_shows_the_learning_rate_of_the_kind(command, rate, capsys):
    with pytest.raises(SystemExit):
        _run([*command.split(), "--help"])
    words = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert f"default: {rate})" in words.split("--learning-rate", 1)[1].split("--warm-up")[0]


@pytest.mark.parametrize("arguments", [(), ("eval", "default", "startpos"), ("--help",)])
@pytest.mark.parametrize("planted", ["package", "module"])
def test_a_foreign_package_with_the_name_of_a_room_is_reported(arguments, planted, tmp_path, monkeypatch):
    foreign = tmp_path / "search" / "__init__.py" if planted == "package" else tmp_path / "search.py"
    foreign.parent.mkdir(exist_ok=True)
    foreign.write_text("")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{Path(__file__).parents[2]}")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "liteshogi", *arguments],
        input="usi\nquit\n",
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    found = foreign.parent if planted == "package" else foreign
    assert line.startswith(f"error: {found} is imported instead of LiteShogi's own search (")


def test_the_overview_imports_nothing_that_only_verbs_need():
    script = (
        "import sys\nfrom liteshogi.__main__ import _run\n_run(['--help'])\n_run(['train', '--help'])\n"
        "print([name for name in sys.modules if name.split('.')[0] in "
        "('tyro', 'numpy', 'numba', 'torch', 'search', 'lite', 'export', 'experiments')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_compiles_nothing(tmp_path):
    script = (
        "import contextlib\nfrom liteshogi.__main__ import _run\n"
        f"for command in {COMMANDS!r}:\n"
        "    with contextlib.suppress(SystemExit):\n        _run([*command.split(), '--help'])\n"
    )
    environment = os.environ | {"LITESHOGI_CACHE": str(tmp_path)}
    subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, timeout=250, check=True)
    assert not list(tmp_path.rglob("*.nbc"))


@pytest.mark.parametrize("package", ["search", "lite", "export", "experiments"])
def test_packages_hold_no_command_line(package):
    for path in (Path(__file__).parents[2] / package).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "tyro" not in text, path
        assert "argparse" not in text, path
        assert "_verb" not in path.name


@pytest.mark.parametrize(
    "arguments",
    [("trian",), ("eval", "missing.safetensors", "startpos"), ("perft", "nonsense", "2"), ("perft", "startpos", "99")],
)
def test_errors_are_one_line(arguments):
    done = liteshogi(*arguments)
    assert done.returncode in (1, 2)
    assert done.stdout == ""
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("error: ")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("test default SAMPLE --positions 0", "--positions 0: must be at least 1"),
        ("test default SAMPLE --batch-size 0", "--batch-size 0: must be at least 1"),
        ("train lite SAMPLE -o OUT --max-steps 0", "--max-steps 0: must be at least 1"),
        ("train lite SAMPLE -o OUT --valid EMPTY.hcpe3", "EMPTY.hcpe3: the file is empty"),
        ("bench reading SAMPLE --rounds 0", "--rounds 0: must be at least 1"),
        ("selfplay alphabeta -o OUT --max-gb nan", "--max-gb nan: must be above 0"),
        ("selfplay alphabeta -o OUT --hash-mb 0", "--hash-mb 0: must be at least 1"),
        ("selfplay alphabeta -o OUT --soft-temperature 0", "--soft-temperature 0.0: must be more than 0"),
        ("selfplay alphabeta -o OUT --nodes 999999999999999999999", "must be at most 2,147,483,647"),
        ("relabel SAMPLE -o OUT --label search --nodes 999999999999999999999", "must be at most 2,147,483,647"),
        ("match default default -o OUT --nodes 999999999999999999999", "must be at most 2,147,483,647"),
        ("selfplay alphabeta -o OUT --workers 100000", "--workers 100000: must be at most 1,024"),
        ("train lite SAMPLE -o OUT --threads 100000", "--threads 100000: must be at most 1,024"),
        ("test default SAMPLE --threads 100000", "--threads 100000: must be at most 1,024"),
        ("expand SAMPLE -o OUT --tree-nodes 99999999999", "--tree-nodes 99999999999: must be at most"),
        ("bench steps --most-nodes 99999999999999999999", "--most-nodes 99999999999999999999: must be at most"),
        ("expand SAMPLE -o OUT --random inf", "--random inf"),
        ("expand SAMPLE -o OUT --played nan", "--played nan"),
        ("relabel SAMPLE -o OUT --seed -1", "--seed -1: must be at least 0"),
        ("loop -o OUT --seed -1", "--seed -1: must be at least 0"),
        ("selfplay alphabeta -o OUT --soft-lines 99", "--soft-lines 99: must be at most 8"),
        ("relabel SAMPLE -o OUT --nodes 100", "--label static: has no --nodes and no --depth"),
        ("relabel SAMPLE -o OUT --engine-option A=b", "--engine-option: requires --label engine"),
        ("match default lite-16-4-32 -o OUT --nodes 9 --alpha 0.1", "--alpha: requires --sprt"),
        ("match default lite-16-4-32 -o OUT --nodes 9 --played-out 1", "--played-out 1.0: has no effect"),
        ("export default -o OUT.h --data SAMPLE", "--data: is for checking ONNX"),
        ("export default -o OUT.h --no-draw", "--no-draw: is for policy-value networks"),
        ("test default SAMPLE --precision bfloat16", "--precision bfloat16: is for policy-value networks"),
        ("bench reading SAMPLE --threads 2", "--threads 2: is for --together"),
        ("perft startpos 5 --bench", "DEPTH: has no effect with --bench"),
        ("perft startpos 99 --divide", "DEPTH 99: must be at most 20"),
        ("perft startpos -1", "DEPTH -1: must be at least 0"),
        ("perft --divide --bench", "--divide: has no effect with --bench"),
        ("report", "no run: name run folders"),
        ("export missing.safetensors -o OUT.onnx", "missing.safetensors: there is no such network"),
        ("import none.bin -o OUT.safetensors", "none.bin: there is no such file"),
        ("import /dev/null -o OUT.safetensors", "/dev/null: a pipe or a device"),
        ("export default -o OUT.bin", "end the output in .h for a C++ header"),
        ("analyse default -o OUT.kif", "GAMES: no game given"),
        ("analyse default GAME -o OUT.kif --language en --threads 100000", "--threads 100000: must be at most 64"),
        ("eval default --file EMPTY.sfen", "EMPTY.sfen: no positions"),
        ("eval default --file BAD.sfen", "BAD.sfen: line 3: "),
        ("mate", "no position: give an SFEN in quotes, or a --file"),
        ("mate --file EMPTY.sfen", "EMPTY.sfen: holds no position"),
        ("mate --file EMPTY.csa", "EMPTY.csa: no position: the file is empty"),
        ("sweep EMPTY.toml -o OUT", "EMPTY.toml: measure must be given"),
        ("demo -o OUT --nodes 0", "--nodes 0: must be at least 1"),
        ("explain startpos --net default --compare default default", "--net and --compare both name networks"),
        ("train dense -o OUT", "DATA: no file is named"),
        ("train dense -o OUT --valid SAMPLE SAMPLE", "so DATA is missing: write it before the options"),
        ("train dense -o OUT --config EMPTY.json --valid SAMPLE SAMPLE", "so DATA is missing: write it before the opt"),
        ("test default --yardstick SAMPLE SAMPLE", "so DATA is missing: write it before the options"),
        ("match default", "SECOND: missing; see liteshogi match --help"),
        ("fold", "NET and --output: missing; see liteshogi fold --help"),
        ("match default default --sprt 0", "--sprt 0: needs 2 values; see liteshogi match --help"),
        ("train dense GAME -o OUT", "-o wcsc28.hcpe3"),
        ("train dense GAMES -o OUT", "convert them first: liteshogi convert"),
    ],
)
def test_unusable_options_are_refused_in_one_line(command, words, tmp_path, monkeypatch, capsys):
    root = Path(__file__).parents[2]
    places = {
        "SAMPLE": root / "experiments/sample/valid_sample.hcpe3",
        "GAME": root / "tests/data/wcsc28.kif",
        "GAMES": root / "tests/data",
    }
    monkeypatch.chdir(tmp_path)
    for suffix in ("sfen", "csa", "toml", "hcpe3"):
        (tmp_path / f"EMPTY.{suffix}").touch()
    (tmp_path / "BAD.sfen").write_text("startpos\n\n9/9 b - 1\n")
    (tmp_path / "EMPTY.json").write_text("{}")
    assert _run([str(places.get(word, word)) for word in command.split()]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert words in line
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and not path.name.startswith(("EMPTY", "BAD"))]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_full_disk_behind_standard_output_is_reported():
    for arguments in (["--help"], ["eval", "default", "startpos"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "liteshogi", *arguments], stdout=full, stderr=subprocess.PIPE, text=True
            )
        assert done.returncode == 1
        assert error_lines(done.stderr) == ["error: standard output: no space left on device"]


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_not_an_error(closed):
    """Neither a traceback nor an error appears among the results."""
    for arguments, code in ((["--help"], 0), (["eval", "nonsense"], 1)):
        command = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "liteshogi", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
        assert done.returncode == code
        assert bool(done.stdout) == (">&-" not in closed.split() and code == 0)
        assert bool(done.stderr) == ("2>&-" not in closed.split() and code == 1)


def test_a_file_name_outside_the_encoding_of_the_output_is_not_an_error(tmp_path):
    """Standard output is strict on a Western Windows, and a verb prints the file name after writing the file."""
    game = Path(__file__).parents[1] / "data" / "wcsc28.csa"
    done = subprocess.run(
        [sys.executable, "-m", "liteshogi", "convert", game, "-o", tmp_path / "局面.hcpe"],
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "cp1252"},
    )
    assert (done.returncode, error_lines(done.stderr)) == (0, [])
    assert rb"\u5c40\u9762.hcpe" in done.stdout


def test_standard_output_has_nothing_but_json():
    assert json.loads(liteshogi("perft", "startpos", "3", "--json").stdout)["nodes"] == 25470
    (evaluation,) = json.loads(liteshogi("eval", "default", "startpos", "--json").stdout)["positions"]
    assert {"sfen", "output", "score_cp", "win_rate"} <= set(evaluation)
    bench = json.loads(liteshogi("bench", "default", "--depth", "5", "--json").stdout)
    assert {"signature", "nodes", "nps"} <= set(bench)


@pytest.mark.parametrize("position", ["startpos moves 7g7f", START_SFEN, f"sfen {START_SFEN} moves 7g7f"])
def test_positions_without_a_network_have_the_values_of_the_default(position, capsys):
    shown = []
    for words in ([position], ["default", position]):
        assert _run(["eval", *words]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] != ""


def test_a_file_of_positions_may_hold_games_with_their_endings(tmp_path, capsys):
    shown = []
    for ending in ("", " resign", " win"):
        (tmp_path / "games.usi").write_text(f"startpos moves 7g7f 3c3d{ending}\n")
        assert _run(["eval", "default", "--file", str(tmp_path / "games.usi")]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] == shown[2] != ""
    (tmp_path / "games.usi").write_text("startpos moves 7g7f resign 3c3d\n")
    assert _run(["eval", "default", "--file", str(tmp_path / "games.usi")]) == 1
    assert "line 1: a move after the ending: '3c3d'" in capsys.readouterr().err


def test_positions_are_piped_with_or_without_a_byte_order_mark():
    command = [sys.executable, "-m", "liteshogi", "eval", "default", "--file", "-"]
    outputs = [
        subprocess.run(command, input=mark + b"# one\r\nstartpos\r\n", capture_output=True, check=True).stdout
        for mark in (b"", b"\xef\xbb\xbf")
    ]
    assert outputs[0] == outputs[1] != b""


@pytest.mark.parametrize("arguments", [("explain", "startpos", "-o", "a.svg"), ("report", ".", "-o", "a.html")])
def test_an_error_of_the_system_starts_with_the_file_name(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    Path(arguments[-1]).mkdir()
    done = liteshogi(*arguments)
    assert done.returncode == 1
    assert done.stderr == f"error: {arguments[-1]}: is a directory; name a file in it\n"


def test_training_prints_its_figures_as_json(tmp_path, capsys):
    sample = str(Path(__file__).parents[2] / "experiments" / "sample" / "valid_sample.hcpe3")
    arguments = ["train", "lite", sample, "-o", str(tmp_path / "run"), "--dims", "2", "1", "4", "--max-steps", "2"]
    assert _run([*arguments, "--batch-size", "256", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["step"] == 2
    assert _run([*arguments, "--batch-size", "256", "--json"]) == 1
    assert str(tmp_path / "run") in capsys.readouterr().err


def test_training_on_games_shows_how_to_convert_them(tmp_path, capsys):
    (tmp_path / "0.csa").write_text("V2.2\n")
    assert _run(["train", "k_p", str(tmp_path / "0.csa"), "-o", str(tmp_path / "run")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(f": liteshogi convert {tmp_path / '0.csa'} -o 0.hcpe3")


def test_an_nn_bin_that_must_be_named_is_imported_with_the_name(tmp_path, capsys):
    """Verbs that take a network have no option for its architecture; an imported network needs none."""
    content, path = network_bytes("SFNN_kp_64_7_32_hand64"), tmp_path / "nn.bin"
    path.write_bytes(without_text(content))
    assert _run(["eval", str(path), "startpos"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {path}: unknown architecture: found ''; by its size it could be SFNN_kp_64_7_32_h")
    command = f"liteshogi import {path} -o net.safetensors --architecture NAME"
    assert line.endswith(f"; name it (--architecture): {command}")
    words = command.replace("net.safetensors", str(tmp_path / "net.safetensors")).split()
    assert _run([*words[1:-1], "SFNN_kp_64_7_32_hand64z"]) == 0
    assert _run(["eval", str(tmp_path / "net.safetensors"), "startpos"]) == 0


def test_an_nn_bin_that_needs_a_scale_is_imported_with_it(tmp_path, capsys, nnue_content):
    path, content = tmp_path / "nn.bin", nnue_content("k_p", 32, 8, 32)
    length = int.from_bytes(content[8:12], "little")
    text = content[12 : 12 + length] + b",fv_scale=0"
    path.write_bytes(content[:8] + len(text).to_bytes(4, "little") + text + content[12 + length :])
    assert _run(["eval", str(path), "startpos"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    command = f"liteshogi import {path} -o net.safetensors --fv-scale N"
    assert line.endswith(f"fv_scale='0': must be 1 to 1024; set --fv-scale: {command}")
    words = command.replace("net.safetensors", str(tmp_path / "net.safetensors")).split()
    assert _run([*words[1:-1], "24"]) == 0
    assert _run(["eval", str(tmp_path / "net.safetensors"), "startpos"]) == 0


def test_an_nn_bin_that_is_to_be_folded_is_imported(tmp_path, capsys):
    content = network_bytes("kp_32x2_8_32")
    for name, part in (("nn.bin", content), ("renamed", content), ("cut.bin", content[:999]), ("noise.bin", b"noise")):
        (tmp_path / name).write_bytes(part)
        assert _run(["fold", str(tmp_path / name), "-o", str(tmp_path / "net.safetensors")]) == 1
        command = f"liteshogi import {tmp_path / name} -o net.safetensors"
        words = f"{tmp_path / name}: is an nn.bin, which needs no folding; import it: {command}"
        assert capsys.readouterr().err == f"error: {words}\n"


def test_data_after_an_option_with_several_values_is_found():
    command = parse("train", ["dense", "--hidden", "16", "8", "a.hcpe3", "--valid", "v.hcpe3"])
    assert (command.data, command.valid) == ((Path("a.hcpe3"),), (Path("v.hcpe3"),))
    assert command.network.hidden == (16, 8)
    words = ["dense", "--valid", "v.hcpe3", "w.hcpe3", "--no-mirror", "a.hcpe3", "-o", "out"]
    command = parse("train", words)
    assert (command.data, len(command.valid), command.output) == ((Path("a.hcpe3"),), 2, Path("out"))
    command = parse("train", ["resnet", "--auxiliary", "entered", "a.hcpe3"])
    assert (command.data, command.network.auxiliary) == ((Path("a.hcpe3"),), ("entered",))


@dataclass(frozen=True)
class Words:
    data: tyro.conf.Positional[tuple[str, ...]]
    valid: tuple[str, ...] = ()
    lines: tuple[Literal["diagonals", "blocks"], ...] = ()
    dims: tuple[int, int, int] = (16, 4, 32)
    json: bool = False
    config: Path | None = None


def read(line: str, given: Words | None = None) -> Words:
    return tyro.cli(Words, args=arranged(Words, line.split(), "train lite", given), default=given)


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        ("a --json b --dims 4 2 8 c", {"data": ("a", "b", "c"), "json": True, "dims": (4, 2, 8)}),
        ("--config=run.json a", {"data": ("a",), "config": Path("run.json")}),
        ("--lines blocks a", {"data": ("a",), "lines": ("blocks",)}),
        ("a --valid v --json --valid w", {"data": ("a",), "valid": ("v", "w"), "json": True}),
        ("a --valid=v --valid=w x", {"data": ("a",), "valid": ("v", "w", "x")}),
        ("a --valid=-v", {"data": ("a",), "valid": ("-v",)}),
        ("--valid v -- a", {"data": ("a",), "valid": ("v",)}),
    ],
)
def test_words_are_read_wherever_they_stand(line, changes):
    assert read(line) == Words(**changes)


@pytest.mark.parametrize("given", [None, Words(())])
@pytest.mark.parametrize("line", ["--config run.json --valid v a", "--valid=v a", "--valid v --json --valid a"])
def test_an_option_that_takes_the_data_is_named(line, given):
    """The file of options may name no data."""
    with pytest.raises(ValueError, match=r"--valid takes every word after it \(v a\), so DATA is missing: write it"):
        read(line, given)


def test_the_data_of_a_file_of_options_may_be_omitted():
    assert read("--config run.json --valid v w", Words(("a",))).valid == ("v", "w")


def test_the_summary_reports_the_number_of_mates_found(tmp_path, capsys):
    problems = tmp_path / "problems.sfen"
    problems.write_text("4k4/9/4G4/9/9/9/9/9/9 b G 1\nstartpos\n")
    assert _run(["mate", "--file", str(problems)]) == 0
    *_, row = capsys.readouterr().out.splitlines()
    length, count, found, percent, _, as_given, no_mate, unknown, *_ = row.split()
    assert (length, count, found, percent, as_given, no_mate, unknown) == ("?", "2", "1", "50.00", "0", "1", "0")
