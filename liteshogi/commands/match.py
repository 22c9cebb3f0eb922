"""`liteshogi match`: players play each other, counted as Elo with its error; more than two as a league."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import tyro

from experiments.arena.engine_match import Match, play_match
from experiments.arena.tournament import UsiGames
from experiments.elo.sprt import Sprt
from experiments.elo.strength import in_words
from experiments.league.in_process import meetings_of
from experiments.league.league import PICTURE, play_league
from experiments.league.participant import Participant, parse_participant, unique_names
from experiments.league.ratings_table import meetings_text, table_text
from experiments.matches.counted_games import CountedGames
from experiments.matches.counted_match import CountedMatch, play_counted_match
from experiments.matches.named_player import plays_in_process
from experiments.matches.pair_kif import write_pairs
from experiments.network_kinds import as_player
from liteshogi.commands.arguments import Json, Output, part
from search.system.cores import usable_cores

_OF_TWO = ("second_nodes", "second_depth", "first_option", "second_option", "sprt", "alpha", "beta")
"""Options that have no meaning in a league."""
_IN_PROCESS = (
    "second_nodes",
    "second_depth",
    "random_plies",
    "balance",
    "sprt",
    "alpha",
    "beta",
    "win_score",
    "played_out",
)
"""Options that have no meaning through ShogiArena."""
_BELONGS_TO = {"alpha": "sprt", "beta": "sprt"}
"""Options that have no meaning without another one."""


@dataclass(frozen=True)
class Command:
    """Play players against each other and report points, Elo and its error; goes on where it was cut.

    Two play a match; more play a league, every two of them or the first against all others, and get a rating each.
    A player is `[NAME=]PLAYER [OPTION=VALUE ...]` in quotes. PLAYER is a network's file or name (`default`, an nn.bin,
    ONNX), which this engine plays; the folder of another version of this engine's sources; or the command of a USI
    engine, perhaps with arguments.

    With --nodes or --depth networks play in this process, on all cores. By the clock (--byoyomi, --time, --increment),
    and where one is another engine or version, all play through ShogiArena as USI engines, by `go nodes N` where that
    is asked for; an engine that breaks off, makes an illegal move or says nothing in time has lost that game."""

    first: tyro.conf.Positional[str]
    """The first player."""
    second: tyro.conf.Positional[str]
    """The second player."""
    others: tyro.conf.Positional[tuple[str, ...]] = ()
    """More players, for a league."""
    gauntlet: bool = False
    """The first player against each other one, in place of every two."""
    games: int | None = None
    """Games to play, in a league of every two that meet; an even number plays every opening with both colours. Without
    it 1,000, in a league 100, with --sprt as many as the test takes (100,000 at most), and 20 through ShogiArena."""
    nodes: int = 0
    """Nodes of a move; of policy-value networks, which PUCT plays, visits of the root. A search finishes its first
    iteration however few they are: of less than 500 nodes some take a few hundred more."""
    depth: int = 0
    """Depth of a move."""
    second_nodes: int | None = None
    """Nodes of the second player's moves, where they are others; in process."""
    second_depth: int | None = None
    """Likewise its depth."""
    byoyomi: int | None = None
    """Milliseconds a move; 100 where nothing else limits it."""
    time: int = 0
    """Milliseconds of a side for all its moves together."""
    increment: int = 0
    """Milliseconds that a side gets with each move and may save (Fischer's clock), in place of --byoyomi."""
    openings: Path | None = None
    """File of positions, an SFEN or `startpos moves ...` a line. Without it a game starts at the start, in process with
    6 to 12 random moves played on; ShogiArena needs it for games by nodes or depth."""
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
    """Games at a time: as many as there are cores, and through ShogiArena 1: two engines of one game never think at
    once."""
    max_plies: int = 320
    """A game of so many moves is a draw."""
    win_score: int = 0
    """A game is won when the scores of both players say so for 8 plies on end, centipawns; 0: it is played to its end.
    In process."""
    played_out: float = 0.05
    """Share of the games that --win-score would end that are played to their end, to see how often it errs."""
    seed: int = 1
    """Order of the openings, and the random moves."""
    kif: bool = False
    """Write the games of this process as KIF too, into kif/ of the run; those through ShogiArena always are."""
    output: Output = Path("runs/match")
    """Directory of the run: the games, as hcpe3 or, through ShogiArena, as KIF in kif/, and the picture of a league;
    run the same command again to go on with it."""
    json: Json = False

    def run(self) -> None:
        report, text = self.play()
        print(json.dumps(report, ensure_ascii=False) if self.json else text(report))

    def play(self) -> tuple[dict[str, Any], Callable[[dict[str, Any]], str]]:
        """The report of all games, and what makes text of it. ValueError in words for options that do not fit."""
        players = [parse_participant(text) for text in (self.first, self.second, *self.others)]
        counted = bool(self.nodes or self.depth) and all(plays_in_process(one.command) for one in players)
        if (self.nodes or self.depth) and (flag := self._clock_flag()):
            raise ValueError(f"--{flag}: a match with --nodes or --depth has no clock; leave one of them out")
        self.refuse_unfit(len(players), counted)
        if len(players) > 2:
            report = play_league(self.counted_games() if counted else self.usi_games(), players, self.gauntlet)
            names, pairings = unique_names(players), meetings_of(len(players), self.gauntlet)
            if counted and self.kif:
                write_pairs(self.output, lambda pair: _named(names, pairings[pair % len(pairings)]))
            return report, league_as_text
        if not counted:
            return play_match(self.by_the_clock(*players)), as_text
        report = play_counted_match(self.counted(*players))
        if self.kif:
            write_pairs(self.output, lambda _: (report["first"], report["second"]))
        return report, counted_as_text

    def refuse_unfit(self, players: int, counted: bool) -> None:
        """ValueError for an option that has no meaning here."""
        for field in fields(self):
            if getattr(self, field.name) == field.default:
                continue
            flag = f"--{field.name.replace('_', '-')}"
            if players > 2 and field.name in _OF_TWO:
                raise ValueError(f"{flag}: is for two players; options stand behind a player: 'default USI_Hash=64'")
            if not counted and field.name in _IN_PROCESS:
                remedy = "play networks alone" if self.nodes or self.depth else "give --nodes or --depth too"
                raise ValueError(f"{flag}: is for matches in process; {remedy}")
            if (other := _BELONGS_TO.get(field.name)) and not getattr(self, other):
                raise ValueError(f"{flag}: is for --{other.replace('_', '-')}; give that too")
        if players == 2 and self.gauntlet:
            raise ValueError("--gauntlet: is for more than two players")

    def counted_games(self) -> CountedGames:
        """How a league in this process is played."""
        return part(CountedGames, self, **self._games(100), parallel=self._parallel(usable_cores()))

    def counted(self, first: Participant, second: Participant) -> CountedMatch:
        """What two players in this process play."""
        return part(
            CountedMatch,
            self,
            first=first.command,
            second=second.command,
            first_option=first.options + self.first_option,
            second_option=second.options + self.second_option,
            labels=(first.label, second.label),
            **self._games(1000 if self.sprt is None else 100_000),
            sprt=None if self.sprt is None else Sprt(*self.sprt, self.alpha, self.beta),
            parallel=self._parallel(usable_cores()),
        )

    def usi_games(self) -> UsiGames:
        """How a league through ShogiArena is played."""
        return part(UsiGames, self, **self._games(20), byoyomi=self._byoyomi(), parallel=self._parallel(1))

    def by_the_clock(self, first: Participant, second: Participant) -> Match:
        """What two players play through ShogiArena."""
        (command, option), (second_command, second_option) = as_player(first.command), as_player(second.command)
        return part(
            Match,
            self,
            first=command,
            second=second_command,
            first_option=option + first.options + self.first_option,
            second_option=second_option + second.options + self.second_option,
            labels=(first.label, second.label),
            **self._games(20),
            byoyomi=self._byoyomi(),
            parallel=self._parallel(1),
        )

    def _games(self, default: int) -> dict[str, int]:
        return {"games": default if self.games is None else self.games}

    def _clock_flag(self) -> str | None:
        """An option that asks for a clock, if one does."""
        return next((name for name in ("byoyomi", "time", "increment") if getattr(self, name)), None)

    def _byoyomi(self) -> int:
        if self.byoyomi is None:
            return 0 if self.time or self.increment else 100
        return self.byoyomi

    def _parallel(self, default: int | None) -> int:
        return (default or 1) if self.parallel is None else self.parallel


def _named(names: list[str], pairing: tuple[int, int]) -> tuple[str, str]:
    return names[pairing[0]], names[pairing[1]]


def league_as_text(report: dict[str, Any]) -> str:
    """The report of a league for a reader."""
    tables = (table_text(report["players"]), meetings_text(report["meetings"]))
    return "\n".join([tables[0], "", tables[1], *report["remarks"], f"picture: {Path(report['folder']) / PICTURE}"])


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
        f"wins-draws-losses {', '.join(sides)}; black had {100 * report['black_share']:.1f} % of the points, {black}",
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
