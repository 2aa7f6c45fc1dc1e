// SPDX-License-Identifier: MIT
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include "clock.h"
#include "common/output.h"

#define BAR 24
#define BETWEEN_NS 1e8

static struct {
	const char *what;
	size_t total;
	double started;
	double shown; /* when it was last written, ns */
} progress;

void progress_begin(const char *what, size_t total)
{
	progress.what = what;
	progress.total = is_terminal(STDERR_FILENO) ? total : 0;
	progress.started = progress.shown = now_ns();
	progress_at(0);
}

static void show(size_t done, double now)
{
	static const char full[] = "########################", rest[] = "........................";
	int filled = (int)(BAR * done / progress.total);
	double left = (now - progress.started) / 1e9 * (double)(progress.total - done);

	fprintf(stderr, "\r%s  [%.*s%.*s]  %zu of %zu", progress.what, filled, full, BAR - filled,
		rest, done, progress.total);
	if (done)
		fprintf(stderr, ", %.0f s left", left / (double)done);
	fputs("\033[K", stderr);
}

void progress_at(size_t done)
{
	double now;

	if (!progress.total)
		return;
	now = now_ns();
	if (done && now - progress.shown < BETWEEN_NS)
		return;
	progress.shown = now;
	show(done, now);
}

void progress_end(void)
{
	if (progress.total)
		fputs("\r\033[K", stderr);
	progress.total = 0;
}
