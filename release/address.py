"""Puts the public address into everything that waits for it: ``python release/address.py REPOSITORY DOCUMENTATION``.

The project's URLs, the citation, the links of the README as PyPI shows it, and the files for OSS-Fuzz and scverse. With
``--maintainer NAME`` and ``--mail MAIL`` the contacts there as well. Only the standard library is used.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
WAITING = ("release/scverse/meta.yaml", "release/oss-fuzz/project.yaml", "release/oss-fuzz/Dockerfile")
"""Files with words in capitals that stand for what was not known."""
FRAGMENTS = re.compile(r"^substitutions = \[\n(?:  .*\n)*\]\n", re.MULTILINE)


def check_address(address: str) -> str:
    """The address without a slash at its end; https alone, since others are read by everybody on the way."""
    if not re.fullmatch(r"https://[\w.-]+(?:/[\w.~-]+)*/?", address):
        raise argparse.ArgumentTypeError(f"give an address that begins with https://; got {address!r}")
    return address.rstrip("/")


def project(text: str, repository: str, documentation: str) -> str:
    """pyproject.toml with ``project.urls``, and with the README's own links made absolute."""
    if "[project.urls]" in text:
        raise SystemExit("pyproject.toml has its [project.urls] already. Change them by hand.")
    urls = {
        "Documentation": documentation,
        "Source": repository,
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
    }
    lines = "".join(f'{name} = "{url}"\n' for name, url in urls.items())
    own = r"(?!https?:)([^)]*)"
    rules = {
        rf"!\[([^\]]*)\]\({own}\)": rf"![\1]({repository}/raw/main/\2)",
        rf"(?<!!)\[([^\]]+)\]\({own}\)": rf"[\1]({repository}/blob/main/\2)",
    }
    steps = "".join(f"  {{ pattern = '{old}', replacement = '{new}' }},\n" for old, new in rules.items())
    if len(FRAGMENTS.findall(text)) != 1:
        raise SystemExit("pyproject.toml has no substitutions of the README, or several.")
    text = FRAGMENTS.sub(lambda _: f"substitutions = [\n{steps}]\n", text)
    return text.replace("[project.scripts]\n", f"[project.urls]\n{lines}\n[project.scripts]\n", 1)


def citation(text: str, repository: str, documentation: str) -> str:
    """CITATION.cff with both addresses before the licence."""
    return text.replace("license:", f"repository-code: {repository}\nurl: {documentation}\nlicense:", 1)


def main(arguments: list[str] | None = None, root: Path = ROOT) -> None:
    """Change the files in place; nothing is written before all can be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=check_address)
    parser.add_argument("documentation", type=check_address)
    parser.add_argument("--maintainer", help="name on GitHub, for scverse's list")
    parser.add_argument("--mail", help="of whom OSS-Fuzz writes to")
    given = parser.parse_args(arguments)
    words = {
        "ADDRESS_OF_THE_REPOSITORY": given.repository,
        "ADDRESS_OF_THE_DOCUMENTATION": given.documentation,
        "GITHUB_NAME_OF_A_MAINTAINER": given.maintainer,
        "MAIL_OF_A_MAINTAINER": given.mail,
    }
    addresses = given.repository, given.documentation
    changed = {
        root / "pyproject.toml": project((root / "pyproject.toml").read_text(encoding="utf-8"), *addresses),
        root / "CITATION.cff": citation((root / "CITATION.cff").read_text(encoding="utf-8"), *addresses),
    }
    for path in (root / name for name in WAITING):
        text = path.read_text(encoding="utf-8")
        for word, known in words.items():
            text = text.replace(word, known or word)
        changed[path] = text
    for path, text in changed.items():
        path.write_text(text, encoding="utf-8")
        left = sorted({word for word in words if word in text})
        print(path.relative_to(root), *(f"(still waits for {word})" for word in left))


if __name__ == "__main__":
    main()
