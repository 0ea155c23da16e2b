#include "emulator/decode/decoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "emulator/lower/calls.h"
#include "emulator/program/error.h"
#include "emulator/ptx/opcode_traits.h"

namespace warpscope::emulator {

namespace {
// What the analyses look at, by basic block: each statement, each register.
constexpr std::uint64_t most_facts = 200'000'000;
}  // namespace

bool Modifiers::take(std::string_view name) {
    const auto found = std::find(left_.begin(), left_.end(), name);
    if (found == left_.end()) return false;
    left_.erase(found);
    return true;
}

std::optional<Type> Modifiers::take_type() {
    for (auto it = left_.begin(); it != left_.end(); ++it)
        if (const auto type = type_named(*it)) {
            left_.erase(it);
            return type;
        }
    return std::nullopt;
}

Decoder::Decoder(const Module& module, const std::map<std::string, Symbol>& symbols,
                 KernelSyntax syntax)
    : module_(module),
      module_symbols_(symbols),
      syntax_(std::move(syntax)),
      kernel_(std::make_unique<Kernel>()) {}

std::unique_ptr<Kernel> Decoder::decode() {
    kernel_->name = syntax_.name;
    kernel_->module = &module_;
    kernel_->parameters = syntax_.parameters;
    for (const Parameter& p : syntax_.parameters)
        kernel_->parameter_bytes = std::max(kernel_->parameter_bytes, p.offset + p.size);
    for (const Statement& s : syntax_.statements)
        kernel_->flush_subnormals |= s.has("ftz") && !(s.opcode == "rsqrt" && s.has("f32"));
    lower_control(syntax_);
    flow_ = build_control_flow(syntax_);
    const std::uint64_t blocks = flow_.blocks.size();
    if (blocks * syntax_.registers.size() > most_facts ||
        blocks * syntax_.statements.size() > most_facts)
        throw Error(fmt::format(
            "{}: kernel {} is too large to emulate: {} statements, {} registers and {} branches",
            module_.name(), syntax_.name, syntax_.statements.size(), syntax_.registers.size(),
            blocks));
    uniformity_ = analyse_uniformity(syntax_, flow_);
    kernel_->argument_slot = file_.uniform(std::max(8u, kernel_->parameter_bytes)) & ~1u;
    place_variables();
    find_aliases();
    allocate_registers();
    decode_blocks();
    resolve_branches();
    finish_operands();
    finish_events();
    return std::move(kernel_);
}

// Static shared variables that the kernel names, then the dynamic ones, which all begin at the
// end of the static ones; local variables.
void Decoder::place_variables() {
    // 512 KiB of local memory is what a thread can have on a GPU; of shared memory, a launch says
    // whether it is too much.
    const auto place = [&](const Variable& v, std::uint32_t& end) {
        const std::uint64_t begin = (std::uint64_t(end) + v.align - 1) / v.align * v.align;
        const std::uint64_t most = v.space == Space::shared ? 1u << 30 : 512u << 10;
        if (begin + v.bytes > most)
            throw Error(
                fmt::format("{}: kernel {}: '{}' lies beyond the {} bytes that {} memory can "
                            "have",
                            module_.name(), syntax_.name, v.name, most,
                            v.space == Space::shared ? "shared" : "local"));
        symbols_[v.name] = {v.space, begin};
        end = std::uint32_t(begin + v.bytes);
    };
    std::vector<const Variable*> dynamic;
    for (const Variable& v : syntax_.variables)
        if (v.dynamic)
            dynamic.push_back(&v);
        else
            place(v, v.space == Space::shared ? kernel_->shared_bytes : kernel_->local_bytes);
    kernel_->local_bytes = (kernel_->local_bytes + 15) / 16 * 16;
    const auto stack = symbols_.find(stack_name);
    kernel_->cleared_local_bytes =
        stack == symbols_.end() ? kernel_->local_bytes : std::uint32_t(stack->second.address);
    if (!dynamic.empty()) kernel_->shared_bytes = (kernel_->shared_bytes + 15) / 16 * 16;
    for (const Variable* v : dynamic) symbols_[v->name] = {Space::shared, kernel_->shared_bytes};
    for (const Parameter& p : syntax_.parameters) symbols_[p.name] = {Space::param, p.offset};
}

// A register whose only definition renames a constant, a special register or a parameter needs
// neither a slot nor an instruction.
void Decoder::find_aliases() {
    aliases_.resize(syntax_.registers.size());
    dropped_.resize(syntax_.statements.size());
    std::vector<std::uint32_t> definitions(syntax_.registers.size());
    for (const Statement& s : syntax_.statements)
        for (std::int32_t r : destinations_of(s)) ++definitions[size_t(r)];
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < syntax_.statements.size(); ++i) {
            const Statement& s = syntax_.statements[i];
            if (dropped_[i] || s.guard >= 0 || s.operands.size() != 2) continue;
            const Operand& d = s.operands[0];
            if (d.kind != Operand::register_ || definitions[size_t(d.index)] != 1) continue;
            if (uniformity_.live_at_entry[size_t(d.index)]) continue;
            current_ = &s;
            aliases_[size_t(d.index)] = invariant(s);
            dropped_[i] = aliases_[size_t(d.index)].has_value();
            changed |= dropped_[i];
        }
    }
}

// The slot that a statement only copies, if that slot never changes while the kernel runs.
std::optional<std::uint32_t> Decoder::invariant(const Statement& s) {
    const Operand& from = s.operands[1];
    const unsigned bits = register_bits(s.operands[0]);
    if (s.opcode == "ld" && s.modifiers.size() == 2 && s.modifiers[0] == "param") {
        const auto type = type_named(s.modifiers[1]);
        if (!type || bits_of(*type) < 32 || bits_of(*type) != bits) return std::nullopt;
        if (from.kind != Operand::address || from.elements.size() != 1) return std::nullopt;
        if (from.elements[0].kind != Operand::symbol) return std::nullopt;
        const Symbol found = symbol(from.elements[0]);
        const std::uint64_t offset = found.address + std::uint64_t(from.value);
        if (found.space != Space::param || offset + bits / 8 > kernel_->parameter_bytes)
            return std::nullopt;
        return (kernel_->argument_slot + std::uint32_t(offset)) | 1;
    }
    const bool copies = (s.opcode == "mov" && s.modifiers.size() == 1 && bits >= 16) ||
                        (s.opcode == "cvta" && (s.has("global") || s.has("const")));
    if (!copies) return std::nullopt;
    const auto type = type_named(s.modifiers.back());
    if (!type || *type == Type::pred) return std::nullopt;
    if (from.kind == Operand::register_) return aliases_[size_t(from.index)];
    if (from.kind == Operand::special && special_named(from.name) == Special::none)
        return std::nullopt;
    if (from.kind == Operand::vector) return std::nullopt;
    return source(from, *type);
}

void Decoder::allocate_registers() {
    std::vector<bool> used(syntax_.registers.size());
    for (const Statement& s : syntax_.statements) {
        for (std::int32_t r : destinations_of(s)) used[size_t(r)] = true;
        for (std::int32_t r : sources_of(s)) used[size_t(r)] = true;
    }
    read_.resize(syntax_.registers.size());
    for (const Statement& s : syntax_.statements)
        for (std::int32_t r : sources_of(s)) read_[size_t(r)] = true;
    slots_.resize(syntax_.registers.size());
    for (size_t r = 0; r < slots_.size(); ++r) {
        const Type type = syntax_.registers[r].type;
        if (!used[r]) continue;
        if (aliases_[r])
            slots_[r] = *aliases_[r];
        else if (type == Type::pred || uniformity_.uniform[r])
            slots_[r] = file_.uniform();
        else
            slots_[r] = file_.vector(bits_of(type));
        kernel_->registers.push_back(
            {syntax_.registers[r].name, slots_[r], std::uint8_t(bits_of(type)), is_float(type)});
        if (uniformity_.live_at_entry[r] && !aliases_[r])
            kernel_->cleared.push_back(kernel_->registers.back());
    }
}

void Decoder::decode_blocks() {
    std::vector<bool> is_join(flow_.blocks.size());
    for (size_t b = 0; b < flow_.blocks.size(); ++b)
        if (uniformity_.divergent[b] && uniformity_.join[b] != ControlFlow::no_block)
            is_join[uniformity_.join[b]] = true;
    for (size_t b = 0; b < flow_.blocks.size(); ++b) {
        const BasicBlock& block = flow_.blocks[b];
        current_ = &syntax_.statements[block.first];
        block_start_.push_back(std::uint32_t(kernel_->code.size()));
        if (is_join[b]) {
            Emission join;
            join.full = join_point;
            join.role = Role::join;
            emit_raw(join, true);
        }
        for (std::uint32_t i = block.first; i < block.end; ++i) {
            ++pending_cost_;
            if (dropped_[i]) continue;
            current_ = &syntax_.statements[i];
            first_of_statement_ = true;
            keep_subnormals_ = false;
            rounding_ = FE_TONEAREST;
            decode_statement(*current_);
        }
        if (pending_cost_ > 0) {  // fell through to a label: what was run so far counts here
            Emission end;
            end.full = nothing;
            end.checkpoint = true;
            emit_raw(end, true);
        }
    }
}

void Decoder::decode_statement(const Statement& s) {
    if (decode_control(s) || decode_warp(s) || decode_memory(s) || decode_arithmetic(s)) return;
    fail("unknown opcode");
}

void Decoder::resolve_branches() {
    for (const Fixup& f : fixups_) {
        Instruction& i = kernel_->code[f.code];
        i.target = block_start_[f.target_block] - f.code;
        i.operands[1] =
            f.join_block == ControlFlow::no_block ? 0 : block_start_[f.join_block] - f.code;
    }
}

void Decoder::finish_operands() {
    for (Instruction& i : kernel_->code) {
        for (unsigned k = 0; k < (is_branch(i.role) ? 1 : 6); ++k)
            i.operands[k] = file_.final_operand(i.operands[k]);
    }
    for (RegisterInfo& r : kernel_->registers) r.slot = file_.final_operand(r.slot);
    for (RegisterInfo& r : kernel_->cleared) r.slot = file_.final_operand(r.slot);
    file_.finish(*kernel_);
}

void Decoder::emit_raw(const Emission& e, bool pseudo) {
    Instruction i{};
    i.handlers[Instruction::full] = e.full;
    i.handlers[Instruction::masked] = e.masked ? e.masked : e.full;
    if (e.operands.size() > 6) fail("too many operands");
    std::copy(e.operands.begin(), e.operands.end(), i.operands);
    i.immediate = e.immediate;
    i.target = e.target;
    i.detail = e.detail;
    i.role = e.role;
    if (e.checkpoint) {
        i.cost = std::uint16_t(pending_cost_);
        pending_cost_ = 0;
    }
    InstructionInfo info;
    info.text = current_->text;
    info.source = current_->source;
    info.access = e.access;
    info.space = e.space;
    info.bytes = e.bytes;
    info.address_operand = e.address_operand;
    info.barrier = e.barrier;
    info.pseudo = pseudo;
    if (!pseudo) i.events = events_of(e);
    kernel_->code.push_back(i);
    kernel_->lines.push_back(std::move(info));
}

// The prefix of an operation whose float mode is not the kernel's.
void Decoder::emit_float_mode() {
    if (!keep_subnormals_ && rounding_ == FE_TONEAREST) return;
    Emission prefix;
    prefix.full = with_float_mode;
    prefix.role = Role::float_mode;
    prefix.detail = kernel_->flush_subnormals && !keep_subnormals_;
    prefix.target = std::uint32_t(rounding_);
    emit_raw(prefix, true);
}

void Decoder::emit(const Emission& e) {
    emit_float_mode();
    if (current_->guard >= 0) {
        Emission prefix;
        prefix.full = current_->guard_negated ? guard_not : guard;
        prefix.role = current_->guard_negated ? Role::guard_not : Role::guard;
        prefix.operands = {slots_[size_t(current_->guard)]};
        emit_raw(prefix, true);
    }
    emit_raw(e, !first_of_statement_);
    first_of_statement_ = false;
}

void Decoder::emit_value(Handler handler, std::uint32_t destination, unsigned bits,
                         std::vector<std::uint32_t> sources, std::uint16_t detail,
                         std::int64_t immediate) {
    Emission e;
    e.full = handler;
    const Operand& into = current_->operands[0];
    if (into.kind == Operand::register_ && slots_[size_t(into.index)] == destination)
        check_width(into, bits == 64 ? Type::b64 : Type::b32);
    if (!(destination & 1)) e.masked = masked_handler(bits);
    e.operands = std::move(sources);
    e.operands.insert(e.operands.begin(), destination);
    e.detail = detail;
    e.immediate = immediate;
    emit(e);
}

void Decoder::emit_predicate(Handler handler, std::uint32_t destination,
                             std::vector<std::uint32_t> sources) {
    Emission e;
    e.full = handler;
    const Operand& first = current_->operands[0];
    const Operand& d = first.kind == Operand::pair ? first.elements[0] : first;
    const bool uniform = d.kind == Operand::register_ && uniformity_.uniform[size_t(d.index)];
    if (!uniform) e.masked = masked_predicate;
    e.operands = std::move(sources);
    e.operands.insert(e.operands.begin(), destination);
    emit(e);
}

// operands: destination first. The SIMD handler where there is one, else the fallback.
void Decoder::emit_vector_op(VectorOp op, Handler fallback, const Statement& s, Type result,
                             std::vector<std::uint32_t> operands) {
    Shape shape;
    shape.uniform_result = operands[0] & 1;
    for (size_t k = 1; k < operands.size(); ++k)
        if (operands[k] & 1) shape.uniform_sources |= 1u << (k - 1);
    Handler handler = float_handler(op, shape);
    if (!handler) handler = integer_handler(op, shape);
    if (!handler) handler = convert_handler(op, shape);
    if (!handler) handler = fallback;
    if (!handler) fail(fmt::format("unknown form of {}", s.opcode));
    const std::uint32_t destination = operands[0];
    operands.erase(operands.begin());
    emit_value(handler, destination, std::max(32u, bits_of(result)), std::move(operands));
}

}  // namespace warpscope::emulator
