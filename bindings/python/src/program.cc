// SPDX-License-Identifier: MIT
// Program: batches of system calls, with the vocabulary of <ferry.h>.
#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <sys/syscall.h>

#include <ferry.h>

#include "call.h"
#include "gil.h"
#include "module.h"
#include "paths.h"
#include "view.h"

namespace
{

struct Free {
	void operator()(ferry_program *program) const
	{
		ferry_program_free(program);
	}
};

class Program
{
      public:
	Program() : program_(ferry_program_new())
	{
		if (!program_)
			throw std::bad_alloc();
	}

	int call(long nr, nb::args arguments);
	int copy(nb::handle to, nb::handle from);

	int go_to(const std::string &label)
	{
		return done(ferry_goto(changing(), label.c_str()));
	}

	void label(const std::string &label)
	{
		done(ferry_label(changing(), label.c_str()));
	}

	void jump_to(int slot, unsigned int when, const std::string &label)
	{
		done(ferry_jump_to(changing(), slot, when, label.c_str()));
	}

	void forward(int slot, unsigned int argument, int from)
	{
		done(ferry_forward(changing(), slot, argument, from));
	}

	void parameter(int slot, unsigned int argument, unsigned int index)
	{
		done(ferry_parameter(changing(), slot, argument, index));
	}

	size_t size() const
	{
		return ferry_program_length(program_.get());
	}

	const char *missing_label() const
	{
		return ferry_program_missing_label(program_.get());
	}

	void require_labels() const;
	nb::list check() const;
	long run(const std::vector<long> &values, nb::handle results);

      private:
	ferry_program *changing() const;
	long word_of(nb::handle argument);
	long address_of(nb::handle argument);
	static int done(int result);

	std::unique_ptr<ferry_program, Free> program_;
	std::vector<std::unique_ptr<Paths>> paths_; // that arguments point to
	std::vector<View> views_;		    // memory that they point to
	unsigned int running_ = 0;		    // in so many threads
};

ferry_program *Program::changing() const
{
	if (running_)
		throw std::runtime_error("the program cannot change while it runs");
	return program_.get();
}

int Program::done(int result)
{
	switch (result) {
	case -ENOMEM:
		throw std::bad_alloc();
	case -EEXIST:
		throw nb::value_error("the program already has this label");
	case -ERANGE:
		throw nb::value_error("the slots are too far apart");
	case -EINVAL:
		throw nb::value_error(
			"a slot, an argument, a label or a jump is not valid: see libferry(3)");
	default:
		return result;
	}
}

long integer_of(nb::handle argument)
{
	nb::object number = nb::steal(PyNumber_Index(argument.ptr()));
	int overflow = 0;
	long word = number ? PyLong_AsLongAndOverflow(number.ptr(), &overflow) : -1;

	if (overflow > 0)
		word = static_cast<long>(PyLong_AsUnsignedLong(number.ptr()));
	else if (overflow)
		PyErr_SetString(PyExc_OverflowError, "an argument has more than 64 bits");
	if (PyErr_Occurred())
		throw nb::python_error();
	return word;
}

// The address of memory, which stays where it is as long as the program exists.
long Program::address_of(nb::handle argument)
{
	views_.emplace_back(argument,
			    PyBytes_Check(argument.ptr()) ? PyBUF_SIMPLE : PyBUF_WRITABLE);
	return reinterpret_cast<long>(views_.back().as<void>());
}

// NumPy's arrays and integers both are memory and have an index.
bool is_scalar(nb::handle argument)
{
	return PyIndex_Check(argument.ptr()) && !PySequence_Check(argument.ptr());
}

long Program::word_of(nb::handle argument)
{
	PyObject *object = argument.ptr();

	if (argument.is_none())
		return 0;
	if (is_scalar(argument))
		return integer_of(argument);
	if (PyObject_CheckBuffer(object))
		return address_of(argument);
	paths_.push_back(std::make_unique<Paths>(nb::make_tuple(argument)));
	return reinterpret_cast<long>(*paths_.back()->from(0));
}

int Program::call(long nr, nb::args arguments)
{
	std::vector<long> words;

	changing();
	if (arguments.size() > BATCH_MAX_ARGS)
		throw nb::value_error("a call takes at most 6 arguments");
	for (nb::handle argument : arguments)
		words.push_back(word_of(argument));
	return done(
		ferry_add(changing(), nr, words.data(), static_cast<unsigned int>(words.size())));
}

int Program::copy(nb::handle to, nb::handle from)
{
	long words[] = { word_of(to), word_of(from) };

	return done(ferry_copy(changing(), reinterpret_cast<long *>(words[0]),
			       reinterpret_cast<const long *>(words[1])));
}

void Program::require_labels() const
{
	if (missing_label())
		throw nb::value_error(
			(std::string("the program lacks the label ") + missing_label()).c_str());
}

// (slot, whether it can only fail, why) of each problem
nb::list Program::check() const
{
	constexpr size_t MOST = 64;
	ferry_problem problems[MOST];
	nb::list list;
	long count;

	require_labels();
	count = ferry_check(ferry_program_slots(program_.get()), size(), problems, MOST);
	if (count < 0)
		throw std::bad_alloc();
	for (size_t i = 0; i < std::min(static_cast<size_t>(count), MOST); i++)
		list.append(nb::make_tuple(problems[i].slot, problems[i].severity == FERRY_ERROR,
					   problems[i].reason));
	return list;
}

// Stores the results in RESULTS and returns the last slot that ran.
long Program::run(const std::vector<long> &values, nb::handle results)
{
	View view(results, PyBUF_WRITABLE);
	long last;

	require_labels();
	if (view.size() != size() * sizeof(long))
		throw nb::value_error("there must be a result for each slot");
	running_++;
	{
		WithoutGil no_gil;

		last = ferry_run_with(program_.get(), values.data(), values.size(),
				      view.as<long>());
	}
	running_--;
	if (PyErr_CheckSignals())
		throw nb::python_error();
	if (last == -EINVAL)
		throw nb::value_error("a parameter has no value");
	if (last < 0) {
		errno = static_cast<int>(-last);
		PyErr_SetFromErrno(PyExc_OSError);
		throw nb::python_error();
	}
	return last;
}

nb::dict call_numbers()
{
	static const struct {
		const char *name;
		long number;
	} CALLS[] = {
#include "calls.inc"
	};
	nb::dict numbers;

	for (const auto &call : CALLS)
		numbers[call.name] = call.number;
	return numbers;
}

} // namespace

void bind_program(nb::module_ &module)
{
	module.attr("CALLS") = call_numbers();
	nb::class_<Program>(module, "Program")
		.def(nb::init<>())
		.def("__len__", &Program::size)
		.def("call", &Program::call)
		.def("copy", &Program::copy, nb::arg().none(), nb::arg().none())
		.def("goto", &Program::go_to)
		.def("label", &Program::label)
		.def("jump_to", &Program::jump_to)
		.def("forward", &Program::forward)
		.def("parameter", &Program::parameter)
		.def_prop_ro("missing_label", &Program::missing_label)
		.def("check", &Program::check)
		.def("run", &Program::run);
}
