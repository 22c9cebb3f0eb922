"""A conversion's training and test parts: by game, of one format, neither empty."""

from __future__ import annotations

from pathlib import Path

import pytest

from lite.records.reader import read_all
from search.system.options import OptionError
from tests.lite.datasets.conftest import differing, run


def test_split_is_by_game(games: Path, tmp_path: Path) -> None:
    original = read_all([games])
    train, test = tmp_path / "train.hcpe3", tmp_path / "test.hcpe3"
    summary = run(train, games, test_output=test, test_share=0.3)
    shares = [output.games for output in summary.outputs]
    assert sum(shares) == 60
    assert 5 <= shares[1] <= 30
    assert not summary.warnings
    assert len(read_all([train])) + len(read_all([test])) == len(original)
    # A game belongs to the same part in every format.
    run(tmp_path / "train.hcpe", games, test_output=tmp_path / "test.hcpe", test_share=0.3)
    assert differing(read_all([test]), read_all([tmp_path / "test.hcpe"])) == {"ply"}
    run(tmp_path / "other.hcpe3", games, test_output=tmp_path / "o.hcpe3", test_share=0.3, seed=1)
    assert (tmp_path / "other.hcpe3").read_bytes() != train.read_bytes()


def test_split_names_its_two_files(games: Path, tmp_path: Path) -> None:
    summary = run(tmp_path / "made" / "all.hcpe3", games, test_share=0.3)
    written = [tmp_path / "made" / name for name in ("all.train.hcpe3", "all.test.hcpe3")]
    assert [output.path for output in summary.outputs] == [str(path) for path in written]
    assert sorted((tmp_path / "made").iterdir()) == sorted(written)
    run(tmp_path / "train.hcpe3", games, test_output=tmp_path / "test.hcpe3", test_share=0.3)
    assert [path.read_bytes() for path in written] == [
        (tmp_path / name).read_bytes() for name in ("train.hcpe3", "test.hcpe3")
    ]


@pytest.mark.parametrize(("share", "part"), [(0.001, "test"), (0.999, "train")])
def test_an_empty_part_of_a_split_is_refused(
    sample_bytes: list[bytes], tmp_path: Path, share: float, part: str
) -> None:
    game = tmp_path / "game.hcpe3"
    game.write_bytes(sample_bytes[0])
    with pytest.raises(OptionError, match=rf"all\.{part}\.hcpe3: .*1 game") as caught:
        run(tmp_path / "all.hcpe3", game, test_share=share)
    run(tmp_path / "one.hcpe", game, from_ply=len(read_all([game])) - 1)
    assert caught.value.fields == ("test_share", "seed")
    with pytest.raises(OptionError, match=rf"all\.{part}\.psv: .*1 position"):
        run(tmp_path / "all.psv", tmp_path / "one.hcpe", test_share=share)
    assert {path.name for path in tmp_path.iterdir()} == {"game.hcpe3", "one.hcpe"}


@pytest.mark.parametrize(
    ("output", "test_output"), [("a.hcpe3", "b.hcpe"), ("a.hcpe3", "b.psv"), ("a.hcpe", "b.hcpe3"), ("a.psv", "b.hcpe")]
)
def test_both_parts_must_have_the_same_format(games: Path, tmp_path: Path, output: str, test_output: str) -> None:
    with pytest.raises(OptionError, match=rf"`test_output` .*{test_output}: .*b{Path(output).suffix}"):
        run(tmp_path / output, games, test_output=tmp_path / test_output)
    assert not (tmp_path / output).exists()


def test_two_names_of_one_format_may_differ(games: Path, tmp_path: Path) -> None:
    summary = run(tmp_path / "a.psv", games, test_output=tmp_path / "b.bin", test_share=0.3)
    assert [len(read_all([output.path])) for output in summary.outputs] == [
        output.positions for output in summary.outputs
    ]


def test_split_of_positions_warns(games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path / "a.hcpe", games)
    summary = run(tmp_path / "train.psv", tmp_path / "a.hcpe", test_output=tmp_path / "test.psv", test_share=0.25)
    assert "split by position" in summary.warnings[0]
    assert "warning: a.hcpe: positions" in capsys.readouterr().err
    shares = [output.positions for output in summary.outputs]
    assert 0.2 < shares[1] / sum(shares) < 0.3
    # Equal positions, such as the start position, are never in both parts.
    train, test = (
        {batch.pieces[i].tobytes() + batch.hands[i].tobytes() + bytes([batch.turn[i]]) for i in range(len(batch))}
        for batch in (read_all([tmp_path / "train.psv"]), read_all([tmp_path / "test.psv"]))
    )
    assert not train & test
