"""Tuning: what ShogiArena is told, what it answers, and the options by which the engine takes the parameters."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from experiments.tune import Tune, chosen_parameters, read_values, space
from search.options import OptionValues, declared_options
from search.parameters import PARAMETERS, make_parameters

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
    for entry in space(list(PARAMETERS))["parameters"]:
        low, high = entry["bounds"]["min"], entry["bounds"]["max"]
        assert low < entry["initial"] < high
        assert 0 < entry["schedule"]["c_end"] <= (high - low) / 4


def test_the_engine_takes_parameters_where_it_is_asked_to(monkeypatch):
    monkeypatch.delenv("LITESHOGI_TUNE", raising=False)
    assert not OptionValues().parameters()
    monkeypatch.setenv("LITESHOGI_TUNE", "1")
    assert len(declared_options()) > len(PARAMETERS)
    values = OptionValues()
    values.set("Razor_Margin", "300")
    changed = make_parameters(values.parameters())
    assert changed["razor_margin"] == 300
    assert changed["reduction_base"] == make_parameters()["reduction_base"]
    with pytest.raises(ValueError, match="outside 80 to 500"):
        values.set("razor_margin", "5000")


def test_parameters_outside_their_range_are_refused():
    with pytest.raises(ValueError, match="outside"):
        make_parameters({"razor_margin": 5})
    with pytest.raises(ValueError, match="no such parameter"):
        make_parameters({"speed": 5})


def test_the_ledger_is_read(tmp_path):
    chosen = chosen_parameters(("razor_margin",))
    assert read_values(tmp_path, chosen) == {
        "updates": 0,
        "parameters": {"razor_margin": {"default": 220, "value": 220.0}},
    }
    (tmp_path / "spsa").mkdir()
    (tmp_path / "spsa" / "current.json").write_text(json.dumps({"update_idx": 7, "theta": {"razor_margin": 231.5}}))
    report = read_values(tmp_path, chosen)
    assert report["updates"] == 7
    assert report["parameters"]["razor_margin"]["value"] == 231.5


def test_what_cannot_be_tuned_is_refused_in_words(tmp_path):
    with pytest.raises(FileNotFoundError, match="give --openings"):
        Tune(openings=tmp_path / "none.sfen", output=tmp_path).run()


@pytest.mark.slow
def test_two_updates_and_the_same_command_again(tmp_path, capsys):
    openings = tmp_path / "openings.sfen"
    openings.write_text(OPENINGS)
    program = str(Path(sys.executable).with_name("liteshogi"))
    reports = []
    for _ in range(2):
        Tune(("razor_margin",), openings, 2, 1, 200, max_plies=20, engine=program, output=tmp_path, json=True).run()
        reports.append(json.loads(capsys.readouterr().out))
    assert reports[0]["updates"] == 2
    assert reports[0] == reports[1]
