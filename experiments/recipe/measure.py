"""A row's net: trained, folded, measured, played. Each by the command that anyone would give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from experiments.jobs.verb import Verbs
from experiments.labels.yardstick import measure_d1
from experiments.recipe.plan import Measures, Row
from export.fold import fold_file
from lite.records.reader import Reader
from lite.training.log import positions_learnt, read_log
from lite.training.targets import sigmoid, win_rate
from lite.training.testing import judge_net, load_predictor
from search.score import CP_PER_LOGIT
from search.system.files import write_atomically

THREADS = 2
FOLDED_POSITIONS = 10_000
"""That say what rounding costs."""


def net_of(row: Row, seed: int, folder: Path) -> str:
    """The file of a row's folded net."""
    return str(folder / (row.net or f"nets/{row.name}-{seed}.safetensors"))


def run_of(row: Row, seed: int, folder: Path) -> Path:
    """The directory of a row's training."""
    return folder / "nets" / f"{row.name}-{seed}"


def run_alone(words: list[str], place: Path, folder: Path) -> tuple[str, dict[str, float]]:
    """What a verb that works at `place` prints in the folder, and {seconds, cpu_seconds}.

    One that a killed run has left at work there is waited for: what it does is not lost."""
    verbs = Verbs()
    with verbs.alone_in(place):
        pass
    return verbs.run(words, folder)


def train(row: Row, shape: list[str], seed: int, valid: str, folder: Path) -> dict[str, Any]:
    """Train a row's net as far as it is not, and fold it: {seconds, cpu_seconds, samples seen, epochs, rounding, on the
    held-out games}."""
    run = run_of(row, seed, folder)
    figures_file = run / "figures.json"  # is there once all is done
    if figures_file.exists():
        figures: dict[str, Any] = json.loads(figures_file.read_text(encoding="utf-8"))
        return figures
    words = [*row.training(shape, seed), "-o", str(run), "--save-minutes", "1", "--threads", str(THREADS)]
    verbs = Verbs()
    with verbs.alone_in(run):  # what a killed run has left at work there may save a state yet
        resumed = (run / "state.safetensors").exists()
    _, taken = verbs.run([*words, "--resume" if resumed else "--overwrite"], folder)
    options = json.loads((run / "config.json").read_text(encoding="utf-8"))
    fold = fold_file(run, Path(net_of(row, seed, folder)), [folder / valid], FOLDED_POSITIONS, overwrite=True)
    samples = positions_learnt(read_log(run / "log.jsonl"), options["batch-size"])
    seen = {"samples": samples, "epochs": options["epochs"], "rounding": fold["mean_error"]}
    figures = taken | seen | {"resumed": resumed}
    write_atomically(figures_file, json.dumps(figures).encode())
    (run / "state.safetensors").unlink(missing_ok=True)
    return figures


def measure(row: Row, seed: int, measures: Measures, folder: Path) -> dict[str, Any]:
    """A net's figures: {residual, residual_KIND, d1_rmse and its error, accuracy, log_loss}, d1-RMSE by the folded one,
    the others by the trained one where there is one, which differs by its rounding and is faster."""
    trained = run_of(row, seed, folder)
    net = str(trained) if row.shape else net_of(row, seed, folder)
    figures: dict[str, Any] = {"residual": _residual(net, folder / measures.residual)}
    for kind, data in measures.kinds.items():
        figures[f"residual_{kind}"] = _residual(net, folder / data)
    report = judge_net(net, (folder / measures.valid,))
    figures |= measure_d1(net_of(row, seed, folder), [folder / measures.yardstick]).figures()
    return figures | {"accuracy": report["accuracy"], "log_loss": report["log_loss"]}


def _residual(net: str, data: Path) -> float:
    """Root of the mean square of a net's static win rate less that of the records' scores."""
    predict, squares, count = load_predictor(net), 0.0, 0
    for batch in Reader((data,), 8192, shuffle=False):
        errors = sigmoid(predict(batch)[:, 0].astype(np.float64)) - win_rate(batch.score, CP_PER_LOGIT)
        squares, count = squares + float((errors**2).sum()), count + len(batch)
    return float(np.sqrt(squares / count))


def play(name: str, net: str, measures: Measures, folder: Path) -> dict[str, Any]:
    """{games, wins, draws, losses, elo and its bounds} against the common opponent at equal nodes."""
    words = ["match", net, measures.opponent, "-o", f"matches/{name}", "--json"]
    words += ["--nodes", str(measures.nodes), "--games", str(measures.games), "--win-score", str(measures.win_score)]
    words += ["--openings", measures.openings, "--parallel", str(THREADS)]
    printed, taken = run_alone(words, folder / "matches" / name, folder)
    report = json.loads(printed)
    kept = ("games", "wins", "draws", "losses", "points", "elo", "elo_low", "elo_high")
    return {key: report[key] for key in kept} | taken
