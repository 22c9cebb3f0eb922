"""The generations of a loop as rows, text and a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from experiments.elo import strength
from experiments.loop.generation import AGAINST, GAMES, POSITIONS
from experiments.loop.stages import GATE, Figures, Stages
from lite.amounts import amount


@dataclass(frozen=True)
class GenerationRow:
    """A generation of a loop that is done. Generation 0 has no more than the yardstick's figures."""

    generation: int
    accepted: bool | None = None
    """Whether its network has become the best one."""
    games: int | None = None
    positions: int | None = None
    training: Figures = field(default_factory=dict)
    """Figures of the training: steps, loss, accuracy, log_loss."""
    yardstick: Figures = field(default_factory=dict)
    """Figures on the yardstick: d1_rmse and others."""
    gate: Figures | None = None
    """Standing against the best network before it."""
    against: Mapping[str, Figures] = field(default_factory=dict)
    """Standings against other networks, by their names."""
    seconds: float | None = None

    def figure(self, name: str) -> float | None:
        """Return a figure of the training or on the yardstick; None if there is none."""
        value: float | None = {**self.yardstick, **self.training}.get(name)
        return value

    def figures(self) -> dict[str, Any]:
        """Return the row as one JSON object."""
        if self.gate is None:
            return {"generation": self.generation, **self.yardstick}
        rest = {name: value for name, value in asdict(self).items() if name not in ("training", "yardstick")}
        return {**rest, **self.yardstick, **self.training}


def describe_generation(stages: Stages, number: int) -> GenerationRow:
    """Return a generation that is done. Raises KeyError for one that is not."""
    found = stages.of_generation(number)
    yardstick = found.get("yardstick", {})
    if not number:
        return GenerationRow(number, yardstick=yardstick)
    return GenerationRow(
        number,
        accepted=found[GATE]["accepted"],
        games=found[GAMES]["games"],
        positions=found[POSITIONS]["positions"],
        training=found["training"],
        yardstick=yardstick,
        gate=found[GATE],
        against={name.removeprefix(AGAINST): standing for name, standing in found.items() if name.startswith(AGAINST)},
        seconds=stages.seconds(number),
    )


def row_text(row: GenerationRow) -> str:
    """Return a generation after the first as one line."""
    assert row.gate is not None
    parts = [f"{amount(row.games or 0, 'game')}, {amount(row.positions or 0, 'position')}"]
    if (loss := row.figure("loss")) is not None:
        parts.append(f"held-out loss {loss:.4f}")
    if (d1_rmse := row.figure("d1_rmse")) is not None:
        parts.append(f"d1-RMSE {d1_rmse:.4f}")
    outcome = "the new best" if row.accepted else "rejected"
    parts.append(f"{_elo(row.gate)} against generation {row.gate['best']}: {outcome}")
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
                _cell(row, "loss", ".4f"),
                _cell(row, "accuracy", ".2%"),
                _cell(row, "d1_rmse", ".4f"),
                f"{gate['games']:,}" if gate else "",
                f"{_elo(gate)} over {gate['best']}" if gate else "",
                "" if not gate else "yes" if row.accepted else "no",
                *(_elo(row.against[name]) if name in row.against else "" for name in opponents),
            ]
        )
    shown = [place for place, column in enumerate(zip(*lines, strict=True)) if any(column[1:])]
    return [[line[place] for place in shown] for line in lines]


def _cell(row: GenerationRow, name: str, form: str) -> str:
    value = row.figure(name)
    return "" if value is None else format(value, form)


def _elo(standing: Figures) -> str:
    return strength.in_words(standing["elo"], standing["elo_low"], standing["elo_high"])
