"""`python -m wheelspin`: the command line."""

import sys

from wheelspin.cli import main

sys.exit(main())
