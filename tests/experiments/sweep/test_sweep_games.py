"""Games of a sweep: who plays, by how many nodes, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.jobs.results import Results
from experiments.jobs.verb import Verbs
from experiments.sweep import games
from experiments.sweep.configuration import read_configuration
from experiments.sweep.games import near_front, play_games, who_plays
from experiments.sweep.sweep import RESULTS, Sweep, run_sweep
from tests.experiments.sweep.conftest import GRID, MEASURE, TRAIN, described, figures_of

POINT = TRAIN + MEASURE + "[[point]]\nwidth = 8\n"
STANDING = {"games": 2, "wins": 1, "draws": 0, "losses": 1, "points": 1.0}
STANDING |= {"elo": 0.0, "elo_low": None, "elo_high": None}


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1), st.integers(0, 4))
def test_near_the_front_is_what_little_money_does_not_beat(pairs: list[tuple[int, int]], near: int) -> None:
    nets = [{"evaluation_ns": cost, "d1_rmse": float(loss)} for cost, loss in pairs]
    found = near_front(nets, near)
    for net in nets:
        best = min(one["d1_rmse"] for one in nets if one["evaluation_ns"] <= net["evaluation_ns"])
        assert (net in found) == (net["d1_rmse"] <= best + near)


def test_nets_made_elsewhere_and_a_curve_over_positions_set_no_bar() -> None:
    def net(name: str, cost: float, loss: float, **options: Any) -> dict[str, Any]:
        return {"name": name, "seed": 0, "evaluation_ns": cost, "d1_rmse": loss, "options": options}

    own = [net("small", 50, 0.13, positions=20), net("large", 90, 0.11, positions=20)]
    poor = [net("dear and poor", 99, 0.12, positions=20), net("of few", 40, 0.128, positions=5)]
    peers = [net("better and cheaper", 40, 0.09), net("poor", 200, 0.2)]
    assert who_plays([*peers, *own, *poor], 0.002) == [*own, *peers]
    of_all = net("of all the data", 90, 0.11, width=64)
    assert who_plays([*own, of_all, *peers], 0.002) == [of_all, *peers]
    assert who_plays(peers, 0.002) == peers


def test_games_are_played_once_net_by_net_at_the_speed_that_the_sweep_has_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[list[str]] = []

    def run(_: Verbs, words: list[str]) -> tuple[str, dict[str, float]]:
        played.append(words)
        return json.dumps(STANDING), {"seconds": 1.0, "cpu_seconds": 1.0}

    monkeypatch.setattr(Verbs, "run", run)
    monkeypatch.setattr(games, "program", lambda: {"cpu": "One CPU", "kernel": "avx2"})
    configuration = read_configuration(
        described(tmp_path, TRAIN + MEASURE + '[play]\nopponent = "default"\nnodes = 300\n' + GRID)
    )
    results = Results(tmp_path / "points.jsonl")
    point = configuration.point({"width": 32})
    results.add("net", point.name, 0, figures_of(point) | {"net": "own", "nps": 2000})
    results.add("net", "peer", 0, figures_of(point) | {"net": "default", "options": {}, "nps": 1000})
    play = configuration.play
    assert play is not None
    first = next(play_games(results, play, configuration.measures, tmp_path))
    assert (first["kind"], results.find("timed games", point.name)) == ("games", None)
    assert [line["nodes"] for line in play_games(results, play, configuration.measures, tmp_path)] == [600]
    assert not list(play_games(results, play, configuration.measures, tmp_path))
    assert [words[1:3] for words in played] == [["own", "default"]] * 2
    assert {words[words.index("--second-nodes") + 1] for words in played} == {"300"}
    results.lines.pop(("net", "peer", 0))
    results.lines.pop(("timed games", point.name, 0))
    monkeypatch.setattr(games, "time_network", lambda *_: {"nps": 500})
    assert [line["nodes"] for line in play_games(results, play, configuration.measures, tmp_path)] == [1200]
    assert results.lines["speed", "default", 0]["nps"] == 500


def test_equal_time_is_that_of_the_machine_that_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a sweep that others have timed nets for: what was timed there is timed once more, once."""
    timed: list[str] = []

    def time_network(net: str, *_: object) -> dict[str, int]:
        timed.append(net)
        return {"nps": 3000 if net == "own" else 1500}

    monkeypatch.setattr(games, "time_network", time_network)
    monkeypatch.setattr(Verbs, "run", lambda *_: (json.dumps(STANDING), {}))
    configuration = read_configuration(described(tmp_path, POINT + "[play]\nnodes = 300\n"))
    results, play, point = Results(tmp_path / RESULTS), configuration.play, configuration.point({"width": 32})
    assert play is not None
    results.add("net", point.name, 0, figures_of(point) | {"net": "own", "nps": 9000, "cpu": "fast"})
    results.add("net", "peer", 0, figures_of(point) | {"net": "default", "options": {}, "nps": 1500, "cpu": "slow"})

    def play_on(cpu: str) -> list[int]:
        monkeypatch.setattr(games, "program", lambda: {"cpu": cpu, "kernel": "avx2"})
        results.lines.pop(("timed games", point.name, 0), None)
        return [line["nodes"] for line in play_games(results, play, configuration.measures, tmp_path)]

    assert play_on("slow")[-1] == 600
    assert play_on("slow") == [600]
    assert timed == ["own"]
    assert play_on("a third") == [600]
    assert timed == ["own", "own", "default"]


def test_each_machine_has_a_front_of_its_own() -> None:
    def net(cpu: str, cost: int, loss: float) -> dict[str, Any]:
        return {"cpu": cpu, "kernel": "avx2", "evaluation_ns": cost, "d1_rmse": loss, "options": {"width": 8}}

    front = [net("fast", 20, 0.1), net("slow", 40, 0.2)]
    assert who_plays([*front, net("slow", 41, 0.3)], 0.002) == front


@pytest.mark.parametrize(
    ("play", "words"),
    [
        ('opponent = "none.safetensors"', "none.safetensors"),
        ('opponent = "sweep.toml"', "sweep.toml: play: sweep.toml: not a liteshogi evaluation network"),
        ('openings = "none.sfen"', "none.sfen"),
        ('openings = "one.sfen"\ngames = 4', "sweep.toml: play: one.sfen: 1 opening, good for 2 games"),
        ("games = 3", "sweep.toml: play: --games 3: an even number"),
    ],
)
def test_games_that_could_not_be_played_are_refused_before_anything_is_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invented: list[str], play: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.sfen").write_text("startpos\n")
    described(tmp_path, POINT + f"[play]\n{play}\n")
    with pytest.raises((ValueError, OSError), match=words):
        run_sweep(Sweep(Path("sweep.toml"), Path("out"), workers=1))
    assert not Path("out").exists()
    assert run_sweep(Sweep(Path("sweep.toml"), Path("out"), workers=1, games=False))["points"] == 1


def test_how_games_are_played_can_be_changed_until_some_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invented: list[str]
) -> None:
    """Who plays can be later, too, and that nobody does."""
    sweep = Sweep(described(tmp_path, POINT + "[play]\ngames = 8\n"), tmp_path / "out", workers=1)
    with monkeypatch.context() as unplayed:
        unplayed.setattr("experiments.sweep.sweep.play_games", lambda *_: iter(()))
        run_sweep(sweep)
    monkeypatch.setattr(Verbs, "run", lambda *_: (json.dumps(STANDING), {}))
    monkeypatch.setattr(games, "time_network", lambda *_: {"nps": 500})
    openings = tmp_path / "openings.sfen"
    openings.write_text("".join(f"startpos moves {move}\n" for move in ("7g7f", "2g2f", "6g6f", "5g5f", "9g9f")))
    play = f'[play]\nopponent = "squared-64-16"\nopenings = "{openings}"\n'
    described(tmp_path, POINT + play + "games = 6\n")
    run_sweep(sweep)
    played = Results(sweep.output / RESULTS).lines
    assert {kind for kind, _, _ in played} >= {"games", "timed games"}
    for name, others in (("nodes", "games = 6\n"), ("games", ""), ("win_score", "games = 6\n")):
        described(tmp_path, POINT + play + f"{name} = 8\n" + others)
        with pytest.raises(ValueError, match=f"out: its games were played with {name} = .*, not 8; go on with that"):
            run_sweep(sweep)
    before = openings.read_text()
    openings.write_text(before.replace("9g9f", "1g1f"))
    described(tmp_path, POINT + play + "games = 6\n")
    with pytest.raises(ValueError, match=f"^{openings}: has changed since games of .*out were played with it; restore"):
        run_sweep(sweep)
    openings.write_text(before)
    for harmless in (play + "games = 6\nnear = 1.0\n", ""):
        described(tmp_path, POINT + harmless)
        run_sweep(sweep)
    assert Results(sweep.output / RESULTS).lines == played
