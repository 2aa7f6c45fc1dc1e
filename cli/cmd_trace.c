// SPDX-License-Identifier: MIT
/* ferry trace: the calls of a program, and the savings of batches. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "common/file.h"
#include "common/memory.h"
#include "common/output.h"
#include "common/record.h"
#include "trace/script.h"
#include "trace/trace.h"

struct arguments {
	struct target target;
	bool json, once, c;
	size_t program;	    /* the sequence to print, from 1; 0: the report */
	const char *output; /* NULL: standard output */
};

static const struct option options[] = {
	{ "pid", required_argument, NULL, 'p' },
	{ "once", no_argument, NULL, '1' },
	{ "output", required_argument, NULL, 'o' },
	{ "json", no_argument, NULL, 'j' },
	{ "method", required_argument, NULL, 'm' },
	{ "program", required_argument, NULL, 'n' },
	{ "c", no_argument, NULL, 'c' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* ---- options ---- */

/* A number from 1 to MOST, or 0 after complaining that TEXT is not WHAT. */
static long parse_number(const char *text, long most, const char *what)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && number >= 1 && number <= most)
		return number;
	complain("trace: '%s' is not the number of a %s", text, what);
	return 0;
}

/* False after complaining. */
static bool parse_method(const char *text, enum method *method)
{
	static const char *const names[] = { "auto", "bpf", "ptrace" };
	size_t i;

	for (i = 0; i < COUNT_OF(names); i++)
		if (!strcmp(text, names[i])) {
			*method = (enum method)i;
			return true;
		}
	complain("trace: '%s' is not a method: they are auto, bpf and ptrace", text);
	return false;
}

/* A program has texts that BPF does not collect whole. */
static int choose_method(struct arguments *arguments)
{
	if (!arguments->program)
		return -1;
	if (arguments->target.method == METHOD_BPF) {
		complain("trace: --program needs the method ptrace, which reads whole paths");
		return EXIT_USAGE;
	}
	arguments->target.method = METHOD_PTRACE;
	return -1;
}

/* Returns -1 to go on, or the exit status. */
static int check_target(struct arguments *arguments, int argc, char *argv[])
{
	if (arguments->c && !arguments->program) {
		complain("trace: --c needs --program, the number of a sequence");
		return EXIT_USAGE;
	}
	if (arguments->json && arguments->program) {
		complain("trace: --json and --program exclude each other");
		return EXIT_USAGE;
	}
	if (arguments->target.pid && optind < argc)
		return too_many_arguments("trace", argv[optind]);
	if (optind < argc)
		arguments->target.argv = argv + optind;
	if (!arguments->target.pid && !arguments->target.argv) {
		complain("trace: no command and no --pid; see 'ferry trace --help'");
		return EXIT_USAGE;
	}
	/* Without a file, the report alone goes to standard output. */
	arguments->target.output = arguments->output ? STDOUT_FILENO : STDERR_FILENO;
	return choose_method(arguments);
}

/* The options end at the command, which may have its own. */
static int parse(struct arguments *arguments, int argc, char *argv[])
{
	int option;

	while ((option = getopt_long(argc, argv, "+p:1m:o:jn:ch", options, NULL)) != -1) {
		switch (option) {
		case 'p':
			arguments->target.pid = (pid_t)parse_number(optarg, 1L << 22, "process");
			if (!arguments->target.pid)
				return EXIT_USAGE;
			break;
		case 'n':
			arguments->program =
				(size_t)parse_number(optarg, SEQUENCES_MAX, "sequence");
			if (!arguments->program)
				return EXIT_USAGE;
			break;
		case 'c':
			arguments->c = true;
			break;
		case '1':
			arguments->once = true;
			break;
		case 'm':
			if (!parse_method(optarg, &arguments->target.method))
				return EXIT_USAGE;
			break;
		case 'o':
			arguments->output = optarg;
			break;
		case 'j':
			arguments->json = true;
			break;
		case 'h':
			fputs(trace_command.help, stdout);
			return EXIT_OK;
		default:
			return EXIT_USAGE;
		}
	}
	return check_target(arguments, argc, argv);
}

/* ---- output ---- */

static void print_program(const struct arguments *arguments, const struct trace *trace)
{
	const struct script *script =
		script_of(trace->name, trace->findings.sequences, arguments->program - 1);

	if (arguments->c)
		script_print_c(script);
	else
		script_print_text(script);
}

static void print(const struct arguments *arguments, const struct trace *trace)
{
	if (arguments->program)
		print_program(arguments, trace);
	else if (arguments->json)
		print_json(trace_as_json(trace));
	else
		trace_show(trace);
}

static bool has_program(const struct arguments *arguments, const struct trace *trace)
{
	const size_t count = trace->findings.sequences->count;

	if (arguments->program <= count)
		return true;
	complain("trace: there is no sequence %zu: %s makes %zu", arguments->program, trace->name,
		 count);
	return false;
}

static int run(int argc, char *argv[])
{
	struct arguments arguments = { 0 };
	struct kept_output kept;
	struct trace *trace;
	int status;

	status = parse(&arguments, argc, argv);
	if (status >= 0)
		return status;
	if (arguments.output && check_writable(arguments.output))
		return EXIT_USAGE;
	trace = keep(1, sizeof(*trace));
	if (trace_run(&arguments.target, !arguments.once && !arguments.program, trace) ||
	    !has_program(&arguments, trace))
		return EXIT_FOUND;
	if (arguments.output)
		keep_output(&kept);
	print(&arguments, trace);
	return arguments.output && write_kept(&kept, arguments.output) ? EXIT_USAGE : EXIT_OK;
}

const struct command trace_command = {
	.name = "trace",
	.summary = "count a program's calls, and state what batches could save",
	.help = "Usage: ferry trace [OPTION...] COMMAND [ARGUMENT...]\n"
		"       ferry trace [OPTION...] --pid PID\n"
		"Runs COMMAND, or attaches to a running process, with all its threads and\n"
		"children, and reports which system calls it makes and how much of its time the\n"
		"crossings into the kernel take.  Where BPF is permitted, the calls are counted "
		"by\n"
		"it; elsewhere ptrace stops the program in each call, and COMMAND runs again for\n"
		"the times.  Ctrl-C ends the tracing and prints the report.\n\n"
		"  -p, --pid PID      the process to attach to\n"
		"  -m, --method NAME  auto, bpf or ptrace\n"
		"  -1, --once         with ptrace, do not run COMMAND again for the times\n"
		"  -o, --output FILE  write the report to FILE\n"
		"  -j, --json         print JSON\n"
		"  -n, --program N    print sequence N as a batch for 'ferry run'\n"
		"  -c, --c            print it as C for libferry\n"
		"  -h, --help         print this help\n\n"
		"What COMMAND prints goes to standard error, unless --output is given.\n"
		"Exit status: 0, 1 if the program could not be traced, 2 for bad options.\n"
		"Example: ferry trace du -s /usr\n",
	.run = run,
};
