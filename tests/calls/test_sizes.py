# SPDX-License-Identifier: MIT
"""Structures have the sizes of the table, for x86-64 and for arm64."""

import shutil
import subprocess

import pytest

from calls.table import GENERIC, X86, Call

COMPILERS = {X86: "x86_64-linux-gnu-gcc", GENERIC: "aarch64-linux-gnu-gcc"}
HEADERS = """
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/openat2.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <time.h>
"""
# Of the argument with this number in each of the calls.
TYPES = {
    "struct epoll_event": {"epoll_ctl": 3, "epoll_pwait": 1, "epoll_pwait2": 1},
    "fd_set": {"pselect6": 1},
    "int[2]": {"pipe2": 0, "socketpair": 3},
    "long": {"sendfile": 2, "splice": 1, "copy_file_range": 3},
    "struct futex_waitv": {"futex_waitv": 0},
    "struct io_event": {"io_getevents": 3, "io_cancel": 2},
    "struct io_uring_params": {"io_uring_setup": 1},
    "struct iocb": {"io_cancel": 1},
    "struct iovec": {"readv": 1, "vmsplice": 1, "process_vm_readv": 3},
    "struct itimerspec": {"timerfd_settime": 2, "timer_gettime": 1},
    "struct itimerval": {"setitimer": 1},
    "struct mmsghdr": {"recvmmsg": 1, "sendmmsg": 1},
    "struct mq_attr": {"mq_getsetattr": 1},
    "struct msghdr": {"sendmsg": 1, "recvmsg": 1},
    "struct pollfd": {"ppoll": 0},
    "struct rlimit": {"prlimit64": 2, "getrlimit": 1},
    "struct rusage": {"getrusage": 1, "wait4": 3},
    "struct sched_param": {"sched_setparam": 1},
    "struct sembuf": {"semop": 1},
    "struct sigevent": {"timer_create": 1, "mq_notify": 1},
    "siginfo_t": {"waitid": 2, "rt_sigtimedwait": 1},
    "stack_t": {"sigaltstack": 0},
    "struct stat": {"fstat": 1, "newfstatat": 2},
    "struct statfs": {"statfs": 1, "fstatfs": 1},
    "struct statx": {"statx": 4},
    "struct sysinfo": {"sysinfo": 0},
    "struct timespec": {"nanosleep": 0, "clock_gettime": 1, "ppoll": 2, "semtimedop": 3},
    "struct timespec[2]": {"utimensat": 2},
    "struct timeval": {"gettimeofday": 0, "settimeofday": 0},
    "struct timex": {"adjtimex": 0, "clock_adjtime": 1},
    "struct tms": {"times": 0},
    "struct utsname": {"uname": 0},
}


@pytest.mark.parametrize("architecture", COMPILERS)
def test_structures_have_their_sizes(calls: list[Call], architecture: int) -> None:
    compiler = shutil.which(COMPILERS[architecture])
    if not compiler:
        pytest.skip(f"no {COMPILERS[architecture]}")
    rows = {call.name: call for call in calls}
    checks = ""
    for kind, places in TYPES.items():
        for name, at in places.items():
            size = rows[name].arguments[at].sizes[architecture]
            checks += f'_Static_assert(sizeof({kind}) == {size}, "{name}");\n'
    subprocess.run(
        [compiler, "-D_GNU_SOURCE", "-fsyntax-only", "-x", "c", "-"],
        input=HEADERS + checks,
        text=True,
        check=True,
    )
