// SPDX-License-Identifier: MIT
/* ferry bench files: many files in one call beside the usual ways, in C, in Python and as du. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jansson.h>

#include "cases.h"
#include "cold.h"
#include "common/json.h"
#include "common/memory.h"
#include "common/own_directory.h"
#include "duels.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/machine.h"
#include "measure/harness/options.h"

struct files_settings {
	struct duel_settings;
	struct names apps, programs;
	const char *directory;
};

static const struct files_settings *settings_of(const struct run *run)
{
	return (const struct files_settings *)run->settings;
}

#define FILES 20000
#define MAX_DUELS 128

/* A job, the two ways to do it, and on how many files. */
struct contest {
	const char *app, *side, *against;
	const char *what;
	file_side *run[2];
	size_t count;	/* 0: all */
	size_t repeats; /* timed at once */
	bool one_cpu;
	const char *(*missing)(void); /* why there is none, or NULL; may be NULL */
};

#define STAT_WHAT "Both ask for the attributes of %zu files"
#define READ_WHAT "Both read %zu files below 64 KiB into memory"
#define HASH_WHAT "Both compute SHA-256 of %zu files below 64 KiB"
#define WALK_WHAT "Both ask for the attributes of everything in a tree."

/* clang-format off */
static const struct contest contests[] = {
	{ "stat", "ferry_statx_many", "statx", STAT_WHAT ".",
	  { statx_in_one_call, statx_by_plain_calls }, 0, 1 },
	{ "read", "ferry_read_files", "open, read, close", READ_WHAT ".",
	  { read_in_one_call, read_by_plain_calls }, 0, 1 },
	{ "read", "ferry_read_files, open first", "open, read, close", READ_WHAT ".",
	  { open_first_in_one_call, read_by_plain_calls }, 0, 1 },
	{ "hash", "ferry_read_each, open first", "open, fstat, read, close", HASH_WHAT ".",
	  { hash_in_one_call, hash_by_plain_calls }, 0, 1, .missing = sha256_missing },
	{ "hash", "ferry_read_each, one CPU", "open, fstat, read, close", HASH_WHAT " on one CPU.",
	  { hash_in_one_call, hash_by_plain_calls }, 0, 1, .one_cpu = true,
	  .missing = sha256_missing },
	{ "walk", "ferry_walk", "fts", WALK_WHAT, { walk_in_one_call, walk_by_fts }, 0, 1 },
	{ "walk", "ferry_walk", "recursion", WALK_WHAT,
	  { walk_in_one_call, walk_by_recursion }, 0, 1 },
	{ "small", "ferry_statx_many, one path", "statx", STAT_WHAT ", 5000 times.",
	  { statx_in_one_call, statx_by_plain_calls }, 1, 5000 },
	{ "small", "ferry_statx_many, ten paths", "statx", STAT_WHAT ", 500 times.",
	  { statx_in_one_call, statx_by_plain_calls }, 10, 500 },
	{ "small", "ferry_read_files, one path", "open, fstat, read, close",
	  READ_WHAT ", 2000 times.",
	  { open_first_in_one_call, look_and_read_by_plain_calls }, 1, 2000 },
	{ "small", "ferry_read_files, ten paths", "open, fstat, read, close",
	  READ_WHAT ", 200 times.",
	  { open_first_in_one_call, look_and_read_by_plain_calls }, 10, 200 },
};
/* clang-format on */

/* The programs that `ferry du` is compared with, and their arguments before the tree. */
static const char *const rivals[][3] = {
	{ "du", "-s" }, { "diskus" }, { "pdu", "--max-depth=1" }, { "dust", "-d0" }, { "dua" },
};

#define JOBS 8 /* that --app names */

struct session {
	struct run *run;
	struct file_set set;
	struct cold cold;
	struct duel duels[MAX_DUELS];
	size_t count;
};

/* A new duel; it counts once IT_COUNTS. */
static struct duel *new_duel(struct session *session, const char *app, const char *side,
			     const char *against, const char *what)
{
	struct duel *duel = &session->duels[session->count];
	const char *names[2] = { side, against };
	size_t i;

	*duel = (struct duel){ .app = app,
			       .side = side,
			       .against = against,
			       .what = what,
			       .same_output = true,
			       .equal = true };
	for (i = 0; i < 2; i++) {
		char **argv = keep(2, sizeof(char *));

		argv[0] = keep_text("%s", names[i]);
		duel->argv[i] = argv;
	}
	return duel;
}

static void add(struct session *session, bool has_result)
{
	session->count += has_result && session->count + 1 < MAX_DUELS;
}

/* ---- in this process ---- */

struct match {
	const struct contest *contest;
	struct file_set *set;
	struct cold *cold; /* to be mounted anew for each run, or NULL */
	struct duel *duel;
	uint64_t results[2];
	bool ran[2];
};

static const char *time_job(void *context, size_t side, double *ns)
{
	struct match *match = context;
	const struct contest *contest = match->contest;
	size_t count = contest->count ? contest->count : match->set->count, i;
	const char *missing = match->cold ? cold_mount(match->cold, false) : NULL;
	double start = clock_now();

	for (i = 0; i < contest->repeats && !missing; i++)
		match->results[side] = contest->run[side](match->set, count);
	*ns = clock_now() - start;
	match->ran[side] = true;
	if (match->ran[!side] && match->results[0] != match->results[1])
		match->duel->equal = false;
	return missing;
}

static void run_contest(struct session *session, const struct contest *contest,
			struct file_set *set, struct cold *cold)
{
	size_t count = contest->count ? contest->count : set->count;
	struct match match = { contest, set, cold, NULL, { 0 }, { false } };

	if (count > set->count || interrupted())
		return;
	match.duel = new_duel(session, cold ? "cold" : contest->app, contest->side,
			      contest->against, keep_text(contest->what, count)); /* NOLINT */
	match.duel->counts_cpu = !cold;
	match.duel->missing = contest->missing ? contest->missing() : NULL;
	if (contest->one_cpu)
		cpu_stay(-1);
	add(session, duel_measure(session->run, match.duel, time_job, &match));
	use_cpus(-1, -1);
}

/* ---- programs ---- */

static const char *mount_for_program(void *context)
{
	return cold_mount(context, false);
}

static void run_du(struct session *session, size_t rival, bool is_cold)
{
	static char self[PATH_MAX];
	char *tree =
		is_cold ? keep_text(".") : keep_text("%s", settings_of(session->run)->directory);
	char **own = keep(5, sizeof(char *)), **other = keep(4, sizeof(char *));
	const struct process sides[2] = { { own, NULL, -1, -1 }, { other, NULL, -1, -1 } };
	struct duel *duel;
	size_t i;

	if (own_path(self) || interrupted())
		return;
	memcpy(own, (char *[]){ self, keep_text("du"), keep_text("-s"), tree }, 4 * sizeof(*own));
	for (i = 0; rivals[rival][i]; i++)
		other[i] = keep_text("%s", rivals[rival][i]);
	other[i] = tree;
	duel = new_duel(session, is_cold ? "cold" : "du", "ferry du", rivals[rival][0],
			"Both add up the disk space of a tree.");
	duel->same_output = rival == 0;
	duel->counts_cpu = !is_cold;
	add(session, duel_of_programs(session->run, duel, sides, is_cold ? mount_for_program : NULL,
				      &session->cold));
}

static void run_cold(struct session *session)
{
	const char *missing = cold_make(&session->cold, &session->set);

	if (missing) {
		new_duel(session, "cold", "ferry_read_files", "open, read, close", "")->missing =
			missing;
		add(session, true);
	} else {
		run_contest(session, &contests[1], &session->cold.set, &session->cold);
		run_du(session, 0, true);
	}
	cold_end(&session->cold);
}

/* ---- Python ---- */

/* Number SIDE of each pair. */
static struct numbers side_of_pairs(const json_t *pairs, size_t side)
{
	struct numbers numbers = { keep(json_array_size(pairs), sizeof(double)), 0 };
	const json_t *pair;
	size_t i;

	json_array_foreach(pairs, i, pair)
		numbers.of[numbers.count++] = json_number_value(json_array_get(pair, side));
	return numbers;
}

/* A line of measure/bench_files.py, whose texts are kept for the duel. */
static void take_line(struct session *session, const json_t *line)
{
	struct duel *duel =
		new_duel(session, "python", keep_text("%s", json_string_at(line, "side", "")),
			 keep_text("%s", json_string_at(line, "against", "")),
			 keep_text("%s", json_string_at(line, "what", "")));
	const char *missing = json_string_at(line, "missing", NULL);
	size_t k;

	duel->missing = missing ? keep_text("%s", missing) : NULL;
	duel->equal = json_is_true(json_object_get(line, "equal"));
	for (k = 0; k < 2; k++) {
		duel->times[k] = side_of_pairs(json_object_get(line, "pairs_ns"), k);
		duel->cpu_times[k] = side_of_pairs(json_object_get(line, "pairs_cpu_ns"), k);
	}
	add(session, missing || duel->times[0].count);
}

static int names_in_a_file(const struct session *session)
{
	int fd = memfd_create("ferry-bench", MFD_CLOEXEC);
	size_t i;

	for (i = 0; i < session->set.count; i++)
		dprintf(fd, "%s/%s%c", settings_of(session->run)->directory, session->set.names[i],
			0);
	return fd;
}

static void run_python(struct session *session, const char *python)
{
	const struct files_settings *settings = settings_of(session->run);
	char *script = find_example("bench_files.py");
	char *argv[] = { keep_text("%s", python),
			 script,
			 keep_text("%s", settings->directory),
			 keep_text("%ld", settings->pairs),
			 keep_text("%ld", settings->warmup),
			 NULL };
	int names = names_in_a_file(session), output = memfd_create("ferry-bench", MFD_CLOEXEC);
	struct outcome outcome = { 0 };
	json_t *line;

	if (script)
		outcome = process_run(&(struct process){ argv, NULL, names, output });
	lseek(output, 0, SEEK_SET);
	if (!script || (outcome.status && !interrupted())) {
		new_duel(session, "python", python, "plain calls", "")->missing =
			outcome.status == -ENOENT ?
				keep_text("%s is not installed", python) :
				keep_text("%s cannot run bench_files.py", python);
		add(session, true);
	}
	while ((line = json_loadfd(output, JSON_DISABLE_EOF_CHECK, NULL))) {
		take_line(session, line);
		json_decref(line);
	}
	close(names);
	close(output);
}

/* ---- all of it ---- */

static int measure(struct run *run)
{
	const struct files_settings *settings = settings_of(run);
	struct session *session = keep(1, sizeof(*session));
	size_t i;
	int status = file_set_collect(&session->set, settings->directory, FILES);

	if (status)
		return status;
	session->run = run;
	file_set_make_room(&session->set);
	use_cpus(-1, -1);
	for (i = 0; i < COUNT_OF(contests); i++)
		if (is_wanted(&settings->apps, contests[i].app))
			run_contest(session, &contests[i], &session->set, NULL);
	for (i = 0; i < COUNT_OF(rivals) && is_wanted(&settings->apps, "du"); i++)
		run_du(session, i, false);
	if (is_wanted(&settings->apps, "cold") && !interrupted())
		run_cold(session);
	for (i = 0; i < settings->programs.count && is_wanted(&settings->apps, "python"); i++)
		if (!interrupted())
			run_python(session, settings->programs.of[i]);
	if (!settings->programs.count && is_wanted(&settings->apps, "python") && !interrupted())
		run_python(session, "python3");
	duels_conclude(run, session->duels, session->count);
	duels_tabulate(run, "JOB", "SIDE",
		       "Many files in one call: medians, and ratios pair by pair",
		       !clock_counts_instructions());
	return 0;
}

#define AT(member) offsetof(struct files_settings, member)

static const struct option_row options[] = {
	WARMUP_OPTION,
	PAIRS_OPTION(AT(pairs)),
	{ 'g', NAMES_OPTION, "app", "NAME,...", "apps", AT(apps), "the jobs; by default all",
	  .values = "stat read hash walk small du cold python" },
	{ 'p', FILES_OPTION, "program", "FILE", "programs", AT(programs),
	  "a Python interpreter in place of python3" },
	DIRECTORY_OPTION(AT(directory)),
};

static const struct files_settings defaults = { .warmup = 1, .pairs = 21, .directory = "/usr" };

/* Nothing is known of a tree that the user names; /usr has some 100,000 entries. */
static double seconds(const struct settings *common, double call_ns)
{
	const struct files_settings *settings = (const struct files_settings *)common;
	size_t wanted = settings->apps.count ? settings->apps.count : JOBS;

	if (settings->directory != defaults.directory)
		return 0;
	return (double)wanted * (double)(settings->pairs + settings->warmup) * 1e7 * call_ns / 1e9;
}

const struct bench files_bench = {
	.name = "files",
	.summary = "many files in one call: C, Python and ferry du beside the usual ways",
	BENCH_SETTINGS(options, defaults),
	.seconds = seconds,
	.measure = measure,
	.example = "files --app du,walk --directory /usr/share",
};
