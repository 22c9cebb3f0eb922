"""A run's directory: what lies in it, and that one run at a time works there."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from search.system.folder_lock import FolderLock

NETWORK_NAME = "network.safetensors"
"""Of the last epoch, or of the step where the run was cut."""


class RunFolder:
    """The files of a run, and the right to write them, which the system takes back when the process ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.network = path / NETWORK_NAME
        self.best = path / "best.safetensors"
        """Of the epoch with the lowest loss on held-out games, where there are such."""
        self.state = path / "state.safetensors"
        self.log = path / "log.jsonl"
        self.configuration = path / "config.json"
        """The run's options."""
        self.provenance = path / "made.json"
        """What the network was made from and by whom, with digests."""
        self.tensorboard = path / "tensorboard"
        self._lock = FolderLock(path)
        self._made = False

    def epoch(self, number: int) -> Path:
        """The network of an epoch, from 1 on, where all are kept."""
        return self.path / f"epoch-{number}.safetensors"

    def lock(self) -> None:
        """Make the directory, and take it. Raises ValueError if another run is at work in it."""
        self._made = not self.path.exists()
        self._lock.take()

    def release(self) -> None:
        """Leave the directory to others."""
        self._lock.release()

    def abandon(self) -> None:
        """Leave no directory behind where `lock` made one: the run could not begin."""
        if not self._made:
            self.release()
            return
        self._lock.discard()
        with suppress(OSError):  # something lies in it already
            self.path.rmdir()

    def files(self) -> list[Path]:
        """Those of a run that are there, its options last."""
        epochs = self.path.glob("epoch-*.safetensors")
        events = self.tensorboard.glob("events.out.tfevents.*")
        names = (self.network, self.best, self.state, self.log, self.provenance, self.configuration)
        return [*epochs, *events, *(path for path in names if path.exists())]

    def clear(self) -> None:
        """Remove a run, and nothing else that may lie in its directory."""
        for path in self.files():
            path.unlink()
