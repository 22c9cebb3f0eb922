"""Conversion keeps everything that the output format can hold; filters, split and duplicates work as documented."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import cshogi
import numpy as np
import pytest

from lite.datasets.chunks import ChunkReader
from lite.datasets.convert import reasons_text
from lite.datasets.stat import describe
from lite.records.formats import NO_GAME, NO_RESULT, NO_SCORE, SENNICHITE, RecordError, hcpe_dtype, psv_dtype
from lite.records.reader import read_all
from liteshogi.commands.convert import Command as Convert
from liteshogi.commands.convert import as_text
from liteshogi.commands.stat import Command as Stat
from liteshogi.commands.stat import as_text as stat_text
from tests.lite.datasets.conftest import differing, run


def test_conversion_back_gives_the_same_records(games: Path, tmp_path: Path) -> None:
    original = read_all([games])
    summary = run(tmp_path / "a.hcpe", games)
    assert summary.games_read == summary.outputs[0].games == 60
    assert summary.positions_read == summary.outputs[0].positions == len(original)
    assert differing(original, read_all([tmp_path / "a.hcpe"])) == {"ply"}
    run(tmp_path / "a.psv", games)
    assert differing(original, read_all([tmp_path / "a.psv"])) == {"kind_of_result"}
    run(tmp_path / "b.hcpe", tmp_path / "a.psv")
    assert differing(original, read_all([tmp_path / "b.hcpe"])) == {"kind_of_result", "ply"}
    run(tmp_path / "b.psv", tmp_path / "b.hcpe")
    assert differing(original, read_all([tmp_path / "b.psv"])) == {"kind_of_result", "ply"}
    run(tmp_path / "a.hcpe3", games)
    assert (tmp_path / "a.hcpe3").read_bytes() == games.read_bytes()
    summary = run(tmp_path / "b.hcpe3", tmp_path / "a.hcpe")
    assert summary.warnings == ["positions without their games become games of one move"]
    assert differing(original, read_all([tmp_path / "b.hcpe3"])) == {"ply"}


def test_files_equal_those_of_cshogi(cshogi_records, sample_bytes: list[bytes], tmp_path: Path) -> None:
    hcpe, psv, _ = cshogi_records
    (tmp_path / "a.hcpe3").write_bytes(b"".join(sample_bytes[:40]))
    run(tmp_path / "a.hcpe", tmp_path / "a.hcpe3")
    assert (tmp_path / "a.hcpe").read_bytes() == hcpe.tobytes()
    run(tmp_path / "a.psv", tmp_path / "a.hcpe3")
    assert (tmp_path / "a.psv").read_bytes() == psv.tobytes()


def test_games_of_all_notations_are_converted(data_directory: Path, tmp_path: Path) -> None:
    summary = run(tmp_path / "a.hcpe3", *sorted(data_directory.glob("wcsc28.*")), duplicates="drop")
    assert summary.games_read == 3
    assert summary.left_out == {"duplicate games": 2}
    assert summary.without_score == 3 * 49
    batch = read_all([tmp_path / "a.hcpe3"])
    assert batch.ply.tolist() == list(range(49))
    assert (batch.result == (batch.turn == 0)).all()
    summary = run(
        tmp_path / "b.hcpe3", data_directory / "scored.csa", data_directory / "wcsc28.csa", require_score=True
    )
    batch = read_all([tmp_path / "b.hcpe3"])
    assert len(batch) == (data_directory / "scored.csa").read_text().count("\n'** ")
    assert batch.scored.all()
    assert summary.left_out == {"positions without a score": 60, "games without a position left": 1}
    run(tmp_path / "a.psv", data_directory / "games.usi")
    assert read_all([tmp_path / "a.psv"]).ply.max() == 24


@pytest.mark.parametrize("path", [["a.hcpe"], ["a.psv"], ["a.hcpe3"], ["a.psv", "b.hcpe", "c.hcpe3", "d.psv"]])
def test_missing_scores_are_kept_as_missing(data_directory: Path, tmp_path: Path, path: list[str]) -> None:
    """One game has no scores, the other has scores at some moves, one of them 0."""
    source = [data_directory / "scored.csa", data_directory / "wcsc28.csa"]
    direct = [chunk.positions for chunk in ChunkReader(source)]
    scored = np.concatenate([positions["scored"] for positions in direct])
    assert scored.sum() == (data_directory / "scored.csa").read_text().count("\n'** ")
    assert "\n'** 0\n" in (data_directory / "scored.csa").read_text()
    for name in path:
        run(tmp_path / name, *source)
        source = [tmp_path / name]
    batch = read_all(source)
    assert np.array_equal(batch.scored, scored)
    assert not batch.score[~scored].any()
    assert describe(tuple(source)).without_score == (~scored).sum()
    assert f"{(~scored).sum()} positions" in stat_text(describe(tuple(source)))
    # Other programs read such records with a score of 0.
    if name.endswith("hcpe"):
        records = np.fromfile(source[0], cshogi.HuffmanCodedPosAndEval)
        assert (records["eval"][~scored] == 0).all()
        assert set(records["gameResult"]) <= {1, 2}


def test_zero_scores_in_files_of_other_programs_are_missing_scores(games: Path, tmp_path: Path) -> None:
    for name in ("a.hcpe", "a.psv"):
        run(tmp_path / name, games)
        records = np.fromfile(tmp_path / name, hcpe_dtype if name == "a.hcpe" else psv_dtype)
        assert read_all([tmp_path / name]).scored.all()
        records["score"] = 0
        records.tofile(tmp_path / name)
        assert not read_all([tmp_path / name]).scored.any()
        records["score"][7] = 1  # with another score in the file, 0 is a score
        records.tofile(tmp_path / name)
        assert read_all([tmp_path / name]).scored.all()
    blank, first = bytearray(), games.read_bytes()
    plies = int.from_bytes(first[32:34], "little")
    blank += first[:36]
    for ply in range(plies):
        blank += first[36 + 6 * ply : 38 + 6 * ply] + bytes(4)
    (tmp_path / "a.hcpe3").write_bytes(bytes(blank) + first)
    scored = read_all([tmp_path / "a.hcpe3"]).scored
    assert not scored[:plies].any()
    assert scored[plies:].all()


def test_merging_takes_the_mean_of_existing_scores(tmp_path: Path, games: Path) -> None:
    run(tmp_path / "all.hcpe", games)
    records = np.fromfile(tmp_path / "all.hcpe", hcpe_dtype)
    three = records[[0, 0, 0, 9, 10]]
    three["score"], three["padding"] = [0, 100, 300, 0, 5], [NO_SCORE, 0, 0, NO_SCORE, 0]
    three.tofile(tmp_path / "three.hcpe")
    run(tmp_path / "out.hcpe", tmp_path / "three.hcpe", duplicates="merge", overwrite=True)
    merged = read_all([tmp_path / "out.hcpe"])
    assert merged.score.tolist() == [200, 0, 5]
    assert merged.scored.tolist() == [True, False, True]


def test_filters_select_positions(games: Path, tmp_path: Path) -> None:
    original = read_all([games])
    options = {"skip_in_check": True, "max_score": 500, "from_ply": 20, "leave_out": ("sennichite",)}
    good = (
        ~original.in_check
        & (np.abs(original.score.astype(int)) <= 500)
        & (original.ply >= 20)
        & (original.kind_of_result & 4 == 0)
    )
    assert 0 < good.sum() < len(original)
    for name in ("a.hcpe", "a.psv", "a.hcpe3"):
        summary = run(tmp_path / name, games, **options)
        batch = read_all([tmp_path / name])
        assert np.array_equal(batch.score, original.score[good]), name
        assert np.array_equal(batch.pieces, original.pieces[good]), name
    assert summary.left_out["games ended by sennichite"] == 1
    summary = run(tmp_path / "b.hcpe3", games, min_plies=60, max_plies=90)
    plies = describe((tmp_path / "b.hcpe3",)).plies.values()
    assert min(plies) >= 60
    assert max(plies) <= 90
    assert sum(summary.left_out.values()) + summary.outputs[0].games == 60


def test_unknown_choices_are_refused_before_reading(games: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"duplicates.* 'Drop': .*keep, drop, merge"):
        run(tmp_path / "a.psv", games, duplicates="Drop")
    with pytest.raises(ValueError, match=r"leave_out.* 'jishogi': .*draw, sennichite"):
        run(tmp_path / "a.psv", games, leave_out=("jishogi",))
    assert not list(tmp_path.glob("a*"))
    alone, listed = (run(tmp_path / "a.psv", games, leave_out=out).outputs for out in ("draw", ("draw",)))
    assert alone == listed


def test_games_are_selected_by_the_ratings_of_players(data_directory: Path, tmp_path: Path) -> None:
    both = data_directory / "scored.csa", data_directory / "wcsc28.csa"
    assert run(tmp_path / "a.hcpe", *both, min_rating=3200).outputs[0].games == 1
    texts = [tmp_path / f"{path.stem}.txt" for path in both]  # the notation is detected from the text
    for path, text in zip(both, texts, strict=True):
        text.write_bytes(path.read_bytes())
    assert run(tmp_path / "c.hcpe", *texts, min_rating=3200).outputs[0].games == 1
    with pytest.raises(ValueError, match=r"b\.hcpe"):
        run(tmp_path / "b.hcpe", *both, min_rating=3201)
    with pytest.raises(ValueError, match=r"`min_rating` .*a\.hcpe"):
        run(tmp_path / "b.hcpe", tmp_path / "a.hcpe", min_rating=3000)


def moves_of(raw: bytes) -> list[bytes]:
    """Return the moves of hcpe3 games, each with its candidates."""
    moves, at = [], 0
    while at < len(raw):
        count = int.from_bytes(raw[at + 32 : at + 34], "little")
        at += 36
        for _ in range(count):
            size = 6 + 4 * int.from_bytes(raw[at + 4 : at + 6], "little")
            moves.append(raw[at : at + size])
            at += size
    return moves


def test_candidates_and_visits_are_kept(sample_bytes: list[bytes], tmp_path: Path) -> None:
    generator = np.random.default_rng(7)
    parts = []
    for game in sample_bytes[:20]:
        parts.append(game[:36])
        for at in range(36, len(game), 6):
            count = int(generator.choice([0, 1, 2, 30]))
            parts += [game[at : at + 4], count.to_bytes(2, "little"), generator.bytes(4 * count)]
    path, filtered = tmp_path / "a.hcpe3", tmp_path / "filtered.hcpe3"
    path.write_bytes(b"".join(parts))
    run(tmp_path / "b.hcpe3", path)
    assert (tmp_path / "b.hcpe3").read_bytes() == path.read_bytes()
    summary = run(filtered, path, from_ply=10)
    before, after = read_all([path]), read_all([filtered])
    assert np.array_equal(after.score, before.score[before.ply >= 10])
    # Positions that are left out remain as moves without candidates; others keep all candidates.
    assert summary.outputs[0].games == 20
    old, new = moves_of(path.read_bytes()), moves_of(filtered.read_bytes())
    assert all(move in (was, was[:4] + b"\0\0") for was, move in zip(old, new, strict=True))
    assert sum(len(move) > 6 for move in new) == len(after)


def test_duplicates_are_kept_dropped_or_merged(games: Path, tmp_path: Path) -> None:
    run(tmp_path / "a.hcpe", games)
    one = np.fromfile(tmp_path / "a.hcpe", hcpe_dtype)[:1]
    one["result"] = 1  # black to move
    three = np.concatenate([one] * 3)
    three["score"], three["result"] = [100, 200, 301], [1, 2, 1]
    three.tofile(tmp_path / "three.hcpe")
    for how, score, count in (("keep", 100, 3), ("drop", 100, 1), ("merge", 200, 1)):
        run(tmp_path / "out.hcpe", tmp_path / "three.hcpe", duplicates=how, overwrite=True)
        out = np.fromfile(tmp_path / "out.hcpe", hcpe_dtype)
        assert (len(out), out["score"][0]) == (count, score)
    assert out["result"][0] == int(three["result"][0])
    three["result"] = [1, 2, 0]
    three.tofile(tmp_path / "three.hcpe")
    run(tmp_path / "out.hcpe", tmp_path / "three.hcpe", duplicates="merge", overwrite=True)
    assert np.fromfile(tmp_path / "out.hcpe", hcpe_dtype)["result"].tolist() == [0]
    everything = describe((games,))
    summary = run(tmp_path / "b.hcpe", games, duplicates="drop")
    assert summary.left_out == {"duplicate positions": everything.duplicate_positions}
    assert summary.outputs[0].games == 59
    assert describe((tmp_path / "b.hcpe",)).duplicate_positions == 0
    summary = run(tmp_path / "b.hcpe3", games, duplicates="drop")
    assert summary.left_out == {"duplicate games": 1}
    with pytest.raises(ValueError, match="`duplicates` merge"):
        run(tmp_path / "c.hcpe3", games, duplicates="merge")


def one_position(games: Path, path: Path, labels: list[tuple[int, int]]) -> Path:
    """Write a file of one position (black to move) with these results and last bytes."""
    run(path, games)
    black_to_move = int(np.flatnonzero(read_all([path]).turn == 0)[0])
    records = np.fromfile(path, hcpe_dtype)[[black_to_move] * len(labels)]
    records["score"] = 100
    records["result"], records["padding"] = zip(*labels, strict=True)
    records.tofile(path)
    return path


WIN, DRAWN, LOSS, NONE = (1, 0), (SENNICHITE, 0), (2, 0), (0, NO_RESULT)


@pytest.mark.parametrize(
    ("labels", "result", "kind"),
    [
        ([WIN, NONE, NONE], 1.0, 0),
        ([NONE, NONE, LOSS], 0.0, 0),
        ([NONE, DRAWN, NONE], 0.5, 0),  # the kind of draw is not from that record
        ([DRAWN, NONE, NONE], 0.5, SENNICHITE),
        ([NONE, WIN, LOSS], 0.5, 0),
        ([DRAWN, WIN, WIN], 1.0, 0),  # nor from a game that was won
        ([NONE, NONE, NONE], 0.5, NO_GAME),
    ],
)
@pytest.mark.parametrize("form", ["hcpe", "psv"])
def test_merging_takes_results_only_from_games(
    games: Path, tmp_path: Path, labels: list[tuple[int, int]], result: float, kind: int, form: str
) -> None:
    source = one_position(games, tmp_path / "source.hcpe", labels)
    run(tmp_path / f"out.{form}", source, duplicates="merge")
    merged = read_all([tmp_path / f"out.{form}"])
    assert merged.result.tolist() == [result]
    assert merged.kind_of_result.tolist() == [kind if form == "hcpe" else kind & NO_GAME]
    assert merged.score.tolist() == [100]


def test_positions_without_a_game_are_not_draws(games: Path, tmp_path: Path) -> None:
    source = one_position(games, tmp_path / "source.hcpe", [WIN, DRAWN, NONE, NONE])
    summary = run(tmp_path / "out.psv", source, leave_out=("draw",))
    assert summary.left_out == {"positions of games ended by draw": 1}
    assert read_all([tmp_path / "out.psv"]).kind_of_result.tolist() == [0, NO_GAME, NO_GAME]
    summary = run(tmp_path / "out.hcpe3", source)
    assert summary.left_out == {"positions without a game, which hcpe3 cannot hold": 2}
    assert read_all([tmp_path / "out.hcpe3"]).result.tolist() == [1.0, 0.5]


def test_a_failure_leaves_no_files(games: Path, data_directory: Path, tmp_path: Path) -> None:
    before = sorted(path.name for path in tmp_path.iterdir())
    (tmp_path / "bad").mkdir()
    for number in range(5):
        (tmp_path / "bad" / f"{number}.csa").write_text("PI\n+\n%CHUDAN\n")
    with pytest.raises(ValueError, match=r"5 of 6 games .*0\.csa game 1: no moves"):
        run(tmp_path / "a.hcpe", tmp_path / "bad", data_directory / "wcsc28.csa")
    (tmp_path / "bad.hcpe").write_bytes(bytes(1000))
    with pytest.raises(RecordError, match=r"bad\.hcpe: .* record "):
        run(tmp_path / "a.hcpe", games, tmp_path / "bad.hcpe")
    with pytest.raises(ValueError, match=games.name):
        run(games, games)
    for name in ("a.txt", "a.zip", "a"):
        with pytest.raises(ValueError, match=rf"{name}: .*a\.hcpe"):
            run(tmp_path / name, games)
    for option in ("min_plies", "max_plies", "from_ply", "max_score"):
        with pytest.raises(ValueError, match=f"`{option}` -5"):
            run(tmp_path / "a.hcpe", games, **{option: -5})
    (tmp_path / "bad" / "a.hcpe").mkdir()
    with pytest.raises(IsADirectoryError, match=r"a\.hcpe"):
        run(tmp_path / "bad" / "a.hcpe", games)
    with pytest.raises(ValueError, match="`test_output`"):
        run(tmp_path / "a.hcpe", games, test_output=tmp_path / "a.hcpe")
    with pytest.raises(ValueError, match=r"`test_share` 1\.5"):
        run(tmp_path / "a.hcpe", games, test_output=tmp_path / "b.hcpe", test_share=1.5)
    with pytest.raises(ValueError, match="`seed` -1"):
        run(tmp_path / "a.hcpe", games, test_share=0.5, seed=-1)
    with pytest.raises(FileNotFoundError, match=r"none\.csa"):
        run(tmp_path / "a.hcpe", tmp_path / "none.csa")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*before, "bad", "bad.hcpe"])


def test_refused_records_are_reported(games: Path, tmp_path: Path) -> None:
    raw = bytearray(games.read_bytes())
    raw[36:38] = b"\x00\x00"
    games.write_bytes(bytes(raw))
    summary = run(tmp_path / "a.hcpe", games)
    assert summary.refused == {"an illegal move": 1}
    assert summary.first_refused == [f"{games} game 1 at byte 0: an illegal move"]
    assert "refused  1 an illegal move" in as_text(summary)


def test_verbs_print_one_object(games: Path, data_directory: Path, tmp_path: Path) -> None:
    for verb in (
        Convert((games, data_directory), tmp_path / "a.hcpe", json=True),
        Stat((games, data_directory), json=True),
    ):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            verb.run()
        assert json.loads(out.getvalue())["refused"] == {}


def test_stat_describes_data(games: Path, tmp_path: Path) -> None:
    report = describe((games,))
    batch = read_all([games])
    assert report.games == 60
    assert report.positions == len(batch)
    assert report.duplicate_games == 1
    assert sum(report.results.values()) == 60
    assert report.results["draw by sennichite"] >= 1
    assert report.in_check == pytest.approx(batch.in_check.mean())
    assert report.abs_score["p50"] == int(np.percentile(np.abs(batch.score.astype(int)), 50, method="inverted_cdf"))
    text = stat_text(report)
    assert "60, 1 of them duplicates" in text
    run(tmp_path / "a.hcpe", games)
    flat = describe((tmp_path / "a.hcpe",))
    assert flat.results_of == "positions"
    assert sum(flat.results.values()) == len(batch)
    for name in ("abs_score", "in_check", "duplicate_positions", "score_sign_agrees_with_result"):
        assert getattr(flat, name) == getattr(report, name)
    assert "games " not in stat_text(flat)
    both = describe((games, tmp_path / "a.hcpe"))
    assert both.results_of == "positions"
    assert sum(both.results.values()) == 2 * len(batch)
    assert both.results == {name: 2 * count for name, count in flat.results.items()}


def test_counts_of_one_are_singular() -> None:
    counts = {"games without a position left": 1, "positions of games ended by draw": 1, "positions too early": 2000}
    said = "1 game without a position left, 1 position of games ended by draw, 2,000 positions too early"
    assert reasons_text(counts) == said


def test_an_error_about_a_full_disk_names_the_file(tmp_path: Path, data_directory: Path) -> None:
    """With a limit of 1 KB no file is left, and the error names the output."""
    path, game = tmp_path / "out" / "a.hcpe", data_directory / "scored.csa"
    run(path, game)
    before = path.read_bytes()
    resource = pytest.importorskip("resource", reason="limits of files are POSIX's")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            run(path, game, overwrite=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.filename == str(path)
    assert [child.name for child in path.parent.iterdir()] == ["a.hcpe"]
    assert path.read_bytes() == before


def test_existing_files_are_not_overwritten_by_default(games: Path, tmp_path: Path) -> None:
    (tmp_path / "a.test.hcpe3").write_bytes(b"mine")
    with pytest.raises(ValueError, match=r"a\.test\.hcpe3"):
        run(tmp_path / "a.hcpe3", games, test_share=0.5, overwrite=False)
    assert not (tmp_path / "a.train.hcpe3").exists()
    assert (tmp_path / "a.test.hcpe3").read_bytes() == b"mine"
    run(tmp_path / "a.hcpe3", games, test_share=0.5)
    assert len(read_all([tmp_path / "a.test.hcpe3"]))


def test_the_progress_of_reading_has_the_time_left(tmp_path, sample_games, monkeypatch, capsys):
    """Files are weighed by their bytes, and record files are known in parts."""
    files = [tmp_path / name for name in ("a.hcpe3", "b.hcpe3")]
    for path in files:
        path.write_bytes(sample_games.read_bytes())
    monkeypatch.setattr("lite.datasets.chunks.PLAIN_SECONDS", 0.0)
    seconds = iter(range(100))
    monkeypatch.setattr("lite.datasets.chunks.time.monotonic", lambda: 60 * next(seconds))
    positions = sum(len(chunk.positions) for chunk in ChunkReader(files))
    lines = capsys.readouterr().err.splitlines()
    assert lines[1::2] == [  # of two blocks each
        f"file 1/2 a.hcpe3: {positions // 2:,} positions, 2:00 left",
        f"file 2/2 b.hcpe3: {positions:,} positions, 0:00 left",
    ]
