# Starts Wheelspin's hook. If the command is missing, the call is let through and Claude Code shows the message.
if command -v wheelspin-hook >/dev/null; then
  exec wheelspin-hook claude-code
fi
echo "wheelspin: tool calls are not guarded: wheelspin-hook is not on the PATH; run: pip install wheelspin" >&2
exit 1
