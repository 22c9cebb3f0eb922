"""The rooms are top-level packages, whose names other programs may have too: whether ours are the ones imported."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

ROOMS = ("search", "lite", "export", "experiments")


def refuse_foreign_rooms() -> None:
    """Raises ImportError, in one line with the remedy, if a package of another program stands in a room's place."""
    house = Path(__file__).resolve().parents[1]
    for room in ROOMS:
        spec = find_spec(room)
        places = [Path(place).resolve() for place in (spec.submodule_search_locations or ())] if spec else []
        if spec is not None and spec.origin and not places:
            places = [Path(spec.origin).resolve()]  # a module, search.py
        if house / room not in places[:1]:
            found = f"{places[0]} is imported instead of" if places else "nothing is found for"
            raise ImportError(
                f"{found} LiteShogi's own {room} ({house / room}): take that folder off PYTHONPATH, start from another "
                "directory, or uninstall what brought it"
            )
