"""`liteshogi stat`: describe the content of data files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import tyro

from lite.amounts import amount
from lite.datasets.stat import SCORE_BOUNDS, DataSummary, describe
from lite.progress_line import clock
from lite.run_folder import Provenance
from liteshogi.commands.arguments import Json
from liteshogi.json_output import json_text

_LONGEST_LINE = 240
"""Longest line about a description in characters; there may be hundreds of options."""


@dataclass(frozen=True)
class Command:
    """Describe games (csa, kif, ki2, lines of USI moves) and records (hcpe, hcpe3, psv, pack), all files together."""

    inputs: tyro.conf.Positional[tuple[Path, ...]]
    """Game and record files, or directories with such files at any depth."""
    check_moves: bool = True
    """Refuse hcpe and psv records with an illegal move. Otherwise only the move is dropped."""
    json: Json = False

    def run(self) -> None:
        summary = describe(self.inputs, self.check_moves)
        print(json_text(summary, readable=True) if self.json else as_text(summary))


def as_text(summary: DataSummary) -> str:
    """Return the summary as lines of text."""
    total = max(1, sum(summary.results.values()))
    about = "about " if summary.duplicates_estimated else ""
    score = summary.abs_score
    lines = [
        f"files      {len(summary.files):,} ({', '.join(summary.formats)}), {summary.bytes:,} bytes",
        f"refused    {sum(summary.refused.values()):,} of {amount(summary.records_read, 'record')}"
        + "".join(f", {count:,} {reason}" for reason, count in summary.refused.items()),
        *(f"           {line}" for line in summary.first_refused),
        *(line for folder, found in summary.descriptions.items() for line in _description(folder, found)),
    ]
    if summary.plies is not None:
        lines += [
            f"games      {summary.games:,}, {about}{summary.duplicate_games:,} of them duplicates",
            f"plies      {_spread(summary.plies)}",
        ]
    lines += [
        f"positions  {summary.positions:,}, {about}{summary.duplicate_positions:,} of them duplicates, "
        f"{summary.in_check:.1%} in check, {summary.with_move:.1%} with a move",
        *(
            f"{'' if number else 'results':<11}{count:>10,} {count / total:6.1%} {name}"
            for number, (name, count) in enumerate(summary.results.items())
        ),
    ]
    if "p50" in score:
        lines += [
            f"|score|    {_spread(score)}; {score['zero']:.1%} are 0, {score['mate']:.1%} mates",
            "           " + ", ".join(f"over {bound} {score[f'over_{bound}']:.1%}" for bound in SCORE_BOUNDS),
        ]
    if (agrees := summary.score_sign_agrees_with_result) is not None:
        lines.append(f"           its sign agrees with the result in {agrees:.1%} of the decided positions")
    if summary.without_score:
        share = summary.without_score / summary.positions
        lines.append(f"no score   {amount(summary.without_score, 'position')} ({share:.1%})")
    lines.append(f"pieces     {_spread(summary.pieces_on_board)} on the board")
    return "\n".join(lines)


def _description(folder: str, found: Provenance) -> list[str]:
    """Return the provenance of data that this program has made, as lines."""
    maker = found.made_by[-1]
    commit = maker.versions.get("commit")
    program = f"{maker.versions.get('liteshogi')}{f' ({commit[:12]})' if commit else ''}"
    files = [(one.name, one.sha256) for one in found.nets] + [(one.name, one.sha256) for one in found.sources]
    made_from = [f"{name} (sha256 {digest[:12]})" for name, digest in files]
    totals = ", ".join(f"{value:,.15g} {name}" for name, value in found.totals.items())
    positions = found.totals.get("positions")
    rate = f", {positions / found.seconds:,.0f} positions/s" if positions and found.seconds > 0 else ""
    options = ", ".join(f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in found.options.items())
    lines = [
        f"{folder}: liteshogi {found.verb} {program} on {maker.machine.cpu}",
        *([f"from {', '.join(made_from)}"] if made_from else []),
        *([f"with {options}"] if options else []),
        f"{totals}: {found.started} to {found.updated}, {clock(found.seconds)} of work{rate}",
    ]
    return [f"{'' if number else 'made in':<11}{_cut(line)}" for number, line in enumerate(lines)]


def _cut(text: str) -> str:
    """Return the text in one line, cut between words with `...` at the end if it is too long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 3].rsplit(" ", 1)[0] + " ..."


def _spread(percentiles: Mapping[str, float]) -> str:
    """Return percentiles as text."""
    if "p50" not in percentiles:
        return "none"
    return (
        f"median {percentiles['p50']:,}, middle half {percentiles['p25']:,} to {percentiles['p75']:,}, "
        f"5-95 % {percentiles['p5']:,} to {percentiles['p95']:,}"
    )
