#include <fmt/format.h>

#include "emulator/decode/statement_decoder.h"

namespace warpscope::emulator {

namespace {

struct GrammarDecoder {
    Grammar grammar;
    void (*decode)(StatementDecoder&);
};

constexpr GrammarDecoder grammar_decoders[] = {
    {Grammar::arithmetic, decode_arithmetic},
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

}  // namespace

void decode_statement(StatementDecoder& d) {
    for (const GrammarDecoder& g : grammar_decoders)
        if (g.grammar == d.statement().opcode->grammar) return g.decode(d);
    d.fail("unknown opcode");
}

namespace {

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
