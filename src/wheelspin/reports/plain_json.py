"""A replay as one JSON document, for programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, TextIO

from wheelspin.replay import RunReport
from wheelspin.report import FileReport, Summary

__all__ = ["write"]


def write(summary: Summary, out: TextIO) -> None:
    """Write what a replay found; keys in camel case, as in the configuration."""
    document = {
        "files": [_file(file) for file in summary.files],
        "failures": summary.failures,
        "passedOver": [str(path) for path in summary.passed_over],
        "notices": list(summary.notices),
        "totals": _camel(asdict(summary.totals())),
    }
    json.dump(document, out, indent=2)
    out.write("\n")


def _file(file: FileReport) -> dict[str, Any]:
    return {
        "path": str(file.path),
        "format": file.format,
        "place": file.place,
        "runs": [_run(run) for run in file.runs],
        "problems": [problem._asdict() for problem in file.problems],
        "problemCount": file.problem_count,
        "notices": list(file.notices),
    }


def _run(run: RunReport) -> dict[str, Any]:
    fields = asdict(run)
    sightings = [_camel(sighting) for sighting in fields.pop("sightings")]
    return _camel(fields) | {"sightings": sightings}


def _camel(fields: dict[str, Any]) -> dict[str, Any]:
    return {_key(name): value for name, value in fields.items()}


def _key(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
