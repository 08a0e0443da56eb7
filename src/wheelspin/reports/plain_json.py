"""Reports as one JSON document, for programs. Keys are in camel case, as in the configuration."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, TextIO

from wheelspin.core.events import Action
from wheelspin.replay.compare import Comparison, Difference
from wheelspin.replay.engine import Intervention, RunReport
from wheelspin.replay.summary import FileReport, Summary
from wheelspin.replay.tuning import Borderline, Recommendation, Trial, Tuning

__all__ = ["write", "write_comparison", "write_tuning"]

_WORDS = {Action.ALLOW: "quiet", Action.WARN: "warned", Action.BLOCK: "stopped"}


def write(summary: Summary, out: TextIO) -> None:
    """Write the report of a replay."""
    files = {"files": [_file(file) for file in summary.files]}
    _dump(files | _read(summary) | {"totals": _camel(asdict(summary.totals()))}, out)


def write_comparison(comparison: Comparison, out: TextIO) -> None:
    """Write what two configurations would have done in the same sessions."""
    document = {
        "configurations": [side.name for side in comparison.sides],
        "totals": [_camel(asdict(totals)) for totals in comparison.totals],
        "differences": [_difference(difference) for difference in comparison.differences],
    }
    _dump(document | _read(comparison.summary), out)


def write_tuning(tuning: Tuning, choice: Recommendation | None, out: TextIO) -> None:
    """Write what each setting would have done in the sessions, and which one is recommended."""
    labels = tuning.labels
    document = {
        "settings": [_trial(trial) for trial in tuning.trials],
        "runs": tuning.runs,
        "calls": tuning.calls,
        "tokens": tuning.tokens,
        "borderline": [_borderline(line, tuning) for line in tuning.borderline],
        "labels": labels and {"file": str(labels.path), "added": labels.added, "isNew": labels.is_new},
        "recommendation": choice
        and {
            "setting": choice.candidate.name,
            "loopDetection": choice.candidate.block,
            "reason": choice.reason,
            "rule": choice.rule,
        },
    }
    _dump(document | _read(tuning.summary), out)


def _dump(document: dict[str, Any], out: TextIO) -> None:
    json.dump(document, out, indent=2)
    out.write("\n")


def _read(summary: Summary) -> dict[str, Any]:
    """Return the files that were not read, and the notices about the configuration."""
    return {
        "failures": summary.failures,
        "skippedFiles": [str(path) for path in summary.skipped_files],
        "notices": list(summary.notices),
    }


def _difference(difference: Difference) -> dict[str, Any]:
    sides = zip((difference.left, difference.right), difference.first_difference, strict=True)
    return {
        "path": str(difference.path),
        "unit": difference.unit,
        **_whose(difference.left),
        "sides": [
            {
                "firstDifference": _intervention(first),
                "blocks": run.blocks,
                "savedTokens": run.saved_tokens,
                "ended": run.ended,
                "interventions": [_intervention(intervention) for intervention in run.interventions],
            }
            for run, first in sides
        ],
    }


def _trial(trial: Trial) -> dict[str, Any]:
    fields = asdict(trial)
    score = fields.pop("score")
    del fields["candidate"]
    return {
        "name": trial.candidate.name,
        "loopDetection": trial.candidate.block,
        **_camel(fields),
        "labels": score and _camel(score._asdict()),
    }


def _borderline(line: Borderline, tuning: Tuning) -> dict[str, Any]:
    levels = zip(tuning.candidates, line.levels, strict=True)
    return {
        "id": line.id,
        "path": str(line.path),
        "unit": line.unit,
        **_whose(line.run),
        "intervention": _intervention(line.intervention),
        "settings": {candidate.name: _WORDS[level] for candidate, level in levels},
        "label": tuning.labels.words.get(line.id) if tuning.labels else None,
    }


def _whose(run: RunReport) -> dict[str, Any]:
    return {"line": run.line, "session": run.session, "agent": run.agent, "run": run.run, "calls": run.calls}


def _intervention(intervention: Intervention | None) -> dict[str, Any] | None:
    return None if intervention is None else _camel(asdict(intervention))


def _file(file: FileReport) -> dict[str, Any]:
    return {
        "path": str(file.path),
        "format": file.format,
        "unit": file.unit,
        "runs": [_run(run) for run in file.runs],
        "problems": [problem._asdict() for problem in file.problems],
        "problemCount": file.problem_count,
        "notices": list(file.notices),
    }


def _run(run: RunReport) -> dict[str, Any]:
    fields = asdict(run)
    interventions = [_camel(intervention) for intervention in fields.pop("interventions")]
    return _camel(fields) | {"interventions": interventions}


def _camel(fields: dict[str, Any]) -> dict[str, Any]:
    return {_key(name): value for name, value in fields.items()}


def _key(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
