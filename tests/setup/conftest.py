# SPDX-License-Identifier: MIT
"""Lets the tests import the scripts beside them, and the lab."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]
