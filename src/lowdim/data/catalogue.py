"""The data sets that have a name: what they hold, and where they come from when they are not there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Remote = Literal["openml", "scikit-learn"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One data set as an ``.npz`` archive.

    ``data``, ``labels``, ``parameters``: names of the arrays of the archive. ``shape``: rows and columns. ``image``:
    height and width where rows are images, ``column_major`` where they are stored so. ``remote`` and ``number``: who
    has it, under which number. ``sha256``: of the bytes of its data and labels, both as uint8: whatever file they
    came in, what was downloaded is what was meant.
    """

    file: str
    shape: tuple[int, int]
    what: str
    terms: str
    data: str = "X"
    labels: str | None = None
    parameters: str | None = None
    image: tuple[int, int] | None = None
    column_major: bool = False
    remote: Remote | None = None
    number: int = 0
    sha256: str = ""

    @property
    def arrays(self) -> str:
        """What the archive must hold, in words."""
        others = [name for name in (self.labels, self.parameters) if name]
        return f"{self.data} ({self.shape[0]} x {self.shape[1]})" + "".join(f", {name}" for name in others)


CATALOGUE: Mapping[str, Entry] = {
    "mnist": Entry(
        "mnist.npz",
        (70_000, 784),
        "handwritten digits, the 60,000 training ones first (LeCun et al. 1998)",
        "CC BY-SA 3.0",
        labels="y",
        image=(28, 28),
        remote="openml",
        number=554,
        sha256="c2069063c1105f2bf96266aef1ff68c6e13bdda7a54e37bf19c16f1db24efc83",
    ),
    "fashion_mnist": Entry(
        "fashion_mnist.npz",
        (70_000, 784),
        "pictures of clothes, the 60,000 training ones first (Xiao, Rasul & Vollgraf 2017)",
        "MIT",
        labels="y",
        image=(28, 28),
        remote="openml",
        number=40_996,
        sha256="2cbc59191665e1ba3f2494648f17edac5974f748ab89fb2ae05597d658161f54",
    ),
    "olivetti": Entry(
        "olivetti.npz",
        (400, 4096),
        "faces of 40 people, 10 each (AT&T Laboratories Cambridge 1994)",
        "research use",
        labels="y",
        image=(64, 64),
        remote="scikit-learn",
        sha256="87fde6e7e0dff9701f9ace62e19359854009c03e8915fb859365d39e95cbc70a",
    ),
    "coil20": Entry(
        "coil20.npz",
        (1440, 16_384),
        "20 objects on a turntable every 5 degrees, parameters: the angle (Nene, Nayar & Murase 1996)",
        "research use",
        labels="y",
        parameters="angle",
        image=(128, 128),
    ),
    "frey_faces": Entry(
        "frey_faces.npz",
        (1965, 560),
        "a video of one face (Roweis & Saul 2000)",
        "not stated",
        image=(28, 20),
    ),
    "isomap_faces": Entry(
        "isomap_faces_32x32.npz",
        (698, 1024),
        "rendered faces, parameters: light and two of pose (Tenenbaum, de Silva & Langford 2000)",
        "not stated",
        parameters="params",
        image=(32, 32),
        column_major=True,
    ),
    "mammoth": Entry(
        "mammoth.npz", (50_000, 3), "points of a 3-d scan of a mammoth's skeleton (Smithsonian)", "CC0"
    ),
    "pbmc68k": Entry(
        "pbmc68k_reduced.npz",
        (700, 765),
        "expression of 765 genes in 700 blood cells (Zheng et al. 2017)",
        "BSD-3 (scanpy)",
        labels="y",
    ),
}
