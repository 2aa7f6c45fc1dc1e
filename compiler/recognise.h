/* SPDX-License-Identifier: MIT */
/* Which calls of a program are the C library's wrappers of system calls. */
#ifndef COMPILER_RECOGNISE_H
#define COMPILER_RECOGNISE_H

#include <llvm/IR/Instructions.h>

namespace ferry
{

enum class Result { zero, number, descriptor, address, never, error };
enum class Needs { nothing, open, openat, mmap, fcntl, action };

/** An argument of the system call. */
struct Operand {
	char kind;     // as in struct call_argument of calls/calls.h
	int parameter; // of the wrapper; -1: there is none
	bool isOptional, isUnsigned;
	long constant; // where there is no parameter
	unsigned size; // bytes, times what the parameter LENGTH holds unless that is -1; 0: not
		       // known
	int length;
};

/** A row of calls/wrappers.txt. */
struct Wrapper {
	const char *name, *call;
	int number;
	bool isQuiet;	    // no other thread or process can be ordered by it
	bool isCancellable; // pthread_cancel() ends a thread in it
	Result result;
	Needs needs;
	unsigned count; // of operands
	Operand operands[6];
};

/** The size of struct sigaction, which the wrapper turns into the kernel's. */
constexpr unsigned SIGACTION_SIZE = 152;

/**
 * The wrapper that INSTRUCTION calls, if a batch can make its system call, or nullptr.  A near miss
 * sets *WHY.
 */
const Wrapper *recognise(const llvm::Instruction &instruction, const char **why = nullptr);

/** Whether ferry knows the system calls of the module's machine and C library. */
bool isSupported(const llvm::Module &module);

/** Whether a wrapper has this name. */
bool isWrapperName(llvm::StringRef name);

/** Whether it calls a function that does nothing but write the signal set of its first argument. */
bool fillsSignalSet(const llvm::Instruction &instruction);

/** Whether POINTER is the address of errno. */
bool isErrno(const llvm::Value *pointer);

/** Whether LOAD may read errno by an address that the source does not show. */
bool mayBeErrno(const llvm::LoadInst &load);

} // namespace ferry

#endif // COMPILER_RECOGNISE_H
