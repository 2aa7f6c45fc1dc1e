// SPDX-License-Identifier: MIT
/* The pass as clang loads it: finds the regions of each function, and explains them. */
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "explain.h"
#include "mutants.h"
#include "walk.h"
#include "write.h"

using namespace llvm;

namespace ferry
{

namespace
{

/* Whether the source says __attribute__((annotate(WORD))) of FUNCTION. */
bool isAnnotated(const Function &function, StringRef word)
{
	auto *all = function.getParent()->getNamedGlobal("llvm.global.annotations");
	auto *list = all && all->hasInitializer() ? dyn_cast<ConstantArray>(all->getInitializer()) :
						    nullptr;

	for (unsigned i = 0; list && i < list->getNumOperands(); i++) {
		auto *entry = cast<ConstantStruct>(list->getOperand(i));
		auto *text = dyn_cast<GlobalVariable>(entry->getOperand(1)->stripPointerCasts());
		auto *data = text && text->hasInitializer() ?
				     dyn_cast<ConstantDataArray>(text->getInitializer()) :
				     nullptr;

		if (entry->getOperand(0)->stripPointerCasts() == &function && data &&
		    data->isCString() && data->getAsCString() == word)
			return true;
	}
	return false;
}

/* A function where calls stay as they are: the first time is not the only one, or is seldom. */
bool isLeftAlone(const Function &function)
{
	return function.hasOptNone() || function.hasFnAttribute(Attribute::Cold) ||
	       function.callsFunctionThatReturnsTwice() || function.hasFnAttribute("no-builtins") ||
	       function.hasFnAttribute(Attribute::SanitizeAddress) ||
	       function.hasFnAttribute(Attribute::SanitizeHWAddress) ||
	       function.hasFnAttribute(Attribute::SanitizeMemory) ||
	       function.hasFnAttribute(Attribute::SanitizeThread) ||
	       isAnnotated(function, "ferry_never");
}

std::vector<CallBase *> recognisedCalls(Function &function)
{
	ReversePostOrderTraversal<Function *> blocks(&function);
	std::vector<CallBase *> calls;

	for (BasicBlock *block : blocks)
		for (Instruction &instruction : *block)
			if (recognise(instruction))
				calls.push_back(cast<CallBase>(&instruction));
	return calls;
}

/* One function, or a copy of it. */
class Search
{
      public:
	Search(Function &function, FunctionAnalysisManager &analyses, const Explaining &explaining,
	       bool isIndependent)
	    : function(function), analyses(analyses), explaining(explaining),
	      isIndependent(isIndependent)
	{
	}
	bool run()
	{
		bool isChanged = isIndependent && unrollLoops(function, analyses);

		for (; step(); isChanged = true)
			analyses.invalidate(function, PreservedAnalyses::none());
		return isChanged;
	}

      private:
	/* Explains, and writes one batch: false if there is none left, or it is not wanted. */
	bool step()
	{
		const KernelKeepsNothing attributes(function);
		const Memory memory(analyses.getResult<AAManager>(function), isIndependent);
		const std::vector<Region> regions = next(Walk(function, analyses, memory));

		explaining.explain(function.getName(), regions,
				   analyses.getResult<OptimizationRemarkEmitterAnalysis>(function));
		if (explaining.only || regions.empty() || regions.back().inARow() < WORTH)
			return false;
		writeBatch(function, regions.back(),
			   analyses.getResult<DominatorTreeAnalysis>(function));
		return true;
	}
	/* The regions and calls alone that are left; the first worth a batch is the last. */
	std::vector<Region> next(Walk walk)
	{
		std::vector<Region> regions;

		for (CallBase *call : recognisedCalls(function)) {
			if (taken.count(call))
				continue;
			Region region = walk.from(*call, taken);
			const bool isWorth = region.inARow() >= WORTH;
			taken.insert(call);
			if (!isWorth)
				region.slots = { Slot(*call, *recognise(*call)) };
			for (const Slot &slot : region.slots)
				taken.insert(slot.call);
			regions.push_back(region);
			if (isWorth && !explaining.only)
				break;
		}
		return regions;
	}

	Function &function;
	FunctionAnalysisManager &analyses;
	const Explaining &explaining;
	const bool isIndependent;
	std::set<const Value *> taken; // each call is in one region, or alone
};

constexpr const char *SEEN = "ferry-cc"; // an attribute of functions

struct Pass : PassInfoMixin<Pass> {
	PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses)
	{
		const Explaining explaining = Explaining::ofEnvironment();

		if (!isSupported(*function.getParent()) || recognisedCalls(function).empty() ||
		    (isLeftAlone(function) && enforced("left-alone")) ||
		    function.hasFnAttribute(SEEN))
			return PreservedAnalyses::all();
		function.addFnAttr(SEEN);
		const bool isIndependent = isAnnotated(function, "ferry_independent");
		if (!explaining.only || !isIndependent)
			return Search(function, analyses, explaining, isIndependent).run() ?
				       PreservedAnalyses::none() :
				       PreservedAnalyses::all();
		/* Loops are unrolled in a copy: the code that is compiled stays as it is. */
		ValueToValueMapTy values;
		Function *copy = CloneFunction(&function, values);
		copy->takeName(&function);
		Search(*copy, analyses, explaining, isIndependent).run();
		analyses.clear(*copy, copy->getName());
		function.takeName(copy);
		copy->eraseFromParent();
		return PreservedAnalyses::all();
	}
};

void registerPass(PassBuilder &builder)
{
	builder.registerPipelineStartEPCallback(
		[](ModulePassManager &passes, OptimizationLevel) { passes.addPass(TurnOff()); });
	builder.registerVectorizerStartEPCallback(
		[](FunctionPassManager &passes, OptimizationLevel) { passes.addPass(Pass()); });
	/* With -flto=thin, there are no vectorizers before the link, which does not run the pass.
	 */
	builder.registerOptimizerLastEPCallback([](ModulePassManager &passes, OptimizationLevel) {
		passes.addPass(createModuleToFunctionPassAdaptor(Pass()));
	});
}

} // namespace

} // namespace ferry

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo()
{
	return { LLVM_PLUGIN_API_VERSION, "ferry", FERRY_PROJECT_VERSION, ferry::registerPass };
}
