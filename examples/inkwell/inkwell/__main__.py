"""Lets `python3 -m inkwell` run the command line."""

import sys

from inkwell.cli import main

sys.exit(main(sys.argv[1:], sys.stdout, sys.stderr))
