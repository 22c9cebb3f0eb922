"""`--config FILE`: the options of another run, which those of the command line override."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Annotated, Any

import tyro

from search.system.files import read_text
from search.system.metadata import parse_json

Configuration = Annotated[
    Path | None,
    tyro.conf.arg(help="Options to begin with, the config.json of a run or a file like it; those given here override."),
]


def configured(command: type, words: list[str], kind: str) -> Any:
    """The `command` that the file behind `--config` among `words` describes; None where there is no such option.

    A file is a JSON object of options by their names on the command line, `data` among them; all but `kind`, which
    must be this one where it stands there, may be left out. Raises OSError or ValueError in words."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--config", type=Path)
    path = parser.parse_known_args(words)[0].config
    if path is None:
        return None
    return described(command, read_configuration(path), path, kind)


def read_configuration(path: Path) -> dict[str, Any]:
    """The options that a file holds, by their names on the command line, and perhaps `kind`. Raises as `configured`."""
    text = read_text(path)
    try:
        options = parse_json(text)
    except ValueError as error:
        raise ValueError(f"{path}: not a JSON file: {error}") from None
    if not isinstance(options, dict):
        raise ValueError(f"{path}: not options of a run: a JSON object is needed, as in a run's config.json")
    if "config" in options:
        raise ValueError(f"{path}: config: a file of options names no other; put the options of both into one")
    return options


def described(command: type, options: dict[str, Any], path: Path, kind: str) -> Any:
    """The `command` of a kind that the options of the file `path` describe. Raises ValueError in words."""
    of = options.get("kind", kind)
    if of != kind:
        raise ValueError(f"{path}: options of `liteshogi train {of}`, not of `liteshogi train {kind}`")
    try:
        return tyro.cli(command, args=_words(options), prog=f"liteshogi train {kind}")
    except SystemExit:
        raise ValueError(f"{path}: its options cannot be taken, for the reason above") from None


def _words(options: dict[str, Any]) -> list[str]:
    """Options as the command line has them."""
    words = _values(options.get("data", []))
    for name, value in options.items():
        if isinstance(value, bool):
            words.append(f"--{'' if value else 'no-'}{name}")
        elif name not in ("data", "kind"):
            words += [f"--{name}", *_values(value)]
    return words


def _values(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]
