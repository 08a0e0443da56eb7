#!/bin/sh
# Replay the sample sessions through the guard, and explain one loop step by step.
# The argument is the command to call: `wheelspin`, or the path of one.
set -eu

wheelspin=${1:-wheelspin}
cd "$(dirname "$0")"

say() {
    printf '\n$ wheelspin %s\n\n' "$*"
}

say replay sessions
"$wheelspin" replay sessions

say "explain 'A1*12 | A1*3'"
"$wheelspin" explain 'A1*12 | A1*3'
