"""The generations of a loop as rows, text and a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from experiments.elo import strength
from experiments.labels.yardstick import D1Figures
from experiments.loop.generation import AGAINST, GAMES, POSITIONS, TRAINING, YARDSTICK
from experiments.loop.stage_results import CandidateTrained, GateResult, LoopStanding, RecordsMade
from experiments.loop.stages import GATE, Stages
from experiments.sweep.columns import with_error
from lite.amounts import amount
from lite.training.metrics import percent


@dataclass(frozen=True)
class GenerationRow:
    """A completed generation of a loop. Generation 0 has only the yardstick's figures."""

    generation: int
    accepted: bool | None = None
    """Whether its network has become the best one."""
    games: int | None = None
    positions: int | None = None
    training: CandidateTrained | None = None
    yardstick: D1Figures | None = None
    """Figures on the yardstick, if the loop has one."""
    gate: GateResult | None = None
    """Result of its match against the best network of the generations before."""
    against: Mapping[str, LoopStanding] = field(default_factory=dict)
    """Results of its matches against other networks, by their names."""
    seconds: float | None = None
    """Time of all its stages in seconds."""

    @property
    def d1_rmse(self) -> float | None:
        """The d1-RMSE, if there is a yardstick."""
        return None if self.yardstick is None else self.yardstick.d1_rmse

    @property
    def d1_rmse_error(self) -> float | None:
        """The standard error of `d1_rmse`."""
        return None if self.yardstick is None else self.yardstick.d1_rmse_error

    @property
    def losses(self) -> CandidateTrained:
        """The figures of the training; unknown ones in generation 0."""
        return self.training or CandidateTrained(None)


def describe_generation(stages: Stages, number: int) -> GenerationRow:
    """Return a completed generation. Raises KeyError for one that is not complete."""
    yardstick = stages.find(number, YARDSTICK, D1Figures)
    if not number:
        return GenerationRow(number, yardstick=yardstick)
    gate = stages.of(number, GATE, GateResult)
    opponents = [name for name in stages.names(number) if name.startswith(AGAINST)]
    return GenerationRow(
        number,
        accepted=gate.accepted,
        games=stages.of(number, GAMES, RecordsMade).count("games"),
        positions=stages.of(number, POSITIONS, RecordsMade).count("positions"),
        training=stages.of(number, TRAINING, CandidateTrained),
        yardstick=yardstick,
        gate=gate,
        against={name.removeprefix(AGAINST): stages.of(number, name, LoopStanding) for name in opponents},
        seconds=stages.seconds(number),
    )


def row_text(row: GenerationRow) -> str:
    """Return a generation after the first as one line."""
    assert row.gate is not None
    parts = [f"{amount(row.games or 0, 'game')}, {amount(row.positions or 0, 'position')}"]
    if row.losses.loss is not None:
        parts.append(f"held-out loss {row.losses.loss:.4f}")
    if row.d1_rmse is not None:
        parts.append(f"d1-RMSE {with_error(row.d1_rmse, row.d1_rmse_error)}")
    outcome = "the new best" if row.accepted else "rejected"
    parts.append(f"{_elo(row.gate)} against generation {row.gate.best}: {outcome}")
    parts += [f"{_elo(standing)} against {name}" for name, standing in row.against.items()]
    return f"generation {row.generation}: {', '.join(parts)}"


def as_table(rows: Sequence[GenerationRow]) -> str:
    """Return `as_cells` in columns."""
    lines = as_cells(rows)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.rjust, line, widths)) for line in lines)


def as_cells(rows: Sequence[GenerationRow]) -> list[list[str]]:
    """Return all generations below a line of headings, with a column for each figure that any of them has."""
    opponents = list(dict.fromkeys(name for row in rows for name in row.against))
    head = ["generation", "games", "positions", "loss", "accuracy", "d1-RMSE", "gate games", "Elo of the gate", "best"]
    lines = [[*head, *(f"against {name}" for name in opponents)]]
    for row in rows:
        gate = row.gate
        lines.append(
            [
                str(row.generation),
                f"{row.games:,}" if gate else "",
                f"{row.positions:,}" if gate else "",
                with_error(row.losses.loss, None),
                percent(row.losses.accuracy, row.losses.accuracy_error),
                with_error(row.d1_rmse, row.d1_rmse_error),
                f"{gate.games:,}" if gate else "",
                f"{_elo(gate)} over {gate.best}" if gate else "",
                "" if not gate else "yes" if row.accepted else "no",
                *(_elo(row.against[name]) if name in row.against else "" for name in opponents),
            ]
        )
    shown = [place for place, column in enumerate(zip(*lines, strict=True)) if any(column[1:])]
    return [[line[place] for place in shown] for line in lines]


def _elo(standing: LoopStanding) -> str:
    return strength.elo_text(standing.elo, standing.elo_low, standing.elo_high)
