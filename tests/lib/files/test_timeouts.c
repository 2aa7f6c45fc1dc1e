// SPDX-License-Identifier: MIT
/*
 * A file system that hangs costs only its own names.  It is a FUSE mount whose server never
 * answers, not even the first request.  A call that is late disturbs nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <ferry_files.h>

#include "tests/unit.h"
#include "tests/lib/unit/child.h"
#include "tree.h"

static const struct ferry_files_options limited = { .timeout_ms = 1000 };

static int fuse = -1;

static int begin(void **state)
{
	tree_begin(state);
	make_directory("tree");
	make_directory("tree/hangs");
	make_file("tree/file", 100);
	make_directory("tree/other");
	make_file("tree/other/file", 5);
	return 0;
}

/* Returns false where this is not allowed.  The mount ends with the child's name space. */
static bool mount_one_that_hangs(void)
{
	char options[100];

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return false;
	fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse < 0)
		return false;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	return !mount("hangs", "tree/hangs", "fuse.hangs", 0, options);
}

/* Lets go of the threads that hang. */
static void abort_mount(void)
{
	close(fuse);
}

static void stat_names(void)
{
	const char *names[] = { "tree/file", "tree/hangs/a", "tree/other", "tree/hangs/b", "no" };
	const int expected[] = { 0, -ETIMEDOUT, 0, -ETIMEDOUT, -ENOENT };
	struct statx stats[5];
	int errors[5], i;

	CHILD_ASSERT(mount_one_that_hangs());
	CHILD_ASSERT(ferry_statx_many(AT_FDCWD, names, 5, 0, STATX_SIZE, stats, errors, &limited) ==
		     3);
	for (i = 0; i < 5; i++)
		CHILD_ASSERT(errors[i] == expected[i]);
	CHILD_ASSERT(stats[0].stx_size == 100);
	abort_mount();
}

static void read_names(void)
{
	const char *names[] = { "tree/hangs/a", "tree/file" };
	char memory[200];
	struct ferry_arena arena = { .memory = memory, .size = sizeof(memory) };
	struct ferry_file files[2] = { 0 };

	CHILD_ASSERT(mount_one_that_hangs());
	CHILD_ASSERT(ferry_read_files(AT_FDCWD, names, 2, 0, files, &arena, &limited) == 1);
	CHILD_ASSERT(files[0].error == -ETIMEDOUT);
	CHILD_ASSERT(!files[1].error && files[1].length == 100);
	abort_mount();
}

struct seen {
	int entries, timeouts;
};

static int look(void *context, struct ferry_block *block)
{
	struct seen *seen = context;
	size_t i;

	seen->entries += (int)block->count;
	seen->timeouts += block->error == -ETIMEDOUT;
	for (i = 0; i < block->count; i++)
		seen->timeouts += block->entries[i].error == -ETIMEDOUT;
	return 0;
}

static void walk_tree(void)
{
	unsigned int flags;

	CHILD_ASSERT(mount_one_that_hangs());
	for (flags = 0; flags <= FERRY_WALK_SORTED; flags += FERRY_WALK_SORTED) {
		struct seen seen = { 0 };

		CHILD_ASSERT(
			!ferry_walk(AT_FDCWD, "tree", flags, STATX_SIZE, look, &seen, &limited));
		CHILD_ASSERT(seen.entries == 5 && seen.timeouts == 1);
		seen = (struct seen){ 0 };
		CHILD_ASSERT(!ferry_walk(AT_FDCWD, "tree", flags, 0, look, &seen, &limited));
		CHILD_ASSERT(seen.entries == 5 && seen.timeouts == 1);
	}
	abort_mount();
}

static int end_now(void *context, size_t done)
{
	(void)context;
	(void)done;
	return 1;
}

/* The caller's progress callback ends a call long before its time limit. */
static void cancel_while_it_hangs(void)
{
	const struct ferry_files_options hour = { .timeout_ms = 3600000, .progress = end_now };
	const char *names[] = { "tree/hangs/a" };
	int error;

	CHILD_ASSERT(mount_one_that_hangs());
	CHILD_ASSERT(ferry_statx_many(AT_FDCWD, names, 1, 0, 0, NULL, &error, &hour) == -ECANCELED);
	CHILD_ASSERT(error == -ECANCELED);
	abort_mount();
}

static void try_to_mount(void)
{
	CHILD_ASSERT(mount_one_that_hangs());
	abort_mount();
}

TEST_BETWEEN(test_a_file_system_that_hangs, begin, tree_end)
{
	if (child_status(try_to_mount)) {
		print_message("no FUSE mounts here\n");
		skip();
	}
	ASSERT_IN_CHILD(stat_names);
	ASSERT_IN_CHILD(read_names);
	ASSERT_IN_CHILD(walk_tree);
	ASSERT_IN_CHILD(cancel_while_it_hangs);
}

/* ---- a call that is late ---- */

#define LATE_MS 500 /* the time limit */

/* Holds the first getdents64() up, before it looks at its descriptor, as a busy machine may. */
struct holder {
	pthread_t thread;
	sem_t begun, go_on;
	int listener;
};

static void *hold_up(void *argument)
{
	struct holder *holder = argument;
	struct seccomp_notif request = { 0 };
	struct seccomp_notif_resp answer = { .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	struct pollfd listener = { .events = POLLIN };

	REQUIRE(!sem_wait(&holder->begun));
	listener.fd = holder->listener;
	/* Where even openat() takes longer than the time limit, there is no getdents64(). */
	if (poll(&listener, 1, 10 * LATE_MS) != 1)
		return NULL;
	REQUIRE(!ioctl(holder->listener, SECCOMP_IOCTL_NOTIF_RECV, &request));
	REQUIRE(!sem_wait(&holder->go_on));
	answer.id = request.id;
	REQUIRE(!ioctl(holder->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer));
	return NULL;
}

/* Returns false where this is not allowed. */
static bool begin_to_hold(struct holder *holder)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getdents64, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	sem_init(&holder->begun, 0, 0);
	sem_init(&holder->go_on, 0, 0);
	REQUIRE(!pthread_create(&holder->thread, NULL, hold_up, holder));
	REQUIRE(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	holder->listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
					SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	sem_post(&holder->begun);
	return holder->listener >= 0;
}

/* The directory that gets the number of the one that was walked loses no entries. */
static void walk_while_it_is_late(void)
{
	const struct ferry_files_options short_time = { .timeout_ms = LATE_MS, .threads = 1 };
	const struct timespec moment = { .tv_nsec = 100000000 };
	struct holder holder;
	struct seen seen = { 0 };
	int number, other;

	if (!begin_to_hold(&holder))
		_exit(0);
	number = dup(0);
	close(number);
	CHILD_ASSERT(ferry_walk(AT_FDCWD, "tree", 0, 0, look, &seen, &short_time) == -ETIMEDOUT);
	other = open("tree/other", O_RDONLY | O_DIRECTORY);
	CHILD_ASSERT(other == number);
	sem_post(&holder.go_on);
	pthread_join(holder.thread, NULL);
	nanosleep(&moment, NULL);
	CHILD_ASSERT(lseek(other, 0, SEEK_CUR) == 0);
}

TEST_BETWEEN(test_a_late_call_takes_nothing_from_another_file, begin, tree_end)
{
	ASSERT_IN_CHILD(walk_while_it_is_late);
}

TEST_MAIN
