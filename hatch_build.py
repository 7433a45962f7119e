"""Puts the page of Coterie Studio into wheels and sdists, building it where that is possible."""

from __future__ import annotations

import os
import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_BUNDLE = Path("src", "coterie", "studio", "static")


class StudioBuildHook(BuildHookInterface):
    """An editable install takes whatever bundle there is; who builds a file gets one made.

    Without Node or the npm registry the library is built without the page, which `coterie studio`
    then says; COTERIE_REQUIRE_STUDIO=1 makes that an error.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the bundle if it is not there, and have it packed although git ignores it."""
        if version == "editable":
            return
        root = Path(self.root)
        required = os.environ.get("COTERIE_REQUIRE_STUDIO") == "1"
        script = root / "studio" / "build.py"
        if not (root / _BUNDLE / "index.html").exists() or required:
            module = runpy.run_path(str(script))
            try:
                module["build"]()
            except module["CannotBuildError"] as error:
                if required:
                    raise
                self.app.display_warning(f"Built without Coterie Studio's page: {error}")
        if (root / _BUNDLE / "index.html").exists():
            build_data["artifacts"].append(f"/{_BUNDLE.as_posix()}/**")
