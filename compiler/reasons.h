/* SPDX-License-Identifier: MIT */
/* Why a region ends, in words, and the small change of the source that would extend it. */
#ifndef COMPILER_REASONS_H
#define COMPILER_REASONS_H

#include <string>

#include <llvm/IR/Instruction.h>

namespace ferry
{

struct Reason {
	const char *key;    // in JSON
	const char *text;   // '@': a name
	const char *remedy; // what would extend the region, or ""
};

namespace reasons
{

inline constexpr Reason functionEnds = { "function-ends", "the function ends", "" };
inline constexpr Reason loopBack = { "loop", "a loop goes back", "" };
inline constexpr Reason content = { "condition", "a condition needs more of a result than its sign",
				    "test the contents after the last call" };
inline constexpr Reason switchContent = { "switch", "a switch needs more of a result than its sign",
					  "switch after the last call" };
inline constexpr Reason unknownCall = {
	"unknown-call", "@() may do anything",
	"call it before the first or after the last of these calls"
};
inline constexpr Reason callByPointer = {
	"call-by-pointer", "a function is called by a pointer",
	"call it before the first or after the last of these calls"
};
inline constexpr Reason invoke = { "exception", "a call may throw an exception", "" };
inline constexpr Reason nearMiss = { "not-a-wrapper", "no batch can make the call of @", "" };
inline constexpr Reason assembly = { "assembly", "assembly may do anything",
				     "put it before the first or after the last of these calls" };
inline constexpr Reason isVolatile = {
	"volatile", "an access is volatile or atomic",
	"access it before the first or after the last of these calls"
};
inline constexpr Reason tooFar = { "too-far", "no call follows for long", "" };
inline constexpr Reason reachedOtherwise = { "other-way",
					     "@() can be reached without the first call", "" };
inline constexpr Reason cold = { "cold", "the program seldom comes to @()", "" };
inline constexpr Reason overwritten = {
	"overwritten", "@() may read or overwrite what is stored between the calls",
	"store it before the first of these calls, or give each call memory of its own"
};
inline constexpr Reason overwrites = { "overwrites",
				       "@() may overwrite what is read between the calls",
				       "give each call a buffer of its own" };
inline constexpr Reason ordered = {
	"order", "@() may order threads, and memory that others can see is accessed before it",
	"access it before the first or after the last of these calls"
};
inline constexpr Reason failedResult = { "failed-result",
					 "@() may be given the result of a call that failed",
					 "leave it out where the earlier call failed" };
inline constexpr Reason computed = { "computed", "an argument of @() is computed from a result",
				     "pass the result itself" };
inline constexpr Reason cut = { "cut", "@() is given a part of a result",
				"keep the result in a long" };
inline constexpr Reason partOfWord = { "part-of-word", "@() is given a part of a word of memory",
				       "" };
inline constexpr Reason readsErrno = { "errno", "@() is given the address of errno", "copy errno" };
inline constexpr Reason storedBefore = { "stored",
					 "an argument of @() depends on what is stored before it",
					 "store it before the first of these calls" };
inline constexpr Reason otherRegion = { "other-region", "@() belongs to another region", "" };
inline constexpr Reason tooMany = { "too-many", "a batch of the compiler has no more slots", "" };

} // namespace reasons

/** Where and why a region ends. */
struct End {
	llvm::Instruction *at = nullptr;
	const Reason *reason = nullptr;
	std::string name; // in the reason's text

	std::string text() const
	{
		std::string text = reason->text;
		size_t at = text.find('@');

		return at == std::string::npos ? text : text.replace(at, 1, name);
	}
};

} // namespace ferry

#endif // COMPILER_REASONS_H
