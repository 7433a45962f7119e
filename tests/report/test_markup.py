"""Markup, quotes and script in ids, columns, values and names of clusters stay text.

In the report every attack comes back as text of the parsed page and no tag or handler is added to
those that the same report has without attacks; what the studio answers is JSON of the same texts.
"""

from __future__ import annotations

import json
from html.parser import HTMLParser

import numpy as np
import pytest

from coterie import Constraints, PCKMeans
from coterie.cli.main import main
from coterie.report import build_report
from coterie.studio import Studio

ATTACKS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; alert(1); //",
    "</script><svg onload=alert(1)>",
    "</style><b>",
    "{{7*7}} ${7*7} <%= 7 %>",
    "<!-- --><![CDATA[x]]>",
    "javascript:alert(1)",
    "&lt;b&gt; &amp;amp;",
    "</title></head><body onpageshow=alert(1)>",
]


class Shape(HTMLParser):
    """The tags of a page with the names of their attributes, and its texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[tuple[str, tuple[str, ...]]] = set()
        self.texts: list[str] = []
        self.links: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add((tag, tuple(sorted(name for name, _ in attrs))))
        self.links |= {value for name, value in attrs if name in ("href", "src") and value}
        self.texts += [value for _, value in attrs if value]

    def handle_data(self, data):
        self.texts.append(data)


def write(folder, attacks):
    """A table whose columns, ids and values are these, and a report about its clusters."""
    names = [f"{attack} {t}" for t, attack in enumerate(attacks)]
    rng = np.random.default_rng(0)
    rows = [
        {"key": f"{attacks[t % len(attacks)]}{t}", names[0]: attacks[t % len(attacks)]}
        | {name: float(rng.normal() + 9 * (t % 2)) for name in names[1:4]}
        for t in range(30)
    ]
    (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pairs = [{"a": rows[i]["key"], "b": rows[i + 2]["key"], "kind": "must"} for i in range(0, 8, 2)]
    pairs.append({"a": rows[0]["key"], "b": rows[2]["key"], "kind": "cannot"})
    (folder / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pairs))
    return rows


def run(*arguments):
    from click.testing import CliRunner

    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output


def page_of(folder, attacks):
    rows = write(folder, attacks)
    fit = ("fit", folder / "t.jsonl", folder / "p.jsonl", "--id", "key", "-k", 2)
    run(*fit, "--method", "pckmeans", "--seed", 0, "--save", folder / "m")
    run("report", folder / "m", folder / "t.jsonl", folder / "p.jsonl", "-o", folder / "r.html")
    return rows, (folder / "r.html").read_text()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    harmless = [f"name {t}" for t in range(len(ATTACKS))]
    return [page_of(tmp_path_factory.mktemp("page"), words) for words in (ATTACKS, harmless)]


def same_shape(attacked: str, harmless: str) -> None:
    """Whether the first page has only tags, attributes and links that the second one has."""
    one, other = Shape(attacked), Shape(harmless)
    assert {tag for tag, _ in one.tags} <= {tag for tag, _ in other.tags}
    assert {n for _, names in one.tags for n in names} <= {n for _, ns in other.tags for n in ns}
    outside = [{link for link in page.links if link[0] != "#"} for page in (one, other)]
    assert outside[0] <= outside[1]


def test_the_report_gains_no_tag_handler_or_link(pages):
    same_shape(pages[0][1], pages[1][1])


def test_the_check_notices_markup(pages):
    with pytest.raises(AssertionError):
        same_shape(pages[1][1].replace("name 3", ATTACKS[1]), pages[1][1])


def test_what_was_written_comes_back_as_text(pages):
    rows, page = pages[0]
    texts = "\n".join(Shape(page).texts)
    assert rows[0]["key"] in texts
    assert sum(attack in texts for attack in ATTACKS) >= 5


def test_a_report_from_python_with_a_title_ids_and_names():
    X = np.random.default_rng(0).normal(size=(20, 2))
    known = Constraints(20, must_link=[(0, 1)], cannot_link=[(0, 1), (2, 3)])
    model = PCKMeans(2, random_state=0).fit(X, constraints=known)

    def page(words):
        ids = [f"{words[t % len(words)]}{t}" for t in range(20)]
        records = {words[2]: [words[t % len(words)] for t in range(20)]}
        told = {"ids": ids, "title": words[0], "feature_names": words[:2], "records": records}
        return build_report(model, X, constraints=known, **told)

    attacked = page(ATTACKS)
    same_shape(attacked, page([f"name {t}" for t in range(len(ATTACKS))]))
    assert ATTACKS[0] in Shape(attacked).texts


def test_the_studio_answers_in_json_that_holds_the_texts(tmp_path):
    rows = write(tmp_path, ATTACKS)
    studio = Studio(tmp_path)
    try:
        studio.call("me", "open", {"file": "t.jsonl", "id": "key", "key": "key-00001"})
        assert studio.wait(60)["phase"] == "ready"
        answered = json.dumps(studio.call("me", "question", {}))
        ids = {row["key"] for row in rows}
        shown = json.loads(answered)
        assert ids & set(_texts(shown))
    finally:
        studio.close()


def _texts(value):
    if isinstance(value, dict):
        for key, inside in value.items():
            yield key
            yield from _texts(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from _texts(inside)
    elif isinstance(value, str):
        yield value
