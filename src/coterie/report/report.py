"""The page as a whole, and how it gets onto the disk."""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coterie.exceptions import InvalidParameter
from coterie.files import new_file
from coterie.parameters import check_arguments
from coterie.report import sections
from coterie.report.facts import gather
from coterie.report.made import how_it_was_made
from coterie.report.pages import page
from coterie.report.records import build_record_report

__all__ = ["build_report", "write_report"]


def build_report(
    model: Any,
    X: Any,
    *,
    constraints: Any = None,
    feature_names: Any = None,
    kinds: Any = None,
    ids: Any = None,
    records: Any = None,
    truth: Any = None,
    units: Any = None,
    made: Mapping[str, Any] | None = None,
    title: str | None = None,
    date: datetime.date | str | None = None,
    projection: Any = "auto",
) -> str:
    """A report about a fitted model as one HTML page that needs nothing else.

    Of a `Dossier` it is `build_record_report`.

    Parameters
    ----------
    model : fitted estimator
    X : array-like, frame or CSR matrix of shape (n, d)
        The rows the model was fitted on.
    constraints : Constraints, optional
        The pairs of the fit. Without them those the model keeps are used: all (`constraints_`), or
        only the broken ones (`violations_`), and the report says which.
    feature_names : sequence of str, optional
        Names of the columns; a frame brings its own.
    kinds : sequence of str, optional
        What each column was made of, as `Recipe.feature_kinds` has it: what stands out is then
        said in its words, `town: Ulm (80%, overall 39%)` of a category. Words if not given and X
        is sparse, else numbers.
    ids : sequence of length n, optional
        What people call the rows; their numbers if not given.
    records : data frame, mapping of columns, or list of texts, optional
        The rows as people know them, n long; up to 8 columns are shown, those that matter first.
        Without it the features that matter are shown.
    truth : array-like of shape (n,), optional
        True classes, to compare with.
    units : (center, spread), each array-like of shape (d,), optional
        How the columns were scaled, X = (value − center) / spread, so that values are shown in
        their own units: `(scaler.mean_, scaler.scale_)` of a StandardScaler.
    made : mapping, optional
        What else is known about the run (files, versions, time), shown as given.
    title : str, optional
    date : date or str, optional
        Today if not given. All else depends on the input alone.
    projection : {"auto", "pca", "tsne", "umap"} or array of shape (n, 2), default="auto"
        As in `coterie.plot.plot_clusters`.

    Returns
    -------
    str
    """
    check_arguments(build_report, locals())
    if not hasattr(model, "get_params"):
        raise InvalidParameter(
            f"a report is about a fitted estimator, got {type(model).__name__}; for labels alone "
            "see coterie.plot.plot_clusters."
        )
    if hasattr(model, "explain") and hasattr(model, "fields_"):  # records, not points on a map
        return build_record_report(
            model, records=records, ids=ids, truth=truth, made=made, title=title, date=date
        )
    facts = gather(
        model,
        X,
        constraints=constraints,
        feature_names=feature_names,
        kinds=kinds,
        ids=ids,
        records=records,
        truth=truth,
        units=units,
        projection=projection,
    )
    title = title or f"Clusters found by {type(model).__name__}"
    day = datetime.date.today().isoformat() if date is None else str(date)
    parts = [
        part
        for part in (
            sections.overview(facts),
            sections.picture(facts),
            sections.clusters(facts),
            sections.pairs(facts),
            sections.truth(facts),
            sections.metric(facts),
            sections.objective(facts),
            how_it_was_made(model, made),
        )
        if part is not None
    ]
    return page(title, day, parts)


def write_report(path: str | os.PathLike[str], model: Any, X: Any, **options: Any) -> Path:
    """Write `build_report(model, X, **options)` to a file, whole or not at all.

    Parameters
    ----------
    path : path-like
        An existing file is replaced once the new one is complete.
    model, X, **options
        As in `build_report`.

    Returns
    -------
    Path
        The file.
    """
    check_arguments(write_report, locals())
    target = Path(path)
    written = build_report(model, X, **options)
    with new_file(target) as temporary:
        temporary.write_text(written, encoding="utf-8", newline="\n")
    return target
