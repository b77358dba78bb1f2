#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.10.14"]
# ///
"""Nox's names for the Makefile's targets, which own the set-up."""

import nox

nox.needs_version = ">=2025.10.14"
nox.options.default_venv_backend = "none"


@nox.session
def test(session: nox.Session) -> None:
    session.run("make", "test", external=True)


@nox.session(default=False)
def lint(session: nox.Session) -> None:
    session.run("make", "lint", external=True)


@nox.session(default=False)
def types(session: nox.Session) -> None:
    session.run("make", "types", external=True)


if __name__ == "__main__":
    nox.main()
