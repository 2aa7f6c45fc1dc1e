# SPDX-License-Identifier: MIT
"""`python -m lab`."""

import sys

from lab.command_line import main

sys.exit(main(sys.argv[1:]))
