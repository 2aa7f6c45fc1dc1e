// SPDX-License-Identifier: MIT
/* ferry bench apps: programs that batch, engine against engine and against the usual ones. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cases.h"
#include "duels.h"
#include "common/memory.h"
#include "common/messages.h"
#include "engines.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/options.h"
#include "measure/harness/turns.h"

struct apps_settings {
	struct duel_settings;
	struct names engines;
	bool engines_named; /* by the user; otherwise all that are available */
	struct names apps, programs;
	const char *directory, *examples;
};

static const struct apps_settings *settings_of(const struct run *run)
{
	return (const struct apps_settings *)run->settings;
}

#define SOUGHT "sh"	   /* by pathsearch */
#define MAX_ARGUMENTS 2100 /* the files of the material, and some */

/* Words of command lines that stand for what the programs work on. */
static const char all_files[] = "the files", tree[] = "the tree", path_list[] = "the PATH";

#define MOST_WORDS 8

/* An application, and the program that people use in its place. */
struct app {
	const char *name;
	const char *what;		   /* both sides of engine against engine do */
	const char *usual;		   /* what people call the other program */
	const char *usual_what;		   /* both sides of application against usual program do */
	bool same_output;		   /* of application and usual program */
	bool reads;			   /* standard input */
	const char *arguments[MOST_WORDS]; /* of the application */
	const char *usual_command[MOST_WORDS]; /* all of it */
};

static const struct app apps[] = {
	{ .name = "total",
	  .what = "Both open, map, sum and close many small files.",
	  .usual = "cat",
	  .usual_what = "total opens, maps and sums the files; cat opens, reads and writes them.",
	  .arguments = { all_files },
	  .usual_command = { "cat", all_files } },
	{ .name = "mdu",
	  .what = "Both add up the disk blocks of a tree.",
	  .usual = "du -sl",
	  .usual_what = "Both add up the disk blocks of a tree.",
	  .same_output = true,
	  .arguments = { "-s", tree },
	  .usual_command = { "du", "-sl", "--block-size=512", tree } },
	{ .name = "rw",
	  .what = "Both copy 64 MiB from standard input to standard output.",
	  .usual = "cat",
	  .usual_what = "Both copy 64 MiB from standard input to standard output.",
	  .same_output = true,
	  .reads = true,
	  .usual_command = { "cat" } },
	{ .name = "pathsearch",
	  .what = "Both look for a program in many directories.",
	  .usual = "sh: command -v",
	  .usual_what = "Both look for a program in many directories; the shell starts for it.",
	  .same_output = true,
	  .arguments = { SOUGHT, path_list },
	  .usual_command = { "sh", "-c", "PATH=$1; command -v $2", "sh", path_list, SOUGHT } },
	{ .name = "sigset",
	  .what = "Both ask for the disposition of every signal, and print it.",
	  .usual = "sh -c :",
	  .usual_what = "sigset asks for all signals and prints them; the shell starts and ends.",
	  .usual_command = { "sh", "-c", ":" } },
};
#define APPS COUNT_OF(apps)

/* ---- what they work on ---- */

#define FILES 2000
#define LARGEST (256L << 10) /* of them, bytes: summing must not take most of the time */
#define DIRECTORIES 500
#define PATHS_SIZE (100L << 10) /* of all names together, bytes: well below what exec() takes */
#define LARGE_FILE (64L << 20)	/* bytes */

/* Of one tree, in the order of a walk: nftw() gives its visitor no context. */
static struct {
	char *files[FILES + 1]; /* small regular files that can be read, ended by NULL */
	size_t file_count, names_length;
	char path_list[PATHS_SIZE]; /* with colons in between; only the last one has SOUGHT */
	size_t directories, list_length;
	int large_file; /* a file without a name, cached, to be read */
} material;

static bool wants_file(const char *path, const struct stat *status)
{
	return material.file_count < FILES && status->st_size <= LARGEST &&
	       material.names_length + strlen(path) < PATHS_SIZE && !access(path, R_OK);
}

static bool wants_directory(const char *path)
{
	return material.directories < DIRECTORIES &&
	       material.list_length + strlen(path) + 8 < PATHS_SIZE && !strchr(path, ':') &&
	       access(keep_text("%s/" SOUGHT, path), F_OK);
}

static int visit(const char *path, const struct stat *status, int type, struct FTW *position)
{
	(void)position;
	if (type == FTW_D && wants_directory(path)) {
		material.list_length +=
			(size_t)sprintf(material.path_list + material.list_length, "%s:", path);
		material.directories++;
	}
	if (type == FTW_F && S_ISREG(status->st_mode) && wants_file(path, status)) {
		material.files[material.file_count++] = keep_text("%s", path);
		material.names_length += strlen(path) + 1;
	}
	return interrupted() ||
	       (material.file_count == FILES && material.directories == DIRECTORIES);
}

static int make_large_file(void)
{
	int fd = memfd_create("ferry-bench", MFD_CLOEXEC);
	static char page[1 << 16];
	long written;

	memset(page, 'f', sizeof(page));
	for (written = 0; fd >= 0 && written < LARGE_FILE; written += (long)sizeof(page))
		if (write(fd, page, sizeof(page)) != (ssize_t)sizeof(page)) {
			close(fd);
			fd = -1;
		}
	return fd;
}

/* Collects it from DIRECTORY: 0, or an exit status. */
static int material_collect(const char *directory)
{
	material.large_file = make_large_file();
	errno = 0;
	if (nftw(directory, visit, 16, FTW_PHYS | FTW_MOUNT) < 0 || !material.directories)
		return bad_input("bench: %s: not a tree of files to walk: %s", directory,
				 errno ? strerror(errno) : "it has no directory");
	memcpy(material.path_list + material.list_length, "/bin", sizeof("/bin"));
	if (material.file_count && material.large_file >= 0)
		return 0;
	return bad_input(material.file_count ? "bench: no memory for a file of 64 MiB" :
					       "bench: %s: it has no file to sum",
			 directory);
}

/* WORDS with what they stand for, at ARGV; exec() does not write to its arguments. */
static void fill_in(char *argv[], const char *const words[], const struct apps_settings *settings)
{
	size_t i;

	for (; *words; words++) {
		for (i = 0; *words == all_files && i < material.file_count; i++)
			*argv++ = material.files[i];
		if (*words != all_files)
			*argv++ = *words == tree      ? (char *)settings->directory :
				  *words == path_list ? material.path_list :
							(char *)*words;
	}
}

/* ---- all of them ---- */

/* What the duels of one application share. */
struct scene {
	struct run *run;
	const struct app *app;
	char **argv, **usual;
	int input; /* or -1 */
	struct duel *duels;
	size_t *count;
};

/* The application on ENGINE against itself on BASE, or for NULL against the usual program. */
static void add_duel(struct scene *scene, const char *engine, const char *base)
{
	const struct app *app = scene->app;
	struct duel *duel = &scene->duels[*scene->count];
	const struct process sides[2] = {
		{ scene->argv, engine, scene->input, -1 },
		{ base ? scene->argv : scene->usual, base, scene->input, -1 },
	};

	if (interrupted())
		return;
	*duel = (struct duel){
		.app = app->name,
		.side = engine,
		.against = base ? base : app->usual,
		.what = base ? app->what : app->usual_what,
		.same_output = base || app->same_output,
	};
	*scene->count += duel_of_programs(scene->run, duel, sides, NULL, NULL);
}

/* What --program names takes the place of the usual program, with the application's arguments. */
static void replace_usual(struct scene *scene)
{
	const char *program = settings_of(scene->run)->programs.of[0];
	struct app *app = keep(1, sizeof(*app));
	size_t i;

	*app = *scene->app;
	app->usual = strrchr(program, '/') ? strrchr(program, '/') + 1 : program;
	app->usual_what = app->what;
	app->same_output = true;
	scene->app = app;
	for (i = 1; scene->argv[i]; i++)
		scene->usual[i] = scene->argv[i];
	scene->usual[0] = keep_text("%s", program);
	scene->usual[i] = NULL;
}

static void measure_app(struct run *run, const struct app *app, struct duel duels[], size_t *count)
{
	const struct apps_settings *settings = settings_of(run);
	const struct names *engines = &settings->engines;
	struct scene scene = {
		.run = run,
		.app = app,
		.argv = keep(MAX_ARGUMENTS, sizeof(char *)),
		.usual = keep(MAX_ARGUMENTS, sizeof(char *)),
		.input = app->reads ? material.large_file : -1,
		.duels = duels,
		.count = count,
	};
	size_t i;

	scene.argv[0] = example_of(settings->examples, app->name);
	fill_in(scene.argv + 1, app->arguments, settings);
	fill_in(scene.usual, app->usual_command, settings);
	if (settings->programs.count)
		replace_usual(&scene);
	for (i = 1; i < engines->count; i++)
		add_duel(&scene, engines->of[i], engines->of[0]);
	if (!settings->engines_named)
		add_duel(&scene, "auto", NULL);
	for (i = 0; settings->engines_named && i < engines->count; i++)
		add_duel(&scene, engines->of[i], NULL);
}

static int measure(struct run *run)
{
	size_t most = APPS * 2 * (settings_of(run)->engines.count + 1), count = 0, i;
	struct duel *duels = keep(most, sizeof(*duels));
	int status = material_collect(settings_of(run)->directory);

	for (i = 0; i < APPS && !status; i++)
		if (is_wanted(&settings_of(run)->apps, apps[i].name))
			measure_app(run, &apps[i], duels, &count);
	if (status)
		return status;
	duels_conclude(run, duels, count);
	duels_tabulate(run, "PROGRAM", "ENGINE",
		       "Programs that batch, from start to end: medians, and ratios pair by pair",
		       false);
	return 0;
}

static int check(struct settings *common)
{
	struct apps_settings *settings = (struct apps_settings *)common;
	size_t i;

	settings->engines_named = settings->engines.count;
	if (complete_engines(&settings->engines))
		return EXIT_USAGE;
	for (i = 0; i < APPS; i++)
		if (is_wanted(&settings->apps, apps[i].name) &&
		    !example_of(settings->examples, apps[i].name))
			return EXIT_USAGE;
	if (settings->programs.count && (settings->programs.count > 1 || settings->apps.count != 1))
		return bad_input("bench: apps: one --program is compared with one --app");
	return 0;
}

/* A program takes some ten thousand calls, and as long again to start. */
static double seconds(const struct settings *common, double call_ns)
{
	const struct apps_settings *settings = (const struct apps_settings *)common;
	size_t programs = settings->apps.count ? settings->apps.count : APPS;
	double duels = (double)(programs * 2 * settings->engines.count);

	return duels * (double)(settings->pairs + settings->warmup + 1) * 2 * 2e5 * call_ns / 1e9;
}

#define AT(member) offsetof(struct apps_settings, member)

static const struct option_row options[] = {
	WARMUP_OPTION,
	PAIRS_OPTION(AT(pairs)),
	ENGINE_OPTION(AT(engines)),
	{ 'g', NAMES_OPTION, "app", "NAME,...", "apps", AT(apps), "the programs; by default all",
	  .values = "total mdu rw pathsearch sigset" },
	{ 'p', FILES_OPTION, "program", "FILE", "programs", AT(programs),
	  "a program to compare one --app with" },
	DIRECTORY_OPTION(AT(directory)),
	EXAMPLES_OPTION(AT(examples)),
};

static const struct apps_settings defaults = { .warmup = 1,
					       .pairs = 21,
					       .directory = "/usr/share" };

const struct bench apps_bench = {
	.name = "apps",
	.summary = "programs that batch, engine against engine and against the usual ones",
	BENCH_SETTINGS(options, defaults),
	.check = check,
	.seconds = seconds,
	.measure = measure,
	.example = "apps --app mdu --engine loop --pairs 41",
};
