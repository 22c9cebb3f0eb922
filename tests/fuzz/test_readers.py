"""All readers accept valid files and report an error for others: files found by the fuzzer, and mutations."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.reader import Finding, Reader, attempt
from tests.fuzz.readers import READERS

FOUND = Path(__file__).parents[1] / "data" / "fuzz"
"""Inputs on which a reader failed in the past, in one folder per reader."""
FOREIGN = (
    *(b"", b"\0", b"\xff", b"\n", b'"', b" ", b"-1", b"0", b"1e999", b"nan", b"null", b"[]", b"{}", b"true"),
    *(b"9" * 30, b"9" * 5000, b"[" * 5000, "\u2028".encode(), b"=", b",", b":", b"/", b"+"),
)
"""Replacements that change more than a random byte."""
RELAXED = settings(
    max_examples=12,
    derandomize=True,
    database=None,
    suppress_health_check=[*settings.default.suppress_health_check, HealthCheck.data_too_large],
)
every_reader = pytest.mark.parametrize("reader", READERS.values(), ids=READERS)


@pytest.fixture(autouse=True)
def _quiet(capsys: pytest.CaptureFixture[str]) -> None:
    """Capture standard error, on which some readers report why they refuse a file."""


@every_reader
def test_valid_files_are_read(reader: Reader, tmp_path: Path) -> None:
    for content in reader.seeds():
        outcome = attempt(reader, content, tmp_path)
        assert not (isinstance(outcome, type) and issubclass(outcome, Exception)), content


@pytest.mark.parametrize("path", sorted(FOUND.glob("*/*")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_findings_of_the_fuzzer_are_read_or_refused_in_one_line(path: Path, tmp_path: Path) -> None:
    attempt(READERS[path.parent.name], path.read_bytes(), tmp_path)


@st.composite
def mutated(draw: st.DrawFn, contents: list[bytes]) -> bytes:
    """Draw a valid file with pieces removed, doubled, exchanged or replaced."""
    content = draw(st.sampled_from(contents))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(content)))
        stop = at + draw(st.integers(0, 12))
        place = draw(st.integers(0, len(content)))
        pieces = st.sampled_from([*FOREIGN, content[place : place + 12], content[place : place + 200]])
        content = content[:at] + draw(pieces | st.binary(max_size=4)) + content[stop:]
    return content


def try_mutations(reader: Reader, folder: Path, how: settings) -> None:
    @how
    @given(content=mutated(list(reader.seeds())))
    def check(content: bytes) -> None:
        attempt(reader, content, folder)

    check()


@every_reader
def test_damaged_files_are_read_or_refused_in_one_line(reader: Reader, tmp_path: Path) -> None:
    try_mutations(reader, tmp_path, RELAXED)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@every_reader
def test_many_damaged_files_are_read_or_refused_in_one_line(reader: Reader, tmp_path: Path) -> None:
    try_mutations(reader, tmp_path, settings(RELAXED, max_examples=3000, derandomize=False))


@pytest.mark.parametrize(
    ("name", "before", "piece", "after"),
    [
        ("kif", "   1 ７六歩(77)\n*解析 ", "候補1 ", "\n   2 中断\n"),
        ("kif", "   1 ７六歩(77)\nまで1手で", "先手の", "\n"),
        ("csa", "PI\n+\n+7776FU\n'summary:a:", " win:", "\n%CHUDAN\n"),
    ],
)
def test_long_lines_are_read_in_linear_time(name: str, before: str, piece: str, after: str, tmp_path: Path) -> None:
    attempt(READERS[name], (before + piece * (200_000 // len(piece)) + after).encode(), tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("reader", [READERS[name] for name in READERS if name != "pairs"])  # it plays games
def test_repeated_pieces_are_read_in_linear_time(reader: Reader, tmp_path: Path) -> None:
    """Quadratic time would be noticed at 100,000 bytes."""
    for content in reader.seeds():
        lines = content.splitlines(keepends=True)
        for number, line in enumerate(lines[:40]):
            for piece in (line, line.strip(), line.strip()[: len(line) // 2], line.strip()[len(line) // 2 :]):
                if piece:
                    long = piece * (100_000 // len(piece))
                    attempt(reader, b"".join([*lines[:number], long, *lines[number:]]), tmp_path)


def test_broken_contracts_are_findings(tmp_path: Path) -> None:
    def refuse(words: str) -> Reader:
        def read(path: Path) -> None:
            raise ValueError(words.format(path=path))

        return Reader(read, "a", list)

    assert attempt(refuse("{path}: no"), b"", tmp_path) is ValueError
    for words in ("no", "{path}\n", ""):
        with pytest.raises(Finding):
            attempt(refuse(words), b"", tmp_path)
    with pytest.raises(Finding, match="library"):
        attempt(Reader(lambda path: path.read_text(encoding="ascii"), "a", list), b"\xff", tmp_path)
