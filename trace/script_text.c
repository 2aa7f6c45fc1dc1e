// SPDX-License-Identifier: MIT
/* A script in the language of ferry-asm(5). */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>

#include "script.h"

/* Octal escapes with three digits end by themselves, in both languages. */
void script_print_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else if (isascii(*text) && isprint(*text) && *text != '?')
			putchar(*text);
		else
			printf("\\%03o", (unsigned char)*text);
	}
	putchar('"');
}

static void print_data(const struct script *script)
{
	size_t i;

	for (i = 0; i < script->data_count; i++) {
		if (script->data[i].text) {
			printf("string d%zu ", i);
			script_print_string(script->data[i].text);
			putchar('\n');
		} else {
			printf("buffer d%zu %zu\n", i, script->data[i].size);
		}
	}
}

static void print_operand(const struct operand *operand)
{
	if (operand->type == OPERAND_FORWARD)
		printf("$s%ld", operand->number);
	else if (operand->type == OPERAND_DATA && operand->offset)
		printf("d%ld+%ld", operand->number, operand->offset);
	else if (operand->type == OPERAND_DATA)
		printf("d%ld", operand->number);
	else if (operand->number == AT_FDCWD)
		printf("AT_FDCWD");
	else
		printf("%ld", operand->number);
}

static void print_slot(const struct script_slot *slot, size_t index)
{
	int k;

	if (slot->left_out) {
		printf("# %s is left out: %s\n", slot->name, slot->left_out);
		return;
	}
	printf("s%zu: %s(", index, slot->name);
	for (k = 0; k < slot->argc; k++) {
		printf("%s", k ? ", " : "");
		print_operand(&slot->args[k]);
	}
	printf(")%s\n", slot->ends_if_failed ? "  fail -> end" : "");
}

void script_print_text(const struct script *script)
{
	size_t i;

	printf("# One turn of sequence %zu of ", script->sequence);
	script_print_string(script->program);
	printf(".  Descriptors from before it are opened\n# first, to read only; buffers are "
	       "zeroes "
	       "at first.\n");
	print_data(script);
	putchar('\n');
	for (i = 0; i < script->slot_count; i++)
		print_slot(&script->slots[i], i);
}
