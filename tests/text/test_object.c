// SPDX-License-Identifier: MIT
/* Objects: round trips of random images, and objects that somebody has tampered with. */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "random_image.h"
#include "support.h"
#include "lib/text/object.h"

#define ROUND_TRIPS 4000
#define TAMPERED 100
#define CHANGES 60 /* of each */

/* From FERRY_SEED, or new; printed, so that a failure can be repeated. */
static unsigned int starting_seed(void)
{
	const char *given = getenv("FERRY_SEED");
	unsigned int seed =
		given ? (unsigned int)strtoul(given, NULL, 0) : (unsigned int)time(NULL);

	print_message("FERRY_SEED=%u\n", seed);
	return seed;
}

static void random_images_come_back_from_object_and_text(void **state)
{
	unsigned int seed = starting_seed();
	int i;

	(void)state;
	for (i = 0; i < ROUND_TRIPS; i++) {
		struct image *image = random_image(&seed);

		assert_round_trip(image);
		image_free(image);
	}
}

/* What is accepted must be the one object of its image; the rest needs a reason. */
static void assert_refused_or_exact(const void *object, size_t length)
{
	struct text_error error = { .line = 1 };
	struct image *image;
	size_t again_length;
	void *again;

	if (image_decode(object, length, &image, &error)) {
		assert_int_equal(error.line, 0);
		assert_string_not_equal(error.message, "");
		return;
	}
	assert_int_equal(image_encode(image, &again, &again_length), 0);
	assert_int_equal(again_length, length);
	assert_memory_equal(again, object, length);
	free(again);
	assert_round_trip(image);
	image_free(image);
}

static void a_changed_byte_is_refused_or_means_something_else(void **state)
{
	unsigned int seed = starting_seed();
	int i, change;

	(void)state;
	for (i = 0; i < TAMPERED; i++) {
		struct image *image = random_image(&seed);
		unsigned char *bytes;
		size_t length;
		void *object;

		assert_int_equal(image_encode(image, &object, &length), 0);
		image_free(image);
		bytes = object;
		for (change = 0; change < CHANGES; change++) {
			unsigned char *byte = bytes + (size_t)rand_r(&seed) % length;
			unsigned char before = *byte;

			*byte = (unsigned char)(rand_r(&seed) & 1 ? rand_r(&seed) : before + 1);
			assert_refused_or_exact(object, length);
			*byte = before;
		}
		free(object);
	}
}

static void an_object_cut_short_or_with_more_behind_is_refused(void **state)
{
	struct image *image = assemble("a: write(1, text, sizeof(text), &a)\nbytes text \"hello\"\n"
				       "words table text, &a.arg1\nbuffer room 100\nb:");
	struct text_error error;
	struct image *again;
	size_t length, cut;
	void *object;

	(void)state;
	assert_int_equal(image_encode(image, &object, &length), 0);
	for (cut = 0; cut < length; cut++) {
		void *part = malloc(cut ? cut : 1); /* exact, for the address sanitizer */

		memcpy(part, object, cut);
		assert_int_equal(image_decode(part, cut, &again, &error), -EINVAL);
		free(part);
	}
	object = realloc(object, length + 1);
	((char *)object)[length] = 0;
	assert_int_equal(image_decode(object, length + 1, &again, &error), -EINVAL);
	assert_string_equal(error.message, "1 bytes behind the object's end");
	free(object);
	image_free(image);
}

/* The header, which the tests below write over: magic, version, machine, counts. */
#define AT_VERSION OBJECT_MAGIC_SIZE
#define AT_MACHINE (AT_VERSION + 2)
#define AT_SLOTS (AT_MACHINE + 4)
#define AT_DATA (AT_SLOTS + 4)
#define AT_LABELS (AT_DATA + 4)
#define AT_RELOCATIONS (AT_LABELS + 4)
#define AT_REST OBJECT_HEADER_SIZE

/*
 * In the text below: behind the slots come `words w` and `string s`, then the
 * labels a and b of one slot, then relocations of two words of w.
 */
static const char base_text[] = "a: b: sync()\nwords w &a, s\nstring s \"x\"";

#define AT_W (AT_REST + OBJECT_SLOT_SIZE)
#define AT_S (AT_W + 1 + 1 + 1 + 8 + 16)
#define AT_A (AT_S + 1 + 1 + 1 + 8 + 1)
#define AT_B (AT_A + 4 + 1 + 1)
#define AT_FIRST (AT_B + 4 + 1 + 1)
#define AT_SECOND (AT_FIRST + OBJECT_RELOCATION_SIZE)

static const struct {
	size_t at;
	const char *bytes;
	size_t length;
	const char *message;
} tampered[] = {
	{ 1, "F", 1, "not an object of ferry asm" },
	{ AT_VERSION, "\2", 1, "the object is not of version 1" },
	{ AT_MACHINE, "\1\2\3\4", 4,
	  "the object is for another kind of machine; assemble its text here" },
	{ AT_SLOTS, "\1\0\x10", 3, "1048577 slots; 1048576 is the most" },
	{ AT_SLOTS, "\3", 1, "the object ends within its slots" },
	{ AT_DATA, "\xff\xff\xff\xff", 4, "the object ends within its data" },
	{ AT_LABELS, "\xff\xff\xff\xff", 4, "the object ends within its labels" },
	{ AT_RELOCATIONS, "\xff\xff\xff\xff", 4, "the object ends within its relocations" },
	{ AT_W, "\4", 1, "the object has data of unknown kind 4" },
	{ AT_W + 1, "\0", 1, "the object has a name that is none" },
	{ AT_W + 1, "\xff", 1, "the object ends within its names" },
	{ AT_W + 2, "9", 1, "the object has a name that is none" },
	{ AT_W + 2, "\0", 1, "the object has a name that is none" },
	{ AT_W + 2, "s", 1, "the object has a name twice" },
	{ AT_W + 3, "\x0f", 1, "w has an impossible size" },
	{ AT_W + 3, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, "the data is larger than 1 GiB with w" },
	{ AT_W + 3, "\xf8\xff\xff\x3f", 4, "the object ends within its data" },
	{ AT_S + 3, "\0", 1, "s has an impossible size" },
	{ AT_S + 3, "\xff\xff\xff\x3f", 4, "the data is larger than 1 GiB with s" },
	{ AT_A, "\2", 1, "the object has a label out of order or of no slot" },
	{ AT_A, "\1", 1, "the object has a label out of order or of no slot" },
	{ AT_A + 5, "b", 1, "the object has a name twice" },
	{ AT_FIRST, "\2", 1, "relocation 0 is of a word or to a place that is not there" },
	{ AT_FIRST, "\0\2\0\0\0\0\6", 7,
	  "relocation 0 is of a word or to a place that is not there" },
	{ AT_FIRST + 1, "\0", 1, "relocation 0 is of a word or to a place that is not there" },
	{ AT_FIRST + 1, "\4", 1, "relocation 0 is of a word or to a place that is not there" },
	{ AT_FIRST + 2, "\1", 1, "relocation 0 is of a word or to a place that is not there" },
	{ AT_FIRST + 2, "\2", 1, "relocation 0 is of a word or to a place that is not there" },
	{ AT_FIRST + 6, "\2", 1, "relocation 0 is of a word or to a place that is not there" },
	{ AT_FIRST + 10, "\1", 1, "relocation 0 is of a word or to a place that is not there" },
	{ AT_SECOND + 6, "\0", 1, "relocation 1 is out of order" },
	{ AT_SECOND + 10, "\2", 1, "relocation 1 is of a word or to a place that is not there" },
};

static void what_is_wrong_in_an_object_is_named(void **state)
{
	struct image *image = assemble(base_text);
	struct text_error error;
	struct image *again;
	size_t length, i;
	void *object;

	(void)state;
	assert_int_equal(image_encode(image, &object, &length), 0);
	assert_int_equal(length, AT_SECOND + OBJECT_RELOCATION_SIZE);
	for (i = 0; i < sizeof(tampered) / sizeof(*tampered); i++) {
		char *copy = malloc(length);

		memcpy(copy, object, length);
		memcpy(copy + tampered[i].at, tampered[i].bytes, tampered[i].length);
		assert_int_equal(image_decode(copy, length, &again, &error), -EINVAL);
		assert_int_equal(error.line, 0);
		if (strcmp(error.message, tampered[i].message) != 0)
			fail_msg("change %zu gives \"%s\", not \"%s\"", i, error.message,
				 tampered[i].message);
		free(copy);
	}
	free(object);
	image_free(image);
}

static void reading_tells_objects_from_texts(void **state)
{
	struct image *image = assemble(base_text);
	struct text_error error;
	struct image *again;
	size_t length;
	void *object;

	(void)state;
	assert_int_equal(image_encode(image, &object, &length), 0);
	assert_int_equal(image_read(object, length, &again, &error), 0);
	assert_int_equal(image_slot_line(again, 0), 0);
	image_free(again);
	assert_int_equal(image_read(base_text, strlen(base_text), &again, &error), 0);
	assert_int_equal(image_slot_line(again, 0), 1);
	image_free(again);
	assert_int_equal(image_read(NULL, 0, &again, &error), 0);
	assert_int_equal(image_slot_count(again), 0);
	image_free(again);
	assert_int_equal(image_read("\x7f", 1, &again, &error), -EINVAL);
	assert_string_equal(error.message, "not an object of ferry asm");
	free(object);
	image_free(image);
}

static void a_buffer_takes_no_room_in_an_object(void **state)
{
	struct image *image = assemble("buffer huge 1 << 30");
	size_t length;
	void *object;

	(void)state;
	assert_int_equal(image_encode(image, &object, &length), 0);
	assert_true(length < 100);
	assert_round_trip(image);
	free(object);
	image_free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_images_come_back_from_object_and_text),
		cmocka_unit_test(a_changed_byte_is_refused_or_means_something_else),
		cmocka_unit_test(an_object_cut_short_or_with_more_behind_is_refused),
		cmocka_unit_test(what_is_wrong_in_an_object_is_named),
		cmocka_unit_test(reading_tells_objects_from_texts),
		cmocka_unit_test(a_buffer_takes_no_room_in_an_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
