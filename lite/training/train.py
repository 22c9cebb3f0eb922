"""The training of a value network: what its targets and losses are, and how it is tested. The loop is in `run`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from lite.networks.first_layer import MAX_LISTED
from lite.networks.value_network import ValueNetwork
from lite.records.decode import Batch, labelled_dtype
from lite.training.checkpoint import load_model, save_model
from lite.training.loss import value_loss
from lite.training.metrics import Metrics, log_losses
from lite.training.options import ValueTraining
from lite.training.run import Run
from lite.training.targets import drawn_games
from search.rules.shogi import EMPTY, MIRRORED_SQUARE, NO_MOVE, SQUARES, WHITE

FEW_PARAMETERS = 1 << 22
"""Below so many the optimiser needs one core: torch's other threads, which spin after each of its operations, would be
in the way of the parts of a batch."""


def train_value(options: ValueTraining) -> dict[str, Any]:
    """Train a value network; {step, steps} and, with held-out games, the last figures on them: `loss`, the mean of what
    is minimised (of both outputs with a draw output, whose own is `draw_loss`), in nats a position, and what
    `experiments.network_kinds.judge` tells.

    `max_steps` ends it early: then `step` is less than `steps`, and `resume` goes on. Ctrl-C, SIGTERM or SIGHUP saves,
    too, and raises KeyboardInterrupt. Raises OSError or ValueError in words: bad options, unreadable files.
    """
    options.check()
    return ValueRun(options).train()


class ValueRun(Run):
    """The training of a value network whose first layer is a sum of rows."""

    options: ValueTraining
    model: ValueNetwork
    divides_batches = True

    def untrained(self) -> ValueNetwork:
        return self.options.network.build()

    def build(self) -> ValueNetwork:
        network = super().build().to(self.options.device)
        network.threads, network.workers = self.options.threads, self.workers
        if sum(parameter.numel() for parameter in network.parameters()) < FEW_PARAMETERS:
            torch.set_num_threads(1)
        return network  # type: ignore[no-any-return]

    def position_bytes(self, network: ValueNetwork) -> int:
        # The lists of active rows, and the first layer: its sums, normalised sums, outputs and their gradient.
        rows = network.perspectives * MAX_LISTED * 4
        return labelled_dtype.itemsize + rows + 4 * 4 * network.hidden_layers()[0].in_features

    def memory(self) -> int | None:
        if self.options.device != "cuda":
            return super().memory()
        return int(torch.cuda.get_device_properties(self.options.device).total_memory)

    def is_enough(self, batch: Batch) -> bool:
        # Of fewer quiet positions there is no mean, or no variance for a normalisation.
        needed = min(2, self.options.batch_size)
        return super().is_enough(batch) and not (self.options.quiet and self.positions_learnt(batch) < needed)

    def positions_learnt(self, batch: Batch) -> int:
        return int(quiet_positions(batch).sum()) if self.options.quiet else len(batch)

    def losses(self, batch: Batch) -> dict[str, torch.Tensor]:
        options = self.options
        keep = quiet_positions(batch) if options.quiet else slice(None)
        pieces, hands, in_check = batch.pieces[keep], batch.hands[keep], batch.in_check[keep]
        if options.mirror:
            reverse = np.random.default_rng((options.seed, self.step)).random(len(pieces)) < 0.5
            pieces = np.where(reverse[:, None], pieces[:, MIRRORED_SQUARE], pieces)
        share = self.workers.share(len(pieces))
        target = torch.from_numpy(self.target(batch)[keep][share])
        outputs = self.outputs(self.model, pieces[share], hands[share], in_check[share])
        loss = value_loss(outputs[:, 0], target.to(outputs), options.error_exponent).sum() / len(pieces)
        if outputs.shape[1] == 1:
            return {"loss": loss}
        drawn, played = (torch.from_numpy(part[keep][share]).to(outputs) for part in drawn_games(batch))
        of_draws = (played * value_loss(outputs[:, 1], drawn)).sum() / len(pieces)
        return {"loss": loss + of_draws, "value_loss": loss, "draw_loss": of_draws}

    def outputs(self, network: ValueNetwork, *arrays: np.ndarray) -> torch.Tensor:
        """A network's outputs of (pieces, hands, in_check), where it is trained."""
        if self.options.device == "cpu":
            return network.outputs(*arrays)
        return network.gathered_outputs(*(torch.from_numpy(array).to(self.options.device) for array in arrays))

    def test(self) -> dict[str, Any]:
        metrics = Metrics()
        losses: list[np.ndarray] = []
        of_draws: list[np.ndarray] = []
        exponent = self.options.error_exponent
        for batch in self.held_out_batches():
            share = self.workers.share(len(batch))
            outputs = np.zeros((len(batch), self.model.output_count), np.float32)
            with torch.no_grad():
                arrays = (batch.pieces[share], batch.hands[share], batch.in_check[share])
                outputs[share] = self.outputs(self.average.model, *arrays).cpu()
            self.workers.total(torch.from_numpy(outputs))
            logits = outputs[:, 0]
            metrics.add(logits, batch)
            # Epochs are compared by what the last of them learns.
            target = torch.from_numpy(self.target(batch, self.steps - 1)).double()
            losses.append(value_loss(torch.from_numpy(logits).double(), target, exponent).numpy())
            if outputs.shape[1] == 2:
                drawn, played = drawn_games(batch)
                of_draws.append(log_losses(outputs[:, 1], drawn)[played])
        loss = float(np.concatenate(losses).mean())
        if not any(map(len, of_draws)):  # nothing is said of draws, or no game is there to tell
            return {"loss": loss} | metrics.report()
        draw_loss = float(np.concatenate(of_draws).mean())
        return {"loss": loss + draw_loss, "draw_loss": draw_loss} | metrics.report()

    def in_short(self, figures: dict[str, Any]) -> str:
        words = [f"valid loss {figures['loss']:.4f}"]
        if figures["accuracy"] is not None:
            words.append(f"accuracy {100 * figures['accuracy']:.2f} %")
        if figures["log_loss"] is not None:
            words.append(f"log loss {figures['log_loss']:.4f}")
        if "draw_loss" in figures:
            words.append(f"of draws {figures['draw_loss']:.4f}")
        return "  ".join(words)

    def load_network(self, path: Path) -> ValueNetwork:
        return load_model(path)[0]

    def save_network(self, path: Path, provenance: dict[str, Any]) -> None:
        save_model(path, self.average.model, provenance)


def quiet_positions(batch: Batch) -> np.ndarray:
    """Bool (B,): whether the move of the record (on the real board) goes to an empty square, or there is none.

    A record without a move stays: nothing says that its position is not quiet. Positions in check stay: without them
    the row "in check" would keep its random start, and harm where it is used.
    """
    target = (batch.move & 127).astype(np.int64)
    target = np.where(batch.turn == WHITE, SQUARES - 1 - target, target)
    empty = batch.pieces[np.arange(len(target)), target] == EMPTY
    return np.asarray(empty | (batch.move == NO_MOVE))
