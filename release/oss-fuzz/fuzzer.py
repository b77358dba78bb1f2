"""The targets of ``python -m torture fuzz`` as programs of OSS-Fuzz; build.sh makes one of each.

python release/oss-fuzz/fuzzer.py names              prints the targets
python release/oss-fuzz/fuzzer.py seeds NAME FOLDER  writes the inputs that a target begins with
python release/oss-fuzz/fuzzer.py try NAME FILE ...  feeds files to a target, as a report of OSS-Fuzz attaches them
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))

from torture.fuzzing.child import prepare, warm_up
from torture.fuzzing.coverage import feeder, instrument_readers, write_seeds
from torture.fuzzing.targets import TARGETS


def fuzz(name: str) -> None:
    """Hand over to atheris; files and folders of the command line are meant from where it was given."""
    import atheris

    words = [word if word.startswith("-") else str(Path(word).absolute()) for word in sys.argv[1:]]
    with TemporaryDirectory() as folder, instrument_readers():
        feed = _made_ready(name, Path(folder))
        atheris.Setup([sys.argv[0], *words], feed)
        atheris.Fuzz()


def try_files(name: str, paths: list[Path]) -> None:
    """Feed files without atheris: what is not acceptable is an error."""
    inputs = [path.read_bytes() for path in paths]
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        feed = _made_ready(name, Path(folder))
        try:
            for data in inputs:
                feed(data)
        finally:
            os.chdir(before)


def _made_ready(name: str, folder: Path) -> Callable[[bytes], None]:
    # Hostile files point to others beside them.
    prepare(folder)
    os.chdir(folder)
    warm_up([name], folder)
    return feeder(name, folder, None)


def main(words: list[str]) -> None:
    """Print, write or try what is asked for."""
    if words == ["names"]:
        print("\n".join(TARGETS))
    elif words[:1] == ["seeds"] and len(words) == 3 and words[1] in TARGETS:
        write_seeds(words[1], Path(words[2]), 0)
    elif words[:1] == ["try"] and len(words) > 2 and words[1] in TARGETS:
        try_files(words[1], [Path(word) for word in words[2:]])
        print(f"{len(words) - 2} inputs, no find")
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
