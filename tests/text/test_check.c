// SPDX-License-Identifier: MIT
/* What the arguments of a call are warned about. */
#include <stdio.h>

#include "support.h"
#include "lib/text/names.h"

/* The warning about the last slot of TEXT, or NULL for none. */
static const struct {
	const char *text;
	const char *warning;
} cases[] = {
	/* how many arguments */
	{ "getpid()", NULL },
	{ "getpid(1)", "getpid takes 0 arguments, not 1" },
	{ "read(1)", "read takes 3 arguments, not 1; those left out are 0" },
	{ "close()", "close takes 1 argument, not 0; those left out are 0" },
	{ "close(1, 2)", "close takes 1 argument, not 2" },
	{ "openat(AT_FDCWD, 0, 0)", NULL },
	{ "openat(AT_FDCWD, 0, 0, 0)", NULL },
	{ "openat(AT_FDCWD)", "openat takes at least 3 arguments, not 1; those left out are 0" },
	{ "mmap(0, 1, 2, 3)", NULL },
	{ "a: sync()\nclose($a)", NULL },
	{ "a: sync()\nread($a)", "read takes 3 arguments, not 1; those left out are 0" },
	{ "slot nr=read argc=3", NULL },
	{ "slot nr=read", "read takes 3 arguments, not 0; those left out are 0" },
	{ "slot nr=read argc=7", NULL }, /* ferry_check() reports it */
	{ "call 9999(1, 2)", NULL },
	{ "goto end", NULL },
	{ "copy(1, 2)", NULL },
	/* a length beyond its buffer */
	{ "buffer b 8\nread(0, b, 8)", NULL },
	{ "buffer b 8\nread(0, b, 9)", "the length is 9, but b has only 8 bytes" },
	{ "buffer b 8\nread(0, b, -1)",
	  "the length is 18446744073709551615, but b has only 8 bytes" },
	{ "buffer b 8\nread(0, b+4, 4)", NULL },
	{ "buffer b 8\nread(0, b+4, 8)", "the length is 8, but only 4 bytes are left at b+4" },
	{ "buffer b 8\nread(0, b+9, 1)", "the length is 1, but only 0 bytes are left at b+9" },
	{ "buffer b 8\nread(0, b-1, 1)", NULL },
	{ "string s \"abc\"\nwrite(1, s, 4)", NULL },
	{ "string s \"abc\"\nwrite(1, s, 5)", "the length is 5, but s has only 4 bytes" },
	{ "words w 1, 2\nwrite(1, w, 17)", "the length is 17, but w has only 16 bytes" },
	{ "buffer b 8\ngetcwd(b, 4096)", "the length is 4096, but b has only 8 bytes" },
	{ "string p \"a\"\nopenat(0, p, O_CREAT, 0666)", NULL },
	{ "a: getpid()\nread(0, $a, 99)", NULL },
	{ "buffer b 1\na: getpid()\nread(0, b, $a)", NULL },
	/* what a copy changes is not known */
	{ "buffer b 1\ncopy(&x.arg1, &0)\nx: read(0, b, 9)", NULL },
	{ "buffer b 1\ncopy(&x.arg2, &0)\nx: read(0, b, 9)", NULL },
	{ "buffer b 1\nwords w &x.arg2\nx: read(0, b, 9)", NULL },
	{ "buffer b 1\ncopy(&x.arg0, &0)\nx: read(0, b, 9)",
	  "the length is 9, but b has only 1 bytes" },
};

TEST(a_slot_is_warned_about_as_expected)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct image *image = assemble(cases[i].text);
		struct slot_warnings warnings;

		image_check_slot(image, image_slot_count(image) - 1, &warnings);
		if (warnings.count != (cases[i].warning != NULL))
			fail_msg("%s: %zu warnings, \"%s\"", cases[i].text, warnings.count,
				 warnings.count ? warnings.reason[0] : "");
		if (warnings.count)
			assert_string_equal(warnings.reason[0], cases[i].warning);
		image_free(image);
	}
}

TEST(one_slot_can_have_both_warnings)
{
	struct image *image = assemble("buffer b 8\npread64(0, b, 9)");
	struct slot_warnings warnings;

	image_check_slot(image, 0, &warnings);
	assert_int_equal(warnings.count, 2);
	assert_string_equal(warnings.reason[0],
			    "pread64 takes 4 arguments, not 3; those left out are 0");
	assert_string_equal(warnings.reason[1], "the length is 9, but b has only 8 bytes");
	image_free(image);
}

TEST_MAIN
