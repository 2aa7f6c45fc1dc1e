/* SPDX-License-Identifier: MIT */
/* What lies between calls: accesses to memory, and what no call may move across. */
#ifndef COMPILER_MEMORY_H
#define COMPILER_MEMORY_H

#include <vector>

#include <llvm/Analysis/AliasAnalysis.h>

#include "reasons.h"
#include "recognise.h"

namespace ferry
{

struct Access {
	llvm::Instruction *instruction;
	bool isStore;
	llvm::MemoryLocation place;
};
using Accesses = std::vector<Access>;

/** Adds the accesses of MORE that ALL does not have. */
void addAccesses(Accesses &all, const Accesses &more);

enum class Step { quiet, call, end };

class Memory
{
      public:
	/** INDEPENDENT: the function is marked FERRY_INDEPENDENT, as <ferry/auto.h> defines that.
	 */
	Memory(llvm::AAResults &aliases, bool independent)
	    : aliases(aliases), independent(independent)
	{
	}

	/** Looks at one INSTRUCTION between calls: adds its accesses, or says why it is an end. */
	Step look(llvm::Instruction &instruction, Accesses &accesses, End &end) const;

	bool mayAlias(const llvm::MemoryLocation &a, const llvm::MemoryLocation &b) const;
	bool mayAlias(const std::vector<llvm::MemoryLocation> &places,
		      const llvm::MemoryLocation &place) const;
	/** Whether a call can hide the access from other threads: they cannot see it, or never
	 * change it. */
	bool isUnshared(const Access &access) const;
	bool isConstant(const llvm::MemoryLocation &place) const;

      private:
	Step lookAtCall(llvm::CallBase &call, Accesses &accesses, End &end) const;

	llvm::AAResults &aliases;
	bool independent;
};

/** Whether it only computes an address within the variable of its operand. */
inline bool isAddress(const llvm::Instruction &instruction)
{
	return llvm::isa<llvm::BitCastInst>(instruction) ||
	       llvm::isa<llvm::GetElementPtrInst>(instruction);
}

/** The local variable to which POINTER leads, if nothing else can lead to it; else nullptr. */
llvm::AllocaInst *privateVariable(const llvm::Value *pointer);

/** The bytes that OPERAND of a call leads to, or 0 if that is not known. */
uint64_t bytesOf(const llvm::CallBase &call, const Operand &operand);

/** The memory that a call of WRAPPER reads and writes. */
struct Places {
	std::vector<llvm::MemoryLocation> read, written;

	Places(const llvm::CallBase &call, const Wrapper &wrapper);
};

/**
 * As long as it lives, calls of FUNCTION say that the kernel keeps no pointer that it is given, by
 * which LLVM knows that other accesses do not lead there.
 */
class KernelKeepsNothing
{
      public:
	explicit KernelKeepsNothing(llvm::Function &function);
	~KernelKeepsNothing();
	KernelKeepsNothing(const KernelKeepsNothing &) = delete;
	KernelKeepsNothing &operator=(const KernelKeepsNothing &) = delete;

      private:
	std::vector<std::pair<llvm::CallBase *, llvm::AttributeList>> before;
};

} // namespace ferry

#endif // COMPILER_MEMORY_H
