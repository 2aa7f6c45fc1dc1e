/* SPDX-License-Identifier: MIT */
/* Follows a program from a call, once for each outcome, and collects the region that begins there.
 */
#ifndef COMPILER_WALK_H
#define COMPILER_WALK_H

#include <map>
#include <set>

#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>

#include "region.h"

namespace ferry
{

/** Whether the program can go from the end of FROM to the beginning of TO, but not by WITHOUT. */
bool reaches(const llvm::BasicBlock *from, const llvm::BasicBlock *to,
	     const llvm::BasicBlock *without = nullptr);

class Walk
{
      public:
	Walk(llvm::Function &function, llvm::FunctionAnalysisManager &analyses,
	     const Memory &memory);

	/** The region that begins with FIRST; calls of TAKEN are in others. */
	Region from(llvm::CallBase &first, const std::set<const llvm::Value *> &taken);

      private:
	/* An edge to a call that is not accepted yet. */
	struct Edge {
		unsigned from;
		int outcome; // of OUTCOMES
		Conditions when;
	};
	struct Pending {
		llvm::CallBase *call = nullptr;
		std::vector<Edge> edges;
		Facts facts;
		Accesses before;
	};
	/* One way from a slot, so far. */
	struct Path {
		llvm::BasicBlock::iterator at;
		Way way;
		Conditions when;
		Accesses accesses;
		llvm::CallBase *target = nullptr; // the end of the way: a call, or END
		End end;

		bool stop(llvm::Instruction &at, const Reason &reason, llvm::StringRef name = "")
		{
			end = { &at, &reason, name.str() };
			return false;
		}
	};
	using Place = std::pair<unsigned, unsigned>; // of a block, and of an instruction in it

	Place placeOf(const llvm::Instruction &instruction) const;
	bool isBack(const llvm::BasicBlock *from, const llvm::BasicBlock *to) const;

	/* Following. */
	void goOn(unsigned slot);
	bool leave(llvm::CallBase &call, Path &path);
	void arrive(unsigned slot, int outcome, const Facts &facts, const Path &path);
	bool advance(unsigned slot, const Facts &facts, Path &path, std::vector<Path> &others);
	bool passBranch(unsigned slot, const Facts &facts, llvm::BranchInst &branch, Path &path,
			std::vector<Path> &others);
	bool passSwitch(const Facts &facts, llvm::SwitchInst &choice, Path &path);
	bool split(unsigned slot, llvm::Value *condition, llvm::BranchInst &branch, Path &path,
		   std::vector<Path> &others);
	bool enter(llvm::Instruction &terminator, llvm::BasicBlock *to, Path &path);
	llvm::BasicBlock *meeting(llvm::Instruction &branch, Accesses &accesses) const;

	/* Accepting. */
	const Reason *accept(Pending &pending);
	bool isCold(const llvm::BasicBlock &block) const;
	const Reason *whyNotPassing(const Slot &slot, std::vector<EarlyStore> &stores);
	const Reason *plan(Slot &slot, Pending &pending);
	const Reason *planResult(Slot &slot, Pending &pending, llvm::Value *value, int from,
				 Argument &argument);
	const Reason *planCopy(Slot &slot, llvm::LoadInst &load, Argument &argument) const;
	bool isEndedByFailure(const Pending &pending, unsigned from) const;
	bool canStoreEarly(const Access &access, const Slot &slot,
			   std::set<llvm::Instruction *> &together) const;
	bool isKnown(llvm::Value *value, const Accesses &before, const llvm::CallBase *user,
		     int depth = 0) const;
	bool isKnownLoad(llvm::LoadInst &load, const Accesses &before,
			 const llvm::CallBase *user) const;

	const llvm::DominatorTree &dominators;
	const llvm::LoopInfo &loops;
	const llvm::BlockFrequencyInfo &frequencies;
	const llvm::PostDominatorTree &postDominators;
	const Memory &memory;
	std::map<const llvm::BasicBlock *, unsigned> order; // of blocks: those before come first

	const std::set<const llvm::Value *> *taken = nullptr;
	llvm::CallBase *first = nullptr;
	Region region;
	std::map<Place, Pending> queue;
	bool leaves = false; // a way from the first call leads out of the region
};

} // namespace ferry

#endif // COMPILER_WALK_H
