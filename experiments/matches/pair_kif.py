"""The games of a folder of pairs as KIF files with the players' names and scores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from experiments.jobs.ledger import LandedJob
from experiments.matches.pair import COLOURS, UNMOVED
from lite.notation.game import (
    BLACK_WON,
    DRAWN,
    MOVER_DECLARES,
    MOVES_USED_UP,
    REPETITION,
    WHITE_WON,
    Game,
    GameBuilder,
)
from lite.notation.kif_writer import PLAYER, kif_text, score_comment
from lite.records.formats import (
    BLACK_WINS,
    DECLARATION,
    DRAW,
    HCPE3,
    MOVE_LIMIT,
    SENNICHITE,
    WINNER_MASK,
    ZERO_IS_NO_SCORE,
    candidate_dtype,
    game_dtype,
    move_dtype,
)
from lite.run_folder import read_lines
from search.rules.huffman import decode
from search.rules.position import new_position
from search.rules.set_up import set_board
from search.rules.sfen import get_sfen
from search.rules.shogi import BLACK
from search.system.files import complaints_about, write_atomically


def write_pairs(folder: Path, names_of: Callable[[int], tuple[str, str]]) -> int:
    """Write every game that has a move into `kif/` of the folder, as `PAIR-GAME.kifu` (UTF-8); returns their number.

    names_of: returns the names of the first and the second player of a pair by its number. The first is black in the
    first game. Raises OSError or ValueError.
    """
    place = folder / "kif"
    place.mkdir(exist_ok=True)
    written = 0
    for one in read_lines(folder, LandedJob):
        if one.start == one.stop:
            continue
        shard = folder / f"shard_{one.shard:05}.{HCPE3}"
        with complaints_about(shard), open(shard, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if one.stop > size:
                raise ValueError(
                    f"{shard}: {size:,} bytes, of which pair {one.job} ends at {one.stop:,}; copy it again"
                )
            file.seek(one.start)
            raw = file.read(one.stop - one.start)
        unmoved = [one.counts.get(f"{UNMOVED} as {colour}") for colour in COLOURS.values()]
        numbers = [number for number, missing in enumerate(unmoved, 1) if not missing]
        try:
            games = list(_games(raw, numbers, names_of(one.job), f"{shard}: pair {one.job}"))
        except ValueError as error:
            raise ValueError(
                f"{shard}: bytes {one.start} to {one.stop} hold no games of a pair ({error}); restore it from a copy"
            ) from None
        for number, game in zip(numbers, games, strict=True):
            write_atomically(place / f"{one.job + 1:05}-{number}.kifu", kif_text(game).encode())
            written += 1
    return written


def _games(raw: bytes, numbers: Sequence[int], names: tuple[str, str], place: str) -> Iterator[Game]:
    """Yield the games of a pair with these numbers (1 and 2) from its hcpe3."""
    at = 0
    for number in numbers:
        header = np.frombuffer(raw, game_dtype, 1, at)[0]
        at += game_dtype.itemsize
        builder = GameBuilder(place, _sfen(header["hcp"]))
        builder.names = list(names if number == 1 else names[::-1])
        for _ in range(int(header["moves"])):
            row = np.frombuffer(raw, move_dtype, 1, at)[0]
            at += move_dtype.itemsize + int(row["candidates"]) * candidate_dtype.itemsize
            score = int(row["score"]) if builder.turn == BLACK else -int(row["score"])
            builder.play(int(row["move"]))
            if score or not int(header["result"]) & ZERO_IS_NO_SCORE:
                builder.comment(score_comment(score, PLAYER))
        yield builder.finish("", _outcome(int(header["result"])))
    if at < len(raw):
        raise ValueError(f"{len(raw) - at} bytes follow the last")


def _outcome(result: int) -> int:
    """Return the outcome, as `GameBuilder.finish` takes it, of a game's result byte."""
    if result & WINNER_MASK == DRAW:
        return REPETITION if result & SENNICHITE else MOVES_USED_UP if result & MOVE_LIMIT else DRAWN
    if result & DECLARATION:
        return MOVER_DECLARES
    return BLACK_WON if result & WINNER_MASK == BLACK_WINS else WHITE_WON


def _sfen(code: np.ndarray) -> str:
    board, hands, turn = decode(code)
    pos = new_position()
    set_board(pos, board, hands, np.int64(turn), np.int64(1))
    return get_sfen(pos)
