"""Play on a server of the CSA protocol: log in, play, log in again, and keep every game.

Every game has a connection of its own: shogi-server, which floodgate runs on, offers no second one over a connection,
and closes it only when the client logs out. A connection that is lost is made again after a pause; the server has then
ended the game that was under way.
"""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime

from experiments.csa.connection import Connection, log_out
from experiments.csa.diary import GameDiary
from experiments.csa.engine_player import EnginePlayer
from experiments.csa.events import ConnectionLost, LoginRefused, ServerError
from experiments.csa.game import ServerGame
from experiments.csa.game_summary import Summary
from experiments.csa.server_play import DELAY, MARGIN, ServerPlay
from experiments.csa.server_results import LostConnection, ServerGameLine, ServerReport, report_of
from experiments.csa.session import agree, log_in, wait_for_summary
from experiments.usi_client.engines import Engine, ask_engine
from experiments.usi_client.identity import playing_conditions
from lite.amounts import amount
from lite.datasets.plan import plan_run
from lite.datasets.provenance import sha256_of
from lite.notation.kif_writer import kif_text
from lite.run_folder import RunPlan, RunWriter
from search.system.files import make_directory, write_atomically
from search.system.interrupt import WAIT_SECONDS, interrupt_flag
from search.system.options import OptionError

VERB = "floodgate"
KIF, DIALOGUE = "kif", "dialogue"
"""Folders of the records and of the dialogues in the run's folder."""
LONGEST_PAUSE = 60.0
"""Seconds of the longest pause before a connection is made again."""
STEADY_SECONDS = 600.0
"""A connection that has lasted this long was no failed attempt."""
_PONDER = "USI_Ponder"
_RESULTS = {"win": "won", "draw": "drawn", "loss": "lost", "unfinished": "unfinished"}


def play_on_server(options: ServerPlay, password: str) -> ServerReport:
    """Play the remaining games, and keep each as KIF and as dialogue in the run's folder.

    The first request to end, as Ctrl-C, ends the run after the game under way; the second one resigns at once and
    raises KeyboardInterrupt. Raises OSError, or ValueError for options, a login or a server that cannot be used, and
    for an engine that does not start.
    """
    options.check()
    engine = _engine(options)
    with RunWriter(options.output, _plan(options, engine)) as run:
        make_directory(options.output / KIF)
        diary = GameDiary(options.output / DIALOGUE)
        try:
            with EnginePlayer(engine, options.ponder) as player, interrupt_flag() as is_interrupted:
                client = _Client(options, password, run, player, diary, is_interrupted)
                try:
                    client.play()
                finally:
                    run.update(client.totals())
                if is_interrupted():
                    run.interrupt()
        finally:
            diary.close()
        return client.report()


def _engine(options: ServerPlay) -> Engine:
    """Return the engine, with pondering set where it has such an option."""
    ponder = {_PONDER: "true" if options.ponder else "false"}
    return ask_engine(options.engine, options.option, defaults=ponder)


def _plan(options: ServerPlay, engine: Engine) -> RunPlan:
    """Return the plan of the run. Everything but the account and the server may change from one call to the next: a
    player on a server is known by its name, whatever plays."""
    found = {name: value for name, value in asdict(options).items() if name != "output"}
    account = {name: found.pop(name) for name in ("host", "port", "name")}
    digests = {path: sha256_of(path) for path in engine.files()}
    return plan_run(VERB, account, goal=found | playing_conditions({"player": engine}, digests), others=list(digests))


class _Client:
    """Plays games until their number is reached or the user ends it."""

    def __init__(
        self,
        options: ServerPlay,
        password: str,
        run: RunWriter,
        player: EnginePlayer,
        diary: GameDiary,
        is_interrupted: Callable[[], bool],
    ) -> None:
        self._options, self._password, self._run, self._player = options, password, run, player
        self._diary, self._is_interrupted = diary, is_interrupted
        self._games = list(run.lines(ServerGameLine))
        self._lost = list(run.lines(LostConnection))
        has_delay = player.has_option(DELAY)
        self._margin = options.margin if options.margin is not None else 0 if has_delay else MARGIN
        self._was_logged_in = self._has_noticed = False

    def play(self) -> None:
        """Play until the games are played or the user ends it. Raises ValueError after too many failed attempts."""
        failures = 0
        while not self._is_over():
            begun, games = time.monotonic(), len(self._games)
            self._diary.open(games + 1)
            try:
                self._connect()
                failures = 0
            except (ConnectionLost, LoginRefused, ServerError) as error:
                if (unusable := self._why_unusable(error)) is not None:
                    raise unusable from error
                failures = 1 if time.monotonic() - begun >= STEADY_SECONDS else failures + 1
                reason = str(error)
                self._keep_lost(games + 1 if len(self._games) > games else 0, reason)
                if self._options.attempts and failures >= self._options.attempts:
                    raise ValueError(
                        f"{self._options.place}: {reason}; ended after {amount(failures, 'failed connection')} in a row"
                    ) from error
                if not self._is_over():
                    self._pause(min(LONGEST_PAUSE, 2.0 ** min(failures - 1, 10)))

    def totals(self) -> dict[str, int | float]:
        """Return the totals for run.json."""
        report = self.report()
        names = ("games", "wins", "draws", "losses", "unfinished", "losses_on_time", "lost_connections")
        return {name: getattr(report, name) for name in names}

    def report(self) -> ServerReport:
        """Return the report of all games in the folder."""
        options = self._options
        return report_of(options.place, options.name, self._games, self._lost, options.output)

    def _is_over(self) -> bool:
        return self._is_interrupted() or bool(self._options.games and len(self._games) >= self._options.games)

    def _connect(self) -> None:
        """Log in, play a game, and log out; without a game if no further one is needed."""
        options = self._options
        with Connection(options.host, options.port, options.keep_alive, self._diary.write) as connection:
            log_in(connection, options.name, self._password, options.game)
            self._was_logged_in = True
            _say(f"logged in to {options.place} as {options.name}; waiting for a game")
            summary = wait_for_summary(connection, self._is_interrupted)
            if summary is not None:
                agree(connection, summary, self._player)
                self._play(connection, summary)
            log_out(connection)

    def _play(self, connection: Connection, summary: Summary) -> None:
        """Play a game, and keep it however it ends."""
        number = len(self._games) + 1
        opponent = summary.names[1 - summary.colour]
        _say(f"game {number}: {('black', 'white')[summary.colour]} against {opponent}")
        game = ServerGame(
            connection,
            summary,
            self._player,
            margin=self._margin,
            resign_score=self._options.resign_score,
            comments=self._options.comments,
            notice=self._notice_interrupt,
        )
        begun = time.monotonic()
        try:
            game.play()
        except KeyboardInterrupt:
            game.resign_at_once()
            log_out(connection)
            raise
        finally:
            self._keep(number, game, time.monotonic() - begun)

    def _keep(self, number: int, game: ServerGame, seconds: float) -> None:
        """Write the record and the line of a game. A game counts even if its record cannot be written."""
        summary = game.summary
        headers = {
            "開始日時": f"{game.started:%Y/%m/%d %H:%M:%S}",
            "終了日時": f"{datetime.now():%Y/%m/%d %H:%M:%S}",
            "棋戦": summary.game_id,
            "場所": self._options.place,
            "持ち時間": summary.controls[summary.colour].text,
        }
        record = game.record(headers)
        name = ""
        try:
            if record is not None:
                write_atomically(self._options.output / KIF / f"{number:04}.kifu", kif_text(record).encode())
                name = f"{KIF}/{number:04}.kifu"
        finally:
            self._count(number, game, seconds, name)
        _say(f"game {number}: {_RESULTS[game.result]} after {amount(game.moves, 'move')} ({game.ending}) {name}")

    def _count(self, number: int, game: ServerGame, seconds: float, name: str) -> None:
        """Write the line of a game. `name`: of its record in the folder; empty without one."""
        summary = game.summary
        line = ServerGameLine(
            number,
            summary.game_id,
            *summary.names,
            ("black", "white")[summary.colour],
            game.result,
            game.ending,
            game.moves,
            game.started.isoformat(timespec="seconds"),
            round(seconds, 1),
            name,
        )
        self._run.append(line)
        self._games.append(line)
        self._run.update(self.totals())

    def _keep_lost(self, under_way: int, reason: str) -> None:
        line = LostConnection(datetime.now().isoformat(timespec="seconds"), under_way, reason)
        self._run.append(line)
        self._lost.append(line)
        _say(f"warning: {self._options.place}: {reason}")

    def _why_unusable(self, error: Exception) -> Exception | None:
        """Return the error to raise if another attempt would fail, too: a host that does not exist, or a refused first
        login."""
        if self._was_logged_in:
            return None  # a name stays in use until the server has noticed that its connection is lost
        cause = error.__cause__
        is_temporary = isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_AGAIN
        if isinstance(cause, socket.gaierror | UnicodeError) and not is_temporary:
            return OptionError(f"`host` {self._options.host}: there is no such host ({error})", "host")
        if isinstance(error, LoginRefused | ServerError):
            return ValueError(f"{self._options.place}: {error}")
        return None

    def _pause(self, seconds: float) -> None:
        _say(f"connecting again in {seconds:.0f} s")
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self._is_interrupted():
            time.sleep(WAIT_SECONDS)

    def _notice_interrupt(self) -> None:
        if self._is_interrupted() and not self._has_noticed:
            self._has_noticed = True
            _say("ending after this game; interrupt again to resign at once")


def _say(line: str) -> None:
    with suppress(OSError):
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
