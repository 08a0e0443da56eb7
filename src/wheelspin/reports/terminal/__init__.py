"""Reports as text for the terminal."""

from __future__ import annotations

from wheelspin.reports.terminal._comparison import write_comparison
from wheelspin.reports.terminal._lines import STYLES
from wheelspin.reports.terminal._replay import write
from wheelspin.reports.terminal._tuning import write_tuning

__all__ = ["STYLES", "write", "write_comparison", "write_tuning"]
