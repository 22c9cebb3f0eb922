"""Activities of a GUI with an engine in a day: games by all clocks, pondering, mates, options, nonsense."""

from __future__ import annotations

import random
import time

import numpy as np

from search.rules.movegen import is_legal, list_moves
from search.rules.position import do_move
from search.rules.sfen import move_from_usi, move_to_usi, position_from_sfen
from tests.usi_nonsense import COMMANDS, check_answers, is_harmless
from tests.usi_session import Session

LONGEST = 320
"""Plies after which a game is a draw."""
LIMITS = (
    "go nodes 200",
    "go depth 4",
    "go btime 0 wtime 0 byoyomi 30",
    "go btime 3000 wtime 3000 binc 20 winc 20",
    "go nodes 300 searchmoves 7g7f 2g2f 3c3d 8c8d",
)
OPTIONS = {
    "USI_Hash": ("1", "2", "16"),
    "Threads": ("1", "2"),
    "MultiPV": ("1", "3"),
    "EvalFile": ("default", "dense-64-16", "lite-16-4-32"),
    "EnteringKingRule": ("CSARule27", "TryRule", "NoEnteringKing"),
    "USI_Ponder": ("true", "false"),
}
AT_REST = {
    "USI_Hash": "8",
    "Threads": "1",
    "MultiPV": "1",
    "EvalFile": "default",
    "EnteringKingRule": "CSARule27",
    "USI_Ponder": "true",
    "ResignValue": "99999",
    "MaxMovesToDraw": "0",
    "BookFile": "no_book",
}
"""Option values that are restored before every measurement."""
MATE = "position sfen 4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1"


def play(session: Session, generator: random.Random, go: str, plies: int = LONGEST) -> tuple[str, int]:
    """Play a game from a random opening; return its end and its plies. AssertionError for an illegal move."""
    session.send("usinewgame")
    pos, moves = position_from_sfen("startpos"), []
    for _ in range(generator.randint(2, 10)):
        move = generator.choice(list_moves(pos))
        do_move(pos, np.int64(move))
        moves.append(move_to_usi(move))
    while len(moves) < plies:
        session.send("position startpos moves " + " ".join(moves), go)
        usi = session.bestmove()
        if usi in ("resign", "win"):
            session.send("gameover lose" if usi == "resign" else "gameover win")
            return usi, len(moves)
        assert is_legal(pos, np.int64(move_from_usi(usi))), f"{usi} after {' '.join(moves)}"
        do_move(pos, np.int64(move_from_usi(usi)))
        moves.append(usi)
    session.send("gameover draw")
    return "draw", len(moves)


def rest(session: Session) -> None:
    """Bring a session into the state in which it is measured."""
    session.send("stop", *(f"setoption name {name} value {value}" for name, value in AT_REST.items()))
    check_answers(session.settle())
    session.send("usinewgame", "position startpos", "go nodes 500").bestmove()
    session.settle()


def play_on(session: Session, generator: random.Random) -> None:
    play(session, generator, generator.choice(LIMITS), generator.choice((40, 120, LONGEST)))


def ponder(session: Session, generator: random.Random) -> None:
    """Ponder; end each search by `ponderhit` or `stop`."""
    for _ in range(10):
        clocks = f"btime {generator.randint(0, 3000)} wtime 1000 byoyomi {generator.randint(1, 50)}"
        session.send("position startpos moves 7g7f 3c3d", generator.choice(("go infinite", f"go ponder {clocks}")))
        time.sleep(generator.random() / 20)
        session.send(*generator.choice((("ponderhit", "stop"), ("stop",), ("stop", "stop", "ponderhit"))))
        assert session.bestmove() != "resign"


def solve(session: Session, generator: random.Random) -> None:
    for _ in range(5):
        session.send(MATE, f"go mate {generator.choice(('100', '1000', 'infinite'))}")
        assert "nomate" not in session.until("checkmate")[-1]
        session.send("position startpos", "go mate 50").until("checkmate")


def change_options(session: Session, generator: random.Random) -> None:
    for name, values in OPTIONS.items():
        session.send(f"setoption name {name} value {generator.choice(values)}")
    session.send("isready").until("readyok")


def talk_nonsense(session: Session, generator: random.Random) -> None:
    """Send commands, some of them with characters removed or replaced."""
    for _ in range(30):
        line = list(generator.choice(COMMANDS))
        for _ in range(generator.choice((0, 0, 1, 3))):
            at = generator.randrange(len(line) + 1)
            line[at : at + generator.randint(0, 3)] = generator.choice("\t -/+9é駒\0")
        if is_harmless("".join(line)):
            session.send("".join(line))
    session.send("stop")
    check_answers(session.settle())
    rest(session)


ACTIVITIES = (play_on, play_on, play_on, ponder, solve, change_options, talk_nonsense)
