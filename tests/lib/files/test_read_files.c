// SPDX-License-Identifier: MIT
/* Tests ferry_read_files(): contents, limits, errors, and that no special file makes it wait. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ferry.h>
#include <ferry_files.h>

#include "tests/unit.h"
#include "lib/files/read_batch.h"
#include "tests/lib/unit/child.h"
#include "tree.h"

#define ARENA_SIZE ((size_t)64 << 20)
#define MANY 3000

static char *memory;

static struct ferry_arena new_arena(void)
{
	memset(memory, 0xee, 1 << 20);
	return (struct ferry_arena){ .memory = memory, .size = ARENA_SIZE };
}

/* One file into the arena, with the most bytes it may have. */
static struct ferry_file read_one(const char *name, unsigned int flags, size_t room)
{
	struct ferry_arena arena = new_arena();
	struct ferry_file file = { .room = room };

	assert_in_range(ferry_read_files(AT_FDCWD, &name, 1, flags, &file, &arena, NULL), 0, 1);
	return file;
}

static void assert_read(const char *name, size_t size)
{
	unsigned int flags;

	for (flags = 0; flags <= FERRY_READ_OPEN_FIRST; flags += FERRY_READ_OPEN_FIRST) {
		struct ferry_file file = read_one(name, flags, 0);

		assert_int_equal(file.error, 0);
		assert_int_equal(file.length, size);
		assert_non_null(file.data);
		assert_true(is_content(name, file.data, size));
	}
}

/* ---- sizes and kinds ---- */

TREE_TEST(test_all_sizes)
{
	static const size_t sizes[] = { 0,    1,     15,    16,	   17,	    4095,   4096,
					4097, 65535, 65536, 65537, 1000000, 5000000 };
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		make_file("file", sizes[i]);
		assert_read("file", sizes[i]);
	}
}

static void make_socket(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	memcpy(address.sun_path, name, strlen(name));
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
}

static void assert_not_waited_for(unsigned int flags)
{
	const unsigned int devices = flags | FERRY_READ_DEVICES;

	assert_int_equal(read_one("fifo", flags, 0).error, -EOPNOTSUPP);
	assert_int_equal(read_one("fifo", devices, 0).error, -EOPNOTSUPP);
	assert_int_equal(read_one("socket", flags, 0).error, -ENXIO);
	assert_int_equal(read_one("directory", flags, 0).error, -EISDIR);
	assert_int_equal(read_one("missing", flags, 0).error, -ENOENT);
	assert_int_equal(read_one("/dev/zero", flags, 0).error, -EOPNOTSUPP);
	assert_int_equal(read_one("/dev/null", devices, 0).error, 0);
}

TREE_TEST(test_special_files_are_not_waited_for)
{
	make_directory("directory");
	make_socket("socket");
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_not_waited_for(0);
	assert_not_waited_for(FERRY_READ_OPEN_FIRST);
}

/* Since this was last asked. */
static bool has_been_opened(int watch)
{
	struct inotify_event event;

	return read(watch, &event, sizeof(event)) == sizeof(event);
}

/* A FIFO that was opened, if only for a moment, wakes the one that waits for a reader. */
TREE_TEST(test_a_fifo_is_not_opened)
{
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), fd;

	assert_int_equal(mkfifo("fifo", 0600), 0);
	fd = open("fifo", O_RDWR | O_NONBLOCK);
	assert_int_equal(write(fd, "kept", 4), 4);
	assert_true(inotify_add_watch(watch, "fifo", IN_OPEN) >= 0);
	assert_int_equal(read_one("fifo", 0, 0).error, -EOPNOTSUPP);
	assert_false(has_been_opened(watch));
	assert_int_equal(read_one("fifo", FERRY_READ_DEVICES, 0).error, -EOPNOTSUPP);
	assert_false(has_been_opened(watch));
	assert_int_equal(read_one("fifo", FERRY_READ_OPEN_FIRST, 0).error, -EOPNOTSUPP);
	assert_true(has_been_opened(watch));
	assert_int_equal(read(fd, memory, 10), 4);
	close(fd);
	close(watch);
}

TEST(test_devices_on_request)
{
	struct ferry_file file = read_one("/dev/zero", FERRY_READ_DEVICES, 100000);

	assert_int_equal(file.error, -EFBIG);
	assert_int_equal(file.length, 100000);
	assert_int_equal(((char *)file.data)[99999], 0);
	assert_int_equal(read_one("/dev/zero", FERRY_READ_DEVICES, 0).error, -ENOBUFS);
}

TEST(test_files_of_the_kernel)
{
	struct ferry_file file = read_one("/proc/self/status", 0, 0);

	assert_int_equal(file.error, 0);
	assert_memory_equal(file.data, "Name:", 5);
	assert_int_equal(((char *)file.data)[file.length - 1], '\n');
	/* Such a file claims to have 4096 bytes. */
	file = read_one("/sys/kernel/mm/transparent_hugepage/enabled", 0, 0);
	assert_true(file.error == -ENOENT || file.length > 10);
	assert_int_equal(file.needed, file.length);
	file = read_one("/sys/kernel/mm/transparent_hugepage/enabled", FERRY_READ_PART, 1000);
	assert_int_equal(file.needed, file.length);
}

TREE_TEST(test_errors_are_those_of_plain_calls)
{
	char name[300] = { 0 }, path[5000] = { 0 };

	make_file("file", 5);
	make_link("loop", "loop");
	make_link("file", "link");
	memset(name, 'n', 255);
	memset(path, '/', sizeof(path) - 1);
	assert_int_equal(read_one("missing", 0, 0).error, -ENOENT);
	assert_int_equal(read_one("file/x", 0, 0).error, -ENOTDIR);
	assert_int_equal(read_one("loop", 0, 0).error, -ELOOP);
	assert_int_equal(read_one(path, 0, 0).error, -ENAMETOOLONG);
	assert_int_equal(read_one("/proc/self/mem", 0, 0).error, -EIO);
	assert_int_equal(read_one("link", 0, 0).length, 5);
	make_file(name, 9);
	assert_read(name, 9);
	name[255] = 'n';
	assert_int_equal(read_one(name, 0, 0).error, -ENAMETOOLONG);
}

TREE_TEST(test_no_name)
{
	const struct ferry_files_options timed = { .timeout_ms = 60000 };
	const struct ferry_files_options *options[] = { NULL, &timed };
	const char *names[] = { NULL, "file" };
	unsigned int flags, i;

	make_file("file", 5);
	for (i = 0; i < 2; i++)
		for (flags = 0; flags <= FERRY_READ_OPEN_FIRST; flags += FERRY_READ_OPEN_FIRST) {
			struct ferry_arena arena = new_arena();
			struct ferry_file files[2] = { 0 };

			assert_int_equal(ferry_read_files(AT_FDCWD, names, 2, flags, files, &arena,
							  options[i]),
					 1);
			assert_int_equal(files[0].error, -EFAULT);
			assert_int_equal(files[1].length, 5);
		}
}

static void read_without_rights(void)
{
	const char *names[] = { "secret", "open" };
	struct ferry_file files[2] = { 0 };
	struct ferry_arena arena = new_arena();

	CHILD_ASSERT(!setgid(65534) && !setuid(65534));
	CHILD_ASSERT(ferry_read_files(AT_FDCWD, names, 2, 0, files, &arena, NULL) == 1);
	CHILD_ASSERT(files[0].error == -EACCES && !files[0].data);
	CHILD_ASSERT(!files[1].error && files[1].length == 8);
}

TREE_TEST(test_permissions)
{
	if (getuid())
		skip();
	make_file("secret", 3);
	make_file("open", 8);
	assert_int_equal(chmod("secret", 0600), 0);
	ASSERT_IN_CHILD(read_without_rights);
}

static void read_without_descriptors(void)
{
	const struct rlimit none = { 3, 3 };
	const char *name = "file";
	struct ferry_file file = { 0 };
	struct ferry_arena arena = new_arena();

	CHILD_ASSERT(!setrlimit(RLIMIT_NOFILE, &none));
	CHILD_ASSERT(ferry_read_files(AT_FDCWD, &name, 1, 0, &file, &arena, NULL) == 1);
	CHILD_ASSERT(file.error == -EMFILE);
}

/* As a loop of plain calls, which needs no more. */
static void read_with_one_descriptor(void)
{
	const struct rlimit few = { 16, 16 };
	const struct ferry_files_options eight = { .threads = 8 };
	static const char *names[MANY];
	static struct ferry_file files[MANY];
	struct ferry_arena arena = new_arena();
	int last = -1, fd, i;

	for (i = 0; i < MANY; i++)
		names[i] = "file";
	CHILD_ASSERT(!setrlimit(RLIMIT_NOFILE, &few));
	while ((fd = open("file", O_RDONLY | O_CLOEXEC)) >= 0)
		last = fd;
	close(last);
	CHILD_ASSERT(ferry_read_files(AT_FDCWD, names, MANY, 0, files, &arena, &eight) == 0);
	for (i = 0; i < MANY; i++)
		CHILD_ASSERT(!files[i].error && files[i].length == 5);
}

TREE_TEST(test_no_descriptors_left)
{
	make_file("file", 5);
	ASSERT_IN_CHILD(read_without_descriptors);
	ASSERT_IN_CHILD(read_with_one_descriptor);
}

/* ---- leases of other processes ---- */

static volatile sig_atomic_t interrupted;

static void note_signal(int signal)
{
	(void)signal;
	interrupted = 1;
}

static int is_interrupted(void *context, size_t done)
{
	(void)context;
	(void)done;
	return interrupted;
}

/* Takes a lease, says so, and gives it up some time after it has been asked to. */
static void hold_lease(int said, const struct timespec *time)
{
	int fd = open("file", O_RDWR | O_CLOEXEC);
	sigset_t asked;
	int signal;

	sigemptyset(&asked);
	sigaddset(&asked, SIGIO);
	sigprocmask(SIG_BLOCK, &asked, NULL);
	if (fd < 0 || fcntl(fd, F_SETLEASE, F_WRLCK))
		_exit(0); /* not on this file system */
	if (write(said, "x", 1) != 1 || sigwait(&asked, &signal))
		_exit(1);
	nanosleep(time, NULL);
	fcntl(fd, F_SETLEASE, F_UNLCK);
	_exit(0);
}

/*
 * Reads it, while a handler that restarts nothing interrupts the caller: once if there are OPTIONS.
 * Returns -1 where there are no leases.
 */
static long read_leased(unsigned int flags, struct timespec time,
			const struct ferry_files_options *options, struct ferry_file *file)
{
	const struct sigaction interrupt = { .sa_handler = note_signal };
	const struct itimerval timer = { { 0, options ? 0 : 20000 }, { 0, 50000 } }, never = { 0 };
	struct ferry_arena arena = new_arena();
	const char *name = "file";
	int pipe_ends[2];
	long failed = -1;
	pid_t holder;
	char byte;

	*file = (struct ferry_file){ 0 };
	assert_int_equal(pipe(pipe_ends), 0);
	holder = fork();
	if (!holder)
		hold_lease(pipe_ends[1], &time);
	close(pipe_ends[1]);
	if (read(pipe_ends[0], &byte, 1) == 1) {
		assert_int_equal(sigaction(SIGALRM, &interrupt, NULL), 0);
		assert_int_equal(setitimer(ITIMER_REAL, &timer, NULL), 0);
		failed = ferry_read_files(AT_FDCWD, &name, 1, flags, file, &arena, options);
		assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	}
	close(pipe_ends[0]);
	kill(holder, SIGKILL);
	assert_int_equal(waitpid(holder, NULL, 0), holder);
	return failed;
}

TREE_TEST(test_a_file_with_a_lease_is_waited_for)
{
	static const unsigned int flags[] = { 0, FERRY_READ_OPEN_FIRST, FERRY_READ_NOFOLLOW };
	const struct timespec soon = { .tv_nsec = 200000000 };
	struct ferry_file file;
	int i;

	make_file("file", 100);
	for (i = 0; i < 3; i++) {
		if (read_leased(flags[i], soon, NULL, &file) == -1)
			skip();
		assert_int_equal(file.error, 0);
		assert_int_equal(file.length, 100);
	}
}

TREE_TEST(test_a_handler_ends_a_call_by_progress)
{
	const struct ferry_files_options options = { .progress = is_interrupted };
	const struct timespec late = { .tv_sec = 60 };
	const time_t begun = time(NULL);
	struct ferry_file file;
	long failed;

	make_file("file", 100);
	failed = read_leased(0, late, &options, &file);
	if (failed == -1)
		skip();
	assert_int_equal(failed, -ECANCELED);
	/* The kernel itself ends a lease after /proc/sys/fs/lease-break-time, 45 seconds. */
	assert_true(time(NULL) - begun < 20);
}

/* ---- limits ---- */

TREE_TEST(test_the_callers_buffer)
{
	const char *name = "file";
	char buffer[32];
	struct ferry_file file;
	size_t room;

	make_file(name, 20);
	for (room = 0; room < 32; room++) {
		memset(buffer, 0x55, sizeof(buffer));
		file = (struct ferry_file){ .buffer = buffer, .room = room };
		assert_int_equal(ferry_read_files(AT_FDCWD, &name, 1, 0, &file, NULL, NULL),
				 room < 20);
		assert_int_equal(file.error, room < 20 ? -EFBIG : 0);
		assert_int_equal(file.length, room < 20 ? room : 20);
		assert_true(is_content(name, buffer, file.length));
		assert_true(room == 31 || buffer[room + 1] == 0x55);
		assert_ptr_equal(file.data, buffer);
		assert_ptr_equal(file.buffer, buffer);
	}
}

/* As the manual says: used = 0, and the same structures again. */
TREE_TEST(test_an_arena_is_used_again)
{
	const char *names[] = { "first", "second" }, *swapped[] = { "second", "first" };
	struct ferry_file files[2] = { 0 };
	struct ferry_arena arena = new_arena();

	make_file("first", 100);
	make_file("second", 5000);
	assert_int_equal(ferry_read_files(AT_FDCWD, names, 2, 0, files, &arena, NULL), 0);
	arena.used = 0;
	assert_int_equal(ferry_read_files(AT_FDCWD, swapped, 2, 0, files, &arena, NULL), 0);
	assert_int_equal(files[0].length, 5000);
	assert_int_equal(files[1].length, 100);
	assert_true(is_content("second", files[0].data, 5000));
	assert_true(is_content("first", files[1].data, 100));
	assert_int_equal(unlink("first"), 0);
	assert_int_equal(ferry_read_files(AT_FDCWD, names, 2, 0, files, &arena, NULL), 1);
	assert_null(files[0].data);
	assert_int_equal(files[0].length, 0);
}

TREE_TEST(test_a_limit_for_a_file)
{
	struct ferry_file file;

	make_file("file", 10000);
	file = read_one("file", 0, 9999);
	assert_int_equal(file.error, -EFBIG);
	assert_int_equal(file.length, 9999);
	assert_true(is_content("file", file.data, 9999));
	file = read_one("file", 0, 10000);
	assert_int_equal(file.error, 0);
	assert_int_equal(file.length, 10000);
}

TREE_TEST(test_a_full_arena)
{
	const char *names[] = { "large", "fits", "large", "empty" };
	struct ferry_file files[4] = { 0 };
	struct ferry_arena arena = { .memory = memory, .size = 116 };

	make_file("large", 1000);
	make_file("fits", 100);
	make_file("empty", 0);
	arena.used = 5;
	memset(memory, 0x77, 5);
	assert_int_equal(ferry_read_files(AT_FDCWD, names, 4, 0, files, &arena, NULL), 2);
	assert_int_equal(files[0].error, -ENOBUFS);
	assert_null(files[0].data);
	assert_ptr_equal(files[1].data, memory + 16);
	assert_int_equal(files[1].length, 100);
	assert_true(is_content("fits", files[1].data, 100));
	assert_int_equal(files[3].error, 0);
	assert_int_equal(arena.used, 116);
	assert_int_equal(memory[4], 0x77);
}

TREE_TEST(test_a_huge_file_takes_no_room)
{
	struct ferry_arena arena = new_arena();
	const char *names[] = { "huge", "small" };
	struct ferry_file files[2] = { 0 };
	int fd = open("huge", O_WRONLY | O_CREAT, 0644);

	assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
	close(fd);
	make_file("small", 10);
	assert_int_equal(ferry_read_files(AT_FDCWD, names, 2, 0, files, &arena, NULL), 1);
	assert_int_equal(files[0].error, -ENOBUFS);
	assert_int_equal(files[1].length, 10);
	assert_int_equal(arena.used, 10);
}

/* ---- ranges ---- */

static struct ferry_file read_range(unsigned int flags, unsigned long long offset, size_t room,
				    char *buffer)
{
	const char *name = "file";
	struct ferry_arena arena = new_arena();
	struct ferry_file file = { .buffer = buffer, .room = room, .offset = offset };

	assert_in_range(ferry_read_files(AT_FDCWD, &name, 1, flags, &file, &arena, NULL), 0, 1);
	return file;
}

static void check_range(unsigned int flags, size_t offset, size_t room, bool own, char *whole)
{
	const size_t size = 10000, rest = offset < size ? size - offset : 0;
	static char buffer[20000];
	const struct ferry_file file = read_range(flags, offset, room, own ? buffer : NULL);
	const bool limited = own || room;
	const size_t expected = limited && room < rest ? room : rest;

	assert_int_equal(file.error, expected < rest && !(flags & FERRY_READ_PART) ? -EFBIG : 0);
	assert_int_equal(file.length, expected);
	assert_int_equal(file.needed, rest);
	assert_memory_equal(file.data, whole + offset, expected);
}

TREE_TEST(test_ranges)
{
	static const size_t offsets[] = { 0, 1, 4096, 9999, 10000, 10001, 70000 };
	static const size_t rooms[] = { 0, 1, 4096, 9999, 10000, 10001 };
	char *whole = calloc(1, 80000);
	unsigned int flags, i, j, own;
	int fd;

	make_file("file", 10000);
	fd = open("file", O_RDONLY);
	assert_int_equal(read(fd, whole, 10000), 10000);
	close(fd);
	for (i = 0; i < sizeof(offsets) / sizeof(*offsets); i++)
		for (j = 0; j < sizeof(rooms) / sizeof(*rooms); j++)
			for (own = 0; own < 2; own++)
				for (flags = 0; flags <= FERRY_READ_PART; flags += FERRY_READ_PART)
					check_range(flags, offsets[i], rooms[j], own, whole);
	free(whole);
	assert_int_equal(unlink("file"), 0);
	assert_int_equal(symlink("/proc/self/status", "file"), 0);
	assert_int_equal(read_range(FERRY_READ_PART, 3, 5, NULL).length, 5);
}

TREE_TEST(test_what_was_needed)
{
	const char *names[] = { "huge", "large" };
	struct ferry_arena arena = { .memory = memory, .size = 500 };
	struct ferry_file files[2] = { { .offset = 10 }, { 0 } };
	int fd = open("huge", O_WRONLY | O_CREAT, 0644);

	assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
	close(fd);
	make_file("large", 501);
	assert_int_equal(ferry_read_files(AT_FDCWD, names, 2, 0, files, &arena, NULL), 2);
	assert_int_equal(files[0].error, -ENOBUFS);
	assert_int_equal(files[0].needed, ((off_t)1 << 40) - 10);
	assert_int_equal(files[1].error, -ENOBUFS);
	assert_int_equal(files[1].needed, 501);
	arena = (struct ferry_arena){ .memory = memory, .size = files[1].needed };
	assert_int_equal(ferry_read_files(AT_FDCWD, names + 1, 1, 0, files + 1, &arena, NULL), 0);
}

TREE_TEST(test_links_are_refused_on_request)
{
	unsigned int flags = FERRY_READ_NOFOLLOW, i;

	make_file("file", 5);
	make_link("file", "link");
	make_directory("real");
	make_file("real/file", 6);
	make_link("real", "way");
	for (i = 0; i < 2; i++, flags |= FERRY_READ_OPEN_FIRST) {
		assert_int_equal(read_one("link", flags, 0).error, -ELOOP);
		assert_int_equal(read_one("file", flags, 0).length, 5);
		assert_int_equal(read_one("way/file", flags, 0).length, 6);
	}
}

/* ---- many ---- */

static size_t size_of(size_t i)
{
	return i % 11 ? i * 37 % 9000 : 0;
}

static void read_many(char **names, unsigned int flags, const struct ferry_files_options *options)
{
	struct ferry_file *files = calloc(MANY, sizeof(*files));
	struct ferry_arena arena = new_arena();
	size_t i;

	assert_int_equal(ferry_read_files(AT_FDCWD, (const char *const *)names, MANY, flags, files,
					  &arena, options),
			 MANY / 10);
	for (i = 0; i < MANY; i++) {
		assert_int_equal(files[i].error, i % 10 ? 0 : -ENOENT);
		if (files[i].error)
			continue;
		assert_int_equal(files[i].length, size_of(i));
		assert_true(is_content(names[i], files[i].data, size_of(i)));
		assert_int_equal(((char *)files[i].data - memory) % 16, 0);
	}
	assert_true(arena.used < ARENA_SIZE);
	free(files);
}

TREE_TEST(test_many_with_any_number_of_threads)
{
	const struct ferry_files_options two = { .threads = 2 }, eight = { .threads = 8 };
	const struct ferry_files_options one = { .threads = 1 }, timed = { .timeout_ms = 60000 };
	char **names = make_files(MANY, size_of);

	read_many(names, 0, NULL);
	read_many(names, 0, &one);
	read_many(names, 0, &two);
	read_many(names, 0, &eight);
	read_many(names, 0, &timed);
	read_many(names, FERRY_READ_OPEN_FIRST, NULL);
	read_many(names, FERRY_READ_OPEN_FIRST, &timed);
	free_names(names, MANY);
}

/* Without the module, the device engine is the loop, which shows that the slots are right. */
TREE_TEST(test_a_batch_gives_the_same)
{
	const char *names[] = { "ten", "gone", "empty", "grown", "buffer" };
	const size_t sizes[] = { 10, 10, 0, 9, 10 };
	struct shared_arena arena = { .memory = memory, .size = ARENA_SIZE };
	struct read_request requests[5];
	struct ferry_file files[5] = { 0 };
	struct statx stats[5] = { 0 };
	char buffer[11];
	int i;

	for (i = 0; i < 5; i++) {
		if (i != 1)
			make_file(names[i], i == 2 ? 0 : 10);
		stats[i].stx_size = sizes[i];
		requests[i] = (struct read_request){ names[i], &stats[i], &files[i], true };
	}
	files[4] = (struct ferry_file){ .buffer = buffer, .room = sizeof(buffer) };
	ferry__read_batch(FERRY_DEVICE, AT_FDCWD, 0, requests, 5, &arena);
	for (i = 0; i < 5; i++)
		assert_int_equal(requests[i].done, i == 0 || i == 4);
	assert_int_equal(files[0].length, 10);
	assert_true(is_content(names[0], files[0].data, 10));
	assert_true(is_content(names[4], buffer, 10));
}

TREE_TEST(test_mistakes)
{
	const int cancel = 1;
	const struct ferry_files_options cancelled = { .cancel = &cancel };
	struct ferry_arena bad = { .memory = memory, .size = 10, .used = 11 };
	struct ferry_file file = { 0 };
	const char *name = "file";

	make_file(name, 1);
	errno = 77;
	assert_int_equal(ferry_read_files(AT_FDCWD, NULL, 1, 0, &file, NULL, NULL), -EINVAL);
	assert_int_equal(ferry_read_files(AT_FDCWD, &name, 1, 0, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(ferry_read_files(AT_FDCWD, &name, 1, 4, &file, NULL, NULL), -EINVAL);
	assert_int_equal(ferry_read_files(AT_FDCWD, &name, 1, 0, &file, &bad, NULL), -EINVAL);
	assert_int_equal(ferry_read_files(AT_FDCWD, NULL, 0, 0, NULL, NULL, NULL), 0);
	assert_int_equal(ferry_read_files(AT_FDCWD, &name, 1, 0, &file, NULL, NULL), 1);
	assert_int_equal(file.error, -ENOBUFS);
	assert_int_equal(ferry_read_files(AT_FDCWD, &name, 1, 0, &file, NULL, &cancelled),
			 -ECANCELED);
	assert_int_equal(file.error, -ECANCELED);
	assert_int_equal(errno, 77);
}

/* ---- while files change ---- */

static atomic_bool stop_changing;

static void grow(const char *name, unsigned int *seed)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, 0644);
	char bytes[3000];

	if (fd < 0)
		return;
	memset(bytes, 'g', sizeof(bytes));
	if (write(fd, bytes, (size_t)rand_r(seed) % sizeof(bytes)) < 0)
		errno = 0;
	close(fd);
}

static void *change(void *unused)
{
	unsigned int seed = 3;
	char name[32];

	while (!atomic_load(&stop_changing)) {
		snprintf(name, sizeof(name), "changing%d", rand_r(&seed) % 50);
		switch (rand_r(&seed) % 6) {
		case 0:
			unlink(name);
			break;
		case 1:
			mkdir(name, 0755);
			break;
		case 2:
			rmdir(name);
			break;
		case 3:
			mkfifo(name, 0644);
			break;
		default:
			grow(name, &seed);
		}
	}
	return unused;
}

static bool is_expected(int error)
{
	return !error || error == -ENOENT || error == -EISDIR || error == -EOPNOTSUPP;
}

TREE_TEST(test_while_files_change)
{
	const struct ferry_files_options four = { .threads = 4 };
	char **names = make_names("changing", 50);
	struct ferry_file files[50];
	pthread_t thread;
	size_t at;
	int round, i;

	signal(SIGPIPE, SIG_IGN); /* a pipe may come between the look at a file and its opening */
	assert_int_equal(pthread_create(&thread, NULL, change, NULL), 0);
	for (round = 0; round < 1000; round++) {
		struct ferry_arena arena = { .memory = memory, .size = ARENA_SIZE };

		memset(files, 0, sizeof(files));
		assert_in_range(ferry_read_files(AT_FDCWD, (const char *const *)names, 50, 0, files,
						 &arena, &four),
				0, 50);
		for (i = 0; i < 50; i++) {
			assert_true(is_expected(files[i].error));
			for (at = 0; at < files[i].length; at++)
				assert_int_equal(((char *)files[i].data)[at], 'g');
		}
	}
	atomic_store(&stop_changing, true);
	pthread_join(thread, NULL);
	free_names(names, 50);
}

int main(void)
{
	int failed;

	memory = malloc(ARENA_SIZE);
	if (!memory)
		return 1;
	failed = run_unit_tests("tests");
	free(memory);
	return failed;
}
