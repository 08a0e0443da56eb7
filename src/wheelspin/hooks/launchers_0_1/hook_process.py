"""Where launchers written by Wheelspin 0.1 look for the hook process: they import `wheelspin.hook_process`."""

from wheelspin.hooks.process import main

__all__ = ["main"]
