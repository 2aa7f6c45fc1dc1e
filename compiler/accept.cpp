// SPDX-License-Identifier: MIT
/* Whether a call may join a region: every rule that keeps a program's meaning is here or in
 * memory.cpp. */
#include <algorithm>

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/IntrinsicInst.h>

#include "mutants.h"
#include "walk.h"

using namespace llvm;

namespace ferry
{

constexpr unsigned MOST_SLOTS = 64; // 4 KiB of the stack, which may be that of a signal handler
constexpr unsigned LAST_ARGUMENT = 6;
constexpr int DEEPEST = 16; // expressions that are computed ahead

/* Of sigaction()'s structure the batch gets copies: as it is at the first call, with the stores
 * since. */
static bool takesCopies(const Wrapper &wrapper)
{
	return wrapper.needs == Needs::action;
}

const Reason *Walk::accept(Pending &pending)
{
	Slot slot(*pending.call, *recognise(*pending.call));
	std::vector<EarlyStore> stores;

	slot.facts = pending.facts;
	slot.before = pending.before;
	if (region.length() >= MOST_SLOTS)
		return &reasons::tooMany;
	if (!dominators.dominates(first, slot.call) && slot.call != first && enforced("dominance"))
		return &reasons::reachedOtherwise;
	if (isCold(*slot.call->getParent()) && enforced("cold"))
		return &reasons::cold;
	const BasicBlock *block = slot.call->getParent(), *firstBlock = first->getParent();
	slot.isRepeated = block != firstBlock && reaches(block, block, firstBlock);
	if (takesCopies(*slot.wrapper) && enforced("action-copies"))
		for (const Slot &other : region.slots)
			for (const MemoryLocation &place : slot.places.read)
				if (memory.mayAlias(other.places.written, place))
					return &reasons::computed;
	if (auto why = whyNotPassing(slot, stores))
		return why;
	if (auto why = plan(slot, pending))
		return why;
	region.stores.insert(region.stores.end(), stores.begin(), stores.end());
	for (const Edge &edge : pending.edges)
		region.slots[edge.from].jumps[edge.outcome].push_back(
			{ unsigned(region.slots.size()), edge.when });
	region.slots.push_back(slot);
	return nullptr;
}

/* Whether the program seldom comes to BLOCK: profiles, expectations, cold functions and aborts. */
bool Walk::isCold(const BasicBlock &block) const
{
	constexpr uint64_t seldom = 16; // as LLVM weighs calls of cold functions
	auto *node = dominators.getNode(&block);

	for (; node && node->getIDom(); node = node->getIDom()) {
		const BasicBlock *from = node->getIDom()->getBlock();
		const Loop *loop = loops.getLoopFor(from);

		if (loop && !loop->contains(node->getBlock()))
			continue; // each loop ends, however often it goes round
		if (from->getTerminator()->getNumSuccessors() == 2 &&
		    frequencies.getBlockFreq(node->getBlock()).getFrequency() <=
			    frequencies.getBlockFreq(from).getFrequency() / seldom)
			return true;
	}
	return false;
}

/* ---- accesses ---- */

/*
 * What the program did between the first call and this one it now does after the batch: neither it
 * nor the kernel nor another thread may notice.
 */
const Reason *Walk::whyNotPassing(const Slot &slot, std::vector<EarlyStore> &stores)
{
	std::set<Instruction *> together;

	for (const Access &access : slot.before) {
		const bool writes = memory.mayAlias(slot.places.written, access.place);
		const bool reads =
			access.isStore && memory.mayAlias(slot.places.read, access.place);
		const bool isEarly =
			access.isStore && any_of(region.stores, [&](const EarlyStore &early) {
				return early.instruction == access.instruction;
			});

		if (writes && enforced("overwrite"))
			return access.isStore ? &reasons::overwritten : &reasons::overwrites;
		if (reads && !isEarly && enforced("read-after-store")) {
			if (!canStoreEarly(access, slot, together))
				return &reasons::overwritten;
			stores.push_back({ access.instruction, unsigned(region.slots.size()) });
		}
		if (!slot.wrapper->isQuiet && !memory.isUnshared(access) && enforced("order"))
			return &reasons::ordered;
	}
	return nullptr;
}

/*
 * Whether the store can be made ahead, too, of the batch: nothing before it in the program, and no
 * slot, may see or undo that.  TOGETHER are earlier stores to the same variable.
 */
bool Walk::canStoreEarly(const Access &access, const Slot &slot,
			 std::set<Instruction *> &together) const
{
	Instruction *store = access.instruction;
	AllocaInst *variable = privateVariable(access.place.Ptr);
	auto *copy = dyn_cast<MemTransferInst>(store);
	std::vector<Instruction *> left{ variable };
	std::set<Instruction *> seen;

	if (!variable ||
	    (!isa<StoreInst>(store) && !isa<MemIntrinsic>(store) && !fillsSignalSet(*store)))
		return false;
	if (copy && !memory.isConstant(MemoryLocation::getForSource(copy)))
		return false;
	for (Value *operand : store->operands())
		if (!isa<Function>(operand) && !isKnown(operand, slot.before, slot.call))
			return false;
	while (!left.empty()) {
		Instruction *address = left.back();

		left.pop_back();
		for (User *user : address->users()) {
			auto *use = cast<Instruction>(user);
			const int other = region.slotOf(use);

			if (!seen.insert(use).second || use == store ||
			    use->isLifetimeStartOrEnd() || dominators.dominates(store, use) ||
			    together.count(use))
				continue;
			if (isAddress(*use)) {
				left.push_back(use);
			} else if (dominators.dominates(use, first) &&
				   !reaches(first->getParent(), first->getParent())) {
				continue; // it is over
			} else if ((isa<StoreInst>(use) || isa<MemSetInst>(use) ||
				    fillsSignalSet(*use)) &&
				   dominators.dominates(use, store)) {
				together.insert(use); // which is made ahead in the same way
			} else if ((other < 0 || !takesCopies(*region.slots[other].wrapper)) &&
				   enforced("early-store-uses")) {
				return false;
			}
		}
	}
	return true;
}

/* ---- arguments ---- */

const Reason *Walk::plan(Slot &slot, Pending &pending)
{
	for (unsigned i = 0; i < slot.wrapper->count; i++) {
		const Operand &operand = slot.wrapper->operands[i];
		Argument argument;

		argument.number = operand.constant;
		if (operand.parameter < 0 || unsigned(operand.parameter) >= slot.call->arg_size()) {
			slot.arguments.push_back(argument);
			continue;
		}
		Value *value = slot.call->getArgOperand(operand.parameter), *base = value;
		while (isa<SExtInst>(base) || isa<ZExtInst>(base))
			base = cast<CastInst>(base)->getOperand(0);
		auto *cut = dyn_cast<TruncInst>(base);
		const int from = region.slotOf(base);
		auto *load = dyn_cast<LoadInst>(base);

		argument.value = value;
		if (value->getType()->isPointerTy() && isErrno(value) && enforced("errno"))
			return &reasons::readsErrno;
		if (cut && region.slotOf(cut->getOperand(0)) >= 0)
			return &reasons::cut;
		if (auto *number = dyn_cast<ConstantInt>(value)) {
			argument.number = operand.isUnsigned ? long(number->getZExtValue()) :
							       number->getSExtValue();
		} else if (isa<ConstantPointerNull>(value)) {
			argument.number = 0;
		} else if (from >= 0) {
			if (auto why = planResult(slot, pending, base, from, argument))
				return why;
		} else if (isKnown(value, slot.before, slot.call)) {
			argument.kind = Argument::known;
		} else if (load && load == value) {
			if (auto why = planCopy(slot, *load, argument))
				return why;
		} else {
			return &reasons::computed;
		}
		slot.arguments.push_back(argument);
	}
	return nullptr;
}

/*
 * Of a call that failed the program has -1, and the batch another number.  Then the batch can still
 * end before this slot, on those ways.
 */
const Reason *Walk::planResult(Slot &slot, Pending &pending, Value *value, int from,
			       Argument &argument)
{
	auto fact = slot.facts.find(value);

	if (fact == slot.facts.end())
		return &reasons::failedResult;
	if (fact->second & Failed && enforced("failed-result")) {
		if (!isEndedByFailure(pending, from))
			return &reasons::failedResult;
		pending.edges.erase(std::remove_if(pending.edges.begin(), pending.edges.end(),
						   [&](const Edge &edge) {
							   return int(edge.from) == from &&
								  OUTCOMES[edge.outcome] == Failed;
						   }),
				    pending.edges.end());
		fact->second &= ~Failed;
		leaves = true;
	}
	argument.kind = Argument::forwarded;
	argument.from = from;
	return nullptr;
}

/* Whether each way here after a failure of the slot FROM comes directly from it, and others exist.
 */
bool Walk::isEndedByFailure(const Pending &pending, unsigned from) const
{
	unsigned direct = 0;

	for (const Edge &edge : pending.edges) {
		const Slot &other = region.slots[edge.from];

		if (edge.from == from) {
			direct += OUTCOMES[edge.outcome] == Failed;
			continue;
		}
		auto fact = other.facts.find(region.slots[from].call);
		if (fact == other.facts.end() || fact->second & Failed)
			return false;
	}
	return direct && direct < pending.edges.size();
}

/*
 * The batch reads the word just before the call; the program may have read it earlier.  A slot that
 * wrote it in between was refused, because it may not overwrite what the program reads.
 */
const Reason *Walk::planCopy(Slot &slot, LoadInst &load, Argument &argument) const
{
	const MemoryLocation place = MemoryLocation::get(&load);

	if (!load.isSimple() || isErrno(load.getPointerOperand()) ||
	    (mayBeErrno(load) && !memory.isUnshared({ &load, false, place }) &&
	     enforced("copy-errno")) ||
	    !isKnown(load.getPointerOperand(), slot.before, slot.call))
		return &reasons::computed;
	if (StringRef(slot.wrapper->call) == "fstat") // whose arguments the run time may move
		return &reasons::computed;
	argument.isHalf = load.getType()->isIntegerTy(32);
	if (!load.getType()->isPointerTy() && !load.getType()->isIntegerTy(64) && !argument.isHalf)
		return &reasons::partOfWord;
	if (argument.isHalf && slot.arguments.size() + 1 == LAST_ARGUMENT)
		return &reasons::partOfWord; // its copy would reach into the next slot
	for (const Access &store : slot.before)
		if (store.isStore && memory.mayAlias(store.place, place) && enforced("copy-stored"))
			return &reasons::storedBefore;
	argument.kind = Argument::copied;
	argument.load = &load;
	slot.copies += 1 + argument.isHalf;
	return nullptr;
}

/* ---- values ahead ---- */

/* Whether INSTRUCTION can be made at AT as well, although the program may not come to it. */
static bool isSpeculatable(const Instruction &instruction, const Instruction &at,
			   const DominatorTree &dominators)
{
#if LLVM_VERSION_MAJOR < 17
	return isSafeToSpeculativelyExecute(&instruction, &at, &dominators);
#else
	return isSafeToSpeculativelyExecute(&instruction, &at, nullptr, &dominators);
#endif
}

/*
 * Whether VALUE can be computed at the first call, before any slot has run.  BEFORE are the
 * accesses since then; USER, a call that is to join, or nullptr.
 */
bool Walk::isKnown(Value *value, const Accesses &before, const CallBase *user, int depth) const
{
	auto *instruction = dyn_cast<Instruction>(value);

	if (isa<Constant>(value) || isa<llvm::Argument>(value) ||
	    (instruction && dominators.dominates(instruction, first)))
		return true;
	if (!instruction || depth > DEEPEST || isa<PHINode>(instruction))
		return false;
	if (auto *load = dyn_cast<LoadInst>(instruction)) {
		if (!isKnownLoad(*load, before, user))
			return false;
	} else if (instruction->mayHaveSideEffects() || instruction->mayReadFromMemory() ||
		   (isa<CallBase>(instruction) && !isa<IntrinsicInst>(instruction)) ||
		   !isSpeculatable(*instruction, *first, dominators)) {
		return false;
	}
	return all_of(instruction->operands(), [&](const Use &operand) {
		return isa<Function>(operand) || isKnown(operand, before, user, depth + 1);
	});
}

bool Walk::isKnownLoad(LoadInst &load, const Accesses &before, const CallBase *user) const
{
	const MemoryLocation place = MemoryLocation::get(&load);
	const Access access = { &load, false, place };
	/* Every way from the first call has so far led to USER. */
	const bool isSure = user && !leaves && queue.size() == 1;

	if (!load.isSimple() || isErrno(load.getPointerOperand()))
		return false;
	for (const Slot &slot : region.slots) {
		if (memory.mayAlias(slot.places.written, place) && enforced("load-written"))
			return false;
		if (memory.isUnshared(access))
			continue;
		if (!slot.wrapper->isQuiet && enforced("load-order"))
			return false;
		if (setsErrno(*slot.wrapper) && mayBeErrno(load) && enforced("load-errno"))
			return false;
	}
	for (const Access &store : before)
		if (store.isStore && memory.mayAlias(store.place, place) && enforced("load-stored"))
			return false;
	return isSure || isSpeculatable(load, *first, dominators) || !enforced("load-speculated");
}

} // namespace ferry
