// SPDX-License-Identifier: MIT
/* ferry run: runs a program and prints the result of each slot. */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "common/file.h"
#include "common/memory.h"
#include "common/messages.h"
#include "common/output.h"
#include "common/show.h"
#include "program_file.h"

/* Left in the results of slots that did not run; no call returns it. */
#define NOT_RUN (LONG_MIN + 0xfe22)

#define UNSET (-1)

static const struct option options[] = {
	{ "engine", required_argument, NULL, 'e' }, { "json", no_argument, NULL, 'j' },
	{ "data", no_argument, NULL, 'd' },	    { "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },	    { 0 },
};

struct arguments {
	int engine; /* an enum ferry_engine, or UNSET until one is chosen */
	bool json;
	bool data;
	const char *path;
	const char *output; /* NULL: standard output */
};

/* All labels of SLOT with commas between them, cut where TEXT ends. */
static void labels_as_text(const struct loaded *loaded, unsigned long slot, char *text, size_t room)
{
	const char *label;
	unsigned long n;
	size_t used = 0;

	*text = '\0';
	for (n = 0; (label = image_slot_label(loaded->image, slot, n)) && used < room; n++)
		used += (size_t)snprintf(text + used, room - used, "%s%s", n ? ", " : "", label);
}

/* "-2 ENOENT: No such file or directory". */
static void result_as_text(long result, char *text, size_t room)
{
	const char *name = errno_name(result);

	if (name)
		snprintf(text, room, "%ld %s: %s", result, name, strerror((int)-result));
	else
		snprintf(text, room, "%ld", result);
}

/* Where a goto in SLOT leads: its failure is how it jumps, and no error. */
static void jump_as_text(const struct loaded *loaded, unsigned long slot, char *text, size_t room)
{
	const short jump = loaded->slots[slot].jump_fail;
	const unsigned long target = slot + 1 + (unsigned long)jump;
	const char *label;

	if (jump < 0 || target >= loaded->ncall) {
		snprintf(text, room, "jumped to the end");
		return;
	}
	label = image_slot_label(loaded->image, target, 0);
	if (label)
		snprintf(text, room, "jumped to %s", label);
	else
		snprintf(text, room, "jumped to slot %lu", target);
}

static void outcome_as_text(const struct loaded *loaded, unsigned long slot, char *text,
			    size_t room)
{
	if (loaded->rets[slot] == NOT_RUN)
		snprintf(text, room, "not run");
	else if (image_slot_is_goto(loaded->image, slot))
		jump_as_text(loaded, slot, text, room);
	else
		result_as_text(loaded->rets[slot], text, room);
}

struct slot_row {
	const char *missing;
	long slot;
	const char *labels, *call, *result;
};

static void print_slots(const struct loaded *loaded)
{
	static const struct column columns[] = {
		{ "SLOT", F_COUNT, offsetof(struct slot_row, slot), 0 },
		{ "LABEL", F_TEXT, offsetof(struct slot_row, labels), 0 },
		{ "CALL", F_TEXT, offsetof(struct slot_row, call), 0 },
		{ "RESULT", F_TEXT, offsetof(struct slot_row, result), 0 },
	};
	struct slot_row *rows = allocate(loaded->ncall, sizeof(*rows));
	const struct records records = { NULL, NULL, 0, rows, loaded->ncall, sizeof(*rows) };
	char labels[1024], name[CALL_NAME_SIZE], outcome[512];
	unsigned long i;

	for (i = 0; i < loaded->ncall; i++) {
		labels_as_text(loaded, i, labels, sizeof(labels));
		outcome_as_text(loaded, i, outcome, sizeof(outcome));
		rows[i] = (struct slot_row){
			.slot = (long)i,
			.labels = keep_text("%s", labels),
			.call = keep_text("%s", call_name(image_slot(loaded->image, i)->nr, name)),
			.result = keep_text("%s", outcome),
		};
	}
	show_records(columns, COUNT_OF(columns), &records);
	free(rows);
}

/* As C would write it, so that any bytes can be read and told apart. */
static void print_bytes(const unsigned char *bytes, size_t size)
{
	size_t i;

	putchar('"');
	for (i = 0; i < size; i++) {
		if (bytes[i] == '"' || bytes[i] == '\\')
			printf("\\%c", bytes[i]);
		else if (bytes[i] == '\n')
			printf("\\n");
		else if (bytes[i] >= ' ' && bytes[i] < 0x7f)
			putchar(bytes[i]);
		else
			printf("\\x%02x", bytes[i]);
	}
	putchar('"');
}

static size_t size_without_zeroes(const unsigned char *bytes, size_t size)
{
	while (size && !bytes[size - 1])
		size--;
	return size;
}

static void print_words(const long words[], size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		printf("%s%ld", i ? ", " : "", words[i]);
}

static void print_data(const struct loaded *loaded)
{
	unsigned long i;

	for (i = 0; i < image_data_count(loaded->image); i++) {
		struct data_view view = image_data(loaded->image, i);
		size_t size = size_without_zeroes(loaded->data[i], view.size);

		printf("%s: ", view.name);
		if (view.kind == DATA_WORDS)
			print_words(loaded->data[i], view.size / sizeof(long));
		else
			print_bytes(loaded->data[i], size);
		if (view.kind != DATA_WORDS && size < view.size)
			printf(" and %zu zero byte%s", view.size - size,
			       view.size - size == 1 ? "" : "s");
		putchar('\n');
	}
}

static json_t *labels_as_json(const struct loaded *loaded, unsigned long slot)
{
	json_t *list = json_array();
	const char *label;
	unsigned long n;

	for (n = 0; (label = image_slot_label(loaded->image, slot, n)); n++)
		json_array_append_new(list, json_string(label));
	return list;
}

static json_t *slot_as_json(const struct loaded *loaded, unsigned long i)
{
	bool ran = loaded->rets[i] != NOT_RUN;
	bool has_result = ran && !image_slot_is_goto(loaded->image, i);
	char name[CALL_NAME_SIZE];

	return json_pack("{s:I, s:o, s:s, s:b, s:o, s:s?}", "slot", (json_int_t)i, "labels",
			 labels_as_json(loaded, i), "call",
			 call_name(image_slot(loaded->image, i)->nr, name), "ran", ran, "result",
			 has_result ? json_integer(loaded->rets[i]) : json_null(), "errno",
			 has_result ? errno_name(loaded->rets[i]) : NULL);
}

static json_t *data_as_json(const struct loaded *loaded)
{
	json_t *object = json_object();
	unsigned long i;
	size_t k;

	for (i = 0; i < image_data_count(loaded->image); i++) {
		struct data_view view = image_data(loaded->image, i);
		const unsigned char *bytes = loaded->data[i];
		json_t *list = json_array();

		for (k = 0; k < view.size; k++)
			json_array_append_new(list, json_integer(bytes[k]));
		json_object_set_new(object, view.name, list);
	}
	return object;
}

static void print_as_json(const struct arguments *arguments, const struct loaded *loaded,
			  const char *engine, long returned)
{
	json_t *slots = json_array();
	json_t *report;
	unsigned long i;

	for (i = 0; i < loaded->ncall; i++)
		json_array_append_new(slots, slot_as_json(loaded, i));
	report = json_pack("{s:i, s:s, s:I, s:s?, s:o}", "version", 2, "engine", engine, "returned",
			   (json_int_t)returned, "errno", errno_name(returned), "slots", slots);
	if (report && arguments->data)
		json_object_set_new(report, "data", data_as_json(loaded));
	print_json(report);
}

static void print_as_text(const struct arguments *arguments, const struct loaded *loaded,
			  const char *engine, long returned)
{
	char result[512];

	if (loaded->ncall)
		print_slots(loaded);
	if (arguments->data)
		print_data(loaded);
	result_as_text(returned, result, sizeof(result));
	if (returned < 0)
		printf("nothing ran: %s\n", result);
	else if (loaded->ncall)
		printf("last slot to run: %s\n", result);
	else
		printf("the program is empty\n");
	printf("engine: %s\n", engine);
}

/* The kernel writes what lies beyond a buffer, too, which may end this process. */
static void warn_of_arguments(const char *path, const struct loaded *loaded)
{
	struct slot_warnings warnings;
	unsigned long slot;
	size_t i;

	for (slot = 0; slot < loaded->ncall; slot++) {
		image_check_slot(loaded->image, slot, &warnings);
		for (i = 0; i < warnings.count; i++)
			complain("%s:%u: warning: %s", display_name(path),
				 image_slot_line(loaded->image, slot), warnings.reason[i]);
	}
}

/* Flushes first: the program may write to standard output itself. */
static long run_loaded(const struct arguments *arguments, struct loaded *loaded)
{
	unsigned long i;

	for (i = 0; i < loaded->ncall; i++)
		loaded->rets[i] = NOT_RUN;
	fflush(stdout);
	return ferry_batch_on(arguments->engine, loaded->rets, loaded->slots, loaded->ncall, 0,
			      sizeof(struct batch_slot));
}

static const char *engine_used(const struct arguments *arguments)
{
	if (arguments->engine != FERRY_AUTO)
		return ferry_engine_name(arguments->engine);
	return ferry_engine_name(ferry_engine_auto(NULL));
}

/* Returns -1 to go on, or the exit status. */
static int parse(int argc, char *argv[], struct arguments *arguments)
{
	int option;

	while ((option = getopt_long(argc, argv, "e:jdo:h", options, NULL)) != -1) {
		switch (option) {
		case 'e':
			arguments->engine = parse_engine(optarg);
			if (arguments->engine < 0)
				return EXIT_USAGE;
			break;
		case 'j':
			arguments->json = true;
			break;
		case 'd':
			arguments->data = true;
			break;
		case 'o':
			arguments->output = optarg;
			break;
		case 'h':
			fputs(run_command.help, stdout);
			return EXIT_OK;
		default:
			return EXIT_USAGE;
		}
	}
	if (argc - optind > 1)
		return too_many_arguments("run", argv[optind + 1]);
	arguments->path = optind < argc ? argv[optind] : "-";
	return -1;
}

static void print(const struct arguments *arguments, const struct loaded *loaded,
		  const char *engine, long returned)
{
	if (arguments->json)
		print_as_json(arguments, loaded, engine, returned);
	else
		print_as_text(arguments, loaded, engine, returned);
}

static int print_to(const struct arguments *arguments, const struct loaded *loaded,
		    const char *engine, long returned)
{
	struct kept_output kept;

	if (!arguments->output) {
		print(arguments, loaded, engine, returned);
		return EXIT_OK;
	}
	keep_output(&kept);
	print(arguments, loaded, engine, returned);
	return write_kept(&kept, arguments->output) ? EXIT_USAGE : EXIT_OK;
}

static int check_engine(enum ferry_engine engine)
{
	const char *why;
	int error = ferry_engine_probe(engine, &why);

	if (error)
		complain("run: the engine %s is not available: %s", ferry_engine_name(engine), why);
	return error;
}

static int engine_from_environment(void)
{
	int engine = ferry_engine_in_use();

	if (engine < 0)
		complain("FERRY_ENGINE does not name an engine that is available here; 'ferry "
			 "probe' lists them");
	return engine;
}

static int run(int argc, char *argv[])
{
	struct arguments arguments = { .engine = UNSET };
	struct loaded loaded;
	struct image *image;
	const char *engine;
	long returned;
	int status;

	status = parse(argc, argv, &arguments);
	if (status >= 0)
		return status;
	if (arguments.engine == UNSET)
		arguments.engine = engine_from_environment();
	if (arguments.engine < 0 || check_engine(arguments.engine))
		return EXIT_USAGE;
	if (arguments.output && check_writable(arguments.output))
		return EXIT_USAGE;
	image = load_program(arguments.path, &loaded);
	if (!image)
		return EXIT_USAGE;
	warn_of_arguments(arguments.path, &loaded);
	engine = engine_used(&arguments);
	returned = run_loaded(&arguments, &loaded);
	status = print_to(&arguments, &loaded, engine, returned);
	image_unload(&loaded);
	image_free(image);
	return !status && returned < 0 ? EXIT_FOUND : status;
}

const struct command run_command = {
	.name = "run",
	.summary = "run a program and print each slot's result",
	.help = "Usage: ferry run [--engine ENGINE] [--data] [--json] [--output FILE] [FILE]\n"
		"Runs the batch program in FILE, or standard input, and prints the result of each\n"
		"slot, with the name of the error if it failed.\n\n"
		"  -e, --engine ENGINE  the engine; by default auto\n"
		"  -d, --data           print the program's data afterwards\n"
		"  -j, --json           print JSON instead of a table\n"
		"  -o, --output FILE    write the table or the JSON to FILE, apart from the\n"
		"                       program's output\n"
		"  -h, --help           print this help\n\n"
		"Without --engine, FERRY_ENGINE chooses the engine; BATCH_EMUL selects the loop.\n"
		"Exit status: 0 if the batch ran, whatever its slots returned; 1 if it could not\n"
		"start; 2 for bad input, an engine that is not available, or a FILE that cannot "
		"be\n"
		"written.\n"
		"Example: ferry run --engine loop cat.ferry\n",
	.run = run,
};
