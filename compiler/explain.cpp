// SPDX-License-Identifier: MIT
#include "explain.h"

#include <cmath>
#include <cstdlib>

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/Path.h>

using namespace llvm;

namespace ferry
{

constexpr const char *PASS = "ferry";
constexpr int VERSION = 1; // of the JSON

Explaining Explaining::ofEnvironment()
{
	const char *json = getenv("FERRY_CC_JSON"), *crossing = getenv("FERRY_CC_CROSSING");

	return { getenv("FERRY_CC_EXPLAIN") != nullptr, json ? json : "",
		 crossing ? strtod(crossing, nullptr) : 0 };
}

static unsigned lineOf(const Instruction &instruction)
{
	return instruction.getDebugLoc() ? instruction.getDebugLoc().getLine() : 0;
}

/* An absolute path: the compiler's directory is not known to who reads it. */
static std::string fileOf(const Instruction &instruction)
{
	SmallString<256> path(instruction.getModule()->getSourceFileName());

	if (const DILocation *location = instruction.getDebugLoc().get()) {
		path = location->getFilename();
		sys::fs::make_absolute(location->getDirectory(), path);
	}
	if (sys::fs::make_absolute(path))
		return path.str().str(); // the directory is gone
	sys::path::remove_dots(path, true);
	return path.str().str();
}

/* Ends that say the same of the same line count once. */
static std::vector<End> distinct(const std::vector<End> &ends)
{
	std::vector<End> kept;

	for (const End &end : ends)
		if (none_of(kept, [&](const End &other) {
			    return other.text() == end.text() &&
				   lineOf(*other.at) == lineOf(*end.at);
		    }))
			kept.push_back(end);
	return kept;
}

/* ---- remarks ---- */

static std::string heading(const Region &region, double crossing)
{
	const unsigned row = region.inARow();
	std::string text;
	raw_string_ostream out(text);

	out << region.slots.size() << " calls, " << row
	    << " in a row if none fails: " << region.names() << "; " << row - 1 << " crossing"
	    << (row == 2 ? "" : "s") << " fewer";
	if (crossing > 0)
		out << format(", about %.2g us here", (row - 1) * crossing / 1000);
	return out.str();
}

static std::string indented(const std::string &program)
{
	std::string text = "    ";

	for (char c : program.substr(0, program.size() - 1))
		text += c == '\n' ? std::string("\n    ") : std::string(1, c);
	return text + "\n";
}

static void remarkEnds(const Region &region, OptimizationRemarkEmitter &remarks)
{
	const unsigned line = lineOf(*region.slots[0].call);

	for (const End &end : distinct(region.ends)) {
		if (end.reason == &reasons::functionEnds)
			continue;
		remarks.emit([&] {
			return OptimizationRemarkAnalysis(PASS, "End", end.at)
			       << "the region of line " << std::to_string(line)
			       << " ends: " << end.text()
			       << (*end.reason->remedy ? "; to extend it, " : "")
			       << end.reason->remedy;
		});
	}
}

/* The end that a change of the source could move, or any; nullptr: there is none. */
static const End *mainEnd(const Region &region)
{
	for (const End &end : region.ends)
		if (*end.reason->remedy)
			return &end;
	return region.ends.empty() ? nullptr : &region.ends[0];
}

void Explaining::remark(const Region &region, OptimizationRemarkEmitter &remarks) const
{
	CallBase *first = region.slots[0].call;

	if (region.inARow() < WORTH) {
		remarks.emit([&] {
			const End *end = mainEnd(region);
			return OptimizationRemarkMissed(PASS, "Alone", first)
			       << region.slots[0].wrapper->name << " stays alone"
			       << (end ? ": " + end->text() : "");
		});
		return;
	}
	remarks.emit([&] {
		return OptimizationRemark(PASS, "Region", first) << heading(region, crossing);
	});
	if (only)
		errs() << indented(region.program()); // a remark has one line only
	remarkEnds(region, remarks);
}

/* ---- JSON ---- */

static json::Object placeOf(const Instruction &instruction)
{
	const DebugLoc &location = instruction.getDebugLoc();

	return json::Object{ { "file", fileOf(instruction) },
			     { "line", lineOf(instruction) },
			     { "column", location ? location.getCol() : 0 } };
}

static json::Value asJson(StringRef function, const Region &region, double crossing)
{
	const unsigned row = region.inARow();
	const bool isRegion = row >= WORTH;
	json::Object object = placeOf(*region.slots[0].call);
	json::Array names, ends;

	for (const Slot &slot : region.slots)
		names.push_back(slot.wrapper->name);
	for (const End &end : distinct(region.ends)) {
		json::Object place = placeOf(*end.at);
		place["reason"] = end.reason->key;
		place["text"] = end.text();
		place["remedy"] = end.reason->remedy;
		ends.push_back(std::move(place));
	}
	object["schema"] = "ferry-cc";
	object["version"] = VERSION;
	object["function"] = function;
	object["calls"] = std::move(names);
	object["in_a_row"] = row;
	object["is_region"] = isRegion;
	object["saved_ns"] = nullptr;
	if (crossing > 0 && isRegion)
		object["saved_ns"] = std::round((row - 1) * crossing);
	object["ends"] = std::move(ends);
	object["program"] = isRegion ? json::Value(region.program()) : json::Value(nullptr);
	return object;
}

/* In one write, which no other compiler's comes between. */
static void append(const std::string &file, const std::string &text)
{
	std::error_code error;
	raw_fd_ostream out(file, error, sys::fs::OF_Append);

	out.SetUnbuffered();
	if (!error)
		out << text;
	if (error || out.has_error())
		errs() << "ferry: cc: cannot write to " << file << "\n";
	out.clear_error();
}

void Explaining::explain(StringRef function, const std::vector<Region> &regions,
			 OptimizationRemarkEmitter &remarks) const
{
	std::string lines;
	raw_string_ostream out(lines);

	for (const Region &region : regions) {
		if (json.empty())
			remark(region, remarks);
		else
			out << asJson(function, region, crossing) << "\n";
	}
	if (!json.empty() && !regions.empty())
		append(json, out.str());
}

} // namespace ferry
