"""The hook process under its old name, `wheelspin.hook_process`, which launchers written by Wheelspin 0.1 import."""

from wheelspin.hooks.process import main

__all__ = ["main"]
