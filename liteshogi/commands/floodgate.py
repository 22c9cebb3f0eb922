"""`liteshogi floodgate`: play on floodgate or another server of the CSA protocol, and keep the games."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import tyro

from experiments.csa.password import find_password
from experiments.csa.play import play_on_server
from experiments.csa.server_play import ServerPlay
from experiments.csa.server_results import ServerReport
from experiments.network_kinds.player_command import as_player
from lite.amounts import amount
from liteshogi.commands.arguments import Json, Output, part
from liteshogi.json_output import json_text


@dataclass(frozen=True, kw_only=True)
class Command(ServerPlay):
    """Play on floodgate or another CSA server, and keep each game as KIF. Resumes an interrupted run.

    Logs in, waits for games, plays them with an engine, and logs in again when the connection ends. The first Ctrl-C
    ends the run after the game under way, the second one resigns at once. The password is the first line of
    --password-file, else the environment variable CSA_PASSWORD, else typed on the terminal. It is sent unencrypted and
    written to no file."""

    name: tyro.conf.Positional[str]
    """Name of the account; the first login on floodgate makes it."""
    password_file: Path | None = None
    """File whose first line is the password."""
    output: Output = Path("runs/floodgate")
    """Folder of the run: kif/ has a KIF of each game, dialogue/ the lines from and to the server."""
    json: Json = False

    def run(self) -> None:
        engine, options = as_player(self.engine, self.option)
        played = replace(part(ServerPlay, self), engine=engine, option=options)
        played.check()
        report = play_on_server(played, find_password(self.password_file))
        print(json_text(report) if self.json else as_text(report))


def as_text(report: ServerReport) -> str:
    """Return the report for a reader."""
    results = f"{report.wins} - {report.draws} - {report.losses}"
    lines = [f"{report.name} on {report.server}: {amount(report.games, 'game')}, wins - draws - losses {results}"]
    if report.unfinished:
        lines[0] += f", {report.unfinished} unfinished"
    if report.endings:
        lines.append("ends of games: " + ", ".join(f"{word} {count}" for word, count in report.endings.items()))
    lines.append(f"{report.losses_on_time} lost on time; {amount(report.lost_connections, 'lost connection')}")
    return "\n".join([*lines, f"records: {report.folder / 'kif'}"])
