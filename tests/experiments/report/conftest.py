"""Run folders of all verbs that a report shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from experiments.jobs.ledger import LandedJob
from experiments.judge.losses import JudgedPosition
from experiments.labels.yardstick import D1Figures
from experiments.loop.stage_results import CandidateTrained, FirstNetwork, GateResult, LoopStanding, RecordsMade
from experiments.loop.stages import Stage
from experiments.report.section import Run
from experiments.tuning.tune import chosen_parameters
from lite import run_folder
from lite.run_folder import Line, Machine, Maker, Net, RunPlan, RunWriter, read_run

MAKER = Maker({"liteshogi": "0.1.0", "commit": "0" * 40}, Machine("One CPU", "avx2", 2))
PAIRS = [("wins", "wins"), ("wins", "losses"), ("draws", "wins"), ("wins", "wins"), ("losses", "losses")] * 4
MATCH = RunPlan(
    "match",
    {"nodes": 5000, "depth": 0, "second_nodes": 100, "second_depth": 0, "seed": 7},
    {"games": 40, "sprt": None, "players": ["</script>.safetensors (5000 nodes)", "default (100 nodes)"]},
    nets=(Net("first", "</script>.safetensors", "0"), Net("second", "default", "1")),
)


def made(folder: Path, plan: RunPlan, lines: Sequence[Line], maker: Maker = MAKER) -> Path:
    """Make a run folder with these lines, followed by a truncated one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_folder, "this_maker", lambda: maker)
        with RunWriter(folder, plan) as run:
            for line in lines:
                run.append(line)
    with open(folder / run_folder.RESULTS, "ab") as file:
        file.write(b'{"kind":"job","job":')
    return folder


def run_of(folder: Path, name: str = "mine") -> Run:
    return Run(name, folder, read_run(folder))


def pair_lines(pairs: Sequence[tuple[str, str]]) -> list[LandedJob]:
    return [
        LandedJob(job=job, shard=0, start=job, stop=job + 1, counts={"games": 2, **outcome_counts(*pair)})
        for job, pair in enumerate(pairs)
    ]


def outcome_counts(black: str, white: str) -> dict[str, int]:
    return {f"{black} as black": 1, f"{white} as white": 1}


@pytest.fixture
def match(tmp_path: Path) -> Path:
    return make_match(tmp_path / "match")


def make_match(folder: Path, maker: Maker = MAKER, **goal: Any) -> Path:
    return made(folder, replace(MATCH, goal={**MATCH.goal, **goal}), pair_lines(PAIRS), maker)


@pytest.fixture
def league(tmp_path: Path) -> Path:
    return make_league(tmp_path / "league")


def make_league(folder: Path, pairs: int = 30, gauntlet: bool = False, result: str = "wins", **pairing: int) -> Path:
    """Make a league of three players: the first wins all games, the second all others."""
    plan = RunPlan("league", {"gauntlet": gauntlet, **pairing}, {"games": 40, "players": ["a", "b", "c"]})
    return made(folder, plan, pair_lines([(result, "wins")] * pairs))


def _on_yardstick(d1_rmse: float) -> D1Figures:
    return D1Figures(d1_rmse, 0.001, 600, 1000, 1000, {}, ())


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    standing = LoopStanding(20, 12, 0, 8, (2, 0, 4, 0, 4), 70.4, -90.0, 250.0)
    stages: list[tuple[int, str, Any]] = [
        (0, "first network", FirstNetwork()),
        (0, "yardstick", _on_yardstick(0.3)),
        (1, "games", RecordsMade({"games": 100}, "goal", None)),
        (1, "positions", RecordsMade({"positions": 5000}, "jobs", None)),
        (1, "training", CandidateTrained(10, 0.6)),
        (1, "yardstick", _on_yardstick(0.2)),
        (1, "gate", GateResult(**vars(standing), best=0, llr=3.0, verdict="elo1", accepted=True)),
        (1, "against material", replace(standing, elo=None)),
        (2, "games", RecordsMade({"games": 50}, "goal", None)),
    ]
    lines = [Stage(number, stage, 1.0, asdict(result)) for number, stage, result in stages]
    return made(tmp_path / "loop", RunPlan("loop", {"seed": 1}, {"generations": 3}), lines)


LOSS = JudgedPosition(
    job=0,
    position="startpos",
    sfen="l2l4l/2+RG2g2/pp2+Bpn1k/2p3pPp/4+bs3/P1P3P2/KPS+pP3P/4N+r3/LN1+p5 w 2GN2s3p 80",
    best_move="P*2b",
    best=112,
    moves=("6g7g",),
    scores=(-1500,),
    replies=("2b1c",),
    losses=(1612,),
)


@pytest.fixture
def judgement(tmp_path: Path) -> Path:
    return make_judgement(tmp_path / "judged", 1)


def make_judgement(folder: Path, positions: int, count: int | None = None) -> Path:
    plan = RunPlan(
        "judge moves",
        {"judge_nodes": 10},
        {"engine": "mine", "variants": ["as it is"], "count": count},
        conditions={"judge": {"name": "theirs"}},
    )
    return made(folder, plan, [replace(LOSS, job=job, losses=(100 + job,)) for job in range(positions)])


@pytest.fixture
def tuning(tmp_path: Path) -> Path:
    (razor_margin,) = chosen_parameters(["razor_margin"], 100)
    return make_tuning(tmp_path / "tuning", {"razor_margin": razor_margin.default})


def make_tuning(folder: Path, defaults: Mapping[str, int]) -> Path:
    options = {"names": [*defaults], "defaults": [*defaults.values()]}
    options |= {"nodes": 100, "games": 40, "gain": None, "seed": 1}
    return made(folder, RunPlan("tune", options), pair_lines(PAIRS))
