"""What --json holds is what the documentation says, key by key."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs/command-line.md").read_text(encoding="utf-8")
SECTION = PAGE.split("## What --json holds\n")[1].split("\n## ")[0]
COMMANDS, KEYS = SECTION.split("\n\n| key | holds |\n")
LISTED = {
    name: re.findall(r"`(\w+)`", keys)
    for name, keys in re.findall(r"^\| `lowdim ([\w ]+)` \| (.*) \|$", COMMANDS, re.MULTILINE)
}
LINES = {
    "embed": "embed points.csv --label kind --id name -m pca -o out.csv --json",
    "embed, with quality": "embed points.npy -m laplacian-eigenmaps -k 20 -o out.npy --quality --json",
    "transform": "transform map.lowdim points.csv -o out.csv --json",
    "update": "update map.lowdim points.csv --model new.lowdim --json",
    "explain": "explain map.lowdim points.csv --select kind=red --json",
    "sweep": "sweep points.csv --id name --label kind -m pca --grid n_components=1,2 --json",
    "score": "score points.npy points.npy --json",
    "plan": "plan 1000x5 -m pca --json",
    "info MODEL": "info map.lowdim --json",
    "info DATA": "info points.csv --json",
    "info": "info --json",
    "doctor": "doctor --json",
}


def documented(key):
    """Names in backticks of a line of the second table."""
    (line,) = re.findall(rf"^\| `{key}` \| (.*) \|$", KEYS, re.MULTILINE)
    return set(re.findall(r"`(\w+)`", line))


@pytest.fixture
def found(lowdim_command, folder, request):
    if "map.lowdim" in LINES[request.param]:
        line = "embed points.csv --id name --label kind -m laplacian-eigenmaps -k 20 --model map.lowdim"
        assert lowdim_command(line).code == 0
    answer = lowdim_command(LINES[request.param])
    assert answer.code == 0, answer.err
    return request.param.partition(",")[0], json.loads(answer.out)


@pytest.mark.parametrize("found", LINES, indirect=True)
def test_keys_are_those_of_the_documentation(found):
    name, content = found
    optional = {"obsm", "layers"} if name == "info DATA" else set()
    assert set(content) == set(LISTED[name]) - optional
    if "report" in content:
        parts = set(content["report"]) | {key for choice in content["report"]["choices"] for key in choice}
        assert {"method", "shape", "seconds", "memory", "choices", "warnings", "figures"} == set(
            content["report"]
        )
        assert parts <= documented("report")
    if "input" in content:
        assert set(content["input"]) == {"source", "shape", "label"} <= documented("input")
    if "model" in content:
        assert set(content["model"]) == documented("model")
    if content.get("quality"):
        assert set(content["quality"]) == set(LISTED["score"]) - {"trust"}
    for measure in content.get("measures", {}).values():
        assert set(measure) == documented("measures")
    for stage in content.get("stages", ()):
        assert set(stage) == documented("stages")


def test_every_command_that_has_json_is_told():
    assert {name.partition(",")[0] for name in LINES} == set(LISTED)
