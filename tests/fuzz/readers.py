"""All readers of files and lines from outside, by their name for `python -m tests.fuzz`."""

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
from tests.fuzz.reader import Finding, Reader, check_message


def read_games(path: Path) -> object:
    """Read each game as records and as KIF, which must hold the same game."""
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
            check_message(error, path.parent)
    for number, game in enumerate(games.read_games(path, unfinished=True)):
        if isinstance(game, GameError):
            check_message(game, path.parent)
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
            check_message(error, path.parent)
    return outcome


def read_records(path: Path) -> object:
    """Read every position, with and without checks, and the visits of its candidates."""
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
        file.check_refusals(refusals)
    return sorted(refusals.reasons), found.bit_length()


def read_evaluation(path: Path) -> object:
    """Read a network and evaluate positions with moves and captures, incrementally as in a search."""
    from search.evaluation.network_file import load_network
    from search.evaluation.static_evaluation import evaluate_sfens

    net = load_network(path)
    evaluate_sfens(net, seeds.POSITIONS)
    return net.feature_set.name, net.perspectives, len(net.layers)


def read_leb_block(path: Path) -> object:
    """Read a block of compressed numbers and compare it with a plain loop."""
    from search.evaluation.leb128 import MAGIC, count_values, encode_block, read_block_size, read_values

    with open(path, "rb") as file:
        try:
            length = read_block_size(file, path.stat().st_size, "block")
            start = file.tell()
            count = count_values(file, length)
            file.seek(start)
            values = read_values(file, length, count, "block")
        except ValueError as error:
            check_message(error, None)
            return "refused"
    plain = _plain_values(path.read_bytes()[start : start + length])
    if values.tolist() != plain:
        raise Finding(f"read as {values.tolist()[:20]}, and plainly as {plain[:20]}")
    if _plain_values(b"".join(encode_block(values))[len(MAGIC) + 4 :]) != plain:
        raise Finding("written, these are other values")
    return values.dtype, len(values)


def _plain_values(payload: bytes) -> list[int]:
    """Return the values of a payload of signed LEB128."""
    values, value, shift = [], 0, 0
    for byte in payload:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(value - (1 << shift if byte & 64 else 0))
            value = shift = 0
    return values


def read_architecture(path: Path) -> object:
    """Read the name of an architecture of YaneuraOu; its printed form must read as the same."""
    from search.evaluation.nnue_architecture import parse_name

    found = parse_name(_text(path))
    if parse_name(str(found)) != found:
        raise Finding(f"{found} is read as another architecture")
    return found.features, found.stacks


def read_progress(path: Path) -> object:
    from lite.training.game_progress import read_progress_table

    weight, bias = read_progress_table(path)
    return weight.shape, bias


def read_checkpoint(path: Path) -> object:
    """Read a trained network or another file of a training run."""
    from lite.training.checkpoint import STATE, file_format, load_model, read_tensors

    if file_format(path) == STATE:
        return sorted(read_tensors(path, STATE)[1])
    model, _ = load_model(path)
    return type(model)


def read_onnx(path: Path) -> object:
    from search.puct.onnx_network import OnnxNetwork

    return OnnxNetwork(path).has_draw


def read_sfen(path: Path) -> object:
    """Read a typed position with moves; if it is accepted, writing and reading must give the same."""
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
            check_message(error, None)
    return None


def read_openings(path: Path) -> object:
    from experiments.games.openings import Openings, read_openings

    openings = Openings(read_openings(path), 0, 2)
    for line in openings.lines:
        openings.play_on(line, np.random.default_rng(1))
    return None


def read_book(path: Path) -> object:
    """Read a text book completely and by bisection, as large books are read."""
    from search.book import text_book

    for read_whole in (0, text_book.READ_WHOLE):
        with patch.object(text_book, "READ_WHOLE", read_whole):
            opened = text_book.TextBook(path, str)
            for sfen in seeds.POSITIONS:
                opened.find(sfen)
    return None


def read_binary_book(path: Path) -> object:
    """Read a binary book with its index checked completely and by samples. Messages must name the file as errors do."""
    from search.book import binary_book

    messages: list[str] = []
    found = []
    for check_whole in (1, binary_book.CHECK_WHOLE):
        with patch.multiple(binary_book, CHECK_WHOLE=check_whole, SAMPLES=2):
            opened = binary_book.BinaryBook(path, messages.append)
            for sfen in seeds.POSITIONS[1:] + seeds.BOOK_POSITIONS:
                found += [len(opened.find(sfen)), len(opened.find(sfen, ignore_ply=False))]
    for message in messages:
        check_message(ValueError(message), path.parent)
    return found, len(messages)


def read_dialogue(path: Path) -> object:
    """Send lines to one USI session that is shared by all inputs."""
    from tests.usi_nonsense import check_answers, is_harmless, running_session

    session = running_session()
    for line in _text(path).split("\n")[:30]:
        if is_harmless(line):
            session.send(line)
    session.send("stop")
    check_answers(session.settle())
    return None


def read_answers(path: Path) -> object:
    """Read the output of another engine."""
    from experiments.usi_client.searcher import Answer

    lines = [line.strip() for line in _text(path).split("\n")]
    answer = Answer([*lines[-1].split(), "", ""][1], lines)
    return answer.score is None, len(answer.trace())


def read_configuration(path: Path) -> object:
    """Read the file of `--config` of a training."""
    from liteshogi.commands.train.configuration import read_configuration

    return sorted(read_configuration(path))


def read_plan(path: Path) -> object:
    from experiments.sweep.checked_plan import plan_of
    from experiments.sweep.plan_file import read_entries

    plan = plan_of(read_entries(path), str(path))
    return plan.search, [point.name for point, _ in zip(plan.grid(), range(20), strict=False)]


def read_results(path: Path) -> object:
    from experiments.sweep.results import NetResult, Results

    return len(Results.read(path.parent).all(NetResult))


def read_run(path: Path) -> object:
    """Read the record of a run."""
    from lite.run_folder import find_run

    record = find_run(path.parent)
    return record is not None and record.provenance().verb


def _record(folder: Path, verb: str, **fields: object) -> None:
    """Write the record of a run beside its results."""
    (folder / "run.json").write_text(json.dumps(seeds.RECORD | {"verb": verb} | fields))


def read_ledger(path: Path) -> object:
    """Read the ledger of a folder of shards and add a job."""
    from experiments.jobs.ledger import LandedJob, Ledger, read_stops
    from lite.run_folder import RunPlan, RunWriter

    _record(path.parent, "toy")
    with RunWriter(path.parent, RunPlan("toy")) as run:
        Ledger(run).enter(LandedJob(job=1 << 40, shard=1 << 40, start=0, stop=1, counts={"games": 1}))
    return len(read_stops(path.parent))


def read_stages(path: Path) -> object:
    """Read the stages of a loop and add one."""
    from experiments.loop.stage_results import FirstNetwork
    from experiments.loop.stages import Stages
    from lite.run_folder import RunPlan, RunWriter

    _record(path.parent, "loop")
    with RunWriter(path.parent, RunPlan("loop")) as run:
        stages = Stages(path.parent, run)
        stages.once(1 << 40, "more", FirstNetwork, FirstNetwork)
    return len(stages.done)


def read_answers_of_judge(path: Path) -> object:
    from experiments.judge.answers import VERB, Answers

    _record(path.parent, VERB, conditions={"judge": {"engine": "a"}})
    answers = Answers(path.parent, {"engine": "a"})
    answers.close()
    return len(answers)


def read_pairs(path: Path) -> object:
    """Write the games of a match as KIF from its results."""
    from experiments.matches.pair_kif import write_pairs

    shutil.copy(seeds.SAMPLE, path.with_name("shard_00000.hcpe3"))
    shutil.rmtree(path.with_name("kif"), ignore_errors=True)
    return write_pairs(path.parent, lambda pair: ("a", "b"))


def read_log(path: Path) -> object:
    from lite.training.log import read_log

    return len(read_log(path.parent))


def read_description(path: Path) -> object:
    """Read the provenance of data made before version 0.1.0."""
    from lite.datasets.description import describe_source

    found = describe_source(path.parent)
    return found is not None and found.verb


def read_worst(path: Path) -> object:
    from experiments.judge.losses import VERB
    from experiments.judge.refutations import read_worst

    _record(path.parent, VERB)
    return len(read_worst(path.parent))


def read_report(path: Path) -> object:
    """Make a report of a match."""
    from experiments.report.report import Report, write_report

    (path.parent / "run.json").write_text(json.dumps(seeds.MATCH))
    return len(write_report(Report((path.parent,), path.with_name("report.html"), overwrite=True)).charts)


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def _json(read: Callable[[Path], object], name: str, *examples: Any) -> Reader:
    return Reader(read, name, lambda: [json.dumps(one).encode() + b"\n" for one in examples])


def _lines(read: Callable[[Path], object], name: str, *examples: Any) -> Reader:
    return Reader(read, name, lambda: ["".join(json.dumps(one) + "\n" for one in examples).encode()])


_JOB = {"kind": "job", "job": 0, "shard": 0, "start": 0, "stop": 3000, "counts": {"games": 2, "seconds": 0.5}}
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
    "sfnn": Reader(read_evaluation, "nn.bin", seeds.sfnns, seeds.filled),
    "leb128": Reader(read_leb_block, "block.bin", seeds.leb_blocks),
    "architecture": replace(_TYPED, read=read_architecture, seeds=seeds.architecture_names),
    "progress": Reader(read_progress, "progress.bin", seeds.progress_tables, seeds.filled_table),
    "network": Reader(read_evaluation, "net.safetensors", seeds.networks, seeds.sealed),
    "network-3": Reader(read_evaluation, "net.safetensors", seeds.networks_with_stacks, seeds.sealed),
    "checkpoint": Reader(read_checkpoint, "network.safetensors", seeds.checkpoints, seeds.sealed),
    "onnx": Reader(read_onnx, "net.onnx", seeds.onnx_models),
    "sfen": _TYPED,
    "usi": replace(_TYPED, read=read_dialogue, seeds=seeds.dialogues),
    "engine": replace(_TYPED, read=read_answers, seeds=seeds.answers),
    "problems": Reader(read_problems, "problems.jsonl", seeds.problems),
    "openings": Reader(read_openings, "openings.txt", seeds.openings),
    "book": Reader(read_book, "book.db", seeds.books),
    "ybb": Reader(read_binary_book, "book.ybb", seeds.binary_books),
    "config": _json(read_configuration, "config.json", {"kind": "lite", "data": ["a.hcpe"], "epochs": 3}),
    "plan": Reader(
        read_plan,
        "plan.toml",
        lambda: seeds.files("experiments/sweep/plans/recipe.toml", "docs/results/data/sweep_of_sizes/sweep.toml"),
    ),
    "results": _lines(
        read_results,
        "results.jsonl",
        {
            "kind": "plan file",
            "name": "a",
            "seed": 0,
            "of": {"name": "a", "files": 1, "bytes": 5, "sha256": "ab", "description": None},
            "made_by": {},
        },
    ),
    "run": _json(read_run, "run.json", seeds.MATCH),
    "ledger": _lines(read_ledger, "results.jsonl", _JOB, _JOB | {"job": 1, "start": 3000, "stop": 4000}),
    "stages": _lines(
        read_stages,
        "results.jsonl",
        {"kind": "stage", "generation": 1, "stage": "play", "seconds": 1.5, "figures": {"games": 10}},
    ),
    "answers": _lines(
        read_answers_of_judge,
        "results.jsonl",
        {"kind": "answer", "position": "startpos", "nodes": 100, "move": "7g7f", "score": 50},
    ),
    "pairs": _lines(read_pairs, "results.jsonl", _JOB | {"stop": seeds.FIRST_GAMES}),
    "log": _lines(read_log, "results.jsonl", {"kind": "started", "step": 10, "cp_per_logit": 600.0}),
    "description": _json(read_description, "description.json", seeds.DESCRIPTION),
    "worst": _lines(read_worst, "results.jsonl", seeds.LOSS),
    "report": _lines(read_report, "results.jsonl", *(_JOB | {"job": job, "counts": seeds.PAIR} for job in range(4))),
}
