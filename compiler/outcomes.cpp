// SPDX-License-Identifier: MIT
#include "outcomes.h"

#include <llvm/IR/Constants.h>

using namespace llvm;

namespace ferry
{

constexpr int DEEPEST = 12; // expressions that are looked into
constexpr unsigned MAX_ERRNO = 4095;

unsigned outcomesOf(const Wrapper &wrapper)
{
	switch (wrapper.result) {
	case Result::zero:
	case Result::error:
		return Failed | Zero;
	case Result::address:
		return Failed | Positive;
	case Result::never:
		return Zero | Positive;
	case Result::number:
	case Result::descriptor:
		break;
	}
	return Failed | Zero | Positive;
}

bool setsErrno(const Wrapper &wrapper)
{
	return outcomesOf(wrapper) & Failed && wrapper.result != Result::error;
}

/* What the wrapper returns to the program. */
static ConstantRange returned(const Wrapper &wrapper, unsigned outcomes, unsigned bits)
{
	const APInt zero(bits, 0), one(bits, 1);
	ConstantRange range = ConstantRange::getEmpty(bits);

	if (outcomes & Failed)
		range = range.unionWith(wrapper.result == Result::error ?
						ConstantRange(one, APInt(bits, MAX_ERRNO + 1)) :
						ConstantRange(APInt::getAllOnes(bits)));
	if (outcomes & Zero)
		range = range.unionWith(ConstantRange(zero));
	if (!(outcomes & Positive))
		return range;
	if (wrapper.result == Result::never) // a user's number may have the highest bit set
		return range.unionWith(ConstantRange(one, zero));
	if (wrapper.result == Result::address)
		return range.unionWith(ConstantRange(one, -APInt(bits, MAX_ERRNO)));
	return range.unionWith(ConstantRange(one, APInt::getSignedMinValue(bits)));
}

static unsigned bitsOf(const Type *type)
{
	return type->isPointerTy() ? 64 : type->isIntegerTy() ? type->getIntegerBitWidth() : 0;
}

static std::optional<ConstantRange> rangeOfConstant(const Constant &constant)
{
	auto *expression = dyn_cast<ConstantExpr>(&constant);

	if (auto *number = dyn_cast<ConstantInt>(&constant))
		return ConstantRange(number->getValue());
	if (isa<ConstantPointerNull>(constant))
		return ConstantRange(APInt(64, 0));
	if (expression && expression->getOpcode() == Instruction::IntToPtr) // MAP_FAILED
		if (auto *number = dyn_cast<ConstantInt>(expression->getOperand(0)))
			return ConstantRange(number->getValue().sextOrTrunc(64));
	return std::nullopt;
}

static bool isConstantRange(const std::optional<ConstantRange> &range, uint64_t value)
{
	return range && range->isSingleElement() && *range->getSingleElement() == value;
}

std::optional<ConstantRange> Knowledge::rangeOfBinary(const BinaryOperator &binary, int depth) const
{
	auto left = range(binary.getOperand(0), depth), right = range(binary.getOperand(1), depth);
	const bool isOr = binary.getOpcode() == Instruction::Or;

	if (binary.getType()->isIntegerTy(1) && (isOr || binary.getOpcode() == Instruction::And))
		if (isConstantRange(left, isOr) || isConstantRange(right, isOr)) // one side decides
			return ConstantRange(APInt(1, isOr));
	if (!left || !right)
		return std::nullopt;
	return left->binaryOp(binary.getOpcode(), *right);
}

static std::optional<ConstantRange> compared(CmpInst::Predicate predicate,
					     const std::optional<ConstantRange> &left,
					     const std::optional<ConstantRange> &right)
{
	if (!left || !right || left->getBitWidth() != right->getBitWidth())
		return std::nullopt;
	if (left->icmp(predicate, *right))
		return ConstantRange(APInt(1, 1));
	if (left->icmp(CmpInst::getInversePredicate(predicate), *right))
		return ConstantRange(APInt(1, 0));
	return std::nullopt;
}

std::optional<ConstantRange> Knowledge::range(const Value *value, int depth) const
{
	const unsigned bits = bitsOf(value->getType());
	auto fact = facts.find(value);

	if (!bits || depth++ > DEEPEST)
		return std::nullopt;
	if (auto *constant = dyn_cast<Constant>(value))
		return rangeOfConstant(*constant);
	if (fact != facts.end())
		return returned(*recognise(*cast<Instruction>(value)), fact->second, bits);
	if (auto *phi = dyn_cast<PHINode>(value)) {
		auto chosen = way.find(phi);
		return chosen == way.end() || !chosen->second ? std::nullopt :
								range(chosen->second, depth);
	}
	if (auto *cast = dyn_cast<CastInst>(value)) {
		auto from = range(cast->getOperand(0), depth);
		if (!from)
			return std::nullopt;
		return isa<PtrToIntInst>(cast) || isa<IntToPtrInst>(cast) ?
			       from->zextOrTrunc(bits) :
			       from->castOp(cast->getOpcode(), bits);
	}
	if (auto *freeze = dyn_cast<FreezeInst>(value))
		return range(freeze->getOperand(0), depth);
	if (auto *compare = dyn_cast<ICmpInst>(value))
		return compared(compare->getPredicate(), range(compare->getOperand(0), depth),
				range(compare->getOperand(1), depth));
	if (auto *select = dyn_cast<SelectInst>(value)) {
		auto known = range(select->getCondition(), depth);
		if (isConstantRange(known, 1))
			return range(select->getTrueValue(), depth);
		return isConstantRange(known, 0) ? range(select->getFalseValue(), depth) :
						   std::nullopt;
	}
	if (auto *binary = dyn_cast<BinaryOperator>(value))
		return rangeOfBinary(*binary, depth);
	return std::nullopt;
}

std::optional<bool> Knowledge::truth(const Value *value) const
{
	auto known = range(value);

	if (!known || !known->isSingleElement())
		return std::nullopt;
	return known->getSingleElement()->isOne();
}

/* VALUE without one part that is known, or VALUE. */
Value *Knowledge::smaller(Value *value) const
{
	if (auto *phi = dyn_cast<PHINode>(value)) {
		auto chosen = way.find(phi);
		return chosen == way.end() || !chosen->second ? value : chosen->second;
	}
	if (auto *select = dyn_cast<SelectInst>(value)) {
		auto *ifTrue = dyn_cast<ConstantInt>(select->getTrueValue());
		auto *ifFalse = dyn_cast<ConstantInt>(select->getFalseValue());
		if (auto known = truth(select->getCondition()))
			return *known ? select->getTrueValue() : select->getFalseValue();
		if (ifTrue && ifTrue->isOne() && truth(select->getFalseValue()) == false)
			return select->getCondition();
		if (ifFalse && ifFalse->isZero() && truth(select->getTrueValue()) == true)
			return select->getCondition();
		return value;
	}
	auto *binary = dyn_cast<BinaryOperator>(value);
	if (!binary ||
	    (binary->getOpcode() != Instruction::And && binary->getOpcode() != Instruction::Or))
		return value;
	const bool neutral = binary->getOpcode() == Instruction::And;
	if (truth(binary->getOperand(0)) == neutral)
		return binary->getOperand(1);
	return truth(binary->getOperand(1)) == neutral ? binary->getOperand(0) : value;
}

Value *Knowledge::rest(Value *value) const
{
	for (int depth = 0; depth < DEEPEST; depth++) {
		Value *next = smaller(value);
		if (next == value)
			break;
		value = next;
	}
	return value;
}

} // namespace ferry
