// SPDX-License-Identifier: MIT
/* ferry run: runs a program and prints what became of each slot. */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "program_file.h"
#include "report.h"

/* Left in the results of slots that did not run; no call returns it. */
#define NOT_RUN (LONG_MIN + 0xfe22)

#define UNSET (-1)

static const struct option options[] = {
	{ "engine", required_argument, NULL, 'e' },
	{ "json", no_argument, NULL, 'j' },
	{ "data", no_argument, NULL, 'd' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct arguments {
	int engine; /* an enum ferry_engine, or UNSET until one is chosen */
	bool json;
	bool data;
	const char *path;
};

/* The label that stands right before SLOT, or NULL. */
static const char *label_or(const struct loaded *loaded, unsigned long slot, const char *none)
{
	const char *label = image_slot_label(loaded->image, slot);

	return label ? label : none;
}

static int label_width(const struct loaded *loaded)
{
	int width = sizeof("LABEL") - 1;
	unsigned long i;

	for (i = 0; i < loaded->ncall; i++) {
		int length = (int)strlen(label_or(loaded, i, ""));

		width = length > width ? length : width;
	}
	return width;
}

static void print_result(long result)
{
	const char *name = errno_name(result);

	if (result == NOT_RUN)
		printf("not run\n");
	else if (name)
		printf("%ld %s: %s\n", result, name, strerror((int)-result));
	else
		printf("%ld\n", result);
}

static void print_table(const struct loaded *loaded)
{
	int width = label_width(loaded);
	char name[CALL_NAME_SIZE];
	unsigned long i;

	printf("%4s  %-*s  %-16s  %s\n", "SLOT", width, "LABEL", "CALL", "RESULT");
	for (i = 0; i < loaded->ncall; i++) {
		printf("%4lu  %-*s  %-16s  ", i, width, label_or(loaded, i, ""),
		       call_name(image_slot(loaded->image, i)->nr, name));
		print_result(loaded->rets[i]);
	}
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
			printf(" and %zu zero bytes", view.size - size);
		putchar('\n');
	}
}

static json_t *slot_as_json(const struct loaded *loaded, unsigned long i)
{
	const char *label = image_slot_label(loaded->image, i);
	bool ran = loaded->rets[i] != NOT_RUN;
	char name[CALL_NAME_SIZE];

	return json_pack("{s:I, s:s?, s:s, s:b, s:o, s:s?}", "slot", (json_int_t)i, "label", label,
			 "call", call_name(image_slot(loaded->image, i)->nr, name), "ran", ran,
			 "result", ran ? json_integer(loaded->rets[i]) : json_null(), "errno",
			 ran ? errno_name(loaded->rets[i]) : NULL);
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
	report = json_pack("{s:i, s:s, s:I, s:s?, s:o}", "version", 1, "engine", engine, "returned",
			   (json_int_t)returned, "errno", errno_name(returned), "slots", slots);
	if (report && arguments->data)
		json_object_set_new(report, "data", data_as_json(loaded));
	print_json(report);
}

static void print_for_people(const struct arguments *arguments, const struct loaded *loaded,
			     const char *engine, long returned)
{
	print_table(loaded);
	if (arguments->data)
		print_data(loaded);
	if (returned < 0)
		printf("nothing ran: ");
	else if (loaded->ncall)
		printf("last slot to run: ");
	else
		printf("an empty batch: ");
	print_result(returned);
	printf("engine: %s\n", engine);
}

/* Runs the loaded program, after what is printed so far: it may write to the same file. */
static long run_loaded(const struct arguments *arguments, struct loaded *loaded)
{
	unsigned long i;

	for (i = 0; i < loaded->ncall; i++)
		loaded->rets[i] = NOT_RUN;
	fflush(stdout);
	return ferry_batch_on(arguments->engine, loaded->rets, loaded->slots, loaded->ncall, 0,
			      sizeof(struct ferry_slot));
}

static const char *engine_used(const struct arguments *arguments, const struct loaded *loaded)
{
	if (arguments->engine != FERRY_AUTO)
		return ferry_engine_name(arguments->engine);
	return ferry_engine_name(ferry_engine_for(loaded->slots, loaded->ncall, NULL));
}

/* Returns -1 to go on, or the exit status. */
static int parse(int argc, char *argv[], struct arguments *arguments)
{
	int option;

	while ((option = getopt_long(argc, argv, "e:jdh", options, NULL)) != -1) {
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
		case 'h':
			fputs(run_command.help, stdout);
			return EXIT_OK;
		default:
			return EXIT_USAGE;
		}
	}
	if (argc - optind > 1)
		return too_many_arguments(&run_command, argv[optind + 1]);
	arguments->path = optind < argc ? argv[optind] : "-";
	return -1;
}

static int check_engine(enum ferry_engine engine)
{
	const char *why;
	int error = ferry_engine_probe(engine, &why);

	if (error)
		complain("run: the engine %s is not to be had: %s", ferry_engine_name(engine), why);
	return error;
}

static int engine_from_environment(void)
{
	int engine = ferry_engine_in_use();

	if (engine < 0)
		complain("FERRY_ENGINE names no engine that is here; 'ferry probe' lists them");
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
	image = load_program(arguments.path, &loaded);
	if (!image)
		return EXIT_USAGE;
	engine = engine_used(&arguments, &loaded);
	returned = run_loaded(&arguments, &loaded);
	if (arguments.json)
		print_as_json(&arguments, &loaded, engine, returned);
	else
		print_for_people(&arguments, &loaded, engine, returned);
	image_unload(&loaded);
	image_free(image);
	return returned < 0 ? EXIT_FOUND : EXIT_OK;
}

const struct command run_command = {
	.name = "run",
	.summary = "run a program and print each slot's result",
	.help = "Usage: ferry run [--engine ENGINE] [--data] [--json] [FILE]\n"
		"Runs the batch program in FILE (text or object, or standard input) and prints\n"
		"each slot's result, with the name of the error where it failed.\n\n"
		"  -e, --engine ENGINE  auto (the default), loop, uring, device or syscall\n"
		"  -d, --data           print the program's data afterwards\n"
		"  -j, --json           the same as JSON\n"
		"  -h, --help           this text\n\n"
		"Without --engine, FERRY_ENGINE chooses; BATCH_EMUL means the loop.\n"
		"Exit status: 0 when the batch ran, whatever its slots returned; 1 when it could\n"
		"not start; 2 for bad input.\n"
		"Example: ferry run --engine loop cat.ferry\n",
	.run = run,
};
