// SPDX-License-Identifier: MIT

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include "explain.h"
#include "recognise.h"
#include "write.h"

using namespace llvm;

namespace ferry
{

constexpr const char *NOT_A_NAME = "(own)"; // of a function of the C library

/* Whether the first argument is one of the two, or not known. */
static bool maySay(const CallBase &call, uint64_t one, uint64_t other)
{
	auto *word = call.arg_size() ? dyn_cast<ConstantInt>(call.getArgOperand(0)) : nullptr;

	return !word || word->equalsInt(one) || word->equalsInt(other);
}

static bool mayInstallFilter(const Instruction &instruction)
{
	constexpr uint64_t PR_SET_SECCOMP = 22, PR_SET_NO_NEW_PRIVS = 38;
	constexpr uint64_t NR_prctl = 157, NR_seccomp = 317;
	auto *call = dyn_cast<CallBase>(&instruction);
	const Function *callee = call ? call->getCalledFunction() : nullptr;

	if (!callee || !callee->isDeclaration())
		return false;
	if (callee->getName() == "prctl")
		return maySay(*call, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS);
	if (callee->getName() == "syscall")
		return maySay(*call, NR_prctl, NR_seccomp);
	return callee->getName() == "seccomp_load";
}

static bool turnOffBeforeFilters(Function &function)
{
	bool any = false;

	for (Instruction &instruction : instructions(function)) {
		if (!mayInstallFilter(instruction))
			continue;
		IRBuilder<> at(&instruction);
		at.CreateStore(at.getInt32(0), runTimeState(*function.getParent()))
			->setAtomic(AtomicOrdering::Monotonic);
		any = true;
	}
	return any;
}

PreservedAnalyses TurnOff::run(Module &module, ModuleAnalysisManager &)
{
	bool isChanged = false;

	if (!isSupported(module) || Explaining::ofEnvironment().only)
		return PreservedAnalyses::all();
	for (Function &function : module) {
		isChanged |= turnOffBeforeFilters(function);
		if (!function.isDeclarationForLinker() && !function.hasLocalLinkage() &&
		    isWrapperName(function.getName())) {
			/* A look-up does not find it if the linker took it and hid it. */
			keepName(module, NOT_A_NAME);
			isChanged = true;
		}
	}
	return isChanged ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace ferry
