"""
Write `docs/detectors.md` from the docstrings of the detectors.

Run it from the root of the project: `python -m docs.make_detectors`.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from wheelspin.config import key_of
from wheelspin.core.detectors import DETECTORS

HEAD = """\
# The detectors

In the order in which they are asked; the first critical finding counts, else the first warning that looks at outcomes.
The trajectories are in the notation of `wheelspin explain --help`: paste one there to see it step by step.

| detector | blocks | warns | switch |
| --- | --- | --- | --- |
| [unknown-tool-repeat](#unknown-tool-repeat) | at `unknownToolThreshold` | no | none |
| [global-circuit-breaker](#global-circuit-breaker) | ends the run at `globalCircuitBreakerThreshold` | no | none |
| [known-poll-no-progress](#known-poll-no-progress) | at `criticalThreshold` | at `warningThreshold` | `detectors.knownPollNoProgress` |
| [generic-repeat](#generic-repeat) | at `criticalThreshold` | at `warningThreshold` | `detectors.genericRepeat` |
| [ping-pong](#ping-pong) | at `criticalThreshold` | at `warningThreshold` | `detectors.pingPong` |

Beside them stands the post-compaction guard, which needs none of them: see [tuning](tuning.md#the-post-compaction-guard).
"""
SECTION = re.compile(r"^(\w[\w ]+):$", re.MULTILINE)


def page() -> str:
    """Give the text of the page."""
    parts = [HEAD]
    for detector in DETECTORS:
        docstring = inspect.getdoc(type(detector)) or ""
        body = SECTION.sub(r"**\1.**", docstring)
        body = "\n".join(line.removeprefix("    ") for line in body.splitlines())
        switch = f"Switch: `{key_of(detector.name)}`." if detector.can_switch else "It has no switch."
        parts.append(f"\n## {detector.id}\n\n{body}\n\n{switch}\n")
    return "".join(parts)


if __name__ == "__main__":
    (Path(__file__).parent / "detectors.md").write_text(page())
