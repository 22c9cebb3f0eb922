"""`liteshogi match`: players play each other, counted as Elo with its error; more than two as a league."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import tyro

from experiments.arena.engine_match import EngineMatchReport, UsiMatch, play_usi_match
from experiments.arena.tournament import UsiGames
from experiments.elo.sprt import Sprt
from experiments.elo.strength import elo_text
from experiments.language.catalogue import shown
from experiments.language.choose import Language, words_for
from experiments.language.words import Words
from experiments.league.in_process import meetings_of
from experiments.league.league import PICTURE, LeagueReport, play_league
from experiments.league.participant import Participant, parse_participant, refuse_equal_labels, unique_names
from experiments.league.ratings_table import meetings_text, table_text
from experiments.matches.in_process_games import InProcessGames
from experiments.matches.in_process_match import Match, MatchReport, play_match
from experiments.matches.named_player import plays_in_process
from experiments.matches.pair_kif import write_pairs
from experiments.network_kinds.player_command import as_player
from lite.datasets.description import short_names
from liteshogi.commands.arguments import Json, Output, folder_name, part
from liteshogi.json_output import json_text
from search.system.bounds import check_numbers
from search.system.cores import usable_cores
from search.system.options import OptionError

_OF_TWO = ("second_nodes", "second_depth", "first_option", "second_option", "sprt", "alpha", "beta")
"""Options that have no effect in a league."""
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
    "ray",
    "neighbours",
)
"""Options that have no effect through ShogiArena."""
_BELONGS_TO = {"alpha": "sprt", "beta": "sprt"}
"""Options that have no effect without another one."""
_CLOCKS = ("byoyomi", "time", "increment")
NAMED_AFTER_PLAYERS = Path("runs/match-PLAYERS")
"""Stands for the folder that `folder_of` names."""
_MOST_NAMED, _LONGEST_NAME = 4, 40


@dataclass(frozen=True)
class Command:
    """Play players against each other and report points, Elo and its error. Resumes an interrupted run.

    Two players play a match. More play a league, every two of them or the first against all others, and get a rating
    each. A player is `[NAME=]PLAYER [OPTION=VALUE ...]` in quotes. PLAYER is a network's file or name (`default`, an
    nn.bin, ONNX), which this engine plays; the folder of another version of this engine's sources; or the command of a
    USI engine, perhaps with arguments.

    With --nodes or --depth networks play in this process, on all cores, or on a Ray cluster. By the clock (--byoyomi,
    --time, --increment), and where one player is another engine or version, all play through ShogiArena as USI engines,
    with `go nodes N` if --nodes is given. An engine that crashes, makes an illegal move or exceeds its time loses
    that game."""

    first: tyro.conf.Positional[str]
    """The first player."""
    second: tyro.conf.Positional[str]
    """The second player."""
    others: tyro.conf.Positional[tuple[str, ...]] = ()
    """More players, for a league."""
    gauntlet: bool = False
    """In a league, the first player plays each other one, and the others do not meet."""
    neighbours: int = 0
    """In a league in process, largest distance in the list between two players that meet: games of very unequal players
    hardly help to rate them. 0 means that all players meet."""
    games: int | None = None
    """Games to play, in a league per pairing; an even number plays every opening with both colours. By default 1,000,
    in a league 100, with --sprt as many as the test takes (100,000 at most), and 20 through ShogiArena."""
    nodes: int = 0
    """Nodes per move; for policy-value networks, which PUCT plays, visits of the root; 0 means no limit. A search
    always finishes its first iteration, so it may exceed a limit below 500 by up to about 2,000 nodes."""
    depth: int = 0
    """Depth per move; 0 means no limit."""
    second_nodes: int | None = None
    """Nodes per move of the second player, if they differ from the first player's; 0 means no limit. In process."""
    second_depth: int | None = None
    """Depth per move of the second player, if it differs from the first player's; 0 means no limit. In process."""
    byoyomi: int | None = None
    """Milliseconds per move. Default: 100 if nothing else limits a move."""
    time: int = 0
    """Milliseconds that each side has for all its moves."""
    increment: int = 0
    """Milliseconds that a side gains with each move and may save (Fischer's clock), instead of --byoyomi."""
    openings: Path | None = None
    """File of openings, one per line as an SFEN or `startpos moves ...`. Without it games begin from the start
    position, in process with 6 to 12 random moves; ShogiArena requires it for games by nodes or depth."""
    random_plies: tuple[int, int] | None = None
    """Random moves played after an opening: least and most; in process."""
    balance: int = 100
    """Largest evaluation for either side after random moves by a search of the first network, centipawns; in process.
    If none of 1,000 openings is that even, the most even one is played."""
    first_option: tuple[str, ...] = ()
    """NAME=VALUE options of the first player; in process USI_Hash, EvalFile, FV_SCALE, EvalArchitecture,
    Draw_Value_Black and _White, Level, the search's parameters, and steps to leave out, as in skip_null_move=true."""
    second_option: tuple[str, ...] = ()
    """NAME=VALUE options of the second player."""
    sprt: tuple[float, float] | None = None
    """Two Elo differences: play until the sequential probability ratio test accepts one of them; in process."""
    alpha: float = 0.05
    """Probability that the test accepts the higher difference if the lower is true."""
    beta: float = 0.05
    """Probability that the test accepts the lower difference if the higher is true."""
    parallel: int | None = None
    """Games at a time; by default the number of cores, and through ShogiArena 1, as the two engines of a game never
    think at once."""
    ray: str | None = None
    """Address of a Ray cluster whose CPUs play instead, or `auto`; in process. Its machines need LiteShogi
    installed."""
    max_moves: int = 320
    """Move number at which a game is drawn, opening included."""
    win_score: int = 0
    """Score in centipawns at which a game is won when both players have agreed for 8 consecutive plies; 0 means that
    games are played to their end. In process."""
    played_out: float = 0.05
    """Share of the games that --win-score would end that are played to their end, to measure how often the score is
    wrong."""
    seed: int = 1
    """Seed of the order of the openings, of the random moves, and of the moves that levels draw."""
    kif: bool = False
    """Write games in process as KIF too, into kif/ of the run; games through ShogiArena are always written."""
    output: Output = NAMED_AFTER_PLAYERS
    """Folder of the run, with the games as hcpe3 or, through ShogiArena, as KIF in kif/, and the picture of a
    league. By default it is named after the players."""
    language: Language = "auto"
    """Language of texts and errors: ja, en, or auto. auto is Japanese if the system's locale is Japanese."""
    json: Json = False

    @property
    def players(self) -> tuple[str, ...]:
        """Return all players as they were given."""
        return self.first, self.second, *self.others

    @property
    def words(self) -> Words:
        """Return the texts of the reader's language."""
        return words_for(self.language)

    def run(self) -> None:
        command = self
        if self.output == NAMED_AFTER_PLAYERS:
            command = replace(self, output=folder_of([parse_participant(text) for text in self.players]))
        report, text = command.play()
        print(as_json(report) if self.json else shown(text))

    def play(self) -> tuple[MatchReport | EngineMatchReport | LeagueReport, str]:
        """Play all games; returns (report, text). Raises OptionError for options that do not fit."""
        players = [parse_participant(text) for text in self.players]
        in_process = bool(self.nodes or self.depth) and all(plays_in_process(one.command) for one in players)
        if (self.nodes or self.depth) and (clock := next((name for name in _CLOCKS if getattr(self, name)), None)):
            words = f"`{clock}`: a match with `nodes` or `depth` has no clock; leave out one of them"
            raise OptionError(words, clock, "nodes", "depth")
        self.refuse_unfit(len(players), in_process)
        refuse_equal_labels(players)
        if len(players) > 2:
            rules = self.in_process_games() if in_process else self.usi_games()
            league = play_league(rules, players, self.gauntlet, self.neighbours)
            names, pairings = unique_names(players), meetings_of(len(players), self.gauntlet, self.neighbours)
            if in_process and self.kif:
                write_pairs(self.output, lambda pair: _named(names, pairings[pair % len(pairings)]))
            return league, league_as_text(league)
        if not in_process:
            timed = play_usi_match(self.by_the_clock(*players))
            return timed, as_text(timed)
        report = play_match(self.match_in_process(*players))
        if self.kif:
            write_pairs(self.output, lambda _: (report.first, report.second))
        return report, in_process_as_text(report)

    def refuse_unfit(self, players: int, in_process: bool) -> None:
        """Raise OptionError for an option that has no effect here."""
        for field in fields(self):
            name = field.name
            if getattr(self, name) == field.default:
                continue
            if players > 2 and name in _OF_TWO:
                raise OptionError(
                    f"`{name}`: is for two players; write options after a player: 'default USI_Hash=64'", name
                )
            if not in_process and name in _IN_PROCESS:
                if self.nodes or self.depth:
                    raise OptionError(f"`{name}`: is for matches in process; play networks alone", name)
                words = f"`{name}`: is for matches in process; give `nodes` or `depth` too"
                raise OptionError(words, name, "nodes", "depth")
            if (other := _BELONGS_TO.get(name)) and not getattr(self, other):
                raise OptionError(f"`{name}`: requires `{other}`", name, other)
        for name in ("gauntlet", "neighbours"):
            if players == 2 and getattr(self, name):
                raise OptionError(f"`{name}`: is for more than two players", name)
        check_numbers(self, "neighbours", least=0)
        if self.gauntlet and self.neighbours:
            raise OptionError("`neighbours`: has no effect on a `gauntlet`; leave it out", "neighbours", "gauntlet")

    def in_process_games(self) -> InProcessGames:
        """Return the options of a league in process."""
        return part(InProcessGames, self, **self._games(100), parallel=self._parallel(usable_cores()))

    def match_in_process(self, first: Participant, second: Participant) -> Match:
        """Return the options of a match in process."""
        return part(
            Match,
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
        """Return the options of a league through ShogiArena."""
        return part(UsiGames, self, **self._games(20), byoyomi=self._byoyomi(), parallel=self._parallel(1))

    def by_the_clock(self, first: Participant, second: Participant) -> UsiMatch:
        """Return the options of a match through ShogiArena."""
        command, option = as_player(first.command, first.options + self.first_option)
        second_command, second_option = as_player(second.command, second.options + self.second_option)
        return part(
            UsiMatch,
            self,
            first=command,
            second=second_command,
            first_option=option,
            second_option=second_option,
            labels=(first.label, second.label),
            **self._games(20),
            byoyomi=self._byoyomi(),
            parallel=self._parallel(1),
        )

    def _games(self, default: int) -> dict[str, int]:
        return {"games": default if self.games is None else self.games}

    def _byoyomi(self) -> int:
        if self.byoyomi is None:
            return 0 if self.time or self.increment else 100
        return self.byoyomi

    def _parallel(self, default: int | None) -> int:
        return (default or 1) if self.parallel is None else self.parallel


def folder_of(players: Sequence[Participant]) -> Path:
    """Return the default folder of a match, which is named after its players, so that other players have another.

    Networks with one file name are called by no more of their paths than differs."""
    names = [one.name for one in players]
    alike = {
        one.command: Path(one.command)
        for one in players
        if not one.label and names.count(one.name) > 1 and os.path.exists(one.command)
    }
    if len(alike) > 1:
        places = dict(zip(alike, short_names(alike.values()), strict=True))
        names = [
            " ".join([places[one.command], *one.options]) if one.command in places and not one.label else one.name
            for one in players
        ]
    names = [_shortened(folder_name(name).strip("_")) for name in names]
    more = [f"and-{len(names) - _MOST_NAMED}-more"] if len(names) > _MOST_NAMED else []
    return NAMED_AFTER_PLAYERS.with_name("-".join(["match", *names[:_MOST_NAMED], *more]))


def _shortened(name: str) -> str:
    """Return a name of at most `_LONGEST_NAME` characters; a longer one ends in a digest of what is left out."""
    if len(name) <= _LONGEST_NAME:
        return name
    digest = hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()[:6]
    return f"{name[: _LONGEST_NAME - 7]}~{digest}"


def _named(names: list[str], pairing: tuple[int, int]) -> tuple[str, str]:
    return names[pairing[0]], names[pairing[1]]


def as_json(report: MatchReport | EngineMatchReport | LeagueReport) -> str:
    """Return a report as JSON."""
    return json_text(report, readable=True)


def league_as_text(report: LeagueReport) -> str:
    """Return the report of a league for a reader."""
    tables = (table_text(report.players), meetings_text(report.meetings))
    return "\n".join([tables[0], "", tables[1], *report.remarks, f"picture: {report.folder / PICTURE}"])


def as_text(report: EngineMatchReport | MatchReport) -> str:
    """Return the report of a match for a reader."""
    elo = elo_text(report.elo, report.elo_low, report.elo_high)
    lines = [
        f"{report.first}: {report.points:g} of {report.games} points "
        f"({100 * report.points / report.games:.1f} %) against {report.second}",
        f"{report.wins} wins, {report.draws} draws, {report.losses} losses; {elo}",
        "ends of games: " + ", ".join(f"{ending} {count}" for ending, count in report.endings.items()),
    ]
    return "\n".join([*lines, *report.remarks])


def in_process_as_text(report: MatchReport) -> str:
    """Return the report of a match in process for a reader."""
    black = elo_text(report.black_elo, report.black_elo_low, report.black_elo_high)
    tallies = {"black": report.as_black, "white": report.as_white}
    sides = (f"as {colour} {one.wins}-{one.draws}-{one.losses}" for colour, one in tallies.items())
    lines = [
        as_text(report),
        f"pairs with 0, 0.5, 1, 1.5, 2 points: {', '.join(map(str, report.pentanomial))}",
        f"wins-draws-losses {', '.join(sides)}; black had {100 * report.black_share:.1f} % of the points, {black}",
        f"{report.positions:,} moves of {report.nodes_per_move:,.0f} nodes; "
        f"{report.nodes_per_second:,} nodes/s of CPU time, "
        f"{report.positions_per_hour:,} positions/hour on {report.parallel} free cores",
    ]
    if test := report.sprt:
        lines.append(
            f"SPRT of {test.elo0:g} against {test.elo1:g} Elo: LLR {test.llr:.2f} "
            f"({test.lower:.2f} to {test.upper:.2f}), {_VERDICTS[test.verdict]}"
        )
    return "\n".join(lines)


_VERDICTS = {
    "elo0": "rejected: the lower difference is accepted",
    "elo1": "accepted: the higher difference is accepted",
    "": "not decided",
}
