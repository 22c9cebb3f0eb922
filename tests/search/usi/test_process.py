"""Parts of the USI process that can be tested without starting one."""

from __future__ import annotations

import signal

import pytest

from search.usi.process import end_at_once


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs SIGHUP")
@pytest.mark.parametrize("handler_before", [signal.SIG_DFL, signal.SIG_IGN])
def test_a_closed_terminal_ends_an_engine_except_under_nohup(handler_before: signal.Handlers) -> None:
    before = {one: signal.getsignal(one) for one in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)}
    try:
        signal.signal(signal.SIGHUP, handler_before)
        end_at_once()
        assert [signal.getsignal(one) for one in before] == [handler_before, signal.SIG_DFL, signal.SIG_DFL]
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
