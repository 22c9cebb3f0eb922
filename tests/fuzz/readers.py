"""Every reader of files and lines from outside, by the name that `python -m tests.fuzz` knows it by."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from tests.fuzz import seeds
from tests.fuzz.reader import Finding, Reader, check_complaint


def read_games(path: Path) -> object:
    """Each game as records and as KIF, which must hold the same game."""
    from lite.notation import games
    from lite.notation.game import GameError
    from lite.notation.kif import read_kif, read_variations
    from lite.notation.kif_writer import kif_text

    outcome: list[object] = []
    starts: list[str] | None = None
    if path.suffix != ".usi":
        try:
            starts = games.read_starts(path)
        except ValueError as error:
            check_complaint(error, path.parent)
    for number, game in enumerate(games.read_games(path, unfinished=True)):
        if isinstance(game, GameError):
            check_complaint(game, path.parent)
            outcome.append(game.reason)
            continue
        if starts is not None and starts[number] != game.start_sfen:
            raise Finding(f"it begins at {game.start_sfen}, and at {starts[number]} where its start alone is read")
        game.hcpe3()
        again = read_kif(kif_text(game), "written", unfinished=True)
        if again.moves.tolist() != game.moves.tolist() or again.result != game.result:
            raise Finding(f"as KIF it is another game: {kif_text(game)!r}")
        variations, error = read_variations(game)
        outcome.append(len(variations))
        if error is not None:
            check_complaint(error, path.parent)
    return outcome


def read_records(path: Path) -> object:
    """Every position, with and without its checks, and the visits of its candidates."""
    from lite.records.file import RecordFile, Refusals
    from lite.records.gather import gather_visits

    refusals, found = Refusals(), 0
    for check_moves in (True, False):
        file = RecordFile(path, check_moves, block_positions=8, mark_entered=True, read_visits=True)
        for block in file.blocks:
            raw = file.raw_block(block)
            positions = file.decode_block(raw, block, refusals)
            found += len(positions)
            if (positions["pieces"] > 28).any() or (positions["ply"] < -1).any():
                raise Finding("a piece or a ply that there is not")
            visits = gather_visits(raw.raw, positions["visits_at"], 0)
            if len(visits.move) and (visits.position.max() >= len(positions)):
                raise Finding("visits of no position")
        file.judge(refusals)
    return sorted(refusals.reasons), found.bit_length()


def read_evaluation(path: Path) -> object:
    """A network that the engine evaluates: of a board, moves and captures, incrementally as a search does."""
    from search.evaluation.network_file import load_network
    from search.evaluation.static_evaluation import evaluate_sfens

    net = load_network(path)
    evaluate_sfens(net, seeds.POSITIONS)
    return net.feature_set.name, net.perspectives, len(net.layers)


def read_checkpoint(path: Path) -> object:
    """A trained network, or another file of a training."""
    from lite.training.checkpoint import STATE, file_format, load_model, read_tensors

    if file_format(path) == STATE:
        return sorted(read_tensors(path, STATE)[1])
    model, _ = load_model(path)
    return type(model)


def read_onnx(path: Path) -> object:
    from search.puct.onnx_network import OnnxNetwork

    return OnnxNetwork(path).has_draw


def read_sfen(path: Path) -> object:
    """A position as it is typed, with its moves; what was taken is written and read as the same."""
    from search.rules.play import set_game, split_moves
    from search.rules.position import new_position
    from search.rules.sfen import get_sfen, position_from_sfen

    pos = new_position()
    set_game(pos, *split_moves(_text(path)))
    written = get_sfen(pos)
    if get_sfen(position_from_sfen(written)) != written:
        raise Finding(f"{written} is read as another position")
    return None


def read_problems(path: Path) -> object:
    from search.mate.problems import read_problems, set_problem
    from search.rules.position import new_position

    pos = new_position()
    for problem in read_problems(path):
        try:
            set_problem(pos, problem.sfen)
        except ValueError as error:
            check_complaint(error, None)
    return None


def read_openings(path: Path) -> object:
    from experiments.games.openings import Openings, read_openings

    openings = Openings(read_openings(path), 0, 2)
    for line in openings.lines:
        openings.play_on(line, np.random.default_rng(1))
    return None


def read_book(path: Path) -> object:
    """Whole, and by bisection as large ones are."""
    from search.usi import book

    for read_whole in (0, book.READ_WHOLE):
        with patch.object(book, "READ_WHOLE", read_whole):
            opened = book.Book(path)
            for sfen in seeds.POSITIONS:
                opened.find(sfen)
    return None


def read_dialogue(path: Path) -> object:
    """Lines over USI to one session for all inputs."""
    from tests.usi_nonsense import check_answers, is_harmless, running_session

    session = running_session()
    for line in _text(path).split("\n")[:30]:
        if is_harmless(line):
            session.send(line)
    session.send("stop")
    check_answers(session.settle())
    return None


def read_answers(path: Path) -> object:
    """What another engine told."""
    from experiments.usi_client.searcher import Answer

    lines = [line.strip() for line in _text(path).split("\n")]
    answer = Answer([*lines[-1].split(), "", ""][1], lines)
    return answer.score is None, len(answer.trace())


def read_configuration(path: Path) -> object:
    """`--config` of a training."""
    from liteshogi.commands.train.configuration import read_configuration

    return sorted(read_configuration(path))


def read_plan(path: Path) -> object:
    from experiments.nets.plan import read_plan

    plan = read_plan(path)
    return plan.search, [point.name for point, _ in zip(plan.grid(), range(20), strict=False)]


def read_results(path: Path) -> object:
    from experiments.nets.results import NetResult, Results

    return len(Results.read(path.parent).all(NetResult))


def read_ledger(path: Path) -> object:
    """Of a data folder; what it takes it can go on from."""
    from experiments.jobs.ledger import Ledger, read_entries, read_stops

    ledger = Ledger(path)
    ledger.enter(1 << 40, 1 << 40, 0, 1, {"games": 1})
    ledger.close()
    return len(list(read_entries(path))), len(read_stops(path))


def read_loop_ledger(path: Path) -> object:
    from experiments.loop.stages import Ledger

    ledger = Ledger(path)
    ledger.once(1 << 40, "more", dict)
    return len(Ledger(path).stages)


def read_judge_ledger(path: Path) -> object:
    from experiments.judge.answers import Ledger

    return len(Ledger(path, {"engine": "a"}))


def read_pairs(path: Path) -> object:
    """Games of a match as KIF, by its ledger."""
    from experiments.matches.pair_kif import write_pairs

    shutil.copy(seeds.SAMPLE, path.with_name("shard_00000.hcpe3"))
    shutil.rmtree(path.with_name("kif"), ignore_errors=True)
    return write_pairs(path.parent, lambda pair: ("a", "b"))


def read_log(path: Path) -> object:
    from lite.training.log import read_log

    return len(read_log(path))


def read_description(path: Path) -> object:
    from lite.datasets.description import read_description

    return sorted(read_description(path.parent) or ())


def read_worst(path: Path) -> object:
    from experiments.judge.refutations import read_worst

    return len(read_worst(path))


def read_report(path: Path) -> object:
    """A file that a report tells of."""
    from experiments.report.report import Report, write_report

    return len(write_report(Report((path,), path.with_name("report.html"), overwrite=True))["charts"])


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def _json(read: Callable[[Path], object], name: str, *examples: Any) -> Reader:
    return Reader(read, name, lambda: [json.dumps(one).encode() + b"\n" for one in examples])


def _lines(read: Callable[[Path], object], name: str, *examples: Any) -> Reader:
    return Reader(read, name, lambda: ["".join(json.dumps(one) + "\n" for one in examples).encode()])


_JOB = {"job": 0, "shard": 0, "start": 0, "stop": 3000, "counts": {"games": 2, "seconds": 0.5}}
_TYPED = Reader(read_sfen, "position.txt", seeds.sfens, names_file=False)

READERS: dict[str, Reader] = {
    "kif": Reader(read_games, "game.kif", lambda: seeds.data("wcsc28.kif", "scored.kifu") + seeds.variations()),
    "ki2": Reader(read_games, "game.ki2", lambda: seeds.data("wcsc28.ki2") + seeds.ki2_variations()),
    "csa": Reader(read_games, "game.csa", lambda: seeds.data("wcsc28.csa", "scored.csa")),
    "usi-games": Reader(read_games, "games.usi", lambda: seeds.data("games.usi")),
    "hcpe": Reader(read_records, "records.hcpe", seeds.hcpe),
    "hcpe3": Reader(read_records, "records.hcpe3", seeds.hcpe3),
    "psv": Reader(read_records, "records.psv", seeds.psv),
    "pack": Reader(read_records, "records.pack", seeds.packs),
    "nn-bin": Reader(read_evaluation, "nn.bin", seeds.nn_bins, seeds.filled),
    "network": Reader(read_evaluation, "net.safetensors", seeds.networks, seeds.sealed),
    "checkpoint": Reader(read_checkpoint, "network.safetensors", seeds.checkpoints, seeds.sealed),
    "onnx": Reader(read_onnx, "net.onnx", seeds.onnx_models),
    "sfen": _TYPED,
    "usi": replace(_TYPED, read=read_dialogue, seeds=seeds.dialogues),
    "engine": replace(_TYPED, read=read_answers, seeds=seeds.answers),
    "problems": Reader(read_problems, "problems.jsonl", seeds.problems),
    "openings": Reader(read_openings, "openings.txt", seeds.openings),
    "book": Reader(read_book, "book.db", seeds.books),
    "config": _json(read_configuration, "config.json", {"kind": "lite", "data": ["a.hcpe"], "epochs": 3}),
    "plan": Reader(
        read_plan, "plan.toml", lambda: seeds.files("experiments/nets/plans/recipe.toml", "docs/front/sweep.toml")
    ),
    "results": _lines(read_results, "results.jsonl", {"kind": "net", "name": "a", "seed": 0, "loss": 0.5}),
    "ledger": _lines(read_ledger, "ledger.jsonl", _JOB, _JOB | {"job": 1, "start": 3000, "stop": 4000}),
    "loop-ledger": _json(
        read_loop_ledger,
        "ledger.json",
        {
            "format": "liteshogi loop",
            "version": 1,
            "stages": [{"generation": 1, "stage": "play", "seconds": 1.5, "figures": {"games": 10}}],
        },
    ),
    "judge-ledger": _lines(
        read_judge_ledger,
        "judge.jsonl",
        {"judge": {"engine": "a"}},
        {"position": "startpos", "nodes": 100, "move": "7g7f", "score": 50},
    ),
    "pairs": _lines(read_pairs, "ledger.jsonl", _JOB | {"stop": seeds.FIRST_GAMES}),
    "log": _lines(read_log, "log.jsonl", {"kind": "train", "step": 10, "loss": 0.5}, {"kind": "valid", "step": 10}),
    "description": _json(read_description, "description.json", seeds.DESCRIPTION),
    "worst": _json(read_worst, "losses.json", {"worst": [seeds.LOSS]}),
    "report": Reader(
        read_report, "compare.json", lambda: seeds.files("docs/compare/squeeze.json"), names_file=False
    ),  # a run's name stands for its file
}
