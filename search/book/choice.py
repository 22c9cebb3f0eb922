"""Choice of a book move by YaneuraOu's options, with their names and meanings (see `search.usi.book_options`)."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from search.book.book_move import Book, BookMove, Say
from search.engine import Analysis
from search.rules.movegen import is_legal
from search.rules.position import do_move
from search.rules.sfen import get_sfen, move_from_usi
from search.score import within_evaluations
from search.system.files import message_of

NARROW_SHARE = 0.1
"""NarrowBook leaves out moves whose share of the games is smaller."""


@dataclass(frozen=True)
class BookRules:
    """Rules for choosing a book move. Values are centipawns of the side to move; pairs are black's and white's."""

    moves: int = 16
    """Last move number at which the book is used."""
    ignore_percent: int = 0
    """Percentage of positions in which the book is not used, at random."""
    narrow: bool = False
    """Whether rarely played moves are left out."""
    value_differences: tuple[int, int] = (30, 30)
    """Centipawns by which a move may be worse than the best one."""
    value_limits: tuple[int, int] = (0, -140)
    """Lowest value of a move."""
    depth_limits: tuple[int, int] = (0, 0)
    """Depth below which the best move's position is not used; 0 means any depth."""
    by_count: bool = True
    """Whether moves are chosen in proportion to their counts; otherwise all are equally likely."""
    ignore_ply: bool = True
    """Whether the move number of the book's position may differ."""
    flipped: bool = True
    """Whether the position with the sides exchanged is looked up, too."""


@dataclass(frozen=True)
class BookHit:
    """The answer of a book: the move to play, and the text of an `info` line per candidate."""

    analysis: Analysis
    lines: tuple[str, ...]


def choose(
    books: Sequence[Book],
    pos: np.void,
    rules: BookRules,
    say: Say,
    generator: random.Random | None = None,
) -> BookHit | None:
    """Choose a move for a position record from books in their order of priority; None if the rules allow no move.

    `say` is called with messages about illegal moves and about books that cannot be read.
    """
    generator = generator or random.Random()
    if pos["game_ply"] > rules.moves or generator.random() * 100 < rules.ignore_percent:
        return None
    found = _legal(pos, look_up(books, pos, rules, say), say)
    found.sort(key=lambda move: (-move.count, -move.value))
    candidates = _allowed(found, rules, int(pos["turn"]))
    if not candidates:
        return None
    weights = [move.count for move in candidates] if rules.by_count else []
    chosen = generator.choices(candidates, weights if sum(weights) else None)[0]
    reply = _reply(books, pos, chosen, rules, say)
    lines = tuple(
        f"multipv {rank} depth {move.depth} score cp {within_evaluations(move.value)} pv {move.move}"
        + (f" {move.reply}" if move.reply else "")
        for rank, move in enumerate(found, 1)
    )
    line = (chosen.move, reply) if reply else (chosen.move,)
    return BookHit(Analysis(chosen.move, within_evaluations(chosen.value), ponder_move=reply, pv=line), lines)


def look_up(books: Sequence[Book], pos: np.void, rules: BookRules, say: Say) -> list[BookMove]:
    """Return the moves of the first book that has the position, or the same one with the sides exchanged."""
    sfen = get_sfen(pos)
    for book in books:
        try:
            if found := book.find(sfen, rules.ignore_ply):
                return found
            if rules.flipped and (found := book.find(flip_sfen(sfen), rules.ignore_ply)):
                return [
                    replace(move, move=flip_move(move.move), reply=move.reply and flip_move(move.reply))
                    for move in found
                ]
        except (OSError, ValueError) as error:
            say(f"BookFile: {message_of(error)}; continuing without this book")
    return []


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


def _legal(pos: np.void, moves: list[BookMove], say: Say) -> list[BookMove]:
    """Return the legal moves, each with its reply if that is legal, too."""
    legal = []
    for move in moves:
        if is_legal(pos, np.int64(move_from_usi(move.move))):
            legal.append(replace(move, reply=_legal_reply(_after(pos, move), move.reply)))
        else:
            say(f"BookFile: {move.move} is not legal in {get_sfen(pos)}; move ignored")
    return legal


def _allowed(moves: list[BookMove], rules: BookRules, colour: int) -> list[BookMove]:
    """Return the moves that the rules allow.

    Value and depth limits refer to the move with the best value among those that NarrowBook keeps.
    """
    total = sum(move.count for move in moves)
    if rules.narrow and total:
        moves = [move for move in moves if move.count >= NARROW_SHARE * total]
    if not moves:
        return []
    best = max(moves, key=lambda move: (move.value, move.count))
    if rules.depth_limits[colour] and best.depth < rules.depth_limits[colour]:
        return []
    least = max(best.value - rules.value_differences[colour], rules.value_limits[colour])
    return [move for move in moves if move.value >= least]


def _reply(books: Sequence[Book], pos: np.void, chosen: BookMove, rules: BookRules, say: Say) -> str | None:
    """Return the move to ponder on: the book's reply, or its first move in the position that follows."""
    if chosen.reply is not None:
        return chosen.reply
    after = _after(pos, chosen)
    following = look_up(books, after, rules, say)
    first = max(following, key=lambda move: (move.count, move.value)).move if following else None
    return _legal_reply(after, first)


def _after(pos: np.void, played: BookMove) -> np.void:
    after = pos.copy()
    do_move(after, np.int64(move_from_usi(played.move)))
    return after


def _legal_reply(after: np.void, reply: str | None) -> str | None:
    return reply if reply and is_legal(after, np.int64(move_from_usi(reply))) else None
