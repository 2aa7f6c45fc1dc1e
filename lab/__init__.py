# SPDX-License-Identifier: MIT
"""The lab: fetches, patches, builds, boots and tests kernels."""

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]


class LabError(Exception):
    """One clear sentence: what is wrong, where the log is, what would be right."""
