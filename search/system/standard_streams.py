"""Standard input and output as a process that is spoken to by lines uses them, on Windows too."""

from __future__ import annotations

import codecs
import errno
import os
import stat
import sys
from io import BufferedWriter, RawIOBase, TextIOWrapper
from typing import Any, TextIO


class _Heard(RawIOBase):
    """A stream whose reader may go away: what cannot be written is not heard, and nobody is told."""

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
    """Have all three standard streams there, standard output able to write whatever text there is, and standard error
    one that ends no work.

    Where one was closed (`2>&-`), the next file to be opened has its number, and what a library complains of is written
    into that file; and `print` takes standard output for a standard error that is missing. A character that an encoding
    lacks, as a Western Windows or ASCII lacks those of Japanese names, is written `\\u65e5`: a report at the end of
    long work is no place to fail. Nor is a line of progress that a reader (`2>&1 | head`) or a terminal that has gone
    hears no more: a training would lose what it has learnt since it last saved.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):  # an open takes the lowest number there is
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115 (open to the end)
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)
    if sys.stderr is sys.__stderr__ and isinstance(sys.stderr, TextIOWrapper):
        heard = _Heard(getattr(sys.stderr.buffer, "raw", sys.stderr.buffer))  # `python -u` has no buffer
        encoding, errors = sys.stderr.encoding, sys.stderr.errors
        sys.stderr = TextIOWrapper(BufferedWriter(heard), encoding, errors, line_buffering=True)
    if not isinstance(sys.stdout, TextIOWrapper):
        return
    is_utf8 = codecs.lookup(sys.stdout.encoding).name == "utf-8"
    if sys.stdout.errors == "strict" or (sys.stdout.errors == "surrogateescape" and not is_utf8):  # the C locale's
        sys.stdout.reconfigure(errors="backslashreplace")


def has_no_reader(error: OSError) -> bool:
    """Whether something was for a pipe whose reader has gone, which to Windows is an invalid argument."""
    unread = os.name == "nt" and error.errno == errno.EINVAL and error.filename is None
    return isinstance(error, BrokenPipeError) or unread


def leave_terminal() -> None:
    """Have nobody hear what is said from here on to a terminal that was closed: each word to it would be an OSError."""
    nobody = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        if stat.S_ISCHR(os.fstat(number).st_mode):
            os.dup2(nobody, number)
    os.close(nobody)


def take_input() -> TextIO | None:
    """Standard input as UTF-8, for one thread of the process to read, bytes that are none of it by surrogate escapes;
    None if there is none.

    The pipe becomes this thread's own, and standard input an empty file. On Windows a pipe serves one caller at a time,
    and while a thread waits for a line, whoever asks what kind of file standard input is waits with it. Libraries do so
    as they are loaded (NumPy's, github.com/numpy/numpy/issues/24290): an engine that imports them after `isready` would
    be ready at the GUI's next line, which it never sends.
    """
    if sys.stdin is None:
        return None
    own, empty = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)  # tells Windows as well
    os.close(empty)
    return open(own, encoding="utf-8", errors="surrogateescape")


def take_output() -> TextIO | None:
    """Standard output as UTF-8, its lines ending as they are written; None if there is none. Windows with a Japanese
    locale would use cp932."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure:
        reconfigure(encoding="utf-8", errors="replace", newline="\n")
    return sys.stdout
