// SPDX-License-Identifier: MIT
/* Copies of a program in one batch: results of their own, data in common, jumps kept inside. */
#include <errno.h>

#include <ferry.h>

#include "support.h"

static void unload(struct image *image, struct loaded *loaded)
{
	image_unload(loaded);
	image_free(image);
}

/* A jump to the end, or past it, leads to the next copy. */
TEST(test_jumps_end_at_the_copy)
{
	struct image *image = assemble("getppid()  any -> end\n"
				       "getppid()\n"
				       "getppid()  any -> +7\n");
	struct loaded loaded;
	long last;

	assert_int_equal(image_load_copies(image, 3, &loaded), 0);
	assert_int_equal(loaded.ncall, 9);
	last = ferry_batch_on(FERRY_LOOP, loaded.rets, loaded.slots, loaded.ncall, 0, 0);
	assert_int_equal(last, 6);
	assert_true(loaded.rets[0] == loaded.rets[3] && loaded.rets[3] == loaded.rets[6]);
	assert_int_equal(loaded.rets[1], 0);
	assert_int_equal(loaded.rets[4], 0);
	unload(image, &loaded);
}

/* What one copy writes to its own slots and reads of its own results stays in it. */
TEST(test_addresses_are_the_copys_own)
{
	struct image *image = assemble("words fd 0x7ffffff0\n"
				       "       copy(&use.arg0, fd)\n"
				       "use:   close(1)\n"
				       "       copy(kept, &use)\n"
				       "words  kept 0\n");
	struct loaded loaded;
	size_t i;

	assert_int_equal(image_load_copies(image, 4, &loaded), 0);
	assert_int_equal(ferry_batch_on(FERRY_LOOP, loaded.rets, loaded.slots, loaded.ncall, 0, 0),
			 11);
	for (i = 0; i < 4; i++) {
		assert_ptr_equal((void *)loaded.slots[3 * i].arg[0],
				 &loaded.slots[3 * i + 1].arg[0]);
		assert_ptr_equal((void *)loaded.slots[3 * i + 2].arg[1], &loaded.rets[3 * i + 1]);
		assert_int_equal(loaded.rets[3 * i + 1], -EBADF);
	}
	assert_int_equal(*(long *)loaded.data[1], -EBADF);
	unload(image, &loaded);
}

TEST(test_one_copy_is_the_program)
{
	struct image *image = assemble("string path \"/\"\n"
				       "buffer room 256\n"
				       "statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, room)\n"
				       "getppid()\n");
	struct loaded once, copied;

	assert_int_equal(image_load(image, &once), 0);
	assert_int_equal(image_load_copies(image, 1, &copied), 0);
	assert_int_equal(once.ncall, copied.ncall);
	assert_int_equal(ferry_batch_on(FERRY_LOOP, copied.rets, copied.slots, 2, 0, 0), 1);
	assert_int_equal(copied.rets[0], 0);
	image_unload(&once);
	unload(image, &copied);
}

TEST(test_too_many_slots_are_refused)
{
	struct image *image = assemble("getppid()\ngetppid()\n");
	struct loaded loaded;

	assert_int_equal(image_load_copies(image, (1UL << 19) + 1, &loaded), -E2BIG);
	assert_int_equal(image_load_copies(image, SIZE_MAX, &loaded), -E2BIG);
	assert_int_equal(image_load_copies(image, 1UL << 19, &loaded), 0);
	unload(image, &loaded);
}

TEST_MAIN
