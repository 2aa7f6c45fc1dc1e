// SPDX-License-Identifier: MIT
/* Rounds of the storm, a program of its own beside this one. */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "subject.h"

#define COULD_NOT 2

static char program[PATH_MAX]; /* of the storm */
static char reached[PATH_MAX]; /* what it writes there */

static void begin(const char *directory)
{
	char own[PATH_MAX - sizeof("storm")];
	ssize_t size = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *name;

	own[size > 0 ? size : 0] = '\0';
	name = strrchr(own, '/');
	snprintf(program, sizeof(program), "%.*s/storm", name ? (int)(name - own) : 0, own);
	snprintf(reached, sizeof(reached), "%.4000s/reached", directory);
}

/* The storm prints why it fails, to WHY. */
static void execute(uint64_t seed, FILE *why)
{
	char text[24];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(text, sizeof(text), "%lu", (unsigned long)seed);
	dup2(fileno(why), STDOUT_FILENO);
	execl(program, "storm", "--seed", text, "--round", "0",
	      coverage_is_open() ? "--reached" : NULL, reached, NULL);
	perror(program);
	_exit(COULD_NOT);
}

static bool run(struct random *random, FILE *why)
{
	uint64_t seed = random_word(random) & UINT32_MAX;
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid)
		execute(seed, why);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		_exit(COULD_NOT);
	if (WIFEXITED(status) && WEXITSTATUS(status) == COULD_NOT)
		_exit(COULD_NOT);
	return !status;
}

static struct news take(struct coverage *all)
{
	struct news news = { 0 };
	FILE *file = fopen(reached, "re");

	if (!file)
		return news;
	news = coverage_read(all, file);
	fclose(file);
	unlink(reached);
	return news;
}

const struct subject storms = { .name = "storms", .begin = begin, .run = run, .take = take };
