// SPDX-License-Identifier: MIT
// What the module is made of: a file for each.
#ifndef MODULE_H
#define MODULE_H

#include <nanobind/nanobind.h>

namespace nb = nanobind;

class Layout;
class Paths;
struct Options;

void stat_many(int dir, const Paths &paths, int flags, const Layout &layout, nb::handle records,
	       nb::handle errors, const Options &options);

void bind_arrow(nb::module_ &module);
void bind_hash_many(nb::module_ &module);
void bind_prefault(nb::module_ &module);
void bind_program(nb::module_ &module);
void bind_quick(nb::module_ &module);
void bind_ranges(nb::module_ &module);
void bind_reader(nb::module_ &module);
void bind_walk(nb::module_ &module);
void bind_walk_blocks(nb::module_ &module);

#endif // MODULE_H
