// SPDX-License-Identifier: MIT
/* How a program reads once it is taken apart. */
#include <stdio.h>

#include "support.h"

static const struct {
	const char *text;
	const char *expected;
} cases[] = {
	{ "", "" },
	{ "# nothing\n", "" },
	{ "close ( 3 )", "\tclose(3)\n" },
	{ "a: close(3)", "a:      close(3)\n" },
	{ "letter: close(3)", "letter: close(3)\n" },
	{ "letters: close(3)", "letters:\n\tclose(3)\n" },
	{ "a: b: close(3)\nc:", "a:\nb:      close(3)\nc:\n" },
	{ "string s \"a\\x00\\x001\\n\\x7f\\xff\\\"\\\\\\t'\"",
	  "string  s \"a\\0\\x001\\n\\x7f\\xff\\\"\\\\\\t'\"\n" },
	{ "bytes b \"123456789012345678901234567890123456789012345678\"",
	  "bytes   b \"123456789012345678901234567890123456789012345678\"\n" },
	{ "bytes b \"1234567890123456789012345678901234567890123456789\"",
	  "bytes   b \"123456789012345678901234567890123456789012345678\",\n\t\"9\"\n" },
	{ "buffer b 0x1000\nsync()", "buffer  b 4096\n\n\tsync()\n" },
	{ "words w 1,2,3,4,5", "words   w 1, 2, 3, 4,\n\t5\n" },
	{ "words w", "words   w\n" },
	{ "words w w+1, w-1, &x, &x+1, &0.arg5+7, &1-1, &2, &2.arg0-16\nsync()\nx: sync()\nsync()",
	  "words   w w+1, w-1, &x, &x+1,\n\t&0.arg5+7, &0+7, &2, &2.arg0-16\n\n"
	  "\tsync()\nx:      sync()\n\tsync()\n" },
	{ "words w &0-1, &0+8, &0.arg0-17, &0.arg5+8\nsync()",
	  "words   w &0-1, &0+8, &0.arg0-17, &0.arg0+48\n\n\tsync()\n" },
	{ "close(0xfffff)\nclose(0x100000)\nclose(-0xfffff)\nclose(-0x100000)",
	  "\tclose(1048575)\n\tclose(0x100000)\n\tclose(-1048575)\n\tclose(0xfffffffffff00000)\n" },
	{ "goto x\nx: goto end\ngoto +5\ngoto -7",
	  "\tgoto x\nx:      goto end\n\tgoto +5\n\tgoto -7\n" },
	{ "sync() any->end\nsync() pos -> end, fail -> +9, zero -> x\nsync()\nx:",
	  "\tsync()  any -> end\n\tsync()  fail -> +9, zero -> x, pos -> end\n\tsync()\nx:\n" },
	{ "f: dup(1)\nread($f, 0, $0)\nclose($1)",
	  "f:      dup(1)\n\tread($f, 0, $f)\n\tclose($1)\n" },
	{ "call 0()\ncall -2(1, 2)\ncall -2(1)\ncall -1(1)\ncall -3()\ncall 9999()",
	  "\tread()\n\tcopy(1, 2)\n\tcall -2(1)\n\tcall -1(1)\n\tcall -3()\n\tcall 9999()\n" },
	/* what calls cannot say */
	{ "slot nr=close argc=1 args=5", "\tclose(5)\n" },
	{ "slot nr=close argc=7", "\tslot nr=close argc=7\n" },
	{ "slot nr=close argc=1 args=5,6", "\tslot nr=close argc=1 args=5,6\n" },
	{ "slot nr=close argc=0x81 from=1", "\tslot nr=close argc=129 from=1\n" },
	{ "sync()\nslot nr=close argc=0x81 from=1", "\tsync()\n\tclose($0)\n" },
	{ "sync()\nslot nr=close argc=0x81 from=1 args=5",
	  "\tsync()\n\tslot nr=close argc=129 from=1 args=5\n" },
	{ "sync()\nslot nr=close argc=1 from=1", "\tsync()\n\tslot nr=close argc=1 from=1\n" },
	{ "sync()\nslot nr=close argc=0x81 from=0,1",
	  "\tsync()\n\tslot nr=close argc=129 from=0,1\n" },
	{ "slot nr=close argc=0x81", "\tslot nr=close argc=129\n" },
	{ "slot nr=9999 fail=-1 zero=5 pos=-2 reserved=1 args=0,&0",
	  "\tslot nr=9999 fail=-1 zero=5 pos=-2 reserved=1 args=0,&0\n" },
	{ "slot nr=-1 fail=-1 args=0,0,1", "\tslot nr=-1 fail=-1 args=0,0,1\n" },
};

static void a_program_reads_as_expected(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct image *image = assemble(cases[i].text);
		char *text = disassemble(image);

		assert_string_equal(text, cases[i].expected);
		assert_round_trip(image);
		free(text);
		image_free(image);
	}
}

static void every_byte_survives_in_a_string(void **state)
{
	char text[3 * 1024 + 100], *end = text;
	struct image *image;
	struct loaded loaded;
	char *disassembly;
	int i;

	(void)state;
	end = stpcpy(end, "bytes x \"");
	for (i = 0; i < 512; i++)
		end += sprintf(end, "\\x%02x", i & 1 ? '7' : i / 2);
	stpcpy(end, "\"");
	image = assemble(text);
	disassembly = disassemble(image);
	image_free(image);
	image = assemble(disassembly);
	free(disassembly);
	assert_int_equal(image_load(image, &loaded), 0);
	for (i = 0; i < 512; i++)
		assert_int_equal(((unsigned char *)loaded.data[0])[i], i & 1 ? '7' : i / 2);
	image_unload(&loaded);
	image_free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_reads_as_expected),
		cmocka_unit_test(every_byte_survives_in_a_string),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
