"""KI2 game records: moves as players read them, without the square that a piece comes from.

Read here, with cshogi as the oracle of the tests: its parser takes a drop for 左, 右 and 引.
"""

from __future__ import annotations

import re

import numpy as np
from cshogi import Board, move_from, move_is_drop, move_to

from lite.notation.game import Game, GameBuilder, GameError
from lite.notation.kif_endings import ENDINGS
from lite.notation.kif_lines import MARK, PIECE_SIGNS, PIECES, SQUARE, Reader, abbreviated, is_ki2, plain_lines
from search.rules.movegen import list_moves
from search.rules.sfen import get_sfen
from search.rules.shogi import BLACK, DROP_ORIGIN, KINDS, PROMOTE, SQUARES

_MOVE = re.compile(rf"({SQUARE}|同)\s*({PIECE_SIGNS})([左直右]?)([上行寄引]?)(打|成|不成)?")


def read_ki2(text: str, place: str, unfinished: bool = False) -> Game:
    """The main line of a KI2 text. Raises GameError."""
    reader, lines = Reader(place, unfinished), plain_lines(text)
    for index, line in enumerate(lines):
        if not line:
            continue
        if line.startswith("変化") and reader.builder is not None:
            # Nothing but KI2 has such moves in its variations: as comments they can be read on.
            for variation in filter(None, lines[index:]):
                reader.builder.comment(f"*{variation}")
            break
        if is_ki2(line):
            marks = list(MARK.finditer(line))
            ends = [mark.start() for mark in marks[1:]] + [len(line)]
            for mark, end in zip(marks, ends, strict=True):
                _ki2_move(reader, mark.group() in "▲▼☗", line[mark.start() + 1 : end].strip(" 　"))
        elif line.strip(" 　") in ENDINGS:
            _ki2_ending(reader, line.strip(" 　"))
        elif not reader.other_line(line):
            raise GameError(f"cannot read the line {line[:30]!r}")
    return reader.finish()


def _ki2_ending(reader: Reader, word: str) -> None:
    reader.ending, reader.outcome = word, ENDINGS[word]
    reader.start().ended = True


def _ki2_move(reader: Reader, black: bool, text: str) -> None:
    builder = reader.start()
    number = len(builder.moves) + 1
    if reader.ending:
        raise GameError(f"a move after the ending: {text[:30]!r}")
    if black != (builder.turn == 0):
        raise GameError(f"move {number} {text!r} is the other side's")
    if text in ENDINGS:  # as Shogi DB2 writes it: △投了
        _ki2_ending(reader, text)
        return
    match = _MOVE.fullmatch(abbreviated(text))
    if match is None:
        raise GameError(f"cannot read move {number} {text[:20]!r}")
    where, sign, side, motion, manner = match.groups()
    found = _meant(builder, reader.target(where), PIECES[sign], side, motion, manner)
    if len(found) != 1:
        raise GameError(f"move {number} {text!r} is {'not unambiguous' if found else 'illegal'}")
    builder.play(found[0])


def _meant(builder: GameBuilder, target: int, kind: int, side: str, motion: str, manner: str | None) -> list[int]:
    """The legal moves that a KI2 move can mean (the federation's rules for 左直右, 上寄引, 成, 不成 and 打)."""
    drops, moves = [], []
    for move in list_moves(builder.pos):
        if move & 127 != target:
            continue
        origin = move >> 7 & 127
        if origin >= DROP_ORIGIN:
            drops += [move] * (origin - DROP_ORIGIN == kind)
        elif int(builder.pos["board"][origin]) % KINDS == kind:
            moves.append(move)
    if manner == "打" or (not moves and not side and not motion):
        return drops

    def seen(square: int) -> tuple[int, int]:
        """File and rank as the mover sees them; a larger file is further left."""
        file, rank = divmod(square if builder.turn == BLACK else SQUARES - 1 - square, 9)
        return file, rank

    to_file, to_rank = seen(target)
    if side or motion:
        origins = _reaching(builder, target, kind)
        froms = {origin: seen(origin) for origin in origins}
        if motion or side == "直":
            wanted = {"寄": 0, "引": -1}.get(motion, 1)  # how the origin's rank lies to the target's
            origins = [origin for origin in origins if np.sign(froms[origin][1] - to_rank) == wanted]
        if side == "直":
            origins = [origin for origin in origins if froms[origin][0] == to_file]
        elif side and origins:
            edge = (max if side == "左" else min)(froms[origin][0] for origin in origins)
            origins = [origin for origin in origins if froms[origin][0] == edge]
        moves = [move for move in moves if move >> 7 & 127 in origins]
    promoting = [move for move in moves if move & PROMOTE]
    if manner == "成":
        return promoting
    return [move for move in moves if not move & PROMOTE]


def _reaching(builder: GameBuilder, target: int, kind: int) -> list[int]:
    """Where the mover's pieces of a kind that reach a square stand, pinned ones too: KI2 tells all of them apart."""
    found = Board(get_sfen(builder.pos)).pseudo_legal_moves
    origins = {move_from(move) for move in found if move_to(move) == target and not move_is_drop(move)}
    return [origin for origin in sorted(origins) if int(builder.pos["board"][origin]) % KINDS == kind]
