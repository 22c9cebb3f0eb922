"""A training run: the loop from records to a network, which can be interrupted anywhere and resumed exactly.

On the same machine with the same number of threads, a resumed run ends with the same bits as an uninterrupted one: the
state holds weights, optimiser, averages, random state and the place in the data, and the learning rate is a function of
the step.

Several processes that `torchrun` has started take the steps together: all of them read the data, each computes its
share of every batch (`lite.workers`), and the first one writes the files and prints.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from lite.datasets.description import describe_sources, short_names
from lite.json_lines import whole_bytes
from lite.program import release
from lite.records.batch import Batch
from lite.run_folder import RESULTS, RunWriter, find_run
from lite.training.data import TrainingData
from lite.training.folder import RunFolder, network_file
from lite.training.held_out import HeldOut
from lite.training.learner import Learner
from lite.training.learnt_data import digests_behind, digests_behind_network, same_games_warning
from lite.training.log import EpochTest, RunLog, Started, Steps
from lite.training.memory import clear_gpu_errors
from lite.training.network_origin import NetworkOrigin
from lite.training.options import TrainingOptions
from lite.training.progress import Progress
from lite.training.remarks import Facts, conclusion, gpu_name, introduction, refused_while_reading
from lite.training.run_record import corrected_by, plan_training, verb_of
from lite.training.state import AnyOptions, Extension, InitialNetwork, RunState, SavedRun, write_state
from lite.training.targets import TargetSchedule
from lite.training.task import Task
from lite.training.testing import leakage_warning
from lite.workers import Workers, join_workers
from search.system.interrupt import interrupt_flag
from search.system.options import OptionError

LOGGED_STEPS = 50
"""Steps per line of the log; an epoch's end has one, too."""


@dataclass(frozen=True)
class Outcome:
    """The end of a call that trains."""

    step: int
    """Steps taken since the run began."""
    steps: int
    """Steps of the whole run; more than `step` where `max_steps` ended the call."""
    tested: EpochTest | None
    """Figures of the network on the held-out games; None where it was not tested."""


class Run:
    """A training run that is ready to start, or to be resumed; nothing is written before `train`."""

    def __init__(self, options: AnyOptions, make_task: Callable[[AnyOptions, Workers], Task]) -> None:
        """`make_task`: the kind of training. Raises OSError, ValueError for files or options that cannot be used."""
        self.workers = join_workers()
        self.folder = RunFolder(options.output)
        self.warnings: list[str] = []
        """Warnings that `train` has printed."""
        saved = _saved_run(options, self.folder)
        options = options.with_rate(options.suited_rate) if saved is None else saved.resumed_options(options)
        self.options: TrainingOptions = options
        self.task = make_task(options, self.workers)
        self._fixed_options = options.fixed_options()  # once: the files that they name may be moved during the run
        with clear_gpu_errors(options.batch_size):
            start = None if saved else _start_network(self.task)
            data = self.data = TrainingData(self.task, saved)
            self.held_out = HeldOut(self.task, saved)
            if saved is None:
                self.step = self.learnt = 0
                self.extended: tuple[Extension, ...] = ()
                self.steps_per_epoch = data.steps_per_epoch
                scale = data.fitted_scale() if options.fit_scale else options.cp_per_logit
                self.init_from = _initial(options.init_from)
            else:
                self.extended = saved.extended_by(options)
                self.step, self.learnt = saved.state.step, saved.state.learnt
                # Another version may count the data differently; the learning rate and the place depend on this number.
                self.steps_per_epoch = saved.state.steps_per_epoch
                scale, self.init_from = saved.state.cp_per_logit, saved.state.init_from
            steps = self.steps_per_epoch * options.epochs
            targets = TargetSchedule(options.lambda_, options.lambda_end, scale, steps, options.score_win_rates)
            self.learner = Learner(self.task, targets, start, saved)
            if saved is None:
                self.task.prepare(self.learner.model, data.reader)
                data.rewind()
                self.learner.average.restart(self.learner.model)
        self._watch: Callable[[str], None] | None = None
        correct = corrected_by(options)
        corrected = () if correct is None else digests_behind_network(network_file(correct))
        self._inherited = frozenset(() if self.init_from is None else self.init_from.data_digests).union(corrected)
        """Digests of the data behind the networks that the run began from."""
        self._behind: frozenset[str] = frozenset()
        """Digests of the data and of those that they were made from, in the process that writes the files."""
        described = describe_sources(options.data)
        self._descriptions = dict(zip(short_names(described), described.values(), strict=True))

    @property
    def steps(self) -> int:
        """Steps of the whole run."""
        return self.learner.targets.steps

    @property
    def cp_per_logit(self) -> float:
        """Scale of the scores; the network's own stands in its provenance."""
        return self.learner.targets.cp_per_logit

    def train(self, watch: Callable[[str], None] | None = None) -> Outcome:
        """Take the steps that remain. `watch` takes the steps taken and the time left about once a second.

        Ctrl-C, SIGTERM or SIGHUP saves the state and raises KeyboardInterrupt. Raises OSError, ValueError.
        """
        self._watch = watch
        with ExitStack() as stack:
            record = stack.enter_context(self._writer()) if self.workers.first else None
            if record is not None and self.options.overwrite:
                self.folder.clear()
            if self.step >= self.steps:
                self._progress().say(
                    f"{self.folder.network}: finished, {self.step} of {self.steps} steps; more than "
                    f"{self.options.epochs} epochs would extend it"
                )
            else:
                with clear_gpu_errors(self.options.batch_size):
                    self._loop(record)
                self.workers.meet()  # the files of the first process are complete before any other reads them
        return Outcome(self.step, self.steps, self.held_out.figures_at(self.step))

    def batches(self) -> Iterator[Batch]:
        """Yield the batches of the steps that remain, while `step` counts them."""
        epochs_without_step = 0
        while self.step < self.steps and epochs_without_step < 2:
            before = self.step
            for batch in self.data.epoch():
                if self.task.is_enough(batch, self.data.reader.positions):
                    yield batch
                if self.step >= self.steps:
                    return
            epochs_without_step = epochs_without_step + 1 if self.step == before else 0
        if self.step < self.steps:
            raise ValueError(
                f"{self.options.data[0]}: fewer usable positions than a batch of {self.options.batch_size} needs; "
                "give more records"
            )

    def take_step(self, batch: Batch) -> dict[str, float]:
        """Take the next step and return its losses by name. Raises OptionError if it has no finite loss or gradient."""
        try:
            losses = self.learner.take_step(batch, self.step)
        except FloatingPointError as error:
            raise self._not_finite(batch, str(error)) from None
        self.step += 1
        self.learnt += self.task.positions_learnt(batch)
        return losses

    def _writer(self) -> RunWriter:
        plan = plan_training(self.options, self.init_from)
        self._behind = digests_behind(plan.sources)
        return RunWriter(self.options.output, plan, overwrite=not self.options.resume)

    def _loop(self, record: RunWriter | None) -> None:
        options, data = self.options, self.data
        progress = self._progress()
        for line in introduction(self._facts()):
            progress.say(line)
        for warning in filter(None, self._leaks_at_start()):
            self._say(warning, progress)
        begun, learnt_before, saved = self.step, self.learnt, time.monotonic()
        recent: list[dict[str, float]] = []
        ended = False
        log = RunLog(record, self.folder.tensorboard, self.step if options.resume else None)
        with interrupt_flag() as interrupted, log:  # opening the log may take seconds
            log.write(Started(self.step, self.cp_per_logit))
            # A resumed run, too: its files may be others than those that it began with.
            leakage = self.held_out.leakage_check(data.reader.positions)
            for batch in self.batches():
                recent.append(self.take_step(batch))
                if warning := leakage.add(batch):
                    self._say(warning, progress)
                epoch, place = divmod(self.step, self.steps_per_epoch)
                trained, waiting = self.learnt - learnt_before, data.waited / progress.seconds()
                in_epoch = place or self.steps_per_epoch
                progress.show(
                    self.step,
                    trained,
                    f"epoch {epoch + (place > 0)}/{options.epochs}  {in_epoch}/{self.steps_per_epoch}  "
                    f"loss {np.mean([losses['loss'] for losses in recent]):.4f}  rate {self.learner.rate:.2g}  "
                    f"waiting {100 * waiting:.0f} %",
                )
                if len(recent) >= LOGGED_STEPS or place == 0:
                    log.write(self._line(recent, progress.positions_per_second(trained), waiting))
                    recent = []
                if place == 0:
                    self._end_epoch(epoch, log, progress)
                ended = self.workers.any(interrupted())
                stop = ended or (options.max_steps is not None and self.step - begun >= options.max_steps)
                if stop or place == 0 or time.monotonic() - saved >= 60 * options.save_minutes:
                    self.save(record)
                    saved = time.monotonic()
                if stop and self.step < self.steps:
                    progress.say(f"stopped at step {self.step} of {self.steps}, saved")
                    if record is not None:
                        record.interrupt()
                    break
        if warning := leakage.finish():
            self._say(warning, progress)
        for line in filter(None, (refused_while_reading(data.reader), self.held_out.refused)):
            progress.say(line)
        if self.step == self.steps:
            speed = progress.positions_per_second(self.learnt - learnt_before)
            for line in conclusion(self._facts(), speed, data.waited / progress.seconds()):
                self._say(line, progress)
        if ended:
            self.workers.meet()  # the first process to end would end the others, which may be writing
            raise KeyboardInterrupt

    def _leaks_at_start(self) -> Iterator[str]:
        """Yield warnings if the data, or a network that the run starts from or corrects, are of the held-out games;
        else empty ones. A resumed run is compared with other held-out games than before."""
        options = self.options
        if not options.valid or (self.step and not self.held_out.changed):
            return
        yield same_games_warning(self._behind, options.valid, "the data")
        for network, verb in ((options.init_from, "starts from"), (corrected_by(options), "corrects")):
            if network is not None:
                learnt_from = f"the data of the network that the run {verb}"
                yield leakage_warning(str(network), options.valid, learnt_from=learnt_from)

    def _say(self, line: str, progress: Progress) -> None:
        """Print a line, and keep it if it is a warning."""
        if line.startswith("warning: "):
            self.warnings.append(line)
        progress.say(line)

    def _line(self, recent: list[dict[str, float]], speed: float, waiting: float) -> Steps:
        """Return the line of the log about recent losses."""
        means = {name: float(np.mean([losses[name] for losses in recent])) for name in recent[0]}
        reader = self.data.reader
        decoding = reader.decoded / max(reader.decode_seconds, 1e-9)
        loss = means.pop("loss")
        return Steps(self.step, loss, means, self.learner.rate, speed, waiting, decoding, self.learnt)

    def _end_epoch(self, epoch: int, log: RunLog, progress: Progress) -> None:
        """Test the network on the held-out games, and keep it if the options request that."""
        if self.options.valid:
            try:
                figures = self.held_out.test(self.learner.average.model, self.learner.targets, epoch, self.step)
            except FloatingPointError as error:
                raise self._diverged(f"{error} after epoch {epoch} (step {self.step}): the weights diverge") from None
            assert self.held_out.last is not None
            log.write(self.held_out.last)
            progress.say(f"epoch {epoch}/{self.options.epochs}  {self.task.summary(figures)}")
            if self.held_out.is_best():
                self._save_network(self.folder.best, "best")
        if self.options.keep_epochs:
            self._save_network(self.folder.epoch(epoch), "epoch")

    def save(self, record: RunWriter | None) -> None:
        """Write network and state, each atomically; the state last, so that its network is always there."""
        if record is None:
            return
        self._save_network(self.folder.network, "last")
        write_state(self.folder.state, self.learner.tensors(), self._state())
        record.add_product(self.folder.network)
        record.update({"step": self.step, "steps": self.steps, "learnt": self.learnt})

    def _save_network(self, path: Path, kept: str) -> None:
        """Write the averaged network; `kept` is "last" or "best" of the epochs so far, or "epoch"."""
        if self.workers.first:
            self.task.save_network(path, self.learner.average.model, self._origin(kept))

    def _state(self) -> RunState:
        return RunState(
            options=self._fixed_options,
            step=self.step,
            steps_per_epoch=self.steps_per_epoch,
            learnt=self.learnt,
            cp_per_logit=self.cp_per_logit,
            average_count=self.learner.average.count,
            reader=self.data.place,
            init_from=self.init_from,
            extended=self.extended,
            tested=self.held_out.last,
            best=self.held_out.best,
            held_out=self.held_out.digests,
        )

    def _origin(self, kept: str) -> NetworkOrigin:
        """Return the origin of the network, for its file."""
        tested = self.held_out.figures_at(self.step)
        return NetworkOrigin(
            kept=kept,
            epoch=self.step / self.steps_per_epoch,
            options=self._fixed_options,
            init_from=self.init_from,
            extended=self.extended,
            data=tuple(path.name for path in self.options.data),
            data_digests=tuple(sorted(self._behind | self._inherited)),
            descriptions=self._descriptions,
            step=self.step,
            steps=self.steps,
            cp_per_logit=self.options.net_cp_per_logit or self.cp_per_logit,
            score_cp_per_logit=self.cp_per_logit,
            valid={} if tested is None else {"step": self.step} | tested.flat(),
            versions={"liteshogi": release(), "torch": str(torch.__version__)},
        )

    def _facts(self) -> Facts:
        return Facts(
            options=self.options,
            folder=self.folder,
            reader=self.data.reader,
            lost=[self.data.reader.lost, self.held_out.lost],
            step=self.step,
            steps=self.steps,
            steps_per_epoch=self.steps_per_epoch,
            parameters=self.learner.parameters,
            cp_per_logit=self.cp_per_logit,
            processes=self.workers.size,
            gpu=gpu_name(self.learner.model),
            init_from=self.init_from,
            extended=self.extended,
            forgotten=self.held_out.forgotten,
            best=self.held_out.best,
            tested=self.held_out.figures_at(self.step),
        )

    def _progress(self) -> Progress:
        return Progress(self.steps, not self.workers.first, self._watch)

    def _not_finite(self, batch: Batch, reason: str) -> OptionError:
        """Return the error of a batch without a finite loss; weights and saved state are as before it."""
        epoch, place = divmod(self.step, self.steps_per_epoch)
        scores, results = batch.score.astype(np.int64), batch.result
        return self._diverged(
            f"{reason} in epoch {epoch + 1}, batch {place + 1} (step {self.step + 1}; scores {scores.min()}.."
            f"{scores.max()}, results {results.min()}..{results.max()}): stopped before the weights were touched"
        )

    def _diverged(self, reason: str) -> OptionError:
        """Return the error of a run with a loss that is not finite."""
        saved = f", or resume from the last saved state in {self.options.output}" * self.folder.state.is_file()
        return OptionError(
            f"{reason}. Lower `learning_rate`, or look at the data; then train again{saved}", "learning_rate"
        )


def _saved_run(options: TrainingOptions, folder: RunFolder) -> SavedRun | None:
    """Return the run to resume; None to begin one, also if it was killed before anything was saved.

    Raises OptionError if there is a run and no option for it, or no run to resume."""
    if options.resume and folder.state.is_file():
        return SavedRun.read(folder.state)
    record = find_run(folder.path)
    if options.resume:
        if record is None or record.verb != verb_of(options.kind) or record.products:
            raise OptionError(
                f"{folder.state}: no such file, so there is no run to resume; leave out `resume` to begin one", "resume"
            )
        return None
    if record is not None and not record.verb.startswith("train ") and whole_bytes(folder.path / RESULTS):
        raise OptionError(
            f"`output` {options.output}: holds a run of liteshogi {record.verb}; choose another folder", "output"
        )
    can_resume = folder.state.exists()
    if not options.overwrite and (can_resume or folder.network.exists()):  # a network may be kept without its state
        fields = ("output", "resume", "overwrite") if can_resume else ("output", "overwrite")
        remedy = "`resume` to resume it, " * can_resume + "`overwrite` to replace it, or choose another folder"
        raise OptionError(f"`output` {options.output}: holds a run; add {remedy}", *fields)
    return None


def _start_network(task: Task) -> nn.Module | None:
    """Return the network whose weights a run starts from; None for random weights. Raises OSError, ValueError."""
    if task.options.init_from is None:
        return None
    return task.load_network(network_file(task.options.init_from))


def _initial(path: Path | None) -> InitialNetwork | None:
    return None if path is None else InitialNetwork.at(network_file(path))
