#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emulator/decode/decoder.h"
#include "emulator/program/error.h"

// Operands as slots of the register file, and what is wrong with them.
namespace warpscope::emulator {

std::uint32_t Decoder::destination(const Operand& o) {
    if (o.kind == Operand::sink) {
        static constexpr std::string_view may[] = {"ld", "ldu", "atom", "setp", "shfl", "match"};
        if (&o == current_->operands.data() &&
            std::find(std::begin(may), std::end(may), current_->opcode) == std::end(may))
            fail("a destination is needed");
        return 0;
    }
    if (o.kind != Operand::register_) fail("the destination is not a register");
    return slots_[size_t(o.index)];
}

unsigned Decoder::register_bits(const Operand& o) const {
    return o.kind == Operand::register_ ? bits_of(syntax_.registers[size_t(o.index)].type) : 0;
}

void Decoder::check_width(const Operand& o, Type type) const {
    if (o.kind != Operand::register_) return;
    const unsigned bits = register_bits(o), needed = bits_of(type);
    if ((bits == 1) == (needed == 1) && (needed <= 32 || bits >= needed)) return;
    fail(fmt::format("{} has {} bits, and {} are needed", o.name, bits, needed));
}

Symbol Decoder::symbol(const Operand& o) const {
    if (const auto found = symbols_.find(o.name); found != symbols_.end()) return found->second;
    if (const auto found = module_symbols_.find(o.name); found != module_symbols_.end())
        return found->second;
    fail(fmt::format("unknown name '{}'", o.name));
}

std::uint32_t Decoder::source(const Operand& o, Type type) {
    switch (o.kind) {
        case Operand::register_: {
            // Shifts and fields have counts of 32 bits, as third and later operands.
            static constexpr std::string_view counts[] = {"shl", "shr", "bfe", "bfi", "fns"};
            const bool count = current_->operands.size() > 2 && &o >= &current_->operands[2] &&
                               std::find(std::begin(counts), std::end(counts), current_->opcode) !=
                                   std::end(counts);
            check_width(o, count ? Type::b32 : type);
            return slots_[size_t(o.index)];
        }
        case Operand::integer:
            if (type == Type::pred) return file_.constant(o.value ? all_lanes : 0);
            if (is_float(type)) fail("an integer stands where a float is needed");
            return file_.constant(std::uint64_t(o.value));
        case Operand::float32:
        case Operand::float64: {
            const bool is_single = o.kind == Operand::float32;
            const auto bits = std::uint64_t(o.value);
            const double value = is_single ? double(std::bit_cast<float>(std::uint32_t(bits)))
                                           : std::bit_cast<double>(bits);
            if (bits_of(type) == 64)
                return file_.constant(is_single ? std::bit_cast<std::uint64_t>(value) : bits);
            return file_.constant(is_single ? bits : std::bit_cast<std::uint32_t>(float(value)));
        }
        case Operand::special: {
            const Special special = special_named(o.name);
            if (special == Special::none) fail(fmt::format("unknown register '{}'", o.name));
            return file_.special(special);
        }
        case Operand::symbol:
            return file_.constant(symbol(o).address + std::uint64_t(o.value));
        default:
            fail("this operand can't be a value");
    }
}

std::uint32_t Decoder::predicate_source(const Operand& o) {
    const std::uint32_t p = source(o, Type::pred);
    if (!o.negated) return p;
    const std::uint32_t inverse = new_predicate();
    Emission e;
    e.full = predicate_not;
    e.operands = {inverse, p};
    emit_raw(e, true);
    return inverse;
}

void Decoder::expect_operands(const Statement& s, size_t count) const {
    if (s.operands.size() != count)
        fail(fmt::format("{} operands where {} are needed", s.operands.size(), count));
}

void Decoder::finish(const Modifiers& m) const {
    if (!m.left().empty()) fail(fmt::format("unknown modifier .{}", m.left().front()));
}

void Decoder::fail(const std::string& what) const {
    const SourceLine& at = current_->source;
    std::string place = fmt::format("PTX line {}", at.ptx_line);
    if (at.file >= 0 && size_t(at.file) < module_.files().size())
        place = fmt::format("{}:{}, {}", module_.files()[size_t(at.file)], at.line, place);
    throw Error(fmt::format("{}: kernel {}, {}: {}: '{}'", module_.name(), syntax_.name, place,
                            what, current_->text));
}

}  // namespace warpscope::emulator
