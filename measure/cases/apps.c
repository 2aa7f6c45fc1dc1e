// SPDX-License-Identifier: MIT
/* ferry bench apps: programs that batch, engine against engine and against the usual ones. */
#include <err.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"
#include "cli/messages.h"
#include "app_contest.h"
#include "measure/harness/interrupt.h"
#include "material.h"
#include "measure/harness/memory.h"
#include "measure/harness/progress.h"

#define MAX_ARGUMENTS 2100 /* the files of the material, and some */

/* An application, and what people use in its place. */
struct app {
	const char *name;
	const char *what;	/* both sides of engine against engine do */
	const char *usual;	/* what people call the other program */
	const char *usual_what; /* both sides of application against usual program do */
	bool same_output;	/* of application and usual program */
	bool reads;		/* standard input */

	/* Fills in both command lines, all but the application's path in app[0]. */
	void (*arguments)(const struct settings *settings, const struct material *material,
			  char *app[], char *usual[]);
};

static char *word(const char *text)
{
	return (char *)text; /* exec() does not write to its arguments */
}

static void append(char *argv[], const char *const words[])
{
	while (*argv)
		argv++;
	while (*words)
		*argv++ = word(*words++);
}

static void total_arguments(const struct settings *settings, const struct material *material,
			    char *app[], char *usual[])
{
	(void)settings;
	append(usual, (const char *[]){ "cat", NULL });
	append(app, (const char *const *)material->files);
	append(usual, (const char *const *)material->files);
}

static void mdu_arguments(const struct settings *settings, const struct material *material,
			  char *app[], char *usual[])
{
	(void)material;
	append(app, (const char *[]){ "-s", settings->directory, NULL });
	append(usual,
	       (const char *[]){ "du", "-sl", "--block-size=512", settings->directory, NULL });
}

static void rw_arguments(const struct settings *settings, const struct material *material,
			 char *app[], char *usual[])
{
	(void)settings;
	(void)material;
	(void)app;
	append(usual, (const char *[]){ "cat", NULL });
}

static const char shell_search[] = "PATH=$1; command -v " SOUGHT;

static void pathsearch_arguments(const struct settings *settings, const struct material *material,
				 char *app[], char *usual[])
{
	(void)settings;
	append(app, (const char *[]){ SOUGHT, material->path_list, NULL });
	append(usual,
	       (const char *[]){ "sh", "-c", shell_search, "sh", material->path_list, NULL });
}

static void sigset_arguments(const struct settings *settings, const struct material *material,
			     char *app[], char *usual[])
{
	(void)settings;
	(void)material;
	(void)app;
	append(usual, (const char *[]){ "sh", "-c", ":", NULL });
}

static const struct app apps[] = {
	{ "total", "Both open, map, sum and close many small files.", "cat",
	  "total opens, maps and sums the files; cat opens, reads and writes them.", false, false,
	  total_arguments },
	{ "mdu", "Both add up the disk blocks of a tree.", "du -sl",
	  "Both add up the disk blocks of a tree.", true, false, mdu_arguments },
	{ "rw", "Both copy 64 MiB from standard input to standard output.", "cat",
	  "Both copy 64 MiB from standard input to standard output.", true, true, rw_arguments },
	{ "pathsearch", "Both look for a program in many directories.", "sh: command -v",
	  "Both look for a program in many directories; the shell starts for it.", true, false,
	  pathsearch_arguments },
	{ "sigset", "Both ask for the disposition of every signal, and print it.",
	  "sh -c :", "sigset asks for all signals and prints them; the shell starts and ends.",
	  false, false, sigset_arguments },
};
#define APPS (sizeof(apps) / sizeof(apps[0]))

static const struct json_column columns[] = {
	{ "APPLICATION", "app", TEXT, 0 },
	{ "ENGINE", "side", TEXT, 0 },
	{ "AGAINST", "against", TEXT, 0 },
	{ "ms", "median_ns.0", MILLISECONDS, 2 },
	{ "ITS ms", "median_ns.1", MILLISECONDS, 2 },
	{ "TIMES AS FAST", "ratio.median", NUMBER, 3 },
	{ "FROM", "ratio.low", NUMBER, 3 },
	{ "TO", "ratio.high", NUMBER, 3 },
	{ "SIGNIFICANT", "significant", YES_NO, 0 },
};

static const struct json_column csv_columns[] = {
	{ NULL, "app", TEXT, 0 },
	{ NULL, "side", TEXT, 0 },
	{ NULL, "against", TEXT, 0 },
	{ NULL, "median_ns.0", NUMBER, 0 },
	{ NULL, "median_ns.1", NUMBER, 0 },
	{ NULL, "ratio.median", NUMBER, 0 },
	{ NULL, "ratio.low", NUMBER, 0 },
	{ NULL, "ratio.high", NUMBER, 0 },
	{ NULL, "ratio.confidence", NUMBER, 0 },
	{ NULL, "significant", YES_NO, 0 },
	{ NULL, "equal", YES_NO, 0 },
};

/* What the contests of one application share. */
struct stage {
	const struct app *app;
	char **argv, **usual;
	int input, output;
};

static void measure_engines(struct run *run, const struct stage *stage, const char *engine)
{
	const char *base = run->settings->engines.of[0];
	struct contest contest = {
		.app = stage->app->name,
		.against = base,
		.what = stage->app->what,
		.same_output = true,
		.side = { { stage->argv, engine, stage->input, stage->output },
			  { stage->argv, base, stage->input, stage->output } },
	};

	contest_measure(run, &contest);
}

static void measure_usual(struct run *run, const struct stage *stage, const char *engine)
{
	struct contest contest = {
		.app = stage->app->name,
		.against = stage->app->usual,
		.what = stage->app->usual_what,
		.same_output = stage->app->same_output,
		.side = { { stage->argv, engine, stage->input, stage->output },
			  { stage->usual, NULL, stage->input, stage->output } },
	};

	contest_measure(run, &contest);
}

static size_t contests_of_app(const struct settings *settings)
{
	return settings->engines.count - 1 +
	       (settings->engines_named ? settings->engines.count : 1);
}

static void measure_app(struct run *run, const struct stage *stage, size_t done)
{
	const struct names *engines = &run->settings->engines;
	size_t i;

	for (i = 1; i < engines->count && !interrupted(); i++) {
		measure_engines(run, stage, engines->of[i]);
		progress_at(++done);
	}
	if (!run->settings->engines_named && !interrupted())
		measure_usual(run, stage, "auto");
	for (i = 0; run->settings->engines_named && i < engines->count && !interrupted(); i++) {
		measure_usual(run, stage, engines->of[i]);
		progress_at(++done);
	}
}

static char *path_in(const char *directory, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		errx(EXIT_USAGE, "out of memory");
	return path;
}

static void measure_apps(struct run *run, const struct material *material, const char *examples)
{
	size_t each = contests_of_app(run->settings);
	int output = open("/dev/null", O_WRONLY | O_CLOEXEC);
	size_t i;

	progress_begin("comparison", APPS * each);
	for (i = 0; i < APPS && !interrupted(); i++) {
		struct stage stage = {
			.app = &apps[i],
			.argv = allocate(MAX_ARGUMENTS, sizeof(char *)),
			.usual = allocate(MAX_ARGUMENTS, sizeof(char *)),
			.input = apps[i].reads ? material->large_file : material->empty_file,
			.output = output,
		};

		stage.argv[0] = path_in(examples, apps[i].name);
		apps[i].arguments(run->settings, material, stage.argv, stage.usual);
		measure_app(run, &stage, i * each);
		progress_at((i + 1) * each);
		free(stage.argv[0]);
		free(stage.argv);
		free(stage.usual);
	}
	progress_end();
	close(output);
}

/* Beside this program in the build tree, or where they are installed. */
static bool find_examples(char found[PATH_MAX])
{
	static const char *const places[] = { "../examples", "../libexec/ferry" };
	char self[PATH_MAX] = "", path[PATH_MAX + 64];
	size_t i;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return false;
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char copy[PATH_MAX];

		memcpy(copy, self, sizeof(copy)); /* dirname() cuts it */
		snprintf(path, sizeof(path), "%s/%s/total", dirname(copy), places[i]);
		if (realpath(path, found)) {
			dirname(found);
			return true;
		}
	}
	return false;
}

static int measure(struct run *run)
{
	const struct settings *settings = run->settings;
	struct material material;
	char found[PATH_MAX];
	int status;

	if (!settings->examples && !find_examples(found)) {
		complain(
			"bench: the example programs are not beside this one; --examples DIRECTORY "
			"tells where they are");
		return EXIT_USAGE;
	}
	status = material_collect(&material, settings->directory);
	if (status)
		return status;
	json_object_set_new(run->document, "comparisons", json_array());
	measure_apps(run, &material, settings->examples ? settings->examples : found);
	material_free(&material);
	return 0;
}

static int check(const struct settings *settings)
{
	char *path;
	bool there;

	if (!settings->examples)
		return 0;
	path = path_in(settings->examples, "total");
	there = is_program(path);
	free(path);
	if (there)
		return 0;
	complain("bench: %s: the example programs are not there (no total)", settings->examples);
	return EXIT_USAGE;
}

static void print(const json_t *document)
{
	static const struct table table = { columns, sizeof(columns) / sizeof(columns[0]) };

	print_heading("Programs that batch, from start to end: medians, and ratios pair by pair");
	print_table(&table, json_object_get(document, "comparisons"));
	print_paragraph(
		"", "FROM and TO: the interval for the median ratio, at 95 % or a little more.");
}

const struct bench apps_bench = {
	.name = "apps",
	.summary = "programs that batch, engine against engine and against the usual ones",
	.rows = "comparisons",
	.csv = { csv_columns, sizeof(csv_columns) / sizeof(csv_columns[0]) },
	.defaults = { .warmup = 1, .pairs = 21, .directory = "/usr/share" },
	.check = check,
	.measure = measure,
	.example = "apps --pairs 41",
	.print_document = print,
};
