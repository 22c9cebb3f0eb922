"""Choice of a book move by YaneuraOu's options, with their names and meanings."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from search.engine import Analysis
from search.rules.movegen import is_legal
from search.rules.position import do_move
from search.rules.sfen import get_sfen, move_from_usi
from search.score import within_evaluations
from search.usi.book import Book, BookMove
from search.usi.options import OptionValues

NARROW_SHARE = 0.1
"""NarrowBook leaves out moves whose share of the games is smaller."""


@dataclass(frozen=True)
class BookRules:
    """Options; values in centipawns of the mover."""

    moves: int = 16
    """Up to this move number the book is asked."""
    ignore_percent: int = 0
    """So often the book is passed over."""
    narrow: bool = False
    value_difference: int = 30
    """A move may be worth so much less than the first one."""
    value_limits: tuple[int, int] = (0, -140)
    """And no less than this, for black and for white."""
    depth_limit: int = 0
    """The first move must have been searched so deep, else the position is passed over; 0: any."""
    by_count: bool = True
    """Choose by how often a move was played; else each as likely as the others."""
    ignore_ply: bool = True
    flipped: bool = True
    """Look for the position with the sides exchanged, too."""

    @classmethod
    def from_options(cls, options: OptionValues) -> BookRules:
        """Read the rules from the options that a GUI has set."""
        number, flag = options.number, options.flag
        return cls(
            moves=number("BookMoves"),
            ignore_percent=number("BookIgnoreRate"),
            narrow=flag("NarrowBook"),
            value_difference=number("BookEvalDiff"),
            value_limits=(number("BookEvalBlackLimit"), number("BookEvalWhiteLimit")),
            depth_limit=number("BookDepthLimit"),
            by_count=flag("ConsiderBookMoveCount"),
            ignore_ply=flag("IgnoreBookPly"),
            flipped=flag("FlippedBook"),
        )


@dataclass(frozen=True)
class BookHit:
    """The answer of a book: the move to play, and the text of an `info` line per candidate."""

    analysis: Analysis
    lines: tuple[str, ...]


def choose(
    book: Book,
    pos: np.void,
    rules: BookRules,
    say: Callable[[str], None],
    generator: random.Random | None = None,
) -> BookHit | None:
    """Choose a book move for a position record; None if the book has no move that the rules allow.

    `say` is called with messages about illegal moves. Raises OSError or ValueError, see `Book.find`.
    """
    generator = generator or random.Random()
    if pos["game_ply"] > rules.moves or generator.random() * 100 < rules.ignore_percent:
        return None
    found = _legal(pos, look_up(book, pos, rules), say)
    found.sort(key=lambda move: (-move.count, -move.value))
    candidates = _passed(found, rules, int(pos["turn"]))
    if not candidates:
        return None
    weights = [move.count for move in candidates] if rules.by_count else []
    chosen = generator.choices(candidates, weights if sum(weights) else None)[0]
    reply = _reply(book, pos, chosen, rules)
    lines = tuple(
        f"multipv {rank} depth {move.depth} score cp {within_evaluations(move.value)} pv {move.move}"
        + (f" {move.reply}" if move.reply else "")
        for rank, move in enumerate(found, 1)
    )
    line = (chosen.move, reply) if reply else (chosen.move,)
    return BookHit(Analysis(chosen.move, within_evaluations(chosen.value), ponder_move=reply, pv=line), lines)


def look_up(book: Book, pos: np.void, rules: BookRules) -> list[BookMove]:
    """Return the book's moves for a position, or for the same position with the sides exchanged."""
    sfen = get_sfen(pos)
    found = book.find(sfen, rules.ignore_ply)
    if found or not rules.flipped:
        return found
    return [
        BookMove(flip_move(move.move), move.reply and flip_move(move.reply), move.value, move.depth, move.count)
        for move in book.find(flip_sfen(sfen), rules.ignore_ply)
    ]


def flip_sfen(sfen: str) -> str:
    """Rotate the board and exchange the sides of an SFEN."""
    board, side, hands, *number = sfen.split()
    turned = "/".join("".join(re.findall(r"[1-9]|\+?[A-Za-z]", row)[::-1]) for row in board.split("/")[::-1]).swapcase()
    counts = re.findall("[0-9]*[A-Za-z]", hands)
    # An SFEN lists black's pieces first.
    black = "".join(piece.upper() for piece in counts if piece[-1].islower())
    white = "".join(piece.lower() for piece in counts if piece[-1].isupper())
    return " ".join([turned, "b" if side == "w" else "w", black + white or "-", *number])


def flip_move(usi: str) -> str:
    """Rotate a USI move by half a turn of the board."""
    turned = {**{str(n): str(10 - n) for n in range(1, 10)}, **dict(zip("abcdefghi", "ihgfedcba", strict=True))}
    return "".join(turned.get(sign, sign) for sign in usi)


def _legal(pos: np.void, moves: list[BookMove], say: Callable[[str], None]) -> list[BookMove]:
    """Return the legal moves, each with its reply if that is legal, too."""
    legal = []
    for move in moves:
        if is_legal(pos, np.int64(move_from_usi(move.move))):
            legal.append(replace(move, reply=_legal_reply(_after(pos, move), move.reply)))
        else:
            say(f"BookFile: {move.move} is not legal in {get_sfen(pos)}; it was left out")
    return legal


def _passed(moves: list[BookMove], rules: BookRules, colour: int) -> list[BookMove]:
    """The moves, most played first, that the rules let pass."""
    total = sum(move.count for move in moves)
    if rules.narrow and total:
        moves = [move for move in moves if move.count >= NARROW_SHARE * total]
    if not moves or (rules.depth_limit and moves[0].depth < rules.depth_limit):
        return []
    least = max(moves[0].value - rules.value_difference, rules.value_limits[colour])
    return [move for move in moves if move.value >= least]


def _reply(book: Book, pos: np.void, chosen: BookMove, rules: BookRules) -> str | None:
    """Return the move to ponder on: the book's reply, or its first move in the position that follows."""
    if chosen.reply is not None:
        return chosen.reply
    after = _after(pos, chosen)
    following = look_up(book, after, rules)
    first = max(following, key=lambda move: (move.count, move.value)).move if following else None
    return _legal_reply(after, first)


def _after(pos: np.void, played: BookMove) -> np.void:
    after = pos.copy()
    do_move(after, np.int64(move_from_usi(played.move)))
    return after


def _legal_reply(after: np.void, reply: str | None) -> str | None:
    return reply if reply and is_legal(after, np.int64(move_from_usi(reply))) else None
