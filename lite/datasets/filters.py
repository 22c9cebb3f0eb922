"""Leave out games and positions as the options of a conversion say, and count them by reason."""

from __future__ import annotations

from collections import Counter

import numpy as np

from lite.datasets.chunks import Games
from lite.datasets.conversion import Conversion
from lite.records.formats import DECLARATION, DRAW, MOVE_LIMIT, NO_GAME, SENNICHITE, WINNER_MASK

_KIND_BITS = {"sennichite": SENNICHITE, "declaration": DECLARATION, "move-limit": MOVE_LIMIT}


class Filters:
    """The filters of a conversion."""

    def __init__(self, options: Conversion) -> None:
        self._options = options
        self.left_out: Counter[str] = Counter()
        """Number of games or positions left out, by reason."""

    def keep_games(self, games: Games) -> np.ndarray:
        """Return a mask of the games that the options keep."""
        options = self._options
        keep = np.ones(len(games.starts), bool)
        if options.min_rating is not None:
            keep &= self._pass("games below the rating, or without one", games.ratings >= options.min_rating, keep)
        if options.min_plies:
            keep &= self._pass("games too short", games.plies >= options.min_plies, keep)
        if options.max_plies is not None:
            keep &= self._pass("games too long", games.plies <= options.max_plies, keep)
        return self._keep_results(games.results, keep, "games")

    def keep_single_positions(self, positions: np.ndarray) -> np.ndarray:
        """Return a mask of the positions without their games that the options keep."""
        everything = np.ones(len(positions), bool)
        return self.keep_positions(
            positions, self._keep_results(_result_bytes(positions), everything, "positions of games")
        )

    def keep_positions(self, positions: np.ndarray, among: np.ndarray) -> np.ndarray:
        """Return a mask of the positions that the options keep among those of the mask `among`, whatever their games'
        results."""
        options = self._options
        keep = among.copy()
        if options.from_ply:
            early = (positions["ply"] >= 0) & (positions["ply"] < options.from_ply)
            keep &= self._pass("positions too early", ~early, keep)
        if options.skip_in_check:
            keep &= self._pass("positions in check", ~positions["in_check"], keep)
        if options.max_score is not None:
            small = np.abs(positions["score"].astype(np.int32)) <= options.max_score
            keep &= self._pass("positions with too large a score", small, keep)
        if options.require_score:
            keep &= self._pass("positions without a score", positions["scored"], keep)
        return keep

    def count(self, reason: str, which: np.ndarray) -> None:
        """Count those that the mask `which` leaves out under `reason`."""
        if count := int(which.sum()):
            self.left_out[reason] += count

    def _keep_results(self, results: np.ndarray, keep: np.ndarray, what: str) -> np.ndarray:
        """Return `keep` without the results that are to be left out."""
        for name in self._options.leave_out:
            ended = (results & WINNER_MASK) == DRAW if name == "draw" else (results & _KIND_BITS[name]) != 0
            keep = keep & self._pass(f"{what} ended by {name}", ~ended, keep)
        return keep

    def _pass(self, reason: str, good: np.ndarray, among: np.ndarray) -> np.ndarray:
        """Count those of `among` that are not good under `reason`, and return the good ones."""
        self.count(reason, among & ~good)
        return good


def _result_bytes(positions: np.ndarray) -> np.ndarray:
    """Return result bytes for the filters, which need only draws and the bits of the kind. A position without a game is
    no draw."""
    drawn = (positions["result"] == 0.5) & (positions["kind_of_result"] & NO_GAME == 0)
    return (np.where(drawn, DRAW, 1) | positions["kind_of_result"]).astype(np.uint8)
