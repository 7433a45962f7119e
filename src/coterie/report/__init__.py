"""Reports about a clustering: one HTML file that explains itself, without network or scripts."""

from __future__ import annotations

from coterie.report.report import build_report, write_report

__all__ = ["build_report", "write_report"]
