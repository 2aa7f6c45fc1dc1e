/* SPDX-License-Identifier: MIT */
/* What is known of values once the outcomes of calls are. */
#ifndef COMPILER_OUTCOMES_H
#define COMPILER_OUTCOMES_H

#include <map>
#include <optional>

#include <llvm/IR/ConstantRange.h>

#include "recognise.h"

namespace ferry
{

/** The three outcomes for which a slot has a jump; a set of them. */
enum Outcome : unsigned { Failed = 1, Zero = 2, Positive = 4 };
constexpr Outcome OUTCOMES[] = { Failed, Zero, Positive };

unsigned outcomesOf(const Wrapper &wrapper);
bool setsErrno(const Wrapper &wrapper);

/** The outcomes that calls may have had; calls that may not have been made are missing. */
using Facts = std::map<const llvm::Value *, unsigned>;

/** The values of PHI nodes on one way through the program; nullptr: not known. */
using Way = std::map<const llvm::PHINode *, llvm::Value *>;

struct Knowledge {
	const Facts &facts;
	const Way &way;

	/** The values that VALUE may have, if anything is known of it. */
	std::optional<llvm::ConstantRange> range(const llvm::Value *value, int depth = 0) const;
	/** Whether the condition VALUE is surely true, or surely false. */
	std::optional<bool> truth(const llvm::Value *value) const;
	/** What the condition VALUE still depends on: the parts that are known drop out. */
	llvm::Value *rest(llvm::Value *value) const;

      private:
	std::optional<llvm::ConstantRange> rangeOfBinary(const llvm::BinaryOperator &binary,
							 int depth) const;
	llvm::Value *smaller(llvm::Value *value) const;
};

} // namespace ferry

#endif // COMPILER_OUTCOMES_H
