# SPDX-License-Identifier: MIT
"""The calls that `watched batch` makes, as its watchers are to see them."""

from dataclasses import dataclass

BATCH, GETPGID, LSEEK, WRITE = 501, 121, 8, 1
EBADF = -9
RESTARTED = -513  # ERESTARTNOINTR


@dataclass(frozen=True)
class Call:
    """A system call: its number, its first arguments, its result."""

    number: int
    arguments: tuple[int, ...]  # as many as matter
    result: int

    def shown_as(self, number: int, arguments: tuple[int, ...], result: int) -> bool:
        """Whether a watcher showed this call; it may have shown more arguments."""
        wanted = tuple(a % 2**64 for a in self.arguments)
        seen = tuple(a % 2**64 for a in arguments[: len(wanted)])
        return (number, seen, result) == (self.number, wanted, self.result)


def expected(own_group: int) -> list[Call]:
    """All calls from the first one within batch() to its end."""
    return [
        Call(GETPGID, (0,), own_group),
        Call(LSEEK, (-7, 1001, 0), EBADF),
        Call(LSEEK, (-7, 1002, 1), EBADF),
        Call(WRITE, (-7,), EBADF),
        Call(BATCH, (), 6),
    ]


Seen = tuple[int, tuple[int, ...], int]  # number, arguments, result


def check(seen: list[Seen], own_group: int, restarted: int = RESTARTED) -> None:
    """Fails unless SEEN, all calls of the program, has those of the batch once, in order.

    RESTARTED is the result that the watcher gives batch() when it makes way for its
    calls, or for signals.
    """
    batches = [i for i, call in enumerate(seen) if call[0] == BATCH]
    assert len(batches) >= 2, f"batch() is shown {len(batches)} times"
    within = seen[batches[0] : batches[-1] + 1]
    assert (within[0][0], within[0][2]) == (BATCH, restarted)
    calls = [call for call in within if (call[0], call[2]) != (BATCH, restarted)]
    wanted = expected(own_group)
    assert len(calls) == len(wanted), calls
    for call, want in zip(calls, wanted, strict=True):
        assert want.shown_as(*call), f"{call} is not {want}"
    # The length, which is forwarded, as far as the watcher shows it.
    assert calls[3][1][2:3] in ((), (0,))
