"""Random and malformed USI input: all of it is answered, and afterwards the engine plays a legal move."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.usi_nonsense import COMMANDS, KNOWN, SFENS, check_answers, is_harmless

PIECES = "PLNSGBRKplnsgbrk"


def check_play(session, is_legal_in) -> None:
    """Check that the engine plays a legal move with its original options."""
    session.send("stop")
    for option in ("USI_Hash value 1", "Threads value 1", "MultiPV value 1", "EvalFile value default"):
        session.send(f"setoption name {option}")
    session.send("setoption name ResignValue value 99999", "setoption name EnteringKingRule value CSARule27")
    check_answers(session.settle())
    session.send("usinewgame", "position startpos", "go nodes 100")
    answers = session.until("bestmove")
    check_answers(answers)
    assert is_legal_in("startpos", answers[-1].split()[1])


@pytest.fixture(scope="module")
def fuzzed(new_protocol):
    """Return one session for all examples of this file, so that later examples detect damage by earlier ones."""
    session = new_protocol()
    yield session
    session.usi.close()


@st.composite
def mutated(draw, texts):
    """Draw a valid text with characters or words removed, doubled, exchanged or replaced."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.integers(0, 4))
        if kind < 3:
            at = draw(st.integers(0, len(text)))
            cut = at + draw(st.integers(0, 3))
            new = (
                draw(st.text(max_size=3))
                if kind == 1
                else draw(st.text("PLNSGBRKplnsgbrk+123456789/ bw-*", max_size=3))
            )
            text = text[:at] + (new if kind else "") + text[cut:]
        else:
            words = text.split(" ")
            at = draw(st.integers(0, len(words) - 1))
            if kind == 3:
                words[at] = draw(st.sampled_from(["", "-1", "0", "9" * 30, "moves", "infinite", "\x00", words[0]]))
            else:
                words[at:at] = [words[at]] * draw(st.integers(1, 3))
            text = " ".join(words)
    return text


def lines_of(texts) -> st.SearchStrategy[str]:
    anything = st.binary(max_size=40).map(lambda data: data.decode("utf-8", "replace"))
    return (st.sampled_from(texts) | mutated(texts) | anything | st.text(max_size=40)).filter(is_harmless)


RELAXED = settings(
    max_examples=200,
    derandomize=True,
    suppress_health_check=[*settings.default.suppress_health_check, HealthCheck.data_too_large],
)


@RELAXED
@given(lines=st.lists(lines_of(COMMANDS), max_size=15))
def test_a_few_sessions_of_nonsense(fuzzed, is_legal_in, lines):
    for line in lines:
        fuzzed.send(line)
        words = line.lstrip("\ufeff").split()
        if words and words[0] not in KNOWN:
            assert any("unknown command" in answer for answer in fuzzed.waiting())
    check_answers(fuzzed.waiting())
    check_play(fuzzed, is_legal_in)


def played_sfen(generator: random.Random) -> str:
    """Return a position of a random game."""
    from search.rules.movegen import list_moves
    from search.rules.position import do_move
    from search.rules.sfen import get_sfen, position_from_sfen

    position = position_from_sfen(generator.choice(SFENS))
    for _ in range(generator.randrange(120)):
        moves = list_moves(position)
        if not moves:
            break
        do_move(position, np.int64(generator.choice(moves)))
    return get_sfen(position)


def random_sfen(generator: random.Random) -> str:
    """Return a position that may be legal, illegal, impossible, truncated or far too long."""
    kind = generator.randrange(10)
    if kind < 3:
        text = list(generator.choice(SFENS))
        for _ in range(generator.randint(0, 4)):
            at = generator.randrange(len(text))
            text[at : at + generator.randint(0, 2)] = generator.choice(PIECES + "+123456789/ bw-*x0\x00")
        return "".join(text)
    if kind == 3:
        text = generator.choice(SFENS)
        return text[: generator.randrange(len(text))]
    if kind == 4:
        text = generator.choice(SFENS)
        return text + " " + generator.choice((text, "9" * 40, "x", "/" * 3000, PIECES * 200))
    if kind < 7:
        return played_sfen(generator)
    ranks = []
    density = generator.choice((0.02, 0.1, 0.3, 0.7))
    for _ in range(9):
        row, empty = "", 0
        for _ in range(9):
            if generator.random() >= density:
                empty += 1
                continue
            piece = generator.choice("PLNSGBRplnsgbr")
            promoted = generator.random() < 0.2 and piece not in "Gg"
            row += (str(empty) if empty else "") + "+" * promoted + piece
            empty = 0
        ranks.append(row + (str(empty) if empty else ""))
    for king in "Kk" if generator.random() < 0.9 else "K":
        at = generator.randrange(9)
        ranks[at] = generator.choice((king + "8", "4" + king + "4", "8" + king))
    hands = "".join(str(generator.randint(1, 19)) + piece for piece in "RBGSNLPrbgsnlp" if generator.random() < 0.15)
    return f"{'/'.join(ranks)} {generator.choice('bw')} {hands or '-'} {generator.choice((1, 1, 99, 1999, 10**9))}"


def play_sfens(session, is_legal_in, count: int, seed: int) -> int:
    """Send a number of positions; return how many the engine accepted."""
    from search.rules.declaration import RULE_27, can_declare
    from search.rules.movegen import list_moves
    from search.rules.sfen import position_from_sfen

    generator = random.Random(seed)
    played = 0
    for _ in range(count):
        sfen = random_sfen(generator)
        session.waiting()
        session.send(f"position sfen {sfen}")
        messages = session.waiting()
        check_answers(messages)
        if messages:
            (message,) = messages
            assert message.startswith("info string "), sfen
            with pytest.raises(ValueError, match="SFEN"):
                position_from_sfen(sfen.partition("moves")[0])
            continue
        played += 1
        session.send(f"go nodes {generator.choice((1, 20, 100))}")
        answers = session.until("bestmove")
        check_answers(answers)
        move = answers[-1].split()[1]
        position = position_from_sfen(sfen)
        if move == "resign":
            assert not list_moves(position), sfen
        elif move == "win":
            assert can_declare(position, np.int64(RULE_27)), sfen
        else:
            assert is_legal_in(sfen, move), sfen
    return played


def test_random_sfens(fuzzed, is_legal_in):
    assert 50 < play_sfens(fuzzed, is_legal_in, 500, 1) < 450
    check_play(fuzzed, is_legal_in)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_ten_thousand_random_sfens(fuzzed, is_legal_in):
    assert play_sfens(fuzzed, is_legal_in, 10_000, 2) > 2_000
    check_play(fuzzed, is_legal_in)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@settings(RELAXED, max_examples=2_000, derandomize=False)
@given(lines=st.lists(lines_of(COMMANDS), max_size=15))
def test_many_sessions_of_nonsense(fuzzed, is_legal_in, lines):
    for line in lines:
        fuzzed.send(line)
    check_answers(fuzzed.waiting())
    check_play(fuzzed, is_legal_in)


def test_nonsense_through_pipes(start, is_legal_in):
    generator = random.Random(3)
    session = start()
    session.send("setoption name USI_Hash value 2").settle()
    for number in range(300):
        if number % 3 == 0:
            data = generator.randbytes(generator.randint(1, 80)).replace(b"\n", b"\r")
        else:
            text = list(generator.choice(COMMANDS))
            for _ in range(generator.randint(0, 3)):
                text.insert(generator.randrange(len(text) + 1), generator.choice("\x00 -/+9é駒\r\t"))
            data = "".join(text).encode()
        if is_harmless(data.decode("utf-8", "replace")):
            session.send_bytes(data + b"\n")
    session.send_bytes(b"position sfen " + b"/" * (3 << 20) + b"\n")
    session.settle()
    check_answers(session.waiting())
    check_play(session, is_legal_in)
    session.send("quit")
    assert session.ended() == 0


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_twenty_thousand_lines_of_bytes(start, is_legal_in):
    """Random bytes, bytes among commands, and commands with changed bytes, sent to a real process with two threads."""
    generator = random.Random(4)
    session = start()
    session.send("setoption name USI_Hash value 2", "setoption name Threads value 2").settle()
    sent = 0
    while sent < 20_000:
        kind = generator.randrange(3)
        data = generator.randbytes(generator.choice((1, 8, 80, 800)))
        if kind:
            command = generator.choice(COMMANDS).encode()
            at = generator.randrange(len(command) + 1)
            data = command[:at] + data[: generator.randint(0, 4)] + command[at + kind - 1 :]
        data = data.replace(b"\n", b"\r")
        if not is_harmless(data.decode("utf-8", "replace")):
            continue
        session.send_bytes(data + b"\n")
        sent += 1
        if sent % 500 == 0:
            session.send("stop").settle()
            check_answers(session.waiting())
    check_play(session, is_legal_in)
    session.send("quit")
    assert session.ended() == 0
