// SPDX-License-Identifier: MIT
/* The examples of ferry-asm(5) assemble and draw no warnings. */
#include "support.h"

#define BEGIN ".EX\n"
#define END ".EE\n"

/* Undoes what roff needs: `\e` is a backslash, `\-` a minus, `\&` nothing. */
static void from_roff(char *text)
{
	char *out = text;

	for (; *text; text++) {
		if (text[0] != '\\') {
			*out++ = *text;
			continue;
		}
		text++;
		if (*text == 'e')
			*out++ = '\\';
		else if (*text == '-')
			*out++ = '-';
		else if (*text != '&')
			fail_msg("an escape that the test does not know: \\%c", *text);
	}
	*out = '\0';
}

TEST(every_example_of_the_manual_assembles)
{
	char *manual = read_source(MANUAL, "ferry-asm.5");
	char *rest = manual;
	int count = 0;

	while ((rest = strstr(rest, BEGIN))) {
		char *example = rest + strlen(BEGIN);
		struct image *image;

		rest = strstr(example, END);
		assert_non_null(rest);
		*rest++ = '\0';
		from_roff(example);
		image = assemble(example);
		assert_true(image_slot_count(image) + image_data_count(image) > 0);
		assert_no_warnings(image);
		image_free(image);
		count++;
	}
	assert_true(count >= 4);
	free(manual);
}

TEST_MAIN
