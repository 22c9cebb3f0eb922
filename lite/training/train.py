"""The training of value networks: their losses and their test on held-out games. The loop is in `run`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lite.networks.first_layer import MAX_LISTED
from lite.networks.from_integers import trainable
from lite.networks.transfer import start_from
from lite.networks.value_network import ValueNetwork
from lite.records.batch import Batch, labelled_dtype
from lite.training.checkpoint import NETWORK, file_format, json_safe, load_model, save_model
from lite.training.correction import corrected_network, is_learnt, targets_beyond_scale
from lite.training.game_progress import learn_progress_table, read_progress_table
from lite.training.loss import value_loss
from lite.training.metrics import Metrics, log_losses
from lite.training.network_origin import NetworkOrigin
from lite.training.options import ValueTraining
from lite.training.run import Outcome, Run
from lite.training.sum_statistics import take_statistics
from lite.training.targets import drawn_games
from lite.training.task import HeldOutFigures, Task
from lite.workers import Workers
from search.evaluation.network_file import load_network
from search.evaluation.static_evaluation import static_logits
from search.rules.shogi import EMPTY, MIRRORED_SQUARE, NO_MOVE, SQUARES, WHITE
from search.system.options import OptionError

FEW_PARAMETERS = 1 << 22
"""Below this number of parameters the optimiser needs one core: the other threads of torch, which spin after each of
its operations, would slow down the parts of a batch."""


def train_value(options: ValueTraining) -> Outcome:
    """Train a value network.

    `max_steps` ends the call early, and `resume` continues the run. Ctrl-C, SIGTERM or SIGHUP saves the state and
    raises KeyboardInterrupt. Raises OSError or ValueError for options and files that cannot be used.
    """
    options.check()
    return Run(options, ValueTask).train()


class ValueTask(Task):
    """The training of a value network whose first layer is a sum of rows."""

    options: ValueTraining
    divides_batches = True
    rounds = False
    """Whether the last step has rounded as the exported network does."""

    def __init__(self, options: ValueTraining, workers: Workers) -> None:
        """Raises OSError or ValueError where a network that is named cannot be used."""
        super().__init__(options, workers)
        self.corrected = corrected_network(options)
        """The network that the trained one corrects; None if it stands alone."""

    def untrained(self) -> ValueNetwork:
        return self.options.network.build()

    def build(self) -> ValueNetwork:
        model = self.untrained().to(self.options.device)
        model.threads, model.workers = self.options.threads, self.workers
        if self.options.saturation:
            if model.layer_stacks is None:
                raise OptionError(
                    f"`saturation` {self.options.saturation}: is for networks with stacks, a shortcut or hidden "
                    "squares; leave it out",
                    "saturation",
                )
            model.layer_stacks.measures_excess = True
        if sum(parameter.numel() for parameter in model.parameters()) < FEW_PARAMETERS:
            torch.set_num_threads(1)
        return model

    def position_bytes(self, model: ValueNetwork) -> int:
        # The lists of active rows, and the first layer: its sums, normalised sums, outputs and their gradient.
        rows = model.perspectives * MAX_LISTED * 4
        return labelled_dtype.itemsize + rows + 4 * 4 * model.hidden_layers()[0].in_features

    def memory(self) -> int | None:
        if self.options.device != "cuda":
            return super().memory()
        return int(torch.cuda.get_device_properties(self.options.device).total_memory)

    def is_enough(self, batch: Batch, positions: int) -> bool:
        # Fewer positions without captures have no mean, or no variance for a normalisation.
        needed = min(2, self.options.batch_size)
        return super().is_enough(batch, positions) and self.positions_learnt(batch) >= needed

    def positions_learnt(self, batch: Batch) -> int:
        return int(self._kept(batch).sum())

    def _kept(self, batch: Batch) -> np.ndarray:
        """Return whether a step learns from each position, bool (B,)."""
        kept = np.ones(len(batch), np.bool_) if self.options.captures else without_captures(batch)
        return kept & ~batch.in_check if self.options.correct is not None else kept

    def begin_step(self, model: ValueNetwork, step: int, steps: int) -> None:
        epochs, quantised = self.options.epochs, self.options.quantised_epochs
        self.rounds = step * epochs >= steps * (epochs - quantised)
        model.round_outputs(self.rounds)

    def losses(self, model: ValueNetwork, batch: Batch, target: np.ndarray, step: int) -> dict[str, torch.Tensor]:
        options = self.options
        kept = self._kept(batch)
        keep = slice(None) if kept.all() else kept
        pieces, hands, in_check = batch.pieces[keep], batch.hands[keep], batch.in_check[keep]
        if options.mirror:
            reverse = np.random.default_rng((options.seed, step)).random(len(pieces)) < 0.5
            pieces = np.where(reverse[:, None], pieces[:, MIRRORED_SQUARE], pieces)
        share = self.workers.share(len(pieces))
        outputs = self.outputs(model, pieces[share], hands[share], in_check[share])
        if self.corrected is None:
            losses = self._value_losses(outputs[:, 0], target[keep][share])
        else:
            logits = static_logits(self.corrected, pieces, hands, in_check)
            learnt = is_learnt(logits, target[keep])
            aim = targets_beyond_scale(logits, target[keep], learnt)
            known, counted = (torch.from_numpy(part[share]).to(outputs) for part in (logits, learnt))
            losses = counted * self._value_losses(outputs[:, 0] + known, aim[share])
        loss = losses.sum() / len(pieces)
        if options.saturation:
            assert model.layer_stacks is not None
            excess = model.layer_stacks.take_excess() * (len(outputs) / len(pieces))
            loss = loss + options.saturation * excess
        if outputs.shape[1] == 1:
            return {"loss": loss}
        drawn, played = (torch.from_numpy(part[keep][share]).to(outputs) for part in drawn_games(batch))
        draw_loss = (played * value_loss(outputs[:, 1], drawn)).sum() / len(pieces)
        return {"loss": loss + draw_loss, "value_loss": loss, "draw_loss": draw_loss}

    def _value_losses(self, logits: torch.Tensor, target: np.ndarray) -> torch.Tensor:
        wanted = torch.from_numpy(target).to(logits)
        return value_loss(logits, wanted, self.options.error_exponent, self.options.win_rate_model)

    def outputs(self, model: ValueNetwork, *arrays: np.ndarray) -> torch.Tensor:
        """Return a network's outputs for (pieces, hands, in_check), on the device that trains it."""
        if self.options.device == "cpu":
            return model.outputs(*arrays)
        return model.gathered_outputs(*(torch.from_numpy(array).to(self.options.device) for array in arrays))

    def test(self, model: ValueNetwork, batches: Iterable[tuple[Batch, np.ndarray]]) -> HeldOutFigures:
        metrics = Metrics()
        losses: list[np.ndarray] = []
        draw_losses: list[np.ndarray] = []
        rounded_losses: list[np.ndarray] = []
        exponent, win_rates = self.options.error_exponent, self.options.win_rate_model
        for batch, target in batches:
            outputs = self._all_outputs(model, batch)
            metrics.add(outputs[:, 0], batch)
            wanted = torch.from_numpy(target).double()
            losses.append(value_loss(_logits(outputs), wanted, exponent, win_rates).numpy())
            if outputs.shape[1] == 2:
                drawn, played = drawn_games(batch)
                draw_losses.append(log_losses(outputs[:, 1], drawn)[played])
            if self.rounds:
                model.round_outputs(True)
                rounded = self._all_outputs(model, batch)
                model.round_outputs(False)
                rounded_losses.append(value_loss(_logits(rounded), wanted, exponent, win_rates).numpy())
        loss = float(np.concatenate(losses).mean())
        parts = {"rounded_loss": float(np.concatenate(rounded_losses).mean())} if rounded_losses else {}
        if not any(map(len, draw_losses)):  # the network has no draw output, or no position comes from a game
            return HeldOutFigures(loss, metrics.report(), parts)
        draw_loss = float(np.concatenate(draw_losses).mean())
        return HeldOutFigures(loss + draw_loss, metrics.report(), parts | {"draw_loss": draw_loss})

    def _all_outputs(self, model: ValueNetwork, batch: Batch) -> np.ndarray:
        """Return a network's outputs f4 (B, outputs) for a batch, of which each process computes its share."""
        share = self.workers.share(len(batch))
        outputs = np.zeros((len(batch), model.output_count), np.float32)
        with torch.no_grad():
            outputs[share] = self.outputs(model, batch.pieces[share], batch.hands[share], batch.in_check[share]).cpu()
        if self.corrected is not None:
            known = static_logits(self.corrected, *_inputs(batch))[share]
            outputs[share, 0] = known + np.where(batch.in_check[share], 0, outputs[share, 0])
        self.workers.total(torch.from_numpy(outputs))
        return outputs

    def summary(self, figures: HeldOutFigures) -> str:
        report = figures.report
        words = [f"valid loss {figures.loss:.4f}"]
        if report.log_loss is not None:
            words.append(f"log loss {report.log_loss:.4f}")
        if report.accuracy is not None:
            words.append(f"accuracy {report.accuracy_text()}")
        if "draw_loss" in figures.parts:
            words.append(f"draw loss {figures.parts['draw_loss']:.4f}")
        if "rounded_loss" in figures.parts:
            words.append(f"valid loss of the value rounded to integers {figures.parts['rounded_loss']:.4f}")
        return "  ".join(words)

    def load_network(self, path: Path) -> ValueNetwork:
        if path.suffix == ".safetensors" and file_format(path) == NETWORK:
            return load_model(path)[0]
        try:
            return trainable(load_network(path))
        except OptionError:
            raise
        except ValueError as error:
            raise OptionError(f"`init_from` {path}: {error}", "init_from") from None

    def start_from(self, model: Any, start: Any) -> None:
        start_from(model, start)

    def prepare(self, model: ValueNetwork, batches: Iterable[Batch]) -> None:
        if self.options.init_from is not None and not all(norm.num_batches_tracked for norm in model.norms()):
            take_statistics(model, (self.outputs(model, *_inputs(batch)) for batch in batches))
        self._set_progress(model, batches)

    def _set_progress(self, model: ValueNetwork, batches: Iterable[Batch]) -> None:
        stacks = model.layer_stacks
        if stacks is None or not stacks.has_progress:
            return
        path = self.options.progress_table
        if path is not None:
            stacks.set_progress(*read_progress_table(path))
        elif not bool(stacks.progress_weight.any()):  # type: ignore[operator]  # or it came with the weights
            try:
                stacks.set_progress(*learn_progress_table(batches))
            except ValueError as error:
                raise OptionError(
                    f"`progress_table`: {self.options.data[0]}: {error}; give a table", "progress_table"
                ) from None

    def save_network(self, path: Path, model: Any, origin: NetworkOrigin) -> None:
        save_model(path, model, json_safe(asdict(origin)))


def _logits(outputs: np.ndarray) -> torch.Tensor:
    """Return the logits f8 (B,) of the mover's win."""
    return torch.from_numpy(outputs[:, 0]).double()


def _inputs(batch: Batch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return batch.pieces, batch.hands, batch.in_check


def without_captures(batch: Batch) -> np.ndarray:
    """Return whether the move of each record goes to an empty square, or is unknown; bool (B,).

    Positions in check are kept: without them the row "in check" would keep its random initial weights.
    """
    target = (batch.move & 127).astype(np.int64)
    target = np.where(batch.turn == WHITE, SQUARES - 1 - target, target)
    empty = batch.pieces[np.arange(len(target)), target] == EMPTY
    return np.asarray(empty | (batch.move == NO_MOVE))
