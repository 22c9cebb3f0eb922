"""The Python API takes files as a str or as any path-like object."""

from __future__ import annotations

from pathlib import Path

import pytest

import liteshogi
from experiments.jobs.workforce import Workforce

ROOT = Path(__file__).parents[2]
SAMPLE = str(ROOT / "experiments" / "sample" / "valid_sample.hcpe3")
NET = str(ROOT / "search" / "networks" / "lite-16-4-32.safetensors")


class Entry:
    """A path-like object that is not a Path, as `os.scandir` yields."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __fspath__(self) -> str:
        return self._name


@pytest.fixture(params=[str, Path, Entry])
def named(request):
    """Type of the names that are passed."""
    return request.param


def test_networks_and_engines_accept_any_path(named, tiny_onnx):
    (found,) = liteshogi.evaluate_sfens(named(NET), ["startpos"])
    assert isinstance(found, liteshogi.Evaluation)
    assert liteshogi.evaluate_sfens(liteshogi.load_network(named(NET)), ["startpos"]) == [found]
    assert liteshogi.load_network(named("default")).width == liteshogi.load_network().width
    assert liteshogi.AlphaBetaEngine(named(NET)).analyse("startpos", depth=1).depth == 1
    assert liteshogi.PuctEngine(named(str(tiny_onnx))).analyse("startpos", nodes=2).best_move


def test_from_games_to_a_folded_network_and_its_figures(named, tmp_path):
    data, run, net = (named(str(tmp_path / name)) for name in ("all.psv", "run", "net.safetensors"))
    made = liteshogi.convert(
        liteshogi.Conversion((named(SAMPLE),), data, test_output=named(str(tmp_path / "test.psv")))
    )
    assert [out.path for out in made.outputs] == [str(tmp_path / "all.psv"), str(tmp_path / "test.psv")]
    tiny = liteshogi.LiteConfig((2, 1, 4))
    liteshogi.train_value(liteshogi.ValueTraining((data,), run, network=tiny, batch_size=512, max_steps=1))
    further = named(str(tmp_path / "further"))
    liteshogi.train_value(
        liteshogi.ValueTraining(data, further, init_from=run, network=tiny, batch_size=512, max_steps=1)
    )
    figures = liteshogi.fold_file(liteshogi.Folding(further, net, data=(data,), positions=50, keep_float=True))
    assert figures.positions == 50
    report = liteshogi.measure_network(net, data, positions=50)
    assert report == liteshogi.measure_network(str(tmp_path / "net.safetensors"), (data,), positions=50)


def test_games_of_a_network(named, tmp_path):
    openings = tmp_path / "openings.txt"
    openings.write_text("startpos\nstartpos moves 7g7f\n")
    options = {"nodes": 5, "openings": named(str(openings))}
    folder = named(str(tmp_path / "games"))
    played = liteshogi.SelfPlay(named(NET), folder, positions=20, workforce=Workforce(1), **options)
    totals = liteshogi.self_play(played)
    assert totals.count("positions") >= 20
    folder = named(str(tmp_path / "match"))
    options |= {"games": 2, "parallel": 1, "sprt": liteshogi.Sprt(0, 5)}
    match = liteshogi.Match(first=named(NET), second="default", output=folder, **options)
    report = liteshogi.play_match(match)
    assert report.games == 2
