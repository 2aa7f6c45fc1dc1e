/* SPDX-License-Identifier: MIT */
/* Ctrl-C ends the measurement, not the program: completed results are still reported. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

/**
 * From now on SIGINT and SIGTERM are noted.  FLAGS as sigaction(2) takes them: with SA_RESETHAND
 * the second of a kind ends the program.
 */
void interrupt_catch(unsigned int flags);

/** The signal that came, or 0. */
int interrupted(void);

#endif /* INTERRUPT_H */
