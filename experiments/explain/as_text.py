"""An explained position as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.explain.explain import Difference, Explained, PieceFigures
from experiments.explain.line_units import UnitsLeftOut
from experiments.language.english import ENGLISH
from experiments.language.japanese import JAPANESE
from experiments.language.words import Words
from lite.notation.columns import columns_of, in_columns
from lite.notation.move_text import line_text, piece_name, square_name
from search.evaluation.leave_one_out import draw_contributions
from search.rules.diagram import KANJI
from search.rules.sfen import square_from_usi
from search.rules.shogi import BLACK, EMPTY, KIND_LETTERS, KINDS

MOVES_PER_LINE = 6
JAPANESE_MOVES_PER_LINE = 4
SHOWN_MOVES = 30
"""Largest number of moves listed."""
SHOWN_DIFFERENCES = 12
"""Largest number of pieces listed on which two networks disagree."""
_PIECE_COLUMNS = 28
_SQUARE_COLUMNS = 7


def as_text(explained: Explained, words: Words = ENGLISH) -> str:
    """Return the value, the board with contributions, the moves, and the units if the network has some."""
    value = explained.value
    draw = "" if value.draw is None else words.explain_draw.format(draw=f"{100 * value.draw:.1f}")
    head = words.explain_head.format(
        side=words.sides[explained.turn],
        score=f"{value.score_cp:+d}",
        rate=f"{100 * value.win_rate:.1f}",
        draw=draw,
        black=f"{explained.black_score_cp:+d}",
    )
    lines = [f"{explained.net}: {explained.sfen}", head, "", words.contributions, *_board(explained, words)]
    impossible = [piece_text(piece, words) for piece in explained.pieces if not piece.possible]
    if impossible:
        lines.append(words.impossible.format(pieces=_listed(impossible, words)))
    count = len(explained.moves)
    which = words.best_moves if count > SHOWN_MOVES else words.all_moves
    lines += ["", words.moves_head.format(which=which.format(shown=SHOWN_MOVES, count=count))]
    lines += _moves(explained, words)
    if isinstance(explained.units, UnitsLeftOut):
        return "\n".join([*lines, "", words.no_units[explained.units.value]])
    lines += ["", words.units_head]
    for kind, units in (("files", explained.units.files), ("ranks", explained.units.ranks)):
        for row in units:
            activations = " ".join(f"{one:6.2f}" for one in row.activations)
            lines.append(f"{words.units[kind].format(name=row.name)} {activations} {row.contribution_cp:+7d}")
    return "\n".join(lines)


def _moves(explained: Explained, words: Words) -> list[str]:
    """Return the lines of the evaluations after moves; in Japanese the moves are written as in a game record."""
    shown = explained.moves[:SHOWN_MOVES]
    names = [row.move for row in shown]
    per_line, columns = MOVES_PER_LINE, 5
    if words is JAPANESE:
        names = [line_text(explained.position, [name]) for name in names]
        per_line, columns = JAPANESE_MOVES_PER_LINE, max(map(columns_of, names), default=0)
    moves = [f"{in_columns(name, columns)} {row.score_cp:+6d}" for name, row in zip(names, shown, strict=True)]
    return ["   ".join(moves[at : at + per_line]) for at in range(0, len(moves), per_line)]


def _board(explained: Explained, words: Words) -> list[str]:
    """Return the lines of the board and of both hands, with the contributions of the pieces."""
    if words is JAPANESE:
        board = _board_in_kanji(explained)
    else:
        *board, _, _ = draw_contributions(explained.position, explained.men, explained.contributions)
    return [*board, *_hands(explained, words)]


def _board_in_kanji(explained: Explained) -> list[str]:
    """Return the lines of the board as a KIF draws it: white's pieces have a `v`."""
    values = {man.square: f"{value:+d}" for man, value in zip(explained.men, explained.contributions, strict=True)}
    lines = ["   " + "".join(f"{file:7d}" for file in range(9, 0, -1))]
    for rank, name in enumerate("一二三四五六七八九"):
        squares = [file * 9 + rank for file in range(8, -1, -1)]
        pieces = [_kanji(int(explained.position["board"][square])) for square in squares]
        lines.append(f"{name} " + "".join(" " * (_SQUARE_COLUMNS - columns_of(piece)) + piece for piece in pieces))
        lines.append("   " + "".join(f"{values.get(square, ''):>{_SQUARE_COLUMNS}s}" for square in squares).rstrip())
    return lines


def _kanji(piece: int) -> str:
    return "・" if piece == EMPTY else ("v" if piece >= KINDS else "") + KANJI[piece % KINDS]


def _hands(explained: Explained, words: Words) -> list[str]:
    held: tuple[list[str], list[str]] = ([], [])
    for man, value in zip(explained.men, explained.contributions, strict=True):
        if man.square is None:
            name = f"{piece_name(man.piece % KINDS)}×" if words is JAPANESE else f"{man.letters} x"
            held[man.piece // KINDS].append(f"{name}{man.held} {value:+d}")
    return [
        words.hand.format(side=side, pieces=_listed(pieces, words) or words.nothing)
        for side, pieces in zip(words.sides, held, strict=True)
    ]


def _listed(texts: Sequence[str], words: Words) -> str:
    return ("、" if words is JAPANESE else ", ").join(texts)


def difference_as_text(networks: tuple[str, str], rows: Sequence[Difference], words: Words = ENGLISH) -> str:
    """Return the pieces on which two networks disagree most."""
    width = max(14, *(len(name) for name in networks))
    head = "".join(f"{name:>{width + 2}s}" for name in networks)
    lines = [f"{in_columns(words.difference_head, _PIECE_COLUMNS)}{head}  {words.difference}"]
    for row in rows[:SHOWN_DIFFERENCES]:
        contributions = "".join(f"{one:+{width + 2}d}" for one in row.black_contributions_cp)
        lines.append(f"{in_columns(piece_text(row, words), _PIECE_COLUMNS)}{contributions}{row.difference_cp:+12d}")
    return "\n".join(lines)


def piece_text(piece: PieceFigures | Difference, words: Words = ENGLISH) -> str:
    """Return a piece with its side and place: `black R 2h`, `white P in hand`, `先手 ２八飛`."""
    side = words.sides[BLACK if piece.colour == "black" else 1 - BLACK]
    if words is JAPANESE:
        at = piece.square
        place = square_name(square_from_usi(at)) if at else f"{words.in_hand}の"
        return f"{side} {place}{piece_name(KIND_LETTERS.index(piece.piece))}"
    return f"{side} {piece.piece} {piece.square or words.in_hand}"
