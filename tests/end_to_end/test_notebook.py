"""The notebook runs from its first cell to its last."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib

NOTEBOOK = Path(__file__).parents[2] / "docs" / "guide" / "first_net.ipynb"


def test_the_notebook_leads_from_games_to_a_playing_network(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    cells = [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    for cell in cells:
        # As many steps as the notebook's, of fewer positions each: enough to be better than material.
        source = "".join(cell["source"]).replace("epochs=15", "epochs=2, batch_size=1024")
        exec(compile(source, "first_net.ipynb", "exec"), names)
    assert names["made"].count("positions") >= 30_000
    report = names["report"]
    assert report.accuracy > report.material_accuracy > 0.55
    assert names["cost"].float64_max_error < 1e-9
    assert names["match"].wins + names["match"].draws + names["match"].losses == 20
    printed = capsys.readouterr().out
    assert all(f"\n{rank}. " in printed for rank in (1, 2, 3))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notebook"]
