"""The results of a loop's stages."""

from __future__ import annotations

from dataclasses import dataclass

from lite.records.file import RefusedRecords


@dataclass(frozen=True)
class FirstNetwork:
    """Result of the stage that takes over the network that a loop begins from."""


@dataclass(frozen=True)
class RecordsMade:
    """Games or positions that were made."""

    totals: dict[str, int | float]
    """Sums of all jobs' counts, see `Production`."""
    ended: str
    """Why the work ended, see `Production`."""
    refused: RefusedRecords | None
    """Records of the sources that could not be read."""

    def count(self, name: str) -> int:
        """Return one of the totals; 0 where no job has counted it."""
        return int(self.totals.get(name, 0))


@dataclass(frozen=True)
class CandidateTrained:
    """The training of a candidate; figures are those of the last epoch on held-out games, None without such games."""

    steps: int | None
    """Number of steps."""
    loss: float | None = None
    """Held-out loss."""
    accuracy: float | None = None
    """Share of held-out positions whose winner is predicted; None also where no game is decided."""
    log_loss: float | None = None
    """Log loss on held-out positions of games."""
    accuracy_error: float | None = None
    """Standard error of `accuracy`, with the positions of a game taken as one observation."""


@dataclass(frozen=True)
class CandidateFolded:
    """The cost of folding a candidate; None where the data have no results."""

    log_loss_change: float | None
    """Log loss of the folded network less that of the trained one."""
    sign_flips: float | None
    """Share of positions whose predicted winner changed."""
    mean_error: float
    """Root of the mean squared error of the logit."""


@dataclass(frozen=True)
class LoopStanding:
    """Games of a generation's network, from its view. An Elo of None is infinite or unknown."""

    games: int
    """Number of games."""
    wins: int
    draws: int
    losses: int
    pentanomial: tuple[int, ...]
    """Pairs of games with 0, 1/2, 1, 1 1/2 and 2 points."""
    elo: float | None
    """Logistic Elo difference."""
    elo_low: float | None
    """Lower end of the 95 % interval of `elo`."""
    elo_high: float | None
    """Upper end of the 95 % interval of `elo`."""


@dataclass(frozen=True)
class GateResult(LoopStanding):
    """Games of a candidate against the best network so far."""

    best: int
    """Generation of the best network so far."""
    llr: float
    """Log-likelihood ratio of the test."""
    verdict: str
    """Verdict of the test, see `SprtReport`."""
    accepted: bool
    """Whether the candidate has become the best network."""
