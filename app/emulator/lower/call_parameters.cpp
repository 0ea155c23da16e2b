#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "emulator/lower/added_statements.h"
#include "emulator/lower/calls.h"

// Replaces the .param variables of calls. Each offset that is stored to and loaded from becomes a
// register. A variable with overlapping accesses, or whose address is taken, becomes local memory.
namespace warpscope::emulator {

namespace {

struct Piece {
    unsigned bytes = 0;
    unsigned least_stored = 8;
    std::int32_t reg = -1;
};

struct Place {
    bool in_memory = false;
    std::map<std::int64_t, Piece> pieces;  // indexed by offset
};

// A load from a .param variable, or a store to one, at a known offset.
struct ParameterAccess {
    bool store = false;
    Type type = Type::b32;
    std::vector<Operand> values;
    Place* place = nullptr;
    std::int64_t offset = 0;
    std::int64_t offset_of(std::size_t element) const {
        return offset + std::int64_t(element) * bytes_of(type);
    }
};

class Placement {
  public:
    explicit Placement(KernelSyntax& kernel) : kernel_(kernel) {
        for (const Variable& v : kernel.variables)
            if (v.space == Space::param) places_[v.name];
    }

    void run() {
        if (places_.empty()) return;
        for (const Statement& s : kernel_.statements) survey(s);
        for (auto& [name, place] : places_) choose(place);
        std::vector<Statement> before = std::move(kernel_.statements);
        kernel_.statements.clear();
        std::vector<std::uint32_t> moved_to;
        for (Statement& s : before) {
            moved_to.push_back(std::uint32_t(kernel_.statements.size()));
            rewrite(std::move(s));
        }
        moved_to.push_back(std::uint32_t(kernel_.statements.size()));
        for (auto& [label, at] : kernel_.labels) at = moved_to[at];
        for (Variable& v : kernel_.variables)
            if (v.space == Space::param) v.space = Space::local;
        std::erase_if(kernel_.variables, [&](const Variable& v) {
            const auto found = places_.find(v.name);
            return found != places_.end() && !found->second.in_memory;
        });
    }

  private:
    Place* place_of(const Operand& o) {
        if (o.kind != Operand::symbol) return nullptr;
        const auto found = places_.find(o.name);
        return found == places_.end() ? nullptr : &found->second;
    }

    std::optional<ParameterAccess> access_of(const Statement& s) {
        const bool loads = s.opcode->kind == OpcodeKind::loads;
        if ((!loads && s.opcode->kind != OpcodeKind::stores) || !s.has("param") ||
            s.operands.size() != 2)
            return std::nullopt;
        ParameterAccess a;
        a.store = !loads;
        const Operand &at = s.operands[a.store ? 0 : 1], &value = s.operands[a.store ? 1 : 0];
        if (at.kind != Operand::address || at.elements.size() != 1) return std::nullopt;
        a.place = place_of(at.elements[0]);
        const auto type = s.modifiers.empty() ? std::nullopt : type_named(s.modifiers.back());
        if (!a.place || !type || bits_of(*type) < 8 || bits_of(*type) > 64) return std::nullopt;
        a.type = *type;
        a.offset = at.value + at.elements[0].value;
        a.values = value.kind == Operand::vector ? value.elements : std::vector<Operand>{value};
        return a;
    }

    void survey(const Statement& s) {
        if (const auto a = access_of(s)) {
            for (std::size_t e = 0; e < a->values.size(); ++e) {
                Piece& piece = a->place->pieces[a->offset_of(e)];
                piece.bytes = std::max(piece.bytes, bytes_of(a->type));
                if (a->store) piece.least_stored = std::min(piece.least_stored, bytes_of(a->type));
            }
            return;
        }
        const auto name = [&](const Operand& o, auto& self) -> void {
            if (Place* place = place_of(o)) place->in_memory = true;
            for (const Operand& e : o.elements) self(e, self);
        };
        for (const Operand& o : s.operands) name(o, name);
    }

    void choose(Place& place) {
        std::int64_t end = 0;
        for (const auto& [offset, piece] : place.pieces) {
            place.in_memory |= offset < end || piece.least_stored < piece.bytes;
            end = offset + piece.bytes;
        }
        if (place.in_memory) return;
        for (auto& [offset, piece] : place.pieces) {
            piece.reg = std::int32_t(kernel_.registers.size());
            kernel_.registers.push_back({"%param", piece.bytes == 8 ? Type::b64 : Type::b32});
        }
    }

    void rewrite(Statement s) {
        const auto a = access_of(s);
        if (!a) return kernel_.statements.push_back(std::move(s));
        if (a->place->in_memory) {
            std::replace(s.modifiers.begin(), s.modifiers.end(), std::string("param"),
                         std::string("local"));
            return kernel_.statements.push_back(std::move(s));
        }
        for (std::size_t e = 0; e < a->values.size(); ++e) {
            const Piece& piece = a->place->pieces.at(a->offset_of(e));
            if (a->values[e].kind == Operand::sink) continue;
            Statement move =
                a->store ? stored(s, *a, piece, a->values[e]) : loaded(s, *a, piece, a->values[e]);
            move.guard = s.guard;
            move.guard_negated = s.guard_negated;
            kernel_.statements.push_back(std::move(move));
        }
    }

    unsigned register_bits(const Operand& o) const {
        return o.kind == Operand::register_ ? bits_of(kernel_.registers[std::size_t(o.index)].type)
                                            : 0;
    }

    Statement stored(const Statement& at, const ParameterAccess& a, const Piece& piece,
                     const Operand& value) const {
        const unsigned bits = piece.bytes * 8, width = register_bits(value);
        const Operand into = register_operand(piece.reg);
        if (bits < 32 && value.kind == Operand::integer)
            return statement(at, "mov.b32",
                             {into, number_operand(value.value & ((1 << bits) - 1))});
        if (bits < 32 || (bits == 32 && width == 64))
            return statement(at, fmt::format("cvt.u32.u{}", bits), {into, value});
        if (value.kind == Operand::integer || register_bits(value) == bits)
            return statement(at, fmt::format("mov.b{}", bits), {into, value});
        return statement(at, fmt::format("mov.{}", name_of(a.type)), {into, value});
    }

    Statement loaded(const Statement& at, const ParameterAccess& a, const Piece& piece,
                     const Operand& into) const {
        const unsigned bits = bits_of(a.type), width = register_bits(into);
        const Operand from = register_operand(piece.reg);
        if (bits >= 32 && bits == width && bits == piece.bytes * 8)
            return statement(at, fmt::format("mov.b{}", bits), {into, from});
        const char sign = is_signed(a.type) ? 's' : 'u';
        if (bits == 16 && width == 16) return statement(at, "cvt.u16.u32", {into, from});
        return statement(at, fmt::format("cvt.{}{}.{}{}", sign, width, sign, bits), {into, from});
    }

    KernelSyntax& kernel_;
    std::map<std::string, Place> places_;
};

}  // namespace

void place_call_parameters(KernelSyntax& kernel) {
    Placement(kernel).run();
}

}  // namespace warpscope::emulator
