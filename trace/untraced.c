// SPDX-License-Identifier: MIT
#include "untraced.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/memory.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/process.h"

/* ---- what it prints ---- */

/* A pipe, since some programs do nothing at all when their output is /dev/null. */
struct drain {
	int pipe[2];
	int stop; /* an eventfd: a child in the background may have the pipe open for ever */
	pthread_t thread;
};

static void *throw_away(void *context)
{
	const struct drain *drain = context;
	struct pollfd files[] = { { drain->pipe[0], POLLIN, 0 }, { drain->stop, POLLIN, 0 } };
	char bytes[65536];

	while (poll(files, 2, -1) >= 0 && !files[1].revents)
		if (read(drain->pipe[0], bytes, sizeof(bytes)) <= 0)
			break;
	return NULL;
}

static void close_files(const struct drain *drain)
{
	close(drain->pipe[0]);
	close(drain->pipe[1]);
	close(drain->stop);
}

static int drain_open(struct drain *drain)
{
	int error;

	if (pipe2(drain->pipe, O_CLOEXEC))
		return -errno;
	drain->stop = eventfd(0, EFD_CLOEXEC);
	error = drain->stop < 0 ? errno : pthread_create(&drain->thread, NULL, throw_away, drain);
	if (error)
		close_files(drain);
	return -error;
}

static void drain_close(struct drain *drain)
{
	eventfd_write(drain->stop, 1);
	pthread_join(drain->thread, NULL);
	close_files(drain);
}

/* ---- the run ---- */

static struct times no_times(const char *why)
{
	return (struct times){ .missing = why };
}

static double ns(struct timeval time)
{
	return (double)time.tv_sec * 1e9 + (double)time.tv_usec * 1e3;
}

static struct times run_with(struct drain *drain, char *const argv[], off_t input)
{
	const struct process process = {
		.argv = argv, .input = STDIN_FILENO, .output = drain->pipe[1], .from = input
	};
	struct rusage before, after;
	struct outcome outcome;

	getrusage(RUSAGE_CHILDREN, &before);
	outcome = process_run(&process);
	getrusage(RUSAGE_CHILDREN, &after);
	if (interrupted())
		return no_times("the untraced run was interrupted");
	if (outcome.status < 0)
		return no_times(
			keep_text("the untraced run did not start: %s", strerror(-outcome.status)));
	return (struct times){
		.wall_ns = outcome.ns,
		.user_ns = ns(after.ru_utime) - ns(before.ru_utime),
		.system_ns = ns(after.ru_stime) - ns(before.ru_stime),
		.page_faults = after.ru_minflt - before.ru_minflt,
	};
}

struct times run_untraced(char *const argv[], bool reads_input, off_t input)
{
	struct drain drain;
	struct times times;

	if (reads_input && input < 0)
		return no_times("the program reads its standard input, which is no file and cannot "
				"be read a second time");
	if (drain_open(&drain))
		return no_times("there is no pipe or thread for the output of the untraced run");
	interrupt_catch(SA_RESETHAND);
	times = run_with(&drain, argv, input);
	drain_close(&drain);
	return times;
}
