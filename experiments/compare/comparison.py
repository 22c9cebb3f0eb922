"""How a comparison is made: variants of a network are trained with several seeds and judged on the same held-out games.

A variant and a seed are one run in a directory of its own, named after both, so that comparisons share the runs they
have in common, and whatever was cut goes on where it stopped: a finished run holds `result.json`, an unfinished one its
training state. On other held-out games a finished run is judged anew, not trained.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments.compare.variants import Variant
from experiments.factory.cut import cut_evenly
from lite.datasets.provenance import digest_of
from lite.records.decode import scan_games
from lite.records.formats import HCPE, HCPE3, record_files, record_format
from lite.records.reader import Reader
from lite.training.checkpoint import named_errors
from lite.training.log import read_log
from lite.training.options import rated
from search.system.files import write_atomically
from search.system.metadata import parse_json

CURVES = ("step", "loss", "policy_accuracy", "policy_loss", "accuracy", "log_loss")
"""The figures that are kept of each epoch."""


def finish_run(variant: Variant) -> dict[str, Any]:
    """The result of a run, from its file or by training what is left of it and judging it.

    {figures of the held-out games, parameters, log: [figures after each epoch]}. On other held-out games than those
    of its file, it is judged anew, and the log has the last epoch alone. Raises ValueError if the directory holds a
    run of other options, KeyboardInterrupt if the training was stopped.
    """
    options = variant.options
    path = options.output / "result.json"
    made_with = {"options": options.fixed_options(), "data": [file.name for file in options.data]}
    valid = [file.name for file in options.valid]
    if path.is_file():
        with named_errors(path, "no result of a run; remove it"):
            result: dict[str, Any] = parse_json(path.read_text(encoding="utf-8"))
            before = {name: result[name] for name in made_with}
        if before["data"] != made_with["data"] or rated(before["options"]) != rated(options.fixed_options()):
            raise ValueError(f"{path}: of a run with other options or data; choose another --output, or remove it")
        return result if result.get("valid") == valid else _judged_anew(variant, result)
    started = (options.output / "state.safetensors").exists()
    run = variant.with_options(resume=started, overwrite=not started).begin()
    for begun_otherwise, flag in ((run.extended, "--epochs"), (run.held_out_changed, "--valid")):
        if begun_otherwise:  # a curve over epochs of both would be neither's
            run.folder.release()
            raise ValueError(f"{options.output}: begun with other {flag}; choose another --output, or remove it")
    variant.net.unlink(missing_ok=True)  # of an earlier training, whose result was removed
    run.train()
    figures = variant.judge()
    log = [line for line in read_log(options.output / "log.jsonl") if line["kind"] == "valid"]
    result = made_with | {
        "valid": valid,
        "parameters": sum(parameter.numel() for parameter in run.model.parameters()),
        "steps": run.steps,
        "log": [{name: line[name] for name in CURVES if name in line} for line in log],
        "figures": figures,
    }
    write_atomically(path, json.dumps(result, indent=1).encode())
    (options.output / "state.safetensors").unlink(missing_ok=True)  # half a gigabyte of a HalfKP's
    return result


def _judged_anew(variant: Variant, result: dict[str, Any]) -> dict[str, Any]:
    """A finished run's result on the games that its variant holds out. Its file stays: the figures of its earlier
    epochs, whose networks are gone, are of other games."""
    names = ", ".join(file.name for file in variant.options.valid)
    print(f"{variant.options.output}: judged anew on {names}, its last epoch alone", file=sys.stderr, flush=True)
    figures = variant.judge()
    last = {name: figures[name] for name in CURVES if name in figures}
    return result | {"figures": figures, "log": [*({} for _ in result["log"][1:]), last]}


def choose_positions(files: Sequence[Path], positions: int | None, output: Path) -> Path:
    """A file of so many positions of the files, of its format; `output` is without a suffix.

    Of hcpe3 whole games with at least so many positions, drawn at random, the same each time, or all where None; of
    hcpe, which has single positions, so many evenly over all. Made once: an existing file of that name is taken as it
    is, so that a resumed comparison has the same data. Raises ValueError for other formats, damaged games, and a file
    made of other ones.
    """
    single = {record_format(path) for path in record_files(files)} == {HCPE}
    output, sources = output.with_suffix(".hcpe" if single else ".hcpe3"), output.with_suffix(".sources.json")
    digests = [digest_of(path) for path in files]
    if output.is_file():
        if sources.is_file() and _digests_in(sources) != digests:
            raise ValueError(f"{output}: was made of other data; choose another --output, or remove the file")
        return output
    output.parent.mkdir(parents=True, exist_ok=True)
    if single:
        _cut(files, positions, output)
    else:
        _choose_games(files, positions, output)
    write_atomically(sources, json.dumps(digests).encode())
    return output


def _digests_in(sources: Path) -> Any:
    """What a file says that data were made of; None where nothing can be read in it."""
    try:
        return parse_json(sources.read_text(encoding="utf-8"))
    except ValueError:
        return None


def _cut(files: Sequence[Path], positions: int | None, output: Path) -> None:
    if positions is None:
        raise ValueError(f"{files[0]}: holds single positions, not games; say how many to learn from with --positions")
    cut_evenly(files, positions, output)


def _choose_games(files: Sequence[Path], positions: int | None, output: Path) -> None:
    games: list[tuple[np.ndarray, int]] = []
    for path in record_files(files):
        if record_format(path) != HCPE3:
            raise ValueError(
                f"{path}: comparisons draw whole games of hcpe3, or positions of hcpe alone; convert to one"
            )
        raw = np.fromfile(path, np.uint8)
        start = 0
        while start < len(raw):
            stop, _, _, found, error = scan_games(raw, np.int64(start), np.int64(1))
            if error:
                raise ValueError(
                    f"{path}: its games cannot be read from byte {start:,} on; write it again, or keep what can be "
                    f"read with `liteshogi convert {path} -o OTHER.hcpe3`"
                )
            games.append((raw[start:stop], int(found)))
            start = stop
    if not games:
        raise ValueError(f"{files[0]}: holds no game")
    order = np.random.default_rng(0).permutation(len(games))
    total = np.cumsum([games[game][1] for game in order])
    wanted = len(games) if positions is None else int(np.searchsorted(total, positions)) + 1
    if wanted > len(games):
        raise ValueError(f"{files[0]}: only {int(total[-1]):,} positions in its games, {positions:,} are wanted")
    write_atomically(output, np.concatenate([games[game][0] for game in sorted(order[:wanted])]).tobytes())


def measure_steps(variants: Sequence[Variant], rounds: int = 5) -> dict[str, float]:
    """CPU microseconds a position of a training step, by variant: medians of alternating rounds, one core.

    Alternating on the same batch, so that a machine that is busy now and then is so for all of them alike.
    """
    threads = torch.get_num_threads()
    taken: dict[str, list[float]] = {variant.name: [] for variant in variants}
    with tempfile.TemporaryDirectory() as folder:
        runs = {
            variant.name: variant.with_options(output=Path(folder) / variant.name, threads=1, device="cpu").begin()
            for variant in variants
        }
        batches = {
            variant.name: next(iter(Reader(variant.options.data, variant.options.batch_size, mark_entered=True)))
            for variant in variants
        }
        for round_number in range(rounds + 1):
            for name, run in runs.items():
                run.step = 0  # a run may have fewer steps than there are rounds
                begun = time.process_time()
                run.take_step(batches[name])
                if round_number:  # the first warms up
                    taken[name].append((time.process_time() - begun) / len(batches[name]) * 1e6)
    torch.set_num_threads(threads)
    return {name: statistics.median(times) for name, times in taken.items()}


def mean_and_error(values: Sequence[float | None]) -> dict[str, float | None]:
    """{mean, error}: the standard error of the mean over seeds; None where there is nothing, or one value, to tell."""
    present = [value for value in values if value is not None]
    if not present:
        return {"mean": None, "error": None}
    error = statistics.stdev(present) / len(present) ** 0.5 if len(present) > 1 else None
    return {"mean": statistics.fmean(present), "error": error}


def summarise_runs(
    results: dict[str, list[dict[str, Any]]], pick: dict[str, Callable[[dict[str, Any]], float | None]]
) -> dict[str, dict[str, Any]]:
    """By variant and figure: {mean, error, difference, difference_error}, the latter two to the first variant.

    Differences are taken seed by seed: runs of one seed see the data in the same order.
    """
    first = next(iter(results))
    summary: dict[str, dict[str, Any]] = {}
    for name, runs in results.items():
        summary[name] = {}
        for figure, of in pick.items():
            values = [of(run["figures"]) for run in runs]
            found: dict[str, Any] = dict(mean_and_error(values))
            if name != first:
                base = [of(run["figures"]) for run in results[first]]
                pairs = zip(values, base, strict=True)
                apart = mean_and_error([a - b for a, b in pairs if a is not None and b is not None])
                found |= {"difference": apart["mean"], "difference_error": apart["error"]}
            summary[name][figure] = found
    return summary
