// SPDX-License-Identifier: MIT
// Short lists of strings, for which the general functions prepare longer than plain calls take.
#include <cstddef>
#include <cstdlib>

#include "fields.h"
#include "gil.h"
#include "module.h"
#include "paths.h"

#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#include <numpy/arrayobject.h>

#include <fcntl.h>
#include <ferry_files.h>
#include <structmember.h>

// The names of Python 3.12
#ifndef Py_T_PYSSIZET
#define Py_T_PYSSIZET T_PYSSIZET
#define Py_READONLY READONLY
#endif

namespace
{

constexpr size_t MOST = 16; // the library needs no crew for so many

// Room for the contents of all files.
constexpr size_t SCRATCH_SIZE = size_t{ 256 } << 10;

// The general functions, for all that is not done here, and their results.  Kept to the end.
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

PyObject *stat_many(PyObject *, PyObject *const *args, size_t flags, PyObject *names)
{
	Few few;

	if (PyVectorcall_NARGS(flags) != 1 || names || !few.take(args[0]))
		return PyObject_Vectorcall(general.stat_many, args, flags, names);
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

PyObject *read_many(PyObject *, PyObject *const *args, size_t flags, PyObject *names)
{
	nb::object list;
	Few few;

	if (PyVectorcall_NARGS(flags) == 1 && (!names || are_regular(args, names)) &&
	    few.take(args[0])) {
		if (!few.size())
			return Py_NewRef(general.no_contents);
		list = contents(few, names ? FERRY_READ_OPEN_FIRST : 0);
	}
	if (list)
		return PyObject_GetIter(list.ptr());
	if (PyErr_Occurred())
		return nullptr;
	return PyObject_Vectorcall(general.read_many, args, flags, names);
}

// ---- the functions that Python sees ----

// A function with attributes of its own, such as __wrapped__ and __annotations__: what Python
// knows of the general function is true of it, too.
struct Function {
	PyObject_HEAD vectorcallfunc call;
	PyObject *attributes;
};

int traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(reinterpret_cast<Function *>(self)->attributes);
	return 0;
}

int clear(PyObject *self)
{
	Py_CLEAR(reinterpret_cast<Function *>(self)->attributes);
	return 0;
}

void destroy(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	PyObject_GC_UnTrack(self);
	clear(self);
	PyObject_GC_Del(self);
	Py_DECREF(type);
}

// As a function does in a class.
PyObject *bind(PyObject *self, PyObject *object, PyObject *)
{
	return object && object != Py_None ? PyMethod_New(self, object) : Py_NewRef(self);
}

// Pickled by its name.
PyObject *reduce(PyObject *self, PyObject *)
{
	return PyObject_GetAttrString(self, "__qualname__");
}

PyObject *represent(PyObject *self)
{
	nb::object name = nb::steal(PyObject_GetAttrString(self, "__qualname__"));

	return name ? PyUnicode_FromFormat("<function ferry.%U>", name.ptr()) : nullptr;
}

PyTypeObject *make_type()
{
	static PyMemberDef members[] = {
		{ "__vectorcalloffset__", Py_T_PYSSIZET, offsetof(Function, call), Py_READONLY,
		  nullptr },
		{ "__dictoffset__", Py_T_PYSSIZET, offsetof(Function, attributes), Py_READONLY,
		  nullptr },
		{ nullptr, 0, 0, 0, nullptr },
	};
	static PyMethodDef methods[] = {
		{ "__reduce__", reduce, METH_NOARGS, nullptr },
		{ nullptr, nullptr, 0, nullptr },
	};
	static PyGetSetDef attributes[] = {
		{ "__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr },
		{ nullptr, nullptr, nullptr, nullptr, nullptr },
	};
	static PyType_Slot slots[] = {
		{ Py_tp_members, members },
		{ Py_tp_getset, attributes },
		{ Py_tp_methods, methods },
		{ Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call) },
		{ Py_tp_descr_get, reinterpret_cast<void *>(bind) },
		{ Py_tp_repr, reinterpret_cast<void *>(represent) },
		{ Py_tp_traverse, reinterpret_cast<void *>(traverse) },
		{ Py_tp_clear, reinterpret_cast<void *>(clear) },
		{ Py_tp_dealloc, reinterpret_cast<void *>(destroy) },
		{ 0, nullptr },
	};
	static PyType_Spec spec = { "ferry.function", sizeof(Function), 0,
				    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
					    Py_TPFLAGS_HAVE_VECTORCALL |
					    Py_TPFLAGS_DISALLOW_INSTANTIATION,
				    slots };

	return reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
}

// Like WRAPPED to Python, but calls CALL.
nb::object make_function(PyTypeObject *type, vectorcallfunc call, nb::handle wrapped)
{
	Function *function = PyObject_GC_New(Function, type);

	if (!function)
		throw nb::python_error();
	function->call = call;
	function->attributes = nullptr;
	PyObject_GC_Track(reinterpret_cast<PyObject *>(function));
	nb::object made = nb::steal(reinterpret_cast<PyObject *>(function));
	nb::module_::import_("functools").attr("update_wrapper")(made, wrapped);
	made.attr("__module__") = "ferry";
	return made;
}

// Functions for short lists that leave all else to STAT and READ.
nb::tuple quick(nb::handle stat, nb::handle read, nb::handle record, nb::handle layout)
{
	PyTypeObject *type = make_type();

	if (!type)
		throw nb::python_error();
	general = { stat.inc_ref().ptr(),
		    read.inc_ref().ptr(),
		    reinterpret_cast<PyArray_Descr *>(record.inc_ref().ptr()),
		    nb::cast<const Layout *>(layout.inc_ref()),
		    stat(nb::list()).release().ptr(),
		    nb::iter(nb::tuple()).release().ptr() };
	return nb::make_tuple(make_function(type, stat_many, stat),
			      make_function(type, read_many, read));
}

} // namespace

void bind_quick(nb::module_ &module)
{
	if (_import_array() < 0)
		throw nb::python_error();
	module.def("quick", quick);
}
