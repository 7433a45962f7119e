"""Reports about a clustering: one HTML file that explains itself, without network or scripts."""

from __future__ import annotations

from coterie.report.fitted import build_fitted_report
from coterie.report.records import build_record_report
from coterie.report.report import build_report, write_report

__all__ = ["build_fitted_report", "build_record_report", "build_report", "write_report"]
