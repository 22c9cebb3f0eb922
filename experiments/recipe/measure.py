"""A row's net: trained, folded, measured, played. Each by the command that anyone would give."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from experiments.recipe.plan import Measures, Row
from experiments.yardstick import measure_d1
from lite.records.reader import Reader
from lite.training.targets import sigmoid, win_rate
from lite.training.testing import judge_net, load_predictor
from search.score import CP_PER_LOGIT

THREADS = 2


def liteshogi(words: list[str], folder: Path) -> tuple[str, dict[str, float]]:
    """Run a verb in a folder; (what it prints, {seconds, cpu_seconds}). ValueError with its last words if it fails."""
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-m", "liteshogi", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise ValueError(f"liteshogi {' '.join(words)}: {done.stderr.strip()[-500:]}")
    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return done.stdout, {"seconds": round(time.monotonic() - begun, 1), "cpu_seconds": round(used, 1)}


def net_of(row: Row, seed: int, folder: Path) -> str:
    """The file of a row's folded net."""
    return str(folder / (row.net or f"nets/{row.name}-{seed}.safetensors"))


def train(row: Row, shape: list[str], seed: int, folder: Path) -> dict[str, Any]:
    """Train a row's net as far as it is not, and fold it: {seconds, cpu_seconds, samples seen, epochs, rounding}."""
    run, folded = folder / "nets" / f"{row.name}-{seed}", net_of(row, seed, folder)
    words = ["train", shape[0], *row.data, "-o", str(run), *shape[1:], *row.words, "--mirror", "--save-minutes", "1"]
    words += ["--seed", str(seed), "--threads", str(THREADS)]
    if row.after:
        words += ["--init-from", str(folder / "nets" / f"{row.after}-{seed}")]
    if (run / "state.safetensors").exists():
        words.append("--resume")
    elif run.exists():
        shutil.rmtree(run)
    _, taken = liteshogi(words, folder)
    log = [json.loads(line) for line in (run / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    steps = max(line["step"] for line in log if "step" in line)
    options = json.loads((run / "config.json").read_text(encoding="utf-8"))
    printed, _ = liteshogi(["fold", str(run), "-o", folded, "--data", "valid.hcpe3", "--overwrite", "--json"], folder)
    rounding = json.loads(printed)["mean_error"]
    (run / "state.safetensors").unlink(missing_ok=True)
    return taken | {"samples": steps * options["batch-size"], "epochs": options["epochs"], "rounding": rounding}


def measure(net: str, measures: Measures, folder: Path) -> dict[str, Any]:
    """A net's figures: {residual, residual_KIND, d1_rmse and its error, accuracy, log_loss}."""
    figures: dict[str, Any] = {"residual": _residual(net, folder / measures.residual)}
    for kind, data in measures.kinds.items():
        figures[f"residual_{kind}"] = _residual(net, folder / data)
    figures |= measure_d1(net, [folder / measures.yardstick])
    report = judge_net(net, (folder / measures.valid,))
    return figures | {"accuracy": report["accuracy"], "log_loss": report["log_loss"]}


def _residual(net: str, data: Path) -> float:
    """Root of the mean square of a net's static win rate less that of the records' scores."""
    predict, squares, count = load_predictor(net), 0.0, 0
    for batch in Reader((data,), 8192, shuffle=False):
        errors = sigmoid(predict(batch).astype(np.float64)) - win_rate(batch.score, CP_PER_LOGIT)
        squares, count = squares + float((errors**2).sum()), count + len(batch)
    return float(np.sqrt(squares / count))


def play(name: str, net: str, measures: Measures, folder: Path) -> dict[str, Any]:
    """{games, wins, draws, losses, elo and its bounds} against the common opponent at equal nodes."""
    words = ["match", net, measures.opponent, "-o", f"matches/{name}", "--json"]
    words += ["--nodes", str(measures.nodes), "--games", str(measures.games), "--win-score", str(measures.win_score)]
    words += ["--openings", measures.openings, "--parallel", str(THREADS)]
    printed, taken = liteshogi(words, folder)
    report = json.loads(printed)
    kept = ("games", "wins", "draws", "losses", "points", "elo", "elo_low", "elo_high")
    return {key: report[key] for key in kept} | taken
