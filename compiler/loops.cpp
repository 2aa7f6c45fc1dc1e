// SPDX-License-Identifier: MIT

#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include "recognise.h"
#include "walk.h"
#include "write.h"

using namespace llvm;

namespace ferry
{

constexpr unsigned TURNS = 8;	   // next to each other
constexpr unsigned MOST_CALLS = 4; // of a turn

/* ---- unrolling ---- */

/* Whether each turn of LOOP makes a call that a batch can make, and few of them. */
static bool makesCalls(const Loop &loop, const DominatorTree &dominators)
{
	unsigned calls = 0;
	bool always = false;

	for (const BasicBlock *block : loop.blocks())
		for (const Instruction &instruction : *block)
			if (recognise(instruction)) {
				calls++;
				always |= dominators.dominates(block, loop.getLoopLatch());
			}
	return always && calls <= MOST_CALLS;
}

static bool unroll(Loop &loop, Function &function, FunctionAnalysisManager &analyses)
{
	auto &loops = analyses.getResult<LoopAnalysis>(function);
	auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
	auto &dominators = analyses.getResult<DominatorTreeAnalysis>(function);
	auto &assumptions = analyses.getResult<AssumptionAnalysis>(function);
	Loop *outermost = &loop;
	UnrollLoopOptions options = {};

	while (outermost->getParentLoop())
		outermost = outermost->getParentLoop();
	simplifyLoop(outermost, &dominators, &loops, &evolution, &assumptions, nullptr, false);
	formLCSSARecursively(*outermost, dominators, &loops, &evolution);
	options.Count = TURNS;
	options.Force = true;
	options.Runtime = true;
	options.AllowExpensiveTripCount = true;
	return UnrollLoop(&loop, options, &loops, &evolution, &dominators, &assumptions,
			  &analyses.getResult<TargetIRAnalysis>(function),
			  &analyses.getResult<OptimizationRemarkEmitterAnalysis>(function),
			  true) != LoopUnrollResult::Unmodified;
}

/* ---- variables that live in one turn ---- */

using Starts = std::vector<Instruction *>; // of the lives of one variable

static MapVector<AllocaInst *, Starts> livesOf(Function &function)
{
	MapVector<AllocaInst *, Starts> lives;

	for (Instruction &instruction : instructions(function)) {
		auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction);

		if (intrinsic && intrinsic->getIntrinsicID() == Intrinsic::lifetime_start)
			if (auto *variable = dyn_cast<AllocaInst>(
				    getUnderlyingObject(intrinsic->getArgOperand(1))))
				lives[variable].push_back(intrinsic);
	}
	return lives;
}

/* Which life USE belongs to, or -1 if that depends on the way there. */
static int lifeOf(const Instruction &use, const Starts &starts, const DominatorTree &dominators)
{
	int latest = -1;

	for (size_t i = 0; i < starts.size(); i++)
		if ((starts[i] == &use || dominators.dominates(starts[i], &use)) &&
		    (latest < 0 || dominators.dominates(starts[latest], starts[i])))
			latest = int(i);
	if (latest < 0)
		return -1;
	const BasicBlock *begin = starts[latest]->getParent(), *end = use.getParent();
	for (const Instruction *start : starts)
		if (end != begin && start->getParent() != begin &&
		    reaches(start->getParent(), end, begin))
			return -1;
	return latest;
}

/* ADDRESS, which leads to one variable, as it is in VARIABLE, for an instruction at AT. */
static Value *rebuilt(Value *address, AllocaInst *variable, Instruction *at)
{
	if (isa<AllocaInst>(address))
		return variable;
	Instruction *copy = cast<Instruction>(address)->clone();
	copy->setOperand(0, rebuilt(copy->getOperand(0), variable, at));
	copy->insertBefore(at);
	return copy;
}

static void separate(AllocaInst *variable, const Starts &starts, const DominatorTree &dominators)
{
	std::vector<std::pair<Use *, int>> uses;
	std::vector<Instruction *> addresses = { variable };
	std::vector<AllocaInst *> copies = { variable };

	for (size_t i = 0; i < addresses.size(); i++)
		for (Use &use : addresses[i]->uses()) {
			auto *user = cast<Instruction>(use.getUser());

			if (isAddress(*user)) {
				addresses.push_back(user);
				continue;
			}
			const int life = isa<PHINode>(user) || isa<SelectInst>(user) ?
						 -1 :
						 lifeOf(*user, starts, dominators);
			if (life < 0)
				return;
			uses.push_back({ &use, life });
		}
	while (copies.size() < starts.size()) {
		auto *copy = cast<AllocaInst>(variable->clone());
		copy->insertAfter(variable);
		copies.push_back(copy);
	}
	for (auto &[use, life] : uses)
		if (life > 0)
			use->set(rebuilt(use->get(), copies[life],
					 cast<Instruction>(use->getUser())));
}

bool unrollLoops(Function &function, FunctionAnalysisManager &analyses)
{
	auto &loops = analyses.getResult<LoopAnalysis>(function);
	bool isChanged = false;

	for (Loop *loop : loops.getLoopsInPreorder())
		if (loop->isInnermost() && loop->getLoopLatch() &&
		    makesCalls(*loop, analyses.getResult<DominatorTreeAnalysis>(function)))
			isChanged |= unroll(*loop, function, analyses);
	if (!isChanged)
		return false;
	analyses.invalidate(function, PreservedAnalyses::none());
	for (auto &[variable, starts] : livesOf(function))
		if (starts.size() > 1)
			separate(variable, starts,
				 analyses.getResult<DominatorTreeAnalysis>(function));
	analyses.invalidate(function, PreservedAnalyses::none());
	return true;
}

} // namespace ferry
