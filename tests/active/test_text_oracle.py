"""Questions as prompts, and what is understood of the answers."""

from __future__ import annotations

import asyncio

import pandas as pd
import pytest

from coterie.active import Completion, Query, SetQuery, TextOracle
from coterie.active.annotators.text_oracle import read_piles, read_word
from coterie.exceptions import InvalidParameter

PEOPLE = {
    "name": ["Ann Lee", "Anne Lee", "Bob Ray", "Cid"],
    "town": ["Ulm", "Ulm", None, "Rom"],
    "age": [30.0, float("nan"), 41.0, 5.0],
}
PAIR = Query((1, 0), "", "")
SET = SetQuery((3, 0, 1, 2), "set", "")


def echo(prompt):
    return prompt


@pytest.mark.parametrize(
    "records", [PEOPLE, pd.DataFrame(PEOPLE), pd.DataFrame(PEOPLE).to_dict("records")]
)
def test_a_pair_is_shown_with_its_fields_and_the_guidelines(records):
    oracle = TextOracle(echo, records, fields=["name", "town"], guidelines="Same person?")
    prompt = oracle.prompt(PAIR)
    assert "\nSame person?\n" in prompt
    assert "Record A\nname: Anne Lee\ntown: Ulm\n\nRecord B\nname: Ann Lee\ntown: Ulm\n" in prompt
    assert "age" not in prompt
    assert "age:\n" in TextOracle(echo, records).prompt(PAIR)  # missing: nothing, not "nan"


def test_a_set_is_numbered_in_the_order_of_the_question():
    prompt = TextOracle(echo, ["a", "b", "c", "d"]).prompt(SET)
    assert "Record 1\nd\n\nRecord 2\na\n\nRecord 3\nb\n\nRecord 4\nc\n" in prompt
    assert "Which of these 4 records" in prompt


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("same", "same"),
        (" **Different**.\n", "different"),
        ("No", "different"),
        ("They share a town.\nANSWER: same", "same"),
        ("**Answer:** same", "same"),
        ("ANSWER: same\nOn second thought:\nanswer: Different.", "different"),
        ("ANSWER: unknown", "unknown"),
        ("They are not the same", "unknown"),
        ("The same or different?", "unknown"),
        ("ANSWER: not the same", "unknown"),
        ("ANSWER: same or different", "unknown"),
        ("My answer: same would be rash.", "unknown"),
        ("", "unknown"),
        ("ANSWER:", "unknown"),
        ("{'answer': 1}", "unknown"),
    ],
)
def test_words_are_read_strictly(text, word):
    assert read_word(text) == word


@pytest.mark.parametrize(
    ("text", "piles"),
    [
        ("ANSWER: [[1, 3], [2]]", [[30, 50], [40]]),
        ("Hm.\n`ANSWER: [[1,2,3,4]]`", [[30, 40, 50, 60]]),
        ("[[4], []]", [[60]]),
        ("ANSWER: []", []),
        ("ANSWER: [[1, 5]]", []),
        ("ANSWER: [[0, 1]]", []),
        ("ANSWER: [[1, 2], [2, 3]]", []),
        ("ANSWER: [[1, true]]", []),
        ("ANSWER: [1, 2]", []),
        ("ANSWER: [[1, 2]", []),
        ("ANSWER: {}", []),
        ("All of them.", []),
    ],
)
def test_piles_are_read_strictly(text, piles):
    assert read_piles(text, (30, 40, 50, 60)) == piles


def test_an_echo_is_no_answer():
    oracle = TextOracle(echo, PEOPLE)
    assert oracle(PAIR).answer == "unknown"
    # The form shows an example; whoever repeats it in full says that and nothing else.
    assert oracle(SET).answer == [[3, 1], [0]]


def test_replies_carry_prompt_text_and_cost():
    reply = TextOracle(lambda _: Completion("ANSWER: same", 0.5), PEOPLE)(PAIR)
    assert (reply.answer, reply.cost, reply.text) == ("same", 0.5, "ANSWER: same")
    assert reply.prompt.startswith("Do these two records")

    async def later(prompt):
        return "ANSWER: different"

    assert asyncio.run(TextOracle(later, PEOPLE)(PAIR)).answer == "different"


def test_the_key_changes_with_words_and_not_with_order():
    oracle = TextOracle(echo, PEOPLE)
    assert oracle.key(PAIR) == oracle.key(Query((0, 1), "other phase", "why"))
    others = [
        TextOracle(echo, PEOPLE, guidelines="by town").key(PAIR),
        TextOracle(echo, PEOPLE, fields=["name"]).key(PAIR),
        oracle.key(Query((0, 2), "", "")),
    ]
    assert len({oracle.key(PAIR), *others}) == 4


def test_errors_say_what_to_do():
    with pytest.raises(InvalidParameter, match=r"no column 'nam'.*Did you mean 'name'"):
        TextOracle(echo, PEOPLE, fields=["nam"])
    with pytest.raises(InvalidParameter, match="plain texts"):
        TextOracle(echo, ["a", "b"], fields=["name"])
    with pytest.raises(InvalidParameter, match="row 1 has no record"):
        TextOracle(echo, ["a"])(PAIR)
    with pytest.raises(InvalidParameter, match="must return a text"):
        TextOracle(lambda _: 7, PEOPLE)(PAIR)
