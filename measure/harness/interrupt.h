/* SPDX-License-Identifier: MIT */
/* Ctrl-C ends the measurement, not the program: completed results are still reported. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

/** From now on SIGINT and SIGTERM are noted; the second of a kind ends the program. */
void interrupt_catch(void);

/** In a child that the parent ends: from now on all of them are noted, not the first alone. */
void interrupt_catch_all(void);

/** The signal that came, or 0. */
int interrupted(void);

#endif /* INTERRUPT_H */
