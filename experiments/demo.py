"""The verb `demo`: the whole road in a few minutes, from a sample of games to a game that the trained net plays.

It trains the source's (16, 4, 32) network on the packaged sample, tests it on held-out games beside material and the
default network, folds and quantises it, searches a middle-game position with it, and lets it play the default network.
Under the output directory it leaves the networks, one picture (training curves, calibration) and the game as KIF.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.game import GameRecord, play_game, save_kif
from experiments.pictures import draw_training
from export.fold import Fold
from lite.networks.lite_value import NetworkConfig
from lite.training.log import read_log
from lite.training.testing import judge_net
from lite.training.train import Train
from search.alphabeta.engine import AlphaBetaEngine
from search.evaluation.network_file import load_network

SAMPLE = Path(__file__).parent / "sample"
MIDDLE_GAME = "ln1g3nl/1r3kg2/p2pppsp1/3s2p1p/1pp4P1/P1P1SP2P/1PSPP1P2/2G2G1R1/LN1K3NL w Bb 28"


@dataclass(frozen=True)
class Demo:
    """Train, test, fold, search and play, in a few minutes on two cores."""

    output: Path = Path("out")
    """Directory for what it makes; an earlier demo's run there is made anew."""
    epochs: int = 12
    """Times that the sample is seen."""
    nodes: int = 30_000
    """Nodes a move in the game."""
    json: bool = False
    """Print one JSON object with the figures and nothing else on standard output."""

    def run(self) -> None:
        begun = time.perf_counter()
        figures = self._road()
        figures["seconds"] = round(time.perf_counter() - begun, 1)
        if self.json:
            print(json.dumps(figures))
        else:
            _say(f"\nDone in {figures['seconds']:.0f} s. Look at {self.output}/: {', '.join(figures['files'])}")

    def _road(self) -> dict[str, Any]:
        train, valid = SAMPLE / "teacher_sample.hcpe3", SAMPLE / "valid_sample.hcpe3"
        run = self.output / "run"
        _remove_run(run)
        _say("1. Train a (16, 4, 32) lite value network on the sample games")
        Train(data=(train,), valid=(valid,), output=run, network=NetworkConfig(), epochs=self.epochs, threads=1).run()

        _say("\n2. Test it on games that it has not seen")
        reports = {"demo": judge_net(str(run), (valid,)), "default": judge_net("default", (valid,))}
        accuracy = {name: report["accuracy"] for name, report in reports.items()}
        accuracy["material"] = reports["demo"]["material_accuracy"]
        for name in ("material", "demo", "default"):
            _say(f"   {name:9s} {100 * accuracy[name]:.2f} % of {reports['demo']['positions']:,} positions")

        _say("\n3. Fold it into table rows and a small integer network")
        folded = self.output / "demo.safetensors"
        with redirect_stdout(sys.stderr):
            Fold(checkpoint=run, output=folded, data=(valid,), positions=20_000).run()

        _say(f"\n4. Search a middle-game position with it: {MIDDLE_GAME}")
        network = load_network(folded)
        analysis = AlphaBetaEngine(network, hash_mb=16).analyse(MIDDLE_GAME, nodes=300_000)
        _say(f"   depth {analysis.depth}, {analysis.score_text}, {analysis.nodes:,} nodes: {' '.join(analysis.pv)}")

        _say("\n5. Play it against the default network")
        players = (AlphaBetaEngine(network, hash_mb=16), AlphaBetaEngine("default", hash_mb=16))
        game = play_game(players, ("demo", "default"), nodes=self.nodes, progress=_move_line)
        _say(f"   {game.ending} after {len(game.moves)} moves: {game.result_text}")
        save_kif(game, self.output / "game.kifu")
        draw_training(read_log(run / "log.jsonl"), reports, accuracy, self.output / "demo.png")
        return {
            "accuracy": accuracy,
            "game": _summary(game),
            "search": {"depth": analysis.depth, "nodes": analysis.nodes, "pv": list(analysis.pv)},
            "files": ["demo.png", "game.kifu", "demo.safetensors", "run/"],
        }


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _move_line(number: int, move: str, score: str) -> None:
    print(f"\r   move {number}: {move} ({score})        ", end="", file=sys.stderr, flush=True)


def _summary(game: GameRecord) -> dict[str, Any]:
    return {"moves": len(game.moves), "result": game.result_text, "ending": game.ending}


def _remove_run(run: Path) -> None:
    """Only what a training run writes is removed, so that a wrong --output costs nobody their files."""
    for name in ("state.safetensors", "network.safetensors", "log.jsonl"):
        (run / name).unlink(missing_ok=True)
    for events in (run / "tensorboard").glob("events.out.tfevents.*"):
        events.unlink()
