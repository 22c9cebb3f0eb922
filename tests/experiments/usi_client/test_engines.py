"""Questions to an engine before a match: its command, options and files, and errors if it does not answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.usi_client import engines
from experiments.usi_client.engines import Option, ask_engine, engine_command, player_names


def test_an_engine_is_a_path_or_a_command_with_arguments(tmp_path, monkeypatch):
    program = tmp_path / "an engine"
    program.write_text("")
    program.chmod(0o755)
    (tmp_path / "model.onnx").write_text("")
    (tmp_path / "nets").mkdir()
    (tmp_path / "puct").mkdir()
    monkeypatch.chdir(tmp_path)
    assert engine_command(str(program)) == (program, [])
    assert engine_command("'an engine' puct model.onnx --fast") == (
        program,
        ["puct", str(tmp_path / "model.onnx"), "--fast"],
    )
    assert engine_command("'an engine' --net=model.onnx ./nets nets") == (
        program,
        [f"--net={tmp_path / 'model.onnx'}", str(tmp_path / "nets"), "nets"],
    )
    assert engine_command("liteshogi puct model.onnx")[0].name.startswith("liteshogi")
    (tmp_path / "on path").mkdir()
    program.rename(tmp_path / "on path" / "listed")
    monkeypatch.setenv("PATH", str(tmp_path / "on path"))
    assert engine_command("listed NAME=value puct") == (tmp_path / "on path" / "listed", ["NAME=value", "puct"])
    for missing in ("", "missing puct", "./listed"):
        with pytest.raises(FileNotFoundError, match="no such engine"):
            engine_command(missing)
    with pytest.raises(ValueError, match="No closing quotation"):
        engine_command("'an engine")
    with pytest.raises(PermissionError, match=r"model\.onnx: not a program"):
        engine_command("model.onnx")


def test_options_are_read_as_engines_declare_them():
    assert Option.parse("option name Clear Hash type button") == Option("Clear Hash", "button")
    assert Option.parse("option name USI_Hash type spin default 64 min 1 max 1024") == Option(
        "USI_Hash", "spin", 1, 1024
    )
    assert Option.parse("option name Black Limit type spin default 0 min -99 max 99") == Option(
        "Black Limit", "spin", -99, 99
    )
    assert Option.parse("option name Rule type combo default A var A var B").choices == ("A", "B")
    assert Option.parse("option name Style type combo default Very Solid var Very Solid var Off ").choices == (
        "Very Solid",
        "Off",
    )
    assert Option.parse("option name Eval type filename default a type of file") == Option("Eval", "filename")
    assert Option.parse("id name type") is None


def test_shogiarena_waits_until_an_engine_is_ready(scripted):
    engine = ask_engine(scripted.command())
    assert 60 < engine.description(1)["handshake_timeout"] < 300
    slow = replace(engine, ready_seconds=50.0)
    assert [slow.description(at_once)["handshake_timeout"] for at_once in (1, 2, 8)] == [260.0, 460.0, 900.0]


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("EvalFile", "write NAME=VALUE"),
        ("EvalFil=x", "no option EvalFil; did you mean EvalFile"),
        ("Threads=2", "no option Threads; it has EvalFile, Book Dir"),
        ("EvalFile=nets/none.bin", "EvalFile=nets/none.bin: there is no such file"),
        ("NetworkDelay=fast", "NetworkDelay: must be a number, not 'fast'"),
        ("NetworkDelay=10001", "must be from 0 to 10000, not 10001"),
        ("Quick=yes", "Quick: must be true or false, not 'yes'"),
        ("Style=Medium", "must be one of Fast, Slow, not 'Medium'"),
    ],
)
def test_options_that_the_engine_does_not_accept_are_refused(scripted, setting, words):
    with pytest.raises(ValueError, match=words):
        ask_engine(scripted.command(), [setting])


def test_the_engine_decides_which_options_are_files(scripted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.bin").write_text("")
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "one.db").write_text("")
    (scripted.program.parent / "own.bin").write_text("")
    chosen = ["evalfile=mine.bin", "Book Dir=books", "networkdelay=7", "Style=Slow"]
    engine = ask_engine(scripted.command(), chosen)
    assert engine.options == {
        "EvalFile": str(tmp_path / "mine.bin"),
        "Book Dir": str(tmp_path / "books"),
        "NetworkDelay": 7,
        "Style": "Slow",
    }
    assert engine.files() == [scripted.program, tmp_path / "mine.bin", tmp_path / "books" / "one.db"]
    assert list(engine.description(1)["options"]) == ["NetworkDelay", "EvalFile|", "Book Dir|", "Style|"]
    assert engine.id_name == "Scripted"
    assert ask_engine(scripted.command()).options == {"NetworkDelay": 0}
    # A shipped network of this engine is no file of the current folder.
    (tmp_path / "default").mkdir()
    for behaviour, kept in (("liteshogi", "default"), ("play", str(tmp_path / "default"))):
        assert ask_engine(scripted.command(behaviour), ["EvalFile=default"]).options["EvalFile"] == kept
    # A file that exists only in the engine's folder is left to the engine.
    assert ask_engine(scripted.command(), ["EvalFile=own.bin"]).options["EvalFile"] == "own.bin"
    assert ask_engine(scripted.command(), ["EvalFile=./own.bin"]).options["EvalFile"] == "./own.bin"


def test_the_engine_gets_only_the_necessary_environment(scripted, tmp_path, monkeypatch):
    monkeypatch.setenv("LITESHOGI_DIARY", str(tmp_path / "diary"))
    monkeypatch.setenv("LITESHOGI_KERNEL", "plain")
    monkeypatch.setenv("SECRET_TOKEN", "hidden")
    engine = ask_engine(scripted.command(), ["Style=Slow"])
    environment, *commands = (tmp_path / "diary").read_text().splitlines()
    assert "'LITESHOGI_KERNEL': 'plain'" in environment
    assert "HOME" in environment
    assert "hidden" not in environment
    assert commands == [
        "usi",
        "setoption name NetworkDelay value 0",
        "setoption name Style value Slow",
        "isready",
        "quit",
    ]
    assert engine.description(1)["environment"]["LITESHOGI_KERNEL"] == "plain"


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("die", r"ended before usiok \(status 1\): no licence"),
        ("hang_up", r"ended before usiok \(still running\): no licence"),
        ("broken", r"ended before readyok \(status 1\): Error! failed to read nn\.bin"),
        ("shift_jis", r"ended before readyok \(status 1\): 評価関数がありません"),
        ("mute", r"no usiok within 1 seconds"),
        ("deaf", "no readyok within 1 seconds"),
    ],
)
def test_an_error_names_an_engine_that_does_not_start(scripted, behaviour, words, monkeypatch):
    monkeypatch.setattr(engines, "USIOK_SECONDS", 1.0 if behaviour == "mute" else 60.0)
    monkeypatch.setattr(engines, "READY_SECONDS", 1.0 if behaviour == "deaf" else 60.0)
    with pytest.raises(ValueError, match=f"'{behaviour}': {words}"):
        ask_engine(scripted.command(behaviour))


def test_a_program_for_another_machine_is_refused(tmp_path):
    program = tmp_path / "engine.exe"
    program.write_bytes(b"MZ\0\0no program here")
    program.chmod(0o755)
    with pytest.raises(ValueError, match="Exec format error"):
        ask_engine(str(program))


def test_liteshogi_with_an_unreadable_network_is_refused(tmp_path):
    (tmp_path / "damaged.safetensors").write_text("no net")
    with pytest.raises(ValueError, match=r"EvalFile.*damaged\.safetensors"):
        ask_engine("liteshogi", [f"EvalFile={tmp_path / 'damaged.safetensors'}"])


def test_names_of_players_show_their_differences(scripted, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "net.bin").write_text("")
    plain, slow = ask_engine(scripted.command()), ask_engine(scripted.command("slow"), ["Style=Slow"])
    one, other = (ask_engine(scripted.command(), [f"EvalFile={tmp_path / folder / 'net.bin'}"]) for folder in "ab")
    assert player_names(plain, plain) == ("Scripted 1", "Scripted 2")
    assert player_names(plain, slow) == ("Scripted (play)", "Scripted (slow Style=Slow)")
    assert player_names(plain, one) == ("Scripted", "Scripted (EvalFile=net.bin)")
    assert player_names(one, other) == (
        f"Scripted (EvalFile={tmp_path}/a/net.bin)",
        f"Scripted (EvalFile={tmp_path}/b/net.bin)",
    )
    assert player_names(plain, replace(slow, id_name="Other")) == ("Scripted", "Other")
