"""Parts of USI commands for random input, and a check that the output is always valid USI."""

from __future__ import annotations

import functools
import re

from tests.usi_session import InProcess

START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
SFENS = (
    START,
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
    "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1",
    "4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L9P9p 1",
    "1+P1K5/+P2G+P+S3/1+R+P1+L1+N2/9/9/9/3+l2+n1+p/1g1+s+p2k1/2+p1+r4 b BGS2N2L5Pbgs3p 200",
)
COMMANDS = (
    "usi",
    "isready",
    "usinewgame",
    "setoption name USI_Hash value 3",
    "setoption name Threads value 2",
    "setoption name MultiPV value 4",
    "setoption name EvalFile value default",
    "setoption name EnteringKingRule value TryRule",
    "setoption name EnteringKingRule value CSARule24H",
    "setoption name FV_SCALE value 24",
    "setoption name UCI_ShowWDL value true",
    "setoption name BookFile value nowhere.db",
    "setoption name BookFile value no_book",
    "setoption name ConsiderBookMoveCount value false",
    "setoption name MaxMovesToDraw value 20",
    "setoption name ResignValue value 100",
    "setoption name Draw_Value_Black value 0",
    "position startpos moves 7g7f 3c3d 8h2b+ 3a2b B*4e",
    *(f"position sfen {sfen}" for sfen in SFENS),
    "go nodes 50",
    "go depth 2",
    "go btime 10 wtime 10 byoyomi 10",
    "go btime 10 wtime 10 binc 10 winc 10",
    "go infinite",
    "go ponder btime 10 wtime 10",
    "go mate 10",
    "go mate infinite",
    "go searchmoves 7g7f 2g2f nodes 50",
    "ponderhit",
    "ponderhit btime 10 wtime 10 byoyomi 10",
    "stop",
    "gameover draw",
)
KNOWN = {command.split()[0] for command in COMMANDS} | {"quit"}


FOR_PEOPLE = {"d", "side", "moves", "eval", "bench"}
"""Commands that are answered by text or diagrams, not by USI."""


def is_harmless(line: str) -> bool:
    """Return whether a line may be sent: not `quit`, no command for people, no request for much memory or many
    threads, and no EvalFile that may be missing, which ends a process at `isready`."""
    if "evalfile" in line.lower() and line not in COMMANDS:
        return False
    numbers = re.findall(r"\d+", line)
    costly = "hash" in line.lower() or "threads" in line.lower() or "multipv" in line.lower()
    return not {"quit", *FOR_PEOPLE}.intersection(line.split()[:1]) and not (
        costly and any(int(number[:9]) > 9 for number in numbers)
    )


def check_answers(lines: list[str]) -> None:
    """Check that the output is valid USI and reports no defect of the program."""
    for line in lines:
        word = (line.split() or [""])[0]
        assert word in ("", "id", "option", "usiok", "readyok", "info", "bestmove", "checkmate"), line[:200]
        assert " failed: " not in line, line
        assert len(line) < 4000
        assert "\n" not in line


@functools.cache
def running_session() -> InProcess:
    """Return the shared session in this process, with a small table."""
    session = InProcess()
    session.send("setoption name USI_Hash value 2").settle()
    return session
