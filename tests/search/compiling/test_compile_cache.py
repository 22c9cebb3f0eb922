"""Compiled code is never outdated or foreign, and damage to it does not prevent a function from running."""

from __future__ import annotations

import importlib.util
import os
import pickle
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from numba.core.codegen import JITCodeLibrary

from search.compiling import cache_directory, compile_cache, jit
from search.compiling.cache_files import CodeFiles
from tests.search.compiling.conftest import UNKNOWN_USER, as_root, posix

CHECKOUT = Path(__file__).parents[3]
TINY = """
from search.compiling.jit import jit

@jit
def double(number):
    return 2 * number

@jit
def eightfold(number):
    return double(double(double(number)))
"""
MISSES = "sum(sum(function.stats.cache_misses.values()) for function in (tiny.double, tiny.eightfold))"
SHOW = f"import tiny; print(tiny.eightfold(5), {MISSES})"
# The interpreter may be in root's home, so its modules are loaded before the user changes.
AS_UNKNOWN_USER = (
    "import os, tempfile, numba; numba.njit(lambda number: 2 * number)(1); import multiprocessing.util\n"
    f"os.setgroups([]); os.setgid({UNKNOWN_USER}); os.setuid({UNKNOWN_USER})\n"
)


@pytest.fixture
def load(tmp_path, monkeypatch) -> Callable[..., ModuleType]:
    """Load the tiny module as in a new process, with its code stored in tmp_path/cache."""
    (tmp_path / "tiny.py").write_text(TINY)
    # Python does not notice a changed source if time (in seconds) and size are the same.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def fresh(cache: str = "cache") -> ModuleType:
        monkeypatch.setattr(jit, "CACHE_DIRECTORY", tmp_path / cache / "environment")
        spec = importlib.util.spec_from_file_location("tiny", tmp_path / "tiny.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "tiny", module)
        spec.loader.exec_module(module)
        return module

    (tmp_path / "cache").mkdir(mode=0o700)
    return fresh


def compiled(module: ModuleType) -> int:
    """Return the number of functions that were compiled instead of loaded."""
    return sum(sum(function.stats.cache_misses.values()) for function in (module.double, module.eightfold))


def code_files(tmp_path: Path) -> list[Path]:
    return sorted(tmp_path.rglob("*.nbc"))


def run(code: str, *roots: Path, **environment: str | Path) -> subprocess.CompletedProcess[str]:
    """Run Python code with the packages of the first root that has them; variables are set, or unset by ""."""
    every = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, roots)), **environment}
    kept = {name: str(value) for name, value in every.items() if value}
    return subprocess.run([sys.executable, "-c", code], env=kept, cwd="/", capture_output=True, text=True, timeout=120)


def test_a_second_start_compiles_nothing(load, tmp_path, reported):
    first = load()
    assert first.eightfold(5) == 40
    assert compiled(first) == 2
    second = load()
    assert second.eightfold(5) == 40
    assert compiled(second) == 0
    assert len(code_files(tmp_path)) == 2
    assert reported == []


def test_machine_code_is_made_when_python_calls(load, tmp_path):
    """Until then a function is stored and loaded for its callers only."""
    load().eightfold(5)
    double = code_files(tmp_path)[0]
    for_callers = double.read_bytes()
    module = load()
    assert (module.double(5), module.double(6.5), compiled(module)) == (10, 13.0, 1)  # one other type
    assert double.read_bytes() != for_callers
    finished = double.read_bytes()
    module = load()
    assert (module.double(5), module.eightfold(5), compiled(module)) == (10, 40, 0)
    assert double.read_bytes() == finished


def test_a_caller_may_link_a_function_that_python_has_called(load, tmp_path):
    module = load()
    assert (module.double(5), module.eightfold(5), module.double(6)) == (10, 40, 12)
    assert len(code_files(tmp_path)) == 2


@pytest.fixture
def released(load, tmp_path, monkeypatch) -> list[Path]:
    """Return the files of the tiny module's code as part of a package, where others can write to them."""
    monkeypatch.setattr(compile_cache, "RELEASED", tmp_path / "package")
    load("package").eightfold(5)
    for lock in tmp_path.rglob("lock"):
        lock.unlink()
    for path in (tmp_path / "package").rglob("*"):
        path.chmod(0o777 if path.is_dir() else 0o666)
    return code_files(tmp_path)


def test_a_release_s_code_is_used_and_nothing_is_written(load, released, tmp_path, reported):
    module = load()
    assert (module.eightfold(5), compiled(module)) == (40, 0)
    assert (code_files(tmp_path), list((tmp_path / "cache").iterdir()), reported) == (released, [], [])


def test_a_release_s_code_of_other_sources_is_not_used(load, released, tmp_path):
    (tmp_path / "tiny.py").write_text(TINY.replace("2 * number", "3 * number"))
    module = load()
    assert (module.eightfold(5), compiled(module)) == (135, 2)


def test_damaged_code_of_a_release_is_replaced_in_the_cache(load, released, tmp_path, reported):
    for file in released:
        file.write_bytes(_flip(file.read_bytes()))
    module = load()
    assert (module.eightfold(5), compiled(module)) == (40, 2)
    assert len(reported) == 1
    assert str(tmp_path / "package") in reported[0]
    cache_directory._reported.clear()
    after = load()
    assert (after.eightfold(5), compiled(after), len(reported)) == (40, 0, 1)


@posix
def test_stored_code_is_for_the_user_only(load, tmp_path):
    load().eightfold(5)
    made = list((tmp_path / "cache" / "environment").rglob("*"))
    assert {file.name for file in code_files(tmp_path)} < {path.name for path in made}
    for path in made:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def _noise(content: bytes) -> bytes:
    return random.Random(1).randbytes(len(content))


def _flip(content: bytes) -> bytes:
    at = random.Random(len(content)).randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


@pytest.mark.parametrize(
    "damage",
    [lambda content: b"", lambda content: content[:20], lambda content: content[:-1], _noise, _flip],
    ids=["empty", "without a sum", "truncated", "random", "a bit"],
)
def test_a_damaged_file_is_compiled_again_once(load, tmp_path, reported, damage):
    load().eightfold(5)
    double, eightfold = code_files(tmp_path)
    for file in (double, eightfold):
        file.write_bytes(damage(file.read_bytes()))
        reported.clear()
        cache_directory._reported.clear()
        module = load()
        assert module.eightfold(5) == 40
        assert module.double(5) == 10
        assert compiled(module) == 1
        assert len(reported) == 1
        assert str(tmp_path / "cache") in reported[0]
        after = load()
        assert (after.double(5), after.eightfold(5), compiled(after)) == (10, 40, 0)


def test_a_file_in_the_place_of_another_counts_as_damaged(load, tmp_path, reported):
    load().eightfold(5)
    double, eightfold = code_files(tmp_path)
    shutil.copy(double, eightfold)
    module = load()
    assert module.eightfold(5) == 40
    assert compiled(module) == 1


def test_code_that_cannot_be_loaded_counts_as_damaged(load, tmp_path, reported, monkeypatch):
    load().eightfold(5)
    module = load()
    monkeypatch.setattr("numba.core.compiler.CompileResult._rebuild", lambda *_: 1 / 0)
    assert module.eightfold(5) == 40
    assert len(reported) == 1


def test_a_full_disk_is_reported_once(load, tmp_path, reported, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("search.compiling.cache_files.os.replace", full)
    module = load()
    assert module.eightfold(5) == 40
    assert module.double(2.0) == 4
    assert len(reported) == 1
    assert "No space left on device" in reported[0]
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["tiny.py", "lock"]


def test_a_cache_that_is_not_a_directory_stores_nothing(load, tmp_path, reported):
    (tmp_path / "file").touch()
    module = load("file")
    assert module.eightfold(5) == 40
    assert len(reported) == 1


def test_the_next_start_removes_the_file_of_a_killed_writer(load, tmp_path):
    load().double(5)
    (lock,) = tmp_path.rglob("lock")
    lock.with_name("lock.partial").write_bytes(b"half")
    load().double(5.0)
    assert not list(tmp_path.rglob("*.partial"))


def test_a_failed_compilation_releases_the_lock(load, tmp_path):
    from numba.core.errors import TypingError

    module = load()
    with pytest.raises(TypingError):
        module.eightfold(None)
    assert not module.double._cache.lock.held


def test_ctrl_c_loses_no_object(load, monkeypatch):
    """LLVM would pass it to a callback, where the exception and the object would be lost."""
    made, finalise = [], JITCodeLibrary._finalize_specific

    def pressed(library: JITCodeLibrary) -> None:
        signal.raise_signal(signal.SIGINT)
        finalise(library)
        made.append(library)

    module = load()
    with monkeypatch.context() as amid:
        amid.setattr(JITCodeLibrary, "_finalize_specific", pressed)
        with pytest.raises(KeyboardInterrupt):
            module.double(5)
    assert len(made) == 1
    assert module.double(5) == 10
    assert not module.double._cache.lock.held


@posix
def test_compiling_waits_and_loading_does_not(load, tmp_path):
    import fcntl

    load().double(5)
    (path,) = tmp_path.rglob("lock")
    with open(path, "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert load().double(5) == 10
        environment = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{CHECKOUT}"}
        code = (
            "from pathlib import Path\n"
            "from search.compiling import cache_files, jit\n"
            "cache_files.PATIENCE_SECONDS = 0.1\n"
            f"jit.CACHE_DIRECTORY = Path({str(tmp_path)!r}) / 'cache' / 'environment'\n"
            "import tiny; print(tiny.double(5), flush=True); print(tiny.eightfold(5))"
        )
        waiting = subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert waiting.stdout is not None
        assert waiting.stderr is not None
        assert waiting.stdout.readline() == "10\n"
        assert "another process compiles" in waiting.stderr.readline()
        assert waiting.poll() is None
    assert waiting.communicate(timeout=60)[0] == "40\n"


def test_four_cold_processes_compile_each_function_once(tmp_path):
    (tmp_path / "tiny.py").write_text(TINY)
    environment = {
        **os.environ,
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{CHECKOUT}",
        "LITESHOGI_CACHE": str(tmp_path / "cache"),
    }
    gated = SHOW.replace("; ", "; print(flush=True); input(); ", 1)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", gated], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    answers = [process.communicate(timeout=60)[0].split() for process in processes]
    assert [answer[0] for answer in answers] == ["40"] * 4
    assert sum(int(answer[1]) for answer in answers) == 2


RESULT = """
import numpy as np
from lite.records.encode import result_byte
from lite.records.batch import labelled_dtype
record = np.zeros(1, labelled_dtype)
record["result"] = 1
print(result_byte(record[0]), sum(result_byte.stats.cache_misses.values()))
"""


def test_an_edit_compiles_exactly_the_modules_that_see_it(tmp_path):
    for name in ("one", "two"):
        for package in ("search", "lite"):
            ignored = shutil.ignore_patterns("networks", "__pycache__")
            shutil.copytree(CHECKOUT / package, tmp_path / name / package, ignore=ignored)

    def answer(checkout: str) -> list[str]:
        done = run(RESULT, tmp_path / checkout, LITESHOGI_CACHE=tmp_path / "cache")
        assert not done.stderr
        return done.stdout.split()

    assert answer("one") == ["1", "1"]
    assert answer("two") == ["1", "0"], "equal sources share what is compiled"
    for unseen in ("search/usi/session.py", "lite/records/reader.py"):
        path = tmp_path / "two" / unseen
        path.write_text(path.read_text() + "\nEDITED = 1\n")
    assert answer("two") == ["1", "0"], "nothing compiled can see these"
    records = tmp_path / "two" / "lite" / "records" / "formats.py"
    text = records.read_text()
    swapped = text.replace("BLACK_WINS, WHITE_WINS = 0, 1, 2", "BLACK_WINS, WHITE_WINS = 0, 2, 1")
    assert swapped != text
    records.write_text(swapped)
    assert answer("two") == ["2", "1"]
    assert answer("one") == ["1", "0"]


@pytest.fixture
def open_path() -> Iterator[Path]:
    """Return a directory that every user may enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o755)
        yield path


@posix
@as_root
def test_without_a_home_the_user_has_a_directory(open_path):
    (open_path / "tiny.py").write_text(TINY)
    open_to_all = open_path / "temporary"
    open_to_all.mkdir()
    open_to_all.chmod(0o1777)
    nowhere = {"HOME": "", "XDG_CACHE_HOME": "", "LITESHOGI_CACHE": "", "TMPDIR": str(open_to_all)}
    for misses in (2, 0):
        done = run(AS_UNKNOWN_USER + SHOW, open_path, CHECKOUT, **nowhere)
        assert done.stdout.split() == ["40", str(misses)], done.stderr
    place = open_to_all / f"liteshogi-{UNKNOWN_USER}"
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    shutil.rmtree(place)
    place.mkdir(mode=0o777)  # owned by root, so trusted, but not writable: nothing is stored
    done = run(AS_UNKNOWN_USER + SHOW, open_path, CHECKOUT, **nowhere)
    assert done.stdout.split() == ["40", "2"]
    assert "not stored" in done.stderr
    os.chown(place, 12345, -1)
    done = run(AS_UNKNOWN_USER + SHOW, open_path, CHECKOUT, **nowhere)
    assert done.stdout.split() == ["40", "2"]
    assert "belongs to another user" in done.stderr
    assert not list(place.iterdir())
    assert not list(open_path.rglob("*.nbi")), "Numba fell back to a directory of its own"


@posix
@as_root
def test_a_read_only_cache_is_used(open_path):
    (open_path / "tiny.py").write_text(TINY)
    cache = open_path / "cache"
    assert run("import tiny; tiny.double(5)", open_path, CHECKOUT, LITESHOGI_CACHE=cache).returncode == 0
    for path in (cache, *cache.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    before = sorted(cache.rglob("*"))
    complete = run(AS_UNKNOWN_USER + "import tiny; print(tiny.double(5))", open_path, CHECKOUT, LITESHOGI_CACHE=cache)
    assert (complete.stdout, complete.stderr) == ("10\n", "")
    missing = run(AS_UNKNOWN_USER + SHOW, open_path, CHECKOUT, LITESHOGI_CACHE=cache)
    assert missing.stdout.split() == ["40", "1"], missing.stderr
    assert len(missing.stderr.splitlines()) == 1
    assert "not stored" in missing.stderr
    assert sorted(cache.rglob("*")) == before


class Planted:
    """A pickle that runs code when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("place", ["environment", "module"])
@posix
def test_a_planted_pickle_is_not_executed(load, tmp_path, reported, place):
    load().eightfold(5)
    for file in code_files(tmp_path):
        content = pickle.dumps(Planted(tmp_path / "harm"))
        file.write_bytes(CodeFiles(file.parent)._sum(file.name, content) + content)  # whole, according to its checksum
    {"environment": file.parents[1], "module": file.parent}[place].chmod(0o777)
    compile_cache._code_files.cache_clear()
    module = load()
    assert (module.eightfold(5), compiled(module)) == (40, 2)
    assert "others may write to" in reported[0]
    assert not (tmp_path / "harm").exists()


def start_verb(cache: Path, *words: str) -> subprocess.Popen[str]:
    """Start a verb of the command with a cache of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "liteshogi", *words],
        env={**os.environ, "LITESHOGI_CACHE": str(cache)},
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ends_well(process: subprocess.Popen[str], text: str = "") -> tuple[str, str]:
    output, messages = process.communicate(text, timeout=900)
    assert process.returncode == 0, messages
    return output, messages


PLAY = "isready\nposition startpos\ngo depth 3\nquit\n"


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_engine_works_with_a_damaged_cache(tmp_path):
    cache = tmp_path / "cache"
    first = start_verb(cache, "warmup")
    while not code_files(tmp_path):
        time.sleep(0.05)
    first.kill()
    first.communicate()
    cold = [
        start_verb(cache, "warmup"),
        start_verb(cache, "bench", "--depth", "3"),
        start_verb(cache, "perft", "startpos", "2"),
        start_verb(cache, "eval", "default", "startpos"),
    ]
    for process in cold:
        ends_well(process)
    odd = [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".nbc"]
    assert {path.name for path in odd} == {"lock", "complete"}

    files = code_files(tmp_path)
    damages = (lambda content: b"", lambda content: content[: len(content) // 2], _noise, _flip)
    for number, file in enumerate(files):
        file.write_bytes(damages[number % 4](file.read_bytes()))
    output, messages = ends_well(start_verb(cache), PLAY)
    assert output.count("was damaged") == 1
    assert "readyok" in output
    assert "bestmove resign" not in output
    assert messages == ""
    for _ in range(2):
        _, messages = ends_well(start_verb(cache, "bench", "--depth", "3"))
    assert messages == ""
