// SPDX-License-Identifier: MIT
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/memory.h"
#include "duels.h"
#include "measure/harness/interrupt.h"

struct stage {
	struct duel *duel;
	struct process sides[2];
	const char *(*prepare)(void *context);
	void *context;
};

/* An exit status of 1 says that some file could not be read, and that the rest was done. */
static const char *run_side(void *context, size_t side, double *ns)
{
	struct stage *stage = context;
	const char *name = stage->sides[side].argv[0];
	const char *missing = stage->prepare ? stage->prepare(stage->context) : NULL;
	struct outcome outcome;

	if (missing)
		return missing;
	outcome = process_run(&stage->sides[side]);
	*ns = outcome.ns;
	if (outcome.status == 0 || outcome.status == 1 || interrupted())
		return NULL;
	if (outcome.status == -ENOENT)
		return keep_text("%s is not installed", name);
	if (outcome.status < 0)
		return keep_text("%s cannot be run: %s", name, strerror(-outcome.status));
	return keep_text("%s ended with status %d", name, outcome.status);
}

static off_t length_of(int fd)
{
	struct stat status;

	return fstat(fd, &status) ? -1 : status.st_size;
}

static bool same_contents(int one, int other)
{
	off_t length = length_of(one);
	const size_t size = (size_t)length;
	void *maps[2];
	bool same;

	if (length < 0 || length != length_of(other))
		return false;
	if (!length)
		return true;
	maps[0] = mmap(NULL, size, PROT_READ, MAP_SHARED, one, 0);
	maps[1] = mmap(NULL, size, PROT_READ, MAP_SHARED, other, 0);
	same = maps[0] != MAP_FAILED && maps[1] != MAP_FAILED && !memcmp(maps[0], maps[1], size);
	if (maps[0] != MAP_FAILED)
		munmap(maps[0], size);
	if (maps[1] != MAP_FAILED)
		munmap(maps[1], size);
	return same;
}

/* Runs both sides once, their output kept, and compares it. */
static void compare_outputs(struct stage *stage)
{
	struct duel *duel = stage->duel;
	int outputs[2] = { -1, -1 };
	double ns;
	size_t side;

	for (side = 0; side < 2 && !duel->missing; side++) {
		int timed = stage->sides[side].output;

		outputs[side] = memfd_create("ferry-bench", MFD_CLOEXEC);
		stage->sides[side].output = outputs[side];
		duel->missing = run_side(stage, side, &ns);
		stage->sides[side].output = timed;
	}
	duel->equal =
		duel->same_output ? !duel->missing && same_contents(outputs[0], outputs[1]) : -1;
	for (side = 0; side < 2; side++)
		if (outputs[side] >= 0)
			close(outputs[side]);
}

bool duel_of_programs(struct run *run, struct duel *duel, const struct process sides[2],
		      const char *(*prepare)(void *context), void *context)
{
	struct stage stage = { duel, { sides[0], sides[1] }, prepare, context };

	compare_outputs(&stage);
	return duel_measure(run, duel, run_side, &stage);
}
