// SPDX-License-Identifier: MIT
#include "shapes.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>

#include "common/record.h"
#include "lib/text/text.h"

/* By name.  A call that is not listed is taken to need all results before it. */
static const struct shape shapes[] = {
	{ "accept", "dsn", 'd', 0, WAITS },
	{ "accept4", "dsnn", 'd', 0, WAITS },
	{ "access", "pn", 0, 0, NEVER_WAITS },
	{ "brk", "a", 'a', 0, NEVER_WAITS },
	{ "chdir", "p", 0, 0, NEVER_WAITS },
	{ "chmod", "pn", 0, 0, NEVER_WAITS },
	{ "chown", "pnn", 0, 0, NEVER_WAITS },
	{ "clock_gettime", "ns", 0, 16, NEVER_WAITS },
	{ "clock_nanosleep", "nnts", 0, 16, WAITS },
	{ "close", "d", 0, 0, NEVER_WAITS },
	{ "connect", "dtn", 0, 0, WAITS },
	{ "copy_file_range", "dndnnn", 'l', 0, NEVER_WAITS },
	{ "dup", "d", 'd', 0, NEVER_WAITS },
	{ "dup2", "dd", 'd', 0, NEVER_WAITS },
	{ "dup3", "ddn", 'd', 0, NEVER_WAITS },
	{ "epoll_create1", "n", 'd', 0, NEVER_WAITS },
	{ "epoll_ctl", "dndt", 0, 0, NEVER_WAITS },
	{ "epoll_pwait", "drnntn", 'l', 0, WAITS },
	{ "epoll_wait", "drnn", 'l', 0, WAITS },
	{ "eventfd2", "nn", 'd', 0, NEVER_WAITS },
	{ "faccessat", "dpn", 0, 0, NEVER_WAITS },
	{ "faccessat2", "dpnn", 0, 0, NEVER_WAITS },
	{ "fadvise64", "dnnn", 0, 0, NEVER_WAITS },
	{ "fallocate", "dnnn", 0, 0, NEVER_WAITS },
	{ "fchdir", "d", 0, 0, NEVER_WAITS },
	{ "fchmod", "dn", 0, 0, NEVER_WAITS },
	{ "fchmodat", "dpn", 0, 0, NEVER_WAITS },
	{ "fchown", "dnn", 0, 0, NEVER_WAITS },
	{ "fchownat", "dpnnn", 0, 0, NEVER_WAITS },
	{ "fcntl", "dnn", 0, 0, NEVER_WAITS },
	{ "fdatasync", "d", 0, 0, NEVER_WAITS },
	{ "fgetxattr", "dprl", 'l', 0, NEVER_WAITS },
	{ "flistxattr", "drl", 'l', 0, NEVER_WAITS },
	{ "flock", "dn", 0, 0, WAITS },
	{ "fstat", "ds", 0, 144, NEVER_WAITS },
	{ "fstatfs", "ds", 0, 120, NEVER_WAITS },
	{ "fsync", "d", 0, 0, NEVER_WAITS },
	{ "ftruncate", "dn", 0, 0, NEVER_WAITS },
	{ "futex", "annt", 0, 0, WAITS }, /* by some operations */
	{ "getcwd", "rl", 'l', 0, NEVER_WAITS },
	{ "getdents64", "drl", 'l', 0, NEVER_WAITS },
	{ "getegid", "", 0, 0, NEVER_WAITS },
	{ "geteuid", "", 0, 0, NEVER_WAITS },
	{ "getgid", "", 0, 0, NEVER_WAITS },
	{ "getpid", "", 0, 0, NEVER_WAITS },
	{ "getppid", "", 0, 0, NEVER_WAITS },
	{ "getrandom", "rln", 'l', 0, NEVER_WAITS },
	{ "getrusage", "ns", 0, 144, NEVER_WAITS },
	{ "getsockopt", "dnnsn", 0, 8, NEVER_WAITS },
	{ "gettid", "", 0, 0, NEVER_WAITS },
	{ "gettimeofday", "sn", 0, 16, NEVER_WAITS },
	{ "getuid", "", 0, 0, NEVER_WAITS },
	{ "getxattr", "pprl", 'l', 0, NEVER_WAITS },
	{ "ioctl", "dnn", 0, 0, NEVER_WAITS },
	{ "lgetxattr", "pprl", 'l', 0, NEVER_WAITS },
	{ "link", "pp", 0, 0, NEVER_WAITS },
	{ "linkat", "dpdpn", 0, 0, NEVER_WAITS },
	{ "listxattr", "prl", 'l', 0, NEVER_WAITS },
	{ "llistxattr", "prl", 'l', 0, NEVER_WAITS },
	{ "lseek", "dnn", 'l', 0, NEVER_WAITS },
	{ "lstat", "ps", 0, 144, NEVER_WAITS },
	{ "madvise", "anl", 0, 0, NEVER_WAITS },
	{ "mkdir", "pn", 0, 0, NEVER_WAITS },
	{ "mkdirat", "dpn", 0, 0, NEVER_WAITS },
	{ "mmap", "annndn", 'a', 0, NEVER_WAITS },
	{ "mprotect", "ann", 0, 0, NEVER_WAITS },
	{ "munmap", "an", 0, 0, NEVER_WAITS },
	{ "nanosleep", "ts", 0, 16, WAITS },
	{ "newfstatat", "dpsn", 0, 144, NEVER_WAITS },
	{ "open", "pnn", 'd', 0, NEVER_WAITS },
	{ "openat", "dpnn", 'd', 0, NEVER_WAITS },
	{ "pause", "", 0, 0, WAITS },
	{ "pipe2", "sn", 0, 8, NEVER_WAITS },
	{ "poll", "snn", 'l', 8, WAITS },
	{ "ppoll", "snttn", 'l', 8, WAITS },
	{ "pread64", "drln", 'l', 0, NEVER_WAITS },
	{ "prlimit64", "nnts", 0, 16, NEVER_WAITS },
	{ "pselect6", "nsssnn", 'l', 128, WAITS },
	{ "pwrite64", "dwln", 'l', 0, NEVER_WAITS },
	{ "read", "drl", 'l', 0, WAITS_FOR_PEER },
	{ "readlink", "prl", 'l', 0, NEVER_WAITS },
	{ "readlinkat", "dprl", 'l', 0, NEVER_WAITS },
	{ "recvfrom", "drlnsn", 'l', 0, WAITS },
	{ "recvmsg", "dsn", 'l', 56, WAITS },
	{ "rename", "pp", 0, 0, NEVER_WAITS },
	{ "renameat2", "dpdpn", 0, 0, NEVER_WAITS },
	{ "rmdir", "p", 0, 0, NEVER_WAITS },
	{ "rt_sigaction", "ntsn", 0, 32, NEVER_WAITS },
	{ "rt_sigprocmask", "ntsn", 0, 8, NEVER_WAITS },
	{ "sched_yield", "", 0, 0, NEVER_WAITS },
	{ "select", "nssst", 'l', 128, WAITS },
	{ "sendfile", "ddsn", 'l', 8, WAITS_FOR_PEER },
	{ "sendmsg", "dtn", 'l', 0, NEVER_WAITS },
	{ "sendto", "dwlntn", 'l', 0, NEVER_WAITS },
	{ "setsockopt", "dnntn", 0, 0, NEVER_WAITS },
	{ "shutdown", "dn", 0, 0, NEVER_WAITS },
	{ "socket", "nnn", 'd', 0, NEVER_WAITS },
	{ "stat", "ps", 0, 144, NEVER_WAITS },
	{ "statfs", "ps", 0, 120, NEVER_WAITS },
	{ "statx", "dpnns", 0, 256, NEVER_WAITS },
	{ "symlinkat", "pdp", 0, 0, NEVER_WAITS },
	{ "umask", "n", 0, 0, NEVER_WAITS },
	{ "uname", "s", 0, 390, NEVER_WAITS },
	{ "unlink", "p", 0, 0, NEVER_WAITS },
	{ "unlinkat", "dpn", 0, 0, NEVER_WAITS },
	{ "utimensat", "dptn", 0, 0, NEVER_WAITS },
	{ "wait4", "nsns", 0, 144, WAITS },
	{ "waitid", "nnsn", 0, 128, WAITS },
	{ "write", "dwl", 'l', 0, NEVER_WAITS },
	{ "writev", "dtn", 'l', 0, NEVER_WAITS },
};

static int compare(const void *key, const void *element)
{
	const struct shape *shape = element;

	return strcmp(key, shape->name);
}

static const struct shape *find_shape(int nr)
{
	char name[CALL_NAME_SIZE];

	return bsearch(call_name((short)nr, name), shapes, COUNT_OF(shapes), sizeof(*shapes),
		       compare);
}

const struct shape *shape_of(int nr)
{
	static const struct shape *found[CALL_LIMIT];
	static bool looked_up[CALL_LIMIT];

	if (nr < 0 || nr >= CALL_LIMIT)
		return NULL;
	if (!looked_up[nr])
		found[nr] = find_shape(nr);
	looked_up[nr] = true;
	return found[nr];
}

int argument_of_kind(const struct shape *shape, char kind)
{
	const char *found = shape ? strchr(shape->args, kind) : NULL;

	return found && *found ? (int)(found - shape->args) : -1;
}

static bool is_quick_futex(unsigned long operation)
{
	switch (operation & (unsigned long)FUTEX_CMD_MASK) {
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_WAKE_OP:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_CMP_REQUEUE_PI:
	case FUTEX_TRYLOCK_PI:
	case FUTEX_UNLOCK_PI:
		return true;
	default:
		return false;
	}
}

bool waits_for_others(const struct traced_call *call)
{
	const struct shape *shape = shape_of(call->nr);

	if (!shape || shape->waits != WAITS)
		return false;
	return call->nr != SYS_futex || !is_quick_futex(call->args[1]);
}
