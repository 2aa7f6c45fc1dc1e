// SPDX-License-Identifier: MIT
/* ferry bench servers: an HTTP server and a cache, under the load of existing programs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "common/messages.h"
#include "measure/harness/interrupt.h"
#include "common/memory.h"
#include "measure/harness/machine.h"
#include "measure/harness/options.h"
#include "measure/harness/process.h"
#include "sides.h"

struct servers_settings {
	struct settings;
	long seconds;	   /* of load in a trial */
	struct names apps; /* none: all */
	const char *examples;
};

static const struct servers_settings *settings_of(const struct run *run)
{
	return (const struct servers_settings *)run->settings;
}

#define CONNECTIONS "64"
#define MOST_WORDS 16	 /* of a load generator's command line */
#define OUTPUT_MAX 65536 /* of a load generator, bytes */

/* A server, and what loads it. */
struct plan {
	const char *name;
	const char *tools[2]; /* names of the load generator */

	const char *arguments; /* with the seconds and the port to fill in */

	/* What stands before the numbers in its output, and never there. */
	const char *rate, *total, *errors;
	bool total_is_before;
};

/* clang-format off */
static const struct plan plans[] = {
	{ "http", { "wrk", "wrk" },
	  "-t1 -c" CONNECTIONS " -d%lds http://127.0.0.1:%ld/",
	  "Requests/sec:", " requests in ", "Non-2xx", true },
	/* Nine gets to a set, of 100 bytes. */
	{ "cache", { "memcaslap", "memaslap" },
	  "--threads=1 --concurrency=" CONNECTIONS " --fixed_size=100 --win_size=1k --time=%lds "
	  "--servers=127.0.0.1:%ld",
	  " TPS:", " Ops:", "_ERROR", false },
};
/* clang-format on */
#define PLANS COUNT_OF(plans)

struct session {
	const struct servers_settings *settings;
	struct side *sides;
	size_t count;
	const char *tools[PLANS]; /* what loads each plan's server here, or NULL */
	const char *directory;	  /* of the servers */
	int server_cpu, load_cpu;
};

static const struct plan *plan_of(const struct side *side)
{
	const struct plan *plan = plans;

	while (strcmp(plan->name, side->server) != 0)
		plan++;
	return plan;
}

/* The name of its load generator here, or NULL. */
static const char *find_tool(const struct plan *plan)
{
	const char *found = NULL;
	size_t i;

	for (i = 0; i < COUNT_OF(plan->tools) && !found; i++) {
		char *argv[] = { keep_text("%s", plan->tools[i]), "--version", NULL };

		if (process_run(&(struct process){ argv, NULL, -1, -1 }).status >= 0)
			found = plan->tools[i];
	}
	return found;
}

/* ---- the server ---- */

static const char *path_of(const struct session *session, const struct side *side)
{
	static const char *const builds[BUILDS] = { "flexsc", "pthreads", "events" };

	return keep_text("%s/%s_%s", session->directory, side->server, builds[side->build]);
}

/* Starts a program on one CPU; it ends with this process at the latest. */
static pid_t start(char *const argv[], int output, int cpu)
{
	pid_t child = fork();
	int null;

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	use_cpus(cpu, -1);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
	    dup2(null, STDERR_FILENO) >= 0)
		execvp(argv[0], argv);
	_exit(127);
}

static pid_t start_server(const struct session *session, const struct side *side, int output)
{
	char *argv[] = { keep_text("%s", path_of(session, side)), NULL, NULL };

	if (!strcmp(side->server, "http"))
		argv[1] = keep_text("%s/www", session->directory);
	return start(argv, output, session->server_cpu);
}

/* It prints "... port NUMBER\n" once it listens. */
static long read_port(int output)
{
	char line[256] = "";
	const char *number;
	size_t length = 0;
	ssize_t got;

	while (length < sizeof(line) - 1 && !strchr(line, '\n')) {
		got = read(output, line + length, sizeof(line) - 1 - length);
		if (got <= 0)
			return 0;
		length += (size_t)got;
	}
	number = strrchr(line, ' ');
	return number ? strtol(number, NULL, 10) : 0;
}

/* ---- the load ---- */

/* The number that follows WORD, or precedes it; NAN if there is none. */
static double number_at(const char *text, const char *word, bool before)
{
	const char *at = strstr(text, word);
	char *end;
	double number;

	if (!at)
		return NAN;
	if (before)
		while (at > text && strchr("0123456789.", at[-1]))
			at--;
	else
		at += strlen(word);
	number = strtod(at, &end);
	return end > at ? number : NAN;
}

/* Loads the server: *NS per request, and how many requests there were. */
static bool load_it(const struct session *session, const struct plan *plan, long port, double *ns,
		    double *total)
{
	char *line = keep_text(plan->arguments, session->settings->seconds, port); /* NOLINT */
	char *argv[MOST_WORDS] = { keep_text("%s", session->tools[plan - plans]) };
	int words = 1, output = memfd_create("ferry-bench", MFD_CLOEXEC);
	char *text = allocate(1, OUTPUT_MAX + 1);
	pid_t child;
	bool well;

	while (line && words < MOST_WORDS - 1)
		argv[words++] = strsep(&line, " ");
	child = start(argv, output, session->load_cpu);
	well = child > 0 && !wait_for_child(child, SIGKILL);
	if (pread(output, text, OUTPUT_MAX, 0) > 0 && !strstr(text, plan->errors)) {
		*ns = 1e9 / number_at(text, plan->rate, false);
		*total = number_at(text, plan->total, plan->total_is_before);
	}
	free(text);
	close(output);
	return well && isfinite(*ns) && *total > 0;
}

static int run_trial(void *context, size_t index, size_t trial, double *ns)
{
	const struct session *session = context;
	struct side *side = &session->sides[index];
	struct rusage used = { 0 };
	double taken = NAN, total = NAN;
	int output[2], status = 0;
	bool loaded = false;
	pid_t server;
	long port;

	(void)trial;
	if (pipe2(output, O_CLOEXEC))
		return failed("bench: no pipe: %s", strerror(errno));
	server = start_server(session, side, output[1]);
	close(output[1]);
	port = server > 0 ? read_port(output[0]) : 0;
	close(output[0]);
	if (port)
		loaded = load_it(session, plan_of(side), port, &taken, &total);
	if (server > 0) {
		kill(server, SIGKILL);
		wait4(server, &status, 0, &used);
	}
	if (loaded && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
		*ns = taken;
		side->cpu += cpu_seconds(&used) * 1e9 / total;
		return 0;
	}
	if (!interrupted())
		complain("bench: %s: %s", side->name,
			 port ? "its load generator reported no rate, or errors" :
				"the server does not start");
	return interrupted() ? 0 : EXIT_FOUND;
}

/* ---- the bench ---- */

static void list_sides(struct session *session)
{
	const char *names[PLANS];
	size_t servers = 0, i;

	for (i = 0; i < PLANS; i++)
		if (is_wanted(&session->settings->apps, plans[i].name))
			names[servers++] = plans[i].name;
	session->count = servers * BUILDS;
	session->sides = sides_of(names, servers);
	for (i = 0; i < session->count; i++) {
		struct side *side = &session->sides[i];
		const struct plan *plan = plan_of(side);

		if (!session->tools[plan - plans])
			side->missing = keep_text("its load generator, %s, is not installed",
						  plan->tools[0]);
		else if (access(path_of(session, side), X_OK))
			side->missing = keep_text("there is no %s", path_of(session, side));
	}
}

static int measure(struct run *run)
{
	struct session session = { .settings = settings_of(run),
				   .directory = example_of(settings_of(run)->examples, "servers"),
				   .server_cpu = sched_getcpu() };
	int *cpus, status;
	size_t i;

	for (i = 0; i < PLANS; i++)
		if (is_wanted(&settings_of(run)->apps, plans[i].name))
			session.tools[i] = find_tool(&plans[i]);
	list_cpus(&cpus);
	session.load_cpu = cpus[0];
	if (session.load_cpu == session.server_cpu)
		add_warning(run, "one-cpu", "The servers and their load shared one CPU.");
	list_sides(&session);
	status = sides_measure(run, session.sides, session.count, run_trial, &session);
	sides_compare(run, session.sides, session.count);
	judge_run(run);
	sides_conclude(run, session.sides, session.count);
	return status;
}

static int check(struct settings *settings)
{
	const struct servers_settings *s = (struct servers_settings *)settings;

	return example_of(s->examples, "servers") ? 0 : EXIT_USAGE;
}

static double seconds(const struct settings *settings, double call_ns)
{
	const struct servers_settings *s = (const struct servers_settings *)settings;
	size_t servers = s->apps.count ? s->apps.count : PLANS;

	(void)call_ns;
	return (double)servers * BUILDS * (double)s->trials * ((double)s->seconds + 1);
}

#define AT(member) offsetof(struct servers_settings, member)

static const struct option_row options[] = {
	TRIALS_OPTION,
	{ 'q', NUMBER_OPTION, "seconds", "N", "seconds", AT(seconds),
	  "seconds of load in one trial", 1, 86400 },
	{ 'g', NAMES_OPTION, "app", "NAME,...", "apps", AT(apps), "the servers; by default both",
	  .values = "http cache" },
	EXAMPLES_OPTION(AT(examples)),
};

static const struct servers_settings defaults = { .trials = 5, .seconds = 2 };

const struct bench servers_bench = {
	.name = "servers",
	.summary = "an HTTP server and a cache: flexsc, pthreads and epoll",
	.options = OPTION_ROWS(options),
	.defaults = &defaults,
	.settings_size = sizeof(defaults),
	.check = check,
	.seconds = seconds,
	.measure = measure,
	.example = "servers --app http --seconds 5",
};
