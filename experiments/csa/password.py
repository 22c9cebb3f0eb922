"""The password of an account, which stands neither on the command line nor in any file of a run."""

from __future__ import annotations

import getpass
import os
import sys
from pathlib import Path

from search.system.files import complaints_about
from search.system.options import OptionError

VARIABLE = "CSA_PASSWORD"
"""Environment variable of the password. It lacks this project's prefix, so that engines do not get it."""
_LONGEST_FILE = 4096


def find_password(file: Path | None) -> str:
    """Return the password: the first line of `file`, else the environment's, else the answer on the terminal.

    Raises OSError, or OptionError if there is none or it cannot be sent.
    """
    if file is not None:
        with complaints_about(file), open(file, "rb") as opened:
            content = opened.read(_LONGEST_FILE)
        return _checked(content.decode("utf-8", "replace").partition("\n")[0].strip(), f"`password_file` {file}")
    if VARIABLE in os.environ:
        return _checked(os.environ[VARIABLE], f"the variable {VARIABLE}")
    if sys.stdin is not None and sys.stdin.isatty():
        return _checked(getpass.getpass("password: "), "the password")
    raise OptionError(f"`password_file`: required, or set the variable {VARIABLE}", "password_file")


def _checked(password: str, place: str) -> str:
    """Return the password if the protocol can carry it."""
    if not password or not password.isascii() or not password.isprintable() or " " in password:
        raise OptionError(f"{place}: must be of ASCII characters without blanks", "password_file")
    return password
