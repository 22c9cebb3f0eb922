"""Linux control groups, which limit a container or a batch job to a part of the machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_GROUPS, _MEMBERSHIP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def groups_of(controller: str) -> Iterator[tuple[int, Path]]:
    """Yield (version, folder) of this process's control group with the controller, and of each group that contains
    it."""
    for line in text_of(_MEMBERSHIP).splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            version, top = 2, _GROUPS
        elif controller in controllers.split(","):
            version, top = 1, _GROUPS / controller
        else:
            continue
        group = top / path.lstrip("/")  # a path of the host; a container may see only the top
        for folder in (group, *group.parents):
            if folder.is_relative_to(top):
                yield version, folder


def text_of(path: Path) -> str:
    """Return the text of a file; empty if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")  # as the system's calls encode paths
    except OSError:
        return ""
