"""The end of a call that trains, as JSON."""

from __future__ import annotations

from lite.training.run import Outcome
from liteshogi.json_output import json_text


def outcome_json(outcome: Outcome) -> str:
    """Return the steps, and the figures of the network if it was tested, as one JSON object."""
    tested = outcome.tested
    figures = [] if tested is None else [{"loss": tested.loss}, tested.parts, tested.report]
    return json_text(outcome, *figures, without=("tested",))
