# SPDX-License-Identifier: MIT
"""The calls of `watched batch` and `watched flexsc` that watchers must see."""

from dataclasses import dataclass

BATCH, FLEXSC_SERVE, GETPGID, LSEEK, READ, WRITE = 501, 506, 121, 8, 0, 1
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


@dataclass(frozen=True)
class Maker:
    """A call that makes others."""

    word: str  # after `watched`
    number: int
    last: tuple[Call, ...]  # behind the calls that both make: one more, and its own result


MAKERS = {
    "batch": Maker("batch", BATCH, (Call(BATCH, (), 6),)),
    # The runner reads what stops it.
    "flexsc": Maker("flexsc", FLEXSC_SERVE, (Call(READ, (), 4), Call(FLEXSC_SERVE, (), 0))),
}


def expected(maker: Maker, own_group: int) -> list[Call]:
    """The calls that MAKER makes, from the first to its end."""
    return [
        Call(GETPGID, (0,), own_group),
        Call(LSEEK, (-7, 1001, 0), EBADF),
        Call(LSEEK, (-7, 1002, 1), EBADF),
        Call(WRITE, (-7,), EBADF),
        *maker.last,
    ]


Seen = tuple[int, tuple[int, ...], int]  # number, arguments, result


def check(seen: list[Seen], maker: Maker, own_group: int, restarted: int = RESTARTED) -> None:
    """Fails unless SEEN, all calls of the program, contains those of MAKER once, in order.

    RESTARTED is the result that the watcher shows for MAKER when it exits before its
    calls, or for signals.
    """
    outer = [i for i, call in enumerate(seen) if call[0] == maker.number]
    assert len(outer) >= 2, f"{maker.word} is shown {len(outer)} times"
    within = seen[outer[0] : outer[-1] + 1]
    assert (within[0][0], within[0][2]) == (maker.number, restarted)
    calls = [call for call in within if (call[0], call[2]) != (maker.number, restarted)]
    wanted = expected(maker, own_group)
    assert len(calls) == len(wanted), calls
    for call, want in zip(calls, wanted, strict=True):
        assert want.shown_as(*call), f"{call} is not {want}"
    # The length, which a batch forwards, as far as the watcher shows it.
    assert calls[3][1][2:3] in ((), (0,))
