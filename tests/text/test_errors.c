// SPDX-License-Identifier: MIT
/* Every mistake in a text: where it is and what is said about it. */
#include <errno.h>
#include <stdio.h>

#include "support.h"

struct mistake {
	const char *text;
	unsigned int line, column;
	const char *message;
};

static void assert_error(const char *text, const struct text_error *error,
			 const struct mistake *expected)
{
	if (error->line != expected->line || error->column != expected->column ||
	    strcmp(error->message, expected->message) != 0)
		fail_msg("%s\n  gives    %u:%u: %s\n  expected %u:%u: %s", text, error->line,
			 error->column, error->message, expected->line, expected->column,
			 expected->message);
}

/* TEXT must have the mistakes EXPECTED, and no others. */
static void assert_mistakes(const char *text, const struct mistake expected[], size_t count)
{
	struct text_errors errors;
	struct image *image;
	int result = image_assemble(text, strlen(text), &image, &errors);
	size_t i;

	if (!result)
		fail_msg("accepted: %s", text);
	assert_int_equal(result, -EINVAL);
	for (i = 0; i < errors.count && i < count; i++)
		assert_error(text, &errors.list[i], &expected[i]);
	if (errors.count > count)
		fail_msg("%s\n  also gives %u:%u: %s", text, errors.list[count].line,
			 errors.list[count].column, errors.list[count].message);
	assert_int_equal(errors.count, count);
	assert_false(errors.more);
}

static void assert_mistake(const struct mistake *mistake)
{
	assert_mistakes(mistake->text, mistake, 1);
}

#define CHECK_ALL(mistakes)                                                            \
	do {                                                                           \
		for (size_t i_ = 0; i_ < sizeof(mistakes) / sizeof(*(mistakes)); i_++) \
			assert_mistake(&(mistakes)[i_]);                               \
	} while (0)

TEST(bytes_that_are_no_text_are_refused)
{
	static const struct mistake two[] = {
		{ NULL, 1, 3, "byte 0xe4 is not text; write it as \\xe4 in a string" },
		{ NULL, 2, 1, "byte 0x01 is not text; write it as \\x01 in a string" },
	};
	static const struct mistake mistakes[] = {
		{ "sync()\n  \x01", 2, 3, "byte 0x01 is not text; write it as \\x01 in a string" },
		{ "# \x7f", 1, 3, "byte 0x7f is not text; write it as \\x7f in a string" },
		{ "# \r", 1, 3, "byte 0x0d is not text; write it as \\x0d in a string" },
		{ "\x80", 1, 1, "byte 0x80 is not text; write it as \\x80 in a string" },
		{ "# \xc3\xa4 \xc3", 1, 5, "byte 0xc3 is not text; write it as \\xc3 in a string" },
		{ "# \xc0\xaf", 1, 3, "byte 0xc0 is not text; write it as \\xc0 in a string" },
		{ "# \xed\xa0\x80", 1, 3, "byte 0xed is not text; write it as \\xed in a string" },
		{ "# \xf5\x80\x80\x80", 1, 3,
		  "byte 0xf5 is not text; write it as \\xf5 in a string" },
		{ "# \xff", 1, 3, "byte 0xff is not text; write it as \\xff in a string" },
		{ "\xff\xfeg\x01", 1, 1, "the text is UTF-16; save it as UTF-8" },
		{ "sync()\n\xef\xbb\xbfsync()", 2, 1,
		  "a byte-order mark may stand at the start of the text only" },
		{ "f\xc3\xa4hre()", 1, 2,
		  "a letter outside ASCII may stand in strings and comments only" },
	};
	struct text_errors errors;
	struct image *image;

	CHECK_ALL(mistakes);
	assert_mistakes("# \xe4h\n\x01", two, 2);
	assert_int_equal(image_assemble("a\0b", 3, &image, &errors), -EINVAL);
	assert_int_equal(errors.list[0].column, 2);
}

TEST(bad_tokens_are_refused)
{
	static const struct mistake mistakes[] = {
		{ "string x \"abc", 1, 10, "unterminated string: no closing \" on this line" },
		{ "string x \"abc\\\"", 1, 10, "unterminated string: no closing \" on this line" },
		{ "string x \"a\\q\"", 1, 12,
		  "unknown escape; write \\n, \\t, \\\", \\\\, \\0 or \\xHH" },
		{ "string x \"a\\xg\"", 1, 12,
		  "unknown escape; write \\n, \\t, \\\", \\\\, \\0 or \\xHH" },
		{ "string x \"\xc3\xa4\\x1\"", 1, 12,
		  "unknown escape; write \\n, \\t, \\\", \\\\, \\0 or \\xHH" },
		{ "string x \"\\400\"", 1, 11,
		  "unknown escape; write \\n, \\t, \\\", \\\\, \\0 or \\xHH" },
		{ "close('')", 1, 7, "no character between the quotes" },
		{ "close('", 1, 7, "no character between the quotes" },
		{ "close('ab')", 1, 7, "a character constant is one byte between ' and '" },
		{ "close('\xc3\xa4')", 1, 7, "a character constant is one byte between ' and '" },
		{ "close('a", 1, 7, "a character constant is one byte between ' and '" },
		{ "close(0x)", 1, 7, "no digits after 0x" },
		{ "close(08)", 1, 7, "08 is not a number in base 8" },
		{ "close(12ab)", 1, 7, "12ab is not a number in base 10" },
		{ "close(0xfg)", 1, 7, "0xfg is not a number in base 16" },
		{ "close(18446744073709551616)", 1, 7,
		  "integer overflow: 18446744073709551616 does not fit in 64 bits" },
		{ "close(1 * 2)", 1, 9, "'*' has no meaning here" },
		{ "close(1);", 1, 9, "';' has no meaning here" },
		{ "close(1 < 2)", 1, 9, "'<' has no meaning here" },
	};

	CHECK_ALL(mistakes);
}

TEST(bad_lines_are_refused)
{
	static const struct mistake mistakes[] = {
		{ "12", 1, 1, "expected a label, a call or a declaration of data, not 12" },
		{ "sync", 1, 5, "expected ( after the name of a call, not the end of the text" },
		{ "sync\n", 1, 5, "expected ( after the name of a call, not the end of the line" },
		{ "sync \"\"", 1, 6, "expected ( after the name of a call, not a string" },
		{ "sync() sync()", 1, 8, "expected fail, zero, pos or any, not sync" },
		{ "sync() 5", 1, 8, "expected the end of the line, not 5" },
		{ "string x \"\" y", 1, 13, "expected the end of the line, not y" },
		{ "goto end end", 1, 10, "expected the end of the line, not end" },
		{ "string 5", 1, 8, "expected a name for the data, not 5" },
		{ "string x", 1, 9, "expected a string in \" and \", not the end of the text" },
		{ "bytes x \"a\",", 1, 13,
		  "expected a string in \" and \", not the end of the text" },
		{ "buffer x", 1, 9,
		  "expected a number, a name or &LABEL, not the end of the text" },
		{ "words x 1,", 1, 11,
		  "expected a number, a name or &LABEL, not the end of the text" },
		{ "x: string y \"\"", 1, 4, "a label names a slot, not data" },
		{ "end: sync()", 1, 1, "end is built in; take another name" },
		{ "string sizeof \"\"", 1, 8, "sizeof is built in; take another name" },
	};

	CHECK_ALL(mistakes);
}

TEST(bad_calls_are_refused)
{
	static const struct mistake mistakes[] = {
		{ "\n opennat()", 2, 2, "unknown call opennat; did you mean openat?" },
		{ "ffoobbaarr()", 1, 1,
		  "unknown call ffoobbaarr; one without a name is written call NUMBER(...)" },
		{ "close(1", 1, 8, "expected , or ), not the end of the text" },
		{ "close(1\nsync()", 1, 8, "expected , or ), not the end of the line" },
		{ "close(,)", 1, 7, "expected a number, a name or &LABEL, not ," },
		{ "close(1,)", 1, 9, "expected a number, a name or &LABEL, not )" },
		{ "call 1(1, 2, 3,\n4, 5, 6, 7)", 2, 10,
		  "too many arguments; a call takes 6 at most" },
		{ "call 32768()", 1, 6, "the number of a call is an integer from -32768 to 32767" },
		{ "call -32769()", 1, 6,
		  "the number of a call is an integer from -32768 to 32767" },
		{ "call x()", 1, 6,
		  "expected the number of a call, an integer from -32768 to 32767, not x" },
		{ "copy(1)", 1, 1, "copy takes a destination and a source, not 1 arguments" },
		{ "copy(1, 2, 3)", 1, 1, "copy takes a destination and a source, not 3 arguments" },
		{ "slot nrr=1", 1, 6,
		  "expected nr, fail, zero, pos, argc, from, reserved or args, not nrr" },
		{ "slot nr=1 nr=2", 1, 11, "nr is given twice" },
		{ "slot nr 1", 1, 9, "expected =, not 1" },
		{ "slot nr=reead", 1, 9, "expected the name or number of a call, not reead" },
		{ "slot argc=256", 1, 11, "argc is an integer from 0 to 255" },
		{ "slot argc=-1", 1, 11, "argc is an integer from 0 to 255" },
		{ "slot from=1,2,3,4,5,6,7", 1, 23, "from has 6 elements at most" },
		{ "slot args=1,2,3,4,5,6,7", 1, 23, "args has 6 elements at most" },
		{ "slot fail=end", 1, 11,
		  "expected fail, an integer from -32768 to 32767, not end" },
	};

	CHECK_ALL(mistakes);
}

TEST(bad_operands_are_refused)
{
	static const struct mistake mistakes[] = {
		{ "\n\nopenat(0, 0, O_RDONLYY)", 3, 14,
		  "unknown constant O_RDONLYY; did you mean O_RDONLY?" },
		{ "close(x)\nbuffer b 1", 1, 7, "unknown constant x" },
		{ "close(dtaa)\nbuffer data 1", 1, 7, "unknown constant dtaa; did you mean data?" },
		{ "close(qqqqqqqq)", 1, 7, "unknown constant qqqqqqqq" },
		{ "x: close(x)", 1, 10,
		  "x is a label; write &x for the address of its result or $x to forward it" },
		{ "buffer data 1\nclose(sizeof(dat))", 2, 14,
		  "unknown data dat; did you mean data?" },
		{ "close(sizeof data)", 1, 14, "expected ( after sizeof, not data" },
		{ "close(sizeof(1))", 1, 14, "expected the name of data, not 1" },
		{ "buffer x 1\nclose(sizeof(x)", 2, 16,
		  "expected , or ), not the end of the text" },
		{ "close((1)", 1, 10, "expected , or ), not the end of the text" },
		{ "close((1", 1, 9, "expected ), not the end of the text" },
		{ "close(1 2)", 1, 9, "expected , or ), not 2" },
		{ "close(1 +)", 1, 10, "expected a number, a name or &LABEL, not )" },
		{ "close(0xffffffffffffffff + 1)", 1, 26,
		  "integer overflow: the result does not fit in 64 bits" },
		{ "close(-0xffffffffffffffff)", 1, 7,
		  "integer overflow: the result does not fit in 64 bits" },
		{ "close(-9223372036854775808 - 1)", 1, 28,
		  "integer overflow: the result does not fit in 64 bits" },
		{ "close(3 << 63)", 1, 9, "integer overflow: the result does not fit in 64 bits" },
		{ "close(1 << 64)", 1, 9, "a shift is by 0 to 63 bits" },
		{ "close(1 << -1)", 1, 9, "a shift is by 0 to 63 bits" },
		{ "buffer x 1\nclose(x + x)", 2, 9,
		  "only a number can be added to an address or subtracted from it" },
		{ "buffer x 1\nclose(1 - x)", 2, 9,
		  "only a number can be added to an address or subtracted from it" },
		{ "buffer x 1\nclose(x | 1)", 2, 9,
		  "only a number can be added to an address or subtracted from it" },
		{ "buffer x 1\nclose(-x)", 2, 7,
		  "only a number can be added to an address or subtracted from it" },
		{ "x: close(1 << &x)", 1, 12,
		  "only a number can be added to an address or subtracted from it" },
		{ "close(&x)", 1, 7, "undefined label x" },
		{ "shut: close(&shu)", 1, 13, "undefined label shu; did you mean shut?" },
		{ "close(&1)", 1, 7, "there is no slot 1; the program has 1, counted from 0" },
		{ "words x &0", 1, 9, "there is no slot 0; the program has 0, counted from 0" },
		{ "close(&x)\nx:", 1, 7, "no slot follows label x, so it has no result" },
		{ "close(&)", 1, 8, "expected a label or the number of a slot, not )" },
		{ "x: close(&x.argc)", 1, 13, "expected arg0 to arg5, not argc" },
		{ "x: close(&x.arg6)", 1, 13, "expected arg0 to arg5, not arg6" },
		{ "x: close(&x.5)", 1, 13, "expected arg0 to arg5, not 5" },
	};

	CHECK_ALL(mistakes);
}

TEST(bad_jumps_are_refused)
{
	static const struct mistake mistakes[] = {
		{ "sync() fail -> shu\nshut: sync()", 1, 16,
		  "undefined label shu; did you mean shut?" },
		{ "x: sync() fail -> x", 1, 19,
		  "backward jump: label x does not lie ahead of slot 0" },
		{ "x: sync()\ngoto x", 2, 6,
		  "backward jump: label x does not lie ahead of slot 1" },
		{ "sync() fail end", 1, 13, "expected ->, not end" },
		{ "sync() fail -> 3", 1, 16, "expected a label, end, +SLOTS or -SLOTS, not 3" },
		{ "sync() fail -> +32768", 1, 16, "a jump is an integer from -32768 to 32767" },
		{ "sync() fail -> -32769", 1, 16, "a jump is an integer from -32768 to 32767" },
		{ "sync() fail -> +x", 1, 17,
		  "expected a jump, an integer from -32768 to 32767, not x" },
		{ "sync() fail -> end, zero", 1, 25, "expected ->, not the end of the text" },
		{ "sync() fail -> end,", 1, 20,
		  "expected fail, zero, pos or any, not the end of the text" },
		{ "sync() fail -> end, fail -> end", 1, 21, "a second jump for the same result" },
		{ "sync() pos -> end, any -> end", 1, 20, "a second jump for the same result" },
		{ "x: sync()\ny: sync()\nx: sync()", 3, 1,
		  "duplicate label x; line 1 has it already" },
	};

	CHECK_ALL(mistakes);
}

TEST(bad_forwards_are_refused)
{
	static const struct mistake mistakes[] = {
		{ "close($x)", 1, 7, "undefined label x" },
		{ "x: close($x)", 1, 10,
		  "forward from the future: slot 0 has no result before slot 0" },
		{ "close($x)\nx: sync()", 1, 7,
		  "forward from the future: slot 1 has no result before slot 0" },
		{ "close($7)", 1, 7, "there is no slot 7; the program has 1, counted from 0" },
		{ "x: sync()\nclose($x + 1)", 2, 10,
		  "expected , or ) (a forwarded result is a whole argument), not +" },
		{ "x: sync()\nclose(1 + $x)", 2, 11,
		  "only a whole argument of a call can be a forwarded result" },
		{ "x: sync()\nwords y $x", 2, 9,
		  "only a whole argument of a call can be a forwarded result" },
		{ "x: sync()\nslot args=$x", 2, 11,
		  "only a whole argument of a call can be a forwarded result" },
		{ "close($)", 1, 8, "expected a label or the number of a slot, not )" },
	};

	CHECK_ALL(mistakes);
}

TEST(bad_data_is_refused)
{
	static const struct mistake mistakes[] = {
		{ "string x \"\"\n\nbytes  x \"\"", 3, 8,
		  "duplicate data x; line 1 has it already" },
		{ "buffer x -1", 1, 10, "the size of a buffer is a number from 0 to 1073741824" },
		{ "buffer x 1073741825", 1, 10,
		  "the size of a buffer is a number from 0 to 1073741824" },
		{ "buffer x 1\nbuffer y x", 2, 10,
		  "the size of a buffer is a number from 0 to 1073741824" },
		{ "buffer x sizeof(x)", 1, 17,
		  "the size of x is not known yet; declare it before this" },
		{ "buffer x sizeof(y)\nbuffer y O_RDONLY", 1, 17,
		  "the size of y is not known yet; declare it before this" },
		{ "buffer x 1073741824\nbuffer y 1", 2, 8, "the data is larger than 1 GiB with y" },
		{ "buffer x $y", 1, 10,
		  "only a whole argument of a call can be a forwarded result" },
	};

	CHECK_ALL(mistakes);
}

/* COUNT slots between "HEAD" and "TAIL". */
static char *long_program(const char *head, size_t count, const char *tail)
{
	static const char slot[] = "sync()\n";
	char *text = malloc(strlen(head) + count * strlen(slot) + strlen(tail) + 1);
	char *end = stpcpy(text, head);

	while (count--)
		end = stpcpy(end, slot);
	stpcpy(end, tail);
	return text;
}

TEST(what_is_too_far_or_too_much_is_refused)
{
	struct mistake mistakes[] = {
		{ long_program("sync() any -> x\n", 32768, "x: sync()"), 1, 15,
		  "jump over 32768 slots to x; 32767 is the most" },
		{ long_program("x: sync()\n", 255, "close($x)"), 257, 7,
		  "forward over 256 slots; 255 is the most, a copy reaches further" },
		{ long_program("", 1 << 20, "sync()"), (1 << 20) + 1, 1,
		  "more than 1048576 slots" },
	};
	size_t i;

	CHECK_ALL(mistakes);
	for (i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++)
		free((char *)mistakes[i].text);
}

TEST(long_names_and_deep_nesting_are_refused)
{
	char nested[200] = "close(";
	struct mistake mistake = { nested, 1, 71, "an expression nested deeper than 64" };
	char name[300], text[320];

	memset(name, 'a', 256);
	name[256] = '\0';
	snprintf(text, sizeof(text), "%s: sync()", name);
	assert_mistake(
		&(struct mistake){ text, 1, 1, "a name of 256 characters; 255 is the most" });
	snprintf(text, sizeof(text), "string %s \"\"", name);
	assert_mistake(
		&(struct mistake){ text, 1, 8, "a name of 256 characters; 255 is the most" });
	memset(nested + 6, '(', 65);
	assert_mistake(&mistake);
	memset(nested + 6, '-', 65);
	assert_mistake(&mistake);
	memset(nested + 6, '~', 64);
	memcpy(nested + 70, "1)", 3);
	image_free(assemble(nested));
}

TEST(a_message_with_long_names_is_cut_short)
{
	char name[256], text[600];
	struct text_errors errors;
	struct image *image;

	memset(name, 'z', 255);
	name[255] = '\0';
	snprintf(text, sizeof(text), "%s: close(%s)", name, name);
	assert_int_equal(image_assemble(text, strlen(text), &image, &errors), -EINVAL);
	assert_int_equal(errors.list[0].column, 264);
	assert_true(strlen(errors.list[0].message) < sizeof(errors.list[0].message));
}

/* ---- several mistakes ---- */

TEST(every_mistake_is_reported_in_its_place)
{
	static const struct mistake expected[] = {
		{ NULL, 1, 1, "unknown call opnat; did you mean openat?" },
		{ NULL, 2, 7, "undefined label nowhere" },
		{ NULL, 3, 10, "unterminated string: no closing \" on this line" },
		{ NULL, 4, 21, "expected fail, zero, pos or any, not 5" },
		{ NULL, 6, 1, "duplicate label x; line 5 has it already" },
		{ NULL, 7, 8, "unknown constant O_RDONL; did you mean O_RDONLY?" },
	};

	assert_mistakes("opnat(1)\n"
			"close($nowhere)\n"
			"string x \"abc\n"
			"sync() fail -> end, 5\n"
			"x: sync()\n"
			"x: sync()\n"
			" close(O_RDONL)\n",
			expected, sizeof(expected) / sizeof(*expected));
}

/* What follows from a mistake alone is not reported. */
TEST(one_mistake_is_reported_once)
{
	static const struct mistake mistakes[] = {
		{ "sync() any -> nowhere", 1, 15, "undefined label nowhere" },
		{ "a: f\xc3\xa4hre()\nclose($a)", 1, 5,
		  "a letter outside ASCII may stand in strings and comments only" },
		{ "a: opnat()\nclose($a)\nsync() fail -> b\nb:", 1, 4,
		  "unknown call opnat; did you mean openat?" },
		{ "buffer x 8 *\nread(0, x, sizeof(x))", 1, 12, "'*' has no meaning here" },
		{ "buffer x -1\nread(0, x, sizeof(x))", 1, 10,
		  "the size of a buffer is a number from 0 to 1073741824" },
		{ "read(0,\n 1 2,\n 3)\nsync()", 2, 4, "expected , or ), not 2" },
		{ "a: read(0, ,\n 3)\nb: close($a) fail -> +1", 1, 12,
		  "expected a number, a name or &LABEL, not ," },
		{ "words x 1,\n\n # more\n \"2\",\n 3\nclose(x)", 4, 2,
		  "expected a number, a name or &LABEL, not a string" },
		{ "sync() ; ; ;\nsync()", 1, 8, "';' has no meaning here" },
	};

	CHECK_ALL(mistakes);
}

TEST(the_list_of_mistakes_ends)
{
	static const char line[] = "opnat()\n";
	char text[(TEXT_ERRORS_MAX + 1) * sizeof(line)] = "";
	struct text_errors errors;
	struct image *image;
	char *end = text;
	size_t i;

	for (i = 0; i < TEXT_ERRORS_MAX; i++)
		end = stpcpy(end, line);
	assert_int_equal(image_assemble(text, strlen(text), &image, &errors), -EINVAL);
	assert_int_equal(errors.count, TEXT_ERRORS_MAX);
	assert_false(errors.more);
	stpcpy(end, line);
	assert_int_equal(image_assemble(text, strlen(text), &image, &errors), -EINVAL);
	assert_int_equal(errors.count, TEXT_ERRORS_MAX);
	assert_true(errors.more);
	for (i = 0; i < errors.count; i++)
		assert_int_equal(errors.list[i].line, i + 1);
}

TEST_MAIN
