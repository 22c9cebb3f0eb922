"""Tuning: what ShogiArena is told, what it answers, and the options by which the engine takes the parameters."""

from __future__ import annotations

import contextlib
import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.arena import process as arena
from experiments.arena.tune import chosen_parameters, ledger, read_history, space, tuned_values
from experiments.pictures import draw_tuning
from liteshogi.commands.tune import Command as Tune
from search.alphabeta.parameters import PARAMETERS, make_parameters
from search.usi.alphabeta import AlphaBetaAdapter, tunable_options
from search.usi.options import OptionValues

OPENINGS = "startpos moves 7g7f 3c3d\nstartpos moves 2g2f 8c8d\n"


def test_parameters_are_chosen_by_name():
    assert chosen_parameters(()) == list(PARAMETERS)
    assert [one.name for one in chosen_parameters(("razor_margin", "reduction_base"))] == [
        "razor_margin",
        "reduction_base",
    ]
    with pytest.raises(ValueError, match="no such parameter: speed"):
        chosen_parameters(("speed",))


def test_every_parameter_has_room_on_both_sides():
    for entry in space(list(PARAMETERS), 0.01)["parameters"]:
        low, high = entry["bounds"]["min"], entry["bounds"]["max"]
        assert low < entry["initial"] < high
        assert 0 < entry["schedule"]["c_end"] <= (high - low) / 4
        assert entry["schedule"]["r_end"] == 0.01


def test_the_engine_takes_parameters_where_it_is_asked_to(monkeypatch):
    monkeypatch.delenv("LITESHOGI_TUNE", raising=False)
    assert not tunable_options()
    monkeypatch.setenv("LITESHOGI_TUNE", "1")
    adapter = AlphaBetaAdapter()
    values = OptionValues(adapter.options)
    values.set("Razor_Margin", "300")
    values.set("USI_Hash", "1")
    engine = adapter.make(values, pytest.fail)
    adapter.apply(engine, values, lambda text: None)
    assert engine.parameters["razor_margin"] == 300
    assert engine.parameters["reduction_base"] == make_parameters()["reduction_base"]
    with pytest.raises(ValueError, match="outside 80 to 800"):
        values.set("razor_margin", "5000")


def test_parameters_outside_their_range_are_refused():
    with pytest.raises(ValueError, match="outside"):
        make_parameters({"razor_margin": 5})
    with pytest.raises(ValueError, match="no such parameter"):
        make_parameters({"speed": 5})


def write_ledger(run: Path, *values: float) -> None:
    """A ledger of ShogiArena's with the razor margin after each update, and one more that is under way."""
    ledger(run).parent.mkdir(parents=True)
    with contextlib.closing(sqlite3.connect(ledger(run))) as books:
        books.execute("CREATE TABLE updates (update_idx INTEGER, state TEXT, theta_final_json TEXT)")
        rows = [(number, "COMMITTED", json.dumps({"razor_margin": value})) for number, value in enumerate(values, 1)]
        books.executemany("INSERT INTO updates VALUES (?, ?, ?)", [*rows, (len(rows) + 1, "GAMES_RUNNING", None)])
        books.commit()


def test_the_ledger_is_read(tmp_path):
    chosen = chosen_parameters(("razor_margin",))
    assert tuned_values(read_history(tmp_path), chosen) == {
        "updates": 0,
        "parameters": {"razor_margin": {"default": 306, "value": 306.0, "steps": 0.0}},
    }
    write_ledger(tmp_path, 312.25, 318.5)
    assert tuned_values(read_history(tmp_path), chosen) == {
        "updates": 2,
        "parameters": {"razor_margin": {"default": 306, "value": 318.5, "steps": 0.5}},
    }
    draw_tuning(read_history(tmp_path), chosen, tmp_path / "tune.png")
    assert (tmp_path / "tune.png").read_bytes().startswith(b"\x89PNG")
    ledger(tmp_path).write_bytes(b"no database, and long enough to be looked at" * 40)
    with pytest.raises(ValueError, match="begin again with another --output"):
        read_history(tmp_path)


@pytest.fixture
def arena_calls(monkeypatch) -> list[tuple[str, ...]]:
    """What would have been asked of ShogiArena, which does nothing."""
    calls: list[tuple[str, ...]] = []
    monkeypatch.setattr(
        "experiments.arena.tune.run_arena", lambda directory, *arguments, watch: calls.append(arguments)
    )
    return calls


@pytest.fixture
def tune(scripted, tmp_path) -> Callable[..., Tune]:
    """Makes a tuning with a scripted engine."""

    def make(**options) -> Tune:
        openings = tmp_path / "openings.sfen"
        openings.write_text(OPENINGS)
        defaults = {"names": ("razor_margin",), "engine": scripted.command(), "output": tmp_path / "run"}
        return Tune(openings=openings, **{**defaults, **options})

    return make


def test_shogiarena_is_told_what_to_play(tune, tmp_path, arena_calls, capsys):
    tune(updates=50, pairs=8, nodes=700, seed=11).run()
    assert arena_calls[0][:2] == ("run", "spsa")
    told = json.loads(Path(arena_calls[0][2]).read_text())
    assert told["rules"]["time_control"] == {"node_limit": 700}
    assert int(told["spsa"]["run_seed"], 16) == 11
    assert (told["spsa"]["num_updates"], told["spsa"]["pairs_per_update"]) == (50, 8)
    described = json.loads(Path(told["engines"][0]["engine_path"]).read_text())
    assert described["environment"]["LITESHOGI_TUNE"] == "1"
    chosen = json.loads(Path(told["spsa"]["space"]).read_text())["parameters"]
    assert [one["id"] for one in chosen] == ["razor_margin"]
    assert chosen[0]["schedule"] == {"c_end": 25, "r_end": pytest.approx(0.01)}
    assert "after 0 of 50 updates" in capsys.readouterr().out

    tune(byoyomi=20, gain=0.03).run()
    assert json.loads((tmp_path / "run" / "tune.yaml").read_text())["rules"]["time_control"]["byoyomi_ms"] == 20
    assert json.loads((tmp_path / "run" / "space.yaml").read_text())["parameters"][0]["schedule"]["r_end"] == 0.03


def test_a_tuning_goes_on_with_its_own_settings_only(tune, tmp_path, arena_calls):
    tune(updates=2).run()
    write_ledger(tmp_path / "run" / "games", 225.25)
    tune(updates=2).run()
    with pytest.raises(ValueError, match=r"holds another run \(spsa\.num_updates is 2 there, here 3\)"):
        tune(updates=3).run()
    assert len(arena_calls) == 2
    ledger(tmp_path / "run" / "games").rename(tmp_path / "run" / "games" / "stray")
    with pytest.raises(ValueError, match="remove it, or give another --output"):
        tune(updates=2).run()


def test_a_tuning_that_has_ended_is_reported(tune, tmp_path, arena_calls, capsys):
    tune(updates=1).run()
    write_ledger(tmp_path / "run" / "games", 281.0)
    tune(updates=1).run()
    assert len(arena_calls) == 1
    assert "306 ->    281.00  (-1.00 steps)" in capsys.readouterr().out
    assert (tmp_path / "run" / "tune.png").is_file()


def test_what_cannot_be_tuned_is_refused_in_words(scripted, tune, tmp_path, arena_calls):
    with pytest.raises(FileNotFoundError, match="give --openings"):
        Tune(openings=tmp_path / "none.sfen", output=tmp_path).run()
    for options in ({"updates": 0}, {"nodes": 0}, {"byoyomi": 0}, {"pairs": -1}):
        with pytest.raises(ValueError, match="at least 1"):
            tune(**options).run()
    for options in ({"seed": -1}, {"gain": 0.0}, {"gain": float("nan")}):
        with pytest.raises(ValueError, match="--seed must not be negative and --gain"):
            tune(**options).run()
    with pytest.raises(ValueError, match="ended before usiok"):
        tune(engine=scripted.command("die")).run()
    with pytest.raises(ValueError, match="no option reduction_base; only this search can be tuned"):
        tune(names=("razor_margin", "reduction_base")).run()
    assert not arena_calls
    assert not (tmp_path / "run").exists()


def test_without_shogiarena_it_is_what_is_missed(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="shogiarena"):
        Tune(openings=Path("none.sfen")).run()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are a matter of the system")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_request_to_end_reaches_shogiarena(tmp_path, name):
    """A program in ShogiArena's place takes a second to close its books, and is given it."""
    program = tmp_path / "shogiarena"
    program.write_text(
        f"#!{sys.executable}\nimport signal, time\n"
        "try:\n    print('begun', flush=True, file=open('begun', 'w'))\n    time.sleep(100)\n"
        "except KeyboardInterrupt:\n    time.sleep(1)\n    open('closed', 'w')\n"
    )
    program.chmod(0o755)
    script = (
        f"import sys; sys.path.insert(0, {str(Path(arena.__file__).parents[2])!r})\n"
        "from pathlib import Path; from experiments.arena.process import run_arena\n"
        f"sys.executable = {str(tmp_path / 'python')!r}\n"
        "try: run_arena(Path(), 'run')\nexcept KeyboardInterrupt: sys.exit(130)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path) as process:
        end = time.monotonic() + 60
        while not (tmp_path / "begun").exists() or not (tmp_path / "begun").read_text():
            assert time.monotonic() < end
            time.sleep(0.02)
        process.send_signal(getattr(signal, name))
        assert process.wait(60) == 130
    assert (tmp_path / "closed").exists()


@pytest.mark.slow
def test_two_updates_and_the_same_command_again(tmp_path, capsys):
    openings = tmp_path / "openings.sfen"
    openings.write_text(OPENINGS)
    program = str(Path(sys.executable).with_name("liteshogi"))
    again = Tune(
        ("razor_margin",), openings, 2, 1, 200, max_plies=20, engine=program, output=tmp_path / "run", json=True
    )
    reports = []
    for _ in range(2):
        again.run()
        reports.append(json.loads(capsys.readouterr().out))
    assert reports[0]["updates"] == 2
    assert reports[0] == reports[1]
    assert (tmp_path / "run" / "tune.png").is_file()
