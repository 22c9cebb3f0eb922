"""The verb that writes a binary book, and the engine playing from it."""

from __future__ import annotations

import json
import subprocess
import sys

from search.rules.shogi import START_SFEN


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "liteshogi", *words], capture_output=True, text=True, timeout=300)


def test_a_text_book_is_converted_to_a_binary_book_and_played(protocol, tmp_path):
    source = tmp_path / "mine.db"
    source.write_text(f"#YANEURAOU-DB2016 1.00\nsfen {START_SFEN}\n9g9f none 5 20 3\nbad line\n")
    made = json.loads(run("book", str(source), "--json").stdout)
    assert (made["positions"], made["moves"], made["ignored"]) == (1, 1, 1)
    again = run("book", str(source))
    assert again.returncode == 1
    assert "--overwrite" in again.stderr
    other = run("book", str(source), "-o", str(tmp_path / "other.ybb"))
    assert "left out 1 line that cannot be read, the first: line 4: " in other.stdout
    source.unlink()
    protocol.send(f"setoption name BookDir value {tmp_path}", "setoption name BookFile value mine.db", "isready")
    protocol.until("readyok")
    assert protocol.send("position startpos", "go byoyomi 100").bestmove() == "9g9f"


def test_an_error_names_a_book_that_cannot_be_converted(tmp_path):
    path = tmp_path / "no book.db"
    path.write_text("words\n")
    done = run("book", str(path))
    assert done.returncode == 1
    assert str(path) in done.stderr
    assert done.stderr.count("\n") == 1
    assert [one.name for one in tmp_path.iterdir()] == ["no book.db"]
