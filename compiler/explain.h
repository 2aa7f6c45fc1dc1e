/* SPDX-License-Identifier: MIT */
/* Says what batches could do, as remarks of the compiler or as JSON. */
#ifndef COMPILER_EXPLAIN_H
#define COMPILER_EXPLAIN_H

#include <llvm/Analysis/OptimizationRemarkEmitter.h>

#include "region.h"

namespace ferry
{

/** The least number of calls in a row, if none fails, for which a batch is made. */
constexpr unsigned WORTH = 2;

/** How `ferry cc` wants regions explained: by its environment. */
struct Explaining {
	bool only = false; // no batch is written
	std::string json;  // the file to which JSON is appended, "-": standard output; "": remarks
	double crossing = 0; // ns; 0: not known

	static Explaining ofEnvironment();
	void explain(llvm::StringRef function, const std::vector<Region> &regions,
		     llvm::OptimizationRemarkEmitter &remarks) const;

      private:
	void remark(const Region &region, llvm::OptimizationRemarkEmitter &remarks) const;
};

} // namespace ferry

#endif // COMPILER_EXPLAIN_H
