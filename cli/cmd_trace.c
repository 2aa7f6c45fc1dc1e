// SPDX-License-Identifier: MIT
/* ferry trace: what a program wastes, its calls, and the savings of batches. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "command.h"
#include "common/file.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/output.h"
#include "common/record.h"
#include "trace/diff.h"
#include "trace/script.h"
#include "trace/stacks/stack.h"
#include "trace/trace.h"

struct arguments {
	struct target target;
	bool json, twice, c;
	size_t program;	    /* the sequence to print, from 1; 0: the report */
	size_t top;	    /* calls to print; 0: all */
	const char *before; /* a report to compare with the one that follows, or NULL */
	int threshold;	    /* in percent */
	const char *output; /* NULL: standard output */
};

/* clang-format off */
static const struct option options[] = {
	{ "pid", required_argument, NULL, 'p' },
	{ "cgroup", required_argument, NULL, 'g' },
	{ "interval", required_argument, NULL, 'i' },
	{ "duration", required_argument, NULL, 'd' },
	{ "twice", no_argument, NULL, '2' },
	{ "output", required_argument, NULL, 'o' },
	{ "json", no_argument, NULL, 'j' },
	{ "method", required_argument, NULL, 'm' },
	{ "stacks", no_argument, NULL, 's' },
	{ "top", required_argument, NULL, 't' },
	{ "diff", required_argument, NULL, 'D' },
	{ "threshold", required_argument, NULL, 'T' },
	{ "program", required_argument, NULL, 'n' },
	{ "c", no_argument, NULL, 'c' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};
/* clang-format on */

/* ---- options ---- */

#define MOST_SECONDS 1000000

/* A number from 1 to MOST, or 0 after complaining that TEXT is not WHAT. */
static long parse_number(const char *text, long most, const char *what)
{
	long number = 0;

	if (!read_number(text, 1, most, &number))
		complain("trace: '%s' is not %s", text, what);
	return number;
}

/* False after complaining. */
static bool add_pid(struct target *target, const char *text)
{
	const pid_t pid = (pid_t)parse_number(text, 1L << 22, "the number of a process");

	if (pid && target->pid_count == PIDS_MAX)
		complain("trace: more than %d processes cannot be named", PIDS_MAX);
	if (!pid || target->pid_count == PIDS_MAX)
		return false;
	target->pids[target->pid_count++] = pid;
	return true;
}

/* For "0", reports are printed on request alone.  False after complaining. */
static bool set_interval(struct target *target, const char *text)
{
	target->reports = true;
	if (!strcmp(text, "0"))
		return true;
	target->interval = parse_number(text, MOST_SECONDS, "a number of seconds");
	return target->interval;
}

#define CGROUPS "/sys/fs/cgroup" /* or where the hybrid layout of systemd has them: */
#define CGROUPS_OF_V2 CGROUPS "/unified"

static bool is_cgroup(const char *path)
{
	struct statfs system;

	return !statfs(path, &system) && system.f_type == CGROUP2_SUPER_MAGIC;
}

/* TEXT is a directory, or the name of a cgroup below the first.  False after complaining. */
static bool find_cgroup(struct target *target, const char *text)
{
	const char *const paths[] = { text, keep_text(CGROUPS "/%s", text),
				      keep_text(CGROUPS_OF_V2 "/%s", text) };
	struct stat status;
	size_t i;

	for (i = 0; i < COUNT_OF(paths); i++)
		if (is_cgroup(paths[i]) && !stat(paths[i], &status) && S_ISDIR(status.st_mode)) {
			target->cgroup = status.st_ino;
			target->cgroup_path = paths[i];
			return true;
		}
	complain("trace: '%s' is not a cgroup of version 2; " CGROUPS "/system.slice is one", text);
	return false;
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

/* A program has texts that BPF does not collect whole; ptrace(2) does not know cgroups. */
static int choose_method(struct arguments *arguments)
{
	if (arguments->target.cgroup) {
		if (arguments->target.method == METHOD_PTRACE || arguments->program) {
			complain("trace: --cgroup needs the method bpf");
			return EXIT_USAGE;
		}
		arguments->target.method = METHOD_BPF;
	}
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
	if (arguments->target.reports && arguments->program) {
		complain("trace: --interval and --program exclude each other");
		return EXIT_USAGE;
	}
	if (arguments->target.cgroup && arguments->target.pid_count) {
		complain("trace: --cgroup and --pid exclude each other");
		return EXIT_USAGE;
	}
	if ((arguments->target.pid_count || arguments->target.cgroup) && optind < argc)
		return too_many_arguments("trace", argv[optind]);
	if (optind < argc)
		arguments->target.argv = argv + optind;
	if (!arguments->target.pid_count && !arguments->target.cgroup && !arguments->target.argv) {
		complain("trace: no command, no --pid and no --cgroup; see 'ferry trace --help'");
		return EXIT_USAGE;
	}
	/* Without a file, the report alone goes to standard output. */
	arguments->target.output = arguments->output ? STDOUT_FILENO : STDERR_FILENO;
	if (arguments->target.stacks && stacks_missing()) {
		complain("trace: --stacks: %s", stacks_missing());
		return EXIT_USAGE;
	}
	return choose_method(arguments);
}

/* Returns the exit status. */
static int diff(const struct arguments *arguments, int argc, char *argv[])
{
	bool worse = false;

	if (optind + 1 != argc) {
		complain("trace: --diff BEFORE takes one more report, AFTER, and no command");
		return EXIT_USAGE;
	}
	if (diff_traces(arguments->before, argv[optind], arguments->threshold, &worse))
		return EXIT_USAGE;
	return worse ? EXIT_FOUND : EXIT_OK;
}

/* The options end at the command, which may have its own. */
static int parse(struct arguments *arguments, int argc, char *argv[])
{
	int option;

	while ((option = getopt_long(argc, argv, "+p:g:i:d:2m:o:jst:D:T:n:ch", options, NULL)) !=
	       -1) {
		switch (option) {
		case 'p':
			if (!add_pid(&arguments->target, optarg))
				return EXIT_USAGE;
			break;
		case 'g':
			if (!find_cgroup(&arguments->target, optarg))
				return EXIT_USAGE;
			break;
		case 'i':
			if (!set_interval(&arguments->target, optarg))
				return EXIT_USAGE;
			break;
		case 'd':
			arguments->target.seconds =
				parse_number(optarg, MOST_SECONDS, "a number of seconds");
			if (!arguments->target.seconds)
				return EXIT_USAGE;
			break;
		case 'D':
			arguments->before = optarg;
			break;
		case 'T':
			arguments->threshold =
				(int)parse_number(optarg, 1000, "a number of percent up to 1000");
			if (!arguments->threshold)
				return EXIT_USAGE;
			break;
		case 't':
			arguments->top =
				(size_t)parse_number(optarg, CALL_LIMIT, "a number of calls");
			if (!arguments->top)
				return EXIT_USAGE;
			break;
		case 'n':
			arguments->program = (size_t)parse_number(optarg, SEQUENCES_MAX,
								  "the number of a sequence");
			if (!arguments->program)
				return EXIT_USAGE;
			break;
		case 'c':
			arguments->c = true;
			break;
		case '2':
			arguments->twice = true;
			break;
		case 'm':
			if (!parse_method(optarg, &arguments->target.method))
				return EXIT_USAGE;
			break;
		case 'o':
			arguments->output = optarg;
			break;
		case 's':
			arguments->target.stacks = true;
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
	return arguments->before ? diff(arguments, argc, argv) :
				   check_target(arguments, argc, argv);
}

/* ---- output ---- */

static void print_program(const struct arguments *arguments, const struct trace *trace)
{
	const struct script *script =
		script_of(trace->name, trace->conclusions.sequences, arguments->program - 1);

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
		trace_show(trace, arguments->top);
}

/* Returns the exit status. */
static int write_report(const struct arguments *arguments, const struct trace *trace)
{
	struct kept_output kept;

	if (arguments->output)
		keep_output(&kept);
	else if (trace->number > 1 && !arguments->json)
		putchar('\n');
	print(arguments, trace);
	return arguments->output && write_kept(&kept, arguments->output) ? EXIT_USAGE : EXIT_OK;
}

/* The last report says that the file cannot be written, if that is so. */
static void write_interim(void *context, const struct trace *trace)
{
	const struct arguments *arguments = context;

	if (!arguments->program)
		write_report(arguments, trace);
}

static bool has_program(const struct arguments *arguments, const struct trace *trace)
{
	const size_t count = trace->conclusions.sequences->count;

	if (arguments->program <= count)
		return true;
	complain("trace: there is no sequence %zu: %s makes %zu", arguments->program, trace->name,
		 count);
	return false;
}

static int run(int argc, char *argv[])
{
	struct arguments arguments = { .threshold = 10 };
	const struct printer printer = { write_interim, &arguments };
	struct trace *trace;
	int status;

	status = parse(&arguments, argc, argv);
	if (status >= 0)
		return status;
	if (arguments.output && check_writable(arguments.output))
		return EXIT_USAGE;
	trace = keep(1, sizeof(*trace));
	if (trace_run(&arguments.target, arguments.twice && !arguments.program, &printer, trace) ||
	    !has_program(&arguments, trace))
		return EXIT_FOUND;
	return write_report(&arguments, trace);
}

const struct command trace_command = {
	.name = "trace",
	.summary = "find calls that a program could save, and state the gain",
	.help = "Usage: ferry trace [OPTION...] COMMAND [ARGUMENT...]\n"
		"       ferry trace [OPTION...] --pid PID\n"
		"       ferry trace [OPTION...] --cgroup PATH\n"
		"       ferry trace [--threshold N] --diff BEFORE AFTER\n"
		"Runs COMMAND, or attaches to a running process, with all its threads and\n"
		"children, and prints findings about calls that it could save: each with its "
		"count,\n"
		"its cost, the cure and the saving.  If BPF is permitted, it counts the calls;\n"
		"otherwise ptrace stops the program in each call, and --twice runs COMMAND again\n"
		"for the times.  Ctrl-C ends the tracing and prints the report.\n\n"
		"  -p, --pid PID      the process to attach to; may be given several times\n"
		"  -g, --cgroup PATH  the cgroup to trace: all its processes, and those to come\n"
		"  -i, --interval N   print a report every N seconds, on the time since the last;\n"
		"                     SIGUSR1 asks for one at once; with 0, only that\n"
		"  -d, --duration N   end the tracing after N seconds; the program goes on\n"
		"  -m, --method NAME  auto, bpf or ptrace\n"
		"  -2, --twice        with ptrace, run COMMAND again untraced, for the times\n"
		"  -o, --output FILE  write the report to FILE\n"
		"  -j, --json         print JSON\n"
		"  -s, --stacks       find out where each finding's calls are made\n"
		"  -t, --top N        print the N most frequent calls instead of all\n"
		"  -D, --diff BEFORE  compare two reports of --json: BEFORE and AFTER\n"
		"  -T, --threshold N  ignore changes of up to N %; by default 10\n"
		"  -n, --program N    print sequence N as a batch for 'ferry run'\n"
		"  -c, --c            print it as C for libferry\n"
		"  -h, --help         print this help\n\n"
		"The output of COMMAND goes to standard error, unless --output is given.\n"
		"Exit status: 0, 1 if the program could not be traced or AFTER has more of\n"
		"something than BEFORE, 2 for bad options.\n"
		"Example: ferry trace du -s /usr\n",
	.run = run,
};
