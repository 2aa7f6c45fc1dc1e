// SPDX-License-Identifier: MIT
#include "walk.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>

#include "mutants.h"

using namespace llvm;

namespace ferry
{

constexpr unsigned MOST_STEPS = 3000;	    // instructions between two calls
constexpr unsigned MOST_CONDITIONS = 3;	    // of one way
constexpr unsigned MOST_WAYS = 4;	    // after one outcome
constexpr unsigned MOST_BLOCKS_PASSED = 50; // between a branch and where its ways meet

Walk::Walk(Function &function, FunctionAnalysisManager &analyses, const Memory &memory)
    : dominators(analyses.getResult<DominatorTreeAnalysis>(function)),
      loops(analyses.getResult<LoopAnalysis>(function)),
      frequencies(analyses.getResult<BlockFrequencyAnalysis>(function)),
      postDominators(analyses.getResult<PostDominatorTreeAnalysis>(function)), memory(memory)
{
	ReversePostOrderTraversal<Function *> blocks(&function);

	for (BasicBlock *block : blocks)
		order[block] = order.size();
}

Region Walk::from(CallBase &call, const std::set<const Value *> &inOthers)
{
	first = &call;
	taken = &inOthers;
	region = Region();
	leaves = false;
	queue[placeOf(call)].call = &call;
	/* All ways to a call begin at earlier places, so that its edges are complete. */
	while (!queue.empty()) {
		Pending next = queue.begin()->second;
		auto refused = accept(next);

		queue.erase(queue.begin());
		if (refused) {
			leaves = true;
			region.ends.push_back({ next.call, refused, recognise(*next.call)->name });
		} else {
			goOn(region.slots.size() - 1);
		}
	}
	return std::move(region);
}

Walk::Place Walk::placeOf(const Instruction &instruction) const
{
	const BasicBlock *block = instruction.getParent();

	return { order.at(block),
		 unsigned(std::distance(block->begin(), instruction.getIterator())) };
}

bool Walk::isBack(const BasicBlock *from, const BasicBlock *to) const
{
	return order.at(to) <= order.at(from); // not every loop has one entry, which dominates it
}

/* LLVM's own search gives up after 32 blocks, and eight turns of a loop have more. */
bool reaches(const BasicBlock *from, const BasicBlock *to, const BasicBlock *without)
{
	SmallVector<const BasicBlock *, 32> left(successors(from));
	SmallPtrSet<const BasicBlock *, 32> seen;

	seen.insert(without);
	while (!left.empty()) {
		const BasicBlock *block = left.pop_back_val();

		if (block == to)
			return true;
		if (seen.insert(block).second)
			left.append(succ_begin(block), succ_end(block));
	}
	return false;
}

/* ---- following the program ---- */

void Walk::goOn(unsigned slot)
{
	for (int outcome = 0; outcome < 3; outcome++) {
		const Slot &from = region.slots[slot];
		Facts facts = from.facts;
		std::vector<Path> paths(1);

		if (!(outcomesOf(*from.wrapper) & OUTCOMES[outcome]))
			continue;
		facts[from.call] = OUTCOMES[outcome];
		paths[0].at = from.call->getIterator();
		for (size_t i = 0; i < paths.size(); i++) {
			Path path = paths[i];
			bool goesOn = i > 0 || leave(*from.call, path);

			for (unsigned steps = 0; goesOn && advance(slot, facts, path, paths);)
				if (++steps == MOST_STEPS)
					goesOn = path.stop(*path.at, reasons::tooFar);
			arrive(slot, outcome, facts, path);
		}
	}
}

void Walk::arrive(unsigned slot, int outcome, const Facts &facts, const Path &path)
{
	if (!path.target || path.target == first) {
		leaves = true;
		if (path.end.at)
			region.ends.push_back(path.end);
		return;
	}
	Pending &next = queue[placeOf(*path.target)];
	if (!next.call) {
		next.call = path.target;
		next.facts = facts;
	}
	for (auto known = next.facts.begin(); known != next.facts.end();) {
		auto now = facts.find(known->first);

		if (now == facts.end()) {
			known = next.facts.erase(known);
		} else {
			known->second |= now->second;
			++known;
		}
	}
	next.edges.push_back({ slot, outcome, path.when });
	addAccesses(next.before, region.slots[slot].before);
	addAccesses(next.before, path.accesses);
}

/* Goes on behind CALL, if it does not throw. */
bool Walk::leave(CallBase &call, Path &path)
{
	if (auto *invoke = dyn_cast<InvokeInst>(&call))
		return enter(call, invoke->getNormalDest(), path);
	++path.at;
	return true;
}

/* Goes on by one instruction: false at the end of the way. */
bool Walk::advance(unsigned slot, const Facts &facts, Path &path, std::vector<Path> &others)
{
	Instruction &instruction = *path.at;

	if (auto *branch = dyn_cast<BranchInst>(&instruction))
		return passBranch(slot, facts, *branch, path, others);
	if (auto *choice = dyn_cast<SwitchInst>(&instruction))
		return passSwitch(facts, *choice, path);
	if (instruction.isTerminator() && !recognise(instruction))
		return path.stop(instruction, isa<InvokeInst>(instruction) ? reasons::invoke :
									     reasons::functionEnds);
	++path.at;
	const Step step = memory.look(instruction, path.accesses, path.end);
	if (step != Step::call)
		return step == Step::quiet;
	if (taken->count(&instruction))
		return path.stop(instruction, reasons::otherRegion, recognise(instruction)->name);
	path.target = cast<CallBase>(&instruction);
	return false;
}

/* Goes on at the beginning of TO; always false where that is back in a loop. */
bool Walk::enter(Instruction &terminator, BasicBlock *to, Path &path)
{
	BasicBlock *from = terminator.getParent();
	Way way = path.way;

	if (isBack(from, to)) {
		return path.stop(terminator, reasons::loopBack);
	}
	for (PHINode &phi : to->phis()) {
		Value *value = phi.getIncomingValueForBlock(from);
		auto *earlier = dyn_cast<PHINode>(value);
		auto known = earlier ? path.way.find(earlier) : path.way.end();

		way[&phi] = known == path.way.end() ? value : known->second;
	}
	path.way = way;
	path.at = to->getFirstNonPHI()->getIterator();
	return true;
}

bool Walk::passBranch(unsigned slot, const Facts &facts, BranchInst &branch, Path &path,
		      std::vector<Path> &others)
{
	const Knowledge knowledge = { facts, path.way };

	if (branch.isUnconditional())
		return enter(branch, branch.getSuccessor(0), path);
	if (auto known = knowledge.truth(branch.getCondition()))
		return enter(branch, branch.getSuccessor(*known ? 0 : 1), path);
	Value *condition = knowledge.rest(branch.getCondition());
	for (const Condition &earlier : path.when)
		if (earlier.value == condition)
			return enter(branch, branch.getSuccessor(earlier.holds ? 0 : 1), path);
	if (BasicBlock *join = meeting(branch, path.accesses)) {
		for (PHINode &phi : join->phis())
			path.way[&phi] = nullptr;
		path.at = join->getFirstNonPHI()->getIterator();
		return true;
	}
	return split(slot, condition, branch, path, others);
}

/* A condition that is known at the first call becomes a jump that is chosen there. */
bool Walk::split(unsigned slot, Value *condition, BranchInst &branch, Path &path,
		 std::vector<Path> &others)
{
	Accesses before = region.slots[slot].before;

	addAccesses(before, path.accesses);
	if (path.when.size() >= MOST_CONDITIONS || others.size() >= MOST_WAYS ||
	    !isKnown(condition, before, nullptr)) {
		return path.stop(branch, reasons::content);
	}
	Path other = path;
	other.when.push_back({ condition, false });
	path.when.push_back({ condition, true });
	if (enter(branch, branch.getSuccessor(1), other)) {
		others.push_back(other);
	} else {
		leaves = true;
		region.ends.push_back(other.end);
	}
	return enter(branch, branch.getSuccessor(0), path);
}

bool Walk::passSwitch(const Facts &facts, SwitchInst &choice, Path &path)
{
	auto known = Knowledge{ facts, path.way }.range(choice.getCondition());

	if (!known || !known->isSingleElement()) {
		return path.stop(choice, reasons::switchContent);
	}
	auto *value = ConstantInt::get(choice.getContext(), *known->getSingleElement());
	return enter(choice, choice.findCaseValue(value)->getCaseSuccessor(), path);
}

/* Where the ways from BRANCH meet again, if they have neither calls nor loops: else nullptr. */
BasicBlock *Walk::meeting(Instruction &branch, Accesses &accesses) const
{
	BasicBlock *from = branch.getParent();
	auto *node = postDominators.getNode(from);
	BasicBlock *join = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
	std::vector<BasicBlock *> left(succ_begin(from), succ_end(from));
	std::set<BasicBlock *> seen;
	Accesses found;
	End end;

	if (!join || isBack(from, join))
		return nullptr;
	while (!left.empty()) {
		BasicBlock *block = left.back();

		left.pop_back();
		if (block == join || !seen.insert(block).second)
			continue;
		if (seen.size() > MOST_BLOCKS_PASSED || isBack(from, block))
			return nullptr;
		for (Instruction &instruction : *block)
			if (isa<InvokeInst>(instruction) ||
			    (!instruction.isTerminator() &&
			     memory.look(instruction, found, end) != Step::quiet))
				return nullptr;
		for (BasicBlock *next : successors(block)) {
			if (isBack(block, next))
				return nullptr;
			left.push_back(next);
		}
	}
	addAccesses(accesses, found);
	return join;
}

} // namespace ferry
