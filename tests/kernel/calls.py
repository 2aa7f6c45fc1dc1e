# SPDX-License-Identifier: MIT
"""The calls of `watched batch` and `watched flexsc` that watchers must see."""

from dataclasses import dataclass

BATCH, FLEXSC_SERVE, GETPGID, LSEEK, READ, WRITE = 501, 506, 121, 8, 0, 1
EBADF, REFUSED = -9, -95  # EBADF, EOPNOTSUPP
RT_SIGPROCMASK, EINVAL = 14, -22


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
    last: tuple[Call, ...]  # behind the calls that both make


MAKERS = {
    "batch": Maker("batch", BATCH, ()),
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


def is_about_refusal(call: Seen, maker: Maker) -> bool:
    """MAKER leaves its calls to user space, which sees whether it can read the slots."""
    return (call[0], call[2]) in ((maker.number, REFUSED), (RT_SIGPROCMASK, EINVAL))


def check(seen: list[Seen], maker: Maker, own_group: int) -> None:
    """Fails unless SEEN, all calls of the program, contains those of MAKER once, in order."""
    refusal = (maker.number, REFUSED)
    first = next((i for i, call in enumerate(seen) if (call[0], call[2]) == refusal), None)
    assert first is not None, f"{maker.word} is not shown"
    calls = [call for call in seen[first:] if not is_about_refusal(call, maker)]
    wanted = expected(maker, own_group)
    assert len(calls) >= len(wanted), calls
    for call, want in zip(calls, wanted, strict=False):
        assert want.shown_as(*call), f"{call} is not {want}"
    assert all(call[0] not in (LSEEK, GETPGID, maker.number) for call in calls[len(wanted) :])
    # The length, which a batch forwards, as far as the watcher shows it.
    assert calls[3][1][2:3] in ((), (0,))
