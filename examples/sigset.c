// SPDX-License-Identifier: MIT
/* sigset: queries the disposition of each signal, as a shell does at start, in one batch. */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

static const char help[] =
	"Usage: sigset\n"
	"Prints number, name and disposition (default, ignored or handled) of every signal at\n"
	"the start of the process.\n"
	"\n"
	"  --help  print this\n"
	"\n"
	"Example: (trap '' HUP; sigset | grep ignored)\n";

#define SIGNALS 64
#define FIRST_REALTIME 32 /* the kernel's; libc keeps the first two or three for itself */

/* What rt_sigaction() stores.  The handler comes first everywhere; the rest is not used. */
union kernel_action {
	void (*handler)(int);
	char space[64];
};

static void ask(union kernel_action actions[])
{
	const long mask_size = SIGNALS / 8;
	struct batch_slot calls[SIGNALS];
	long results[SIGNALS];
	int i;

	for (i = 0; i < SIGNALS; i++)
		calls[i] = (struct batch_slot){
			.nr = SYS_rt_sigaction,
			.argc = 4,
			.arg = { i + 1, 0, (long)&actions[i], mask_size },
		};
	run_batch(results, calls, SIGNALS);
	for (i = 0; i < SIGNALS; i++)
		if (results[i])
			errx(EXIT_FAILURE, "cannot ask for signal %d: %s", i + 1,
			     strerror((int)-results[i]));
}

static void print(int number, const union kernel_action *action)
{
	const char *disposition = "handled";

	if (action->handler == SIG_DFL)
		disposition = "default";
	else if (action->handler == SIG_IGN)
		disposition = "ignored";
	if (number >= FIRST_REALTIME)
		printf("%d\tRT%d\t%s\n", number, number - FIRST_REALTIME, disposition);
	else
		printf("%d\t%s\t%s\n", number, sigabbrev_np(number), disposition);
}

int main(int argc, char *argv[])
{
	union kernel_action actions[SIGNALS];
	int i;

	next_option(argc, argv, "", help);
	if (optind < argc)
		usage_error("'%s' is too much: sigset takes no arguments", argv[optind]);
	begin();
	ask(actions);
	for (i = 0; i < SIGNALS; i++)
		print(i + 1, &actions[i]);
	return finish(EXIT_SUCCESS);
}
