"""The files of a training run beside `run.json` and `results.jsonl`."""

from __future__ import annotations

from pathlib import Path

from search.evaluation import shipped

NETWORK_NAME = "network.safetensors"
"""Network of the last epoch, or of the step where the run was interrupted."""


class RunFolder:
    """The paths of a training run's files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.network = path / NETWORK_NAME
        self.best = path / "best.safetensors"
        """Network of the epoch with the lowest loss on held-out games, where there are such."""
        self.state = path / "state.safetensors"
        self.tensorboard = path / "tensorboard"

    def epoch(self, number: int) -> Path:
        """Return the path of an epoch's network, from 1 on, where all are kept."""
        return self.path / f"epoch-{number}.safetensors"

    def files(self) -> list[Path]:
        """Return the files of the run that exist."""
        epochs = self.path.glob("epoch-*.safetensors")
        events = self.tensorboard.glob("events.out.tfevents.*")
        return [*epochs, *events, *(path for path in (self.network, self.best, self.state) if path.exists())]

    def clear(self) -> None:
        """Remove the files of the run, and nothing else that may lie in its folder."""
        for path in self.files():
            path.unlink()


def network_file(path: Path) -> Path:
    """Return a network's file, where `path` may be the folder of its run or the name of a shipped network."""
    return path / NETWORK_NAME if path.is_dir() else shipped.network_file(path)
