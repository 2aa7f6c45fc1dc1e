/* SPDX-License-Identifier: MIT */
/* What ferry writes into programs: batches, turns of loops, and where batches are turned off. */
#ifndef COMPILER_WRITE_H
#define COMPILER_WRITE_H

#include <llvm/IR/Dominators.h>
#include <llvm/IR/PassManager.h>

#include "region.h"

namespace ferry
{

/**
 * Has FUNCTION run the calls of REGION as a batch when it reaches the first, if the run time says
 * that batches gain here.  The function's own code stays: each call becomes "if the batch made it,
 * take its result; else make it".  No analysis of FUNCTION is valid afterwards.
 */
void writeBatch(llvm::Function &function, const Region &region, llvm::DominatorTree &dominators);

/** ferry_auto_state of lib/auto, declared in MODULE: 32 bits. */
llvm::GlobalVariable *runTimeState(llvm::Module &module);

/** Has the run time make no batches where this WRAPPER is not the C library's. */
void keepName(llvm::Module &module, const std::string &wrapper);

/**
 * Unrolls the innermost loops of FUNCTION that make one of the first few calls in each turn, and
 * gives each turn its own copies of variables that live in one turn only.  Returns whether it
 * changed FUNCTION, of which no analysis is valid then.
 */
bool unrollLoops(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);

/**
 * Modules that turn batches off: by filters that may end a process for a call that they do not
 * know, and by functions of their own with the names of wrappers.  It runs first, before link-time
 * optimisation too, and on functions that are not optimised.
 */
struct TurnOff : llvm::PassInfoMixin<TurnOff> {
	llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &analyses);
	static bool isRequired()
	{
		return true;
	}
};

} // namespace ferry

#endif // COMPILER_WRITE_H
