// SPDX-License-Identifier: MIT
/* What each construct of the language assembles to. */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "support.h"

#define FORWARD BATCH_ARGC_FORWARD

static const struct {
	const char *text;
	struct batch_slot slot; /* the last one of the program */
} slots[] = {
	/* calls */
	{ "getpid()", { .nr = SYS_getpid } },
	{ "read(3, 4, 5)", { SYS_read, 0, 0, 0, 3, { 0 }, 0, { 3, 4, 5 } } },
	{ "mmap(1, 2, 3, 4, 5, 6)", { SYS_mmap, 0, 0, 0, 6, { 0 }, 0, { 1, 2, 3, 4, 5, 6 } } },
	{ "read(3,\n\n# comment\n4, 5)", { SYS_read, 0, 0, 0, 3, { 0 }, 0, { 3, 4, 5 } } },
	{ "call 999(1, 2)", { 999, 0, 0, 0, 2, { 0 }, 0, { 1, 2 } } },
	{ "call -7()", { .nr = -7 } },
	{ "call 0x10()", { .nr = 16 } },
	{ "copy(8, 16)", { -2, 0, 0, 0, 2, { 0 }, 0, { 8, 16 } } },
	{ "goto end", { .nr = -1, .jump_fail = -1 } },
	/* jumps */
	{ "sync() fail -> end", { SYS_sync, -1, 0, 0 } },
	{ "sync() zero -> end", { SYS_sync, 0, -1, 0 } },
	{ "sync() pos -> end", { SYS_sync, 0, 0, -1 } },
	{ "sync() any -> end", { SYS_sync, -1, -1, -1 } },
	{ "sync() pos -> +1, fail -> +2,\n zero -> -3", { SYS_sync, 2, -3, 1 } },
	{ "sync() any -> +32767", { SYS_sync, 32767, 32767, 32767 } },
	{ "sync() any -> -32768", { SYS_sync, -32768, -32768, -32768 } },
	{ "sync() any -> after\nafter:", { SYS_sync, 0, 0, 0 } },
	{ "goto +0", { .nr = -1 } },
	{ "goto -5", { .nr = -1, .jump_fail = -5 } },
	/* forwarding */
	{ "a: sync()\nclose($a)", { SYS_close, 0, 0, 0, FORWARD | 1, { 1 } } },
	{ "a: sync()\nsync()\ncopy($1, $a)", { -2, 0, 0, 0, FORWARD | 2, { 1, 2 } } },
	{ "a: sync()\nread(1, $a, 3)",
	  { SYS_read, 0, 0, 0, FORWARD | 3, { 0, 1 }, 0, { 1, 0, 3 } } },
	/* raw slots */
	{ "slot", { 0 } },
	{ "slot nr=-32768 fail=1 zero=-2 pos=+3 argc=255 from=1,2 reserved=4 args=5,-6",
	  { -32768, 1, -2, 3, 255, { 1, 2 }, 4, { 5, -6 } } },
	{ "slot args=1,2,3,4,5,6 from=6,5,4,3,2,255 nr=close",
	  { SYS_close, 0, 0, 0, 0, { 6, 5, 4, 3, 2, 255 }, 0, { 1, 2, 3, 4, 5, 6 } } },
};

TEST(a_slot_is_what_its_text_says)
{
	size_t i;

	for (i = 0; i < sizeof(slots) / sizeof(*slots); i++) {
		struct image *image = assemble(slots[i].text);

		assert_memory_equal(image_slot(image, image_slot_count(image) - 1), &slots[i].slot,
				    sizeof(struct batch_slot));
		image_free(image);
	}
}

static const struct {
	const char *text;
	unsigned long value;
} numbers[] = {
	{ "0", 0 },
	{ "00", 0 },
	{ "42", 42 },
	{ "0x2aB", 0x2ab },
	{ "0X10", 16 },
	{ "0777", 0777 },
	{ "18446744073709551615", ULONG_MAX },
	{ "-9223372036854775808", 1UL << 63 },
	{ "'a'", 'a' },
	{ "'\\n'", '\n' },
	{ "'\\0'", 0 },
	{ "'\\x41'", 0x41 },
	{ "'\\''", '\'' },
	{ "'\\\\'", '\\' },
	{ "'#'", '#' },
	{ "-1", ULONG_MAX },
	{ "- -1", 1 },
	{ "~0", ULONG_MAX },
	{ "~0xffffffffffffffff", 0 },
	{ "~~5", 5 },
	{ "1+2-4", ULONG_MAX },
	{ "10-2-3", 5 },
	{ "10-(2-3)", 11 },
	{ "1|2|8", 11 },
	{ "7&3&6", 2 },
	{ "1 << 63", 1UL << 63 },
	{ "-1 << 63", 1UL << 63 },
	{ "1<<2<<3", 32 },
	{ "1<<2+3", 32 },
	{ "6&1<<2", 4 },
	{ "8|6&4", 12 },
	{ "(8|6)&4", 4 },
	{ "-1 & 0xff", 0xff },
	{ "O_WRONLY|O_CREAT", O_WRONLY | O_CREAT },
	{ "AT_FDCWD", (unsigned long)AT_FDCWD },
	{ "SIG_IGN", (unsigned long)SIG_IGN },
	{ "NULL", 0 },
	{ "PATH_MAX", PATH_MAX },
	{ "sizeof(ten)", 10 },
	{ "sizeof(text)", 4 },
	{ "sizeof(raw)", 3 },
	{ "sizeof(pair)", 16 },
	{ "sizeof(ten) + sizeof(text) << 1", 28 },
};

TEST(an_expression_has_its_value)
{
	char text[200];
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct image *image;

		snprintf(text, sizeof(text),
			 "buffer ten 10\nstring text \"abc\"\nclose(%s)\nbytes raw \"abc\"\n"
			 "words pair 1, 2",
			 numbers[i].text);
		image = assemble(text);
		if ((unsigned long)image_slot(image, 0)->arg[0] != numbers[i].value)
			fail_msg("%s is %#lx", numbers[i].text,
				 (unsigned long)image_slot(image, 0)->arg[0]);
		image_free(image);
	}
}

static const struct {
	const char *text;
	const char *bytes;
	size_t size;
} literals[] = {
	{ "bytes x \"\"", "", 0 },
	{ "string x \"\"", "", 1 },
	{ "string x \"abc\"", "abc", 4 },
	{ "bytes x \"abc\"", "abc", 3 },
	{ "bytes x \"a\\0b\"", "a\0b", 3 },
	{ "bytes x \"\\x00\\xff\\xA0z\"", "\0\xff\xa0z", 4 },
	{ "bytes x \"\\1\\12\\123\\1234\"",
	  "\1\12\123\123"
	  "4",
	  5 },
	{ "bytes x \"\\a\\b\\e\\f\\n\\r\\t\\v\\\\\\\"\\'\"", "\a\b\033\f\n\r\t\v\\\"'", 11 },
	{ "bytes x \"# no comment\" # comment", "# no comment", 12 },
	{ "bytes x \"a\", \"b\",\n\n # comment\n\t\"c\"", "abc", 3 },
	{ "string x \"a\", \"b\"", "ab", 3 },
	{ "bytes x \"\xc3\xa4\"", "\xc3\xa4", 2 },
	{ "buffer x 3", "\0\0", 3 },
	{ "buffer x 0", "", 0 },
	{ "buffer x sizeof(y)+1\nbytes y \"12\"", "\0\0", 3 },
	{ "buffer x 1 << 2", "\0\0\0", 4 },
	{ "words x", "", 0 },
	{ "words x 1, -1,\n258", "\1\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\2\1\0\0\0\0\0",
	  24 },
};

TEST(data_is_loaded_as_its_text_says)
{
	size_t i;

	for (i = 0; i < sizeof(literals) / sizeof(*literals); i++) {
		struct image *image = assemble(literals[i].text);
		struct loaded loaded;

		assert_string_equal(image_data(image, 0).name, "x");
		assert_int_equal(image_data(image, 0).size, literals[i].size);
		assert_int_equal(image_load(image, &loaded), 0);
		assert_memory_equal(loaded.data[0], literals[i].bytes, literals[i].size);
		image_unload(&loaded);
		image_free(image);
	}
}

TEST(addresses_are_filled_in_when_loaded)
{
	struct image *image =
		assemble("words table d, d+8, 8+d-1, &b, &b+4, &a.arg2, &1.arg5-1, &1\n"
			 "a: read(d, table, &b.arg0, &0)\n"
			 "b: close(d-1)\n"
			 "buffer d 16");
	struct loaded loaded;
	uint64_t *table;
	char *d;

	assert_int_equal(image_load(image, &loaded), 0);
	table = loaded.data[0];
	d = loaded.data[1];
	assert_ptr_equal(table[0], d);
	assert_ptr_equal(table[1], d + 8);
	assert_ptr_equal(table[2], d + 7);
	assert_ptr_equal(table[3], &loaded.rets[1]);
	assert_ptr_equal(table[4], (char *)&loaded.rets[1] + 4);
	assert_ptr_equal(table[5], &loaded.slots[0].arg[2]);
	assert_ptr_equal(table[6], (char *)&loaded.slots[1].arg[5] - 1);
	assert_ptr_equal(table[7], &loaded.rets[1]);
	assert_ptr_equal(loaded.slots[0].arg[0], d);
	assert_ptr_equal(loaded.slots[0].arg[1], table);
	assert_ptr_equal(loaded.slots[0].arg[2], &loaded.slots[1].arg[0]);
	assert_ptr_equal(loaded.slots[0].arg[3], loaded.rets);
	assert_ptr_equal(loaded.slots[1].arg[0], d - 1);
	image_unload(&loaded);
	image_free(image);
}

TEST(loading_gives_aligned_memory_of_its_own)
{
	struct image *image =
		assemble("bytes one \"1\"\nbytes two \"2\"\nbuffer big (1 << 30) - 2\n"
			 "read(one)");
	struct loaded first, second;
	size_t i;

	assert_int_equal(image_load(image, &first), 0);
	assert_int_equal(image_load(image, &second), 0);
	assert_int_equal((uintptr_t)first.slots % 64, 0);
	for (i = 0; i < 3; i++)
		assert_int_equal((uintptr_t)first.data[i] % 64, 0);
	assert_int_equal(first.ncall, 1);
	assert_int_equal(first.rets[0], 0);
	*(char *)first.data[0] = 'x';
	assert_int_equal(*(char *)second.data[0], '1');
	assert_ptr_equal(second.slots[0].arg[0], second.data[0]);
	image_unload(&first);
	image_unload(&second);
	image_unload(&second); /* empty by now */
	image_free(image);
}

TEST(labels_lead_to_the_slot_behind_them)
{
	struct image *image = assemble("a: sync()\n\nb:\n# comment\nc: d: sync() any -> e\n"
				       "\tsync()\ne:\tf:");

	assert_string_equal(image_slot_label(image, 0, 0), "a");
	assert_null(image_slot_label(image, 0, 1));
	assert_string_equal(image_slot_label(image, 1, 0), "b");
	assert_string_equal(image_slot_label(image, 1, 1), "c");
	assert_string_equal(image_slot_label(image, 1, 2), "d");
	assert_null(image_slot_label(image, 1, 3));
	assert_null(image_slot_label(image, 2, 0));
	assert_string_equal(image_slot_label(image, 3, 0), "e");
	assert_string_equal(image_slot_label(image, 3, 1), "f");
	assert_null(image_slot_label(image, 3, 2));
	assert_int_equal(image_slot(image, 1)->jump_pos, 1);
	assert_int_equal(image_slot_line(image, 0), 1);
	assert_int_equal(image_slot_line(image, 1), 5);
	assert_int_equal(image_slot_line(image, 2), 6);
	image_free(image);
}

TEST(the_words_of_the_language_can_be_labels_and_data)
{
	struct image *image = assemble("string string \"s\"\nwords fail fail, end\nbuffer end 1\n"
				       "string: sync() any -> fail\ncopy: sync() any -> any\n"
				       "fail: any: slot: call 1(string)\nbuffer O_RDONLY 7\n"
				       "close(O_RDONLY)\nsizeof: goto read\nread: read($copy)");

	assert_int_equal(image_slot_count(image), 6);
	assert_int_equal(image_data_count(image), 4);
	image_free(image);
}

TEST(the_longest_jump_and_forward_are_accepted)
{
	const int slots_between = 32767;
	char *text = malloc(200 + 16 * (size_t)slots_between);
	struct image *image;
	char *end = text;
	int i;

	end = stpcpy(end, "first: sync() any -> last\n");
	for (i = 0; i < slots_between; i++)
		end = stpcpy(end, i == 254 ? "close($first)\n" : "sync()\n");
	stpcpy(end, "last: sync()\n");
	image = assemble(text);
	assert_int_equal(image_slot(image, 0)->jump_zero, 32767);
	assert_int_equal(image_slot(image, 255)->from[0], 255);
	image_free(image);
	free(text);
}

TEST(line_ends_of_other_systems_are_accepted)
{
	struct image *image = assemble("# one\r\nstring x \"y\"\r\nsync()\r\n\tclose(x,\r\n1)");

	assert_int_equal(image_slot_count(image), 2);
	assert_int_equal(image_slot_line(image, 1), 4);
	image_free(image);
}

TEST(a_byte_order_mark_at_the_start_is_ignored)
{
	struct image *image = assemble("\xef\xbb\xbfsync()");

	assert_int_equal(image_slot(image, 0)->nr, SYS_sync);
	image_free(image);
}

TEST_MAIN
