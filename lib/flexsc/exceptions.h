/* SPDX-License-Identifier: MIT */
/*
 * The C++ exceptions that a thread is handling.  The C++ library keeps them in a thread-local
 * object of the kernel thread, whose layout the Itanium C++ ABI defines.
 */
#ifndef FLEXSC_EXCEPTIONS_H
#define FLEXSC_EXCEPTIONS_H

struct exceptions {
	void *caught;
	unsigned int uncaught;
};

/* NULL in a program without a C++ library. */
extern void *__cxa_get_globals(void) __attribute__((__weak__));

/** The calling kernel thread's, or NULL. */
static inline struct exceptions *exceptions_here(void)
{
	return __cxa_get_globals ? (struct exceptions *)__cxa_get_globals() : (void *)0;
}

#endif /* FLEXSC_EXCEPTIONS_H */
