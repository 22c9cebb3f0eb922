"""`liteshogi stat`: what data files hold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from lite.amounts import amount
from lite.datasets.stat import SCORE_BOUNDS, describe
from lite.training.log import clock
from liteshogi.commands.arguments import Json

_LONGEST_LINE = 240
"""Characters of what a description tells: its options may be hundreds."""


@dataclass(frozen=True)
class Command:
    """Describe games (csa, kif, ki2, lines of USI moves) and records (hcpe, hcpe3, psv), all files together."""

    inputs: tyro.conf.Positional[tuple[Path, ...]]
    """Files, or directories with such files at any depth."""
    check_moves: bool = True
    """Refuse hcpe and psv records with an illegal move; without it only the move is dropped."""
    json: Json = False

    def run(self) -> None:
        report = describe(self.inputs, self.check_moves)
        print(json.dumps(report, ensure_ascii=False) if self.json else as_text(report))


def as_text(report: dict[str, Any]) -> str:
    """The report for people."""
    total = max(1, sum(report["results"].values()))
    about = "about " if report["duplicates_estimated"] else ""
    score = report["abs_score"]
    lines = [
        f"files      {len(report['files']):,} ({', '.join(report['formats'])}), {report['bytes']:,} bytes",
        f"refused    {sum(report['refused'].values()):,} of {amount(report['records_read'], 'record')}"
        + "".join(f", {count:,} {reason}" for reason, count in report["refused"].items()),
        *(f"           {line}" for line in report["first_refused"]),
        *(line for folder, found in report["descriptions"].items() for line in _description(folder, found)),
    ]
    if report["games"]:
        lines += [
            f"games      {report['games']:,}, {about}{report['duplicate_games']:,} of them duplicates",
            f"plies      {_spread(report['plies'])}",
        ]
    lines += [
        f"positions  {report['positions']:,}, {about}{report['duplicate_positions']:,} of them duplicates, "
        f"{report['in_check']:.1%} in check, {report['with_move']:.1%} with a move",
        *(
            f"{'' if number else 'results':<11}{count:>10,} {count / total:6.1%} {name}"
            for number, (name, count) in enumerate(report["results"].items())
        ),
    ]
    if "p50" in score:
        lines += [
            f"|score|    {_spread(score)}; {score['zero']:.1%} are 0, {score['mate']:.1%} mates",
            "           " + ", ".join(f"over {bound} {score[f'over_{bound}']:.1%}" for bound in SCORE_BOUNDS),
        ]
    if (agrees := report["score_sign_agrees_with_result"]) is not None:
        lines.append(f"           its sign agrees with the result in {agrees:.1%} of the decided positions")
    if report["without_score"]:
        share = report["without_score"] / report["positions"]
        lines.append(f"no score   {amount(report['without_score'], 'position')} ({share:.1%})")
    lines.append(f"pieces     {_spread(report['pieces_on_board'])} on the board")
    return "\n".join(lines)


def _description(folder: str, found: dict[str, Any]) -> list[str]:
    """Return the provenance of data that this program has made, as lines."""
    maker = found["made_by"][-1]
    versions, commit = maker["versions"], maker["versions"].get("commit")
    program = f"{versions.get('liteshogi')}{f' ({commit[:12]})' if commit else ''}"
    made_from = [f"{one['name']} (sha256 {one['sha256'][:12]})" for one in (*found["nets"], *found["sources"])]
    totals = ", ".join(f"{value:,.15g} {name}" for name, value in found["totals"].items())
    rate = f", {found['totals']['positions'] / found['seconds']:,.0f} positions/s" if _has_rate(found) else ""
    options = ", ".join(f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in found["options"].items())
    lines = [
        f"{folder}: liteshogi {found['verb']} {program} on {maker['machine']['cpu']}",
        *([f"from {', '.join(made_from)}"] if made_from else []),
        *([f"with {options}"] if options else []),
        f"{totals}: {found['started']} to {found['updated']}, {clock(found['seconds'])} of work{rate}",
    ]
    return [f"{'' if number else 'made in':<11}{_cut(line)}" for number, line in enumerate(lines)]


def _cut(text: str) -> str:
    """In one line, of whole words where it has some; what is left out leaves three points."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 3].rsplit(" ", 1)[0] + " ..."


def _has_rate(found: dict[str, Any]) -> bool:
    return bool(found["seconds"] > 0 and found["totals"].get("positions"))


def _spread(percentiles: dict[str, Any]) -> str:
    if "p50" not in percentiles:
        return "none"
    return (
        f"median {percentiles['p50']:,}, middle half {percentiles['p25']:,} to {percentiles['p75']:,}, "
        f"5-95 % {percentiles['p5']:,} to {percentiles['p95']:,}"
    )
