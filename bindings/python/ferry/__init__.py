# SPDX-License-Identifier: MIT
"""Attributes, contents and trees of many files in one call."""

from ferry import _ferry as _ferry  # first: it refuses interpreters in which NumPy would fail
from ferry.call import FIELDS
from ferry.files import Chunk, read_chunks, read_many, stat_many
from ferry.tree import Tree, walk

__all__ = ["FIELDS", "Chunk", "Tree", "read_chunks", "read_many", "stat_many", "walk"]
