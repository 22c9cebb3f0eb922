"""Runs of every kind, as they lie in their folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.jobs.results import Results

MAKER = {"version": "0.1.0", "commit": "0" * 40, "cpu": "One CPU", "kernel": "avx2"}
PAIRS = [("wins", "wins"), ("wins", "losses"), ("draws", "wins"), ("wins", "wins"), ("losses", "losses")] * 4


@pytest.fixture
def match(tmp_path: Path) -> Path:
    return make_match(tmp_path / "match", MAKER)


def make_match(folder: Path, maker: dict[str, str]) -> Path:
    folder.mkdir()
    description = {
        "format": "liteshogi data",
        "version": 1,
        "verb": "match",
        "options": {"nodes": 5000, "depth": 0, "second_nodes": 100, "second_depth": 0, "openings": "a" * 64, "seed": 7},
        "sources": [],
        "nets": [{"role": "first", "name": "</script>.safetensors"}, {"role": "second", "name": "default"}],
        "made_by": [maker],
        "begun": "2026-01-01",
        "updated": "2026-01-02",
        "seconds": 1.0,
        "totals": {},
    }
    (folder / "description.json").write_text(json.dumps(description))
    lines = [
        {"job": job, "shard": 0, "start": job, "stop": job + 1, "counts": {"games": 2} | outcome_counts(*pair)}
        for job, pair in enumerate(PAIRS)
    ]
    torn = json.dumps(lines[0])[:20]
    (folder / "ledger.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + torn)
    return folder


def outcome_counts(black: str, white: str) -> dict[str, int]:
    return {f"{black} as black": 1, f"{white} as white": 1}


@pytest.fixture
def training(tmp_path: Path) -> Path:
    folder = tmp_path / "net"
    folder.mkdir()
    (folder / "config.json").write_text(
        json.dumps(
            {"kind": "dense", "data": ["my data"], "output": "net", "seed": 3, "hidden": [16, 2], "mirror": True}
        )
    )
    bins = [{"positions": 5, "predicted": x / 4, "actual": x / 5} for x in range(5)]
    bands = [{"band": "ply 0-19", "accuracy": 0.5}, {"band": "ply 20+", "accuracy": None}]
    figures = {"loss": 0.5, "accuracy": 0.625, "log_loss": 0.6, "brier": 0.2, "calibration_error": 0.01}
    log = [{"kind": "start", "step": 0}]
    log += [{"kind": "train", "step": step, "loss": 1 / step} for step in range(1, 1001)]
    log += [{"kind": "valid", "step": 1000, **figures, "calibration": bins, "by_ply": bands}]
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in log))
    return folder


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    folder = tmp_path / "loop"
    folder.mkdir()
    standing = {"games": 20, "wins": 12, "draws": 0, "losses": 8, "elo": 70.4, "elo_low": -90.0, "elo_high": 250.0}
    stages: list[tuple[int, str, dict[str, Any]]] = [
        (0, "first network", {}),
        (0, "yardstick", {"d1_rmse": 0.3}),
        (1, "games", {"games": 100}),
        (1, "positions", {"positions": 5000}),
        (1, "training", {"steps": 10, "loss": 0.6}),
        (1, "yardstick", {"d1_rmse": 0.2}),
        (1, "gate", {**standing, "best": 0, "accepted": True}),
        (1, "against material", {**standing, "elo": None}),
        (2, "games", {"games": 50}),
    ]
    told = [dict(zip(("generation", "stage", "figures"), stage, strict=True)) | {"seconds": 1.0} for stage in stages]
    (folder / "ledger.json").write_text(json.dumps({"format": "liteshogi loop", "version": 1, "stages": told}))
    return folder


@pytest.fixture
def judgement(tmp_path: Path) -> Path:
    path = tmp_path / "judged.json"
    sfen = "l2l4l/2+RG2g2/pp2+Bpn1k/2p3pPp/4+bs3/P1P3P2/KPS+pP3P/4N+r3/LN1+p5 w 2GN2s3p 80"
    worst = {"sfen": sfen, "moves": ["6g7g"], "scores": [-1500], "best_move": "P*2b", "best": 112}
    variant = {"name": "as it is", "loss": 70.9, "error": 11.0, "as_judge": 0.56}
    report = {"engine": "mine", "judge": "theirs", "judge_nodes": 10, "variants": [variant], "worst": [worst]}
    path.write_text(json.dumps(report))
    return path


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """Nets of two machines, one wider than the other; the widest have played."""
    folder = tmp_path / "sweep"
    folder.mkdir()
    (folder / "sweep.toml").write_text("")
    results = Results(folder / "points.jsonl")
    for seed, width, cpu in ((0, 32, "A"), (0, 64, "A"), (1, 64, "A"), (0, 96, "A"), (0, 64, "B"), (0, 128, "B")):
        net = {
            "label": f"dense width {width}",
            "options": {"kind": "dense", "width": 64, "seed": seed, "positions": 1000 * width},
            "net": "net.safetensors",
            "evaluation_ns": float(width + 10 * seed),
            "nps": 1000,
            "shape": [width, 1, 8, 1],
            "features": "piece_square",
            "multiply_adds": 8 * width,
            "bytes": 1000,
            "d1_rmse": 0.2 - width / 1000 + seed / 100 if width != 96 else 0.19,
            "d1_rmse_error": 0.001,
            "accuracy": 0.6 + width / 1000,
            "log_loss": 0.6,
            "samples": 1000 * width,
            "sha256": "0",
            "version": "1",
            "commit": "a",
            "cpu": cpu,
            "kernel": "avx2",
        }
        results.add("net", f"{width}{cpu}", seed, net)
    results.add("failed", "odd", 0, {"label": "dense width 33", "why": "no such width"})
    net |= {"label": "peer", "options": {}, "evaluation_ns": 1.0, "cpu": "A"}
    results.add("net", "peer", 0, net)
    games = {
        "games": 4,
        "wins": 3,
        "draws": 0,
        "losses": 1,
        "points": 3.0,
        "elo": 190.0,
        "elo_low": -90.0,
        "elo_high": 400.0,
    }
    results.add("games", "64A", 0, games)
    results.add("timed games", "64A", 0, games | {"elo": 100.0})
    return folder


@pytest.fixture
def league(tmp_path: Path) -> Path:
    """Three players, of whom the first wins all, the second all others."""
    folder = make_match(tmp_path / "league", MAKER)
    description = json.loads((folder / "description.json").read_text())
    description["options"] |= {"players": [{}, {}, {}], "gauntlet": False}
    description["nets"] = [{"role": f"player {number}", "name": name} for number, name in enumerate("abc", 1)]
    (folder / "description.json").write_text(json.dumps(description))
    lines = [
        {"job": job, "shard": 0, "start": job, "stop": job + 1, "counts": {"games": 2} | outcome_counts("wins", "wins")}
        for job in range(30)
    ]
    (folder / "ledger.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder
