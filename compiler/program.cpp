// SPDX-License-Identifier: MIT
/* A region in the language of ferry-asm(5).  What only the running program knows is 0, and said so.
 */
#include <llvm/ADT/StringExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include "region.h"

using namespace llvm;

namespace ferry
{

namespace
{

constexpr unsigned SOME_SIZE = 4096; // of memory whose size is not known

/* The memory to which calls point: strings, where they are known, and buffers. */
class Data
{
      public:
	/* An address as an expression; SIZE bytes are used from there, 0: not known. */
	std::string address(const Value *pointer, const char *kind, unsigned size);
	std::string text() const;

      private:
	struct Object {
		std::string name, text; // TEXT: of a string
		int64_t size = 0;
	};
	static std::string stringAt(const Value *object);

	std::map<const Value *, size_t> known;
	std::vector<Object> objects;
};

std::string Data::stringAt(const Value *object)
{
	auto *variable = dyn_cast<GlobalVariable>(object);
	auto *data = variable && variable->isConstant() && variable->hasInitializer() ?
			     dyn_cast<ConstantDataArray>(variable->getInitializer()) :
			     nullptr;
	std::string text;
	raw_string_ostream out(text);

	if (!data || !data->isCString())
		return "";
	out << '"';
	for (unsigned char byte : data->getAsCString())
		if (byte == '"' || byte == '\\')
			out << '\\' << char(byte);
		else if (byte >= ' ' && byte < 127)
			out << char(byte);
		else
			out << "\\x" << hexdigit(byte >> 4, true) << hexdigit(byte & 15, true);
	out << '"';
	return out.str();
}

std::string Data::address(const Value *pointer, const char *kind, unsigned size)
{
	/* The target's layout does not matter where no offset is found. */
	int64_t offset = 0;
	const Value *object = pointer;

	if (auto *instruction = dyn_cast<Instruction>(pointer))
		object = GetPointerBaseWithConstantOffset(
			pointer, offset, instruction->getModule()->getDataLayout());
	if (offset < 0)
		offset = 0;
	auto [at, isNew] = known.insert({ object, objects.size() });
	if (isNew)
		objects.push_back({ kind + std::to_string(objects.size() + 1), stringAt(object) });
	Object &found = objects[at->second];
	found.size = std::max<int64_t>(found.size, offset + (size ? size : SOME_SIZE));
	return offset ? found.name + "+" + std::to_string(offset) : found.name;
}

std::string Data::text() const
{
	std::string all;

	for (const Object &object : objects)
		all += object.text.empty() ?
			       "buffer " + object.name + " " + std::to_string(object.size) + "\n" :
			       "string " + object.name + " " + object.text + "\n";
	return all;
}

class Writer
{
      public:
	explicit Writer(const Region &region) : region(region)
	{
	}
	std::string write();

      private:
	std::string argument(const Slot &slot, unsigned i);
	std::string copies(unsigned slot);
	std::string jumps(unsigned slot);
	std::string targetAfter(unsigned slot, int k);
	static std::string label(unsigned slot)
	{
		return "s" + std::to_string(slot + 1);
	}
	/* A slot with copies begins with the first of them, which has a label of its own. */
	std::string entry(unsigned slot) const
	{
		return (region.slots[slot].copies ? "c" : "") + label(slot);
	}

	const Region &region;
	Data data;
	std::string notes; // of the slot at hand
};

/* Flags are easier to read in base 16. */
std::string plain(long number)
{
	return number < 4096 ? std::to_string(number) : "0x" + utohexstr(number, true);
}

std::string Writer::argument(const Slot &slot, unsigned i)
{
	const Argument &argument = slot.arguments[i];
	const Operand &operand = slot.wrapper->operands[i];

	switch (argument.kind) {
	case Argument::constant:
		if (operand.kind == 'd' && argument.number == -100)
			return "AT_FDCWD";
		return plain(argument.number);
	case Argument::forwarded:
		return "$" + label(argument.from);
	case Argument::known:
		if (argument.value->getType()->isPointerTy())
			return data.address(argument.value, operand.kind == 'p' ? "path" : "memory",
					    bytesOf(*slot.call, operand));
		[[fallthrough]];
	case Argument::copied:
		break;
	}
	notes += notes.empty() ? "# argument " : ", ";
	notes += std::to_string(i + 1) +
		 (argument.kind == Argument::copied ? " is copied" : " is the program's");
	return "0";
}

std::string Writer::copies(unsigned at)
{
	const Slot &slot = region.slots[at];
	std::string all;

	for (unsigned i = 0; i < slot.arguments.size(); i++)
		if (slot.arguments[i].kind == Argument::copied)
			all += "     copy(&" + label(at) + ".arg" + std::to_string(i) + ", " +
			       data.address(slot.arguments[i].load->getPointerOperand(), "memory",
					    sizeof(long)) +
			       ")  fail -> end\n";
	return all;
}

std::string Writer::targetAfter(unsigned slot, int k)
{
	const std::vector<Jump> &jumps = region.slots[slot].jumpsAfter(k);

	if (jumps.empty())
		return "end";
	if (jumps.size() > 1 || !jumps[0].when.empty())
		notes += notes.empty() ? "# the program chooses a jump" :
					 ", the program chooses a jump";
	return entry(jumps[0].target);
}

std::string Writer::jumps(unsigned slot)
{
	static const char *const outcomes[] = { "fail", "zero", "pos" };
	std::string all, targets[3];

	for (int k = 0; k < 3; k++)
		targets[k] = targetAfter(slot, k);
	if (slot + 1 == region.slots.size())
		return "";
	const std::string next = entry(slot + 1);
	if (targets[0] == targets[1] && targets[1] == targets[2])
		return targets[0] == next ? "" : "  any -> " + targets[0];
	for (int k = 0; k < 3; k++)
		if (targets[k] != next)
			all += (all.empty() ? "  " : ", ") + std::string(outcomes[k]) + " -> " +
			       targets[k];
	return all;
}

std::string Writer::write()
{
	std::string slots;

	for (unsigned at = 0; at < region.slots.size(); at++) {
		const Slot &slot = region.slots[at];
		std::string arguments;

		notes.clear();
		if (slot.copies)
			slots += "c" + label(at) + ":\n" + copies(at);
		for (unsigned i = 0; i < slot.arguments.size(); i++)
			arguments += (i ? ", " : "") + argument(slot, i);
		slots += label(at) + ": " + slot.wrapper->call + "(" + arguments + ")" + jumps(at);
		slots += (notes.empty() ? "" : "  ") + notes + "\n";
	}
	return data.text() + slots;
}

} // namespace

std::string Region::program() const
{
	return Writer(*this).write();
}

} // namespace ferry
