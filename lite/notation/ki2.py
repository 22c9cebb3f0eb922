"""Read KI2 game records: moves as players write them, without the square where the piece comes from.

cshogi's parser is only the oracle of the tests: it plays a drop for 左, 右 and 引.
"""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
from cshogi import Board, move_from, move_is_drop, move_to

from lite.notation.game import Game, GameBuilder, GameError, quoted
from lite.notation.kif_endings import is_ending
from lite.notation.kif_lines import (
    MARK,
    PIECE_SIGNS,
    PIECES,
    SQUARE,
    Reader,
    abbreviated,
    begins_variation,
    is_ki2,
    plain_lines,
    variation_number,
)
from lite.notation.kif_writer import numbered
from lite.notation.move_text import move_text
from search.rules.movegen import list_moves
from search.rules.sfen import get_sfen
from search.rules.shogi import BLACK, DROP_ORIGIN, KINDS, PROMOTE, SQUARES

_MOVE = re.compile(
    rf"({SQUARE}|同)\s*({PIECE_SIGNS})([左直右]?)([上行寄引]?)(打|成|不成|生)?(?:[(（]([1-9１-９]{{2}}|00)[)）])?"
)
"""A move, which may have its square of origin as in KIF. 生 is 不成."""
_MOST_REPLAYED = 200_000
"""Largest number of moves replayed for all variations, each from the first position; real games need thousands."""


def read_ki2(text: str, place: str, unfinished: bool = False) -> Game:
    """Return the game of a KI2 text: the main line, and its variations as KIF lines. Raises GameError."""
    reader, lines = Reader(place, unfinished), plain_lines(text)
    try:
        for index, line in enumerate(lines):
            if not line:
                continue
            reader.line = index + 1
            if begins_variation(line) and reader.builder is not None:
                _variations(reader.builder, lines[index:], reader.plies_before)
                break
            _ki2_line(reader, line)
        return reader.finish()
    except GameError as error:
        raise reader.explained(error) from None


def _ki2_line(reader: Reader, line: str) -> None:
    """Read one line. Raises GameError."""
    if is_ki2(line):
        moves, until, verdict = line.partition("まで")
        marks = list(MARK.finditer(moves))
        ends = [mark.start() for mark in marks[1:]] + [len(moves)]
        texts = [moves[mark.start() + 1 : end].strip(" 　") for mark, end in zip(marks, ends, strict=True)]
        if reader.is_over() and not all(is_ending(text) or _MOVE.fullmatch(abbreviated(text)) for text in texts):
            reader.remark(line)  # ▲４五桂が敗着
            return
        for mark, text in zip(marks, texts, strict=True):
            _ki2_move(reader, mark.group() in "▲▼☗", text)
        if until:
            _ki2_line(reader, until + verdict)
    elif not reader.other_line(line):
        reader.remark(line)


def _variations(main: GameBuilder, lines: list[str], plies_before: int) -> None:
    """Add a game's variations as KIF lines. The lines of a variation from the first that cannot be read become comments
    in it, and a variation without a readable move becomes comments of the game. So do all beyond the limit."""
    starts = [index for index, line in enumerate(lines) if begins_variation(line)]
    before, texts, replayed = tuple(main.moves), list[str](), 0
    for start, end in pairwise([*starts, len(lines)]):
        replayed += len(before)
        text = ""
        if replayed <= _MOST_REPLAYED:
            before, text = _variation(main.start_sfen, before, lines[start:end], plies_before)
        if text:
            texts.append(text)
        else:
            for line in filter(None, lines[start:end]):
                main.comment(f"*{line}")
    main.variations = "\n\n".join(texts)


def _variation(
    start_sfen: str, before: tuple[int, ...], lines: list[str], plies_before: int
) -> tuple[tuple[int, ...], str]:
    """Return the moves of a variation from the first position, as far as they can be read, and its KIF lines. `before`
    are the moves of the line that it branches from; its number may include `plies_before`.

    The text is empty if no move of its own can be read, or if the lines hold headers or a diagram."""
    first = variation_number(lines[0]) or 0
    if first > len(before) + 1:
        first -= plies_before
    if not 1 <= first <= len(before) + 1:
        return before if first else (), ""
    reader, unread = Reader("", unfinished=True), list[str]()
    reader.builder = GameBuilder("", start_sfen, japanese=True)
    for move in before[: first - 1]:
        reader.builder.play(move)
    own = list(filter(None, lines[1:]))
    for index, line in enumerate(own):
        try:
            _ki2_line(reader, line)
        except GameError:
            unread = [f"*{one}" for one in own[index:]]
            break
    if len(reader.builder.moves) < first or reader.headers or reader.rows:
        return before[: first - 1], ""
    return tuple(reader.builder.moves), "\n".join([*_kif_lines(reader, reader.builder, first), *unread])


def _kif_lines(reader: Reader, played: GameBuilder, first: int) -> list[str]:
    """Return the KIF lines of a variation, from its first move."""
    replay, moves = GameBuilder("", played.start_sfen), played.moves
    lines = [f"変化：{first}手"]
    for number, move in enumerate(moves, 1):
        if number >= first:
            lines += played.comments.get(first - 1, []) if number == first else []
            lines.append(numbered(number, move_text(replay.pos, move, moves[number - 2] if number > 1 else None)))
            lines += played.comments.get(number, [])
        replay.play(move)
    if reader.ending is not None:
        lines.append(numbered(len(moves) + 1, reader.ending.word))
    lines += played.comments.get(len(moves) + 1, [])
    return [*lines, reader.verdict.line] if reader.verdict else lines


def _ki2_move(reader: Reader, black: bool, text: str) -> None:
    """Play a move, written without its mark; `black`: whether the mark is black's. Raises GameError."""
    builder = reader.start()
    if reader.bare_ending(text):  # Shogi DB2 writes △投了
        return
    move, _, word = text.replace("　", " ").rpartition(" ")
    if move and is_ending(word):  # ▲２六歩 投了
        _ki2_move(reader, black, move.strip())
        reader.bare_ending(word)
        return
    reader.refuse_after_ending(text)
    if black != (builder.turn == 0):
        raise reader.error(f"the mark of the other side: {quoted(text)} as {builder.next_move()}")
    match = _MOVE.fullmatch(abbreviated(text))
    if match is None:
        raise reader.error(f"cannot read {quoted(text, 20)} as {builder.next_move()}")
    where, sign, side, motion, manner, origin = match.groups()
    manner = "打" if origin == "00" else manner
    found = _meant(builder, reader.target(where), PIECES[sign], side, motion, manner)
    if origin is not None and origin != "00":
        square = (int(origin[0]) - 1) * 9 + int(origin[1]) - 1
        found = [move for move in found if move >> 7 & 127 == square]
    if len(found) != 1:
        raise reader.error(f"{builder.next_move(text)} is {'ambiguous' if found else 'illegal'}")
    builder.play(found[0])


def _meant(builder: GameBuilder, target: int, kind: int, side: str, motion: str, manner: str | None) -> list[int]:
    """Return the legal moves that a KI2 move can mean, by the federation's rules for 左直右, 上寄引, 成, 不成, 打."""
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
        """Return file and rank in the mover's view; a larger file is further left."""
        file, rank = divmod(square if builder.turn == BLACK else SQUARES - 1 - square, 9)
        return file, rank

    to_file, to_rank = seen(target)
    if side or motion:
        origins = _reaching(builder, target, kind)
        froms = {origin: seen(origin) for origin in origins}
        if motion or side == "直":
            wanted = {"寄": 0, "引": -1}.get(motion, 1)  # sign of the origin's rank minus the target's
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
    """Return the squares of the mover's pieces of a kind that reach `target`. Pinned ones count: KI2 distinguishes
    all of them."""
    found = Board(get_sfen(builder.pos)).pseudo_legal_moves
    origins = {move_from(move) for move in found if move_to(move) == target and not move_is_drop(move)}
    return [origin for origin in sorted(origins) if int(builder.pos["board"][origin]) % KINDS == kind]
