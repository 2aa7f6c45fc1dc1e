// SPDX-License-Identifier: GPL-2.0
/* getdents_statx(): the entries that getdents64() returns, with the attributes of statx(). */
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <linux/getdents_statx.h>

#include "subcall_test.h"

#ifndef AT_NO_AUTOMOUNT
#define AT_NO_AUTOMOUNT 0x800
#endif
#define MASK (STATX_BASIC_STATS | STATX_BTIME)
#define MANY 300 /* more names than the kernel takes from a file system at once */

/* An entry that getdents64() writes. */
struct entry64 {
	__u64 ino;
	__s64 off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

static __u64 names[8 << 10]; /* the entries of getdents64() */

static const struct entry64 *entry_at(long at)
{
	return (const struct entry64 *)((char *)names + at);
}

FIXTURE(directory)
{
	char path[64];
	int fd;
	char *buffer; /* of SIZE bytes, and behind it a page that is not there */
};

#define SIZE (128 << 10)

static long get_both(int fd, void *into, size_t size, unsigned int flags)
{
	const long result = syscall(__NR_getdents_statx, fd, into, size, MASK, flags);

	return result < 0 ? -errno : result;
}

static void make_files(int dir)
{
	char name[256];
	int i;

	for (i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "%0*d", i % 255 + 1, i);
		close(openat(dir, name, O_CREAT | O_WRONLY, 0600 + i % 64));
	}
	symlinkat("1", dir, "link");
	symlinkat("nowhere", dir, "dangling");
	mkdirat(dir, "below", 0700);
	mkfifoat(dir, "pipe", 0600);
	close(openat(dir, "\n\377", O_CREAT | O_WRONLY, 0600));
}

FIXTURE_SETUP(directory)
{
	strcpy(self->path, "/tmp/getdents_statx.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->path));
	self->fd = open(self->path, O_RDONLY | O_DIRECTORY);
	ASSERT_LE(0, self->fd);
	if (get_both(self->fd, NULL, 0, 0) == -ENOSYS)
		SKIP(return, "no getdents_statx(): is CONFIG_GETDENTS_STATX set?");
	self->buffer = mmap(NULL, SIZE + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	ASSERT_NE(MAP_FAILED, self->buffer);
	ASSERT_EQ(0, munmap(self->buffer + SIZE, 4096));
	make_files(self->fd);
}

FIXTURE_TEARDOWN(directory)
{
	char command[96];

	close(self->fd);
	snprintf(command, sizeof(command), "rm -rf %s", self->path);
	system(command);
}

/* Compares one entry with what single calls say.  Returns whether it has attributes. */
static bool compare_entry(struct __test_metadata *_metadata, int dir,
			  const struct entry64 *want, const struct dirent_statx *got)
{
	struct statx stat = { 0 };

	EXPECT_STREQ(want->name, got->name);
	EXPECT_EQ(want->ino, got->ino);
	EXPECT_EQ(want->type, got->type);
	if (!got->stat.stx_mask)
		return false;
	EXPECT_EQ(0, syscall(__NR_statx, dir, want->name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
			     MASK, &stat));
	EXPECT_EQ(0, memcmp(&stat, &got->stat, sizeof(stat)));
	return true;
}

static long read_names(int fd)
{
	long more, all = 0;

	lseek(fd, 0, SEEK_SET);
	while ((more = syscall(__NR_getdents64, fd, entry_at(all), sizeof(names) - all)) > 0)
		all += more;
	lseek(fd, 0, SEEK_SET);
	return more ? -errno : all;
}

/* Lists FD into INTO, SIZE bytes at a time.  Returns how many entries have no attributes. */
static int compare(struct __test_metadata *_metadata, int fd, char *into, size_t size)
{
	const long all = read_names(fd);
	long more, here, at = 0;
	int without = 0;

	while ((more = get_both(fd, into, size, 0)) > 0) {
		for (here = 0; here < more && at < all;) {
			const struct dirent_statx *got = (void *)(into + here);
			const struct entry64 *want = entry_at(at);

			without += !compare_entry(_metadata, fd, want, got);
			at += want->reclen;
			here += got->reclen;
		}
		ASSERT_EQ(more, here);
	}
	EXPECT_EQ(0, more);
	EXPECT_EQ(all, at);
	return without;
}

/* All but "." and "..". */
TEST_F(directory, says_what_single_calls_say)
{
	EXPECT_EQ(2, compare(_metadata, self->fd, self->buffer, SIZE));
	EXPECT_EQ(2, compare(_metadata, self->fd, self->buffer, 5000));
	EXPECT_EQ(2, compare(_metadata, self->fd, self->buffer, 544));
}

/* Where the buffer ends early, the next call returns the entries that are left. */
TEST_F(directory, loses_no_entry_to_a_fault)
{
	EXPECT_EQ(2, compare(_metadata, self->fd, self->buffer + SIZE - 5000, 20000));
	lseek(self->fd, 0, SEEK_SET);
	EXPECT_EQ(-EFAULT, get_both(self->fd, self->buffer + SIZE, SIZE, 0));
	EXPECT_EQ(-EFAULT, get_both(self->fd, (void *)-4096L, SIZE, 0));
	EXPECT_EQ(0, lseek(self->fd, 0, SEEK_CUR));
}

TEST_F(directory, goes_on_for_getdents64)
{
	const long all = read_names(self->fd);
	const struct dirent_statx *got;
	char some[4096];
	long size, here, at = 0;

	size = get_both(self->fd, self->buffer, 9000, 0);
	ASSERT_LT(0, size);
	for (here = 0; here < size; here += got->reclen) {
		got = (void *)(self->buffer + here);
		at += entry_at(at)->reclen;
	}
	ASSERT_GT(all, at);
	ASSERT_LT(0, syscall(__NR_getdents64, self->fd, some, sizeof(some)));
	EXPECT_STREQ(entry_at(at)->name, ((struct entry64 *)some)->name);
}

TEST_F(directory, leaves_mount_points_to_statx)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		SKIP(return, "mounting is not permitted");
	/* The descriptor is of the mount in the old namespace. */
	close(self->fd);
	self->fd = open(self->path, O_RDONLY | O_DIRECTORY);
	ASSERT_EQ(0, fchdir(self->fd));
	ASSERT_EQ(0, mount("none", "below", "tmpfs", 0, NULL));
	EXPECT_EQ(3, compare(_metadata, self->fd, self->buffer, SIZE));
	EXPECT_EQ(0, umount("below"));
	EXPECT_EQ(2, compare(_metadata, self->fd, self->buffer, SIZE));
	ASSERT_EQ(0, chdir("/"));
}

/* Without the right to search a directory, its entries have names only. */
TEST_F(directory, needs_the_right_to_search)
{
	const struct dirent_statx *got;
	int status;
	pid_t child;

	ASSERT_EQ(0, fchmod(self->fd, 0444));
	child = fork();
	if (!child) {
		long size, here;

		if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
			_exit(4);
		size = get_both(self->fd, self->buffer, SIZE, 0);
		if (size <= 0)
			_exit(1);
		for (here = 0; here < size; here += got->reclen) {
			got = (void *)(self->buffer + here);
			if (got->stat.stx_mask)
				_exit(2);
		}
		_exit(0);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	if (WEXITSTATUS(status) == 4)
		SKIP(return, "this user cannot become another one");
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, fchmod(self->fd, 0700));
}

TEST_F(directory, returns_errors)
{
	const int null = open("/dev/null", O_RDONLY), path = open("/", O_PATH);

	EXPECT_EQ(-EBADF, get_both(-1, self->buffer, SIZE, 0));
	EXPECT_EQ(-EBADF, get_both(path, self->buffer, SIZE, 0));
	EXPECT_EQ(-ENOTDIR, get_both(null, self->buffer, SIZE, 0));
	EXPECT_EQ(-EINVAL, get_both(self->fd, self->buffer, 100, 0));
	EXPECT_EQ(-EINVAL, get_both(self->fd, self->buffer, SIZE, AT_SYMLINK_NOFOLLOW));
	EXPECT_EQ(-EINVAL, get_both(self->fd, self->buffer, SIZE, AT_STATX_SYNC_TYPE));
	EXPECT_EQ(-1, syscall(__NR_getdents_statx, self->fd, self->buffer, SIZE, STATX__RESERVED,
			      0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_LT(0, get_both(self->fd, self->buffer, SIZE, AT_STATX_DONT_SYNC));
	close(path);
	close(null);
}

TEST_F(directory, says_that_it_was_removed)
{
	int dir = openat(self->fd, "below", O_RDONLY | O_DIRECTORY);

	ASSERT_LE(0, dir);
	ASSERT_EQ(0, unlinkat(self->fd, "below", AT_REMOVEDIR));
	EXPECT_EQ(-ENOENT, get_both(dir, self->buffer, SIZE, 0));
	close(dir);
}

TEST_HARNESS_MAIN
