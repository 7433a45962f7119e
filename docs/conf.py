"""The site: `make docs` builds it, and every warning is an error."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import BuiltinFunctionType
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "src"))

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

import coterie

project = "Coterie"
author = "The Coterie developers"
copyright = author
release = version = coterie.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/README.rst", "**/*.ipynb"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
templates_path = ["_templates"]

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4  # `page.md#a-heading`, as on GitHub

# Every public name has a page of its own, made from the docstring.
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
default_role = "literal"  # `name` in docstrings, where most names are parameters

sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples" / "gallery")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
}

html_math_renderer = "mathml"  # browsers draw it themselves: no script from elsewhere
html_theme = "pydata_sphinx_theme"
html_title = "Coterie"
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_show_sourcelink = False
html_static_path = ["images", "_static"]
html_css_files = ["site.css"]


# tests/test_docs.py sees to it that no public package is missing.
MODULES = (
    "coterie", "coterie.constraints", "coterie.cluster", "coterie.mixture", "coterie.records",
    "coterie.propagation", "coterie.transform", "coterie.active", "coterie.comparison",
    "coterie.model_selection", "coterie.stability", "coterie.metrics", "coterie.tables",
    "coterie.data", "coterie.inference", "coterie.distortions", "coterie.plot", "coterie.report",
    "coterie.studio", "coterie.datasets", "coterie.progress", "coterie.parameters",
    "coterie.estimators", "coterie.warmup", "coterie.exceptions", "coterie.testing",
    "coterie.base", "coterie.extension", "coterie.persistence",
)  # fmt: skip


def api_page() -> str:
    """The public names, by the shortest import, each with its first line and a page of its own."""
    page = "# Reference\n\nEvery public name, by the module it is imported from.\n"
    seen: set[int] = set()
    for name in MODULES:
        module = importlib.import_module(name)
        things = {public: getattr(module, public) for public in sorted(module.__all__)}
        own = [public for public, thing in things.items() if id(thing) not in seen and ours(thing)]
        seen.update(map(id, things.values()))
        if not own:
            continue
        about = (module.__doc__ or "").partition("\n")[0]
        page += f"\n## {name}\n\n{about}\n\n```{{eval-rst}}\n.. currentmodule:: {name}\n\n"
        listed = "\n".join(f"   {public}" for public in own)
        page += f".. autosummary::\n   :toctree: api\n   :nosignatures:\n\n{listed}\n```\n"
    return page


def ours(thing: object) -> bool:
    """Whether we wrote it: scikit-learn's scores are documented by scikit-learn."""
    return getattr(thing, "__module__", "coterie").partition(".")[0] == "coterie"


def as_text(
    _app: object, _what: str, _name: str, _obj: object, _options: object, lines: list[str]
) -> None:
    """Docstrings are prose for people: `n_iter_` is no link, and |x| no substitution."""
    math_at = None
    for number, line in enumerate(lines):
        at = len(line) - len(line.lstrip())
        if math_at is not None and line.strip() and at <= math_at:
            math_at = None
        if line.lstrip().startswith(".. math::"):
            math_at = at
        if math_at is not None or line.lstrip().startswith((".. ", ">>>", "...")):
            continue
        pieces = re.split(r"(:\w+:`[^`]*`|``[^`]*``|`[^`]*`)", line)
        pieces[::2] = [
            re.sub(r"(?<!\\)\||(?<=\w)_(?!\w)", r"\\\g<0>", piece) for piece in pieces[::2]
        ]
        lines[number] = "".join(pieces)


def left_out(_app: object, _what: str, name: str, obj: Any, skip: bool, _options: object) -> bool:
    """Whether to leave out a member: what others wrote or made, and what "Attributes" lists."""
    source = getattr(obj, "fget", obj)
    home = getattr(source, "__module__", None) or getattr(
        getattr(source, "__objclass__", None), "__module__", "coterie"
    )
    made = re.fullmatch(r"set_\w+_request", name) is not None  # by scikit-learn, for routing
    field = type(obj).__name__ == "_tuplegetter"  # of a NamedTuple
    builtin = isinstance(source, BuiltinFunctionType)
    return skip or made or field or builtin or not str(home).startswith("coterie")


def formula(writer: Any, node: Any) -> None:
    """A formula of LaTeX as MathML, in its line or in one of its own."""
    block = isinstance(node, nodes.math_block)
    made = tex2mathml(node.astext().replace("−", "-"), as_block=block)
    writer.body.append(f'<div class="math">{made}</div>' if block else made)
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Docstrings after numpydoc has had them, of members that are ours."""
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))
    app.connect("autodoc-process-docstring", as_text, priority=900)
    app.connect("autodoc-skip-member", left_out)


(HERE / "reference.md").write_text(api_page(), encoding="utf-8")
changes = (HERE.parent / "CHANGELOG.md").read_text(encoding="utf-8")
(HERE / "changes.md").write_text(changes.replace("](docs/", "]("), encoding="utf-8")
