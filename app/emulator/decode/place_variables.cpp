#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "emulator/decode/decode_kernel.h"
#include "emulator/decode/statement_decoder.h"
#include "emulator/lower/calls.h"
#include "emulator/program/error.h"
#include "emulator/ptx/effects.h"

namespace warpscope::emulator {
namespace {

// A GPU gives a thread at most 512 KiB of local memory. Whether shared memory suffices depends on
// the device and is checked at the launch.
constexpr std::uint64_t most_local_bytes = 512u << 10, most_shared_bytes = 1u << 30;

void place(KernelState& state, const Variable& v) {
    const bool shared = v.space == Space::shared;
    std::uint32_t& end = shared ? state.kernel->shared_bytes : state.kernel->local_bytes;
    const std::uint64_t begin = (std::uint64_t(end) + v.align - 1) / v.align * v.align;
    const std::uint64_t most = shared ? most_shared_bytes : most_local_bytes;
    if (begin + v.bytes > most)
        throw Error(fmt::format(
            "{}: kernel {}: '{}' lies beyond the {} bytes that {} memory can have",
            state.module.name(), state.syntax.name, v.name, most, shared ? "shared" : "local"));
    state.symbols[v.name] = {v.space, begin, v.element_bytes};
    end = std::uint32_t(begin + v.bytes);
    if (shared)
        state.kernel->shared_variables.push_back(
            {v.name, std::uint32_t(begin), std::uint32_t(v.bytes)});
}

}  // namespace

void place_variables(KernelState& state) {
    Kernel& kernel = *state.kernel;
    bool has_dynamic = false;
    for (const Variable& v : state.syntax.variables) {
        has_dynamic |= v.dynamic;
        if (!v.dynamic) place(state, v);
    }
    kernel.local_bytes = (kernel.local_bytes + 15) / 16 * 16;
    const auto stack = state.symbols.find(stack_name);
    kernel.cleared_local_bytes =
        stack == state.symbols.end() ? kernel.local_bytes : std::uint32_t(stack->second.address);
    // All dynamic shared variables begin behind the static ones.
    if (has_dynamic) kernel.shared_bytes = (kernel.shared_bytes + 15) / 16 * 16;
    for (const Variable& v : state.syntax.variables)
        if (v.dynamic) {
            state.symbols[v.name] = {Space::shared, kernel.shared_bytes, v.element_bytes};
            kernel.shared_variables.push_back({v.name, kernel.shared_bytes, 0});
        }
    for (const Parameter& p : state.syntax.parameters)
        state.symbols[p.name] = {Space::param, p.offset};
}

namespace {

constexpr int none = KernelState::no_base, several = KernelState::several_bases;

/// Finds of which variable or parameter the values of registers are computed. A register has the
/// bases of all values that it ever has.
class BaseFinder {
  public:
    explicit BaseFinder(KernelState& state) : state_(state) {
        state.base_of_register.assign(state.syntax.registers.size(), none);
        for (const SharedVariable& v : state.kernel->shared_variables)
            state.base_of_symbol[v.name] = add({AddressBase::shared, v.offset, v.bytes});
        any_pointer_ = add({AddressBase::any_pointer});
        find_frames();
        find_local_arrays();
        for (bool changed = true; changed;) {
            changed = false;
            for (const Statement& s : state.syntax.statements) changed |= follow(s);
        }
    }

  private:
    std::vector<AddressBase>& bases() { return state_.kernel->bases; }
    int add(const AddressBase& base) {
        bases().push_back(base);
        return int(bases().size()) - 1;
    }
    bool is_pointer(int base) { return bases()[std::size_t(base)].kind >= AddressBase::pointer; }

    /// Returns the base of a value that is computed from two others. What is added to an array is
    /// an index.
    int joined(int one, int other) {
        if (one == none || one == other) return other;
        if (other == none) return one;
        if (one == several || other == several) return several;
        if (is_pointer(one) != is_pointer(other)) return is_pointer(one) ? other : one;
        return is_pointer(one) ? any_pointer_ : several;
    }

    int base_of(const Operand& operand) {
        if (operand.kind == Operand::register_)
            return state_.base_of_register[std::size_t(operand.index)];
        int base = none;
        if (operand.kind == Operand::symbol && !is_local(operand.name)) {
            const auto known = state_.base_of_symbol.find(operand.name);
            base = known != state_.base_of_symbol.end()
                       ? known->second
                       : state_.base_of_symbol[operand.name] = add({AddressBase::pointer});
        }
        for (const Operand& element : operand.elements) base = joined(base, base_of(element));
        return base;
    }

    bool is_local(const std::string& name) const {
        const auto placed = state_.symbols.find(name);
        return placed != state_.symbols.end() && placed->second.space == Space::local;
    }

    /// Registers that hold the address of a variable in local memory. Compilers have one variable
    /// for all local arrays of a function.
    void find_frames() {
        for (std::size_t before = ~std::size_t(0); before != frames_.size();) {
            before = frames_.size();
            for (const Statement& s : state_.syntax.statements) {
                const bool copies =
                    s.opcode->operation == Operation::mov || s.opcode->operation == Operation::cvta;
                if (!copies || s.operands[0].kind != Operand::register_) continue;
                const Operand& from = s.operands[1];
                if (from.kind == Operand::symbol && from.name != stack_name && is_local(from.name))
                    frames_[s.operands[0].index] = from.name;
                else if (const auto frame = frames_.find(from.index);
                         from.kind == Operand::register_ && frame != frames_.end())
                    frames_[s.operands[0].index] = frame->second;
            }
        }
    }

    /// Where an array begins in the variable of its function: each has an addition of its own, such
    /// as add.u64 %rd1, %SPL, 32.
    std::optional<std::pair<std::string, std::int64_t>> begin_of_array(const Statement& s) const {
        if (s.opcode->operation != Operation::add || s.operands[1].kind != Operand::register_ ||
            s.operands[2].kind != Operand::integer)
            return std::nullopt;
        const auto frame = frames_.find(s.operands[1].index);
        if (frame == frames_.end()) return std::nullopt;
        return std::pair(frame->second, s.operands[2].value);
    }

    void find_local_arrays() {
        std::map<std::pair<std::string, std::int64_t>, int> found;
        for (const Statement& s : state_.syntax.statements)
            if (const auto begin = begin_of_array(s)) found[*begin] = none;
        for (auto array = found.begin(); array != found.end(); ++array) {
            const auto& [name, begin] = array->first;
            const auto next = std::next(array);
            const bool is_last = next == found.end() || next->first.first != name;
            const auto variable = std::ranges::find(state_.syntax.variables, name, &Variable::name);
            const std::int64_t end = is_last ? std::int64_t(variable->bytes) : next->first.second;
            array->second =
                add({AddressBase::local, std::uint32_t(state_.symbols[name].address + begin),
                     std::uint32_t(end - begin)});
        }
        for (const Statement& s : state_.syntax.statements)
            if (const auto begin = begin_of_array(s)) local_arrays_[&s] = found[*begin];
    }

    bool follow(const Statement& s) {
        const bool computes = s.opcode->kind == OpcodeKind::computes;
        const bool is_parameter = s.opcode->kind == OpcodeKind::loads && s.has("param");
        bool changed = false;
        for (const std::int32_t r : destinations_of(s)) {
            int base = state_.base_of_register[std::size_t(r)];
            // A number of 32 bits from memory is no address of global memory.
            const bool is_wide = bits_of(state_.syntax.registers[std::size_t(r)].type) == 64;
            if (computes || (is_parameter && is_wide)) {
                for (std::size_t k = destination_count(s); k < s.operands.size(); ++k)
                    base = joined(base, base_of(s.operands[k]));
                const auto array = local_arrays_.find(&s);
                if (array != local_arrays_.end()) base = joined(base, array->second);
            } else if (is_wide) {
                base = joined(base, any_pointer_);
            }
            changed |= std::exchange(state_.base_of_register[std::size_t(r)], base) != base;
        }
        return changed;
    }

    KernelState& state_;
    int any_pointer_ = none;
    std::map<std::int32_t, std::string> frames_;  ///< by register
    std::map<const Statement*, int> local_arrays_;
};

}  // namespace

void find_bases(KernelState& state) {
    BaseFinder finder(state);
}

int base_of_address(const KernelState& state, const Operand& address) {
    if (address.elements.size() != 1) return none;
    const Operand& base = address.elements[0];
    if (base.kind == Operand::register_) return state.base_of_register[std::size_t(base.index)];
    const auto known = state.base_of_symbol.find(base.name);
    return known == state.base_of_symbol.end() ? none : known->second;
}

void place_registers(KernelState& state) {
    const std::vector<RegisterSyntax>& registers = state.syntax.registers;
    std::vector<bool> used(registers.size());
    state.is_read.resize(registers.size());
    for (const Statement& s : state.syntax.statements) {
        for (std::int32_t r : destinations_of(s)) used[std::size_t(r)] = true;
        for (std::int32_t r : sources_of(s))
            used[std::size_t(r)] = state.is_read[std::size_t(r)] = true;
    }
    state.register_slots.resize(registers.size());
    for (std::size_t r = 0; r < registers.size(); ++r) {
        const Type type = registers[r].type;
        std::uint32_t& slot = state.register_slots[r];
        if (!used[r]) continue;
        if (state.aliases[r])
            slot = *state.aliases[r];
        else if (type == Type::pred || state.uniformity.uniform[r])
            slot = state.slots.uniform();
        else
            slot = state.slots.vector(bits_of(type));
        state.kernel->registers.push_back({registers[r].name, slot, std::uint8_t(bits_of(type)),
                                           is_float(type), registers[r].instance});
        if (state.uniformity.live_at_entry[r] && !state.aliases[r])
            state.kernel->cleared.push_back(state.kernel->registers.back());
    }
}

namespace {

// Returns the slot of the kernel argument that ld.param loads, if the load only copies it.
std::optional<std::uint32_t> argument_slot(const OperandReader& reader, const KernelState& state) {
    const Statement& s = reader.statement();
    const Operand& from = s.operands[1];
    const unsigned bits = reader.register_bits(s.operands[0]);
    if (s.modifiers.size() != 2 || s.modifiers[0] != "param") return std::nullopt;
    const auto type = type_named(s.modifiers[1]);
    if (!type || bits_of(*type) < 32 || bits_of(*type) != bits) return std::nullopt;
    if (from.kind != Operand::address || from.elements.size() != 1) return std::nullopt;
    if (from.elements[0].kind != Operand::symbol) return std::nullopt;
    const Symbol found = reader.symbol(from.elements[0]);
    const std::uint64_t offset = found.address + std::uint64_t(from.value);
    const std::uint64_t bytes = bits / 8, all = state.kernel->parameter_bytes;
    // A load that is misaligned or not within the arguments is kept, to report the error.
    const bool valid = offset % bytes == 0 && offset <= all && bytes <= all - offset;
    if (found.space != Space::param || !valid) return std::nullopt;
    return (state.kernel->argument_slot + std::uint32_t(offset)) | uniform_operand;
}

// Returns the slot that a statement only copies, if its value never changes while the kernel runs.
std::optional<std::uint32_t> copied_slot(OperandReader& reader, const KernelState& state) {
    const Statement& s = reader.statement();
    const Operand& from = s.operands[1];
    if (s.opcode->operation == Operation::ld) return argument_slot(reader, state);
    const bool is_mov = s.opcode->operation == Operation::mov && s.modifiers.size() == 1 &&
                        reader.register_bits(s.operands[0]) >= 16;
    const bool keeps_address =
        s.opcode->operation == Operation::cvta && (s.has("global") || s.has("const"));
    if (!is_mov && !keeps_address) return std::nullopt;
    const auto type = type_named(s.modifiers.back());
    if (!type || *type == Type::pred || from.kind == Operand::vector) return std::nullopt;
    if (from.kind == Operand::register_) {
        // Lanes of another width have other places in a slot.
        if (reader.register_bits(from) != reader.register_bits(s.operands[0])) return std::nullopt;
        return state.aliases[std::size_t(from.index)];
    }
    if (from.kind == Operand::special && special_named(from.name) == Special::none)
        return std::nullopt;
    return reader.source(from, *type);
}

}  // namespace

void find_aliases(KernelState& state) {
    const std::vector<Statement>& statements = state.syntax.statements;
    state.aliases.resize(state.syntax.registers.size());
    state.dropped.resize(statements.size());
    std::vector<std::uint32_t> definitions(state.syntax.registers.size());
    for (const Statement& s : statements)
        for (std::int32_t r : destinations_of(s)) ++definitions[std::size_t(r)];
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 0; i < statements.size(); ++i) {
            const Statement& s = statements[i];
            // The first of two operands may be a source: bar.sync a, b.
            const bool may_copy = destination_count(s) == 1 && s.operands.size() == 2;
            if (state.dropped[i] || s.guard >= 0 || !may_copy) continue;
            const Operand& d = s.operands[0];
            if (d.kind != Operand::register_ || definitions[std::size_t(d.index)] != 1) continue;
            if (state.uniformity.live_at_entry[std::size_t(d.index)]) continue;
            OperandReader reader(state, s);
            state.aliases[std::size_t(d.index)] = copied_slot(reader, state);
            state.dropped[i] = state.aliases[std::size_t(d.index)].has_value();
            changed |= state.dropped[i];
        }
    }
}

}  // namespace warpscope::emulator
