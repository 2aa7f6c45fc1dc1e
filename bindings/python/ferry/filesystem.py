# SPDX-License-Identifier: MIT
"""A file system for fsspec: that of the machine, with many files or parts of files in one call."""

import os
from collections.abc import Sequence
from typing import Any

try:
    from fsspec.implementations.local import LocalFileSystem  # type: ignore[import-untyped]
except ImportError as error:
    raise ImportError("ferry.filesystem needs fsspec: pip install fsspec") from error

from ferry.files import read_many, stat_many

PREFIX = "ferry://"


class FerryFileSystem(LocalFileSystem):  # type: ignore[misc]
    """fsspec.filesystem("ferry"), which reads by read_many().

    All else is as in fsspec's LocalFileSystem.
    """

    protocol = ("ferry",)

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:  # noqa: ANN401 (as in fsspec)
        if isinstance(path, list):
            return [cls._strip_protocol(each) for each in path]
        path = os.fspath(path)
        return super()._strip_protocol(path[len(PREFIX) :] if path.startswith(PREFIX) else path)

    def unstrip_protocol(self, name: str) -> str:
        return PREFIX + str(self._strip_protocol(name))

    def cat_ranges(
        self,
        paths: list[str],
        starts: int | Sequence[int | None] | None,
        ends: int | Sequence[int | None] | None,
        max_gap: object = None,
        on_error: str = "return",
        **_: object,
    ) -> list[Any]:
        """Parts of files, as fsspec's cat_ranges(): negative numbers count from the end."""
        if max_gap is not None:
            raise NotImplementedError
        count = len(paths)
        first = [starts] * count if starts is None or isinstance(starts, int) else list(starts)
        last = [ends] * count if ends is None or isinstance(ends, int) else list(ends)
        if not len(first) == len(last) == count:
            raise ValueError("there must be a start and an end for each path")
        files = [str(self._strip_protocol(path)) for path in paths]
        ranges = zip(first, last, self._sizes(files, first, last), strict=True)
        slices = [slice(start, end).indices(size)[:2] for start, end, size in ranges]
        parts: list[Any] = list(
            read_many(
                files,
                offsets=[start for start, _ in slices],
                lengths=[max(0, end - start) for start, end in slices],
                on_error="return",
            )
        )
        return self._checked(parts, on_error)

    def _sizes(
        self, files: list[str], starts: Sequence[int | None], ends: Sequence[int | None]
    ) -> list[int]:
        """The sizes, where numbers are relative to them."""
        plain = all(
            start is not None and end is not None and start >= 0 and end >= 0
            for start, end in zip(starts, ends, strict=True)
        )
        if plain:
            return [2**62] * len(files)
        sizes: list[int] = stat_many(files, fields=("size",))[0]["size"].tolist()
        return sizes

    def _checked(self, results: list[Any], on_error: str) -> list[Any]:
        if on_error == "raise":
            for result in results:
                if isinstance(result, Exception):
                    raise result
        return results

    def cat(self, path: Any, recursive: bool = False, on_error: str = "raise", **how: Any) -> Any:  # noqa: ANN401 (as in fsspec)
        """The contents of one file, or of several in a dict."""
        if how:
            return super().cat(path, recursive=recursive, on_error=on_error, **how)
        paths = self.expand_path(path, recursive=recursive)
        files = [name for name in paths if not os.path.isdir(name)] if recursive else paths
        listed = isinstance(path, list) or len(files) != 1
        if not listed and files[0] == self._strip_protocol(path):
            return self._checked(list(read_many(files, on_error="return")), "raise")[0]
        results = self._checked(list(read_many(files, on_error="return")), on_error)
        pairs = zip(files, results, strict=True)
        if on_error == "return":
            return dict(pairs)
        return {name: data for name, data in pairs if not isinstance(data, Exception)}
