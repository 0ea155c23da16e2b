#include <algorithm>

#include "emulator/async/async_copies.h"
#include "emulator/decode/statement_decoder.h"

// Asynchronous copies and mbarriers: PTX ISA 9.7.9.25 and 9.7.13.15.
namespace warpscope::emulator {

namespace {

Emission async_emission(StatementDecoder& d, Handler handler, std::vector<std::uint32_t> operands) {
    Emission e = emission_of(std::move(operands));
    e.full = e.masked = handler;
    e.cost_point = true;
    d.state().kernel->is_asynchronous = true;
    return e;
}

/// The addresses of a copy: their slots, widths and offsets.
Emission copy_emission(StatementDecoder& d, Handler handler, CopyForm& form) {
    const Address to = address_of(d, d.operand(0), form.to);
    const Address from = address_of(d, d.operand(1), form.from);
    form.wide_to = to.wide;
    form.wide_from = from.wide;
    if (to.offset != std::int32_t(to.offset) || from.offset != std::int32_t(from.offset))
        d.fail("the offset of an address is too large");
    Emission e = async_emission(d, handler, {to.operand, from.operand});
    e.immediate = std::int64_t(std::uint64_t(from.offset) << 32 | std::uint32_t(to.offset));
    e.variable = std::int16_t(form.to == Space::shared ? to.variable : from.variable);
    return e;
}

std::uint32_t copied_bytes(const StatementDecoder& d, const Operand& o) {
    if (o.kind != Operand::integer || (o.value != 4 && o.value != 8 && o.value != 16))
        d.fail("an asynchronous copy has 4, 8 or 16 bytes");
    if (d.has("cg") && o.value != 16) d.fail("an asynchronous copy with .cg has 16 bytes");
    return std::uint32_t(o.value);
}

/// The spaces of a bulk copy, in the order of its modifiers: destination, source.
Space bulk_space(const StatementDecoder& d, std::size_t which) {
    for (const std::string& m : d.statement().modifiers) {
        const bool shared = m.starts_with("shared::");
        if ((shared || m == "global") && which-- == 0)
            return shared ? Space::shared : Space::global;
    }
    d.fail("a bulk copy names the spaces of its destination and of its source");
}

}  // namespace

// cp.async.cop.shared.global{.hints} [to], [from], bytes{, read}{, policy}; or {, !p}
void decode_async_copy(StatementDecoder& d) {
    if (d.has("ca") == d.has("cg")) d.fail("an asynchronous copy has .ca or .cg");
    CopyForm form;
    form.bytes = copied_bytes(d, d.operand(2));
    const std::size_t operands = d.statement().operands.size() - d.has("L2::cache_hint");
    std::uint32_t read = 0;
    Emission e = copy_emission(d, async_copy, form);
    if (operands > 3) {
        const Operand& o = d.operand(3);
        const bool ignores = o.kind == Operand::register_ && d.register_bits(o) == 1;
        form.size = ignores ? CopyForm::Size::ignorable : CopyForm::Size::partial;
        read = ignores ? d.predicate_source(o) : d.source(o, Type::u32);
    }
    e.operands.push_back(read);
    e.target = form.encoded();
    e.bytes = std::uint8_t(form.bytes);
    d.emit(std::move(e));
}

// cp.async.bulk.to.from.mbarrier::complete_tx::bytes [to], [from], bytes, [mbarrier]{, policy};
// cp.async.bulk.global.shared::cta.bulk_group [to], [from], bytes{, policy}
void decode_bulk_copy(StatementDecoder& d) {
    CopyForm form;
    form.to = bulk_space(d, 0);
    form.from = bulk_space(d, 1);
    form.size = CopyForm::Size::by_operand;
    form.counts_bytes = d.has("mbarrier::complete_tx::bytes");
    if (form.to == Space::global && form.from == Space::global)
        d.fail("a bulk copy has its source or its destination in shared memory");
    if (form.counts_bytes == (form.to == Space::global))
        d.fail(
            "a bulk copy to shared memory has .mbarrier::complete_tx::bytes, and one to global "
            "memory has .bulk_group");
    Emission e = copy_emission(d, bulk_copy, form);
    e.operands.push_back(d.source(d.operand(2), Type::u32));
    if (form.counts_bytes) {
        if (d.statement().operands.size() < 4) d.fail("the mbarrier is missing");
        Space space = Space::shared;
        const Address mbarrier = address_of(d, d.operand(3), space);
        if (mbarrier.offset) d.fail("the address of this mbarrier cannot have an offset");
        form.wide_mbarrier = mbarrier.wide;
        e.operands.push_back(mbarrier.operand);
    }
    e.target = form.encoded();
    e.bytes = 16;
    d.emit(std::move(e));
}

// cp.async.commit_group; cp.async.wait_group n; cp.async.wait_all; cp.async.bulk likewise
void decode_async_group(StatementDecoder& d) {
    const Operation operation = d.operation();
    const bool bulk =
        operation == Operation::cp_bulk_commit || operation == Operation::cp_bulk_wait;
    const bool waits =
        operation == Operation::cp_async_wait || operation == Operation::cp_bulk_wait;
    std::vector<std::uint32_t> operands;
    if (waits) {
        if (d.operand(0).kind != Operand::integer) d.fail("the number of groups is a constant");
        operands.push_back(d.source(d.operand(0), Type::u32));
    }
    Emission e = async_emission(d,
                                waits                                       ? wait_for_groups
                                : operation == Operation::cp_async_wait_all ? wait_for_copies
                                                                            : close_group,
                                std::move(operands));
    e.detail = std::uint16_t(bulk ? Completion::bulk_group : Completion::group);
    if (d.has("read")) e.detail |= wait_for_reads;
    d.emit(std::move(e));
}

// mbarrier.operation{.order.scope}{.shared}.b64 {d,} [a]{, value}; cp.async.mbarrier.arrive
void decode_mbarrier(StatementDecoder& d) {
    const Operation operation = d.operation();
    const Opcode& opcode = opcode_of(operation);
    if (d.type() != Type::b64) d.fail("an mbarrier has the type .b64");
    MemoryForm form;
    form.type = Type::b64;
    form.space = space_of(d.statement());
    d.state().kernel->has_mbarriers = true;
    const std::size_t first = opcode.operands.destinations();
    const Address at = address_of(d, d.operand(first), form.space);
    form.wide_address = at.wide;
    const bool tests = first && opcode.operands.roles[0].own == Type::pred;
    const bool returns = first && d.operand(0).kind == Operand::register_;
    const std::size_t value = first + 1;
    const bool has_value = d.statement().operands.size() > value;
    Emission e = async_emission(
        d, mbarrier_handler(operation, !d.has("noinc")),
        {returns ? d.destination(d.operand(0)) : 0, at.operand,
         has_value ? d.source(d.operand(value), opcode.operands.roles[value].own) : 0});
    e.immediate = at.offset;
    e.variable = std::int16_t(at.variable);
    e.detail = e.address_operand = 1;
    e.target = form.access_form().encoded();
    e.space = form.space;
    e.bytes = 8;
    // Other threads may use the object at any time once it is made.
    e.access = operation == Operation::mbarrier_init ? MemoryAccess::store
               : tests                               ? MemoryAccess::load
                                                     : MemoryAccess::atomic;
    e.order = operation == Operation::mbarrier_init ? MemoryOrder::weak : MemoryOrder::relaxed;
    e.scope = scope_of(d.statement());
    d.emit(std::move(e));
}

// fence.proxy.async{.space}; fence.mbarrier_init.release.cluster
void decode_proxy_fence(StatementDecoder& d) {
    d.emit(async_emission(d, proxy_fence, {}));
}

// mbarrier.pending_count.b64 d, state
void decode_pending_count(StatementDecoder& d) {
    d.emit(async_emission(d, pending_count, {d.destination(d.operand(0)), d.source(1, Type::b64)}));
}

}  // namespace warpscope::emulator
