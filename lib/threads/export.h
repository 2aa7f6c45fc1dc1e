/* SPDX-License-Identifier: MIT */
#ifndef THREADS_EXPORT_H
#define THREADS_EXPORT_H

/* A function that takes the place of libc's. */
#define EXPORT __attribute__((visibility("default")))

/* libc's function NAME, found when it is first called. */
/* NOLINTBEGIN(bugprone-macro-parentheses): types and declarations */
#define LIBC(name)                                                           \
	({                                                                   \
		static __typeof__(&name) function_;                          \
		if (__builtin_expect(!function_, 0))                         \
			function_ = (__typeof__(&name))real_function(#name); \
		function_;                                                   \
	})
/* NOLINTEND(bugprone-macro-parentheses) */

#endif /* THREADS_EXPORT_H */
