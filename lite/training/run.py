"""A training run: one readable loop from records to a network, that can be cut anywhere and resumed exactly.

On the same machine with the same number of threads, a run that was cut and resumed ends with the same bits as one that
was not: the state holds weights, optimiser, averages, random state and the place in the data, and the learning rate is
a function of the step.

Several processes take the steps together where `torchrun` starts them: all of them read the data, and each computes its
share of every batch (`lite.workers`); the first one writes the files and speaks.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from lite.datasets.description import describe_sources, short_names
from lite.datasets.provenance import sha256_of
from lite.networks.shapes import shapes_alone
from lite.program import release
from lite.records.decode import Batch
from lite.records.formats import NO_GAME, record_files
from lite.records.reader import Reader
from lite.training.checkpoint import (
    json_safe,
    load_state,
    named_errors,
    optimiser_tensors,
    restore_optimiser,
    save_state,
)
from lite.training.folder import NETWORK_NAME, RunFolder
from lite.training.log import Progress, RunLog
from lite.training.made import describe_training
from lite.training.memory import (
    full_gpu_in_words,
    keep_freed_memory,
    machine_memory,
    network_bytes,
    refuse_beyond_memory,
)
from lite.training.optimiser import WeightAverage, make_optimiser, rate_at
from lite.training.options import TrainingOptions, difference, rated
from lite.training.remarks import Facts, conclusion, gpu_name, introduction, refused_while_reading
from lite.training.targets import blend, fit_cp_per_logit, lambda_at
from lite.workers import join_workers
from search.system.files import write_atomically
from search.system.interrupt import interrupt_flag
from search.system.metadata import json_bytes
from search.system.options import OptionError

FIT_POSITIONS = 1_000_000
"""Positions that `fit_scale` looks at: more would not move the third digit."""


class Run:
    """A training run: what `state.safetensors` holds, and the loop. A subclass gives the network and its losses."""

    divides_batches = False
    """Whether `losses` and `test` compute this process's share alone."""
    loss_version = 1
    """Of what `test` counts as "loss": losses of one version alone can be compared."""

    def __init__(self, options: TrainingOptions) -> None:
        self.options = options if options.resume else options.with_rate(options.suited_rate)
        self.workers = join_workers()
        if self.workers.size > 1 and not self.divides_batches:
            raise ValueError(f"{options.kind} networks are trained by one process: start it without torchrun")
        self.folder = RunFolder(options.output)
        if options.resume and not self.folder.state.is_file():
            raise FileNotFoundError(f"{self.folder.state}: there is no such file, so no run to go on with")
        with shapes_alone():
            sketch = self.untrained()
        step_bytes = options.batch_size * self.position_bytes(sketch)
        refuse_beyond_memory(network_bytes(sketch), step_bytes, options.batch_size, self.memory())
        if self.workers.first:
            self.folder.lock()
        try:
            with full_gpu_in_words(options.batch_size):
                self._begin()
        except BaseException:
            self.folder.abandon()
            raise

    def _begin(self) -> None:
        options = self.options
        goes_on = self.folder.state.exists()  # a network may be there without its state, which takes more room
        if not options.resume and not options.overwrite and (goes_on or self.folder.network.exists()):
            fields = ("output", "resume", "overwrite") if goes_on else ("output", "overwrite")
            remedy = "`resume` to resume it, " * goes_on + "`overwrite` to replace it"
            raise OptionError(
                f"`output` {options.output}: holds a run; add {remedy}, or choose another folder", *fields
            )
        keep_freed_memory()
        torch.set_num_threads(options.threads)
        torch.manual_seed(options.seed)
        self.model = self.build()
        self.initial: dict[str, str] | None = None
        """{file, sha256} of the network that the run started from."""
        if options.init_from is not None and not options.resume:
            self._start_from(options.init_from)
        self.optimiser = make_optimiser(options.optimiser, self.model)
        self.average = WeightAverage(options.optimiser, self.model)
        described = describe_sources(options.data)
        self.descriptions = dict(zip(short_names(described), described.values(), strict=True))
        """What lies beside data that this program has made, by the names of their folders."""
        self.reader = self.read(options.data, shuffle=True)
        self.steps_an_epoch = max(1, self.reader.positions // options.batch_size)
        self.steps = self.steps_an_epoch * options.epochs
        self.step = 0
        self.learnt = 0
        """Positions learnt from so far, each as often as it came."""
        self.cp_per_logit = options.cp_per_logit
        """Of the scores; the network's own is in its provenance."""
        self.waited = 0.0
        """Seconds that steps waited for their batch."""
        self._tested: dict[str, Any] = {}
        """The last test's figures on the held-out records, and the step that they are of."""
        self.best: dict[str, Any] | None = None
        """{epoch, step, loss, loss_version} of the network in `best.safetensors`."""
        self.lost = self.reader.lost
        """What cannot be read of the data and of the held-out records."""
        if options.valid:  # what could not be tested on is refused before an epoch is trained
            self.lost.add(self.read(options.valid, shuffle=False).lost)
        self.untested = ""
        """What the last test has refused of the held-out records, as `refused_while_reading`."""
        self.held_out = sorted(map(sha256_of, record_files(options.valid))) if options.valid else []
        """Digests of the files that it is the best on."""
        self.held_out_changed = False
        """Whether it was begun with others."""
        self.forgotten = ""
        """Why its loss cannot be compared with those to come, so that it is chosen anew; empty if it can be."""
        self.extended: list[dict[str, int]] = []
        """{step, epochs}: where the run was told to go on for more epochs than these."""
        self._reader_state = self.reader.state_dict()
        if options.resume:
            self._restore()
        elif options.fit_scale:
            self.cp_per_logit = self._fitted_scale()
        if not self.workers.first:
            return
        if options.overwrite:
            self.folder.clear()  # late: what cannot be trained costs nobody a run
        told = self.options.configuration()  # with a resumed run's learning rate
        write_atomically(self.folder.configuration, (json.dumps(told, indent=1) + "\n").encode())
        self._made = describe_training(self.folder, options)

    def untrained(self) -> nn.Module:
        """The network that the options describe, with random weights."""
        raise NotImplementedError

    def build(self) -> Any:
        """The network to train, where it is to be trained."""
        return self.untrained()

    def position_bytes(self, network: Any) -> int:
        """Bytes that a step takes for each position at the least."""
        raise NotImplementedError

    def memory(self) -> int | None:
        """Bytes of memory where the network is trained; None if unknown."""
        return machine_memory()

    def is_enough(self, batch: Batch) -> bool:
        """Whether a step is taken of a batch; the positions of others come in another epoch's order again."""
        # An epoch's short last batch has poorer statistics.
        return len(batch) == self.options.batch_size or self.reader.positions < self.options.batch_size

    def positions_learnt(self, batch: Batch) -> int:
        """How many positions of a batch a step learns from."""
        return len(batch)

    def losses(self, batch: Batch) -> dict[str, torch.Tensor]:
        """Scalars of a batch by name: "loss" is what is minimised, its parts may stand beside it. Of several processes
        each gives its share's part of the batch's means."""
        raise NotImplementedError

    def test(self) -> dict[str, Any]:
        """The averaged network's figures on the held-out records: "loss" and those of `Metrics`."""
        raise NotImplementedError

    def in_short(self, figures: dict[str, Any]) -> str:
        """Those figures as a few words."""
        raise NotImplementedError

    def load_network(self, path: Path) -> nn.Module:
        """A trained network of this kind, from its file."""
        raise NotImplementedError

    def save_network(self, path: Path, provenance: dict[str, Any]) -> None:
        """Write the averaged network."""
        raise NotImplementedError

    def read(self, files: tuple[Path, ...], shuffle: bool, **filters: Any) -> Reader:
        """The records as this kind of training wants them."""
        options = self.options
        pool, threads = options.pool_positions, options.threads
        return Reader(files, options.batch_size, shuffle, options.seed, **filters, pool_positions=pool, threads=threads)

    def held_out_batches(self) -> Iterator[Batch]:
        """The held-out records, for `test`."""
        reader = self.read(self.options.valid, shuffle=False)
        yield from reader
        self.untested = refused_while_reading(reader)

    def _start_from(self, path: Path) -> None:
        """Take over the weights of a trained network. Raises ValueError if its configuration is another."""
        path = _network_file(path)
        other: Any = self.load_network(path)
        if other.config != self.model.config:
            theirs, ours = (json.dumps(config) for config in (other.config, self.model.config))
            raise OptionError(
                f"`init_from` {path}: holds a network of {theirs}, and this run trains one of {ours}", "init_from"
            )
        self.model.load_state_dict(other.state_dict())
        self.initial = {"file": path.name, "sha256": sha256_of(path)}

    def _fitted_scale(self) -> float:
        scores, results, positions = [], [], 0
        for batch in self.reader:
            played = batch.kind_of_result & NO_GAME == 0
            scores.append(batch.score[played])
            results.append(batch.result[played])
            positions += len(batch)
            if positions >= FIT_POSITIONS:
                break
        self.reader.load_state_dict(self._reader_state)
        if positions and not any(map(len, scores)):
            raise OptionError(
                f"`fit_scale` {self.options.data[0]}: no position comes from a game, and the scale is fitted to the "
                "results of games; leave it out",
                "fit_scale",
            )
        try:
            return fit_cp_per_logit(np.concatenate(scores), np.concatenate(results))
        except ValueError as error:
            raise OptionError(
                f"`fit_scale` {self.options.data[0]}: {error}; set `cp_per_logit` instead", "fit_scale", "cp_per_logit"
            ) from None

    @property
    def last_valid(self) -> dict[str, Any]:
        """The network's figures on the held-out records; empty where none of this step are known."""
        return self._tested if self._tested.get("step") == self.step else {}

    def _provenance(self, kept: str) -> dict[str, Any]:
        """How a network came to be; `kept` is "last" or "best", of the epochs so far, or "epoch", of all kept."""
        return {
            "kept": kept,
            "epoch": self.step / self.steps_an_epoch,
            "options": self.options.fixed_options(),
            "init_from": self.initial,
            "extended": self.extended,
            "data": [path.name for path in self.options.data],
            "descriptions": self.descriptions,
            "step": self.step,
            "steps": self.steps,
            "cp_per_logit": self.options.net_cp_per_logit or self.cp_per_logit,
            "score_cp_per_logit": self.cp_per_logit,
            "valid": self.last_valid,
            "versions": {"liteshogi": release(), "torch": str(torch.__version__)},
        }

    def save(self) -> None:
        """Network and state, each atomically; the state last, so that it never speaks of a network not yet there."""
        if not self.workers.first:
            return
        provenance = self._provenance("last")
        self.save_network(self.folder.network, provenance)
        parts = {
            "model": self.model.state_dict(),
            "average": self.average.model.state_dict(),
            "optimiser": optimiser_tensors(self.optimiser),
            "random": {"torch": torch.get_rng_state()},
        }
        data = provenance | {"average_count": self.average.count, "reader": self._reader_state}
        data |= {"best": self.best, "held_out": self.held_out, "learnt": self.learnt}
        save_state(self.folder.state, parts, json_safe(data))
        made = self._made | {"init_from": self.initial, "network": sha256_of(self.folder.network)}
        write_atomically(self.folder.provenance, json_bytes(made, 1) + b"\n")

    def _restore(self) -> None:
        parts, data = load_state(self.folder.state)
        with named_errors(self.folder.state, "cannot go on with this run"):
            self.extended = [{"step": int(one["step"]), "epochs": int(one["epochs"])} for one in data["extended"]]
            self._check_options(data["options"], int(data["step"]), data["init_from"])
            self.model.load_state_dict(parts["model"])
            self.average.model.load_state_dict(parts["average"])
            self.average.count = int(data["average_count"])
            restore_optimiser(self.optimiser, parts["optimiser"])
            torch.set_rng_state(parts["random"]["torch"])
            self.reader.load_state_dict(data["reader"])
            self._count_steps(int(data["steps"]), int(data["options"]["epochs"]))
            self.step, self.cp_per_logit = int(data["step"]), float(data["score_cp_per_logit"])
            most = min(self.options.batch_size, self.reader.positions)  # of a step, for states that do not tell
            self.learnt = int(data.get("learnt", self.step * most))
            self.initial = data["init_from"] and {name: str(data["init_from"][name]) for name in ("file", "sha256")}
            self._tested, best = dict(data["valid"]), data["best"]
            self.best = best and {
                "epoch": int(best["epoch"]),
                "step": int(best["step"]),
                "loss": float(best["loss"]),
                "loss_version": int(best.get("loss_version", 1)),
            }
            self._compare_held_out(data.get("held_out", self.held_out))
            if not 0 <= self.step <= self.steps:
                raise ValueError(f"step {self.step} is not one of {self.steps}")

    def _count_steps(self, steps: int, epochs: int) -> None:
        """Take an epoch for as long as the run has, which had so many `steps` in so many epochs: the learning rate and
        the place in the epoch depend on it, and another version of this program may have counted the data otherwise."""
        if epochs < 1 or not (steps_an_epoch := steps // epochs):
            raise ValueError(f"{steps} steps are none of {epochs} epochs")
        self.steps_an_epoch = steps_an_epoch
        self.steps = steps_an_epoch * self.options.epochs

    def _compare_held_out(self, before: list[str]) -> None:
        """Figures on other games are forgotten, and a best network whose loss cannot be compared with those to come."""
        if not self.options.valid:
            self.held_out = before
            return
        self.held_out_changed = self.held_out != before
        if self.held_out_changed:
            self._tested = {}
        if self.best and self.held_out_changed:
            self.forgotten = "the best on other held-out games than these"
        elif self.best and self.best["loss_version"] != self.loss_version:
            self.forgotten = "the best by a loss that this program counts in another way"
        if self.forgotten:
            self.best = None

    def _check_options(self, before: dict[str, Any], step: int, initial: dict[str, str] | None) -> None:
        """Raises ValueError unless the run was begun with these options, or with fewer epochs. A learning rate that
        they do not tell is the run's."""
        rate = before["optimiser"]["learning_rate"]
        self.options = self.options.with_rate(None if rate is None else float(rate))
        self.options.optimiser.check()
        before = rated(before)
        for name, value in rated(self.options.fixed_options()).items():
            if name == "epochs" and before[name] < value:
                self.extended.append({"step": step, "epochs": int(before[name])})
            elif before[name] != value and not (name == "init_from" and self._began_from(initial)):
                how = "extended to" if name == "epochs" and self.extended else "begun with"
                raise ValueError(f"it was {how} {difference(name, before[name], value)}; resume it with that")

    def _began_from(self, initial: dict[str, str] | None) -> bool:
        """Whether `init_from` holds the network of that digest, wherever it may lie by now."""
        path = self.options.init_from
        return path is not None and initial is not None and initial["sha256"] == sha256_of(_network_file(path))

    def _batches(self) -> Iterator[Batch]:
        """The batches that remain; after each, `_reader_state` is the place behind it."""
        epochs_without_step = 0
        while self.step < self.steps and epochs_without_step < 2:
            before = self.step
            for batch in self._waiting(iter(self.reader)):
                self._reader_state = self.reader.state_dict()
                if self.is_enough(batch):
                    yield batch
                if self.step >= self.steps:
                    return
            epochs_without_step = epochs_without_step + 1 if self.step == before else 0
        if self.step < self.steps:
            raise ValueError(
                f"{self.options.data[0]}: fewer good positions than a batch of {self.options.batch_size} needs; "
                "give more records"
            )

    def _waiting(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """The same batches; what it takes until each is there adds up in `waited`."""
        while True:
            asked = time.perf_counter()
            batch = next(batches, None)
            self.waited += time.perf_counter() - asked
            if batch is None:
                return
            yield batch

    def take_step(self, batch: Batch) -> dict[str, float]:
        """One step; returns the losses. Not finite, they or the gradient: FloatingPointError, weights untouched."""
        options = self.options
        for group in self.optimiser.param_groups:
            group["lr"] = rate_at(options.optimiser, self.step, self.steps)
        self.optimiser.zero_grad(set_to_none=True)
        with np.errstate(all="ignore"):  # what overflows ends in a loss or a gradient that is refused below
            losses = self.losses(batch)
            losses["loss"].backward()  # type: ignore[no-untyped-call]
        self.workers.total(*losses.values(), *(p.grad for p in self.model.parameters() if p.grad is not None))
        length = torch.nn.utils.clip_grad_norm_(self.model.parameters(), options.optimiser.clip or float("inf"))
        if not (torch.isfinite(losses["loss"]) and torch.isfinite(length)):
            raise FloatingPointError(f"loss {losses['loss'].item()}, length of the gradient {length.item()}")
        self.optimiser.step()
        self.step += 1
        self.average.update(self.model, self.step / self.steps)
        return {name: loss.item() for name, loss in losses.items()}

    def target(self, batch: Batch, step: int | None = None) -> np.ndarray:
        """What the positions should be worth at a step of the run (the one to be taken where None), f4 (B,)."""
        step = self.step if step is None else step
        lambda_ = lambda_at(self.options.lambda_, self.options.lambda_end, step, self.steps)
        played = batch.kind_of_result & NO_GAME == 0
        return blend(batch.result, batch.score, batch.scored, lambda_, self.cp_per_logit, played)

    def train(self) -> dict[str, Any]:
        """Take the steps that remain; {step, steps} and the network's figures on the held-out games, if there are any.

        `max_steps` ends it early: then `step` is less than `steps`. Ctrl-C, SIGTERM or SIGHUP saves and raises
        KeyboardInterrupt.
        """
        try:
            if self.step >= self.steps:
                self._progress().say(
                    f"{self.folder.network}: finished, {self.step} of {self.steps} steps; more than "
                    f"{self.options.epochs} epochs would extend it"
                )
            else:
                with full_gpu_in_words(self.options.batch_size):
                    self._loop()
                self.workers.meet()  # what the first one writes is there before any other reads it
        finally:
            self.folder.release()
        return {"step": self.step, "steps": self.steps} | self.last_valid

    def _loop(self) -> None:
        options = self.options
        log = RunLog(self.folder if self.workers.first else None, self.step if options.resume else None)
        progress = self._progress()
        for line in introduction(self._facts()):
            progress.say(line)
        log.write("start", self.step, {"options": options.fixed_options(), "cp_per_logit": self.cp_per_logit})
        begun, saved, trained = self.step, time.monotonic(), 0
        recent: list[dict[str, float]] = []
        ended = False
        with log, interrupt_flag() as interrupted:
            for batch in self._batches():
                try:
                    recent.append(self.take_step(batch))
                except FloatingPointError as error:
                    self._stop_on_nan(batch, str(error))
                epoch, place = divmod(self.step, self.steps_an_epoch)
                learnt = self.positions_learnt(batch)
                trained, self.learnt = trained + learnt, self.learnt + learnt
                rate = self.optimiser.param_groups[0]["lr"]
                loss = np.mean([losses["loss"] for losses in recent])
                in_epoch = place or self.steps_an_epoch
                place_in_run = f"epoch {epoch + (place > 0)}/{options.epochs}  {in_epoch}/{self.steps_an_epoch}"
                waiting = self.waited / progress.seconds()
                shown = f"{place_in_run}  loss {loss:.4f}  rate {rate:.2g}  waiting {100 * waiting:.0f} %"
                progress.show(self.step, trained, shown)
                if len(recent) >= 50 or place == 0:
                    speed = progress.positions_per_second(trained)
                    means = {name: float(np.mean([losses[name] for losses in recent])) for name in recent[0]}
                    figures = {"rate": rate, "positions_per_s": speed, "waiting": waiting}
                    decoding = self.reader.decoded / max(self.reader.decode_seconds, 1e-9)
                    figures |= {"decoded_positions_per_s": decoding, "learnt": self.learnt}
                    log.write("train", self.step, means | figures)
                    recent = []
                if place == 0 and options.valid:
                    self._test_epoch(epoch, log, progress)
                if place == 0 and options.keep_epochs:
                    self._keep(self.folder.epoch(epoch), "epoch")
                ended = self.workers.any(interrupted())
                stop = ended or (options.max_steps is not None and self.step - begun >= options.max_steps)
                if stop or place == 0 or time.monotonic() - saved >= 60 * options.save_minutes:
                    self.save()
                    saved = time.monotonic()
                if stop and self.step < self.steps:
                    progress.say(f"stopped at step {self.step} of {self.steps}, saved")
                    break
        for line in filter(None, (refused_while_reading(self.reader), self.untested)):
            progress.say(line)
        if self.step == self.steps:
            speed = progress.positions_per_second(trained)
            for line in conclusion(self._facts(), speed, self.waited / progress.seconds()):
                progress.say(line)
        if ended:
            self.workers.meet()  # the first to end ends the others, which may be writing
            raise KeyboardInterrupt

    def _test_epoch(self, epoch: int, log: RunLog, progress: Progress) -> None:
        figures = self.test()
        self._tested = {"step": self.step} | figures
        log.write("valid", self.step, figures)
        progress.say(f"epoch {epoch}/{self.options.epochs}  " + self.in_short(figures))
        if self.best is None or figures["loss"] < self.best["loss"]:
            found = {"epoch": epoch, "step": self.step, "loss": figures["loss"]}
            self.best = found | {"loss_version": self.loss_version}
            self._keep(self.folder.best, "best")

    def _keep(self, path: Path, kept: str) -> None:
        """Save the network beside the last one."""
        if self.workers.first:
            self.save_network(path, self._provenance(kept))

    def _facts(self) -> Facts:
        return Facts(
            options=self.options,
            folder=self.folder,
            reader=self.reader,
            step=self.step,
            steps=self.steps,
            steps_an_epoch=self.steps_an_epoch,
            parameters=sum(parameter.numel() for parameter in self.model.parameters()),
            cp_per_logit=self.cp_per_logit,
            processes=self.workers.size,
            gpu=gpu_name(self.model),
            initial=self.initial,
            extended=self.extended,
            lost=self.lost,
            forgotten=self.forgotten,
            best=self.best,
            last_valid=self.last_valid,
        )

    def _progress(self) -> Progress:
        return Progress(self.steps, self.step, silent=not self.workers.first)

    def _stop_on_nan(self, batch: Batch, what: str) -> None:
        """Names the batch; the state on disk stays as last saved, the weights of this moment are still finite."""
        epoch, place = divmod(self.step, self.steps_an_epoch)
        scores, results = batch.score.astype(np.int64), batch.result
        saved = f", or resume from the last saved state in {self.options.output}" * self.folder.state.is_file()
        raise OptionError(
            f"{what} in epoch {epoch + 1}, batch {place + 1} (step {self.step + 1}; scores {scores.min()}.."
            f"{scores.max()}, results {results.min()}..{results.max()}): stopped before the weights were touched. "
            f"Lower `learning_rate`, or look at the data; then train again{saved}",
            "learning_rate",
        )


def _network_file(path: Path) -> Path:
    """A network's file, which a run's directory stands for."""
    return path / NETWORK_NAME if path.is_dir() else path
