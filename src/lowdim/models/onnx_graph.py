"""A graph of ONNX's operators while it is written: nodes, and constants under names of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..errors import InputError

OPSET = 17
"""Version of ONNX's operators: of the year 2022, so that every runtime of the last years has them."""
IR_VERSION = 8
LARGEST_BYTES = (1 << 31) - (1 << 20)
"""What the constants of one file may take: its format ends at 2 GiB, and the nodes need some of them."""


class Graph:
    """Nodes in the order in which they run. Values are known by their names, which ``add`` and ``constant`` give.

    Parameters
    ----------
    kind
        Type of the numbers: float64 or float32.
    """

    def __init__(self, kind: np.dtype[Any]) -> None:
        self.kind = kind
        self._nodes: list[Any] = []
        self._constants: dict[str, NDArray[Any]] = {}

    @property
    def eps(self) -> float:
        """Distance from 1 to the next number of the type."""
        return float(np.finfo(self.kind).eps)

    @property
    def n_bytes(self) -> int:
        """What the constants take."""
        return sum(values.nbytes for values in self._constants.values())

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """The one result of an operator."""
        return self.add_all(operator, *inputs, count=1, **attributes)[0]

    def add_all(self, operator: str, *inputs: str, count: int, **attributes: Any) -> tuple[str, ...]:
        """The results of an operator that has several."""
        from onnx import helper

        results = tuple(f"{operator.lower()}_{len(self._nodes)}_{place}" for place in range(count))
        self._nodes.append(helper.make_node(operator, inputs, results, **attributes))
        return results

    def constant(self, values: Any) -> str:
        """Numbers of the type of the graph."""
        return self._kept(np.ascontiguousarray(values, dtype=self.kind))

    def whole(self, *values: int) -> str:
        """A list of whole numbers, such as axes."""
        return self._kept(np.array(values, dtype=np.int64))

    def places(self, values: Any) -> str:
        """An array of whole numbers, such as places of columns."""
        return self._kept(np.ascontiguousarray(values, dtype=np.int64))

    def sum(self, values: str, *axes: int) -> str:
        """Sums over axes, which stay with length 1."""
        return self.add("ReduceSum", values, self.whole(*axes), keepdims=1)

    def swapped(self, values: str) -> str:
        """The transposes of a stack of matrices."""
        return self.add("Transpose", values, perm=[0, 2, 1])

    def for_each_row(self, rows: str, work: Callable[[Graph, str], str]) -> str:
        """What ``work`` writes for one row, for every row, one after the other; it may use values of this graph.

        So no more is held than one row needs.
        """
        from onnx import helper

        inner = Graph(self.kind)
        result = work(inner, "row")
        # Constants belong to the whole; names in the inner graph must differ from those outside.
        names = {name: self._kept(values) for name, values in inner._constants.items()}
        nodes = [_renamed(node, names) for node in inner._nodes]
        body = helper.make_graph(
            nodes,
            "one row",
            [helper.make_tensor_value_info("row", self._number, None)],
            [helper.make_tensor_value_info(f"inner_{result}", self._number, None)],
        )
        return self.add("Scan", rows, body=body, num_scan_inputs=1)

    def model(
        self, title: str, n_columns: int, result: str, n_components: int, labels: str | None = None
    ) -> Any:
        """The whole as a model from ``X`` to ``coordinates``, and ``labels`` where there are some, checked."""
        if self.n_bytes > LARGEST_BYTES:
            raise InputError(
                f"model must fit an ONNX file, which ends at 2 GB; its map holds {self.n_bytes / 1e9:.1f} GB of fitted "
                "points. Fit it with landmarks, or use lowdim.save, and load it with lowdim.load."
            )
        from onnx import TensorProto, checker, helper, numpy_helper

        nodes = [*self._nodes, helper.make_node("Identity", [result], ["coordinates"])]
        outputs = [helper.make_tensor_value_info("coordinates", self._number, ["rows", n_components])]
        if labels is not None:
            nodes.append(helper.make_node("Identity", [labels], ["labels"]))
            outputs.append(helper.make_tensor_value_info("labels", TensorProto.INT64, ["rows"]))
        graph = helper.make_graph(
            nodes,
            title,
            [helper.make_tensor_value_info("X", self._number, ["rows", n_columns])],
            outputs,
            [numpy_helper.from_array(values, name) for name, values in self._constants.items()],
        )
        made = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            producer_name="lowdim",
            producer_version=__version__,
            ir_version=IR_VERSION,
        )
        checker.check_model(made, full_check=True)
        return made

    @property
    def _number(self) -> int:
        from onnx import TensorProto

        return int(TensorProto.DOUBLE if self.kind == np.float64 else TensorProto.FLOAT)

    def _kept(self, values: NDArray[Any]) -> str:
        """The name of a constant; the same small numbers are kept once."""
        if values.size <= 4:
            for name, known in self._constants.items():
                same = known.dtype == values.dtype and known.shape == values.shape
                if same and np.array_equal(known, values):
                    return name
        name = f"constant_{len(self._constants)}"
        self._constants[name] = values
        return name


def _renamed(node: Any, names: dict[str, str]) -> Any:
    """A node of an inner graph, with the names of the outer one."""
    inputs = [names.get(name, name if name == "row" else f"inner_{name}") for name in node.input]
    outputs = [f"inner_{name}" for name in node.output]
    del node.input[:], node.output[:]
    node.input.extend(inputs)
    node.output.extend(outputs)
    return node
