"""Identities of engines: what decides their answers, wherever their files lie."""

from __future__ import annotations

from experiments.usi_client.engines import ask_engine
from experiments.usi_client.identity import identity_of, playing_conditions
from lite.datasets.provenance import sha256_of


def test_files_of_one_name_are_all_part_of_the_identity(scripted, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "net.bin").write_text(folder)
    engine = ask_engine(scripted.command(), [f"EvalFile={tmp_path}/a/net.bin", f"Book Dir={tmp_path}/b"])
    digests = {path: sha256_of(path) for path in engine.files()}
    assert identity_of(engine, digests).files == {
        scripted.program.name: digests[scripted.program][:16],
        "a/net.bin": digests[tmp_path / "a" / "net.bin"][:16],
        "b/net.bin": digests[tmp_path / "b" / "net.bin"][:16],
    }


def test_engines_of_one_command_are_asked_for_their_signature_once(scripted, tmp_path):
    scripted.sign(669983)
    engines = {
        style: ask_engine(scripted.command("liteshogi"), [f"Style={style.capitalize()}"]) for style in ("fast", "slow")
    }
    diary = tmp_path / "diary"
    for engine in engines.values():
        engine.environment["LITESHOGI_DIARY"] = str(diary)
    found = playing_conditions(engines, {scripted.program: sha256_of(scripted.program)})
    assert {one["signature"] for one in found.values()} == {"669983"}
    assert [one["options"]["Style"] for one in found.values()] == ["Fast", "Slow"]
    assert diary.read_text().count("bench\n") == 1
