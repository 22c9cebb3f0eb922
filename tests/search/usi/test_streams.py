"""Lines of a session in any encoding."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.usi.streams import decoded_lines


def received(sent: bytes) -> list[str]:
    stream = io.TextIOWrapper(io.BytesIO(sent), encoding="utf-8", errors="surrogateescape")
    return list(decoded_lines(stream))


@pytest.mark.parametrize("encoding", ["utf-8", "cp932"])
def test_paths_in_any_encoding_are_read(encoding: str) -> None:
    """MyShogi writes Shift_JIS, cshogi the system's encoding, ShogiHome UTF-8."""
    line = "setoption name EvalFile value /将棋 ソフト/能力表.safetensors\n"
    assert received(f"usi\n{line}isready\n".encode(encoding)) == ["usi\n", line, "isready\n"]


@given(st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"").replace(b"\r", b"") + b"\n")))
def test_any_bytes_are_lines_of_text_that_can_be_written(lines: list[bytes]) -> None:
    found = received(b"".join(lines))
    assert len(found) == len(lines)
    assert all(line.encode("utf-8") for line in found)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n")))
def test_utf_8_is_recognised(text: str) -> None:
    assert received(f"{text}\n".encode()) == [f"{text}\n"]
