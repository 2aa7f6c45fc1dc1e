// SPDX-License-Identifier: MIT
#include "memory.h"

#include <llvm/Analysis/CaptureTracking.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "mutants.h"

using namespace llvm;

namespace ferry
{

constexpr unsigned SIGNAL_SET_SIZE = 128;

void addAccesses(Accesses &all, const Accesses &more)
{
	for (const Access &access : more)
		if (none_of(all, [&](const Access &known) {
			    return known.instruction == access.instruction &&
				   known.isStore == access.isStore;
		    }))
			all.push_back(access);
}

/* ---- an instruction ---- */

static Step endOf(End &end, Instruction &at, const Reason *reason, StringRef name = "")
{
	end = { &at, reason, name.str() };
	return Step::end;
}

/* It reads nothing but what its arguments lead to, and always comes back. */
static bool onlyReadsArguments(const CallBase &call)
{
	return call.onlyReadsMemory() && call.onlyAccessesArgMemory() &&
	       call.hasFnAttr(Attribute::WillReturn) && call.doesNotThrow();
}

Step Memory::lookAtCall(CallBase &call, Accesses &accesses, End &end) const
{
	const Function *callee = call.getCalledFunction();
	const char *why = nullptr;

	if (call.isInlineAsm())
		return enforced("assembly") ? endOf(end, call, &reasons::assembly) : Step::quiet;
	if (recognise(call, &why))
		return Step::call;
	if (why)
		return endOf(end, call, &reasons::nearMiss, (callee->getName() + ": " + why).str());
	if (isErrno(&call))
		return Step::quiet;
	if (auto *set = dyn_cast<MemIntrinsic>(&call)) {
		if (set->isVolatile() && enforced("volatile"))
			return endOf(end, call, &reasons::isVolatile);
		accesses.push_back({ &call, true, MemoryLocation::getForDest(set) });
		if (auto *copy = dyn_cast<MemTransferInst>(set))
			accesses.push_back({ &call, false, MemoryLocation::getForSource(copy) });
		return Step::quiet;
	}
	if (fillsSignalSet(call)) {
		accesses.push_back({ &call, true,
				     MemoryLocation(call.getArgOperand(0),
						    LocationSize::precise(SIGNAL_SET_SIZE)) });
		return Step::quiet;
	}
	if (onlyReadsArguments(call)) {
		for (Value *argument : call.args())
			if (argument->getType()->isPointerTy())
				accesses.push_back({ &call, false,
						     MemoryLocation::getBeforeOrAfter(argument) });
		return Step::quiet;
	}
	if (!enforced("unknown-call"))
		return Step::quiet;
	return callee ? endOf(end, call, &reasons::unknownCall, callee->getName()) :
			endOf(end, call, &reasons::callByPointer);
}

Step Memory::look(Instruction &instruction, Accesses &accesses, End &end) const
{
	auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction);

	if (isa<PHINode>(instruction) || instruction.isDebugOrPseudoInst() ||
	    instruction.isLifetimeStartOrEnd() || (intrinsic && intrinsic->isAssumeLikeIntrinsic()))
		return Step::quiet;
	auto *load = dyn_cast<LoadInst>(&instruction);
	auto *store = dyn_cast<StoreInst>(&instruction);
	if (load || store) {
		if (!(load ? load->isSimple() : store->isSimple()) && enforced("volatile"))
			return endOf(end, instruction, &reasons::isVolatile);
		if (!isErrno(getLoadStorePointerOperand(&instruction)))
			accesses.push_back(
				{ &instruction, !load, MemoryLocation::get(&instruction) });
		return Step::quiet;
	}
	auto *call = dyn_cast<CallBase>(&instruction);
	if (call && (call->isInlineAsm() || !call->doesNotAccessMemory() ||
		     !call->hasFnAttr(Attribute::WillReturn) || !call->doesNotThrow()))
		return lookAtCall(*call, accesses, end);
	if ((instruction.mayHaveSideEffects() || instruction.mayReadFromMemory()) &&
	    enforced("volatile"))
		return endOf(end, instruction, &reasons::isVolatile);
	return Step::quiet;
}

/* ---- places ---- */

AllocaInst *privateVariable(const Value *pointer)
{
	auto *variable =
		const_cast<AllocaInst *>(dyn_cast<AllocaInst>(getUnderlyingObject(pointer)));

	if (!variable || (PointerMayBeCaptured(variable, false, true) && enforced("captured")))
		return nullptr;
	return variable;
}

bool Memory::isConstant(const MemoryLocation &place) const
{
	return aliases.pointsToConstantMemory(place);
}

bool Memory::isUnshared(const Access &access) const
{
	return independent || privateVariable(access.place.Ptr) ||
	       (!access.isStore && isConstant(access.place));
}

bool Memory::mayAlias(const MemoryLocation &a, const MemoryLocation &b) const
{
	if (independent && getUnderlyingObject(a.Ptr) != getUnderlyingObject(b.Ptr))
		return false;
	return aliases.alias(a, b) != AliasResult::NoAlias;
}

bool Memory::mayAlias(const std::vector<MemoryLocation> &places, const MemoryLocation &place) const
{
	return any_of(places, [&](const MemoryLocation &other) { return mayAlias(other, place); });
}

uint64_t bytesOf(const CallBase &call, const Operand &operand)
{
	if (operand.length < 0)
		return operand.size;
	auto *length = dyn_cast<ConstantInt>(call.getArgOperand(operand.length));
	return length ? operand.size * length->getZExtValue() : 0;
}

static LocationSize sizeOf(const CallBase &call, const Wrapper &wrapper, const Operand &operand)
{
	const uint64_t bytes =
		wrapper.needs == Needs::action ? SIGACTION_SIZE : bytesOf(call, operand);

	return bytes ? LocationSize::precise(bytes) : LocationSize::afterPointer();
}

Places::Places(const CallBase &call, const Wrapper &wrapper)
{
	for (unsigned i = 0; i < wrapper.count; i++) {
		const Operand &operand = wrapper.operands[i];
		const Value *pointer;

		if (operand.parameter < 0 || unsigned(operand.parameter) >= call.arg_size())
			continue;
		pointer = call.getArgOperand(operand.parameter);
		if (!pointer->getType()->isPointerTy() || isa<ConstantPointerNull>(pointer))
			continue;
		MemoryLocation place(pointer, sizeOf(call, wrapper, operand));
		if (operand.kind == 'a')
			place = MemoryLocation::getBeforeOrAfter(pointer);
		if (operand.kind != 'r' && operand.kind != 's')
			read.push_back(place);
		if (operand.kind != 'p' && operand.kind != 'w' && operand.kind != 't')
			written.push_back(place);
	}
}

/* ---- what the kernel keeps ---- */

KernelKeepsNothing::KernelKeepsNothing(Function &function)
{
	for (Instruction &instruction : instructions(function)) {
		auto *call = dyn_cast<CallBase>(&instruction);

		if (!call || (!recognise(*call) && !fillsSignalSet(*call)))
			continue;
		before.push_back({ call, call->getAttributes() });
		for (unsigned i = 0; i < call->arg_size(); i++)
			if (call->getArgOperand(i)->getType()->isPointerTy())
				call->addParamAttr(i, Attribute::NoCapture);
	}
}

KernelKeepsNothing::~KernelKeepsNothing()
{
	for (auto &[call, attributes] : before)
		call->setAttributes(attributes);
}

} // namespace ferry
