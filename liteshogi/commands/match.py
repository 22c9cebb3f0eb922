"""`liteshogi match`: two players play each other, counted as Elo with its error."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import tyro

from experiments.arena.match import Match, play_match
from experiments.arena.strength import in_words
from experiments.games.match import CountedMatch, play_counted_match
from experiments.games.sprt import Sprt
from experiments.nets import as_player
from liteshogi.commands.arguments import Json, Output, part

_IN_PROCESS = (
    *("second_nodes", "second_depth", "random_plies", "balance", "sprt", "alpha", "beta", "win_score", "played_out"),
)
"""Options that have no meaning by the clock."""


@dataclass(frozen=True)
class Command:
    """Play two players against each other and report points, Elo and its error; goes on where it was cut.

    With --nodes or --depth networks play in this process, on all cores; by the clock (--byoyomi) any USI engines play
    through ShogiArena."""

    first: tyro.conf.Positional[str]
    """The first player: a network's file or `default`, which this engine plays; or, by the clock, the command of a USI
    engine, a path or `liteshogi`, perhaps with arguments."""
    second: tyro.conf.Positional[str]
    """The second player."""
    games: int | None = None
    """Games to play; an even number plays every opening with both colours. Without it 1,000, with --sprt as many as the
    test takes (100,000 at most), and 20 by the clock."""
    nodes: int = 0
    """Nodes of a move; of policy-value networks, which PUCT plays, visits of the root."""
    depth: int = 0
    """Depth of a move."""
    second_nodes: int | None = None
    """Nodes of the second player's moves, where they are others; in process."""
    second_depth: int | None = None
    """Likewise its depth."""
    byoyomi: int | None = None
    """Milliseconds a move; 100 where nothing else limits it."""
    openings: Path | None = None
    """File of positions, an SFEN or `startpos moves ...` a line. Without it a game starts at the start, in process with
    6 to 12 random moves played on."""
    random_plies: tuple[int, int] | None = None
    """Random moves that are played on from an opening: at least, at most; in process."""
    balance: int = 100
    """Of openings with random moves only those are played that a search by the first network finds no further from
    even, centipawns; in process."""
    first_option: tuple[str, ...] = ()
    """NAME=VALUE options of the first player; in process USI_Hash, EvalFile, FV_SCALE, Draw_Value_Black and _White,
    the search's parameters, and its steps to be left out, as skip_null_move=true."""
    second_option: tuple[str, ...] = ()
    """NAME=VALUE options of the second player."""
    sprt: tuple[float, float] | None = None
    """Two Elo differences: play until the games tell which of them is nearer the truth, by the sequential probability
    ratio test; in process."""
    alpha: float = 0.05
    """Chance that the test takes a first player of the lower Elo for one of the higher."""
    beta: float = 0.05
    """Chance that it takes one of the higher for one of the lower."""
    parallel: int | None = None
    """Games at a time: as many as there are cores, and by the clock 1: two engines of one game never think at once."""
    max_plies: int = 320
    """A game of so many moves is a draw."""
    win_score: int = 0
    """A game is won when the scores of both players say so for 8 plies on end, centipawns; 0: it is played to its end.
    In process."""
    played_out: float = 0.05
    """Share of the games that --win-score would end that are played to their end, to see how often it errs."""
    seed: int = 1
    """Order of the openings, and the random moves."""
    output: Output = Path("runs/match")
    """Directory of the run: the games, as hcpe3 or, by the clock, as KIF in kif/; run the same command again to go on
    with it."""
    json: Json = False

    def run(self) -> None:
        if self.nodes or self.depth:
            report, text = play_counted_match(self.counted()), counted_as_text
        else:
            report, text = play_match(self.by_the_clock()), as_text
        print(json.dumps(report) if self.json else text(report))

    def counted(self) -> CountedMatch:
        """What is played in this process. ValueError in words for options that do not fit."""
        if self.byoyomi is not None:
            raise ValueError("--byoyomi: a match with --nodes or --depth has no clock; leave one of them out")
        games = 1000 if self.sprt is None else 100_000
        return part(
            CountedMatch,
            self,
            games=games if self.games is None else self.games,
            sprt=None if self.sprt is None else Sprt(*self.sprt, self.alpha, self.beta),
            parallel=(os.cpu_count() or 1) if self.parallel is None else self.parallel,
        )

    def by_the_clock(self) -> Match:
        """What is played through ShogiArena. ValueError in words for options that do not fit."""
        for field in fields(self):
            if field.name in _IN_PROCESS and getattr(self, field.name) != field.default:
                raise ValueError(
                    f"--{field.name.replace('_', '-')}: is for matches in process; give --nodes or --depth too"
                )
        (first, first_option), (second, second_option) = as_player(self.first), as_player(self.second)
        return part(
            Match,
            self,
            first=first,
            second=second,
            first_option=first_option + self.first_option,
            second_option=second_option + self.second_option,
            games=20 if self.games is None else self.games,
            byoyomi=100 if self.byoyomi is None else self.byoyomi,
            parallel=1 if self.parallel is None else self.parallel,
        )


def as_text(report: dict[str, Any]) -> str:
    """The report for a reader."""
    elo = in_words(report["elo"], report["elo_low"], report["elo_high"])
    lines = [
        f"{report['first']}: {report['points']:g} of {report['games']} points "
        f"({100 * report['points'] / report['games']:.1f} %) against {report['second']}",
        f"{report['wins']} wins, {report['draws']} draws, {report['losses']} losses; {elo}",
        "ends of games: " + ", ".join(f"{ending} {count}" for ending, count in report["endings"].items()),
    ]
    return "\n".join([*lines, *report["remarks"]])


def counted_as_text(report: dict[str, Any]) -> str:
    """The report of a match in process for a reader."""
    black = in_words(report["black_elo"], report["black_elo_low"], report["black_elo_high"])
    sides = (f"as {colour} {'-'.join(map(str, report[f'as_{colour}'].values()))}" for colour in ("black", "white"))
    lines = [
        as_text(report),
        f"pairs with 0, 0.5, 1, 1.5, 2 points: {', '.join(map(str, report['pentanomial']))}",
        f"wins-draws-losses {', '.join(sides)}; black had {100 * report['black_share']:.1f} % of the points ({black})",
        f"{report['positions']:,} moves of {report['nodes_a_move']:,.0f} nodes; "
        f"{report['nodes_per_second']:,} nodes/s of CPU time, "
        f"{report['positions_per_hour']:,} positions/hour on {report['parallel']} free cores",
    ]
    if test := report.get("sprt"):
        lines.append(
            f"SPRT of {test['elo0']:g} against {test['elo1']:g} Elo: LLR {test['llr']:.2f} "
            f"({test['lower']:.2f} to {test['upper']:.2f}), {_VERDICTS[test['verdict']]}"
        )
    return "\n".join(lines)


_VERDICTS = {
    "elo0": "rejected: the lower is taken for true",
    "elo1": "accepted: the higher is taken for true",
    "": "not decided",
}
