// SPDX-License-Identifier: MIT
/* Programs as C: numbers and addresses by name. */
#include <inttypes.h>

#include "program.h"
#include "world.h"

/* Prints VALUE, as a position in an area if it is one. */
static void print_argument(unsigned long value, FILE *out)
{
	static const struct {
		unsigned long start;
		unsigned long size;
		const char *name;
	} areas[] = {
		{ SLOTS_AT, MAX_SLOTS * sizeof(struct batch_slot), "SLOTS_AT" },
		{ RETS_AT, 2 * PAGE, "RETS_AT" },
		{ BUFFERS_AT, BUFFERS_SIZE, "BUFFERS_AT" },
		{ STAT_AT, PAGE, "STAT_AT" },
		{ POOL_AT, POOL_SIZE, "POOL_AT" },
		{ WINDOW_AT, WINDOW_PAGES * PAGE, "WINDOW_AT" },
	};
	size_t i;

	for (i = 0; i < sizeof(areas) / sizeof(areas[0]); i++) {
		if (value < areas[i].start || value > areas[i].start + areas[i].size)
			continue;
		fprintf(out, "%s + %lu", areas[i].name, value - areas[i].start);
		return;
	}
	fprintf(out, value + 65536 < 131072 ? "%ld" : "%#lx", value);
}

static void print_arguments(const struct batch_slot *slot, FILE *out)
{
	int last = BATCH_MAX_ARGS - 1;
	int k;

	while (last >= 0 && !slot->arg[last])
		last--;
	if (last < 0)
		return;
	fputs(", .arg = { ", out);
	for (k = 0; k <= last; k++) {
		print_argument((unsigned long)slot->arg[k], out);
		fputs(k < last ? ", " : " }", out);
	}
}

static void print_operands(const struct batch_slot *slot, FILE *out)
{
	int any = 0;
	int k;

	for (k = 0; k < BATCH_MAX_ARGS; k++)
		any |= slot->from[k];
	if (slot->argc & BATCH_ARGC_FORWARD)
		fprintf(out, ", .argc = BATCH_ARGC_FORWARD | %u", slot->argc & 0x7f);
	else if (slot->argc)
		fprintf(out, ", .argc = %u", slot->argc);
	if (any) {
		fputs(", .from = { ", out);
		for (k = 0; k < BATCH_MAX_ARGS; k++)
			fprintf(out, "%u%s", slot->from[k], k < BATCH_MAX_ARGS - 1 ? ", " : " }");
	}
	if (slot->reserved)
		fprintf(out, ", .reserved = %u", slot->reserved);
}

static void print_slot(unsigned long i, const struct batch_slot *slot, FILE *out)
{
	const char *name = call_name(slot->nr);

	fprintf(out, "\t/* %3lu */ { ", i);
	if (name)
		fprintf(out, ".nr = %s", name);
	else
		fprintf(out, ".nr = %d", slot->nr);
	if (slot->jump_fail)
		fprintf(out, ", .jump_fail = %d", slot->jump_fail);
	if (slot->jump_zero)
		fprintf(out, ", .jump_zero = %d", slot->jump_zero);
	if (slot->jump_pos)
		fprintf(out, ", .jump_pos = %d", slot->jump_pos);
	print_operands(slot, out);
	print_arguments(slot, out);
	fputs(" },\n", out);
}

void program_print(const struct program *program, FILE *out)
{
	unsigned long i;

	fprintf(out,
		"/* ncall = %lu; see tests/lib/differential/world.h for addresses and descriptors "
		"*/\n",
		program->ncall);
	fprintf(out, "struct batch_slot calls[%lu] = {\n", program->count);
	for (i = 0; i < program->count; i++)
		print_slot(i, &program->slots[i], out);
	fputs("};\n", out);
}
