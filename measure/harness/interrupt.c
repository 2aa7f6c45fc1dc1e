// SPDX-License-Identifier: MIT
#include "interrupt.h"

#include <signal.h>

static volatile sig_atomic_t signal_seen;

static void note(int number)
{
	signal_seen = number;
}

void interrupt_catch(unsigned int flags)
{
	/* Without SA_RESTART, so that a call that blocks in a measurement ends. */
	struct sigaction action = { .sa_handler = note, .sa_flags = (int)flags };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

int interrupted(void)
{
	return signal_seen;
}
