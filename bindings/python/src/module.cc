// SPDX-License-Identifier: MIT
// ferry._ferry: the part of the package that is compiled.
#include "module.h"

#include <memory>

#include <nanobind/stl/shared_ptr.h>

#include "call.h"
#include "fields.h"
#include "names.h"
#include "paths.h"

// A reference that the module's objects keep would outlive a subinterpreter.
static void refuse_subinterpreters()
{
	if (PyInterpreterState_Get() != PyInterpreterState_Main())
		throw nb::import_error("ferry works in the main interpreter only");
}

NB_MODULE(_ferry, module)
{
	refuse_subinterpreters();
	nb::set_leak_warnings(false); // the package caches layouts up to the end
	nb::class_<Cancel>(module, "Cancel").def(nb::init<>()).def("cancel", &Cancel::cancel);
	nb::class_<Options>(module, "Options")
		.def(nb::init<unsigned int, unsigned int, nb::object, std::shared_ptr<Cancel>>(),
		     nb::arg("threads"), nb::arg("timeout_ms"), nb::arg("progress").none(),
		     nb::arg("cancel").none());
	nb::class_<Layout>(module, "Layout").def(nb::init<nb::handle, size_t>());
	nb::class_<Paths>(module, "Paths")
		.def(nb::init<nb::handle>(), nb::arg("paths").none())
		.def("__len__", &Paths::size)
		.def("__getitem__", &Paths::original);
	module.attr("VERSION") = FERRY_VERSION;
	module.attr("FIELDS") = field_types();
	module.def("os_error", os_error);
	module.def("stat_many", stat_many);
	bind_arrow(module);
	bind_hash_many(module);
	bind_names(module);
	bind_prefault(module);
	bind_program(module);
	bind_quick(module);
	bind_ranges(module);
	bind_reader(module);
	bind_walk(module);
	bind_walk_blocks(module);
}
