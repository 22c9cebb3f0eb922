"""A loop that begins with a material network gives the same networks after any interruption."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.factory import expansion
from experiments.factory.expand import Mixture
from experiments.games.openings import read_openings
from experiments.games.player import Ending, Variety
from experiments.jobs.shards import Shards
from experiments.labels.yardstick import D1Figures
from experiments.loop import generation
from experiments.loop.generation_table import GenerationRow, as_cells, as_table
from experiments.loop.loop import LoopReport, run_loop
from experiments.loop.options import Loop
from experiments.loop.stage_results import CandidateTrained
from experiments.loop.stages import Stage
from experiments.report.loop_section import loop_section
from experiments.report.section import Run as ReportedRun
from experiments.report.verify import SAME, verify
from lite.datasets.description import describe_source
from lite.networks.dense import DenseConfig
from lite.records.formats import record_files
from lite.run_folder import RESULTS, Line, RunWriter, read_lines, read_run
from lite.training.checkpoint import load_model
from lite.training.optimiser import OptimiserConfig
from lite.training.options import ValueTraining
from lite.training.run import Run as TrainingRun
from liteshogi.__main__ import _run
from search.evaluation.material import material_network
from search.evaluation.network_file import load_network, save_network
from search.system.folder_lock import FolderLock

ROOT = Path(__file__).parents[3]
MAIN = """
from experiments.factory import expansion
from liteshogi.__main__ import main
expansion.NODES_A_JOB = 4_000
main()
"""
"""Program that runs a command with jobs as small as in this process."""
STAGES = ["games", "positions", "held-out-games", "held-out-positions", "training", "folding", "gate"]
TRAINING = ValueTraining(
    data=(), network=DenseConfig(8, (8,), 2), optimiser=OptimiserConfig(learning_rate=0.01), batch_size=64, epochs=2
)
LOOP = Loop(
    generations=2,
    positions=300,
    nodes=30,
    variety=Variety(soft_plies=4),
    ending=Ending(max_moves=50),
    mixture=Mixture(random=1.0, tree=1.0, tree_nodes=60, tree_each=8),
    label_nodes=20,
    held_out=0.3,
    window=2,
    gate_nodes=20,
    gate_games=8,
    sprt=(-900, -800),
    against=("material",),
    against_games=2,
    workers=2,
    seed=14,
)
"""Any candidate with a point passes, as both do with this seed, so the second generation plays with the network of
the first."""


@pytest.fixture(scope="module", autouse=True)
def several_jobs():
    """Make jobs small, so that stages can be interrupted between jobs, and measure folding on few positions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expansion, "NODES_A_JOB", 4_000)
        patch.setattr(generation, "FOLDED_POSITIONS", 500)
        yield


@pytest.fixture(scope="module")
def uncut(several_jobs, tmp_path_factory) -> tuple[Loop, LoopReport]:
    """An uninterrupted loop and its report."""
    loop = replace(LOOP, output=tmp_path_factory.mktemp("loops") / "uncut")
    return loop, run_loop(loop, TRAINING)


def outcome(folder: Path) -> dict[str, Any]:
    """Return all figures, records and weights of a loop, except times and the order in which games of a match ended."""
    made: dict[str, Any] = {"stages": [replace(one, seconds=0) for one in read_lines(folder, Stage)]}
    for path in sorted(folder.rglob("shard_*")):
        if path.parent.name[:5] not in ("gate", "match"):
            made[str(path.relative_to(folder))] = path.read_bytes()
    for path in sorted(folder.glob("generation-*/net.safetensors")):
        net = load_network(path)
        arrays = (net.rows, net.bias, *(part for layer in net.layers for part in (layer.weight, layer.bias)))
        made[str(path.relative_to(folder))] = b"".join(array.tobytes() for array in arrays)
    for path in sorted(folder.glob("generation-*/run")):
        weights = load_model(path)[0].state_dict()
        made[str(path.relative_to(folder))] = {name: tensor.numpy().tobytes() for name, tensor in weights.items()}
    return made


def test_generations_play_train_and_pass_the_gate(uncut):
    loop, report = uncut
    stages = [(one.generation, one.stage) for one in read_lines(loop.output, Stage)]
    made = [*STAGES, "against material"]
    assert stages == [(0, "first network"), *((1, stage) for stage in made), *((2, stage) for stage in made)]
    first, second = report.generations[1:]
    assert first.accepted
    assert first.gate is not None
    assert second.gate is not None
    assert (first.gate.best, second.gate.best) == (0, 1)
    assert report.best == loop.output / "generation-002" / "net.safetensors"
    assert set(second.against) == {"material"}
    assert first.training is not None
    assert (first.training.loss or 0) > 0
    # A generation uses games and labels of the previous network, positions of both generations, and its weights.
    folder = loop.output / "generation-002"
    played = describe_source(folder / "games-2")
    labelled = describe_source(folder / "positions-2")
    assert played is not None
    assert labelled is not None
    assert [net.sha256 for net in labelled.nets] == 2 * [played.nets[0].sha256]
    assert (labelled.sources[0].description or {})["verb"] == "selfplay"
    training = load_model(folder / "run")[1].provenance
    assert training["data"] == ["positions-1", "positions-2"]
    assert training["init_from"] is not None
    assert load_model(loop.output / "generation-001" / "run")[1].provenance["init_from"] is None
    assert read_run(loop.output).totals["accepted"] == 2


def test_all_files_of_a_loop_can_be_verified(uncut, tmp_path):
    moved = shutil.copytree(uncut[0].output, tmp_path / "moved")
    checks = {check.file: check.state for check in verify((moved,))}
    assert set(checks.values()) == {SAME}
    generation = ["net.safetensors", "run/network.safetensors", "games-2", "positions-2", "held-out-positions-2"]
    assert checks.keys() >= {"material.safetensors", *(f"generation-002/{name}" for name in generation)}


def test_a_finished_loop_can_be_extended(uncut, tmp_path, capsys):
    loop, report = uncut
    before = outcome(loop.output)
    capsys.readouterr()
    assert run_loop(loop, TRAINING) == report
    assert capsys.readouterr().err == ""
    assert outcome(loop.output) == before
    one = replace(loop, output=tmp_path / "grown", generations=1)
    run_loop(one, TRAINING)
    grown = run_loop(replace(one, generations=2), TRAINING)
    assert outcome(one.output) == before
    assert run_loop(one, TRAINING) == grown, "all generations are there, although fewer were requested"
    assert read_run(one.output).totals["generations"] == 2


class Cut(BaseException):
    """Error that simulates a kill."""


def test_an_interruption_after_any_stage_does_not_change_the_results(uncut, tmp_path, monkeypatch):
    """Each stage is interrupted once, after its work and before its entry in the ledger."""
    loop = replace(uncut[0], output=tmp_path / "cut")
    append, tried = RunWriter.append, set()

    def append_the_second_time(self: RunWriter, line: Line) -> None:
        if isinstance(line, Stage) and (line.generation, line.stage) not in tried:
            tried.add((line.generation, line.stage))
            raise Cut
        append(self, line)

    monkeypatch.setattr(RunWriter, "append", append_the_second_time)
    cuts = 0
    while True:
        try:
            report = run_loop(loop, TRAINING)
            break
        except Cut:
            cuts += 1
    assert cuts == 17
    assert without_times(report) == without_times(uncut[1])
    assert outcome(loop.output) == outcome(uncut[0].output)


def test_ctrl_c_within_stages_does_not_change_the_results(uncut, tmp_path, monkeypatch):
    loop = replace(uncut[0], output=tmp_path / "cut")
    landings = steps = cuts = 0
    append, take_step = Shards.append, TrainingRun.take_step

    def land_and_press(shards: Shards, *arguments: Any) -> bool:
        nonlocal landings
        landed = append(shards, *arguments)
        landings += 1
        if landings % 3 == 0:
            signal.raise_signal(signal.SIGINT)
        return landed

    def step_and_press(run: TrainingRun, *arguments: Any) -> dict[str, float]:
        nonlocal steps
        losses = take_step(run, *arguments)
        steps += 1
        if steps % 17 == 0:
            signal.raise_signal(signal.SIGTERM if steps % 2 else signal.SIGINT)
        return losses

    monkeypatch.setattr(Shards, "append", land_and_press)
    monkeypatch.setattr(TrainingRun, "take_step", step_and_press)
    while True:
        try:
            run_loop(loop, TRAINING)
            break
        except KeyboardInterrupt:
            cuts += 1
    assert cuts > 10
    assert outcome(loop.output) == outcome(uncut[0].output)


def without_times(report: LoopReport) -> list[GenerationRow]:
    return [replace(row, seconds=None) for row in report.generations]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are a matter of the system")
def test_a_killed_command_resumes(tmp_path, capsys):
    (tmp_path / "config.json").write_text('{"kind": "dense", "width": 8, "batch-size": 64, "epochs": 1}')
    words = "--generations 1 --positions 400 --nodes 20 --max-moves 40 --random 0 --tree 1 --label-nodes 10 --workers 1"
    words += " --gate-games 10 --gate-nodes 10 --held-out 0.1"

    def command(folder: str) -> list[str]:
        options = ["--config", str(tmp_path / "config.json"), "-o", str(tmp_path / folder), "--json"]
        return ["loop", *words.split(), *options]

    def stages() -> int:
        path = tmp_path / "killed" / RESULTS
        return path.read_bytes().count(b'"kind":"stage"') if path.exists() else 0

    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, *command("killed")], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    end = time.monotonic() + 100
    while stages() < 3 and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.1)
    process.kill()
    process.communicate()
    assert stages() >= 3
    reports = []
    for folder in ("killed", "uncut"):
        _run(command(folder))
        rows = json.loads(capsys.readouterr().out)["generations"]
        reports.append([{name: value for name, value in row.items() if name != "seconds"} for row in rows])
    assert reports[0] == reports[1]
    assert outcome(tmp_path / "killed") == outcome(tmp_path / "uncut")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"nodes": 31}, "`nodes` 30, not 31"),
        ({"mixture": replace(LOOP.mixture, tree=2.0)}, "`tree` 1.0, not 2.0"),
        ({"sprt": (0.0, 10.0)}, "`sprt` [-900, -800], not [0.0, 10.0]"),
        ({"first": "default"}, "other nets: material.safetensors (first, sha256 "),
        ({"against": ()}, "other nets: "),
        ({"seed": 2}, "`seed` 14, not 2"),
    ],
)
def test_other_options_are_refused_by_name(uncut, changes, words):
    with pytest.raises(ValueError, match="holds a run with ") as error:
        run_loop(replace(uncut[0], **changes), TRAINING)
    assert words in str(error.value)


def test_another_training_is_refused_by_name(uncut):
    for changes, words in (
        ({"epochs": 3}, "`config` epochs 2, not 3"),
        ({"network": DenseConfig(16, (8,), 2)}, "`config` width 8, not 16"),
    ):
        with pytest.raises(ValueError, match=words):
            run_loop(uncut[0], replace(TRAINING, **changes))


def test_options_that_decide_nothing_may_change(uncut):
    assert run_loop(uncut[0], replace(TRAINING, save_minutes=9, keep_epochs=True)) == uncut[1]


def test_a_rejected_candidate_does_not_replace_the_best_network(tmp_path):
    hard = replace(LOOP, output=tmp_path / "hard", generations=2, sprt=(900, 1000), against=(), held_out=0.0)
    report = run_loop(hard, TRAINING)
    assert [row.accepted for row in report.generations] == [None, False, False]
    assert [row.gate.best for row in report.generations[1:] if row.gate] == [0, 0]
    assert report.best == hard.output / "generation-000" / "net.safetensors"
    # The second candidate learns from the positions of both generations, which differ.
    first, second = (set(codes_of(hard.output / f"generation-00{one}/positions-{one}")) for one in (1, 2))
    assert len(first & second) < len(second) / 10
    assert "held-out" not in as_table(report.generations)
    assert not list(hard.output.glob("generation-*/held-out*"))


def test_the_table_shows_standard_errors():
    trained = CandidateTrained(10, 0.6, 0.65, 0.61, 0.0123)
    row = GenerationRow(1, training=trained, yardstick=D1Figures(0.2, 0.001, 600, 1000, 1000, {}, ()))
    head, cells = as_cells([row])
    found = dict(zip(head, cells, strict=True))
    assert found["accuracy"] == "65.00 +- 1.23 %"
    assert found["d1-RMSE"] == "0.2000 +- 0.0010"


def codes_of(folder: Path) -> list[bytes]:
    return [row.tobytes() for path in record_files([folder]) for row in np.fromfile(path, "V38")]


def test_only_records_of_the_last_generations_are_kept(uncut, tmp_path):
    """A loop that removes old records has the same results; no later stage needs the removed files."""
    loop = replace(uncut[0], output=tmp_path / "lean", window=1, keep=1)
    run_loop(loop, TRAINING)
    assert {path.name for path in loop.output.glob("generation-*/*-[0-9]*")} == {
        *("games-2", "positions-2", "held-out-games-2", "held-out-positions-2", "match-1")
    }
    report = run_loop(replace(loop, generations=3), TRAINING)
    assert len(report.generations) == 4
    assert not (loop.output / "generation-002" / "positions-2").exists()
    with pytest.raises(ValueError, match="`keep` 1: must be at least `window` 2"):
        run_loop(replace(uncut[0], keep=1), TRAINING)


def test_the_first_candidate_starts_with_the_weights_of_a_trained_network(uncut, tmp_path):
    run = uncut[0].output / "generation-001" / "run"
    loop = replace(LOOP, output=tmp_path / "taught", first=str(run), generations=1, against=(), held_out=0.0)
    run_loop(loop, TRAINING)
    training = load_model(loop.output / "generation-001" / "run")[1].provenance
    second = load_model(uncut[0].output / "generation-002" / "run")[1].provenance
    assert training["init_from"]["sha256"] == second["init_from"]["sha256"]
    played = load_network(loop.output / "generation-000" / "net.safetensors")
    assert played.width == 32
    # A network of other sizes plays first, and the candidate begins with new weights.
    other = replace(TRAINING, network=DenseConfig(16, (8,), 1))
    run_loop(replace(loop, output=tmp_path / "other"), other)
    assert load_model(tmp_path / "other" / "generation-001" / "run")[1].provenance["init_from"] is None


def test_a_folder_moved_during_training_is_resumed(uncut, tmp_path, monkeypatch):
    loop = replace(uncut[0], output=tmp_path / "here")
    take_step = TrainingRun.take_step

    def step_and_press(run: TrainingRun, *arguments: Any) -> dict[str, float]:
        if run.options.init_from is not None:
            signal.raise_signal(signal.SIGINT)
        return take_step(run, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(TrainingRun, "take_step", step_and_press)
        with pytest.raises(KeyboardInterrupt):
            run_loop(loop, TRAINING)
    moved = replace(loop, output=loop.output.rename(tmp_path / "there"))
    run_loop(moved, TRAINING)
    assert outcome(moved.output) == outcome(uncut[0].output)


def test_a_yardstick_measures_the_first_network_too(uncut, tmp_path):
    yardstick = uncut[0].output / "generation-001" / "held-out-positions-1"
    loop = replace(LOOP, output=tmp_path, generations=1, against=(), held_out=0.0, yardstick=(yardstick,))
    material, candidate = run_loop(loop, TRAINING).generations
    # The first network labelled the records, so it has a smaller error than a barely trained one.
    assert material.yardstick is not None
    assert candidate.yardstick is not None
    assert 0 <= material.yardstick.d1_rmse < candidate.yardstick.d1_rmse < 0.6
    assert material.yardstick.d1_positions == candidate.yardstick.d1_positions > 100


def test_a_loop_without_recorded_games_has_a_held_out_loss(tmp_path):
    mixture = Mixture(played=0.0, random=1.0)
    loop = replace(LOOP, output=tmp_path, generations=1, against=(), mixture=mixture, label="static")
    generation = run_loop(loop, TRAINING).generations[1]
    assert (generation.losses.loss or 0) > 0
    assert generation.losses.accuracy is generation.losses.log_loss is None
    assert "accuracy" not in as_table([generation])
    titles = {chart.title for chart in loop_section([ReportedRun("loop", tmp_path, read_run(tmp_path))]).charts}
    assert "held-out loss by generation" in titles
    assert "log loss by generation" not in titles


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"first": "missing.safetensors"}, "missing.safetensors"),
        ({"against": ("missing.bin",)}, "missing.bin"),
        ({"yardstick": (Path("missing"),)}, "`yardstick` missing: there is no such file"),
        ({"openings": Path("missing.sfen")}, "missing.sfen"),
        ({"gate_games": 7}, "`gate_games` 7: must be even"),
        ({"gate_games": 0}, "`gate_games` 0: must be at least 2"),
        ({"generations": 0}, "`generations` 0: must be at least 1"),
        ({"held_out": 2.0}, "`held_out` 2.0: a share"),
        ({"sprt": (5, 0)}, "`sprt` 5 0: must be two Elo"),
        ({"mixture": Mixture(played=2)}, "`played` and `leaf` are at most 1"),
        ({"random_plies": (5, 2)}, "`random_plies` 5 2: two numbers from 0 on are needed, the smaller first"),
        ({"variety": Variety(soft_lines=20)}, "`soft_lines` 20: must be at most"),
        ({"ending": Ending(declaration="CSARule28")}, "`declaration` CSARule28: choose one of"),
    ],
)
def test_invalid_options_are_refused_before_a_folder_is_made(changes, words, tmp_path):
    with pytest.raises((ValueError, OSError), match=words):
        run_loop(replace(LOOP, output=tmp_path / "new", **changes), TRAINING)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"random_plies": (0, 0)}, r"`gate_games` 8: .*openings\.sfen: 2 openings, enough for 4 games"),
        ({"random_plies": (0, 0), "gate_games": 4, "against_games": 6}, "`against_games` 6: .*enough for 4 games"),
        (
            {"random_plies": (0, 1), "gate_games": 60},
            r"`gate_games` 60: `random_plies` 0 1: \d+% of the openings would",
        ),
        (
            {"random_plies": (1, 2), "against_games": 400},
            "`against_games` 400: .*; reduce `games`",
        ),
    ],
)
def test_too_few_openings_are_refused_before_a_folder_is_made(changes, words, tmp_path):
    (tmp_path / "openings.sfen").write_text("startpos moves 7g7f\nstartpos moves 2g2f\nstartpos moves 7g7f\n")
    openings = {"openings": tmp_path / "openings.sfen", "random_plies": (4, 8)}
    replace(LOOP, **openings).check()
    with pytest.raises(ValueError, match=words):
        run_loop(replace(LOOP, output=tmp_path / "new", **{**openings, **changes}), TRAINING)
    assert not (tmp_path / "new").exists()


def test_unplayable_openings_are_refused_before_a_folder_is_made(tmp_path):
    """Self-play skips such openings."""
    (tmp_path / "openings.sfen").write_text("startpos\n4k4/ppppppppp/9/9/9/9/PPPPPPPPP/9/4K4 b - 321\n")
    with pytest.raises(ValueError, match=r"openings\.sfen line 2: the game is over \(move limit\)"):
        run_loop(replace(LOOP, output=tmp_path / "new", openings=tmp_path / "openings.sfen"), TRAINING)
    assert not (tmp_path / "new").exists()


def test_openings_suffice_for_the_gates_of_all_generations(tmp_path):
    """The repeated openings differ with the seed of each generation."""
    (tmp_path / "openings.sfen").write_text("startpos moves 7g7f\nstartpos moves 2g2f\n")
    loop = replace(LOOP, openings=tmp_path / "openings.sfen", random_plies=(1, 1), gate_games=12, against=())
    lines = read_openings(tmp_path / "openings.sfen")

    def suits(generation: int) -> bool:
        try:
            loop.match("", "", tmp_path, loop.gate_games, loop.game_seed(generation)).check_lines(lines)
        except ValueError:
            return False
        return True

    good = next(number for number in range(1, 100) if not suits(number)) - 1
    assert good > 0
    replace(loop, generations=good).check()
    with pytest.raises(ValueError, match="`gate_games` 12: "):
        replace(loop, generations=good + 1).check()


def test_a_trained_network_cannot_be_played_against_unfolded(uncut, tmp_path):
    run = str(uncut[0].output / "generation-001" / "run")
    with pytest.raises(ValueError, match="a trained value network, which does not play here; give a folded network"):
        run_loop(replace(LOOP, output=tmp_path / "new", against=(run,)), TRAINING)


def test_a_loop_of_an_older_version_is_refused(tmp_path):
    (tmp_path / "ledger.json").write_text('{"format": "liteshogi loop", "version": 1}')
    with pytest.raises(ValueError, match=r"version before 0\.1\.0 \(ledger\.json\)"):
        run_loop(replace(LOOP, output=tmp_path), TRAINING)


def test_two_loops_do_not_work_in_one_folder(tmp_path):
    with FolderLock(tmp_path), pytest.raises(ValueError, match="another run is at work here"):
        run_loop(replace(LOOP, output=tmp_path), TRAINING)


def test_the_material_network_is_saved_and_evaluated_like_others(tmp_path):
    save_network(material_network(), tmp_path / "pieces.safetensors")
    loop = replace(LOOP, output=tmp_path / "loop", first=str(tmp_path / "pieces.safetensors"), generations=1)
    run_loop(loop, TRAINING)
    named = replace(loop, output=tmp_path / "named", first="material")
    run_loop(named, TRAINING)
    assert outcome(loop.output) == outcome(named.output)


def test_the_folded_network_of_a_loop_names_its_data(uncut):
    """The provenance of the folded network has both folders and the networks of their games."""
    provenance = load_network(uncut[1].best).provenance["training"]
    assert set(provenance["descriptions"]) == {"positions-1", "positions-2"}
