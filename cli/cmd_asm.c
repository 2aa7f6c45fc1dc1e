// SPDX-License-Identifier: MIT
/* ferry asm and ferry dis: between the text and the object form. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "program_file.h"
#include "report.h"

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct arguments {
	const char *input;
	const char *output;
};

/* Returns -1 to go on, or the exit status. */
static int parse(const struct command *command, int argc, char *argv[], struct arguments *arguments)
{
	int option;

	while ((option = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		switch (option) {
		case 'o':
			arguments->output = optarg;
			break;
		case 'h':
			fputs(command->help, stdout);
			return EXIT_OK;
		default:
			return EXIT_USAGE;
		}
	}
	if (argc - optind > 1)
		return too_many_arguments(command, argv[optind + 1]);
	arguments->input = optind < argc ? argv[optind] : "-";
	return -1;
}

static int run_asm(int argc, char *argv[])
{
	struct arguments arguments = { 0 };
	int status = parse(&asm_command, argc, argv, &arguments);
	struct image *image;
	size_t length;
	void *bytes;

	if (status >= 0)
		return status;
	if (!arguments.output && isatty(STDOUT_FILENO)) {
		complain("asm: an object is no text for a terminal; name a file with -o");
		return EXIT_USAGE;
	}
	image = read_program(arguments.input);
	if (!image)
		return EXIT_USAGE;
	if (image_encode(image, &bytes, &length)) {
		complain("asm: out of memory");
		image_free(image);
		return EXIT_USAGE;
	}
	status = write_file(arguments.output, bytes, length) ? EXIT_USAGE : EXIT_OK;
	free(bytes);
	image_free(image);
	return status;
}

static int run_dis(int argc, char *argv[])
{
	struct arguments arguments = { 0 };
	int status = parse(&dis_command, argc, argv, &arguments);
	struct image *image;
	size_t length;
	char *text;

	if (status >= 0)
		return status;
	image = read_program(arguments.input);
	if (!image)
		return EXIT_USAGE;
	if (image_disassemble(image, &text, &length)) {
		complain("dis: out of memory");
		image_free(image);
		return EXIT_USAGE;
	}
	status = write_file(arguments.output, text, length) ? EXIT_USAGE : EXIT_OK;
	free(text);
	image_free(image);
	return status;
}

const struct command asm_command = {
	.name = "asm",
	.summary = "turn a program's text into an object",
	.help = "Usage: ferry asm [-o OBJECT] [FILE]\n"
		"Assembles the batch program in FILE (or standard input) into an object.\n\n"
		"  -o, --output FILE  write the object there, at once or not at all\n"
		"  -h, --help         this text\n\n"
		"Example: ferry asm cat.ferry -o cat.fo && ferry run cat.fo\n"
		"The language: ferry-asm(5).\n",
	.run = run_asm,
};

const struct command dis_command = {
	.name = "dis",
	.summary = "turn an object back into text",
	.help = "Usage: ferry dis [-o TEXT] [FILE]\n"
		"Writes the batch program in FILE (or standard input), object or text, as text\n"
		"that assembles to the same object.\n\n"
		"  -o, --output FILE  write the text there, at once or not at all\n"
		"  -h, --help         this text\n\n"
		"Example: ferry dis cat.fo\n",
	.run = run_dis,
};
