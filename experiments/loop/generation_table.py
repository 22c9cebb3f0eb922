"""What came of a loop's generations, as rows and in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.elo import strength
from experiments.loop.generation import AGAINST, GAMES, POSITIONS
from experiments.loop.stages import Ledger
from lite.amounts import amount


def describe_generation(ledger: Ledger, number: int) -> dict[str, Any]:
    """What the ledger tells of a generation that is done; of generation 0, which nobody trained, no more than the
    d1-RMSE."""
    stages = ledger.generation(number)
    row: dict[str, Any] = {"generation": number, **stages.get("yardstick", {})}
    if number:
        row |= {
            "accepted": stages["gate"]["accepted"],
            "games": stages[GAMES]["games"],
            "positions": stages[POSITIONS]["positions"],
            **stages["training"],
            "gate": stages["gate"],
            "against": {
                name.removeprefix(AGAINST): standing for name, standing in stages.items() if name.startswith(AGAINST)
            },
            "seconds": ledger.seconds(number),
        }
    return row


def in_words(row: dict[str, Any]) -> str:
    """A generation after the first in a line."""
    gate = row["gate"]
    parts = [f"{amount(row['games'], 'game')}, {amount(row['positions'], 'position')}"]
    if "loss" in row:
        parts.append(f"held-out loss {row['loss']:.4f}")
    if "d1_rmse" in row:
        parts.append(f"d1-RMSE {row['d1_rmse']:.4f}")
    parts.append(f"{_elo(gate)} against generation {gate['best']}: {'the new best' if row['accepted'] else 'rejected'}")
    parts += [f"{_elo(standing)} against {name}" for name, standing in row["against"].items()]
    return f"generation {row['generation']}: {', '.join(parts)}"


def as_table(rows: Sequence[dict[str, Any]]) -> str:
    """`as_cells` in columns."""
    lines = as_cells(rows)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.rjust, line, widths)) for line in lines)


def as_cells(rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    """All generations below a line of headings, a column for each figure that any of them has."""
    opponents = list(dict.fromkeys(name for row in rows for name in row.get("against", {})))
    head = ["generation", "games", "positions", "loss", "accuracy", "d1-RMSE", "gate games", "Elo of the gate", "best"]
    lines = [[*head, *(f"against {name}" for name in opponents)]]
    for row in rows:
        gate, against = row.get("gate"), row.get("against", {})
        lines.append(
            [
                str(row["generation"]),
                f"{row['games']:,}" if gate else "",
                f"{row['positions']:,}" if gate else "",
                _figure(row, "loss", ".4f"),
                _figure(row, "accuracy", ".2%"),
                _figure(row, "d1_rmse", ".4f"),
                f"{gate['games']:,}" if gate else "",
                f"{_elo(gate)} over {gate['best']}" if gate else "",
                "" if not gate else "yes" if row["accepted"] else "no",
                *(_elo(against[name]) if name in against else "" for name in opponents),
            ]
        )
    told = [place for place, column in enumerate(zip(*lines, strict=True)) if any(column[1:])]
    return [[line[place] for place in told] for line in lines]


def _figure(row: dict[str, Any], name: str, form: str) -> str:
    value = row.get(name)
    return "" if value is None else format(value, form)


def _elo(standing: dict[str, Any]) -> str:
    return strength.in_words(standing["elo"], standing["elo_low"], standing["elo_high"])
