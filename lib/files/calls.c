// SPDX-License-Identifier: MIT
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <ferry/rawcall.h>

#include "proxy.h"

/* Makes the call here, or with a time limit, in the member's proxy. */
__attribute__((always_inline)) static inline long call(struct member *member,
						       struct proxy_call call)
{
	const long *args = call.args;
	struct proxy_call limited;

	if (!member || !member->crew->options->timeout_ms)
		return ferry_rawcall(call.nr, args[0], args[1], args[2], args[3], args[4], args[5]);
	limited = call; /* only now in memory */
	return ferry__proxy_call(member, &limited);
}

long ferry__call_statx(struct member *member, int dir, const char *name, int flags,
		       unsigned int mask, struct statx *into)
{
	return call(member, (struct proxy_call){
				    .nr = SYS_statx,
				    .args = { dir, (long)name, flags, mask, (long)into },
				    .has_name = name,
				    .output = 4,
				    .output_size = sizeof(*into),
			    });
}

long ferry__call_fstat(struct member *member, int fd, struct statx *into)
{
	struct stat stat = { .st_size = 0 };
	long error = call(member, (struct proxy_call){
					  .nr = SYS_fstat,
					  .args = { fd, (long)&stat },
					  .output = 1,
					  .output_size = sizeof(stat),
				  });

	if (error)
		return error;
	into->stx_mode = (unsigned short)stat.st_mode;
	into->stx_size = (unsigned long)stat.st_size;
	return 0;
}

long ferry__call_open(struct member *member, int dir, const char *name, int flags)
{
	return call(member, (struct proxy_call){
				    .nr = SYS_openat,
				    .args = { dir, (long)name, flags },
				    .has_name = name,
			    });
}

long ferry__call_openat2(struct member *member, int dir, const char *name,
			 const struct open_how *how)
{
	return call(member, (struct proxy_call){
				    .nr = SYS_openat2,
				    .args = { dir, (long)name, (long)how, sizeof(*how) },
				    .has_name = name,
			    });
}

/* Opens NAME in FROM, and closes FROM unless it is TOP. */
static long open_next(struct member *member, int top, int from, const char *name, int flags)
{
	long fd = ferry__call_open(member, from, name, flags);

	if (from != top)
		ferry__call_close(member, from);
	return fd;
}

/* O_NOFOLLOW is about the last part of a name: each part has to be the last once. */
static long open_part_by_part(struct member *member, int dir, char *name, int flags)
{
	const int part = O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
	int from = dir;
	char *slash;
	long fd;

	while ((slash = strchr(name, '/'))) {
		*slash = '\0';
		fd = open_next(member, dir, from, name, part);
		*slash = '/';
		if (fd < 0)
			return fd;
		from = (int)fd;
		name = slash + 1 + strspn(slash + 1, "/");
	}
	return open_next(member, dir, from, name, flags);
}

long ferry__call_open_beneath(struct member *member, int dir, char *name, int flags)
{
	static const struct open_how directory = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW,
		.resolve = RESOLVE_NO_SYMLINKS,
	};
	long fd = ferry__call_openat2(member, dir, name, &directory);

	/* Sandboxes refuse the call with EPERM because they do not know it. */
	if (fd == -ENOSYS || fd == -EPERM)
		return open_part_by_part(member, dir, name, flags);
	return fd;
}

long ferry__call_getdents(struct member *member, int fd, void *into, size_t size)
{
	return call(member, (struct proxy_call){
				    .nr = SYS_getdents64,
				    .args = { fd, (long)into, (long)size },
				    .output = 1,
				    .output_size = size,
			    });
}

long ferry__call_read(struct member *member, int fd, void *into, size_t size)
{
	return call(member, (struct proxy_call){
				    .nr = SYS_read,
				    .args = { fd, (long)into, (long)size },
				    .output = 1,
				    .output_size = size,
			    });
}

long ferry__call_pread(struct member *member, int fd, void *into, size_t size, long offset)
{
	return call(member, (struct proxy_call){
				    .nr = SYS_pread64,
				    .args = { fd, (long)into, (long)size, offset },
				    .output = 1,
				    .output_size = size,
			    });
}

void ferry__call_close(struct member *member, int fd)
{
	call(member, (struct proxy_call){ .nr = SYS_close, .args = { fd } });
}

void ferry__calls_end(struct member *member)
{
	if (member->proxy)
		ferry__proxy_dismiss(member->proxy);
}
