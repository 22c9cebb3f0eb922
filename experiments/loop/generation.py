"""A generation of a loop: games of the best network, positions labelled by its searches, a candidate, the gate.

Each stage resumes by itself where it was interrupted, and is done once: see `Stages.once`.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path

from experiments.elo.sprt import Sprt
from experiments.factory.expansion import Expansion, expand
from experiments.factory.labelling import Labelling
from experiments.factory.selfplay import self_play
from experiments.jobs.produce import Production
from experiments.labels.yardstick import D1Figures, measure_d1
from experiments.loop.options import Loop
from experiments.loop.stage_results import (
    CandidateFolded,
    CandidateTrained,
    FirstNetwork,
    GateResult,
    LoopStanding,
    RecordsMade,
)
from experiments.loop.stages import GATE, Result, Stages
from experiments.matches.in_process_match import MatchReport, play_match
from experiments.network_kinds.kind import Kind, kind_of, network_file_of
from experiments.sweep.steps import FoldStep, TrainStep
from export.fold import Folding, fold_file
from lite.training.checkpoint import load_model
from lite.training.folder import RunFolder
from lite.training.options import ValueTraining
from lite.training.testing import leakage_warning
from search.evaluation.network_file import load_network, save_network
from search.system.files import write_atomically

GAMES, POSITIONS, HELD_OUT_GAMES, HELD_OUT = "games", "positions", "held-out-games", "held-out-positions"
AGAINST = "against "
"""Prefix of the stages in which a generation plays networks that were not made here."""
TRAINING, YARDSTICK = "training", "yardstick"
"""Names of stages."""
FOLDED_POSITIONS = 50_000
"""Positions that show the cost of quantisation."""


class Generation:
    """One of a loop's generations; generation 0 is the network that the loop begins from."""

    def __init__(self, loop: Loop, stages: Stages, number: int) -> None:
        self.number = number
        self.folder = loop.output / f"generation-{number:03}"
        self.net = self.folder / "net.safetensors"
        """The network as it plays."""
        self.run = RunFolder(self.folder / "run")
        """Folder of its training; for generation 0 its weights alone, if it has any."""
        self._loop, self._stages = loop, stages
        self._seed = loop.game_seed(number)

    def begin(self) -> None:
        """Make generation 0 from the first network, folded or trained. Raises OSError, ValueError."""

        def take_over() -> FirstNetwork:
            source = self._loop.file_of(self._loop.first)
            if warning := self._leak(source):
                print(warning, file=sys.stderr, flush=True)
            if kind_of(source) is Kind.VALUE:
                write_atomically(self.run.network, network_file_of(source).read_bytes())
                fold_file(Folding(self.run.network, self.net, positions=FOLDED_POSITIONS, overwrite=True))
            else:
                save_network(load_network(source), self.net)
            return FirstNetwork()

        self._stage("first network", FirstNetwork, take_over)
        self._measure()

    def _leak(self, first: str) -> str:
        """Return a warning if the first network, from which the candidates learn, has learnt from the yardstick."""
        if not self._loop.yardstick:
            return ""
        learnt_from = "the data of the network that the loop begins from"
        return leakage_warning(first, self._loop.yardstick, held_out="yardstick's positions", learnt_from=learnt_from)

    def make(self, best: Generation, before: Sequence[Generation], training: ValueTraining) -> bool:
        """Do all stages; returns whether this network replaces the `best` one so far.

        before: earlier generations whose positions are learnt from, too. Raises as the stages do."""
        loop = self._loop
        self._play(best, GAMES, loop.positions, self._seed)
        self._expand(best, GAMES, POSITIONS, self._seed)
        if held_out := round(loop.held_out * loop.positions):
            self._play(best, HELD_OUT_GAMES, held_out, self._seed + 1)
            self._expand(best, HELD_OUT_GAMES, HELD_OUT, self._seed + 1)
        self._stage(TRAINING, CandidateTrained, lambda: self._train(best, before, training))
        self._stage("folding", CandidateFolded, self._fold)
        self._measure()
        gate = self._stage(GATE, GateResult, lambda: self._pass_gate(best))
        for number, opponent in enumerate(loop.against if gate.accepted else (), 1):
            self._meet(opponent, number)
        return gate.accepted

    def records(self, kind: str) -> Path:
        """Return the folder of GAMES, POSITIONS, HELD_OUT_GAMES or HELD_OUT; its name is unique in the loop."""
        return self.folder / f"{kind}-{self.number}"

    def remove_records(self) -> None:
        """Remove games, positions, and the state of the training."""
        for kind in (GAMES, POSITIONS, HELD_OUT_GAMES, HELD_OUT):
            if self.records(kind).exists():
                shutil.rmtree(self.records(kind))
        self.run.state.unlink(missing_ok=True)

    def _stage(self, name: str, kind: type[Result], work: Callable[[], Result]) -> Result:
        def announced() -> Result:
            print(f"generation {self.number} of {self._loop.generations}: {name}", file=sys.stderr, flush=True)
            return work()

        return self._stages.once(self.number, name, kind, announced)

    def _play(self, best: Generation, kind: str, positions: int, seed: int) -> None:
        options = self._loop.self_play(str(best.net), self.records(kind), positions, seed)
        self._stage(kind, RecordsMade, lambda: _made(self_play(options)))

    def _expand(self, best: Generation, games: str, kind: str, seed: int) -> None:
        loop = self._loop
        options = Expansion(
            (self.records(games),),
            self.records(kind),
            Labelling(loop.label, str(best.net), nodes=loop.label_nodes if loop.label == "search" else 0),
            seed,
            loop.workforce(),
            loop.mixture,
            str(best.net),
        )
        self._stage(kind, RecordsMade, lambda: _made(expand(options)))

    def _train(self, best: Generation, before: Sequence[Generation], training: ValueTraining) -> CandidateTrained:
        held_out = self.records(HELD_OUT)
        options = replace(
            training,
            data=tuple(one.records(POSITIONS) for one in (*before, self)),
            valid=(held_out,) if held_out.exists() else (),
            output=self.run.path,
            init_from=best.weights(training),
            seed=training.seed + self.number,
            threads=self._loop.workers,
        )
        trained = TrainStep(options).run()
        if not trained.log:
            return CandidateTrained(trained.steps)
        last = trained.log[-1]
        return CandidateTrained(trained.steps, last.loss, last.accuracy, last.log_loss, last.accuracy_error)

    def weights(self, training: ValueTraining) -> Path | None:
        """Return the trained weights, if the network has the architecture of the training."""
        if not self.run.network.exists():
            return None
        known = load_model(self.run.network)[0].network_config
        return self.run.network if known == training.network else None

    def _fold(self) -> CandidateFolded:
        folded = FoldStep(self.run.network, self.net, (self.records(POSITIONS),), FOLDED_POSITIONS).run()
        return CandidateFolded(folded.log_loss_change, folded.sign_flips, folded.rounding)

    def _measure(self) -> None:
        if self._loop.yardstick:
            self._stage(YARDSTICK, D1Figures, lambda: measure_d1(str(self.net), self._loop.yardstick).figures())

    def _match(self, opponent: str, folder: str, games: int, seed: int, test: Sprt | None = None) -> MatchReport:
        match = self._loop.match(str(self.net), opponent, self.folder / folder, games, seed, test)
        return play_match(match)

    def _pass_gate(self, best: Generation) -> GateResult:
        """Play the best network; where its games do not decide the test, the likelier hypothesis counts."""
        report = self._match(str(best.net), GATE, self._loop.gate_games, self._seed, self._loop.test())
        assert report.sprt is not None
        verdict, ratio = report.sprt.verdict, report.sprt.llr
        accepted = verdict == "elo1" or (not verdict and ratio > 0)
        return GateResult(**vars(_standing(report)), best=best.number, llr=ratio, verdict=verdict, accepted=accepted)

    def _meet(self, opponent: str, number: int) -> None:
        """Play other games than the gate's, which are biased towards an accepted candidate."""
        net, games = self._loop.file_of(opponent), self._loop.against_games

        def play() -> LoopStanding:
            return _standing(self._match(net, f"match-{number}", games, self._seed + 1))

        self._stage(AGAINST + opponent, LoopStanding, play)


def _made(made: Production) -> RecordsMade:
    return RecordsMade(made.totals, made.ended, None if made.refusals is None else made.refusals.figures())


def _standing(report: MatchReport) -> LoopStanding:
    return LoopStanding(**{one.name: getattr(report, one.name) for one in fields(LoopStanding)})
