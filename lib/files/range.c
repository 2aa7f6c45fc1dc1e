// SPDX-License-Identifier: MIT
#include "range.h"

#include <errno.h>
#include <stdbool.h>

#include "calls.h"

#define MOST_AT_FIRST 1024U

/* Takes the next items, if any are left. */
static bool take(struct range *range, struct piece *piece)
{
	piece->first = atomic_fetch_add_explicit(&range->next, range->piece, memory_order_relaxed);
	if (piece->first >= range->count)
		return false;
	piece->end = range->count - piece->first < range->piece ? range->count :
								  piece->first + range->piece;
	return true;
}

static void work(struct member *member)
{
	struct range *range = (struct range *)member->crew;
	struct piece piece;

	while (!ferry__crew_stopped(member) && take(range, &piece)) {
		atomic_fetch_add_explicit(&range->failed, range->do_piece(member, piece),
					  memory_order_relaxed);
		ferry__crew_did(member, piece.end - piece.first);
	}
	ferry__calls_end(member);
}

void ferry__range_init(struct range *range, size_t count, size_t piece,
		       size_t (*do_piece)(struct member *member, struct piece piece),
		       const struct ferry_files_options *options)
{
	*range = (struct range){ .do_piece = do_piece, .count = count, .piece = piece };
	ferry__crew_init(&range->crew, work, options);
}

long ferry__range_run(struct range *range, size_t worth)
{
	size_t threads = range->count / worth;

	if (range->count <= range->piece)
		ferry__crew_run_alone(&range->crew);
	else if (threads < 2)
		ferry__crew_run(&range->crew, 1);
	else
		ferry__crew_run(&range->crew,
				threads > MOST_AT_FIRST ? MOST_AT_FIRST : (unsigned int)threads);
	return atomic_load(&range->crew.stopped) ? -ECANCELED : (long)range->failed;
}
