// SPDX-License-Identifier: MIT
#include "read_batch.h"

#include <fcntl.h>
#include <ferry/rawcall.h>

#include "contents.h"

enum { OPEN, READ, CLOSE, SLOTS };

/* The slots of one file; without a descriptor the last two are skipped. */
static void fill(struct batch_slot slots[SLOTS], int dir, unsigned int flags,
		 const struct read_request *request, const struct place *place)
{
	slots[OPEN] = (struct batch_slot){
		.nr = SYS_openat,
		.jump_fail = SLOTS - 1,
		.argc = 4,
		.arg = { dir, (long)request->name, ferry__contents_open_flags(flags), 0 },
	};
	slots[READ] = (struct batch_slot){
		.nr = SYS_pread64,
		.argc = 4 | BATCH_ARGC_FORWARD,
		.from = { READ - OPEN },
		.arg = { 0, (long)place->data, (long)place->room, (long)request->file->offset },
	};
	slots[CLOSE] = (struct batch_slot){
		.nr = SYS_close,
		.argc = 1 | BATCH_ARGC_FORWARD,
		.from = { CLOSE - OPEN },
	};
}

/* Whether the read shows that PLACE holds the whole file. */
static bool is_whole(const long results[SLOTS], const struct read_request *request,
		     const struct place *place)
{
	return results[OPEN] >= 0 && results[READ] > 0 && (size_t)results[READ] < place->room &&
	       (size_t)results[READ] == ferry__contents_rest(request->file, request->stat);
}

static void finish(struct read_request *request, struct place *place, const long results[SLOTS])
{
	request->done = is_whole(results, request, place);
	if (request->done) {
		place->length = (size_t)results[READ];
		ferry__contents_store(request->file, place, 0);
	} else {
		ferry__place_trim(place);
	}
}

/* Whether one read can fetch the whole file, and show that it has. */
static bool fits(struct place *place, const struct read_request *request,
		 struct shared_arena *arena)
{
	size_t size = ferry__contents_rest(request->file, request->stat);

	if (!size || ferry__place_init(place, request->file, size, arena))
		return false;
	if (place->room > size)
		return true;
	ferry__place_trim(place);
	return false;
}

void ferry__read_batch(enum ferry_engine engine, int dir, unsigned int flags,
		       struct read_request requests[], size_t count, struct shared_arena *arena)
{
	struct batch_slot slots[READ_BATCH_MOST * SLOTS];
	struct read_request *in_batch[READ_BATCH_MOST];
	struct place places[READ_BATCH_MOST];
	long results[READ_BATCH_MOST * SLOTS];
	size_t used = 0, i;

	for (i = 0; i < count; i++) {
		requests[i].done = false;
		if (!fits(&places[used], &requests[i], arena))
			continue;
		in_batch[used] = &requests[i];
		fill(&slots[used * SLOTS], dir, flags, &requests[i], &places[used]);
		results[used * SLOTS + READ] = -1;
		results[used * SLOTS + OPEN] = -1;
		used++;
	}
	if (used)
		ferry_batch_on(engine, results, slots, used * SLOTS, 0, sizeof(*slots));
	for (i = used; i--;)
		finish(in_batch[i], &places[i], &results[i * SLOTS]);
}
