"""Linux's control groups, by which a container or a batch job is given less than the machine has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_GROUPS, _MEMBERSHIP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def groups_of(controller: str) -> Iterator[tuple[int, Path]]:
    """(Version, folder) of the group of this process that has the controller, and of each group around it."""
    for line in text_of(_MEMBERSHIP).splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            version, top = 2, _GROUPS
        elif controller in controllers.split(","):
            version, top = 1, _GROUPS / controller
        else:
            continue
        group = top / path.lstrip("/")  # as the host names it: inside a container the top may be all that is there
        for folder in (group, *group.parents):
            if folder.is_relative_to(top):
                yield version, folder


def text_of(path: Path) -> str:
    """What a file holds; nothing where there is none."""
    try:
        return path.read_text()
    except OSError:
        return ""
