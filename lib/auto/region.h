/* SPDX-License-Identifier: MIT */
/* What the code that `ferry cc` writes gives to the run time, and takes from it. */
#ifndef LIB_AUTO_REGION_H
#define LIB_AUTO_REGION_H

#include <signal.h>

#include <linux/subcall.h>

/*
 * The result of a call that the batch did not make, and that the program makes itself.  No call
 * fails with it, and one comparison finds it along with those that failed.
 */
#define FERRY_AUTO_NOT_MADE (-4096L)

/* A value of the program is added to a word of the slots: their indices. */
struct ferry_auto_fill {
	unsigned short word, value;
};

/* A region as the compiler knows it.  Value 0 is the address of the slots that are filled in. */
struct ferry_auto_region {
	unsigned short ncall, nfill, is_cancellable, has_fstat;
	struct batch_slot slots[]; /* NCALL, and then NFILL struct ferry_auto_fill */
};

/* The kernel's struct sigaction. */
struct ferry_auto_action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

#endif /* LIB_AUTO_REGION_H */
