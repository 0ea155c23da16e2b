#include "emulator/decode/statement_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emulator/handlers/handlers.h"
#include "emulator/handlers/lane_operations.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

void Emitter::count_statement(const Statement& statement) {
    ++pending_cost_;
    state_.kernel->statements.push_back(statement.source);
}

void Emitter::begin(const Statement& statement) {
    statement_ = &statement;
    is_first_ = true;
}

std::uint32_t Emitter::carry_slot() {
    if (!carry_slot_) carry_slot_ = state_.slots.uniform();
    return carry_slot_;
}

void Emitter::emit(const Emission& e, const FloatRequest& mode) {
    emit_turnstile(e);
    emit_float_mode(mode);
    if (statement_->guard >= 0) {
        Emission prefix;
        prefix.full = statement_->guard_negated ? guard_not : guard;
        prefix.role = statement_->guard_negated ? Role::guard_not : Role::guard;
        prefix.operands = {state_.register_slots[std::size_t(statement_->guard)]};
        append(prefix, true);
    }
    append(e, !is_first_);
    is_first_ = false;
}

void Emitter::emit_inserted(const Emission& e, const FloatRequest& mode) {
    emit_float_mode(mode);
    append(e, true);
}

// Shared memory has no turnstiles, nor has what counts for the threads of a block only.
void Emitter::emit_turnstile(const Emission& e) {
    const bool is_strong = e.access != MemoryAccess::none && e.order != MemoryOrder::weak;
    const bool is_seen = e.space == Space::global || e.space == Space::generic;
    if (!state_.kernel->synchronises_grid || !is_strong || !is_seen || e.scope == Scope::block)
        return;
    Emission prefix;
    prefix.full = turnstile;
    prefix.role = Role::turnstile;
    append(prefix, true);
}

void Emitter::emit_float_mode(const FloatRequest& mode) {
    const bool kernel_flushes = state_.kernel->flush_subnormals;
    const bool flushes = mode.subnormals == FloatRequest::any
                             ? kernel_flushes
                             : mode.subnormals == FloatRequest::flushed;
    if (flushes == kernel_flushes && mode.rounding == Rounding::nearest) return;
    Emission prefix;
    prefix.full = with_float_mode;
    prefix.role = Role::float_mode;
    prefix.detail = flushes;
    prefix.target = std::uint32_t(mode.rounding);
    append(prefix, true);
}

void Emitter::append(const Emission& e, bool inserted) {
    Instruction i{};
    i.handlers[Instruction::full] = e.full;
    i.handlers[Instruction::masked] = e.masked ? e.masked : e.full;
    if (e.operands.size() > std::size(i.operands))
        fail_at(state_, *statement_, "too many operands");
    std::copy(e.operands.begin(), e.operands.end(), i.operands);
    i.immediate = e.immediate;
    i.target = e.target;
    i.detail = e.detail;
    i.role = e.role;
    i.operation = e.operation;
    i.type = e.type;
    i.second_type = e.second_type;
    i.modifiers = e.modifiers;
    if (e.cost_point) {
        i.cost = std::uint16_t(pending_cost_);
        pending_cost_ = 0;
    }
    InstructionInfo info;
    info.text = statement_->text;
    info.source = statement_->source;
    info.access = e.access;
    info.space = e.space;
    info.order = e.order;
    info.scope = e.scope;
    info.base = e.base;
    info.compares = e.compares;
    info.bytes = e.bytes;
    info.address_operand = e.address_operand;
    info.barrier = e.role == Role::block_barrier;
    info.gathers = e.gathers;
    info.pseudo = inserted;
    info.statements = std::uint32_t(state_.kernel->statements.size());
    state_.kernel->code.push_back(i);
    state_.kernel->lines.push_back(std::move(info));
}

std::uint32_t OperandReader::destination(const Operand& o) const {
    if (o.kind == Operand::sink) return 0;
    if (o.kind != Operand::register_) fail("the destination is not a register");
    return state_.register_slots[std::size_t(o.index)];
}

unsigned OperandReader::register_bits(const Operand& o) const {
    if (o.kind != Operand::register_) return 0;
    return bits_of(state_.syntax.registers[std::size_t(o.index)].type);
}

void OperandReader::check_width(const Operand& o, Type type) const {
    if (o.kind != Operand::register_) return;
    const unsigned bits = register_bits(o), needed = bits_of(type);
    if ((bits == 1) == (needed == 1) && (needed <= 32 || bits >= needed)) return;
    fail(fmt::format("{} has {} bits, and {} are needed", o.name, bits, needed));
}

Symbol OperandReader::symbol(const Operand& o) const {
    const auto own = state_.symbols.find(o.name);
    const auto found = state_.module_symbols.find(o.name);
    const bool is_own = own != state_.symbols.end();
    if (!is_own && found == state_.module_symbols.end())
        fail(fmt::format("unknown name '{}'", o.name));
    Symbol symbol = is_own ? own->second : found->second;
    if (o.index > 0) symbol.address += std::uint64_t(o.index) * symbol.element_bytes;
    return symbol;
}

Type OperandReader::type_of(std::size_t k, Type instruction_type) const {
    const OperandRole& role = statement_.opcode->operands.roles[k];
    switch (role.value) {
        case OperandRole::Value::own:
            return role.own;
        case OperandRole::Value::wide:
            return wide_type(instruction_type);
        case OperandRole::Value::of_instruction:
            break;
    }
    return instruction_type;
}

std::uint32_t OperandReader::source(std::size_t k, Type instruction_type) {
    return source(operand(k), type_of(k, instruction_type));
}

namespace {

// Returns the bits of a float literal as a value of `type`.
std::uint64_t float_bits(const Operand& o, Type type) {
    const auto bits = std::uint64_t(o.value);
    const bool is_single = o.kind == Operand::float32;
    const double value =
        is_single ? double(std::bit_cast<float>(std::uint32_t(bits))) : std::bit_cast<double>(bits);
    if (bits_of(type) == 64) return is_single ? std::bit_cast<std::uint64_t>(value) : bits;
    return is_single ? bits : std::bit_cast<std::uint32_t>(float(value));
}

}  // namespace

std::uint32_t OperandReader::source(const Operand& o, Type type) {
    switch (o.kind) {
        case Operand::register_:
            check_width(o, type);
            return state_.register_slots[std::size_t(o.index)];
        case Operand::integer:
            if (type == Type::pred) return state_.slots.constant(o.value ? all_lanes : 0);
            if (is_float(type)) fail("an integer stands where a float is needed");
            return state_.slots.constant(std::uint64_t(o.value));
        case Operand::float32:
        case Operand::float64:
            return state_.slots.constant(float_bits(o, type));
        case Operand::special: {
            const Special special = special_named(o.name);
            if (special == Special::none)
                fail(fmt::format("unknown special register '{}'", o.name));
            if ((special == Special::is_explicit_cluster) != (type == Type::pred))
                fail(fmt::format("{} is {}", o.name,
                                 type == Type::pred ? "not a predicate" : "a predicate"));
            return state_.slots.special(special);
        }
        case Operand::symbol:
            return state_.slots.constant(symbol(o).address + std::uint64_t(o.value));
        default:
            fail("this operand is not a value");
    }
}

Type StatementDecoder::type(std::size_t k) const {
    if (k >= types_.size())
        fail(k == 0 ? "a type is needed" : fmt::format("{} types are needed", k + 1));
    return types_[k];
}

// Adds .sat and .ftz; takes operation and types from the statement unless the emission sets them.
Emission StatementDecoder::completed(Emission e) const {
    if (has("sat")) e.modifiers |= Instruction::saturates;
    if (has("ftz")) e.modifiers |= Instruction::flushes;
    if (e.operation != Operation::unknown) return e;
    e.operation = operation();
    if (!types_.empty()) e.type = types_[0];
    if (types_.size() > 1) e.second_type = types_[1];
    return e;
}

void StatementDecoder::emit(Emission e) {
    emitter_.emit(completed(std::move(e)), float_mode);
}

void StatementDecoder::emit_inserted(Emission e) {
    emitter_.emit_inserted(completed(std::move(e)), float_mode);
}

void StatementDecoder::emit_value(Handler handler, std::uint32_t destination, unsigned bits,
                                  Emission e) {
    if (!handler) fail_form();
    const Operand& into = operand(0);
    if (into.kind == Operand::register_ &&
        state_.register_slots[std::size_t(into.index)] == destination)
        check_width(into, bits == 64 ? Type::b64 : Type::b32);
    e.full = handler;
    if (!is_uniform(destination)) e.masked = masked_handler(bits);
    e.operands.insert(e.operands.begin(), destination);
    emit(std::move(e));
}

void StatementDecoder::emit_predicate(Handler handler, std::uint32_t destination, Emission e) {
    if (!handler) fail_form();
    const Operand& first = operand(0);
    const Operand& d = first.kind == Operand::pair ? first.elements[0] : first;
    const bool uniform =
        d.kind == Operand::register_ && state_.uniformity.uniform[std::size_t(d.index)];
    e.full = handler;
    if (!uniform) e.masked = masked_predicate;
    e.operands.insert(e.operands.begin(), destination);
    emit(std::move(e));
}

OperandKinds kinds_of(const std::vector<std::uint32_t>& operands) {
    OperandKinds kinds;
    kinds.uniform_result = is_uniform(operands[0]);
    for (std::size_t k = 1; k < operands.size(); ++k)
        if (is_uniform(operands[k])) kinds.uniform_sources |= 1u << (k - 1);
    return kinds;
}

void StatementDecoder::emit_arithmetic(const Arithmetic& arithmetic, Type result,
                                       std::vector<std::uint32_t> operands) {
    const Handler handler = arithmetic_handler(arithmetic, kinds_of(operands));
    const std::uint32_t destination = operands[0];
    operands.erase(operands.begin());
    Emission e;
    e.operands = std::move(operands);
    e.operation = arithmetic.operation;
    e.type = arithmetic.type;
    emit_value(handler, destination, std::max(32u, bits_of(result)), std::move(e));
}

std::uint32_t StatementDecoder::predicate_source(const Operand& o) {
    const std::uint32_t p = source(o, Type::pred);
    if (!o.negated) return p;
    Emission e;
    e.full = predicate_not;
    e.operands = {new_predicate(), p};
    e.operation = Operation::not_;
    e.type = Type::pred;
    const std::uint32_t inverse = e.operands[0];
    emitter_.emit_inserted(e);
    return inverse;
}

void StatementDecoder::fail_form() const {
    fail(fmt::format("unknown form of {}", statement_.name));
}

namespace {

struct GrammarDecoder {
    Grammar grammar;
    void (*decode)(StatementDecoder&);
};

constexpr GrammarDecoder grammar_decoders[] = {
    {Grammar::arithmetic, decode_arithmetic},
    {Grammar::pair, decode_pair},
    {Grammar::extremum, decode_extremum},
    {Grammar::dot_product, decode_dot_product},
    {Grammar::absolute_difference, decode_absolute_difference},
    {Grammar::carry, decode_carry},
    {Grammar::test, decode_test},
    {Grammar::compare, decode_compare},
    {Grammar::set, decode_set},
    {Grammar::select, decode_select},
    {Grammar::truth_table, decode_truth_table},
    {Grammar::move, decode_move},
    {Grammar::convert, decode_convert},
    {Grammar::convert_address, decode_convert_address},
    {Grammar::space_test, decode_space_test},
    {Grammar::load, decode_load},
    {Grammar::store, decode_store},
    {Grammar::atomic, decode_atomic},
    {Grammar::cache_policy, decode_cache_policy},
    {Grammar::shuffle, decode_shuffle},
    {Grammar::election, decode_election},
    {Grammar::vote, decode_vote},
    {Grammar::match, decode_match},
    {Grammar::reduction, decode_reduction},
    {Grammar::active_mask, decode_active_mask},
    {Grammar::barrier_of_warp, decode_warp_barrier},
    {Grammar::barrier, decode_barrier},
    {Grammar::branch, decode_branch},
    {Grammar::exit, decode_exit},
    {Grammar::trap, decode_trap},
    {Grammar::hint, decode_hint},
    {Grammar::print, decode_print},
    {Grammar::assertion, decode_assertion},
    {Grammar::matrix_load, decode_matrix_load},
    {Grammar::matrix_store, decode_matrix_store},
    {Grammar::matrix_move, decode_matrix_move},
    {Grammar::matrix_product, decode_matrix_product},
    {Grammar::fragment_load, decode_fragment_load},
    {Grammar::fragment_store, decode_fragment_store},
    {Grammar::fragment_product, decode_fragment_product},
    {Grammar::texture, decode_texture},
    {Grammar::surface_load, decode_surface_load},
    {Grammar::surface_store, decode_surface_store},
    {Grammar::async_copy, decode_async_copy},
    {Grammar::bulk_copy, decode_bulk_copy},
    {Grammar::async_group, decode_async_group},
    {Grammar::mbarrier, decode_mbarrier},
    {Grammar::pending_count, decode_pending_count},
    {Grammar::proxy_fence, decode_proxy_fence},
    {Grammar::async_store, decode_async_store},
    {Grammar::tensor_copy, decode_tensor_copy},
    {Grammar::cluster_barrier, decode_cluster_barrier},
    {Grammar::map_address, decode_map_address},
    {Grammar::address_rank, decode_address_rank}};

/// Decodes a statement by its Grammar.
void decode_statement(StatementDecoder& d) {
    for (const GrammarDecoder& g : grammar_decoders)
        if (g.grammar == d.statement().opcode->grammar) return g.decode(d);
    d.fail("unknown opcode");
}

std::size_t most_types(TypeList list) {
    switch (list) {
        case TypeList::none:
            return 0;
        case TypeList::two:
            return 2;
        case TypeList::three:
            return 3;
        case TypeList::four:
            return 4;
        default:
            return 1;
    }
}

// Fails for a modifier that the statement's grammar function has not read.
void check_modifiers(const OperandReader& reader) {
    const Statement& s = reader.statement();
    std::size_t types = 0;
    for (const std::string& m : s.modifiers) {
        if (s.opcode->permits(m)) continue;
        if (!type_named(m) || ++types > most_types(s.opcode->types))
            reader.fail(fmt::format("unknown modifier .{}", m));
    }
}

void check_destination(const OperandReader& reader) {
    const Statement& s = reader.statement();
    const OperandRole& role = s.opcode->operands.roles[0];
    if (role.is_destination && !role.may_be_sink && reader.operand(0).kind == Operand::sink)
        reader.fail("a destination is needed");
}

std::vector<bool> blocks_with_join(const KernelState& state) {
    std::vector<bool> found(state.flow.blocks.size());
    for (std::size_t b = 0; b < found.size(); ++b)
        if (state.uniformity.divergent[b] && state.uniformity.join[b] != ControlFlow::no_block)
            found[state.uniformity.join[b]] = true;
    return found;
}

void decode_block(KernelState& state, Emitter& emitter, const BasicBlock& block, bool is_join) {
    const std::vector<Statement>& statements = state.syntax.statements;
    emitter.begin(statements[block.first]);
    state.block_begin.push_back(emitter.position());
    if (is_join) {
        Emission join;
        join.full = join_point;
        join.role = Role::join;
        emitter.emit_inserted(join);
    }
    for (std::uint32_t i = block.first; i < block.end; ++i) {
        emitter.count_statement(statements[i]);
        if (state.dropped[i]) continue;
        emitter.begin(statements[i]);
        StatementDecoder decoder(state, statements[i], emitter);
        check_destination(decoder);
        decode_statement(decoder);
        check_modifiers(decoder);
    }
    if (emitter.has_pending_cost()) {  // the block ends at a label: its cost counts here
        Emission end;
        end.full = nothing;
        end.operation = Operation::end_of_block;
        end.cost_point = true;
        emitter.emit_inserted(end);
    }
}

}  // namespace

void decode_blocks(KernelState& state) {
    const std::vector<bool> is_join = blocks_with_join(state);
    Emitter emitter(state);
    for (std::size_t b = 0; b < state.flow.blocks.size(); ++b)
        decode_block(state, emitter, state.flow.blocks[b], is_join[b]);
}

}  // namespace warpscope::emulator
