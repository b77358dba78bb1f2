"""What an example of the gallery writes is shown on its page: its picture, and its interactive page in a frame."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst

DOCS = Path(__file__).resolve().parents[1]
FRAME = """
.. raw:: html

    <p class="page-link"><a href="{link}">Open the interactive page</a></p>
    <iframe class="page-frame" src="{link}" title="{title}" loading="lazy"></iframe>
"""


class WrittenFiles:
    """Collects ``NAME.png`` and ``NAME.html`` that the example ``NAME.py`` has written beside itself."""

    def __call__(self, block: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
        """The part of the example's page that shows what its last block has written."""
        example = Path(variables["src_file"])
        pictures, shown = [], ""
        for path in sorted(example.parent.glob(f"{example.stem}.*")):
            if path.suffix in (".png", ".gif"):
                place = Path(next(variables["image_path_iterator"])).with_suffix(path.suffix)
                shutil.move(path, place)
                pictures.append(str(place))
            elif path.suffix == ".html":
                target = DOCS / "generated" / "extra" / "pages" / "gallery" / path.name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(path, target)
                up = "../" * len(Path(variables["target_file"]).parent.relative_to(DOCS).parts)
                shown += FRAME.format(
                    link=f"{up}pages/gallery/{path.name}", title=example.stem.replace("_", " ")
                )
        return figure_rst(pictures, settings["src_dir"]) + shown

    def __repr__(self) -> str:
        """The same in every build, since the settings are compared."""
        return "WrittenFiles()"
