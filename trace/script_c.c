// SPDX-License-Identifier: MIT
/* A script as a C program for libferry. */
#include <fcntl.h>
#include <stdio.h>

#include "script.h"

static void print_data(const struct script *script)
{
	size_t i;

	for (i = 0; i < script->data_count; i++) {
		if (script->data[i].text) {
			printf("static const char d%zu[] = ", i);
			script_print_string(script->data[i].text);
			printf(";\n");
		} else {
			printf("static char d%zu[%zu];\n", i, script->data[i].size);
		}
	}
}

static void print_operand(const struct operand *operand)
{
	if (operand->type == OPERAND_DATA)
		printf("d%ld + %ld", operand->number, operand->offset);
	else if (operand->type == OPERAND_NUMBER && operand->number == AT_FDCWD)
		printf("AT_FDCWD");
	else if (operand->type == OPERAND_NUMBER)
		printf("%ldL", operand->number);
	else
		printf("0");
}

static void print_slot(const struct script_slot *slot, size_t index)
{
	int k;

	if (slot->left_out) {
		printf("\t/* %s is left out: %s */\n", slot->name, slot->left_out);
		return;
	}
	printf("\tint s%zu = ferry_call(program, SYS_%s", index, slot->name);
	for (k = 0; k < slot->argc; k++) {
		printf(", ");
		print_operand(&slot->args[k]);
	}
	printf(");\n");
	for (k = 0; k < slot->argc; k++)
		if (slot->args[k].type == OPERAND_FORWARD)
			printf("\tferry_forward(program, s%zu, %d, s%ld);\n", index, k,
			       slot->args[k].number);
	if (slot->ends_if_failed)
		printf("\tferry_jump_to(program, s%zu, FERRY_ON_FAIL, FERRY_END);\n", index);
}

static void print_results(const struct script *script)
{
	size_t i;

	for (i = 0; i < script->slot_count; i++)
		if (!script->slots[i].left_out)
			printf("\tprintf(\"%s: %%ld\\n\", rets[s%zu]);\n", script->slots[i].name,
			       i);
}

void script_print_c(const struct script *script)
{
	size_t i;

	printf("/* One turn of sequence %zu of a traced program.  Descriptors from before it are "
	       "opened "
	       "first, to\n * read only; buffers are zeroes at first.  Link with -lferry. */\n"
	       "#include <fcntl.h>\n#include <stdio.h>\n#include <sys/syscall.h>\n\n"
	       "#include <ferry.h>\n\n",
	       script->sequence);
	print_data(script);
	printf("\nint main(void)\n{\n\tstruct ferry_program *program = ferry_program_new();\n"
	       "\tlong rets[%d] = { 0 };\n\n\tif (!program)\n\t\treturn 1;\n",
	       SCRIPT_SLOTS);
	for (i = 0; i < script->slot_count; i++)
		print_slot(&script->slots[i], i);
	printf("\tif (ferry_run(program, rets) < 0)\n\t\treturn 1;\n");
	print_results(script);
	printf("\tferry_program_free(program);\n\treturn 0;\n}\n");
}
