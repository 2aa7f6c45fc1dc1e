// SPDX-License-Identifier: MIT
// The GIL in threads that the interpreter's end may meet in a call.
#ifndef GIL_H
#define GIL_H

#include <unistd.h>

#include <nanobind/nanobind.h>

// Runs FUNCTION(), which takes the GIL or runs Python code.  Before Python 3.14 that ends a daemon
// thread, once the interpreter ends, by unwinding its stack (PyThread_exit_thread() in
// Python/ceval_gil.c), and C++ ends the process where a function must not throw.  The thread stays
// here instead, as it does since 3.14, until the process is gone.
template <typename F> auto stay_at_the_end(F function) noexcept
{
	try {
		return function();
	} catch (...) {
		for (;;)
			pause();
	}
}

// Without the GIL as long as it exists.
class WithoutGil
{
      public:
	WithoutGil() : state_(PyEval_SaveThread())
	{
	}

	~WithoutGil()
	{
		stay_at_the_end([this] { PyEval_RestoreThread(state_); });
	}

	WithoutGil(const WithoutGil &) = delete;
	WithoutGil &operator=(const WithoutGil &) = delete;

      private:
	PyThreadState *state_;
};

// With the GIL as long as it exists, in any thread.
class WithGil
{
      public:
	WithGil() : state_(stay_at_the_end(take))
	{
	}

	~WithGil()
	{
		PyGILState_Release(state_);
	}

	WithGil(const WithGil &) = delete;
	WithGil &operator=(const WithGil &) = delete;

      private:
	// PyGILState_Ensure() finds no interpreter to belong to once it is gone.
	static PyGILState_STATE take()
	{
		while (!Py_IsInitialized())
			pause();
		return PyGILState_Ensure();
	}

	PyGILState_STATE state_;
};

#endif // GIL_H
