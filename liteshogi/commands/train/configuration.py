"""`--config FILE`: options from a file; options on the command line override them."""

from __future__ import annotations

import argparse
import io
import json
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Annotated, Any

import tyro

from lite.run_folder import FORMAT
from search.system.files import read_text
from search.system.metadata import one_line, parse_json

Configuration = Annotated[
    Path | None,
    tyro.conf.arg(
        help="File of options: the run.json of a run, or a JSON object; options given here override it. "
        "To replace the file's data, name the new data before all options."
    ),
]


def configured(command: type, words: list[str], kind: str) -> Any:
    """Return the command that the file after `--config` in `words` describes; None without that option.

    The file is a run's run.json, or a JSON object of options by their names on the command line or in Python, and
    `data`. Every option may be omitted. If it has a `kind`, it must be this one. Raises OSError or ValueError.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--config", type=Path, nargs="?")  # tyro complains about a missing file
    path = parser.parse_known_args(words)[0].config
    if path is None:
        return None
    return described(command, read_configuration(path), path, kind)


def read_configuration(path: Path) -> dict[str, Any]:
    """Return the options in a file, by their names on the command line, and `kind` if given. Raises as `configured`."""
    text = read_text(path)
    try:
        options = parse_json(text)
    except ValueError as error:
        raise ValueError(f"{path}: not a JSON file: {error}") from None
    if not isinstance(options, dict):
        raise ValueError(f"{path}: not the options of a run: a JSON object is required, or a run's run.json")
    if options.get("format") == FORMAT:
        parts = [part for part in (options.get("options"), options.get("goal")) if isinstance(part, dict)]
        if len(parts) < 2:
            raise ValueError(f"{path}: not the options of a run: it has no options and goal")
        options = {name: value for part in parts for name, value in part.items()}
    if "config" in options:
        raise ValueError(f"{path}: config: a file of options cannot name another; put all options into one file")
    return {name.rstrip("_").replace("_", "-"): value for name, value in options.items()}


def described(command: type, options: dict[str, Any], path: Path, kind: str) -> Any:
    """Return the command of a kind that the options of the file `path` describe. Raises ValueError."""
    of = options.get("kind", kind)
    if of != kind:
        raise ValueError(f"{path}: options of `liteshogi train {of}`, not of `liteshogi train {kind}`")
    if (found := _parsed(command, options)) is None:
        raise ValueError(f"{path}: {_fault(command, options)}; see `liteshogi train {kind} --help`")
    return found


def _fault(command: type, options: dict[str, Any]) -> str:
    """Return why a command does not have these options. The parser's message is about a command line, so each option is
    tried alone."""
    for name, value in options.items():
        if _parsed(command, {"data": "games", name: value}) is None:
            text = one_line(json.dumps(value), 80)
            return f"{one_line(name)}: {text} is no value of it, or there is no such option"
    return "its options cannot be used together"


def _parsed(command: type, options: dict[str, Any]) -> Any:
    """Return the command with these options; None if it does not have them."""
    with suppress(SystemExit), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        return tyro.cli(command, args=_words(options))
    return None


def _words(options: dict[str, Any]) -> list[str]:
    """Return options as words of a command line."""
    words = _values(options.get("data", []))
    for name, value in options.items():
        if isinstance(value, bool):
            words.append(f"--{'' if value else 'no-'}{name}")
        elif name not in ("data", "kind"):
            words += [f"--{name}", *_values(value)]
    return words


def _values(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]
