"""
Write what the documentation says about detectors from their classes.

It writes `docs/detectors.md`, and the rows of the detectors in the tables of README.md and docs/specification.md. Run it
from the root of the project: `python -m docs.make_detectors`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from wheelspin.config import key_of
from wheelspin.core.detectors import DETECTORS
from wheelspin.core.detectors.base import Detector
from wheelspin.core.presets import NUMBERS
from wheelspin.core.settings import Settings

ROOT = Path(__file__).parents[1]
HEAD = """\
# The detectors

They are asked in this order. The first critical finding counts; without one, the first warning of those that compare
outcomes, then of those that only count calls, then of the others. The thresholds are those of a warning and of a block.
Paste a trajectory into `wheelspin explain` to see it call by call; `wheelspin explain --help` describes the notation.

"""
FOOT = """
The post-compaction guard needs none of them: see [tuning](tuning.md#the-post-compaction-guard). You can add
[detectors of your own](extending.md).
"""
SECTION = re.compile(r"^(\w[\w ]+):$", re.MULTILINE)
ROWS = re.compile(r"(?:^\| `detectors\.\w+` \|[^\n]*\n)+", re.MULTILINE)


def page() -> str:
    """Return the text of `docs/detectors.md`."""
    return "".join([HEAD, *_legend(), FOOT, *map(_section, DETECTORS)])


def readme() -> str:
    """Return the text of README.md, with the rows of the detectors as they are now."""
    return _with_rows(ROOT / "README.md", [_key_row])


def specification() -> str:
    """Return the text of `docs/specification.md`, with the rows of the detectors as they are now."""
    return _with_rows(ROOT / "docs" / "specification.md", [_key_row, _early_row])


def _legend() -> Iterator[str]:
    presets = list(NUMBERS)
    yield f"| detector | about | {' | '.join(f'`{preset}`' for preset in presets)} | stays blocked | key |\n"
    yield f"| --- | --- |{' --- |' * len(presets)} --- | --- |\n"
    for detector in DETECTORS:
        thresholds = " | ".join(_thresholds(detector, preset) for preset in presets)
        block = "yes" if detector.stays_blocked else ""
        key = f"`{key_of(detector.name)}`" if detector.can_switch else f"`{key_of(detector.threshold_setting)}`"
        yield f"| [{detector.id}](#{detector.id}) | {detector.scope.value} | {thresholds} | {block} | {key} |\n"


def _thresholds(detector: Detector, preset: str) -> str:
    settings = Settings(preset=preset)
    if detector.threshold_setting:
        return str(getattr(settings, detector.threshold_setting))
    warning, critical = settings.thresholds[detector.name]
    return f"{warning} / {critical}"


def _section(detector: Detector) -> str:
    docstring = inspect.getdoc(type(detector)) or ""
    body = SECTION.sub(r"**\1.**", docstring)
    body = "\n".join(line.removeprefix("    ") for line in body.splitlines())
    switch = f"Switch: `{key_of(detector.name)}`." if detector.can_switch else "It has no switch."
    return f"\n## {detector.id}\n\n{body}\n\n{switch}\n"


def _key_row(detector: Detector) -> str:
    summary = detector.summary[0].lower() + detector.summary[1:].rstrip(".")
    follows = [other for other in DETECTORS if other.id == detector.follows]
    more = f"; off if `{key_of(follows[0].name).rpartition('.')[2]}` is" if follows else ""
    return f"| `{key_of(detector.name)}` | `true` | {summary}{more} |\n"


def _early_row(detector: Detector) -> str:
    if _thresholds(detector, "early") == _thresholds(detector, "standard"):
        return ""
    return f"| `{key_of(detector.name)}` | {_thresholds(detector, 'early')} |\n"


def _with_rows(path: Path, rows: list[Callable[[Detector], str]]) -> str:
    """Return a text in which the rows of the detectors are written anew, table by table."""
    writers = iter(rows)

    def write(_: re.Match[str]) -> str:
        row = next(writers)
        return "".join(row(detector) for detector in DETECTORS if detector.can_switch)

    return ROWS.sub(write, path.read_text())


if __name__ == "__main__":
    (ROOT / "docs" / "detectors.md").write_text(page())
    (ROOT / "README.md").write_text(readme())
    (ROOT / "docs" / "specification.md").write_text(specification())
