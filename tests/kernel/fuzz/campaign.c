// SPDX-License-Identifier: MIT
/*
 * Has a worker run the programs of a subject for some seconds, then another those of the next
 * subject.  This process watches it, so a kernel that crashes or hangs a program is noticed like
 * one that is wrong.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "campaign.h"

#define TURN_SECONDS 10.0 /* of a subject */

double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void print_why(void)
{
	char line[1024];

	fseek(why, 0, SEEK_SET);
	while (fgets(line, sizeof(line), why))
		fputs(line, stdout);
}

static void report(const char *what)
{
	printf("%s: ", what);
	line_print(&shared->current, stdout);
	putchar('\n');
	print_why();
	printf("again: --run '");
	line_print(&shared->current, stdout);
	puts("'");
}

/* Waits for the worker PID.  True if it did well; says what failed otherwise. */
static bool watch(pid_t pid)
{
	unsigned long done = atomic_load(&shared->programs);
	double since = now();
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		bool hangs = now() - since > HANG_SECONDS;

		usleep(20000);
		if (atomic_load(&shared->programs) != done) {
			done = atomic_load(&shared->programs);
			since = now();
		}
		if (!stopped && !hangs)
			continue;
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		if (hangs)
			report("hangs");
		return !hangs;
	}
	if (!status)
		return true;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		exit(2); /* it has said what it lacks */
	report(WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "fails");
	return false;
}

static bool start(enum task task, unsigned int subject, struct random random, double end)
{
	pid_t pid;

	if (stopped)
		return true;
	fflush(NULL);
	if (fseek(why, 0, SEEK_SET) || ftruncate(fileno(why), 0)) {
		perror("fuzz: memory");
		exit(2);
	}
	pid = fork();
	if (pid < 0) {
		perror("fuzz: fork");
		exit(2);
	}
	if (!pid)
		work(task, subject, random, end);
	return watch(pid);
}

static bool start_all(const struct options *options, enum task task, struct random random,
		      double end)
{
	unsigned int i;

	for (i = 0; subjects[i]; i++) {
		double turn = now() + TURN_SECONDS;

		if (options->only && subjects[i] != options->only)
			continue;
		random.state += i;
		if (!start(task, i, random, turn < end ? turn : end))
			return false;
	}
	return true;
}

bool run_campaign(const struct options *options)
{
	double end;
	uint64_t turn;

	if (!start_all(options, REPLAY, random_for(options->seed, 0), 0))
		return false;
	end = now() + options->seconds;
	for (turn = 1; !stopped && now() < end; turn++)
		if (!start_all(options, FUZZ, random_for(options->seed, turn), end))
			return false;
	return true;
}

bool reduce_entries(const struct options *options)
{
	return start_all(options, REDUCE, random_for(options->seed, 0), 0);
}
