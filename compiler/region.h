/* SPDX-License-Identifier: MIT */
/* A region: calls of a program that one batch can make, ahead, when the program reaches the first.
 */
#ifndef COMPILER_REGION_H
#define COMPILER_REGION_H

#include "memory.h"
#include "outcomes.h"

namespace ferry
{

/** A condition that is known at the first call. */
struct Condition {
	llvm::Value *value;
	bool holds;
};
using Conditions = std::vector<Condition>;

/** Where a slot's outcome leads, if all of WHEN holds. */
struct Jump {
	unsigned target;
	Conditions when;
};

/** Where the value of an argument of a slot comes from. */
struct Argument {
	enum Kind { constant, known, forwarded, copied } kind = constant;
	long number = 0;		// constant
	llvm::Value *value = nullptr;	// known at the first call
	unsigned from = 0;		// forwarded: the result of this slot
	llvm::LoadInst *load = nullptr; // copied: the word or half that this loads, just before
	bool isHalf = false;
};

struct Slot {
	llvm::CallBase *call;
	const Wrapper *wrapper;
	Places places;
	Facts facts;	 // of the calls made before
	Accesses before; // by the program, between the first call and this one
	std::vector<Argument> arguments;
	std::vector<Jump> jumps[3]; // after each of OUTCOMES; none: the batch ends
	unsigned copies = 0;	    // slots before this one that copy words for it
	bool isRepeated = false;    // the program may make it again, and the batch the first time

	Slot(llvm::CallBase &call, const Wrapper &wrapper)
	    : call(&call), wrapper(&wrapper), places(call, wrapper)
	{
	}
	/** The jumps of outcome K of OUTCOMES; an outcome that cannot happen jumps as another. */
	const std::vector<Jump> &jumpsAfter(int k) const;
};

/** A store that is also made ahead, before the batch, because the slot BEFORE reads it. */
struct EarlyStore {
	llvm::Instruction *instruction;
	unsigned before;
};

struct Region {
	std::vector<Slot> slots;
	std::vector<EarlyStore> stores;
	std::vector<End> ends;

	/** The slot of CALL, or -1. */
	int slotOf(const llvm::Value *call) const;
	/** How many slots the batch has, copies included. */
	unsigned length() const;
	/** How many calls are made in a row if none fails; a failed search goes on with the next.
	 */
	unsigned inARow() const;
	/** The names of all calls, with blanks between them. */
	std::string names() const;
	/** The region as a program in the language of ferry-asm(5). */
	std::string program() const;
};

} // namespace ferry

#endif // COMPILER_REGION_H
