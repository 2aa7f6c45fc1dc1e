// SPDX-License-Identifier: MIT
#include "handlers.h"

#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_NAME "ferry-bench-file"
#define FILE_SIZE 4096 /* longer than any run of writes, so that the file does not grow */

static struct stat stat_buffer;
static struct statx statx_buffer;
static char byte;
static int fd = -1;

enum { GETPPID, WRITE, FSTAT, STATX };

struct handler handlers[] = {
	[GETPPID] = { "getppid", "", { .nr = SYS_getppid } },
	[WRITE] = { "write",
		    "1 byte within the first page of a tmpfs file",
		    { .nr = SYS_write, .argc = 3, .arg = { [1] = (long)&byte, [2] = 1 } } },
	[FSTAT] = { "fstat",
		    "of a tmpfs file",
		    { .nr = SYS_fstat, .argc = 2, .arg = { [1] = (long)&stat_buffer } } },
	[STATX] = { "statx",
		    "of a name in the current directory, a tmpfs",
		    { .nr = SYS_statx,
		      .argc = 5,
		      .arg = { AT_FDCWD, (long)FILE_NAME, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS,
			       (long)&statx_buffer } } },
};

const size_t handler_count = sizeof(handlers) / sizeof(handlers[0]);

void handlers_prepare(void)
{
	static const char page[FILE_SIZE];

	fd = open(FILE_NAME, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, page, sizeof(page)) != sizeof(page))
		err(EXIT_FAILURE, "cannot write " FILE_NAME);
	handlers[WRITE].slot.arg[0] = fd;
	handlers[FSTAT].slot.arg[0] = fd;
}

void handlers_rewind(void)
{
	/* The first write after a tick also changes the time of the file. */
	if (pwrite(fd, &byte, sizeof(byte), 0) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		err(EXIT_FAILURE, "cannot write " FILE_NAME);
}

void handlers_finish(void)
{
	close(fd);
	unlink(FILE_NAME);
}
