"""Games of a plan: which networks play, at how many nodes, and what is refused."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.arena.engine_match import UsiMatch
from experiments.matches.in_process_match import Match
from experiments.sweep import games
from experiments.sweep.entries import Play
from experiments.sweep.games import Tournament, near_front, players_of
from experiments.sweep.plan import Plan, Point
from experiments.sweep.results import Failed, Games, NetResult, Results, Standing
from experiments.sweep.sweep import Sweep, run_sweep
from experiments.sweep.timing import SpeedRatio
from experiments.usi_client.engines import ask_engine
from lite.run_folder import RunPlan, RunWriter
from liteshogi.commands.sweep import Command
from tests.experiments.sweep.conftest import MEASURE, TRAIN, net_of, on, planned, written

POINT = TRAIN + MEASURE + "[[point]]\nwidth = 32\n"
STANDING = Standing(2, 1, 0, 1, 1.0, 0.0, None, None)


def net(name: str, cost: float, loss: float, **options: Any) -> NetResult:
    given = {"width": 32, **options} if options.pop("own", True) else {}
    return net_of(Point(name, name, given, net="" if given else name), cost, loss)


def peer(name: str, cost: float, loss: float) -> NetResult:
    return replace(net(name, cost, loss), options={}, net=name)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1), st.integers(0, 4))
def test_networks_near_the_front_are_those_not_beaten_by_much(pairs: list[tuple[int, int]], near: int) -> None:
    nets = [net(str(number), cost, loss) for number, (cost, loss) in enumerate(pairs)]
    found = near_front(nets, near)
    for (cost, loss), one in zip(pairs, nets, strict=True):
        best = min(other for price, other in pairs if price <= cost)
        assert (one in found) == (loss <= best + near)


def test_imported_networks_and_curves_over_positions_do_not_define_the_front() -> None:
    plan, play = planned(), Play(near=0.002)
    own = [net("small", 50, 0.13, positions=20), net("large", 90, 0.11, positions=20)]
    poor = [net("expensive and poor", 99, 0.12, positions=20), net("of few", 40, 0.128, positions=5)]
    peers = [peer("better and cheaper", 40, 0.09), peer("poor", 200, 0.2)]
    assert players_of(plan, play, [*peers, *own, *poor]) == [*own, *peers]
    of_all = net("of all the data", 90, 0.11, width=64)
    assert players_of(plan, play, [*own, of_all, *peers]) == [of_all, *peers]
    assert players_of(plan, play, peers) == peers


def test_each_machine_has_its_own_front() -> None:
    front = [on(net("a", 20, 0.1), "fast"), on(net("b", 40, 0.2), "slow")]
    assert players_of(planned(), Play(near=0.002), [*front, on(net("c", 41, 0.3), "slow")]) == front


def test_without_timings_the_networks_near_the_best_play() -> None:
    nets = [replace(net(name, 20, loss), timed=None) for name, loss in (("a", 0.1), ("b", 0.101), ("c", 0.2))]
    assert players_of(planned(), Play(near=0.002), nets) == nets[:2]


@pytest.mark.parametrize("who", ["front", "all"])
def test_networks_of_an_earlier_plan_do_not_play(tmp_path: Path, who: str) -> None:
    train, space = {"kind": "dense", "data": ["d.hcpe"]}, {"point": [], "space": [{"width": [32]}]}
    before = planned(**space, train={**train, "positions": 20}, peer=[{"name": "removed", "net": "removed"}])
    plan = planned(**space, train={**train, "positions": 5}, peer=[{"name": "kept", "net": "kept"}])
    results = Results()
    for point in (*before.known_points(), *plan.known_points()):
        results.add(net_of(point))
    left = Tournament(plan, Play(who=who, by=("clock",)), results, tmp_path).left()  # type: ignore[arg-type]
    assert {one.key for one, _ in left} == {point.key for point in plan.known_points()}


@pytest.mark.parametrize("seeds", [[0, 1], [3, 1]])
def test_named_networks_play_with_the_seed_that_the_plan_names_first(tmp_path: Path, seeds: list[int]) -> None:
    plan = planned(point=[{"name": "a", "games": True}, {"name": "b"}], seeds=seeds)
    results = Results()
    for point in reversed(plan.listed):
        results.add(net_of(point))
    for who, names in (("named", ["a"]), ("all", ["a", "b"])):
        play = Play(who=who, by=("nodes",))  # type: ignore[arg-type]
        left = Tournament(plan, play, results, tmp_path).left()
        assert sorted(one.key for one, _ in left) == [(name, seeds[0]) for name in names]


def tournament(plan: Plan, folder: Path, **play: Any) -> Tournament:
    results = Results()
    results.add(replace(net("a", 30, 0.1), net="own"))
    results.add(peer("default", 60, 0.1))
    return Tournament(plan, Play(nodes=300, games=2, **play), results, folder)


def test_games_are_played_once_at_nodes_in_the_ratio_of_the_speeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[Match] = []
    monkeypatch.setattr(games, "play_match", lambda match: played.append(match) or STANDING)
    monkeypatch.setattr(games, "speed_ratio", lambda *_: SpeedRatio(2.0, 0.01))
    monkeypatch.setattr(games, "_is_residual", lambda _: False)
    of = tournament(planned(), tmp_path)
    found = [one for one in of.play_all() if isinstance(one, Games)]
    assert [(one.by, one.nodes, one.speed_ratio) for one in found] == [("nodes", 300, None), ("time", 600, 2.0)]
    assert [(match.first, match.nodes, match.second_nodes) for match in played] == [
        ("own", 300, 300),
        ("own", 600, 300),
    ]
    assert of.left() == []


def test_an_interrupted_match_at_equal_time_resumes_with_as_many_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The speeds are measured again only for another opponent."""
    played: list[int] = []
    measured = iter((2.0, 2.1))

    def interrupt(match: Match) -> None:
        played.append(match.nodes)
        raise KeyboardInterrupt

    monkeypatch.setattr(games, "play_match", interrupt)
    monkeypatch.setattr(games, "speed_ratio", lambda *_: SpeedRatio(next(measured), 0.01))
    monkeypatch.setattr(games, "_is_residual", lambda _: False)
    with RunWriter(tmp_path, RunPlan("sweep")) as writer:
        writer.append(replace(net("a", 30, 0.1), net="own"))
        for opponent in ("default", "default", "dense-64-16"):
            play = Play(nodes=300, by=("time",), opponent=opponent)
            with pytest.raises(KeyboardInterrupt):
                list(Tournament(planned(), play, Results.of(writer), tmp_path).play_all())
    assert played == [600, 600, 630]


def test_games_at_equal_time_are_refused_if_the_speeds_do_not_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(games, "speed_ratio", lambda *_: SpeedRatio(2.0, 0.2))
    monkeypatch.setattr(games, "_is_residual", lambda _: False)
    of = tournament(planned(), tmp_path, by=("time",))
    (found,) = of.play_all()
    assert isinstance(found, Failed)
    assert "the ratio of speeds is not known to 5%" in found.why
    assert len(of.left()) == 1  # another call measures again


def test_a_sweep_fails_if_every_match_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invented: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A later call that has no match left to play does not fail."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(games, "speed_ratio", lambda *_: SpeedRatio(2.0, 0.2))
    monkeypatch.setattr(games, "_is_residual", lambda _: False)
    command = Command(written(tmp_path, POINT + '[play]\nby = ["time"]\ngames = 2\n'), output=Path("out"), workers=1)
    with pytest.raises(ValueError, match=r"out: every match has failed; .*table\.md gives the reasons"):
        command.run()
    assert "the ratio of speeds is not known" in capsys.readouterr().out
    monkeypatch.setattr(games, "speed_ratio", lambda *_: SpeedRatio(2.0, 0.01))
    monkeypatch.setattr(games, "play_match", lambda _: STANDING)
    for _ in range(2):
        command.run()


def test_both_engines_take_the_options_of_a_residual_network_s_games(
    tiny_onnx: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(tiny_onnx, tmp_path / "net.onnx")
    played: list[UsiMatch] = []
    monkeypatch.setattr(games, "play_usi_match", lambda match: played.append(match) or STANDING)
    play = Play(
        games=2, by=("nodes", "time", "clock"), playouts=3, opponent_depth=2, byoyomi=70, opponent="dense-64-16"
    )
    results = Results()
    results.add(replace(net("a", 30, 0.1), net=str(tmp_path / "net.onnx")))
    found = list(Tournament(planned(), play, results, tmp_path).play_all())
    assert [one.by for one in found if isinstance(one, Games)] == ["nodes", "clock"]
    match, timed = played
    first, second = ask_engine(match.first, match.first_option), ask_engine(match.second, match.second_option)
    assert (first.id_name, first.options["NodesLimit"]) == ("LiteShogi PUCT", 3)
    assert (second.id_name, second.options["DepthLimit"]) == ("LiteShogi", 2)
    assert second.options["NodesLimit"] == 200_000
    assert second.options["EvalFile"] == "dense-64-16"
    assert (timed.byoyomi, timed.first_option) == (70, ())
    of_all = {"opponent": "dense-64-16", "games": 2, "openings": ""}
    assert [one.play for one in found if isinstance(one, Games)] == [
        of_all | {"playouts": 3, "opponent_depth": 2},
        of_all | {"byoyomi": 70},
    ]
    assert ask_engine(timed.second, timed.second_option).options["EvalFile"] == "dense-64-16"


@pytest.mark.parametrize(
    ("play", "words"),
    [
        ('opponent = "none.safetensors"', "none.safetensors"),
        ('opponent = "plan.toml"', "plan.toml: play: plan.toml: not a liteshogi evaluation network"),
        ('openings = "none.sfen"', "none.sfen"),
        ('openings = "one.sfen"\ngames = 4', "plan.toml: play: .*one.sfen: 1 opening, enough for 2 games"),
        ("games = 3", "plan.toml: play: .*games.* 3: must be even"),
        ("by = []", "plan.toml: play: by: name at least one way"),
        ('opponent = "nothing"', "plan.toml: play: opponent: nothing: no such network"),
        ("near = -1.0", "plan.toml: play: `near` -1.0: must be 0 or more"),
        *(
            (f'by = ["clock"]\n{name} = {number}', f"plan.toml: play: .{name}. {number}: must be at")
            for name in ("byoyomi", "playouts", "opponent_depth", "nodes")
            for number in (-1, 10**12)
        ),
    ],
)
def test_unplayable_games_are_refused_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invented: list[str], play: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.sfen").write_text("startpos\n")
    written(tmp_path, POINT + f"[play]\n{play}\n")
    with pytest.raises((ValueError, OSError), match=words):
        run_sweep(Sweep(Path("plan.toml"), output=Path("out"), workers=1))
    assert not Path("out").exists()
    assert run_sweep(Sweep(Path("plan.toml"), output=Path("out"), workers=1, games=False)).points == 1


def test_options_of_games_can_change_until_games_are_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invented: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    """The choice of networks can also change later, also to none."""
    sweep = Sweep(written(tmp_path, POINT + "[play]\ngames = 8\n"), output=tmp_path / "out", workers=1)
    with monkeypatch.context() as unplayed:
        unplayed.setattr(Tournament, "play_all", lambda *_: iter(()))
        run_sweep(sweep)
    monkeypatch.setattr(games, "play_match", lambda _: STANDING)
    monkeypatch.setattr(games, "speed_ratio", lambda *_: SpeedRatio(1.0, 0.0))
    monkeypatch.setattr(games, "_is_residual", lambda _: False)
    openings = tmp_path / "openings.sfen"
    openings.write_text("".join(f"startpos moves {move}\n" for move in ("7g7f", "2g2f", "6g6f", "5g5f", "9g9f")))
    play = f'[play]\nopponent = "squared-64-16"\nopenings = "{openings}"\n'
    written(tmp_path, POINT + play + "games = 6\n")
    run_sweep(sweep)
    played = Results.read(sweep.output).all(Games)
    assert [one.by for one in played] == ["nodes", "time"]
    lines = [line for line in capfd.readouterr().err.splitlines() if "games by" in line]
    begun = [re.sub(r"\d+:\d+", "0:00", line) for line in lines if "begins" in line]
    assert [line.partition(", games by ")[2] for line in begun] == ["nodes: begins", "time: begins, 0:00 left"]
    assert [line.split(":")[0] for line in lines] == [f"match {n} of 2" for n in (1, 1, 2, 2)]
    for name, others in (("nodes", "games = 6\n"), ("games", ""), ("win_score", "games = 6\n")):
        written(tmp_path, POINT + play + f"{name} = 8\n" + others)
        with pytest.raises(ValueError, match=f"out: its games were played with {name} = .*, not 8; restore that"):
            run_sweep(sweep)
    before = openings.read_text()
    openings.write_text(before.replace("9g9f", "1g1f"))
    written(tmp_path, POINT + play + "games = 6\n")
    with pytest.raises(ValueError, match=f"^{openings}: has changed since games of .*out were played with it; restore"):
        run_sweep(sweep)
    openings.write_text(before)
    for harmless in (play + "games = 6\nnear = 1.0\nbyoyomi = 500\nplayouts = 9\nopponent_depth = 5\n", ""):
        written(tmp_path, POINT + harmless)
        run_sweep(sweep)
    assert Results.read(sweep.output).all(Games) == played
