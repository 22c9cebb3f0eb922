"""Standard streams of a process that communicates by lines, on Windows too."""

from __future__ import annotations

import codecs
import errno
import os
import stat
import sys
from io import BufferedWriter, RawIOBase, TextIOWrapper
from typing import Any, TextIO


class _UnfailingStream(RawIOBase):
    """A stream that ignores write errors, because its reader may have gone."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self._stream.fileno())

    def isatty(self) -> bool:
        return bool(self._stream.isatty())

    def write(self, text: Any, /) -> int:
        try:
            written = self._stream.write(text)
        except OSError:
            written = None
        return len(text) if written is None else int(written)


def complete_streams() -> None:
    """Make sure that all three standard streams exist, and that writing to them never ends long work.

    If one was closed (`2>&-`), the next file to be opened would take its number and receive the error messages of
    libraries; and `print` would use standard output in place of a missing standard error.

    A character that standard output's encoding lacks, as a Western Windows or ASCII lacks those of Japanese names, is
    written as `\\u65e5`. A line of progress is dropped if the reader (`2>&1 | head`) or the terminal of standard error
    has gone: otherwise a training run would lose everything since its last checkpoint.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):  # opening takes the lowest free number
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115 (never closed)
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)
    if sys.stderr is sys.__stderr__ and isinstance(sys.stderr, TextIOWrapper):
        unfailing = _UnfailingStream(getattr(sys.stderr.buffer, "raw", sys.stderr.buffer))  # `python -u` has no buffer
        encoding, errors = sys.stderr.encoding, sys.stderr.errors
        sys.stderr = TextIOWrapper(BufferedWriter(unfailing), encoding, errors, line_buffering=True)
    if not isinstance(sys.stdout, TextIOWrapper):
        return
    is_utf8 = codecs.lookup(sys.stdout.encoding).name == "utf-8"
    if sys.stdout.errors == "strict" or (sys.stdout.errors == "surrogateescape" and not is_utf8):  # in the C locale
        sys.stdout.reconfigure(errors="backslashreplace")


def has_no_reader(error: OSError) -> bool:
    """Return whether an error means that the reader of a pipe has gone; Windows reports an invalid argument."""
    unread = os.name == "nt" and error.errno == errno.EINVAL and error.filename is None
    return isinstance(error, BrokenPipeError) or unread


def leave_terminal() -> None:
    """Send output for a closed terminal to the null device: every write to the terminal would raise OSError."""
    null = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        if stat.S_ISCHR(os.fstat(number).st_mode):
            os.dup2(null, number)
    os.close(null)


def take_input() -> TextIO | None:
    """Return standard input as UTF-8 text for one thread to read; None if there is none.

    Invalid bytes become surrogate escapes. The caller takes over the pipe, and standard input becomes an empty file. On
    Windows a pipe serves one caller at a time: while a thread waits for a line, every call that asks for the kind of
    standard input waits with it. Libraries make such calls as they are loaded (NumPy's,
    github.com/numpy/numpy/issues/24290). An engine that imports them after `isready` would be ready only at the GUI's
    next line, which never comes.
    """
    if sys.stdin is None:
        return None
    own, empty = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)  # sets the Windows handle as well
    os.close(empty)
    return open(own, encoding="utf-8", errors="surrogateescape")


def take_output() -> TextIO | None:
    """Return standard output as UTF-8 text with line ends as they are written; None if there is none.

    Windows with a Japanese locale would use cp932.
    """
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure:
        reconfigure(encoding="utf-8", errors="replace", newline="\n")
    return sys.stdout
