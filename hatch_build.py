"""Compiles the kernels when a wheel or an editable install is built: see ``lowdim.kernels.building``.

The wheel is then of this Python, system and processor; on another processor its kernels are compiled at their first
use. ``HATCH_BUILD_NO_HOOKS=true`` builds one without them, for every machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelHook(BuildHookInterface[Any]):
    """Compile before the files are gathered; where that fails, the package is as good, and slower at first."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put the compiled kernels beside their modules, and into the wheel."""
        sources = Path(self.root) / "src"
        path = os.pathsep.join([str(sources), *filter(None, [os.environ.get("PYTHONPATH")])])
        command = [sys.executable, "-m", "lowdim.kernels.building"]
        done = subprocess.run(
            command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False
        )
        if done.returncode:
            self.app.display_warning(
                f"Not all kernels could be compiled now; they are at their first use.\n{done.stderr.strip()}"
            )
        compiled = f"**/compiled/*.{sys.implementation.cache_tag}.*.nbc"
        if version == "standard" and any(sources.glob(compiled)):
            build_data["artifacts"].append(compiled)
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
