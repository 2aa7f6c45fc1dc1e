# SPDX-License-Identifier: MIT
"""Memory that is mapped before it is used."""

from typing import Any, NamedTuple

from ferry import _ferry


class Prefaulted(NamedTuple):
    """What prefault() did."""

    way: str
    """How: "populate", "large pages", "touch", or "none" where there was nothing to do."""
    large_page: int
    """Bytes of the large pages that were asked for, or 0."""
    faults: int
    """Page faults during the call: far fewer than pages where these were mapped already."""
    threads: int
    """Threads that did the work."""


def prefault(
    memory: Any,  # noqa: ANN401 (whatever has the buffer protocol)
    /,
    *,
    write: bool | None = None,
    large_pages: bool = True,
    alone: bool = False,
) -> Prefaulted:
    """Maps the memory of an array, or of another object with a buffer, before it is used.

    The contents do not change.  NumPy takes new memory from the kernel, which maps each page when
    it is touched first; to map all of them at once takes less time, above all with several threads
    on idle CPUs.  Raises MemoryError, before the process is killed, where the memory of the system
    or of a control group would run out.

    >>> array = np.empty(1 << 20)
    >>> done = prefault(array)
    >>> done.threads >= 1 and prefault(array).faults < 100
    True

    write: whether the pages will be written.  By default those of an object that can be written.
        True takes memory for each page; False maps the pages of a file, or pages of zeros.
    large_pages: whether to advise large pages where the system wants advice.
    alone: whether the calling thread does all of the work.
    """
    flags = _ferry.PREFAULT_SMALL * (not large_pages) | _ferry.PREFAULT_ALONE * bool(alone)
    how = None if write is None else bool(write)
    return Prefaulted(*_ferry.prefault(memory, how, flags))
