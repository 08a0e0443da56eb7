#!/bin/sh
# Replay the sample sessions through the guard, and explain one loop step by step. Run it in the root of the project.
# Takes the wheelspin command as an optional argument: a name on the PATH, or a path.
set -eu

wheelspin=${1:-wheelspin}

printf '$ wheelspin replay examples/sessions\n\n'
"$wheelspin" replay examples/sessions

printf "\n\$ wheelspin explain 'A1*12 | A1*3'\n\n"
"$wheelspin" explain 'A1*12 | A1*3'
