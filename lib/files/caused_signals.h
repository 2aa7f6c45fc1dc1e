/* SPDX-License-Identifier: MIT */
/* The signal mask of threads that leave signals to the application's.  C++ includes this, too. */
#ifndef FILES_CAUSED_SIGNALS_H
#define FILES_CAUSED_SIGNALS_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/*
 * Blocks all signals but those that an instruction or a call itself causes: if one of them is
 * blocked, the kernel ends the process instead of calling the handler, which may repair the cause.
 */
static inline void ferry__block_signals(sigset_t *before)
{
	static const int caused[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
	sigset_t blocked;
	size_t i;

	sigfillset(&blocked);
	for (i = 0; i < sizeof(caused) / sizeof(*caused); i++)
		sigdelset(&blocked, caused[i]);
	pthread_sigmask(SIG_SETMASK, &blocked, before);
}

#endif /* FILES_CAUSED_SIGNALS_H */
