// SPDX-License-Identifier: MIT
#include "windows.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define CALLS_MAX 32768 /* takes 10 MiB, with paths */

static void free_calls(struct window *window)
{
	size_t i;

	for (i = 0; i < window->count; i++)
		call_free_texts(&window->calls[i]);
	free(window->calls);
	window->calls = NULL;
	window->count = window->room = 0;
	window->kept = false;
}

/* An open one is freed when it is closed. */
static void halve(struct windows *windows)
{
	size_t i, kept = 0;

	windows->halvings++;
	for (i = 0; i < windows->count; i++) {
		struct window *window = windows->of[i];

		if (is_in_sample(window->id, windows->halvings)) {
			windows->of[kept++] = window;
			continue;
		}
		windows->calls -= window->count;
		free_calls(window);
		if (!window->open)
			free(window);
	}
	windows->count = kept;
}

static void remember(struct windows *windows, struct window *window)
{
	if (windows->count == windows->room) {
		windows->room = windows->room ? 2 * windows->room : 64;
		windows->of = reallocate(windows->of, windows->room, sizeof(struct window *));
	}
	windows->of[windows->count++] = window;
}

struct window *windows_open(struct windows *windows, uint64_t id)
{
	struct window *window = allocate(1, sizeof(*window));

	window->id = id;
	window->open = true;
	window->kept = is_in_sample(window->id, windows->halvings);
	if (window->kept)
		remember(windows, window);
	return window;
}

bool windows_want(const struct windows *windows, const struct window *open)
{
	return open ? open->kept : is_in_sample(windows->next_id, windows->halvings);
}

static void append(struct window *window, const struct traced_call *call)
{
	if (window->count == window->room) {
		window->room = window->room ? 2 * window->room : 4;
		window->calls = reallocate(window->calls, window->room, sizeof(*call));
	}
	window->calls[window->count++] = *call;
}

void windows_add(struct windows *windows, struct window **open, struct traced_call *call)
{
	struct window *window = *open ? *open : windows_open(windows, windows->next_id++);

	*open = window;
	if (window->kept) {
		append(window, call);
		windows->calls++;
	} else {
		call_free_texts(call);
	}
	if (++window->seen == WINDOW_CALLS) {
		windows_close(window);
		*open = NULL;
	}
	while (windows->calls > CALLS_MAX)
		halve(windows);
}

void windows_restart(struct windows *windows)
{
	size_t i, open = 0;

	for (i = 0; i < windows->count; i++) {
		struct window *window = windows->of[i];

		free_calls(window);
		window->kept = window->open;
		if (window->open)
			windows->of[open++] = window;
		else
			free(window);
	}
	windows->count = open;
	windows->calls = 0;
	windows->halvings = 0;
}

void windows_close(struct window *open)
{
	open->open = false;
	if (!open->kept)
		free(open);
}
