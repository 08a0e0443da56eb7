#!/bin/sh
# Replay the sample sessions through the guard, and explain one loop step by step. Run it in the project's folder.
# The argument is the command to call: `wheelspin`, or the path of one.
set -eu

wheelspin=${1:-wheelspin}

printf '$ wheelspin replay examples/sessions\n\n'
"$wheelspin" replay examples/sessions

printf "\n\$ wheelspin explain 'A1*12 | A1*3'\n\n"
"$wheelspin" explain 'A1*12 | A1*3'
