"""Plans and invented results for the tests of experiments with networks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments.sweep.checked_plan import plan_of
from experiments.sweep.plan import Plan, Point
from experiments.sweep.plan_file import read_entries
from experiments.sweep.results import Games, NetResult, Results, Standing
from experiments.sweep.steps import Size, Tested, Trained
from experiments.sweep.timing import Timed
from experiments.sweep.work import PointWorker
from lite.program import Program
from lite.training.metrics import Report

MEASURE = '[measure]\nvalid = ["v.hcpe3"]\nyardstick = ["y.hcpe"]\n'
TRAIN = '[train]\nkind = "dense"\ndata = ["d.hcpe"]\nlambda = 1.0\n'
GRID = "[[space]]\nwidth = [32, 64]\nhidden = [[8], [16, 16]]\nseed = [0, 1]\n"
MAKER = Program("1", "a", "One CPU", "avx2")


def written(folder: Path, text: str) -> Path:
    path = folder / "plan.toml"
    path.write_text(text)
    return path


def plan_with(folder: Path, text: str) -> Plan:
    path = written(folder, text)
    return plan_of(read_entries(path), str(path))


def nets_in(folder: Path) -> list[NetResult]:
    return Results.read(folder).all(NetResult)


def net_of(point: Point, cost: float | None = None, d1: float | None = None, **changes: Any) -> NetResult:
    """Return an invented result: the wider, the better and the more expensive."""
    width = point.options.get("width") or 10 * point.options.get("dims", [8])[0]
    report = Report(1000, 0.6, 0.6, 0.6, 0.2, 20, 0, 0.55, 0.01, (), (), (), accuracy_error=0.015)
    tested = Tested(report, d1_rmse=1 / width if d1 is None else d1, d1_rmse_error=0.001)
    timed = Timed(float(width) if cost is None else cost, 0.01, 1000, 0.01, True, 6)
    return NetResult(
        point.name, point.seed, label=point.label, options=dict(point.options), net=point.net or "n", sha256="0",
        size=Size("piece_square", (width, 1), 1, width), tested=tested, timed=timed, made_by=MAKER, versions={},
        trained=Trained(100, 8_000_000, 8, 10, False) if point.options else None, **changes,
    )  # fmt: skip


def on(net: NetResult, cpu: str) -> NetResult:
    """Return the same result of another machine."""
    return replace(net, made_by=replace(MAKER, cpu=cpu))


def games_of(net: NetResult, by: str, low: float | None, elo: float | None, high: float | None) -> Games:
    standing = Standing(4, 2, 0, 2, 2.0, elo, low, high)
    return Games(
        f"{net.name}: {by}",
        net.seed,
        label="",
        by=by,
        standing=standing,
        nodes=9,
        play={"opponent": "peer"},
        digests={},
    )


def entries(**changes: Any) -> dict[str, Any]:
    """Return the entries of a plan of one dense network, with changes."""
    return {
        "train": {"kind": "dense", "data": ["d.hcpe"]},
        "measure": {"valid": ["v.hcpe3"]},
        "point": [{"name": "a"}],
        **changes,
    }


def planned(**changes: Any) -> Plan:
    return plan_of(entries(**changes), "plan.toml")


@pytest.fixture
def invented(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Replace the work of points by invented results; return the labels of the completed points."""
    done: list[str] = []

    def measured(_: PointWorker, point: Point) -> NetResult:
        done.append(point.label)
        if point.options.get("width") == 64:
            raise ValueError("no net\nof this width")
        return net_of(point)

    monkeypatch.setattr(PointWorker, "done", measured)
    monkeypatch.setattr("experiments.sweep.sweep.require_measures", lambda *_: None)
    return done
