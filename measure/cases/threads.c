// SPDX-License-Identifier: MIT
/* ferry bench threads: servers with POSIX threads, under `ferry threads` and plainly. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cases.h"
#include "common/memory.h"
#include "common/messages.h"
#include "common/own_directory.h"
#include "duels.h"
#include "load.h"
#include "measure/harness/clock.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/machine.h"
#include "measure/harness/options.h"
#include "measure/harness/process.h"
#include "measure/harness/statistics.h"

struct threads_settings {
	struct duel_settings;
	long calls;
	struct names apps;
	struct sizes threads; /* the loads by their busy connections; none: all */
};

static const struct threads_settings *settings_of(const struct run *run)
{
	return (const struct threads_settings *)run->settings;
}

#define MOST_WORDS 8
#define MOST_LOADS 4
#define MOST_DUELS 64
#define START_S 60  /* the longest that a server may take to listen */
#define UNIT 1000.0 /* requests: the CPU time of a duel is that of so many */
#define WARMUP 50   /* requests of each connection, so that its thread is carried by then */
#define WARM_S 2    /* of a server that is slow at first: a JIT, or ferry threads, decides */

enum side { CARRIED, PLAIN };

/* ---- what clients say ---- */

/* Of a literal, whose last byte is not part of it. */
#define BYTES(literal)                       \
	{                                    \
		literal, sizeof(literal) - 1 \
	}
#define HTTP "GET /file HTTP/1.1\r\nHost: localhost\r\n\r\n"
#define SELECT "SELECT c FROM points WHERE id=5000"

static const char echoed[32];
static const struct talk echo = { .request = { echoed, sizeof(echoed) } };
static const struct talk http = { .request = BYTES(HTTP) };
static const struct talk memcache = {
	.request = BYTES("set key 0 0 32\r\n0123456789abcdef0123456789abcdef\r\n")
};
/* A search for the entry of the server itself, with all attributes. */
static const struct talk ldap = {
	.request = BYTES("\x30\x25\x02\x01\x01\x63\x20\x04\x00\x0a\x01\x00\x0a\x01\x00\x02\x01\x00"
			 "\x02\x01\x00\x01\x01\x00\x87\x0bobjectClass\x30\x00")
};
/* Version 4.1, with a data base; the user root without a password.  Then a query. */
static const struct talk mariadb = {
	.greets = true,
	.hello = BYTES("\x2c\0\0\x01\x09\x82\0\0\0\0\0\x01\x21\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		       "\0\0\0\0\0\0\0root\0\0bench\0"),
	.request = BYTES("\x23\0\0\0\x03" SELECT),
};
_Static_assert(sizeof(SELECT) == 0x23, "the length in the packet");

/*
 * A server that listens on a port of the loopback interface, which is its last argument.  A word
 * that begins with '@' is a file of ours.
 */
static const struct program {
	const char *name, *what;
	const char *command[MOST_WORDS];
	long share;		 /* a trial has so much fewer requests */
	bool slow;		 /* at first: it serves for some time before its trials */
	bool varies;		 /* from start to start: each trial is of a new one */
	bool forks;		 /* a child of it serves */
	const struct talk *talk; /* NULL: echo */
	struct {
		size_t active, connections;
	} loads[MOST_LOADS];
} programs[] = {
	{ "echo",
	  "A server in C with a thread for each connection echoes 32 bytes.",
	  { "@threaded_server", "echo" },
	  1,
	  .loads = { { 1, 1 }, { 1, 64 }, { 16, 16 }, { 64, 64 } } },
	{ "queue",
	  "A server in C hands each request to one of 4 workers and back, through a mutex and "
	  "conditions.",
	  { "@threaded_server", "queue" },
	  2,
	  .loads = { { 16, 16 }, { 64, 64 } } },
	{ "compute",
	  "A server in C with a thread for each connection computes for each request.",
	  { "@threaded_server", "compute" },
	  10,
	  .loads = { { 4, 4 } } },
	{ "java",
	  "A server in Java with a thread for each connection echoes 32 bytes.",
	  { "java", "-XX:-UsePerfData", "@EchoServer.java" },
	  1,
	  .slow = true,
	  .loads = { { 1, 1 }, { 16, 16 }, { 64, 64 } } },
	{ "python",
	  "A server in Python with a thread for each connection echoes 32 bytes.",
	  { "python3", "@echo_server.py" },
	  4,
	  .slow = true,
	  .loads = { { 1, 1 }, { 16, 16 } } },
	{ "apache",
	  "Apache with mpm_worker sends a file of 101 bytes.",
	  { "sh", "@serve.sh", "apache" },
	  2,
	  .slow = true,
	  .talk = &http,
	  .loads = { { 1, 1 }, { 16, 16 }, { 64, 64 }, { 256, 256 } } },
	{ "mariadb",
	  "MariaDB reads one row by its key.",
	  { "sh", "@serve.sh", "mariadb" },
	  2,
	  .slow = true,
	  .talk = &mariadb,
	  .loads = { { 1, 1 }, { 16, 16 }, { 64, 64 }, { 256, 256 } } },
	{ "memcached",
	  "memcached with 4 threads stores 32 bytes.",
	  { "sh", "@serve.sh", "memcached" },
	  1,
	  .slow = true,
	  .talk = &memcache,
	  .loads = { { 1, 1 }, { 16, 16 }, { 64, 64 } } },
	{ "slapd",
	  "slapd finds its own entry.",
	  { "sh", "@serve.sh", "slapd" },
	  2,
	  .slow = true,
	  .talk = &ldap,
	  .loads = { { 1, 1 }, { 16, 16 }, { 64, 64 } } },
	{ "stunnel",
	  "stunnel decrypts and encrypts 32 bytes, which are echoed behind it.",
	  { "sh", "@serve.sh", "stunnel" },
	  4,
	  .slow = true,
	  .varies = true,
	  .loads = { { 1, 1 }, { 16, 16 }, { 64, 64 } } },
	{ "varnish",
	  "Varnish answers with 10 bytes of its configuration.",
	  { "sh", "@serve.sh", "varnish" },
	  2,
	  .slow = true,
	  .forks = true,
	  .talk = &http,
	  .loads = { { 1, 1 }, { 16, 16 }, { 64, 64 } } },
};

/* ---- a server ---- */

/* Not running while PID is 0. */
struct server {
	char **argv;
	size_t words;
	pid_t pid;
	char *folder; /* its working directory, which ends with it */
	int errors;   /* a file with its standard error */
	double warm;  /* when it has served long enough to be measured, ns */
	struct load load;
};

static _Noreturn void become(const struct server *server, pid_t parent)
{
	int nothing = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (chdir(server->folder))
		_exit(127);
	if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(nothing, STDOUT_FILENO) < 0 ||
	    dup2(server->errors, STDERR_FILENO) < 0)
		_exit(127);
	if (getppid() == parent)
		execvp(server->argv[0], server->argv);
	if (errno == ENOENT)
		dprintf(STDERR_FILENO, "%s is not installed\n", server->argv[0]);
	else
		dprintf(STDERR_FILENO, "%s: %s\n", server->argv[0], strerror(errno));
	_exit(127);
}

/* The first line that it wrote, or else WHY. */
static const char *complaint(const struct server *server, const char *why)
{
	static const char own[] = "ferry: threads: ";
	char text[256];
	ssize_t length = pread(server->errors, text, sizeof(text) - 1, 0);

	if (length <= 0)
		return why;
	text[length] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return keep_text("%s", text + (strncmp(text, own, strlen(own)) ? 0 : strlen(own)));
}

static bool is_carried(pid_t pid)
{
	char path[64], line[PATH_MAX + 128];
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, "/libferry_threads.so");
	if (maps)
		fclose(maps);
	return found;
}

/* ---- its working directory ---- */

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *position)
{
	(void)status;
	(void)type;
	(void)position;
	return remove(path);
}

/* What it still makes meanwhile is left. */
static void remove_folder(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static bool make_folder(struct server *server)
{
	const char *place = getenv("TMPDIR");

	server->folder = keep_text("%s/ferry-bench-XXXXXX", place && *place ? place : "/tmp");
	return mkdtemp(server->folder);
}

/* ---- its beginning and end ---- */

static void end_process(struct server *server)
{
	kill(server->pid, SIGKILL);
	waitpid(server->pid, NULL, 0);
	close(server->errors);
	remove_folder(server->folder);
	server->pid = 0;
	server->warm = 0;
}

static void stop(struct server *server)
{
	if (!server->pid)
		return;
	load_close(&server->load);
	end_process(server);
}

/* Waits until it listens; returns why it does not, or NULL. */
static const char *connect_to(struct server *server, int port)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	double end = now_ns() + START_S * 1e9;
	const char *why;
	int error;

	while ((error = load_open(&server->load, port)) == -ECONNREFUSED) {
		if (child_has_ended(server->pid) || interrupted() || now_ns() > end)
			break;
		nanosleep(&pause, NULL);
	}
	if (!error)
		return NULL;
	why = complaint(server, keep_text("the server cannot be reached: %s", strerror(-error)));
	end_process(server);
	return why;
}

/* Returns why it cannot serve, or NULL. */
static const char *start(struct server *server, enum side side)
{
	int port = load_free_port();
	pid_t parent = getpid();
	const char *why;

	if (port < 0)
		return keep_text("there is no port: %s", strerror(-port));
	if (!make_folder(server))
		return keep_text("%s cannot be made: %s", server->folder, strerror(errno));
	server->argv[server->words] = keep_text("%d", port);
	server->errors = memfd_create("ferry-bench", MFD_CLOEXEC);
	server->pid = fork();
	if (!server->pid)
		become(server, parent);
	if (server->pid < 0) {
		server->pid = 0;
		close(server->errors);
		remove_folder(server->folder);
		return "there is no process for a server";
	}
	why = connect_to(server, port);
	if (why || side == PLAIN || is_carried(server->pid))
		return why;
	why = complaint(server, "ferry threads ran it plainly");
	stop(server);
	return why;
}

/* ---- a duel ---- */

struct match {
	const struct program *program;
	long requests;
	struct server servers[2];
	long skipped[2];	 /* trials that warm up, still to come */
	struct numbers walls[2]; /* ns per request */
	struct numbers late[2];	 /* the time within which 99 of 100 requests are answered, ns */
	double *took;		 /* each request of a trial */
};

/* That of threads that run is up to a tick old. */
static double own_cpu_ns_of(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? NAN : clock_ns(clock);
}

/* Also of the children of its first thread. */
static double cpu_ns_of(pid_t pid, bool with_children)
{
	double ns = own_cpu_ns_of(pid);
	char path[64];
	FILE *children;
	int child;

	if (!with_children)
		return ns;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	children = fopen(path, "re");
	while (children && fscanf(children, "%d", &child) == 1)
		ns += own_cpu_ns_of(child);
	if (children)
		fclose(children);
	return ns;
}

static void note_times(struct match *match, size_t side, double wall)
{
	const size_t count = (size_t)match->requests;

	if (match->skipped[side]-- > 0)
		return;
	match->walls[side].of[match->walls[side].count++] = wall / (double)count;
	sort_values(match->took, count);
	match->late[side].of[match->late[side].count++] = quantile(match->took, count, 0.99);
}

static int warm_up(const struct match *match, const struct server *server, struct load *load)
{
	const long least = WARMUP * (long)load->count;
	const long requests = least > match->requests / 4 ? least : match->requests / 4;
	int error;

	do
		error = load_run(load, requests);
	while (!error && now_ns() < server->warm && !interrupted());
	return error;
}

/* CPU time of UNIT requests. */
static const char *serve(struct match *match, size_t side, double *ns)
{
	const struct server *server = &match->servers[side];
	struct load load = server->load;
	double cpu, wall;
	int error = warm_up(match, server, &load);

	load.took = match->took;
	cpu = cpu_ns_of(server->pid, match->program->forks);
	wall = clock_now();
	if (!error)
		error = load_run(&load, match->requests);
	wall = clock_now() - wall;
	if (interrupted())
		return NULL;
	*ns = (cpu_ns_of(server->pid, match->program->forks) - cpu) * UNIT /
	      (double)match->requests;
	if (!error) {
		note_times(match, side, wall);
		return NULL;
	}
	return keep_text("a request was not answered: %s", complaint(server, strerror(-error)));
}

static const char *time_side(void *context, size_t side, double *ns)
{
	struct match *match = context;
	struct server *server = &match->servers[side];
	const char *missing = server->pid ? NULL : start(server, (enum side)side);

	if (missing)
		return interrupted() ? NULL : missing;
	if (match->program->slow && !server->warm)
		server->warm = now_ns() + WARM_S * 1e9;
	missing = serve(match, side, ns);
	if (!match->program->slow || match->program->varies)
		stop(server);
	return missing;
}

/* ---- the bench ---- */

static bool wants_load(const struct threads_settings *settings, const struct program *program,
		       size_t which)
{
	size_t active = program->loads[which].active, i;

	for (i = 0; i < settings->threads.count; i++)
		if (settings->threads.of[i] == (double)active)
			break;
	return active && is_wanted(&settings->apps, program->name) &&
	       (!settings->threads.count || i < settings->threads.count);
}

/* The command line of SIDE, with room for the port; or NULL where a file of ours is not there. */
static char **command_of(const struct program *program, enum side side, size_t *count)
{
	char **argv = keep(MOST_WORDS + 4, sizeof(*argv)), self[PATH_MAX];
	const char *const *word;
	size_t words = 0;

	if (side == CARRIED) {
		if (own_path(self))
			return NULL;
		argv[words++] = keep_text("%s", self);
		argv[words++] = keep_text("threads");
	}
	for (word = program->command; *word; word++) {
		argv[words] = **word == '@' ? find_example(*word + 1) : keep_text("%s", *word);
		if (!argv[words++])
			return NULL;
	}
	*count = words;
	return argv;
}

static void set_rates(struct duel *duel, const struct match *match)
{
	size_t side;

	duel->rates = (struct numbers){ duel->rate, 2 };
	duel->lates = (struct numbers){ duel->late, 2 };
	for (side = 0; side < 2; side++) {
		duel->rate[side] = 1e9 / median_of(match->walls[side].of, match->walls[side].count);
		duel->late[side] = median_of(match->late[side].of, match->late[side].count);
	}
}

static bool run_duel(struct run *run, const struct program *program, size_t which,
		     struct duel *duel)
{
	const struct threads_settings *settings = settings_of(run);
	struct match match = { .program = program,
			       .requests = settings->calls / program->share + 1 };
	size_t active = program->loads[which].active, count = program->loads[which].connections;
	size_t side;
	bool measured;

	match.took = keep((size_t)match.requests, sizeof(double));
	*duel = (struct duel){ .app = program->name,
			       .side = keep_text("carried, %zu of %zu", active, count),
			       .against = "plain",
			       .what = program->what,
			       .as = "as sparing of CPU time as",
			       .equal = -1 };
	for (side = 0; side < 2; side++) {
		struct server *server = &match.servers[side];

		match.skipped[side] = settings->warmup;
		match.walls[side].of = keep((size_t)settings->pairs, sizeof(double));
		match.late[side].of = keep((size_t)settings->pairs, sizeof(double));
		server->load = (struct load){ .talk = program->talk ? program->talk : &echo,
					      .count = count,
					      .active = active };
		server->argv = command_of(program, (enum side)side, &server->words);
		duel->argv[side] = server->argv;
		if (!server->argv)
			duel->missing = "its server is not installed";
	}
	measured = duel_measure(run, duel, time_side, &match);
	for (side = 0; side < 2; side++)
		stop(&match.servers[side]);
	if (measured && !duel->missing)
		set_rates(duel, &match);
	return measured;
}

/* Why no program can be measured, or NULL. */
static const char *why_none(const struct duel duels[], size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!duels[i].missing)
			return NULL;
	return count ? duels[0].missing : NULL;
}

#define DUEL(member) offsetof(struct duel, member)

static const struct column rate_columns[] = {
	{ "PROGRAM", F_TEXT, DUEL(app), 0 },
	{ "SIDE", F_TEXT, DUEL(side), 0 },
	{ "AGAINST", F_TEXT, DUEL(against), 0 },
	{ "REQUESTS/S", F_NUMBER, DUEL(rate[0]), 0 },
	{ "ITS REQUESTS/S", F_NUMBER, DUEL(rate[1]), 0 },
	{ "99 % IN ms", F_MILLISECONDS, DUEL(late[0]), 2 },
	{ "ITS 99 % IN ms", F_MILLISECONDS, DUEL(late[1]), 2 },
};

static int measure(struct run *run)
{
	struct duel *duels = keep(MOST_DUELS, sizeof(*duels));
	size_t count = 0, i, which;
	struct table *rates;
	const char *why;

	use_cpus(-1, -1);
	for (i = 0; i < COUNT_OF(programs); i++)
		for (which = 0; which < MOST_LOADS && !interrupted(); which++)
			if (wants_load(settings_of(run), &programs[i], which))
				count += run_duel(run, &programs[i], which, &duels[count]);
	why = why_none(duels, count);
	if (why)
		return bad_input("bench: threads: %s", why);
	duels_conclude(run, duels, count);
	duels_tabulate(
		run, "PROGRAM", "SIDE",
		"CPU time of a server for 1000 requests, under ferry threads and plain, N of M "
		"connections busy: medians, and ratios pair by pair",
		false);
	rates = add_table(
		run, rate_columns, NULL,
		"Throughput of these servers, and the time within which 99 of 100 requests "
		"are answered: medians");
	for (i = 0; i < count; i++)
		if (!duels[i].missing)
			table_add(rates, &duels[i]);
	return 0;
}

/* A request takes as long as some 100 system calls at both ends; Java takes seconds to start. */
static double seconds(const struct settings *common, double call_ns)
{
	const struct threads_settings *settings = (const struct threads_settings *)common;
	double trials = 2 * (double)(settings->pairs + settings->warmup), total = 0;
	size_t i, which;

	for (i = 0; i < COUNT_OF(programs); i++)
		for (which = 0; which < MOST_LOADS; which++)
			if (wants_load(settings, &programs[i], which))
				total += trials * (double)settings->calls * 125 * call_ns / 1e9 +
					 (programs[i].slow ? 4 + 2 * WARM_S : 0) *
						 (programs[i].varies ? trials / 2 : 1);
	return total;
}

static int check(struct settings *common)
{
	const struct threads_settings *settings = (const struct threads_settings *)common;
	size_t i, which;

	for (i = 0; i < COUNT_OF(programs); i++)
		for (which = 0; which < MOST_LOADS; which++)
			if (wants_load(settings, &programs[i], which))
				return 0;
	return bad_input("bench: threads: no program is measured with so many busy threads; "
			 "--threads takes 1, 4, 16, 64 and 256");
}

#define AT(member) offsetof(struct threads_settings, member)

static const struct option_row options[] = {
	WARMUP_OPTION,
	PAIRS_OPTION(AT(pairs)),
	CALLS_OPTION(AT(calls)),
	{ 'g', NAMES_OPTION, "app", "NAME,...", "apps", AT(apps), "the programs; by default all",
	  .values = "echo queue compute java python apache mariadb memcached slapd stunnel "
		    "varnish" },
	{ 'f', NUMBERS_OPTION, "threads", "N,...", "threads", AT(threads),
	  "the loads with so many busy threads; by default all", 1, LOAD_MOST },
};

static const struct threads_settings defaults = { .warmup = 1, .pairs = 11, .calls = 20000 };

const struct bench threads_bench = {
	.name = "threads",
	.summary = "threaded servers under ferry threads and plain",
	.options = OPTION_ROWS(options),
	.defaults = &defaults,
	.settings_size = sizeof(defaults),
	.check = check,
	.seconds = seconds,
	.measure = measure,
	.example = "threads --app echo,java",
};
