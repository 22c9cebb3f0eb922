"""`liteshogi train`: one readable loop from records to a network, that can be cut anywhere and resumed exactly.

A run lives in one directory: `network.safetensors` (the averaged network, to test, fold and share),
`state.safetensors` (what a resume needs), `log.jsonl` and `tensorboard/`. On the same machine with the same number of
threads, a run that was cut and resumed ends with the same bits as one that was not: the state holds weights, optimiser,
averages, random state and the place in the data, and the learning rate is a function of the step.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from lite.networks.value_network import ValueNetwork
from lite.records.decode import Batch
from lite.records.reader import Reader
from lite.training.checkpoint import (
    json_safe,
    load_state,
    optimiser_tensors,
    restore_optimiser,
    save_model,
    save_state,
)
from lite.training.log import Progress, RunLog
from lite.training.metrics import Metrics, log_losses
from lite.training.optimiser import WeightAverage, make_optimiser, rate_at
from lite.training.options import TrainingOptions, ValueTraining
from lite.training.targets import blend, fit_cp_per_logit
from search.rules.shogi import EMPTY, SQUARES, WHITE

MIRRORED_SQUARE = (8 - np.arange(SQUARES) // 9) * 9 + np.arange(SQUARES) % 9
FIT_POSITIONS = 1_000_000
"""Positions that `--fit-scale` looks at: more would not move the third digit."""


def train_value(options: ValueTraining) -> dict[str, Any]:
    """Train a value network; {step, steps} and the last figures of the held-out games. ValueError for bad options."""
    options.check()
    return ValueRun(options).train()


class Run:
    """A training run: what `state.safetensors` holds, and the loop. A subclass gives the network and its losses."""

    def __init__(self, options: TrainingOptions) -> None:
        self.options = options
        self.state_path = options.output / "state.safetensors"
        self.network_path = options.output / "network.safetensors"
        if not options.resume and self.state_path.exists():
            raise ValueError(f"{options.output}: a run is there; add --resume to go on with it, or choose another -o")
        torch.set_num_threads(options.threads)
        torch.manual_seed(options.seed)
        self.model = self.build()
        self.optimiser = make_optimiser(options.optimiser, self.model)
        self.average = WeightAverage(options.optimiser, self.model)
        self.reader = self.read(options.data, shuffle=True)
        self.steps_an_epoch = max(1, self.reader.positions // options.batch_size)
        self.steps = self.steps_an_epoch * options.epochs
        self.step = 0
        self.cp_per_logit = options.cp_per_logit
        self.last_valid: dict[str, Any] = {}
        self._reader_state = self.reader.state_dict()
        if options.resume:
            self._restore()
        elif options.fit_scale:
            self.cp_per_logit = self._fitted_scale()

    def build(self) -> nn.Module:
        """The untrained network."""
        raise NotImplementedError

    def losses(self, batch: Batch) -> dict[str, torch.Tensor]:
        """Scalars of a batch by name: "loss" is what is minimised, its parts may stand beside it."""
        raise NotImplementedError

    def test(self) -> dict[str, Any]:
        """The averaged network's figures on the held-out records; "loss" among them."""
        raise NotImplementedError

    def in_short(self, figures: dict[str, Any]) -> str:
        """Those figures as a few words."""
        raise NotImplementedError

    def save_network(self, provenance: dict[str, Any]) -> None:
        """The averaged network, to `network_path`."""
        raise NotImplementedError

    def read(self, files: tuple[Path, ...], shuffle: bool) -> Reader:
        """The records as this kind of training wants them."""
        return Reader(files, self.options.batch_size, shuffle, self.options.seed)

    def _fitted_scale(self) -> float:
        scores, results, positions = [], [], 0
        for batch in self.read(self.options.data, shuffle=True):
            scores.append(batch.score[batch.scored])
            results.append(batch.result[batch.scored])
            positions += len(batch)
            if positions >= FIT_POSITIONS:
                break
        try:
            return fit_cp_per_logit(np.concatenate(scores), np.concatenate(results))
        except ValueError as error:
            raise ValueError(f"{self.options.data[0]}: {error}") from None

    def save(self) -> None:
        """Network and state, each atomically; the state last, so that it never speaks of a network not yet there."""
        provenance = {
            "options": self.options.fixed_options(),
            "data": [path.name for path in self.options.data],
            "step": self.step,
            "steps": self.steps,
            "cp_per_logit": self.cp_per_logit,
            "valid": self.last_valid,
            "versions": {"liteshogi": _version("liteshogi"), "torch": str(torch.__version__)},
        }
        self.save_network(provenance)
        parts = {
            "model": self.model.state_dict(),
            "average": self.average.model.state_dict(),
            "optimiser": optimiser_tensors(self.optimiser),
            "random": {"torch": torch.get_rng_state()},
        }
        data = provenance | {"average_count": self.average.count, "reader": self._reader_state}
        save_state(self.state_path, parts, json_safe(data))

    def _restore(self) -> None:
        parts, data = load_state(self.state_path)
        for name, value in self.options.fixed_options().items():
            if (before := data["options"].get(name)) != value:
                raise ValueError(
                    f"{self.state_path}: the run was begun with {name} {before}, not {value}; resume it with that"
                )
        self.model.load_state_dict(parts["model"])
        self.average.model.load_state_dict(parts["average"])
        self.average.count = data["average_count"]
        restore_optimiser(self.optimiser, parts["optimiser"])
        torch.set_rng_state(parts["random"]["torch"])
        self._reader_state = data["reader"]
        self.reader.load_state_dict(data["reader"])
        self.step, self.cp_per_logit, self.last_valid = data["step"], data["cp_per_logit"], data["valid"]

    def _batches(self) -> Iterator[Batch]:
        """The batches that remain; after each, `_reader_state` is the place behind it."""
        epochs_without_step = 0
        while self.step < self.steps and epochs_without_step < 2:
            before = self.step
            for batch in self.reader:
                self._reader_state = self.reader.state_dict()
                # An epoch's short last batch has poorer statistics; its positions come in another epoch's order again.
                if len(batch) == self.options.batch_size or self.reader.positions < self.options.batch_size:
                    yield batch
                if self.step >= self.steps:
                    return
            epochs_without_step = epochs_without_step + 1 if self.step == before else 0
        if self.step < self.steps:
            raise ValueError(f"{self.options.data[0]}: fewer good positions than a batch of {self.options.batch_size}")

    def take_step(self, batch: Batch) -> dict[str, float]:
        """One step; returns the losses. Not finite, they or the gradient: FloatingPointError, weights untouched."""
        options = self.options
        for group in self.optimiser.param_groups:
            group["lr"] = rate_at(options.optimiser, self.step, self.steps)
        self.optimiser.zero_grad(set_to_none=True)
        losses = self.losses(batch)
        losses["loss"].backward()  # type: ignore[no-untyped-call]
        length = torch.nn.utils.clip_grad_norm_(self.model.parameters(), options.optimiser.clip or float("inf"))
        if not (torch.isfinite(losses["loss"]) and torch.isfinite(length)):
            raise FloatingPointError(f"loss {losses['loss'].item()}, length of the gradient {length.item()}")
        self.optimiser.step()
        self.step += 1
        self.average.update(self.model, self.step / self.steps)
        return {name: loss.item() for name, loss in losses.items()}

    def target(self, batch: Batch) -> np.ndarray:
        """What the positions should be worth, f4 (B,)."""
        return blend(batch.result, batch.score, batch.scored, self.options.lambda_, self.cp_per_logit)

    def train(self) -> dict[str, Any]:
        """The loop; {step, steps} and the last figures of the held-out games."""
        options = self.options
        log = RunLog(options.output, self.step if options.resume else None)
        progress = Progress(self.steps * options.batch_size, self.step * options.batch_size)
        progress.say(
            f"{self.reader.positions:,} positions, {self.steps} steps, "
            f"{sum(p.numel() for p in self.model.parameters()):,} parameters, {self.cp_per_logit:.0f} cp per logit"
        )
        if self.reader.unscored and options.lambda_:
            share = "no position has" if self.reader.unscored == 1 else f"about {self.reader.unscored:.0%} have no"
            progress.say(f"{share} a score: they learn from their games' results alone")
        log.write("start", self.step, {"options": options.fixed_options(), "cp_per_logit": self.cp_per_logit})
        begun = self.step
        recent: list[dict[str, float]] = []
        with _interrupt_flag() as interrupted:
            for batch in self._batches():
                try:
                    recent.append(self.take_step(batch))
                except FloatingPointError as error:
                    self._stop_on_nan(batch, str(error))
                epoch, place = divmod(self.step, self.steps_an_epoch)
                done = self.step * options.batch_size
                rate = self.optimiser.param_groups[0]["lr"]
                loss = np.mean([losses["loss"] for losses in recent])
                place_in_run = f"epoch {epoch + 1}/{options.epochs}  {place}/{self.steps_an_epoch}"
                progress.show(done, f"{place_in_run}  loss {loss:.4f}  rate {rate:.2g}")
                if len(recent) >= 50 or place == 0:
                    speed = progress.positions_per_second(done)
                    means = {name: float(np.mean([losses[name] for losses in recent])) for name in recent[0]}
                    log.write("train", self.step, means | {"rate": rate, "positions_per_s": speed})
                    recent = []
                if place == 0 and options.valid:
                    self.last_valid = self.test()
                    log.write("valid", self.step, self.last_valid)
                    progress.say(f"epoch {epoch}/{options.epochs}  " + self.in_short(self.last_valid))
                stop = interrupted() or (options.max_steps is not None and self.step - begun >= options.max_steps)
                if stop or self.step % options.save_every == 0 or self.step == self.steps:
                    self.save()
                if stop and self.step < self.steps:
                    progress.say(f"stopped at step {self.step} of {self.steps}, saved; {_how_to_resume()}")
                    log.close()
                    return self._figures()
        log.close()
        speed = progress.positions_per_second(self.step * options.batch_size)
        progress.say(f"{self.network_path}: trained, {speed:,.0f} positions/s")
        return self._figures()

    def _figures(self) -> dict[str, Any]:
        return {"step": self.step, "steps": self.steps} | self.last_valid

    def _stop_on_nan(self, batch: Batch, what: str) -> None:
        """Names the batch; the state on disk stays as last saved, the weights of this moment are still finite."""
        epoch, place = divmod(self.step, self.steps_an_epoch)
        scores, results = batch.score.astype(np.int64), batch.result
        raise ValueError(
            f"{what} in epoch {epoch + 1}, batch {place + 1} (step {self.step + 1}; scores {scores.min()}.."
            f"{scores.max()}, results {results.min()}..{results.max()}): stopped before the weights were touched. "
            f"Lower --learning-rate, or look at the data with `liteshogi stat`; then train again, or --resume from "
            f"the last saved state in {self.options.output}"
        )


class ValueRun(Run):
    """The training of a value network whose first layer is a sum of rows."""

    options: ValueTraining
    model: ValueNetwork

    def build(self) -> ValueNetwork:
        return self.options.network.build()

    def losses(self, batch: Batch) -> dict[str, torch.Tensor]:
        options = self.options
        keep = quiet_positions(batch) if options.quiet else slice(None)
        pieces, hands, in_check = batch.pieces[keep], batch.hands[keep], batch.in_check[keep]
        if options.mirror:
            reverse = np.random.default_rng((options.seed, self.step)).random(len(pieces)) < 0.5
            pieces = np.where(reverse[:, None], pieces[:, MIRRORED_SQUARE], pieces)
        target = torch.from_numpy(self.target(batch)[keep])
        logits = self.model.logits(pieces, hands, in_check)
        return {"loss": torch.nn.functional.binary_cross_entropy_with_logits(logits, target)}

    def test(self) -> dict[str, Any]:
        metrics = Metrics()
        losses: list[np.ndarray] = []
        for batch in self.read(self.options.valid, shuffle=False):
            logits = predict(self.average.model, batch)
            metrics.add(logits, batch)
            losses.append(log_losses(logits, self.target(batch)))
        return {"loss": float(np.concatenate(losses).mean())} | metrics.report()

    def in_short(self, figures: dict[str, Any]) -> str:
        return (
            f"valid loss {figures['loss']:.4f}  accuracy {100 * (figures['accuracy'] or 0):.2f} %  "
            f"log loss {figures['log_loss']:.4f}"
        )

    def save_network(self, provenance: dict[str, Any]) -> None:
        save_model(self.network_path, self.average.model, provenance)


def quiet_positions(batch: Batch) -> np.ndarray:
    """Bool (B,): whether the move of the record (on the real board) goes to an empty square.

    Positions in check stay: without them the row "in check" would keep its random start, and harm where it is used.
    """
    target = (batch.move & 127).astype(np.int64)
    target = np.where(batch.turn == WHITE, SQUARES - 1 - target, target)
    return np.asarray(batch.pieces[np.arange(len(target)), target] == EMPTY)


def predict(model: ValueNetwork, batch: Batch) -> np.ndarray:
    """Logits f4 (B,) of a network in evaluation mode."""
    with torch.no_grad():
        return model.logits(batch.pieces, batch.hands, batch.in_check).numpy()


@contextmanager
def _interrupt_flag() -> Iterator[Any]:
    """Turns Ctrl-C into a flag that the loop looks at between two steps; a second one stops at once."""
    pressed: list[bool] = []

    def press(*_: Any) -> None:
        pressed.append(True)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    try:
        before = signal.signal(signal.SIGINT, press)
    except ValueError:  # not the main thread: nobody sends it signals
        yield lambda: False
        return
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def _how_to_resume() -> str:
    """The command that goes on; other verbs that train find their own unfinished runs."""
    verb = sys.argv[1] if len(sys.argv) > 1 else ""
    command = " ".join(sys.argv[1:]) if verb in ("train", "compare") else "train ..."
    return f"go on with: liteshogi {command}" + ("" if "--resume" in command or verb == "compare" else " --resume")


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "source"
