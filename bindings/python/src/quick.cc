// SPDX-License-Identifier: MIT
// Short lists of strings, for which the general functions prepare longer than plain calls take.
#include <cstdlib>
#include <string>

#include "fields.h"
#include "gil.h"
#include "module.h"
#include "paths.h"

#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#include <numpy/arrayobject.h>

#include <fcntl.h>
#include <ferry_files.h>

namespace
{

constexpr size_t MOST = 16; // the library needs no crew for so many

// Room for the contents of all files.
constexpr size_t SCRATCH_SIZE = size_t{ 256 } << 10;

// The general functions, which do what is not done here, and what they return.  Kept to the end.
struct {
	PyObject *stat_many, *read_many;
	PyArray_Descr *record;
	const Layout *layout;
	PyObject *no_attributes, *no_contents; // what they return for no paths
} general;

// The strings of a list.  They stay while other threads change it.
class Few
{
      public:
	Few() = default;
	Few(const Few &) = delete;
	Few &operator=(const Few &) = delete;

	~Few()
	{
		while (size_)
			Py_DECREF(items_[--size_]);
	}

	// Returns false if LIST is none, is too long, or has other things than plain strings.
	bool take(PyObject *list)
	{
		if (!PyList_CheckExact(list) || static_cast<size_t>(PyList_GET_SIZE(list)) > MOST)
			return false;
		for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
			PyObject *item = PyList_GET_ITEM(list, i);

			names_[size_] = plain_bytes(item);
			if (!names_[size_])
				return false;
			items_[size_++] = Py_NewRef(item);
		}
		return true;
	}

	size_t size() const
	{
		return size_;
	}

	const char *const *names() const
	{
		return names_;
	}

      private:
	PyObject *items_[MOST];
	const char *names_[MOST];
	size_t size_ = 0;
};

// ---- attributes ----

void free_memory(PyObject *capsule)
{
	free(PyCapsule_GetPointer(capsule, nullptr));
}

// Memory that ends with its owner, a new object; null and an error when out of memory.
char *allocate(size_t size, nb::object &owner)
{
	char *memory = static_cast<char *>(malloc(size));

	if (!memory) {
		PyErr_NoMemory();
		return nullptr;
	}
	owner = nb::steal(PyCapsule_New(memory, nullptr, free_memory));
	if (owner)
		return memory;
	free(memory);
	return nullptr;
}

// SIZE items of TYPE, to which it takes a reference, at MEMORY.
nb::object array_at(char *memory, PyArray_Descr *type, size_t size, const nb::object &owner)
{
	npy_intp count = static_cast<npy_intp>(size);
	nb::object array = nb::steal(PyArray_NewFromDescr(&PyArray_Type, type, 1, &count, nullptr,
							  memory, NPY_ARRAY_CARRAY, nullptr));

	if (!array || PyArray_SetBaseObject(reinterpret_cast<PyArrayObject *>(array.ptr()),
					    Py_NewRef(owner.ptr())))
		return {};
	return array;
}

/*
 * A new tuple, or null after an error.  The records lie in memory of ours: NumPy would clear its
 * own, field by field, which takes as long as a system call.
 */
PyObject *look(const Few &few)
{
	const size_t size = few.size(), records_size = size * general.layout->size();
	const struct statx *files[MOST];
	struct statx stats[MOST];
	nb::object owner, records, errors;
	char *memory = allocate(records_size + size * sizeof(int), owner);
	int *error = reinterpret_cast<int *>(memory + records_size);

	if (!memory)
		return nullptr;
	{
		WithoutGil no_gil;

		ferry_statx_many(AT_FDCWD, few.names(), size, 0, general.layout->mask(), stats,
				 error, nullptr);
	}
	for (size_t i = 0; i < size; i++) {
		files[i] = error[i] ? nullptr : &stats[i];
		error[i] = -error[i];
	}
	general.layout->store(files, size, memory);
	records = array_at(memory, reinterpret_cast<PyArray_Descr *>(Py_NewRef(general.record)),
			   size, owner);
	errors = array_at(memory + records_size, PyArray_DescrFromType(NPY_INT), size, owner);
	return records && errors ? PyTuple_Pack(2, records.ptr(), errors.ptr()) : nullptr;
}

PyObject *stat_many(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
	Few few;

	if (count != 1 || names || !few.take(args[0]))
		return PyObject_Vectorcall(general.stat_many, args, static_cast<size_t>(count),
					   names);
	return few.size() ? look(few) : Py_NewRef(general.no_attributes);
}

// ---- contents ----

// Returns false unless all files were read.
bool read(const Few &few, unsigned int flags, ferry_file files[], char *scratch)
{
	ferry_arena arena = { scratch, SCRATCH_SIZE, 0 };

	WithoutGil no_gil;

	return !ferry_read_files(AT_FDCWD, few.names(), few.size(), flags, files, &arena, nullptr);
}

nb::object list_of(const ferry_file files[], size_t count)
{
	nb::object list = nb::steal(PyList_New(static_cast<Py_ssize_t>(count)));

	for (size_t i = 0; list && i < count; i++) {
		PyObject *bytes =
			PyBytes_FromStringAndSize(static_cast<const char *>(files[i].data),
						  static_cast<Py_ssize_t>(files[i].length));

		if (!bytes)
			return {};
		PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), bytes);
	}
	return list;
}

// A list of the contents; nothing if the general function is to read them, or after an error.
nb::object contents(const Few &few, unsigned int flags)
{
	static char *const scratch = static_cast<char *>(malloc(SCRATCH_SIZE));
	static bool busy; // with the GIL
	ferry_file files[MOST] = {};
	nb::object list;

	if (!scratch || busy)
		return {};
	busy = true;
	if (read(few, flags, files, scratch))
		list = list_of(files, few.size());
	busy = false;
	return list;
}

// Whether NAMES has nothing but regular, and ARGS nothing but paths and its value, True.
bool are_regular(PyObject *const *args, PyObject *names)
{
	return PyTuple_GET_SIZE(names) == 1 && args[1] == Py_True &&
	       !PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "regular");
}

PyObject *read_many(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
	unsigned int flags = names ? FERRY_READ_OPEN_FIRST : 0;
	nb::object list;
	Few few;

	if (count == 1 && (!names || are_regular(args, names)) && few.take(args[0])) {
		if (!few.size())
			return Py_NewRef(general.no_contents);
		list = contents(few, flags);
	}
	if (list)
		return PyObject_GetIter(list.ptr());
	if (PyErr_Occurred())
		return nullptr;
	return PyObject_Vectorcall(general.read_many, args, static_cast<size_t>(count), names);
}

// ---- the functions that Python sees ----

// FUNCTION's name and documentation, and the signature as inspect.signature() finds it.
void describe(PyMethodDef &method, const char *signature, nb::handle function, std::string &text)
{
	text = std::string(method.ml_name) + signature + "\n--\n\n" +
	       nb::borrow<nb::str>(function.attr("__doc__")).c_str();
	method.ml_doc = text.c_str();
}

PyCFunction as_function(_PyCFunctionFastWithKeywords function)
{
	return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

// Functions for short lists that leave all else to STAT and READ.
nb::tuple quick(nb::handle stat, nb::handle read, nb::handle record, nb::handle layout)
{
	static PyMethodDef methods[] = {
		{ "stat_many", as_function(stat_many), METH_FASTCALL | METH_KEYWORDS, nullptr },
		{ "read_many", as_function(read_many), METH_FASTCALL | METH_KEYWORDS, nullptr },
	};
	static std::string texts[2];
	nb::module_ package = nb::module_::import_("ferry");
	nb::str name("ferry");

	general = { stat.inc_ref().ptr(),
		    read.inc_ref().ptr(),
		    reinterpret_cast<PyArray_Descr *>(record.inc_ref().ptr()),
		    nb::cast<const Layout *>(layout.inc_ref()),
		    stat(nb::list()).release().ptr(),
		    nb::iter(nb::tuple()).release().ptr() };
	describe(methods[0],
		 "(first, second=None, /, *, fields=..., follow_symlinks=True, **options)", stat,
		 texts[0]);
	describe(methods[1], "(first, second=None, /, *, views=False, on_error='raise', **how)",
		 read, texts[1]);
	return nb::make_tuple(nb::steal(PyCFunction_NewEx(&methods[0], package.ptr(), name.ptr())),
			      nb::steal(PyCFunction_NewEx(&methods[1], package.ptr(), name.ptr())));
}

} // namespace

void bind_quick(nb::module_ &module)
{
	if (_import_array() < 0)
		throw nb::python_error();
	module.def("quick", quick);
}
