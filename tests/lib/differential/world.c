// SPDX-License-Identifier: MIT
/*
 * Making, running, comparing.  A program only has duplicates of master descriptors;
 * reset closes them all and duplicates again, which is cheap.
 */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ferry.h>

#include "model.h"

/* Results may become descriptors of programs: lengths and offsets, which are smaller. */
#define CONTROL_FIRST 16000
#define MASTER(fd) (CONTROL_FIRST + (fd))
#define DESCRIPTORS 16384

/* Masters of FD_IMAGES, FD_ZEROES and FD_DEVICE. */
enum { FAR_IMAGES = FD_FREE, FAR_ZEROES, FAR_DEVICE, MASTERS };

#define SLOTS_SIZE (MAX_SLOTS * sizeof(struct batch_slot))
#define RETS_SIZE (MAX_SLOTS * sizeof(long) + PAGE)
#define UNTOUCHED(i) (0x5e5e5e5e00000000L | (long)(i))
#define DRAINED 8192UL /* how many bytes are recorded of the content of a pipe or socket */
#define NAMED_BYTES 512UL

struct descriptor_state {
	bool open;
	short readiness;
	int status_flags;
	int flags;
	mode_t mode;
	dev_t rdev;
	off_t size;
	off_t offset;
};

struct file_state {
	off_t size;
	unsigned char bytes[FILE_LIMIT];
};

struct queue_state {
	ssize_t size;
	unsigned char bytes[DRAINED];
};

struct named_state {
	ssize_t size; /* -1: the file does not exist */
	unsigned char bytes[NAMED_BYTES];
};

enum { QUEUE_PIPE, QUEUE_SOCKET, QUEUE_PEER, QUEUE_EVENT, QUEUES };

struct outcome {
	long returned;
	long signals;
	long rets[RETS_SIZE / sizeof(long)];
	struct batch_slot slots[MAX_SLOTS];
	unsigned char buffers[BUFFERS_SIZE];
	unsigned char stats[STATS * STAT_SIZE];
	bool window_mapped[WINDOW_PAGES];
	unsigned char window[WINDOW_PAGES * PAGE];
	struct descriptor_state descriptors[FD_LIMIT + 16];
	struct file_state disk;
	struct file_state memory;
	struct queue_state queues[QUEUES];
	struct named_state named[NAMES];
};

static const char *directory_path;
static unsigned char fresh_buffers[BUFFERS_SIZE];
static unsigned char fresh_file[FILE_START];
static struct stat masters[MASTERS];
static bool disk_dirty;
static bool memory_dirty;
static volatile sig_atomic_t signals;

struct outcome *outcome_new(void)
{
	return calloc(1, sizeof(struct outcome));
}

static void check(bool right, const char *what)
{
	if (right)
		return;
	dprintf(CONTROL_FIRST - 1, "differential: %s: %s\n", what, strerror(errno));
	_exit(2);
}

/* ---- making ---- */

static void map_area(unsigned long at, size_t size)
{
	unsigned char *base = (unsigned char *)at - PAGE;

	check(mmap(base, size + 2 * PAGE, PROT_NONE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == base,
	      "memory at a fixed address");
	check(!mprotect(base + PAGE, size, PROT_READ | PROT_WRITE), "mprotect");
}

static void make_memory(void)
{
	size_t i;

	map_area(SLOTS_AT, SLOTS_SIZE);
	map_area(RETS_AT, RETS_SIZE);
	map_area(BUFFERS_AT, BUFFERS_SIZE);
	map_area(STAT_AT, PAGE);
	map_area(POOL_AT, POOL_SIZE);
	pool_fill((unsigned char *)POOL_AT);
	check(!mprotect((void *)POOL_AT, POOL_SIZE, PROT_READ), "mprotect");
	for (i = 0; i < BUFFERS_SIZE; i++)
		fresh_buffers[i] = (unsigned char)(i * 2654435761U >> 15);
	for (i = 0; i < FILE_START; i++)
		fresh_file[i] = (unsigned char)(i * 2246822519U >> 15);
}

/* Makes FROM the master of FD. */
static void set_master(int fd, int from)
{
	check(from >= 0, "opening a descriptor");
	check(dup3(from, MASTER(fd), O_CLOEXEC) >= 0, "dup3");
	check(!fstat(MASTER(fd), &masters[fd]), "fstat");
	close(from);
}

static int reopen(int fd, int flags)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, flags);
}

/* A nameless file on the disk, open for reading and writing. */
static int disk_file(void)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s.XXXXXX", directory_path);
	fd = mkstemp(path);
	check(fd >= 0, "a file on the disk");
	unlink(path);
	return fd;
}

static void make_files(void)
{
	set_master(FD_DISK, disk_file());
	set_master(FD_TWIN, dup(MASTER(FD_DISK)));
	set_master(FD_READ_ONLY, reopen(MASTER(FD_DISK), O_RDONLY));
	set_master(FD_MEMORY, memfd_create("differential", 0));
	set_master(FD_APPEND, reopen(MASTER(FD_MEMORY), O_RDWR | O_APPEND));
	disk_dirty = true;
	memory_dirty = true;
}

static void make_queues(void)
{
	const int room = 1; /* the kernel rounds up to its minimum */
	int ends[2];

	check(!pipe2(ends, O_NONBLOCK), "pipe2");
	check(fcntl(ends[1], F_SETPIPE_SZ, PAGE) >= 0, "F_SETPIPE_SZ");
	set_master(FD_PIPE_READ, ends[0]);
	set_master(FD_PIPE_WRITE, ends[1]);
	check(!pipe2(ends, O_NONBLOCK), "pipe2");
	close(ends[0]);
	set_master(FD_BROKEN, ends[1]);
	check(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), "socketpair");
	check(!setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) &&
		      !setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)),
	      "SO_SNDBUF");
	set_master(FD_SOCKET, ends[0]);
	set_master(FD_PEER, ends[1]);
	set_master(FD_EVENT, eventfd(0, EFD_NONBLOCK));
}

/* The images are on the disk too, because some engines read such files differently. */
static void make_images(void)
{
	struct batch_slot images[IMAGES];
	int written = disk_file();
	int fd = reopen(written, O_RDONLY);

	images_fill(images);
	check(write(written, images, sizeof(images)) == sizeof(images), "write");
	close(written);
	set_master(FAR_IMAGES, fd);
	set_master(FAR_ZEROES, open("/dev/zero", O_RDONLY));
}

/* The engine opens it once, and afterwards finds the duplicates with that number. */
static int device(void)
{
	if (!ferry_engine_probe(FERRY_DEVICE, NULL))
		return dup(FD_DEVICE);
	return open("/dev/null", O_RDWR);
}

static void make_descriptors(void)
{
	close_range(3, CONTROL_FIRST - 2, 0);
	close_range(CONTROL_FIRST, FD_ZEROES, 0);
	make_files();
	make_queues();
	set_master(FD_NULL, open("/dev/null", O_RDWR));
	set_master(FD_ZERO, open("/dev/zero", O_RDWR));
	set_master(FD_FULL, open("/dev/full", O_RDWR));
	set_master(FD_DIRECTORY, open(directory_path, O_RDONLY | O_DIRECTORY));
	set_master(FD_ANY_RESULT, open("/proc/self/mem", O_RDONLY));
	make_images();
	set_master(FAR_DEVICE, device());
}

static void count_signal(int sig)
{
	(void)sig;
	signals++;
}

static void limit_and_catch(void)
{
	const struct rlimit size = { FILE_LIMIT, FILE_LIMIT };
	const struct rlimit no_core = { 0, 0 };
	struct sigaction action = { .sa_handler = count_signal };
	const struct rlimit files = { DESCRIPTORS, DESCRIPTORS };

	check(!setrlimit(RLIMIT_FSIZE, &size) && !setrlimit(RLIMIT_CORE, &no_core), "setrlimit");
	check(!setrlimit(RLIMIT_NOFILE, &files), "16384 descriptors (ulimit -n)");
	sigaction(SIGPIPE, &action, NULL);
	sigaction(SIGXFSZ, &action, NULL);
}

void world_make(const char *directory)
{
	int null = open("/dev/null", O_RDWR);
	int fd;

	limit_and_catch();
	directory_path = directory;
	check(dup3(STDERR_FILENO, CONTROL_FIRST - 1, O_CLOEXEC) >= 0, "dup3");
	for (fd = 0; fd < 3; fd++)
		check(dup2(null, fd) == fd, "dup2");
	check(!chdir(directory), "the directory");
	make_memory();
	make_descriptors();
}

/* ---- resetting ---- */

static const int fresh_flags[FD_FREE] = {
	[FD_APPEND] = O_APPEND,	  [FD_PIPE_READ] = O_NONBLOCK, [FD_PIPE_WRITE] = O_NONBLOCK,
	[FD_BROKEN] = O_NONBLOCK, [FD_SOCKET] = O_NONBLOCK,    [FD_PEER] = O_NONBLOCK,
	[FD_EVENT] = O_NONBLOCK,
};

static bool calls_any(const struct program *program, short nr)
{
	unsigned long i;

	for (i = 0; i < program->count; i++)
		if (program->slots[i].nr == nr)
			return true;
	return false;
}

static void reset_file(int fd, bool *dirty)
{
	if (*dirty) {
		check(!ftruncate(MASTER(fd), FILE_START), "ftruncate");
		check(pwrite(MASTER(fd), fresh_file, FILE_START, 0) == (ssize_t)FILE_START,
		      "pwrite");
	}
	*dirty = false;
}

static bool duplicate_masters(void)
{
	int fd;

	for (fd = 3; fd < FD_FREE; fd++)
		if (dup2(MASTER(fd), fd) != fd)
			return false;
	return dup2(MASTER(FAR_IMAGES), FD_IMAGES) == FD_IMAGES &&
	       dup2(MASTER(FAR_ZEROES), FD_ZEROES) == FD_ZEROES &&
	       dup2(MASTER(FAR_DEVICE), FD_DEVICE) == FD_DEVICE;
}

static void reset_descriptors(void)
{
	int fd;

	for (fd = 0; fd < 3; fd++)
		dup2(MASTER(FD_NULL), fd);
	close_range(3, CONTROL_FIRST - 2, 0);
	if (!duplicate_masters()) {
		make_descriptors();
		check(duplicate_masters(), "dup2");
	}
	for (fd = 3; fd < MASTERS; fd++)
		lseek(MASTER(fd), 0, SEEK_SET);
	reset_file(FD_DISK, &disk_dirty);
	reset_file(FD_MEMORY, &memory_dirty);
}

static void reset_memory(const struct program *program)
{
	long *rets = (long *)RETS_AT;
	unsigned long i;

	/* All of each area: a program can write, and read, past its arrays. */
	memset((void *)SLOTS_AT, 0, SLOTS_SIZE);
	memcpy((void *)SLOTS_AT, program->slots, program->count * sizeof(struct batch_slot));
	for (i = 0; i < RETS_SIZE / sizeof(long); i++)
		rets[i] = UNTOUCHED(i);
	memcpy((void *)BUFFERS_AT, fresh_buffers, BUFFERS_SIZE);
	memset((void *)STAT_AT, 0x11, STATS * STAT_SIZE);
}

/* ---- recording ---- */

static void note_descriptors(struct descriptor_state states[])
{
	static struct pollfd polled[FD_LIMIT + 16];
	struct stat status;
	int i;

	for (i = 0; i < FD_LIMIT + 16; i++) {
		polled[i].fd = i;
		polled[i].events = POLLIN | POLLOUT;
	}
	check(poll(polled, FD_LIMIT + 16, 0) >= 0, "poll");
	memset(states, 0, sizeof(*states) * (FD_LIMIT + 16));
	for (i = 0; i < FD_LIMIT + 16; i++) {
		if (polled[i].revents & POLLNVAL)
			continue;
		check(!fstat(i, &status), "fstat");
		states[i].open = true;
		states[i].readiness = polled[i].revents;
		states[i].status_flags = fcntl(i, F_GETFL);
		states[i].flags = fcntl(i, F_GETFD);
		states[i].mode = status.st_mode;
		states[i].rdev = status.st_rdev;
		states[i].size = S_ISREG(status.st_mode) ? status.st_size : 0;
		states[i].offset = lseek(i, 0, SEEK_CUR);
	}
}

static void note_file(int fd, struct file_state *state, bool *dirty)
{
	struct stat status;
	ssize_t size;

	check(!fstat(MASTER(fd), &status), "fstat");
	size = pread(MASTER(fd), state->bytes, FILE_LIMIT, 0);
	check(size >= 0, "pread");
	memset(state->bytes + size, 0, FILE_LIMIT - (size_t)size);
	state->size = status.st_size;
	*dirty = state->size != FILE_START || memcmp(state->bytes, fresh_file, FILE_START) != 0;
}

static void note_queue(int fd, struct queue_state *state)
{
	unsigned char rest[DRAINED];

	state->size = read(MASTER(fd), state->bytes, DRAINED);
	if (state->size == (ssize_t)DRAINED)
		while (read(MASTER(fd), rest, sizeof(rest)) > 0)
			;
}

static void note_named(struct named_state named[])
{
	int fd;
	int i;

	for (i = 0; i < NAMES; i++) {
		named[i].size = -1;
		fd = openat(MASTER(FD_DIRECTORY), (const char *)NAME_AT(i), O_RDONLY);
		if (fd < 0)
			continue;
		named[i].size = read(fd, named[i].bytes, NAMED_BYTES);
		close(fd);
	}
}

static void note_window(struct outcome *outcome)
{
	unsigned char resident;
	unsigned long i;

	memset(outcome->window, 0, sizeof(outcome->window));
	for (i = 0; i < WINDOW_PAGES; i++) {
		void *page = (void *)(WINDOW_AT + i * PAGE);

		outcome->window_mapped[i] = !mincore(page, PAGE, &resident);
		if (outcome->window_mapped[i] && !mprotect(page, PAGE, PROT_READ))
			memcpy(outcome->window + i * PAGE, page, PAGE);
	}
}

/* Times, inodes and blocks do not depend on the batch. */
static void note_stats(unsigned char stats[])
{
	unsigned long i;

	memcpy(stats, (void *)STAT_AT, STATS * STAT_SIZE);
	for (i = 0; i < STATS; i++) {
		struct stat *status = (struct stat *)(stats + i * STAT_SIZE);

		memset(&status->st_atim, 0, 3 * sizeof(status->st_atim));
		status->st_ino = 0;
		status->st_blocks = 0;
	}
}

static void note(const struct program *program, struct outcome *outcome)
{
	memcpy(outcome->rets, (void *)RETS_AT, RETS_SIZE);
	memcpy(outcome->slots, (void *)SLOTS_AT, SLOTS_SIZE);
	memcpy(outcome->buffers, (void *)BUFFERS_AT, BUFFERS_SIZE);
	note_stats(outcome->stats);
	note_descriptors(outcome->descriptors);
	note_file(FD_DISK, &outcome->disk, &disk_dirty);
	note_file(FD_MEMORY, &outcome->memory, &memory_dirty);
	note_queue(FD_PIPE_READ, &outcome->queues[QUEUE_PIPE]);
	note_queue(FD_SOCKET, &outcome->queues[QUEUE_SOCKET]);
	note_queue(FD_PEER, &outcome->queues[QUEUE_PEER]);
	note_queue(FD_EVENT, &outcome->queues[QUEUE_EVENT]);
	memset(outcome->named, 0, sizeof(outcome->named));
	if (calls_any(program, SYS_openat))
		note_named(outcome->named);
	memset(outcome->window_mapped, 0, sizeof(outcome->window_mapped));
	if (calls_any(program, SYS_mmap))
		note_window(outcome);
	outcome->signals = signals;
}

/* ---- cleaning up: rare changes are undone at once ---- */

static void tidy(const struct program *program)
{
	int i;

	for (i = 3; calls_any(program, SYS_fcntl) && i < FD_FREE; i++)
		fcntl(MASTER(i), F_SETFL, fresh_flags[i]);
	for (i = 0; calls_any(program, SYS_openat) && i < NAMES; i++)
		unlinkat(MASTER(FD_DIRECTORY), (const char *)NAME_AT(i), 0);
	if (calls_any(program, SYS_mmap))
		munmap((void *)WINDOW_AT, WINDOW_PAGES * PAGE);
}

/* ---- running ---- */

/*
 * Makes the slots after PROGRAM's unreadable, or readable again, by unmapping their pages:
 * user-mode Linux reads protected pages on behalf of a process.
 */
static void protect_rest(const struct program *program, int protection)
{
	unsigned long size = program->count * sizeof(struct batch_slot);
	void *rest = (void *)(SLOTS_AT + size);
	size_t length = MAX_SLOTS * sizeof(struct batch_slot) - size;

	if (program->ncall <= program->count || program->count >= MAX_SLOTS)
		return;
	check(!madvise(rest, length, MADV_DONTNEED), "madvise");
	check(!mprotect(rest, length, protection), "mprotect");
}

void world_run(const struct program *program, const struct runner *runner, struct outcome *outcome)
{
	const struct batch_slot *calls = (const struct batch_slot *)SLOTS_AT;
	long *rets = (long *)RETS_AT;

	reset_descriptors();
	reset_memory(program);
	protect_rest(program, PROT_NONE);
	signals = 0;
	if (runner->engine < 0)
		outcome->returned =
			model_run(runner->bug, rets, calls, program->ncall, program->count);
	else
		outcome->returned = ferry_batch_on(runner->engine, rets, calls, program->ncall, 0,
						   sizeof(struct batch_slot));
	protect_rest(program, PROT_READ | PROT_WRITE);
	note(program, outcome);
	tidy(program);
}

bool world_mend(void)
{
	struct stat now;
	int fd;

	for (fd = 3; fd < MASTERS; fd++)
		if (fstat(MASTER(fd), &now) || now.st_ino != masters[fd].st_ino ||
		    now.st_dev != masters[fd].st_dev || now.st_mode != masters[fd].st_mode)
			break;
	if (fd == MASTERS)
		return true;
	make_descriptors();
	return false;
}

/* ---- comparing ---- */

struct comparison {
	FILE *out;
	const char *names[2];
	unsigned int differences;
};

#define MOST_DIFFERENCES 20

/* Records a difference in WHAT number I; with OUT, also prints it. */
static void differ(struct comparison *c, const char *what, unsigned long i, long a, long b)
{
	if (c->out && c->differences < MOST_DIFFERENCES)
		fprintf(c->out, "  %s %lu: %ld (0x%lx) with %s, %ld (0x%lx) with %s\n", what, i, a,
			(unsigned long)a, c->names[0], b, (unsigned long)b, c->names[1]);
	c->differences++;
}

static void compare(struct comparison *c, const char *what, unsigned long i, long a, long b)
{
	if (a != b)
		differ(c, what, i, a, b);
}

static void compare_bytes(struct comparison *c, const char *what, const void *a, const void *b,
			  size_t size)
{
	const unsigned char *x = a;
	const unsigned char *y = b;
	size_t i;

	if (!memcmp(a, b, size))
		return;
	for (i = 0; i < size; i++)
		compare(c, what, i, x[i], y[i]);
}

static void compare_words(struct comparison *c, const char *what, const void *a, const void *b,
			  size_t size)
{
	size_t i;

	if (!memcmp(a, b, size))
		return;
	for (i = 0; i < size / sizeof(long); i++)
		compare(c, what, i, ((const long *)a)[i], ((const long *)b)[i]);
}

static void compare_descriptors(struct comparison *c, const struct descriptor_state *a,
				const struct descriptor_state *b)
{
	unsigned long i;

	for (i = 0; i < FD_LIMIT + 16; i++) {
		compare(c, "open: descriptor", i, a[i].open, b[i].open);
		compare(c, "readiness of descriptor", i, a[i].readiness, b[i].readiness);
		compare(c, "status flags of descriptor", i, a[i].status_flags, b[i].status_flags);
		compare(c, "flags of descriptor", i, a[i].flags, b[i].flags);
		compare(c, "mode of descriptor", i, a[i].mode, b[i].mode);
		compare(c, "device of descriptor", i, (long)a[i].rdev, (long)b[i].rdev);
		compare(c, "size of descriptor", i, a[i].size, b[i].size);
		compare(c, "offset of descriptor", i, a[i].offset, b[i].offset);
	}
}

static void compare_queues(struct comparison *c, const struct queue_state *a,
			   const struct queue_state *b)
{
	static const char *const names[QUEUES] = { "byte in the pipe", "byte in the socket",
						   "byte in its peer", "byte of the eventfd" };
	unsigned long i;

	for (i = 0; i < QUEUES; i++) {
		compare(c, "size of queue", i, a[i].size, b[i].size);
		if (a[i].size == b[i].size && a[i].size > 0)
			compare_bytes(c, names[i], a[i].bytes, b[i].bytes, (size_t)a[i].size);
	}
}

static void compare_memory(struct comparison *c, const struct program *program,
			   const struct outcome *a, const struct outcome *b)
{
	compare_words(c, "rets", a->rets, b->rets, RETS_SIZE);
	compare_words(c, "word of the slots,", a->slots, b->slots, SLOTS_SIZE);
	compare_bytes(c, "buffer byte", a->buffers, b->buffers, BUFFERS_SIZE);
	compare_bytes(c, "stat byte", a->stats, b->stats, sizeof(a->stats));
	compare_bytes(c, "mapped: window page", a->window_mapped, b->window_mapped,
		      sizeof(a->window_mapped));
	if (calls_any(program, SYS_mmap))
		compare_bytes(c, "window byte", a->window, b->window, sizeof(a->window));
}

bool outcomes_differ(const struct program *program, const struct outcome *a,
		     const struct outcome *b, const char *name_a, const char *name_b, FILE *out)
{
	struct comparison c = { .out = out, .names = { name_a, name_b } };

	compare(&c, "returned value", 0, a->returned, b->returned);
	compare_memory(&c, program, a, b);
	compare(&c, "number of signals", 0, a->signals, b->signals);
	/* A shortcut: padding that differs does no harm. */
	/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
	if (memcmp(a->descriptors, b->descriptors, sizeof(a->descriptors)) != 0)
		compare_descriptors(&c, a->descriptors, b->descriptors);
	compare(&c, "size of the disk's file", 0, a->disk.size, b->disk.size);
	compare_bytes(&c, "byte of the disk's file", a->disk.bytes, b->disk.bytes, FILE_LIMIT);
	compare(&c, "size of the memory file", 0, a->memory.size, b->memory.size);
	compare_bytes(&c, "byte of the memory file", a->memory.bytes, b->memory.bytes, FILE_LIMIT);
	compare_queues(&c, a->queues, b->queues);
	compare_bytes(&c, "byte of the directory's files", a->named, b->named, sizeof(a->named));
	if (out && c.differences > MOST_DIFFERENCES)
		fprintf(out, "  and %u more\n", c.differences - MOST_DIFFERENCES);
	return c.differences;
}
