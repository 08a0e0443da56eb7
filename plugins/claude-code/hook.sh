# Starts Wheelspin's hook. Where the command is missing the call passes, and Claude Code shows the line.
if command -v wheelspin-hook >/dev/null; then
  exec wheelspin-hook claude-code
fi
echo "wheelspin: calls are not guarded: there is no command wheelspin-hook in the PATH (pip install wheelspin)" >&2
exit 1
