"""The state of a folder of records as JSON, for the commands that make records."""

from __future__ import annotations

from experiments.jobs.produce import Production
from liteshogi.json_output import json_text


def production_json(made: Production) -> str:
    """Return the folder, the totals of its jobs, why the work ended, and the refused records as one JSON object."""
    refused = [] if made.refusals is None else [made.refusals.figures()]
    return json_text(made, made.totals, *refused, without=("totals", "refusals"))
