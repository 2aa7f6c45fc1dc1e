// SPDX-License-Identifier: MIT
/* What is probably wrong with the arguments of a call, as far as its text shows. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "names.h"

/* ---- what calls take ---- */

#define NO_BUFFER (-1)

struct call_shape {
	const char *name;
	unsigned char least; /* arguments; fewer where the kernel may ignore the last ones */
	unsigned char most;  /* that the kernel looks at */
	signed char buffer;  /* the argument whose length in bytes is the next one, or NO_BUFFER */
};

/*
 * Neither a library nor an installed header has this; the source is SYSCALL_DEFINEn in the kernel,
 * which never changes the arguments of a call.  Calls that are not listed are not checked, so
 * a missing row costs a warning and nothing else.  Sorted by name: numbers differ between machines.
 */
static const struct call_shape shapes[] = {
	{ "accept", 1, 3, NO_BUFFER },
	{ "accept4", 1, 4, NO_BUFFER },
	{ "access", 2, 2, NO_BUFFER },
	{ "bind", 3, 3, 1 },
	{ "brk", 1, 1, NO_BUFFER },
	{ "chdir", 1, 1, NO_BUFFER },
	{ "chmod", 2, 2, NO_BUFFER },
	{ "chown", 3, 3, NO_BUFFER },
	{ "clock_getres", 1, 2, NO_BUFFER },
	{ "clock_gettime", 2, 2, NO_BUFFER },
	{ "clock_nanosleep", 3, 4, NO_BUFFER },
	{ "close", 1, 1, NO_BUFFER },
	{ "close_range", 3, 3, NO_BUFFER },
	{ "connect", 3, 3, 1 },
	{ "copy_file_range", 6, 6, NO_BUFFER },
	{ "creat", 2, 2, NO_BUFFER },
	{ "dup", 1, 1, NO_BUFFER },
	{ "dup2", 2, 2, NO_BUFFER },
	{ "dup3", 3, 3, NO_BUFFER },
	{ "epoll_create1", 1, 1, NO_BUFFER },
	{ "epoll_ctl", 4, 4, NO_BUFFER },
	{ "epoll_pwait", 4, 6, NO_BUFFER },
	{ "epoll_wait", 4, 4, NO_BUFFER },
	{ "eventfd2", 2, 2, NO_BUFFER },
	{ "faccessat", 3, 3, NO_BUFFER },
	{ "faccessat2", 4, 4, NO_BUFFER },
	{ "fadvise64", 4, 4, NO_BUFFER },
	{ "fallocate", 4, 4, NO_BUFFER },
	{ "fchdir", 1, 1, NO_BUFFER },
	{ "fchmod", 2, 2, NO_BUFFER },
	{ "fchmodat", 3, 3, NO_BUFFER },
	{ "fchown", 3, 3, NO_BUFFER },
	{ "fchownat", 5, 5, NO_BUFFER },
	{ "fcntl", 2, 3, NO_BUFFER },
	{ "fdatasync", 1, 1, NO_BUFFER },
	{ "fgetxattr", 4, 4, 2 },
	{ "flistxattr", 3, 3, 1 },
	{ "flock", 2, 2, NO_BUFFER },
	{ "fremovexattr", 2, 2, NO_BUFFER },
	{ "fsetxattr", 5, 5, 2 },
	{ "fstat", 2, 2, NO_BUFFER },
	{ "fstatfs", 2, 2, NO_BUFFER },
	{ "fsync", 1, 1, NO_BUFFER },
	{ "ftruncate", 2, 2, NO_BUFFER },
	{ "futex", 2, 6, NO_BUFFER },
	{ "getcwd", 2, 2, 0 },
	{ "getdents64", 3, 3, 1 },
	{ "getegid", 0, 0, NO_BUFFER },
	{ "geteuid", 0, 0, NO_BUFFER },
	{ "getgid", 0, 0, NO_BUFFER },
	{ "getpeername", 3, 3, NO_BUFFER },
	{ "getpgid", 1, 1, NO_BUFFER },
	{ "getpid", 0, 0, NO_BUFFER },
	{ "getppid", 0, 0, NO_BUFFER },
	{ "getpriority", 2, 2, NO_BUFFER },
	{ "getrandom", 3, 3, 0 },
	{ "getrlimit", 2, 2, NO_BUFFER },
	{ "getrusage", 2, 2, NO_BUFFER },
	{ "getsockname", 3, 3, NO_BUFFER },
	{ "getsockopt", 5, 5, NO_BUFFER },
	{ "gettid", 0, 0, NO_BUFFER },
	{ "gettimeofday", 1, 2, NO_BUFFER },
	{ "getuid", 0, 0, NO_BUFFER },
	{ "getxattr", 4, 4, 2 },
	{ "inotify_add_watch", 3, 3, NO_BUFFER },
	{ "inotify_init1", 1, 1, NO_BUFFER },
	{ "inotify_rm_watch", 2, 2, NO_BUFFER },
	{ "ioctl", 2, 3, NO_BUFFER },
	{ "kill", 2, 2, NO_BUFFER },
	{ "lgetxattr", 4, 4, 2 },
	{ "link", 2, 2, NO_BUFFER },
	{ "linkat", 5, 5, NO_BUFFER },
	{ "listen", 2, 2, NO_BUFFER },
	{ "listxattr", 3, 3, 1 },
	{ "llistxattr", 3, 3, 1 },
	{ "lremovexattr", 2, 2, NO_BUFFER },
	{ "lseek", 3, 3, NO_BUFFER },
	{ "lsetxattr", 5, 5, 2 },
	{ "lstat", 2, 2, NO_BUFFER },
	{ "madvise", 3, 3, NO_BUFFER },
	{ "memfd_create", 2, 2, NO_BUFFER },
	{ "mincore", 3, 3, NO_BUFFER },
	{ "mkdir", 2, 2, NO_BUFFER },
	{ "mkdirat", 3, 3, NO_BUFFER },
	{ "mknod", 3, 3, NO_BUFFER },
	{ "mknodat", 4, 4, NO_BUFFER },
	{ "mlock", 2, 2, NO_BUFFER },
	{ "mmap", 4, 6, NO_BUFFER },
	{ "mprotect", 3, 3, NO_BUFFER },
	{ "mremap", 3, 5, NO_BUFFER },
	{ "msync", 3, 3, NO_BUFFER },
	{ "munlock", 2, 2, NO_BUFFER },
	{ "munmap", 2, 2, NO_BUFFER },
	{ "nanosleep", 1, 2, NO_BUFFER },
	{ "newfstatat", 4, 4, NO_BUFFER },
	{ "open", 2, 3, NO_BUFFER },
	{ "openat", 3, 4, NO_BUFFER },
	{ "openat2", 4, 4, 2 },
	{ "pidfd_open", 2, 2, NO_BUFFER },
	{ "pidfd_send_signal", 2, 4, NO_BUFFER },
	{ "pipe", 1, 1, NO_BUFFER },
	{ "pipe2", 2, 2, NO_BUFFER },
	{ "poll", 3, 3, NO_BUFFER },
	{ "ppoll", 2, 5, NO_BUFFER },
	{ "prctl", 1, 5, NO_BUFFER },
	{ "pread64", 4, 4, 1 },
	{ "preadv", 4, 5, NO_BUFFER },
	{ "preadv2", 4, 6, NO_BUFFER },
	{ "prlimit64", 3, 4, NO_BUFFER },
	{ "pwrite64", 4, 4, 1 },
	{ "pwritev", 4, 5, NO_BUFFER },
	{ "pwritev2", 4, 6, NO_BUFFER },
	{ "read", 3, 3, 1 },
	{ "readahead", 3, 3, NO_BUFFER },
	{ "readlink", 3, 3, 1 },
	{ "readlinkat", 4, 4, 2 },
	{ "readv", 3, 3, NO_BUFFER },
	{ "recvfrom", 4, 6, 1 },
	{ "recvmsg", 3, 3, NO_BUFFER },
	{ "removexattr", 2, 2, NO_BUFFER },
	{ "rename", 2, 2, NO_BUFFER },
	{ "renameat", 4, 4, NO_BUFFER },
	{ "renameat2", 5, 5, NO_BUFFER },
	{ "rmdir", 1, 1, NO_BUFFER },
	{ "rt_sigaction", 4, 4, NO_BUFFER },
	{ "rt_sigpending", 2, 2, NO_BUFFER },
	{ "rt_sigprocmask", 4, 4, NO_BUFFER },
	{ "sched_getaffinity", 3, 3, NO_BUFFER },
	{ "sched_setaffinity", 3, 3, NO_BUFFER },
	{ "sched_yield", 0, 0, NO_BUFFER },
	{ "sendfile", 4, 4, NO_BUFFER },
	{ "sendmsg", 3, 3, NO_BUFFER },
	{ "sendto", 4, 6, 1 },
	{ "setpriority", 3, 3, NO_BUFFER },
	{ "setrlimit", 2, 2, NO_BUFFER },
	{ "setsockopt", 5, 5, 3 },
	{ "setxattr", 5, 5, 2 },
	{ "shutdown", 2, 2, NO_BUFFER },
	{ "signalfd4", 4, 4, NO_BUFFER },
	{ "socket", 3, 3, NO_BUFFER },
	{ "socketpair", 4, 4, NO_BUFFER },
	{ "splice", 6, 6, NO_BUFFER },
	{ "stat", 2, 2, NO_BUFFER },
	{ "statfs", 2, 2, NO_BUFFER },
	{ "statx", 5, 5, NO_BUFFER },
	{ "symlink", 2, 2, NO_BUFFER },
	{ "symlinkat", 3, 3, NO_BUFFER },
	{ "sync", 0, 0, NO_BUFFER },
	{ "sync_file_range", 4, 4, NO_BUFFER },
	{ "syncfs", 1, 1, NO_BUFFER },
	{ "sysinfo", 1, 1, NO_BUFFER },
	{ "tee", 4, 4, NO_BUFFER },
	{ "tgkill", 3, 3, NO_BUFFER },
	{ "timerfd_create", 2, 2, NO_BUFFER },
	{ "timerfd_gettime", 2, 2, NO_BUFFER },
	{ "timerfd_settime", 3, 4, NO_BUFFER },
	{ "truncate", 2, 2, NO_BUFFER },
	{ "umask", 1, 1, NO_BUFFER },
	{ "umount2", 2, 2, NO_BUFFER },
	{ "uname", 1, 1, NO_BUFFER },
	{ "unlink", 1, 1, NO_BUFFER },
	{ "unlinkat", 3, 3, NO_BUFFER },
	{ "utimensat", 2, 4, NO_BUFFER },
	{ "vmsplice", 4, 4, NO_BUFFER },
	{ "wait4", 2, 4, NO_BUFFER },
	{ "waitid", 4, 5, NO_BUFFER },
	{ "write", 3, 3, 1 },
	{ "writev", 3, 3, NO_BUFFER },
};

static int compare(const void *key, const void *element)
{
	const struct call_shape *shape = element;

	return strcmp(key, shape->name);
}

/* The shape of call NR, or NULL when it is not listed. */
static const struct call_shape *call_shape(short nr)
{
	char name[CALL_NAME_SIZE];

	if (!system_call_name(nr, name))
		return NULL;
	return bsearch(name, shapes, sizeof(shapes) / sizeof(*shapes), sizeof(*shapes), compare);
}

/* ---- comparing a slot with it ---- */

__attribute__((format(printf, 2, 3))) static void warn(struct slot_warnings *warnings,
						       const char *format, ...)
{
	char *reason = warnings->reason[warnings->count++];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(*warnings->reason), format, arguments);
	va_end(arguments);
}

static unsigned int argument_count(const struct ferry_slot *slot)
{
	return slot->argc & ~(unsigned int)FERRY_ARGC_FORWARD;
}

static const char *plural(unsigned int count)
{
	return count == 1 ? "" : "s";
}

static void check_count(const struct call_shape *shape, const struct ferry_slot *slot,
			struct slot_warnings *warnings)
{
	unsigned int count = argument_count(slot);

	if (count > FERRY_MAX_ARGS)
		return; /* an error of the batch, which ferry_check() reports */
	if (count > shape->most)
		warn(warnings, "%s takes %d argument%s, not %u", shape->name, shape->most,
		     plural(shape->most), count);
	else if (count < shape->least)
		warn(warnings, "%s takes %s%d argument%s, not %u; those left out are 0",
		     shape->name, shape->least < shape->most ? "at least " : "", shape->least,
		     plural(shape->least), count);
}

/* Whether some word copy may change argument K of slot INDEX before the slot runs. */
static bool may_be_copied_to(const struct image *image, unsigned long index, unsigned int k)
{
	uint64_t argument = index * sizeof(struct ferry_slot) + offsetof(struct ferry_slot, arg) +
			    k * sizeof(long);
	uint64_t word;
	size_t i;

	for (i = 0; i < image->relocation_count; i++) {
		if (image->relocations[i].base != BASE_SLOTS)
			continue;
		memcpy(&word, image_word(image, image->relocations[i].place), sizeof(word));
		if (word == argument)
			return true;
	}
	return false;
}

/* Whether argument K of slot INDEX is the word in the text, and not a forwarded result. */
static bool is_written(const struct ferry_slot *slot, unsigned int k)
{
	bool forwarded = slot->argc & FERRY_ARGC_FORWARD && slot->from[k];

	return k < argument_count(slot) && !forwarded;
}

static void check_length(const struct image *image, unsigned long index, unsigned int buffer,
			 struct slot_warnings *warnings)
{
	const struct ferry_slot *slot = &image->slots[index];
	struct word_place place = { HOLDER_SLOT, (uint32_t)index, buffer };
	const struct relocation *address = image_relocation(image, place);
	unsigned long length = (unsigned long)slot->arg[buffer + 1];
	long offset = slot->arg[buffer];
	const struct data *data;
	unsigned long room;

	place.word++;
	if (!is_written(slot, buffer) || !is_written(slot, buffer + 1) || !address ||
	    address->base != BASE_DATA || offset < 0 || image_relocation(image, place))
		return;
	data = &image->data[address->object];
	room = (unsigned long)offset < data->size ? data->size - (unsigned long)offset : 0;
	if (length <= room || may_be_copied_to(image, index, buffer) ||
	    may_be_copied_to(image, index, buffer + 1))
		return;
	if (offset)
		warn(warnings, "the length is %lu, but only %lu bytes are left at %.50s+%ld",
		     length, room, data->name, offset);
	else
		warn(warnings, "the length is %lu, but %.50s has only %lu bytes", length,
		     data->name, room);
}

void image_check_slot(const struct image *image, unsigned long slot, struct slot_warnings *warnings)
{
	const struct call_shape *shape = call_shape(image->slots[slot].nr);

	warnings->count = 0;
	if (!shape)
		return;
	check_count(shape, &image->slots[slot], warnings);
	if (shape->buffer != NO_BUFFER)
		check_length(image, slot, (unsigned int)shape->buffer, warnings);
}
