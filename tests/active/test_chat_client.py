"""The HTTP client against a real server that misbehaves."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime

import numpy as np
import pytest
from bad_server import bad_server
from problems_active import blobs
from virtual_time import VirtualTime

from coterie.active import (
    ActiveSession,
    AnswerStore,
    ChatClient,
    LabelOracle,
    Program,
    Query,
    SetQuery,
    TextOracle,
    run_programs,
)
from coterie.exceptions import MissingDependency, OracleFailed

pytest.importorskip("httpx")


def test_what_is_sent_and_what_comes_back():
    with bad_server(lambda prompt: prompt.upper()) as server:
        client = ChatClient(
            server.url + "/",
            "small",
            key="s3cret",
            instructions="Be brief.",
            price=(2.0, 30.0),
            settings={"max_tokens": 7},
        )
        with client:
            came = client("hello")
    (path, headers, body) = server.requests[0]
    assert came == ("HELLO", pytest.approx((1000 * 2 + 10 * 30) / 1e6))
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer s3cret"
    assert body == {
        "model": "small",
        "temperature": 0.0,
        "max_tokens": 7,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "hello"},
        ],
    }
    assert "s3cret" not in repr(client)


@pytest.mark.parametrize(
    ("misdeed", "final", "retry_after"),
    [
        (("status", 429, {"Retry-After": "7"}), False, 7.0),
        (("status", 503, {"Retry-After": "Tue, 17 Nov 2026 12:00:30 GMT"}), False, 30.0),
        (("status", 429, {"Retry-After": "soon"}), False, None),
        (("status", 500, {}), False, None),
        (("status", 401, {}), True, None),
        (("status", 404, {}), True, None),
        (("body", '{"choices": [{"mess'), False, None),
        (("body", "<html>gateway</html>"), False, None),
        (("body", "[]"), False, None),
        (("body", '{"choices": []}'), False, None),
        (("body", '{"choices": [{"message": {"content": null}}]}'), False, None),
        (("body", '{"choices": [{"message": {"content": "x"}}], "usage": 3}'), False, None),
        ("reset", False, None),
        ("slow", False, None),
    ],
)
def test_every_misdeed_is_told_for_what_it_is(misdeed, final, retry_after):
    noon = datetime(2026, 11, 17, 12, tzinfo=UTC)
    short = 1.0 if misdeed == "slow" else 60.0  # the next call has to be done within it too
    with (
        bad_server() as server,
        ChatClient(server.url, "m", timeout=short, now=lambda: noon) as chat,
    ):
        server.script = [misdeed]
        with pytest.raises(OracleFailed, match=re.escape(server.url)) as error:
            chat("hello")
        assert (error.value.final, error.value.retry_after) == (final, retry_after)
        server.release.set()
        assert chat("hello").text == "ANSWER: same"  # the client is good for the next call


def test_a_server_that_is_not_there():
    with bad_server() as server:
        url = server.url
    with ChatClient(url, "m") as chat, pytest.raises(OracleFailed, match="ConnectError") as error:
        chat("hello")
    assert not error.value.final


def row_numbers(prompt):
    return [int(n) for n in re.findall(r"^flower (\d+)$", prompt, re.MULTILINE)]


def server_that_knows(y, error_rate=0.0):
    """Answers pairs and sets from labels, with mistakes at this rate."""
    oracle = LabelOracle(y, error_rate=error_rate)

    def answer(prompt):
        rows = row_numbers(prompt)
        if len(rows) == 2:
            return f"Let me see.\nANSWER: {oracle(Query(tuple(rows), '', '')).answer}"
        piles = oracle(SetQuery(tuple(rows), "set", "")).answer
        return f"ANSWER: {[[rows.index(row) + 1 for row in pile] for pile in piles]}"

    return answer


@pytest.mark.parametrize("kind", ["pair", "set"])
def test_a_run_through_a_server_that_misbehaves_all_the_time(tmp_path, kind):
    X, y = blobs(k=4)
    texts = [f"flower {t}" for t in range(len(X))]
    time_ = VirtualTime()
    with (
        bad_server(server_that_knows(y)) as server,
        ChatClient(server.url, "m", timeout=0.5) as chat,
    ):
        server.script = [
            ("status", 429, {"Retry-After": "120"}),
            "reset",
            None,
            ("body", "{"),
            ("status", 500, {}),
            ("body", "I would rather not say."),
            "slow",
        ]
        with AnswerStore(tmp_path / "a.db") as store:
            session = ActiveSession(X, store=store, random_state=0)
            program = Program(
                "model", TextOracle(chat, texts), kind=kind, concurrency=2, attempts=9
            )
            report = run_programs(session, program, max_questions=8, batch=2, **time_.options)
            errors = [call.error for call in store.calls if call.error]
    clean = ActiveSession(X, random_state=0)
    run_programs(clean, Program("model", LabelOracle(y), kind=kind), max_questions=8, batch=2)
    assert [(a.rows, a.answer) for a in session.history] == [
        (a.rows, a.answer) for a in clean.history
    ]
    assert report.failed == (0,)
    assert report.calls == (8 + len(errors),)
    late = ["ReadTimeout" in error for error in errors]  # others too on a loaded machine
    assert late.count(False) == 5
    assert any(late)
    assert time_.now >= 1120


def test_a_wrong_key_ends_the_calls():
    X, _ = blobs()
    with bad_server() as server, ChatClient(server.url, "m") as chat:
        server.script = [("status", 401, {})] * 9
        session = ActiveSession(X, random_state=0)
        report = run_programs(session, Program("m", TextOracle(chat, ["x"] * len(X))))
    assert len(server.requests) == 1
    assert "401" in report.stopped


def test_wrong_answers_at_a_known_rate_are_found_out():
    X, y = blobs(k=6, per=25)
    texts = [f"flower {t}" for t in range(len(X))]
    session = ActiveSession(X, strategy="random", random_state=0, weigh_annotators=True)
    with bad_server(server_that_knows(y, 0.25)) as server, ChatClient(server.url, "m") as chat:
        programs = [Program("model", TextOracle(chat, texts)), Program("expert", LabelOracle(y))]
        run_programs(session, programs, max_questions=160, batch=8, overlap=0.8)
    table = session.annotators
    model, expert = (table.annotator.tolist().index(name) for name in ("model", "expert"))
    assert table.n_same[model] + table.n_different[model] == 80
    told = [a for a in session.history if a.annotator == "model"]
    slips = [a.answer == "same" for a in told if y[a.rows[0]] != y[a.rows[1]]]
    assert table.wrong_same_low[model] <= np.mean(slips) <= table.wrong_same_high[model]
    assert table.wrong_same[model] > 0.15 > 0.1 > table.wrong_same[expert]


def test_without_httpx_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingDependency, match=r"coterie\[llm\]"):
        ChatClient("http://127.0.0.1:1/v1", "m")
