"""A demonstration of every stage in a few minutes, from a sample of games to a game that the trained network plays.

It makes positions like those that a search evaluates from the sample games, labels them with the default network, and
trains a (16, 4, 32) lite network on them. It tests that network on held-out games beside material and the default,
folds and quantises it, searches a middle-game position with it, and plays it against the default.
The output folder holds the networks, a picture (training curves, calibration) and the game as KIF.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from experiments.drawing.pictures import draw_training
from experiments.factory.expand import Mixture
from experiments.factory.expansion import Expansion, expand
from experiments.games.demo_game import ending_in_english, play_game, result_in_english
from export.fold import Folding, fold_file
from lite.datasets.description import SHARD
from lite.datasets.provenance import digest_of
from lite.notation.kif_writer import kif_text
from lite.records.formats import HCPE
from lite.run_folder import RECORD, RESULTS, RunRecord, find_run
from lite.training.checkpoint import json_safe
from lite.training.folder import RunFolder
from lite.training.log import read_log
from lite.training.options import ValueTraining
from lite.training.run_record import plan_training
from lite.training.testing import measure_value_network
from lite.training.train import train_value
from search.alphabeta.engine import AlphaBetaEngine
from search.evaluation.network_file import load_network
from search.system.bounds import check_number
from search.system.files import write_atomically
from search.system.folder_lock import FolderLock
from search.system.options import OptionError

SAMPLE = Path(__file__).parent / "sample"
MIDDLE_GAME = "ln1g3nl/1r3kg2/p2pppsp1/3s2p1p/1pp4P1/P1P1SP2P/1PSPP1P2/2G2G1R1/LN1K3NL w Bb 28"


@dataclass(frozen=True)
class Found:
    """A search of the middle-game position."""

    depth: int
    nodes: int
    pv: tuple[str, ...]
    """The principal variation, as USI moves."""


@dataclass(frozen=True)
class Played:
    """The game against the default network."""

    moves: int
    result: str
    ending: str


@dataclass(frozen=True)
class DemoReport:
    """Figures of a demonstration."""

    positions: int
    """Positions that were made and learnt from."""
    accuracy: Mapping[str, float]
    """Accuracy on the held-out games: of the new network (`demo`), of the default one, of material."""
    game: Played
    search: Found
    files: tuple[str, ...]
    """Files and folders in the output folder."""
    seconds: float
    """Time of the whole demonstration in seconds."""


def run_demo(output: Path, epochs: int, nodes: int) -> DemoReport:
    """Run every stage in the folder `output`, and report each on standard error.

    Raises OptionError for epochs or nodes below 1, and for a folder with positions or a run of other origin.
    """
    check_number("epochs", epochs)
    check_number("nodes", nodes)
    begun = time.perf_counter()
    train, valid = SAMPLE / "teacher_sample.hcpe3", SAMPLE / "valid_sample.hcpe3"
    run, positions = output / "run", output / "positions"
    expansion = Expansion((train,), positions, mixture=Mixture(played=1, random=2, tree=1))
    training = ValueTraining(
        data=(positions,),
        valid=(valid,),
        output=run,
        epochs=epochs,
        lambda_=1,
        mirror=True,
        threads=1,
        overwrite=True,
    )
    _make_room(expansion, training)
    _say("1. Make positions of the sample games like those that a search evaluates, labelled by the default network")
    made = expand(expansion)

    _say(f"   {made.count('positions'):,} positions in {positions}/")

    _say("\n2. Train a (16, 4, 32) lite value network on them")
    train_value(training)

    _say("\n3. Test it on games that it has not seen")
    networks = {"demo": str(run), "default": "default"}
    reports = {name: measure_value_network(network, (valid,)).report for name, network in networks.items()}
    accuracy = {name: report.accuracy or 0.0 for name, report in reports.items()}
    accuracy["material"] = reports["demo"].material_accuracy or 0.0
    shown = {"material": f"{100 * accuracy['material']:.2f} %"}
    shown |= {name: report.accuracy_text() for name, report in reports.items()}
    _say(f"   share of winners predicted in {reports['demo'].positions:,} positions; +- is a standard error")
    for name, text in shown.items():
        _say(f"   {name:9s} {text}")

    _say("\n4. Fold it into table rows and a small integer network")
    folded = output / "demo.safetensors"
    fold = fold_file(Folding(run, folded, (valid,), positions=20_000, overwrite=True))
    _say(f"   {folded}: {fold.bytes:,} bytes, sign flips by quantisation {100 * fold.sign_flips:.3f} %")

    _say(f"\n5. Search a middle-game position with it: {MIDDLE_GAME}")
    network = load_network(folded)
    analysis = AlphaBetaEngine(network, hash_mb=16).analyse(MIDDLE_GAME, nodes=300_000)
    _say(f"   depth {analysis.depth}, {analysis.score_text}, {analysis.nodes:,} nodes: {' '.join(analysis.pv)}")

    _say("\n6. Play it against the default network")
    players = (AlphaBetaEngine(network, hash_mb=16), AlphaBetaEngine("default", hash_mb=16))
    game = play_game(players, ("demo", "default"), nodes=nodes, progress=_move_line)
    _say(f"   {ending_in_english(game)} after {len(game.moves)} moves: {result_in_english(game)}")
    write_atomically(output / "game.kifu", kif_text(game).encode())
    draw_training(read_log(run), reports, accuracy, output / "demo.png")
    return DemoReport(
        int(made.count("positions")),
        accuracy,
        Played(len(game.moves), result_in_english(game), ending_in_english(game)),
        Found(analysis.depth, analysis.nodes, tuple(analysis.pv)),
        ("demo.png", "game.kifu", "demo.safetensors", "positions/", "run/"),
        round(time.perf_counter() - begun, 1),
    )


def _make_room(expansion: Expansion, training: ValueTraining) -> None:
    """Remove the positions of an earlier demonstration, whose run the training replaces, and no other files.

    Raises OptionError, and removes nothing, if other positions or another run are there."""
    positions, run, output = expansion.output, RunFolder(training.output), expansion.output.parent
    kept = find_run(positions)
    for place, is_others in (
        (positions, kept is not None and not _are_demos(kept, expansion)),
        (run.path, run.files() and not _is_demos(run, training)),
    ):
        if is_others:
            raise OptionError(
                f"`output` {output}: {place.name} in it was not made by this demo, which would replace it; choose "
                "another folder",
                "output",
            )
    if kept is not None:
        with FolderLock(positions):
            shards = positions.glob(f"{SHARD}*.{HCPE}*")
            for path in (*shards, positions / RESULTS, positions / RECORD):
                path.unlink(missing_ok=True)


def _are_demos(kept: RunRecord, expansion: Expansion) -> bool:
    """Return whether a run is the demonstration's expansion, with any network."""
    sources = [source.sha256 for source in kept.sources]
    options = json_safe(expansion.deciding())
    return kept.verb == "expand" and kept.options == options and sources == [*map(digest_of, expansion.data)]


def _is_demos(run: RunFolder, training: ValueTraining) -> bool:
    """Return whether a run has the training's data and its options but for the epochs."""
    try:
        found, plan = find_run(run.path), plan_training(training, None)
    except (OSError, ValueError):
        return False
    if found is None:
        return False
    same = json_safe(plan.options) == found.options and found.verb == plan.verb
    return same and [one.sha256 for one in found.sources] == [one.sha256 for one in plan.sources]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


MOVES_A_LINE = 20
"""Moves between two lines of progress where standard error is not a terminal."""


def _move_line(number: int, move: str, score: str) -> None:
    if sys.stderr.isatty():
        print(f"\r   move {number}: {move} ({score})        ", end="", file=sys.stderr, flush=True)
    elif number % MOVES_A_LINE == 0:
        print(f"   move {number}: {move} ({score})", file=sys.stderr, flush=True)
