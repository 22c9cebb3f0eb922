"""Check that imported packages are LiteShogi's own: other programs may have top-level packages of the same names."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("search", "lite", "export", "experiments")


def refuse_foreign_packages() -> None:
    """Raise ImportError, in one line with the remedy, if a package of another program would be imported."""
    root = Path(__file__).resolve().parents[1]
    for package in PACKAGES:
        spec = find_spec(package)
        places = [Path(place).resolve() for place in (spec.submodule_search_locations or ())] if spec else []
        if spec is not None and spec.origin and not places:
            places = [Path(spec.origin).resolve()]  # a module, search.py
        if root / package not in places[:1]:
            found = f"{places[0]} is imported instead of" if places else "nothing is found for"
            raise ImportError(
                f"{found} LiteShogi's own {package} ({root / package}): remove that folder from PYTHONPATH, start in "
                "another folder, or uninstall the package that installed it"
            )
