"""A page without a browser: it reads what a session says, and acknowledges frames."""

from __future__ import annotations

import json

import numpy as np

from lowdim.explore.protocol import HEADER, POSITIONS, parse
from lowdim.explore.session import Session
from lowdim.explore.settings import Setting
from lowdim.explore.source import source_of

PATIENCE = 300.0


def blobs(count=120, n_columns=5, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(count) % 3
    return rng.normal(size=(3, n_columns))[codes] * 6 + rng.normal(size=(count, n_columns)), codes


def session_of(X, labels=None, method="tsne", **more):
    source = source_of(X, labels, **more)
    return Session(source, Setting.usual(method, source.n_rows))


class Reader:
    """What a page would keep: the messages, and the last frame of positions."""

    def __init__(self, session, *, acknowledges=True, keeps=False):
        self.session, self.acknowledges = session, acknowledges
        self.keeps, self.said = keeps, []
        self.messages, self.frames, self.blocks = [], [], []
        self.generation = 0
        session.greet()

    def __enter__(self):
        self.session.start()
        return self

    def __exit__(self, *_):
        self.session.close()

    def send(self, kind, **content):
        self.session.receive(parse(json.dumps({"kind": kind} | content)))

    def set(self, method, **parameters):
        self.generation += 1
        self.send("set", generation=self.generation, method=method, parameters=parameters)
        return self.generation

    def settle(self):
        self.generation += 1
        self.send("settle", generation=self.generation)
        return self.generation

    def step(self):
        """The next thing that is said."""
        said = self.session.outbox.next(PATIENCE)
        assert said is not None, "the session says no more"
        if self.keeps:
            self.said.append(said)
        if isinstance(said, str):
            self.messages.append(json.loads(said))
            return self.messages[-1]
        header = HEADER.unpack(said[: HEADER.size])
        frame = {"kind": header[0], "pane": header[1], "generation": header[3], "sequence": header[4]}
        frame |= {"iteration": header[9], "body": said[HEADER.size :]}
        (self.frames if header[0] == POSITIONS else self.blocks).append(frame)
        if self.acknowledges and header[0] == POSITIONS:
            self.send("ack", sequence=header[4])
        return frame

    def until(self, kind, **content):
        """Read on until a message of a kind that says so."""
        while True:
            said = self.step()
            if said["kind"] == kind and all(said.get(name) == value for name, value in content.items()):
                return said

    def heard(self, kind):
        return [message for message in self.messages if message["kind"] == kind]
