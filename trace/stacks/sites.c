// SPDX-License-Identifier: MIT
#include "sites.h"

#include <stdlib.h>
#include <string.h>

#include "../hash.h"
#include "common/memory.h"
#include "images.h"
#include "stack.h"
#include "unwind.h"

#define STACKS_MAX 64  /* of a finding: each takes some 0.1 ms */
#define FRAMES_ALIKE 3 /* in which the calls of one site agree */
#define FRAMES_SHOWN 3

/* ---- the C library ---- */

/* Its functions make calls for others; a program asks who these are. */
static bool is_library(const struct frame *frame)
{
	static const char *const beginnings[] = { "libc.so",	"libc-",  "libpthread",
						  "ld-linux",	"ld-2.",  "ld-musl",
						  "libc.musl",	"[vdso]", "libasan.so",
						  "libtsan.so", NULL };
	size_t i;

	for (i = 0; beginnings[i]; i++)
		if (!strncmp(frame->module, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

static void skip_library(struct site *site)
{
	while (site->first < site->count && is_library(&site->of[site->first]))
		site->first++;
	if (site->first == site->count)
		site->first = 0;
}

/* ---- the calls of a finding ---- */

static bool is_part_of(const struct seen_call *seen, const char *kind)
{
	if (!strcmp(kind, "processes"))
		return starts_process(seen->call);
	if (!strcmp(kind, "switches"))
		return seen->call->waited_ns > 0;
	return seen->claimed && !strcmp(seen->claimed, kind);
}

struct stacks {
	const struct user_stack *of[STACKS_MAX];
	size_t count;
};

/* STACKS_MAX of them, at equal distances, where there are more. */
static struct stacks stacks_of(const struct evidence *evidence, const char *kind)
{
	struct stacks stacks = { 0 };
	size_t i, seen = 0, all = 0;

	for (i = 0; i < evidence->count; i++)
		all += evidence->of[i].call->stack && is_part_of(&evidence->of[i], kind);
	for (i = 0; i < evidence->count && stacks.count < STACKS_MAX; i++) {
		if (!evidence->of[i].call->stack || !is_part_of(&evidence->of[i], kind))
			continue;
		if (all <= STACKS_MAX || seen * STACKS_MAX / all >= stacks.count)
			stacks.of[stacks.count++] = evidence->of[i].call->stack;
		seen++;
	}
	return stacks;
}

static int by_process(const void *a, const void *b)
{
	const struct user_stack *const *one = a, *const *other = b;

	if ((*one)->process != (*other)->process)
		return (*one)->process < (*other)->process ? -1 : 1;
	return ((*one)->ns > (*other)->ns) - ((*one)->ns < (*other)->ns);
}

/* ---- sites ---- */

/* Wherever the files lie in memory. */
static uint64_t key_of(const struct site *site)
{
	uint64_t key = 0;
	size_t i;

	for (i = site->first; i < site->count && i < site->first + FRAMES_ALIKE; i++)
		key = hash_number(site->of[i].offset, hash_text(site->of[i].module, key));
	return key;
}

static void add(struct sites *sites, struct site site)
{
	size_t i;

	for (i = 0; i < sites->count; i++)
		if (key_of(&sites->of[i]) == key_of(&site)) {
			sites->of[i].share += site.share;
			return;
		}
	sites->of = keep_more(sites->of, sites->count, sizeof(site));
	sites->of[sites->count++] = site;
}

static int most_first(const void *a, const void *b)
{
	const struct site *one = a, *other = b;

	return (one->share < other->share) - (one->share > other->share);
}

struct sites sites_of(const struct evidence *evidence, const char *kind)
{
	struct stacks stacks = stacks_of(evidence, kind);
	struct sites sites = { .stacks = stacks.count };
	double all = 0;
	size_t i;

	if (stacks.count)
		qsort(stacks.of, stacks.count, sizeof(*stacks.of), by_process);
	for (i = 0; i < stacks.count; i++) {
		struct site site = { .share = stacks.of[i]->stands };

		all += site.share;
		site.count = unwind(stacks.of[i], site.of, FRAMES_MAX);
		skip_library(&site);
		if (site.count)
			add(&sites, site);
	}
	for (i = 0; i < sites.count; i++)
		sites.of[i].share /= all;
	if (sites.count)
		qsort(sites.of, sites.count, sizeof(*sites.of), most_first);
	return sites;
}

void sites_end(void)
{
	unwind_end();
}

/* ---- for people ---- */

static const char *frame_text(const struct frame *frame)
{
	if (!frame->function)
		return keep_text("%s+%#lx", frame->module, frame->offset);
	if (!frame->source)
		return keep_text("%s in %s", frame->function, frame->module);
	return keep_text("%s (%s:%d)", frame->function, frame->source, frame->line);
}

const char *site_text(const struct site *site)
{
	const char *text = frame_text(&site->of[site->first]);
	size_t i, shown = 1;

	for (i = site->first + 1; i < site->count && shown < FRAMES_SHOWN; i++, shown++) {
		if (is_library(&site->of[i]))
			break;
		text = keep_text("%s, from %s", text, frame_text(&site->of[i]));
	}
	return text;
}
