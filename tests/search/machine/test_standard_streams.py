"""The pipe that a process is spoken to by is its listener's alone."""

from __future__ import annotations

import subprocess
import sys

LISTEN = """
import os
from search.machine.standard_streams import take_input
stream = take_input()
print(ascii((os.read(0, 9), stream.readline(), stream.read())))
"""


def test_who_asks_about_standard_input_finds_an_empty_file():
    """While a thread waits in a read of a pipe, Windows answers nobody who asks about it."""
    said = "usi 手\r\nquit".encode()
    found = subprocess.run([sys.executable, "-c", LISTEN], input=said, capture_output=True, check=True)
    assert found.stdout.decode().strip() == ascii((b"", "usi 手\n", "quit"))


def test_there_may_be_no_standard_input():
    code = "import sys; sys.stdin = None; from search.machine.standard_streams import take_input; print(take_input())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.split() == [b"None"]
