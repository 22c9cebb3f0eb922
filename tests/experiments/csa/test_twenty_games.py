"""Twenty games of two networks on a server on this machine, with two lost connections."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from experiments.csa.play import play_on_server
from experiments.csa.server_play import ServerPlay
from experiments.csa.server_results import ServerReport
from tests.experiments.csa.conftest import differences
from tests.experiments.csa.csa_server import CsaServer, Rules

GAMES = 20


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_twenty_games_are_kept_as_in_the_records_of_the_server(tmp_path: Path) -> None:
    nets = {"first": "default", "second": "lite-16-4-32"}

    def played(name: str) -> ServerReport:
        options = ServerPlay(
            name=name,
            host="127.0.0.1",
            port=server.port,
            game="test-60-2F",
            engine="liteshogi",
            # With one thread all games would be the same.
            option=(f"EvalFile={nets[name]}", "NodesLimit=2000", "Threads=2", "USI_Hash=16", "NetworkDelay2=200"),
            ponder=name == "first",
            games=GAMES,
            output=tmp_path / name,
        )
        return play_on_server(options, f"secret-{name}")

    with CsaServer(Rules(drops={6: (21, 0), 13: (40, 0)})) as server, ThreadPoolExecutor(2) as pool:
        first, second = pool.map(played, nets)
    print(first, second, sep="\n")
    assert [report.games for report in (first, second)] == [GAMES, GAMES]
    assert first.lost_connections + second.lost_connections == 2
    assert first.unfinished + second.unfinished == 2
    assert first.losses_on_time + second.losses_on_time == 0
    assert {record.ending for record in server.records} <= {"toryo", "sennichite", "max_moves", "kachi", "abnormal"}
    assert [differences(tmp_path / name, server.records) for name in nets] == [[], []]
