"""`go infinite`, which GUIs use for analysis."""

from __future__ import annotations

LOST = "position sfen 4k4/9/9/9/9/9/9/1R7/4K4 w - 1 moves 5a4a 5i4i 4a5a 4i5i"
"""White is a rook behind, and this position occurred before."""


def test_a_repeated_lost_position_is_scored_as_lost(session):
    scores = []
    for go in ("go infinite", "go nodes 1000"):
        lines = session.send(LOST, go).until("info depth 3") + session.send("stop").until("bestmove")
        scores.append(int([line for line in lines if " cp " in line][-1].split(" cp ")[1].split()[0]))
    assert scores[0] < -500
    assert scores[1] == 0
