# SPDX-License-Identifier: MIT
"""A target after each patch of a series: every patch has to build and pass by itself."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lab import LabError
from lab.kernels import series
from lab.targets import Target


def steps(target: Target, names: Sequence[str]) -> Iterator[tuple[str, Target]]:
    """What to build after each patch of the series NAMES (all): 'SERIES: PATCH' and a target."""
    if target.stock or not target.series:
        raise LabError(f"{target.name} has no series; name a target that has")
    manifest = series.read_manifest()
    there = {patch.name for patch in series.read_series(target.source.version)}
    for name in set(names) - {row.name for row in manifest}:
        known = ", ".join(row.name for row in manifest)
        raise LabError(f"there is no series '{name}'; the series are {known}")
    for row in manifest:
        before = series.needed(row, manifest)
        patches = [patch for patch in row.patches if patch in there]
        for count, patch in enumerate(patches, 1):
            if not names or row.name in names:
                applied = [each for each in (*before, *patches[:count]) if each in there]
                yield f"{row.name}: {patch}", replace(target, only=tuple(applied))
