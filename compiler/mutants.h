/* SPDX-License-Identifier: MIT */
/* The rules of legality by name: builds with tests can leave one out, and a test has to notice. */
#ifndef COMPILER_MUTANTS_H
#define COMPILER_MUTANTS_H

#ifdef FERRY_CC_MUTANTS
#include <cstdlib>
#include <cstring>

inline bool enforced(const char *rule)
{
	const char *without = getenv("FERRY_CC_WITHOUT");

	return !without || strcmp(without, rule) != 0;
}
#else
constexpr bool enforced(const char *)
{
	return true;
}
#endif

#endif // COMPILER_MUTANTS_H
