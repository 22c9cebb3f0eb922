"""Games of the nets near the front and of those made elsewhere: at equal nodes, and at equal time, against a common
opponent.

Equal time is told in nodes: each searches as many as its measured speed allows in the time that the opponent takes for
its own, on the machine that plays. So a busy machine has no say, and equal commands play equal games.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from experiments.jobs.results import NET, Line, Results
from experiments.jobs.verb import Verbs
from experiments.matches.counted_match import CountedMatch
from experiments.sweep.configuration import Measures, Play
from experiments.timing import time_network
from lite.datasets.provenance import sha256_of
from lite.program import machine_of, program
from search.evaluation.network_file import load_network
from search.evaluation.shipped import network_file

NODES, TIME = "games", "timed games"
"""Kinds of results."""
SPEED = "speed"
"""Kind of the lines of nets that were timed on another machine than the one that plays, or not at all."""
MATCHES = "matches"
"""In the folder of the sweep."""
KEPT = ("games", "wins", "draws", "losses", "points", "elo", "elo_low", "elo_high")


def near_front(nets: Sequence[Line], near: float) -> list[Line]:
    """Those whose d1-RMSE is at most `near` above the best of all that cost no more, the cheapest first."""
    ordered = sorted(nets, key=lambda net: (net["evaluation_ns"], net["d1_rmse"]))
    found, best = [], float("inf")
    for net in ordered:
        best = min(best, net["d1_rmse"])
        if net["d1_rmse"] <= best + near:
            found.append(net)
    return found


def who_plays(nets: Sequence[Line], near: float) -> list[Line]:
    """Those near the front of the sweep's own nets, and then all that were made elsewhere.

    What others have learnt from more, or a curve over positions from less, says nothing of what options are worth.
    Nanoseconds of different machines do not compare, so each has a front of its own.
    """
    groups: dict[str, list[Line]] = defaultdict(list)
    for net in of_most_positions(nets):
        groups[machine_of(net)].append(net)
    front = [net for group in groups.values() for net in near_front(group, near)]
    return [*front, *(net for net in nets if not net["options"])]


def of_most_positions(nets: Sequence[Line]) -> list[Line]:
    """The sweep's own nets that compare: those that learnt from as many positions as any of them."""
    own = [net for net in nets if net["options"]]
    most = max(map(_positions, own), default=0.0)
    return [net for net in own if _positions(net) == most]


def _positions(net: Line) -> float:
    """That a net of the sweep learnt from; infinite for all of its data."""
    return float(net["options"].get("positions") or "inf")


def check_play(play: Play, told: Path, folder: Path) -> None:
    """Raises OSError, or ValueError in words that begin with the file `told`, where no match could be played so: that
    would be known when all nets were trained."""
    match = CountedMatch(
        play.opponent,
        play.opponent,
        nodes=play.nodes,
        games=play.games,
        openings=Path(play.openings) if play.openings else None,
        win_score=play.win_score,
        output=folder / MATCHES,
    )
    try:
        load_network(play.opponent)
        match.check()
        match.lines()
    except ValueError as error:
        raise ValueError(f"{told}: play: {error}") from None


def refuse_other_play(results: Results, play: Play, folder: Path) -> None:
    """ValueError where games have been played otherwise. Older lines tell the opponent and its nodes alone, or no
    digests."""
    given, digests = _deciding(play), _digests(play)
    for (kind, _, _), line in results.lines.items():
        if kind in (NODES, TIME):
            was = line.get("play", {"opponent": line["opponent"], "nodes": line["opponent_nodes"]})
            for name, value in was.items():
                if value != given.get(name):
                    raise ValueError(
                        f"{folder}: its games were played with {name} = {value!r}, not {given.get(name)!r}; go on with "
                        "that, or use another -o"
                    )
            for name, digest in line.get("digests", {}).items():
                if digest != digests[name]:
                    raise ValueError(
                        f"{given[name]}: has changed since games of {folder} were played with it; restore it, or use "
                        "another -o"
                    )


def _deciding(play: Play) -> Line:
    """What decides which games a net plays, if it does."""
    return {name: value for name, value in asdict(play).items() if name != "near"}


def _digests(play: Play) -> dict[str, str]:
    """Of the files among these."""
    openings = {"openings": sha256_of(Path(play.openings))} if play.openings else {}
    return {"opponent": sha256_of(network_file(play.opponent)), **openings}


def play_games(results: Results, play: Play, measures: Measures, folder: Path) -> Iterator[Line]:
    """The games that have not been played yet, net by net: lines of results as they are kept. Raises as `Verbs.run`."""
    nets = [line for (kind, _, _), line in results.lines.items() if kind == NET]
    verbs, here = Verbs(), program()

    def speed(net: str) -> int:
        return _speed(net, nets, results, measures, here)

    for net in who_plays(nets, play.near):
        if net["net"] == play.opponent:
            continue
        if results.find(NODES, net["name"], net["seed"]) is None:
            yield _play(NODES, net, play, play.nodes, results, folder, verbs)
        if results.find(TIME, net["name"], net["seed"]) is None:
            nodes = round(play.nodes * speed(net["net"]) / speed(play.opponent))
            yield _play(TIME, net, play, max(1, nodes), results, folder, verbs)


def _speed(net: str, nets: Sequence[Line], results: Results, measures: Measures, here: Line) -> int:
    """Nodes a second of a net on this machine, `here`: as the sweep has timed it, or timed once more."""
    for line in (*(one for one in nets if one["net"] == net), results.find(SPEED, net)):
        if line is not None and machine_of(line) == machine_of(here):
            return int(line["nps"])
    results.add(SPEED, net, 0, time_network(net, measures.repeats, measures.recorded) | here)
    return int(results.lines[SPEED, net, 0]["nps"])


def _play(kind: str, net: Line, play: Play, nodes: int, results: Results, folder: Path, verbs: Verbs) -> Line:
    place = folder / MATCHES / f"{net['name']}-{net['seed']}-{kind.replace(' ', '-')}"
    words = ["match", net["net"], play.opponent, "-o", str(place), "--json", "--games", str(play.games)]
    words += ["--nodes", str(nodes), "--second-nodes", str(play.nodes), "--win-score", str(play.win_score)]
    words += ["--openings", play.openings] if play.openings else []
    with verbs.alone_in(place):
        pass  # what a killed sweep has left running there has ended
    printed, taken = verbs.run(words)
    report = json.loads(printed)
    told = {"nodes": nodes, "opponent": play.opponent, "opponent_nodes": play.nodes, "play": _deciding(play)}
    told["digests"] = _digests(play)
    results.add(kind, net["name"], net["seed"], {name: report[name] for name in KEPT} | told | taken)
    return results.lines[kind, net["name"], net["seed"]]
