"""Standard streams: one reader of standard input, and output that never ends the work."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from search.system.standard_streams import has_no_reader

LISTEN = """
import os
from search.system.standard_streams import take_input
stream = take_input()
print(ascii((os.read(0, 9), stream.readline(), stream.read())))
"""


def test_other_threads_see_an_empty_standard_input():
    """While a thread waits in a read of a pipe, Windows blocks all other calls about it."""
    said = "usi 手\r\nquit".encode() + b"\xff"
    found = subprocess.run([sys.executable, "-c", LISTEN], input=said, capture_output=True, check=True)
    assert found.stdout.decode().strip() == ascii((b"", "usi 手\n", "quit\udcff"))


def test_standard_input_may_be_missing():
    code = "import sys; sys.stdin = None; from search.system.standard_streams import take_input; print(take_input())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.split() == [b"None"]


@pytest.mark.parametrize(
    ("encoding", "written"),
    [
        ("ascii:strict", rb"\u7532 \udcff"),
        ("ascii:surrogateescape", rb"\u7532 \udcff"),  # of LC_ALL=C without Python's UTF-8 mode
        ("utf-8:surrogateescape", "甲 ".encode() + b"\xff"),  # of LC_ALL=C: a file's name is written as it is
    ],
)
def test_standard_output_accepts_any_text(encoding, written):
    code = "from search.system.standard_streams import complete_streams; complete_streams(); print('\\u7532 \\udcff')"
    env = os.environ | {"PYTHONIOENCODING": encoding}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=env)
    assert done.stdout.strip() == written


def test_work_continues_after_standard_error_has_no_reader():
    code = """
import os, sys
from search.system.standard_streams import complete_streams
complete_streams()
reading, writing = os.pipe()
os.dup2(writing, 2)
print("甲", file=sys.stderr)
assert os.read(reading, 9).decode().strip() == "甲"
os.close(reading)
print("乙", file=sys.stderr, flush=True)
print("done")
"""
    done = subprocess.run([sys.executable, "-X", "utf8", "-c", code], capture_output=True, check=True)
    assert done.stdout.split() == [b"done"]


@pytest.mark.parametrize(
    ("system", "error", "unread"),
    [
        ("posix", BrokenPipeError(errno.EPIPE, "Broken pipe"), True),
        ("posix", OSError(errno.EINVAL, "Invalid argument"), False),
        ("posix", OSError(errno.ENOSPC, "No space left on device"), False),
        ("nt", BrokenPipeError(errno.EPIPE, "Broken pipe"), True),
        ("nt", OSError(errno.EINVAL, "Invalid argument"), True),
        ("nt", OSError(errno.EINVAL, "Invalid argument", "a:b.hcpe"), False),
        ("nt", OSError(errno.ENOSPC, "No space left on device"), False),
    ],
)
def test_a_pipe_without_a_reader_is_recognised(system, error, unread, monkeypatch):
    """On Windows by the exception that CPython 3.11 raises there."""
    with monkeypatch.context() as patch:
        patch.setattr(os, "name", system)
        found = has_no_reader(error)
    assert found == unread
