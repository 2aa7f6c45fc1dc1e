# SPDX-License-Identifier: MIT
"""The errors that the lab tells its user about."""


class LabError(Exception):
    """One clear sentence: what is wrong, where the log is, what would be right."""
