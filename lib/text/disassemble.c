// SPDX-License-Identifier: MIT
/* From an image to a text that assembles to the same image. */
#include <errno.h>
#include <string.h>

#include "image.h"
#include "names.h"
#include "output.h"

#define INDENT 8	 /* columns kept for a label */
#define LITERAL_BYTES 48 /* of a string in one literal */
#define WORDS_PER_LINE 4
#define DECIMAL_MAX 0xfffffL /* larger numbers are written in base 16 */

/* ---- operands ---- */

static void write_number(struct output *out, long number)
{
	if (number <= DECIMAL_MAX && number >= -DECIMAL_MAX)
		output_format(out, "%ld", number);
	else
		output_format(out, "%#lx", (unsigned long)number);
}

static void write_offset(struct output *out, long offset)
{
	if (offset)
		output_format(out, "%+ld", offset);
}

static void write_slot_name(struct output *out, const struct image *image, size_t slot)
{
	const char *label = image_slot_label(image, slot);

	if (label)
		output_text(out, label);
	else
		output_format(out, "%zu", slot);
}

/* The address of the ADDEND-th byte of the results, as that of a result if it is in one. */
static void write_result_address(struct output *out, const struct image *image, uint64_t addend)
{
	uint64_t slot = addend / sizeof(long);

	if (slot >= image->slot_count)
		slot = 0;
	output_text(out, "&");
	write_slot_name(out, image, slot);
	write_offset(out, (long)(addend - slot * sizeof(long)));
}

/* Likewise for the slots: the address of an argument if it is in one. */
static void write_argument_address(struct output *out, const struct image *image, uint64_t addend)
{
	const size_t first = offsetof(struct ferry_slot, arg);
	uint64_t slot = addend / sizeof(struct ferry_slot);
	uint64_t inside = addend % sizeof(struct ferry_slot);
	uint64_t argument = 0;

	if (slot >= image->slot_count)
		slot = 0;
	else if (inside >= first)
		argument = (inside - first) / sizeof(long);
	output_text(out, "&");
	write_slot_name(out, image, slot);
	output_format(out, ".arg%d", (int)argument);
	write_offset(out, (long)(addend - slot * sizeof(struct ferry_slot) - first -
				 argument * sizeof(long)));
}

static void write_word(struct output *out, const struct image *image, struct word_place place)
{
	const struct relocation *relocation = image_relocation(image, place);
	uint64_t word;

	memcpy(&word, image_word(image, place), sizeof(word));
	if (!relocation) {
		write_number(out, (long)word);
	} else if (relocation->base == BASE_DATA) {
		output_text(out, image->data[relocation->object].name);
		write_offset(out, (long)word);
	} else if (relocation->base == BASE_RESULTS) {
		write_result_address(out, image, word);
	} else {
		write_argument_address(out, image, word);
	}
}

/* ---- data ---- */

static void write_byte(struct output *out, unsigned char byte, unsigned char next)
{
	if (byte == '"' || byte == '\\')
		output_format(out, "\\%c", byte);
	else if (byte >= ' ' && byte <= '~')
		output_bytes(out, &byte, 1);
	else if (byte == '\n')
		output_text(out, "\\n");
	else if (byte == '\t')
		output_text(out, "\\t");
	else if (!byte && (next < '0' || next > '7'))
		output_text(out, "\\0");
	else
		output_format(out, "\\x%02x", byte);
}

static void write_bytes(struct output *out, const struct data *data)
{
	const unsigned char *bytes = data->contents;
	size_t length = data_stored_size(data);
	size_t i;

	output_text(out, " \"");
	for (i = 0; i < length; i++) {
		if (i && i % LITERAL_BYTES == 0)
			output_text(out, "\",\n\t\"");
		write_byte(out, bytes[i], i + 1 < length ? bytes[i + 1] : 0);
	}
	output_text(out, "\"");
}

static void write_words(struct output *out, const struct image *image, uint32_t index)
{
	size_t count = image->data[index].size / sizeof(uint64_t);
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (i)
			output_text(out, i % WORDS_PER_LINE ? "," : ",\n\t");
		if (i % WORDS_PER_LINE || !i)
			output_text(out, " ");
		write_word(out, image, (struct word_place){ HOLDER_DATA, index, i });
	}
}

static void write_data(struct output *out, const struct image *image, uint32_t index)
{
	const struct data *data = &image->data[index];

	output_format(out, "%-*s", INDENT, data_kind_name(data->kind));
	output_text(out, data->name);
	if (data->kind == DATA_BUFFER)
		output_format(out, " %lu", (unsigned long)data->size);
	else if (data->kind == DATA_WORDS)
		write_words(out, image, index);
	else
		write_bytes(out, data);
	output_text(out, "\n");
}

/* ---- slots ---- */

static void write_target(struct output *out, const struct image *image, size_t slot, short jump)
{
	const char *label = jump < 0 ? NULL : image_slot_label(image, slot + 1 + (size_t)jump);

	if (jump == -1)
		output_text(out, LABEL_END);
	else if (label)
		output_text(out, label);
	else
		output_format(out, "%+d", jump);
}

static void write_jumps(struct output *out, const struct image *image, size_t index)
{
	const struct ferry_slot *slot = &image->slots[index];
	const struct {
		const char *name;
		short jump;
	} jumps[] = {
		{ "fail", slot->jump_fail },
		{ "zero", slot->jump_zero },
		{ "pos", slot->jump_pos },
	};
	const char *before = "  ";
	size_t i;

	if (slot->jump_fail && slot->jump_fail == slot->jump_zero &&
	    slot->jump_fail == slot->jump_pos) {
		output_text(out, "  any -> ");
		write_target(out, image, index, slot->jump_fail);
		return;
	}
	for (i = 0; i < sizeof(jumps) / sizeof(*jumps); i++) {
		if (!jumps[i].jump)
			continue;
		output_format(out, "%s%s -> ", before, jumps[i].name);
		write_target(out, image, index, jumps[i].jump);
		before = ", ";
	}
}

static bool argument_is_empty(const struct image *image, size_t slot, uint32_t k)
{
	const struct word_place place = { HOLDER_SLOT, (uint32_t)slot, k };

	return !image->slots[slot].arg[k] && !image_relocation(image, place);
}

/* Whether a call's arguments say all of argc, from, reserved and arg. */
static bool is_plain(const struct image *image, size_t index)
{
	const struct ferry_slot *slot = &image->slots[index];
	unsigned int count = slot->argc & ~(unsigned int)FERRY_ARGC_FORWARD;
	bool forwards = false;
	uint32_t k;

	if (slot->reserved || count > FERRY_MAX_ARGS)
		return false;
	for (k = 0; k < FERRY_MAX_ARGS; k++) {
		if ((k >= count || slot->from[k]) && !argument_is_empty(image, index, k))
			return false;
		if (slot->from[k] && (k >= count || slot->from[k] > index))
			return false;
		forwards |= slot->from[k] != 0;
	}
	return forwards == !!(slot->argc & FERRY_ARGC_FORWARD);
}

static void write_arguments(struct output *out, const struct image *image, size_t index)
{
	const struct ferry_slot *slot = &image->slots[index];
	unsigned int count = slot->argc & ~(unsigned int)FERRY_ARGC_FORWARD;
	uint32_t k;

	output_text(out, "(");
	for (k = 0; k < count; k++) {
		output_text(out, k ? ", " : "");
		if (slot->from[k]) {
			output_text(out, "$");
			write_slot_name(out, image, index - slot->from[k]);
		} else {
			write_word(out, image,
				   (struct word_place){ HOLDER_SLOT, (uint32_t)index, k });
		}
	}
	output_text(out, ")");
}

static bool is_goto(const struct ferry_slot *slot)
{
	return slot->nr == NR_GOTO && !slot->argc && !slot->jump_zero && !slot->jump_pos;
}

static void write_call(struct output *out, const struct image *image, size_t index)
{
	const struct ferry_slot *slot = &image->slots[index];
	char name[CALL_NAME_SIZE];

	if (is_goto(slot)) {
		output_text(out, "goto ");
		write_target(out, image, index, slot->jump_fail);
		return;
	}
	if (slot->nr == FERRY_NR_WDCPY && (slot->argc & ~FERRY_ARGC_FORWARD) == 2)
		output_text(out, "copy");
	else if (system_call_name(slot->nr, name))
		output_text(out, name);
	else
		output_format(out, "call %d", slot->nr);
	write_arguments(out, image, index);
	write_jumps(out, image, index);
}

static void write_raw_number(struct output *out, const char *field, int number)
{
	if (number)
		output_format(out, " %s=%d", field, number);
}

static void write_raw_from(struct output *out, const struct ferry_slot *slot)
{
	int count = FERRY_MAX_ARGS;
	int k;

	while (count && !slot->from[count - 1])
		count--;
	for (k = 0; k < count; k++)
		output_format(out, "%s%d", k ? "," : " from=", slot->from[k]);
}

static void write_raw_arguments(struct output *out, const struct image *image, size_t index)
{
	uint32_t count = FERRY_MAX_ARGS;
	uint32_t k;

	while (count && argument_is_empty(image, index, count - 1))
		count--;
	for (k = 0; k < count; k++) {
		output_text(out, k ? "," : " args=");
		write_word(out, image, (struct word_place){ HOLDER_SLOT, (uint32_t)index, k });
	}
}

static void write_raw_slot(struct output *out, const struct image *image, size_t index)
{
	const struct ferry_slot *slot = &image->slots[index];
	char name[CALL_NAME_SIZE];

	if (system_call_name(slot->nr, name))
		output_format(out, "slot nr=%s", name);
	else
		output_format(out, "slot nr=%d", slot->nr);
	write_raw_number(out, "fail", slot->jump_fail);
	write_raw_number(out, "zero", slot->jump_zero);
	write_raw_number(out, "pos", slot->jump_pos);
	write_raw_number(out, "argc", slot->argc);
	write_raw_from(out, slot);
	write_raw_number(out, "reserved", slot->reserved);
	write_raw_arguments(out, image, index);
}

/* The labels of SLOT from number *NEXT on; the last one begins the slot's line if it is short. */
static void write_labels(struct output *out, const struct image *image, size_t slot, size_t *next)
{
	const struct label *label = &image->labels[*next];
	const struct label *end = image->labels + image->label_count;

	for (; label < end && label->slot == slot; label++, ++*next) {
		bool is_last = label + 1 == end || label[1].slot != slot;
		int length = (int)strlen(label->name) + 1;

		output_text(out, label->name);
		output_text(out, ":");
		if (is_last && slot < image->slot_count && length < INDENT)
			output_format(out, "%*s", INDENT - length, "");
		else
			output_text(out, is_last && slot < image->slot_count ? "\n\t" : "\n");
	}
}

static void write_slots(struct output *out, const struct image *image)
{
	size_t next = 0;
	size_t i;

	for (i = 0; i < image->slot_count; i++) {
		if (next < image->label_count && image->labels[next].slot == i)
			write_labels(out, image, i, &next);
		else
			output_text(out, "\t");
		if (is_plain(image, i))
			write_call(out, image, i);
		else
			write_raw_slot(out, image, i);
		output_text(out, "\n");
	}
	if (next < image->label_count)
		write_labels(out, image, i, &next);
}

int image_disassemble(const struct image *image, char **text, size_t *length)
{
	struct output out = { 0 };
	uint32_t i;

	for (i = 0; i < image->data_count; i++)
		write_data(&out, image, i);
	if (image->data_count && image->slot_count)
		output_text(&out, "\n");
	write_slots(&out, image);
	return output_finish(&out, text, length);
}
