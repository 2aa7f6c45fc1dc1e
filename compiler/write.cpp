// SPDX-License-Identifier: MIT
#include "write.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

using namespace llvm;

namespace ferry
{

GlobalVariable *runTimeState(Module &module)
{
	auto *state = cast<GlobalVariable>(module.getOrInsertGlobal(
		"ferry_auto_state", Type::getInt32Ty(module.getContext())));

	state->setVisibility(GlobalValue::HiddenVisibility);
	return state;
}

void keepName(Module &module, const std::string &wrapper)
{
	const std::string name = "ferry.wrapper." + wrapper;

	if (module.getNamedGlobal(name))
		return;
	Constant *text = ConstantDataArray::getString(module.getContext(), wrapper);
	auto *variable = new GlobalVariable(module, text->getType(), true,
					    GlobalValue::LinkOnceODRLinkage, text, name);
	variable->setComdat(module.getOrInsertComdat(name)); // the linker keeps one of each name
	variable->setVisibility(GlobalValue::HiddenVisibility);
	variable->setSection("ferry_wrappers");
	variable->setAlignment(Align(1));
	appendToUsed(module, { variable });
}

namespace
{

constexpr unsigned SLOT_WORDS = 8;
constexpr unsigned FIRST_ARGUMENT = 2; // word of a slot
constexpr unsigned ACTION_WORDS = 4;   // struct ferry_auto_action
constexpr uint16_t END = 0xffff;       // a jump of -1
constexpr uint16_t COPY = 0xfffe;      // the number of a word copy
constexpr uint64_t IN_USE = 0x80;      // argc: from[] is
constexpr int64_t NOT_MADE = -4096;    // FERRY_AUTO_NOT_MADE
constexpr unsigned SELDOM = 64;	       // times as often as a call fails, it does not

class Writer
{
      public:
	Writer(Function &function, const Region &region, DominatorTree &dominators)
	    : function(function), region(region), dominators(dominators),
	      module(*function.getParent()), context(module.getContext()), builder(context),
	      word(Type::getInt64Ty(context)),
	      pointer(PointerType::getUnqual(Type::getInt8Ty(context)))
	{
	}
	void write();

      private:
	void number();
	AllocaInst *variable(unsigned words, const char *name);
	Value *ahead(Value *value);
	Instruction *copyAhead(Instruction &instruction);
	Value *asWord(Value *value, bool isUnsigned);
	Value *wordOf(AllocaInst *array, unsigned index);
	Value *addressOf(AllocaInst *array, unsigned index);
	CallInst *callRunTime(const char *name, Type *result, ArrayRef<Value *> arguments);

	void fillIn();
	void storeEarly(unsigned slot);
	void convertActions(unsigned slot);
	void fillHead(unsigned slot);
	void fillArguments(unsigned slot);
	Value *chosenJump(const std::vector<Jump> &jumps, unsigned from);
	unsigned fillCopy(unsigned at, unsigned byte);
	void clearHalf(unsigned at, const Slot &slot, unsigned i, unsigned place);

	Constant *regionText();
	Value *run();
	void take(unsigned slot, Value *ran);
	Value *fitted(Value *raw, Type *type);
	Value *takeResult(unsigned slot, BasicBlock *make, BasicBlock *after, PHINode *result);
	void endLifetimes();

	Function &function;
	const Region &region;
	DominatorTree &dominators;
	Module &module;
	LLVMContext &context;
	IRBuilder<> builder; // at the place at hand
	IntegerType *word;
	PointerType *pointer;

	std::vector<unsigned> index; // of each slot, copies counted
	std::vector<uint64_t> words; // of all slots, as far as the compiler knows them
	/* What the program adds to words, with their indices; nullptr: the address of the slots. */
	MapVector<Value *, std::vector<unsigned>> late;
	DenseMap<Value *, Value *> clones;
	std::map<std::pair<Value *, bool>, Value *> asWords;
	size_t stored = 0; // early stores that were made
	AllocaInst *rets = nullptr;
	struct Action {
		Value *given = nullptr, *in = nullptr; // the last that was converted, into which
		std::vector<AllocaInst *> out;	       // of each slot
	} action;
};

void Writer::number()
{
	unsigned next = 0;

	for (const Slot &slot : region.slots) {
		next += slot.copies;
		index.push_back(next++);
	}
	words.resize(next * SLOT_WORDS);
	action.out.resize(region.slots.size());
	rets = variable(next, "ferry.rets");
	late.insert({ nullptr, {} });
}

AllocaInst *Writer::variable(unsigned count, const char *name)
{
	IRBuilder<> at(&*function.getEntryBlock().getFirstInsertionPt());

	return at.CreateAlloca(ArrayType::get(word, count), nullptr, name);
}

/* VALUE as it is at the first call. */
Value *Writer::ahead(Value *value)
{
	auto *instruction = dyn_cast<Instruction>(value);

	if (!instruction || dominators.dominates(instruction, region.slots[0].call))
		return value;
	if (Value *clone = clones.lookup(value))
		return clone;
	Instruction *clone = copyAhead(*instruction);
	clone->dropUnknownNonDebugMetadata();
	clones[value] = clone;
	return clone;
}

Instruction *Writer::copyAhead(Instruction &instruction)
{
	Instruction *copy = instruction.clone();

	for (Use &operand : copy->operands())
		operand = ahead(operand);
	return builder.Insert(copy);
}

Value *Writer::asWord(Value *value, bool isUnsigned)
{
	Value *&known = asWords[{ value, isUnsigned }];

	if (known)
		return known;
	if (value->getType()->isPointerTy())
		return known = builder.CreatePtrToInt(value, word);
	return known = isUnsigned ? builder.CreateZExtOrTrunc(value, word) :
				    builder.CreateSExtOrTrunc(value, word);
}

/* The address of a word of ARRAY. */
Value *Writer::wordOf(AllocaInst *array, unsigned at)
{
	return builder.CreateConstInBoundsGEP2_64(array->getAllocatedType(), array, 0, at);
}

/* The same as a generic pointer. */
Value *Writer::addressOf(AllocaInst *array, unsigned at)
{
	return builder.CreatePointerCast(wordOf(array, at), pointer);
}

CallInst *Writer::callRunTime(const char *name, Type *result, ArrayRef<Value *> arguments)
{
	std::vector<Type *> types;

	for (Value *argument : arguments)
		types.push_back(argument->getType());
	FunctionCallee callee =
		module.getOrInsertFunction(name, FunctionType::get(result, types, false));
	cast<Function>(callee.getCallee())->setVisibility(GlobalValue::HiddenVisibility);
	cast<Function>(callee.getCallee())->setDoesNotThrow();
	return builder.CreateCall(callee, arguments);
}

/* ---- the slots ---- */

void Writer::fillIn()
{
	for (unsigned slot = 0; slot < region.slots.size(); slot++) {
		storeEarly(slot);
		if (region.slots[slot].wrapper->needs == Needs::action)
			convertActions(slot);
		fillHead(slot);
		fillArguments(slot);
	}
}

void Writer::storeEarly(unsigned slot)
{
	for (; stored < region.stores.size() && region.stores[stored].before == slot; stored++) {
		copyAhead(*region.stores[stored].instruction);
		action.given = nullptr; // it may have changed
	}
}

/* A structure that did not change since the last slot is not converted again. */
void Writer::convertActions(unsigned slot)
{
	Value *given = region.slots[slot].call->getArgOperand(1);

	if (!isa<ConstantPointerNull>(given) && given != action.given) {
		action.given = given;
		action.in = addressOf(variable(ACTION_WORDS, "ferry.action"), 0);
		callRunTime("ferry_auto_action_in", builder.getVoidTy(),
			    { action.in, builder.CreatePointerCast(ahead(given), pointer) });
	}
	if (!isa<ConstantPointerNull>(region.slots[slot].call->getArgOperand(2)))
		action.out[slot] = variable(ACTION_WORDS, "ferry.action");
}

Value *Writer::chosenJump(const std::vector<Jump> &jumps, unsigned from)
{
	Value *chosen = builder.getInt64(END);

	for (const Jump &jump : jumps) {
		Value *all = builder.getTrue();

		for (const Condition &condition : jump.when) {
			Value *value = ahead(condition.value);
			/* The program does not look at a condition if one before it fails. */
			all = builder.CreateLogicalAnd(
				all, builder.CreateFreeze(
					     condition.holds ? value : builder.CreateNot(value)));
		}
		const unsigned begin = index[jump.target] - region.slots[jump.target].copies;
		chosen = builder.CreateSelect(all, builder.getInt64(begin - index[from] - 1),
					      chosen);
	}
	return chosen;
}

void Writer::fillHead(unsigned slot)
{
	const unsigned first = index[slot] * SLOT_WORDS;

	words[first] = uint16_t(region.slots[slot].wrapper->number);
	for (int k = 0; k < 3; k++) {
		const unsigned shift = 16 * (k + 1);
		auto *jump = chosenJump(region.slots[slot].jumpsAfter(k), slot);

		if (auto *known = dyn_cast<ConstantInt>(jump))
			words[first] |= known->getZExtValue() << shift;
		else
			late[builder.CreateShl(jump, shift)].push_back(first);
	}
}

void Writer::fillArguments(unsigned at)
{
	const Slot &slot = region.slots[at];
	const unsigned first = index[at] * SLOT_WORDS;
	const bool isAction = slot.wrapper->needs == Needs::action;
	unsigned copy = (index[at] - slot.copies) * SLOT_WORDS, source;
	uint64_t argc = slot.arguments.size();
	std::vector<std::pair<unsigned, unsigned>> halves;

	for (unsigned i = 0; i < slot.arguments.size(); i++) {
		const Argument &argument = slot.arguments[i];
		const unsigned place = first + FIRST_ARGUMENT + i;

		switch (argument.kind) {
		case Argument::constant:
			words[place] = argument.number;
			break;
		case Argument::forwarded:
			argc |= IN_USE | uint64_t(index[at] - index[argument.from])
						 << (8 * (i + 1));
			break;
		case Argument::known:
			late[asWord(isAction && i == 1 ? action.in :
				    isAction && i == 2 ? addressOf(action.out[at], 0) :
							 ahead(argument.value),
				    slot.wrapper->operands[i].isUnsigned)]
				.push_back(place);
			break;
		case Argument::copied:
			source = fillCopy(copy, place * sizeof(uint64_t));
			late[asWord(ahead(argument.load->getPointerOperand()), false)].push_back(
				source);
			if (argument.isHalf)
				halves.push_back({ copy + SLOT_WORDS, i });
			copy += SLOT_WORDS * (1 + argument.isHalf);
			break;
		}
	}
	words[first + 1] = argc;
	for (auto [at, i] : halves)
		clearHalf(at, slot, i, first + FIRST_ARGUMENT + i);
}

/* A slot at the word AT that copies to a byte of the slots: the word that gets the source. */
unsigned Writer::fillCopy(unsigned at, unsigned byte)
{
	/* A word that cannot be read ends the batch: the program faults itself. */
	words[at] = COPY | uint64_t(END) << 16;
	words[at + 1] = 2;
	words[at + FIRST_ARGUMENT] = byte;
	late[nullptr].push_back(at + FIRST_ARGUMENT);
	return at + FIRST_ARGUMENT + 1;
}

/*
 * Argument I of SLOT, at the word PLACE, got the half of a word and the half after that.  A second
 * copy, of a word in its own slot, clears the latter; it has to repeat a half of the next argument.
 */
void Writer::clearHalf(unsigned at, const Slot &slot, unsigned i, unsigned place)
{
	constexpr unsigned half = 32;
	const unsigned source = fillCopy(at, place * sizeof(uint64_t) + sizeof(uint32_t));
	const unsigned repeated = source + 1;

	words[source] = repeated * sizeof(uint64_t);
	late[nullptr].push_back(source);
	words[repeated] = words[place + 1] << half;
	if (i + 1 < slot.arguments.size() && slot.arguments[i + 1].kind == Argument::known)
		late[builder.CreateShl(asWord(ahead(slot.arguments[i + 1].value),
					      slot.wrapper->operands[i + 1].isUnsigned),
				       half)]
			.push_back(repeated);
}

/* ---- running ---- */

/* The region as struct ferry_auto_region. */
Constant *Writer::regionText()
{
	std::vector<uint16_t> fills;
	uint16_t value = 0;
	bool isCancellable = false, hasFstat = false;

	for (auto &[unused, places] : late) {
		for (unsigned place : places)
			fills.insert(fills.end(), { uint16_t(place), value });
		value++;
	}
	for (const Slot &slot : region.slots) {
		keepName(module, slot.wrapper->name);
		isCancellable |= slot.wrapper->isCancellable;
		hasFstat |= StringRef(slot.wrapper->call) == "fstat";
	}
	const uint16_t head[] = { uint16_t(words.size() / SLOT_WORDS), uint16_t(fills.size() / 2),
				  isCancellable, hasFstat };
	auto *text = ConstantStruct::getAnon({ ConstantDataArray::get(context, head),
					       ConstantDataArray::get(context, words),
					       ConstantDataArray::get(context, fills) });
	auto *variable = new GlobalVariable(module, text->getType(), true,
					    GlobalValue::PrivateLinkage, text, "ferry.region");
	variable->setAlignment(Align(sizeof(uint64_t)));
	variable->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
	return ConstantExpr::getPointerCast(variable, pointer);
}

/* Whether the batch ran, as 32 bits. */
Value *Writer::run()
{
	AllocaInst *values = variable(late.size(), "ferry.values");
	unsigned next = 0;

	for (auto &[value, unused] : late) {
		if (value)
			builder.CreateStore(value, wordOf(values, next));
		next++;
	}
	return callRunTime("ferry_auto_run", builder.getInt32Ty(),
			   { addressOf(rets, 0), addressOf(values, 0), regionText() });
}

/* ---- the program's code ---- */

Value *Writer::fitted(Value *raw, Type *type)
{
	return type->isPointerTy() ? builder.CreateIntToPtr(raw, type) :
				     builder.CreateTrunc(raw, type);
}

/* The block to which the program goes from CALL, and from no other place. */
static BasicBlock *blockAfter(CallBase *call)
{
	BasicBlock *block = call->getParent();
	auto *invoke = dyn_cast<InvokeInst>(call);

	if (!invoke)
		return block->splitBasicBlock(std::next(call->getIterator()), "ferry.after");
	BasicBlock *next = invoke->getNormalDest();
	auto *after = BasicBlock::Create(block->getContext(), "ferry.after", block->getParent());
	BranchInst::Create(next, after);
	invoke->setNormalDest(after);
	next->replacePhiUsesWith(block, after);
	return after;
}

/* RAN is not 0 if the batch ran. */
void Writer::take(unsigned at, Value *ran)
{
	CallBase *call = region.slots[at].call;
	BasicBlock *before = call->getParent();
	BasicBlock *make = before->splitBasicBlock(call, "ferry.make");
	BasicBlock *after = blockAfter(call);
	BasicBlock *taking = BasicBlock::Create(context, "ferry.take", &function, after);
	PHINode *result = PHINode::Create(call->getType(), 3, "", &*after->begin());

	builder.SetInsertPoint(before->getTerminator());
	builder.SetCurrentDebugLocation(call->getDebugLoc());
	builder.CreateCondBr(builder.CreateICmpEQ(ran, builder.getInt32(0)), make, taking);
	before->getTerminator()->eraseFromParent();
	call->replaceAllUsesWith(result);
	result->addIncoming(call, make);
	builder.SetInsertPoint(taking);
	Value *taken = takeResult(at, make, after, result);
	builder.CreateBr(after);
	result->addIncoming(taken, builder.GetInsertBlock());
}

/* What the call gave the program where it did not fail; leads to MAKE if the batch left it. */
Value *Writer::takeResult(unsigned at, BasicBlock *make, BasicBlock *after, PHINode *result)
{
	const Slot &slot = region.slots[at];
	Type *type = slot.call->getType();
	BasicBlock *odd = BasicBlock::Create(context, "ferry.odd", &function, after);
	BasicBlock *good = BasicBlock::Create(context, "ferry.good", &function, after);
	BasicBlock *failed = BasicBlock::Create(context, "ferry.failed", &function, after);
	Value *place = wordOf(rets, index[at]);
	Value *raw = builder.CreateLoad(word, place), *notMade = builder.getInt64(NOT_MADE);

	if (slot.isRepeated) // the batch made the first of several calls
		builder.CreateStore(notMade, place);
	builder.CreateCondBr(builder.CreateICmpUGE(raw, notMade), odd, good,
			     MDBuilder(context).createBranchWeights(1, SELDOM));
	builder.SetInsertPoint(odd);
	builder.CreateCondBr(builder.CreateICmpEQ(raw, notMade), make, failed);
	builder.SetInsertPoint(failed);
	Value *error = setsErrno(*slot.wrapper) ? callRunTime("ferry_auto_failed", word, { raw }) :
						  builder.CreateNeg(raw);
	result->addIncoming(fitted(error, type), failed);
	builder.CreateBr(after);
	builder.SetInsertPoint(good);
	if (slot.wrapper->needs == Needs::action &&
	    !isa<ConstantPointerNull>(slot.call->getArgOperand(2)))
		callRunTime("ferry_auto_action_out", builder.getVoidTy(),
			    { builder.CreatePointerCast(slot.call->getArgOperand(2), pointer),
			      addressOf(action.out[at], 0) });
	return fitted(raw, type);
}

/* The batch writes to variables before the program says that their lives begin. */
void Writer::endLifetimes()
{
	SmallVector<const Value *, 16> used;
	std::vector<Instruction *> marks;

	for (const Slot &slot : region.slots)
		for (const Value *argument : slot.call->args())
			if (argument->getType()->isPointerTy())
				getUnderlyingObjects(argument, used, nullptr, 0);
	for (const EarlyStore &store : region.stores)
		getUnderlyingObjects(
			store.instruction->getOperand(isa<StoreInst>(store.instruction) ? 1 : 0),
			used, nullptr, 0);
	for (Instruction &instruction : instructions(function))
		if (instruction.isLifetimeStartOrEnd() &&
		    is_contained(used, getUnderlyingObject(instruction.getOperand(1), 0)))
			marks.push_back(&instruction);
	for (Instruction *mark : marks)
		mark->eraseFromParent();
}

void Writer::write()
{
	CallBase *first = region.slots[0].call;
	BasicBlock *before = first->getParent();

	number();
	endLifetimes();

	/* The dominators know the new block, of which they are asked by ahead(). */
	BasicBlock *after = SplitBlock(before, first, &dominators);
	BasicBlock *build = BasicBlock::Create(context, "ferry.build", &function, after);
	builder.SetInsertPoint(before->getTerminator());
	builder.SetCurrentDebugLocation(first->getDebugLoc());
	LoadInst *state = builder.CreateLoad(builder.getInt32Ty(), runTimeState(module));
	state->setAtomic(AtomicOrdering::Monotonic);
	/* The batch is out of the way of the program's code. */
	builder.CreateCondBr(builder.CreateICmpEQ(state, builder.getInt32(0)), after, build,
			     MDBuilder(context).createBranchWeights(SELDOM, 1));
	before->getTerminator()->eraseFromParent();

	builder.SetInsertPoint(build);
	fillIn();
	Value *ran = run();
	builder.CreateBr(after);
	PHINode *whether = PHINode::Create(builder.getInt32Ty(), 2, "ferry.ran", &after->front());
	whether->addIncoming(builder.getInt32(0), before);
	whether->addIncoming(ran, build);
	for (unsigned slot = 0; slot < region.slots.size(); slot++)
		take(slot, whether);
}

} // namespace

void writeBatch(Function &function, const Region &region, DominatorTree &dominators)
{
	Writer(function, region, dominators).write();
}

} // namespace ferry
