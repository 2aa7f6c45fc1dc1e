# SPDX-License-Identifier: MIT
"""`python -m ferry_lab`."""

import sys

from ferry_lab.command_line import main

sys.exit(main(sys.argv[1:]))
