// SPDX-License-Identifier: MIT
/* ferry report: hands over to the Python package that makes the page. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "common/memory.h"
#include "common/messages.h"
#include "common/own_directory.h"

/*
 * Puts the package's directory in place of the current one, before anything is imported.  Byte code
 * would stay in an installation when its package is removed.
 */
static const char start[] = "import sys; sys.path[0] = sys.argv.pop(1); "
			    "sys.dont_write_bytecode = True; import runpy; "
			    "runpy.run_module('report', run_name='__main__', alter_sys=True)";

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static bool is_package_in(const char *directory)
{
	return directory && !access(keep_text("%s/report/__main__.py", directory), R_OK);
}

/* The directory that holds the package, of the build tree or of the installation. */
static char *find_package(bool *in_build_tree)
{
	static const char *const places[] = { "..", "../" FERRY_DATA_DIR "/ferry" };
	char *directory;
	int i;

	for (i = 0; i < 2; i++) {
		directory = beside(places[i]);
		if (is_package_in(directory)) {
			*in_build_tree = i == 0;
			return directory;
		}
	}
	complain("report: the Python package 'report' is neither in the build tree nor in "
		 "the %s of the installation",
		 FERRY_DATA_DIR "/ferry");
	return NULL;
}

/* The Python that ./setup made for the tree around the build tree, or the user's. */
static char *find_python(bool in_build_tree)
{
	char *python = in_build_tree ? beside("../../.venv/bin/python3") : NULL;

	return python && !access(python, X_OK) ? python : keep_text("python3");
}

/* Python would answer Ctrl-C with a traceback; the package ends that, and unblocks it. */
static void block_interrupt(void)
{
	sigset_t interrupt;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, NULL);
}

/* DIRECTORIES end with NULL. */
static int hand_over(char *output, char *directories[], int count)
{
	bool in_build_tree = false;
	char *package = find_package(&in_build_tree);
	char *python = package ? find_python(in_build_tree) : NULL;
	char **argv = keep((size_t)count + 6, sizeof(*argv));

	if (!package)
		return EXIT_FOUND;
	memcpy(argv, (char *[]){ python, "-c", (char *)start, package, output }, 5 * sizeof(*argv));
	memcpy(argv + 5, directories, (size_t)count * sizeof(*argv));
	block_interrupt();
	execvp(python, argv);
	complain("report: Python 3.11 or later is needed, and '%s' cannot be run: %s", python,
		 strerror(errno));
	return EXIT_FOUND;
}

static int report(char *directories[], int count, char *output)
{
	if (!output)
		output = count > 1 ? "report.html" : keep_text("%s/report.html", *directories);
	return hand_over(output, directories, count);
}

static int run(int argc, char *argv[])
{
	char *output = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		switch (option) {
		case 'o':
			output = optarg;
			break;
		case 'h':
			fputs(report_command.help, stdout);
			return EXIT_OK;
		default:
			return EXIT_USAGE;
		}
	}
	if (optind == argc) {
		complain("report: name a directory of results; see 'ferry report --help'");
		return EXIT_USAGE;
	}
	return report(argv + optind, argc - optind, output);
}

const struct command report_command = {
	.name = "report",
	.summary = "make a page of figures from measurements",
	.help = "Usage: ferry report [-o FILE] DIRECTORY...\n"
		"Makes one HTML page, with figures and tables, from the *.json files in DIRECTORY "
		"that\n"
		"ferry bench, ferry trace or ferry cc wrote.  With several directories, one for "
		"each\n"
		"machine, the page compares the figures that they share.  If FILE ends in .svg, it "
		"gets\n"
		"only the first figure of the page.  Needs Python 3.11 with Matplotlib and "
		"Jinja2.\n"
		"\n"
		"  -o, --output FILE  write the page to FILE instead of DIRECTORY/report.html, or\n"
		"                     report.html for several; '-' is standard output\n"
		"  -h, --help         print this text\n"
		"\n"
		"Exit status: 0 on success, 1 if Python or a Python package is missing, 2 for bad\n"
		"input.\n"
		"Example: ferry report -o report.html results\n",
	.run = run,
};
