"""Records and maps as arrays of a store of tasks: by the classes of the registry alone, and nothing is executed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..core.places import State
from ..core.run import Run
from .encoding import Decoder, Encoder
from .tasks import Arrays

DOCUMENT, ARRAY = "document", "array "
"""Names of the text and, with their own after it, of the arrays."""


def packed_state(state: State) -> Arrays:
    """A state as arrays; an InputError for what the registry does not know, such as a function."""
    encoder = Encoder("work over shards")
    node = encoder.encode(dict(state), "")
    text = json.dumps({"objects": encoder.objects, "state": node}, allow_nan=False)
    arrays = {ARRAY + name: np.asarray(array) for name, array in encoder.pool.arrays.items()}
    return {DOCUMENT: np.frombuffer(text.encode(), np.uint8), **arrays}


def unpacked_state(arrays: Arrays, run: Run) -> dict[str, Any]:
    """The state of arrays whose digests agreed: they are what was written."""
    document = json.loads(arrays[DOCUMENT].tobytes())
    named = {name.removeprefix(ARRAY): array for name, array in arrays.items() if name != DOCUMENT}
    decoder = Decoder(named, run)
    decoder.decode_objects(document["objects"])
    state: dict[str, Any] = decoder.decode(document["state"])
    return state
