// SPDX-License-Identifier: MIT
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>

#include <ferry/rawcall.h>

#include "proxy.h"

#define NAME (1U << 1) /* argument 1 is the name */

/* Whether no call is to be made again.  A handler may have left something for progress to see. */
static bool is_over(struct member *member)
{
	if (!member)
		return false;
	if (member->is_caller)
		ferry__crew_report_soon(member->crew);
	return ferry__crew_stopped(member);
}

/* A call that a handler of the caller's has interrupted is made again. */
static long repeat(struct member *member, const struct proxy_call *call)
{
	const long *args = call->args;
	long result = -EINTR;

	while (result == -EINTR && !is_over(member))
		result = ferry_rawcall(call->nr, args[0], args[1], args[2], args[3], args[4],
				       args[5]);
	return result;
}

/* Makes the call here, or with a time limit, in the member's proxy. */
__attribute__((always_inline)) static inline long call(struct member *member,
						       struct proxy_call call)
{
	const long *args = call.args;
	struct proxy_call rare;
	long result;

	if (!member || !member->crew->options->timeout_ms) {
		result = ferry_rawcall(call.nr, args[0], args[1], args[2], args[3], args[4],
				       args[5]);
		if (result != -EINTR || call.nr == SYS_close)
			return result;
		rare = call; /* only now in memory */
		return repeat(member, &rare);
	}
	rare = call;
	return ferry__proxy_call(member, &rare);
}

/* ---- attributes ---- */

#ifdef SYS_newfstatat
static struct statx_timestamp timestamp(struct timespec time)
{
	return (struct statx_timestamp){
		.tv_sec = time.tv_sec,
		.tv_nsec = (unsigned int)time.tv_nsec,
	};
}

static void as_statx(const struct stat *stat, struct statx *into)
{
	*into = (struct statx){
		.stx_mask = STATX_BASIC_STATS,
		.stx_blksize = (unsigned int)stat->st_blksize,
		.stx_nlink = (unsigned int)stat->st_nlink,
		.stx_uid = stat->st_uid,
		.stx_gid = stat->st_gid,
		.stx_mode = (unsigned short)stat->st_mode,
		.stx_ino = stat->st_ino,
		.stx_size = (unsigned long)stat->st_size,
		.stx_blocks = (unsigned long)stat->st_blocks,
		.stx_atime = timestamp(stat->st_atim),
		.stx_mtime = timestamp(stat->st_mtim),
		.stx_ctime = timestamp(stat->st_ctim),
		.stx_rdev_major = major(stat->st_rdev),
		.stx_rdev_minor = minor(stat->st_rdev),
		.stx_dev_major = major(stat->st_dev),
		.stx_dev_minor = minor(stat->st_dev),
	};
}

long ferry__call_statx_again(struct member *member, int dir, const char *name, int flags,
			     struct statx *into)
{
	struct stat stat = { .st_size = 0 };
	long error =
		call(member,
		     (struct proxy_call){
			     .nr = SYS_newfstatat,
			     .args = { dir, (long)name, (long)&stat, flags & ~AT_STATX_SYNC_TYPE },
			     .names = NAME,
			     .output = 2,
			     .output_size = sizeof(stat),
		     });

	if (!error)
		as_statx(&stat, into);
	return error;
}
#else
long ferry__call_statx_again(struct member *member, int dir, const char *name, int flags,
			     struct statx *into)
{
	(void)member, (void)dir, (void)name, (void)flags, (void)into;
	return -ENOSYS;
}
#endif

long ferry__call_statx(struct member *member, int dir, const char *name, int flags,
		       unsigned int mask, struct statx *into)
{
	long error = call(member, (struct proxy_call){
					  .nr = SYS_statx,
					  .args = { dir, (long)name, flags, mask, (long)into },
					  .names = NAME,
					  .output = 4,
					  .output_size = sizeof(*into),
				  });

	if (ferry__is_refused(error))
		return ferry__call_statx_again(member, dir, name, flags, into);
	return error;
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
				    .names = NAME,
			    });
}

long ferry__call_openat2(struct member *member, int dir, const char *name,
			 const struct open_how *how)
{
	return call(member, (struct proxy_call){
				    .nr = SYS_openat2,
				    .args = { dir, (long)name, (long)how, sizeof(*how) },
				    .names = NAME,
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

	if (ferry__is_refused(fd))
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

long ferry__call_any(struct member *member, const struct proxy_call *any)
{
	return call(member, *any);
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
