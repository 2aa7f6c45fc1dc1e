// SPDX-License-Identifier: MIT
/* What signal handlers and forked children see of a ring that is being made or used. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>
#include <liburing.h>

#include <ferry.h>

#include "child.h"

static int null;

/* Called while a ring is made and its descriptor is open, and before a submission. */
static void (*while_made)(void);
static void (*before_submission)(void);

int __real_io_uring_register_files_sparse(struct io_uring *ring, unsigned int count);
int __wrap_io_uring_register_files_sparse(struct io_uring *ring, unsigned int count);
int __wrap_io_uring_register_files_sparse(struct io_uring *ring, unsigned int count)
{
	if (while_made)
		while_made();
	return __real_io_uring_register_files_sparse(ring, count);
}

int __real_io_uring_submit(struct io_uring *ring);
int __wrap_io_uring_submit(struct io_uring *ring);
int __wrap_io_uring_submit(struct io_uring *ring)
{
	if (before_submission)
		before_submission();
	return __real_io_uring_submit(ring);
}

static int count_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static bool has_ring(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	bool found = false;

	CHILD_ASSERT(maps);
	while (!found && fgets(line, sizeof(line), maps))
		found = strstr(line, "[io_uring]");
	fclose(maps);
	return found;
}

static void run_writes(void)
{
	struct ferry_slot calls[64];
	long rets[64];

	for (int i = 0; i < 64; i++)
		calls[i] = (struct ferry_slot){ .nr = SYS_write,
						.argc = 3,
						.arg = { null, (long)"x", 1 } };
	CHILD_ASSERT(ferry_batch_on(FERRY_URING, rets, calls, 64, 0, 0) == 63);
	for (int i = 0; i < 64; i++)
		CHILD_ASSERT(rets[i] == 1);
}

static int open_null(void **state)
{
	(void)state;
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return null < 0;
}

/* In a child: the thread has no ring yet. */
static bool cannot_make_ring(void)
{
	const char *why;
	pid_t child = fork();
	int status = 1;

	if (!child)
		_exit(ferry_engine_probe(FERRY_URING, &why) != 0);
	waitpid(child, &status, 0);
	return status;
}

/* ---- signal handlers that do not return ---- */

static sigjmp_buf outside;
static atomic_int handled;

static void jump_out(int sig)
{
	(void)sig;
	handled++;
	siglongjmp(outside, 1);
}

static void raise_once(void)
{
	while_made = NULL;
	before_submission = NULL;
	raise(SIGUSR1);
}

/* Runs a batch that jump_out() leaves. */
static void run_until_jump(void)
{
	if (!sigsetjmp(outside, 1))
		run_writes();
	CHILD_ASSERT(handled == 1);
}

static void jump_while_made(void)
{
	const int descriptors = count_descriptors();

	signal(SIGUSR1, jump_out);
	while_made = raise_once;
	run_until_jump();
	CHILD_ASSERT(count_descriptors() == descriptors);
	CHILD_ASSERT(ferry_engine_probe(FERRY_URING, NULL) == 0);
	run_writes();
}

static void a_jump_waits_until_the_ring_is_made(void **state)
{
	(void)state;
	if (cannot_make_ring())
		skip();
	ASSERT_IN_CHILD(jump_while_made);
}

static void *leave_busy_ring(void *unused)
{
	(void)unused;
	before_submission = raise_once;
	run_until_jump();
	CHILD_ASSERT(has_ring());
	CHILD_ASSERT(ferry_engine_probe(FERRY_URING, NULL) == -EBUSY);
	run_writes();
	return NULL;
}

static void end_with_busy_ring(void)
{
	pthread_t thread;

	signal(SIGUSR1, jump_out);
	CHILD_ASSERT(!pthread_create(&thread, NULL, leave_busy_ring, NULL));
	CHILD_ASSERT(!pthread_join(thread, NULL));
	CHILD_ASSERT(!has_ring());
}

static void a_thread_frees_the_ring_that_a_jump_left_busy(void **state)
{
	(void)state;
	if (cannot_make_ring())
		skip();
	ASSERT_IN_CHILD(end_with_busy_ring);
}

/* ---- fork ---- */

static sem_t ring_half_made;
static atomic_bool forking, forked;
static pid_t forker;

static void note_fork(void)
{
	forking = true;
}

/* The state of the main thread, as in ps(1). */
static char state_of_forker(void)
{
	char path[64], name[64], state = '?';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)forker);
	file = fopen(path, "re");
	CHILD_ASSERT(file);
	CHILD_ASSERT(fscanf(file, "%*d (%63[^)]) %c", name, &state) == 2);
	fclose(file);
	return state;
}

/* Stays until the main thread has forked, or sleeps in its attempt. */
static void await_fork(void)
{
	while_made = NULL;
	sem_post(&ring_half_made);
	while (!forking)
		sched_yield();
	while (!forked && state_of_forker() != 'S')
		sched_yield();
}

static void *run_in_thread(void *unused)
{
	(void)unused;
	run_writes();
	return NULL;
}

static void fork_while_made(void)
{
	const int descriptors = count_descriptors();
	pthread_t thread;
	int status;
	pid_t child;

	CHILD_ASSERT(!sem_init(&ring_half_made, 0, 0));
	CHILD_ASSERT(!pthread_atfork(note_fork, NULL, NULL));
	forker = getpid();
	while_made = await_fork;
	CHILD_ASSERT(!pthread_create(&thread, NULL, run_in_thread, NULL));
	CHILD_ASSERT(!sem_wait(&ring_half_made));
	child = fork();
	if (!child) {
		CHILD_ASSERT(count_descriptors() == descriptors);
		CHILD_ASSERT(ferry_engine_probe(FERRY_URING, NULL) == 0);
		_exit(0);
	}
	forked = true;
	CHILD_ASSERT(waitpid(child, &status, 0) == child);
	CHILD_ASSERT(status == 0);
	CHILD_ASSERT(!pthread_join(thread, NULL));
	CHILD_ASSERT(ferry_engine_probe(FERRY_URING, NULL) == 0);
}

static void a_forked_child_inherits_no_descriptor_of_a_ring(void **state)
{
	(void)state;
	if (cannot_make_ring())
		skip();
	ASSERT_IN_CHILD(fork_while_made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jump_waits_until_the_ring_is_made),
		cmocka_unit_test(a_thread_frees_the_ring_that_a_jump_left_busy),
		cmocka_unit_test(a_forked_child_inherits_no_descriptor_of_a_ring),
	};

	return cmocka_run_group_tests_name("unseen", tests, open_null, NULL);
}
