// SPDX-License-Identifier: MIT
#include "recognise.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Regex.h>

#include "mutants.h"

using namespace llvm;

namespace ferry
{

static const StringMap<Wrapper> &wrappers()
{
	static const StringMap<Wrapper> table = [] {
		StringMap<Wrapper> rows;
#define WRAPPER(name, call, number, quiet, cancellable, result, needs, count, ...)              \
	rows[name] = { name,	       call,	     number, bool(quiet),    bool(cancellable), \
		       Result::result, Needs::needs, count,  { __VA_ARGS__ } };
#include "calls/wrappers.h"
#undef WRAPPER
		return rows;
	}();
	return table;
}

/* The function of the C library that INSTRUCTION calls, by name; else "". */
static StringRef libraryFunction(const Instruction &instruction)
{
	auto *call = dyn_cast<CallBase>(&instruction);
	const Function *callee = call && !call->isNoBuiltin() ? call->getCalledFunction() : nullptr;

	if (!callee || !callee->isDeclaration() ||
	    call->getFunction()->hasFnAttribute(("no-builtin-" + callee->getName()).str()))
		return "";
	return callee->getName();
}

static const ConstantInt *constant(const CallBase &call, unsigned parameter)
{
	return parameter < call.arg_size() ? dyn_cast<ConstantInt>(call.getArgOperand(parameter)) :
					     nullptr;
}

/* The wrapper passes a mode on only if the flags say that a file may be made. */
static const char *whyNotOpen(const CallBase &call, unsigned flags)
{
	constexpr uint64_t creates = 0100; // O_CREAT
	const ConstantInt *value = constant(call, flags), *mode = constant(call, flags + 1);

	if (call.arg_size() < flags + 2 || (mode && mode->isZero()))
		return nullptr;
	return value && value->getZExtValue() & creates ? nullptr :
							  "whether its mode counts is not known";
}

static const char *whyNotMmap(const CallBase &call)
{
	constexpr uint64_t fixed = 0x10 | 0x100000; // MAP_FIXED, MAP_FIXED_NOREPLACE
	constexpr uint64_t withinPage = 4095;
	const ConstantInt *flags = constant(call, 3), *offset = constant(call, 5);

	if (!isa<ConstantPointerNull>(call.getArgOperand(0)))
		return "it chooses the address";
	if (!offset || offset->getZExtValue() & withinPage) // which the wrapper refuses itself
		return "its offset is not known to be a multiple of a page";
	return flags && !(flags->getZExtValue() & fixed) ? nullptr : "it may choose the address";
}

/* Others take structures, or the wrapper makes another call for them. */
static const char *whyNotFcntl(const CallBase &call)
{
	const ConstantInt *command = constant(call, 1);

	switch (command ? command->getSExtValue() : -1) {
	case 0:	   // F_DUPFD
	case 1:	   // F_GETFD
	case 2:	   // F_SETFD
	case 3:	   // F_GETFL
	case 4:	   // F_SETFL
	case 1030: // F_DUPFD_CLOEXEC
		return nullptr;
	}
	return "its command is not one for a descriptor's flags or a duplicate";
}

static bool isNullOrObject(const Value *pointer)
{
	const Value *object = getUnderlyingObject(pointer);

	return isa<ConstantPointerNull>(pointer) || isa<AllocaInst>(object) ||
	       isa<GlobalVariable>(object);
}

static const char *whyNotAction(const CallBase &call)
{
	const ConstantInt *signal = constant(call, 0);

	if (!signal || signal->equalsInt(32) || signal->equalsInt(33)) // the C library's own
		return "its signal is not a known one";
	return isNullOrObject(call.getArgOperand(1)) && isNullOrObject(call.getArgOperand(2)) ?
		       nullptr :
		       "it may be given a null pointer";
}

static bool isWord(const Type &type)
{
	return type.isPointerTy() || type.isIntegerTy(32) || type.isIntegerTy(64);
}

static const char *whyNot(const Wrapper &wrapper, const CallBase &call)
{
	unsigned least = 0, i;

	for (i = 0; i < wrapper.count; i++)
		if (wrapper.operands[i].parameter >= 0 && !wrapper.operands[i].isOptional)
			least = std::max(least, unsigned(wrapper.operands[i].parameter) + 1);
	if (call.arg_size() < least || !isWord(*call.getType()) ||
	    any_of(call.args(), [](const Value *value) { return !isWord(*value->getType()); }))
		return "it is declared with other parameters";
	if (!enforced("needs"))
		return nullptr;
	switch (wrapper.needs) {
	case Needs::open:
		return whyNotOpen(call, 1);
	case Needs::openat:
		return whyNotOpen(call, 2);
	case Needs::mmap:
		return whyNotMmap(call);
	case Needs::fcntl:
		return whyNotFcntl(call);
	case Needs::action:
		return whyNotAction(call);
	case Needs::nothing:
		break;
	}
	return nullptr;
}

const Wrapper *recognise(const Instruction &instruction, const char **why)
{
	auto found = wrappers().find(libraryFunction(instruction));
	const char *reason;

	if (found == wrappers().end() || cast<CallBase>(instruction).isMustTailCall())
		return nullptr;
	reason = whyNot(found->second, cast<CallBase>(instruction));
	if (reason && why)
		*why = reason;
	return reason ? nullptr : &found->second;
}

bool isSupported(const Module &module)
{
	return Regex("^x86_64-.*linux-gnu$").match(module.getTargetTriple());
}

bool isWrapperName(StringRef name)
{
	return wrappers().count(name);
}

bool fillsSignalSet(const Instruction &instruction)
{
	StringRef name = libraryFunction(instruction);

	return name == "sigemptyset" || name == "sigfillset" || name == "sigaddset" ||
	       name == "sigdelset";
}

bool isErrno(const Value *pointer)
{
	auto *call = dyn_cast<Instruction>(getUnderlyingObject(pointer));

	return call && libraryFunction(*call) == "__errno_location";
}

bool mayBeErrno(const LoadInst &load)
{
	return load.getType()->isIntegerTy(32) &&
	       !isIdentifiedObject(getUnderlyingObject(load.getPointerOperand()));
}

} // namespace ferry
