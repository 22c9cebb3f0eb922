"""Check that the imported rooms are LiteShogi's own: other programs may have top-level packages of the same names."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

ROOMS = ("search", "lite", "export", "experiments")


def refuse_foreign_rooms() -> None:
    """Raise ImportError, in one line with the remedy, if another program's package would be imported as a room."""
    house = Path(__file__).resolve().parents[1]
    for room in ROOMS:
        spec = find_spec(room)
        places = [Path(place).resolve() for place in (spec.submodule_search_locations or ())] if spec else []
        if spec is not None and spec.origin and not places:
            places = [Path(spec.origin).resolve()]  # a module, search.py
        if house / room not in places[:1]:
            found = f"{places[0]} is imported instead of" if places else "nothing is found for"
            raise ImportError(
                f"{found} LiteShogi's own {room} ({house / room}): remove that folder from PYTHONPATH, start in "
                "another folder, or uninstall the package that installed it"
            )
