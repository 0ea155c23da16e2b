#include <fmt/format.h>

#include <algorithm>

#include "emulator/async/async_copies.h"
#include "emulator/decode/statement_decoder.h"

// Asynchronous copies, mbarriers and clusters: PTX ISA 9.7.9.25, 9.7.13.15 and 9.7.13.4.
namespace warpscope::emulator {

namespace {

Emission async_emission(StatementDecoder& d, Handler handler, std::vector<std::uint32_t> operands) {
    Emission e = emission_of(std::move(operands));
    e.full = e.masked = handler;
    e.cost_point = true;
    d.state().kernel->is_asynchronous = true;
    return e;
}

void emit_for_cluster(StatementDecoder& d, Emission e, Handler handler) {
    e.full = e.masked = handler;
    e.cost_point = true;
    Kernel& kernel = *d.state().kernel;
    kernel.is_asynchronous = kernel.uses_cluster = true;
    d.emit(std::move(e));
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
    // A copy between two blocks has no base: one base cannot stand for both addresses.
    e.base = std::int16_t(form.to == Space::global     ? from.base
                          : form.from == Space::global ? to.base
                                                       : -1);
    return e;
}

std::uint32_t copied_bytes(const StatementDecoder& d, const Operand& o) {
    if (o.kind != Operand::integer || (o.value != 4 && o.value != 8 && o.value != 16))
        d.fail("an asynchronous copy has 4, 8 or 16 bytes");
    if (d.has("cg") && o.value != 16) d.fail("an asynchronous copy with .cg has 16 bytes");
    return std::uint32_t(o.value);
}

/// What a copy does with each element at its destination: see CopyForm::reduction.
unsigned reduction_of(StatementDecoder& d, Type type, Space to, Emission& e) {
    if (!reduces_by_copy(d.operation())) return 0;
    const AtomicOp op = atomic_operation(d);
    const bool is_shared = to != Space::global;
    const bool exists =
        reduction(op, type) &&
        !(is_shared && (is_float(type) || (bits_of(type) == 64 && op != AtomicOp::add)));
    if (!exists)
        d.fail(fmt::format("no reduction {} of this kind has the type .{}",
                           is_shared ? "in shared memory" : "in global memory", name_of(type)));
    e.access = MemoryAccess::atomic;
    e.order = MemoryOrder::relaxed;
    e.scope = is_shared ? Scope::cluster : Scope::device;
    e.space = to;
    if (!is_shared) d.state().kernel->order_dependent |= tells_order(op, type, false);
    return unsigned(op) + 1;
}

/// The spaces of a bulk copy, in the order of its modifiers: destination, source.
Space bulk_space(const StatementDecoder& d, std::size_t which) {
    for (const std::string& m : d.statement().modifiers) {
        const bool shared = m.starts_with("shared::");
        if ((shared || m == "global") && which-- == 0)
            return !shared                  ? Space::global
                   : m == "shared::cluster" ? Space::cluster
                                            : Space::shared;
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

// cp.async.bulk.to.from.mbarrier::complete_tx::bytes{.multicast::cluster} [to], [from], bytes,
//     [mbarrier]{, ranks}{, policy};
// cp.async.bulk.global.shared::cta.bulk_group [to], [from], bytes{, policy}
// cp.reduce.async.bulk has these forms too, with an operation and a type
void decode_bulk_copy(StatementDecoder& d) {
    d.state().kernel->has_bulk_copies = true;
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
        Space space = form.to;
        const Address mbarrier = address_of(d, d.operand(3), space);
        if (mbarrier.offset) d.fail("the address of this mbarrier cannot have an offset");
        form.wide_mbarrier = mbarrier.wide;
        e.operands.push_back(mbarrier.operand);
        form.has_ranks = d.has("multicast::cluster");
        if (form.has_ranks) {
            if (d.statement().operands.size() < 5) d.fail("the mask of the blocks is missing");
            e.operands.push_back(d.source(d.operand(4), Type::u16));
        }
    }
    if (reduces_by_copy(d.operation())) {
        form.reduction = reduction_of(d, d.type(), form.to, e);
        e.bytes = std::uint8_t(bytes_of(d.type()));
    } else {
        e.bytes = 16;
    }
    e.target = form.encoded();
    d.emit(std::move(e));
}

// cp.async.commit_group; cp.async.wait_group n; cp.async.wait_all;
// cp.async.bulk.commit_group; cp.async.bulk.wait_group{.read} n
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
    e.base = std::int16_t(at.base);
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

// cp.async.bulk.tensor.dim.to.from{.tile}.mbarrier::complete_tx::bytes{.multicast::cluster} [to],
//     [map, {x, y}], [mbarrier]{, ranks}{, policy};
// cp.async.bulk.tensor.dim.global.shared::cta{.tile}.bulk_group [map, {x, y}], [from]{, policy}
// cp.reduce.async.bulk.tensor has the second form, with an operation
void decode_tensor_copy(StatementDecoder& d) {
    d.state().kernel->has_bulk_copies = true;
    CopyForm form;
    form.to = bulk_space(d, 0);
    form.from = bulk_space(d, 1);
    form.size = CopyForm::Size::by_operand;
    form.counts_bytes = form.to != Space::global;
    if (form.counts_bytes != d.has("mbarrier::complete_tx::bytes"))
        d.fail(
            "a tensor copy to shared memory has .mbarrier::complete_tx::bytes, and one to global "
            "memory has .bulk_group");
    const Operand& at = d.operand(form.counts_bytes ? 1 : 0);
    if (at.kind != Operand::address || at.elements.size() != 2)
        d.fail("a tensor has an address and coordinates");
    Operand map = at;
    map.elements.resize(1);
    Space generic = Space::global;
    const Address of_map = address_of(d, map, generic);
    Space space = form.counts_bytes ? form.to : form.from;
    const Address shared = address_of(d, d.operand(form.counts_bytes ? 0 : 1), space);
    const std::vector<Operand> coordinates = elements_of(at.elements[1]);
    unsigned dimensions = 1;
    while (dimensions < TensorMap::most_dimensions && !d.has(fmt::format("{}d", dimensions)))
        ++dimensions;
    form.has_ranks = d.has("multicast::cluster");
    if (coordinates.size() != dimensions) d.fail("a tensor has as many coordinates as dimensions");
    form.wide_to = shared.wide;
    form.wide_from = of_map.wide;
    std::vector<std::uint32_t>& further = d.state().kernel->further_operands;
    Emission e = async_emission(d, tensor_copy,
                                {shared.operand, of_map.operand, d.constant(further.size())});
    for (const Operand& o : coordinates) further.push_back(d.source(o, Type::s32));
    if (form.counts_bytes) {
        const Address mbarrier = address_of(d, d.operand(2), space);
        if (mbarrier.offset) d.fail("the address of this mbarrier cannot have an offset");
        form.wide_mbarrier = mbarrier.wide;
        further.push_back(mbarrier.operand);
        if (form.has_ranks) further.push_back(d.source(d.operand(3), Type::u16));
    }
    if (reduces_by_copy(d.operation())) {
        const AtomicOp op = atomic_operation(d);
        const bool bitwise = op == AtomicOp::and_ || op == AtomicOp::or_ || op == AtomicOp::xor_;
        // The map has the type, which is only known when the kernel runs.
        form.reduction = reduction_of(d, bitwise ? Type::b32 : Type::u32, form.to, e);
        d.state().kernel->order_dependent |= op == AtomicOp::add;
    }
    e.immediate = std::int64_t(std::uint64_t(of_map.offset) << 32 | std::uint32_t(shared.offset));
    e.detail = std::uint16_t(dimensions);
    e.target = form.encoded();
    e.base = std::int16_t(shared.base);
    e.bytes = form.reduction ? 4 : 16;
    d.emit(std::move(e));
}

// st.async{.weak}.shared::cluster.mbarrier::complete_tx::bytes{.vec}.type [a], b, [mbarrier]
// red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.op.type
//     [a], b, [mbarrier]
void decode_async_store(StatementDecoder& d) {
    MemoryForm form;
    form.type = d.type();
    form.elements = d.has("v2") ? 2 : d.has("v4") ? 4 : 1;
    form.space = Space::cluster;
    const std::vector<Operand> from = elements_of(d.operand(1));
    if (from.size() != form.elements) d.fail("as many registers as elements are needed");
    const Address to = address_of(d, d.operand(0), form.space);
    Space space = Space::cluster;
    const Address mbarrier = address_of(d, d.operand(2), space);
    if (mbarrier.offset) d.fail("the address of this mbarrier cannot have an offset");
    form.wide_address = to.wide;
    form.wide_register = bits_of(form.type) == 64;
    Emission e = async_emission(d, async_store, {to.operand, mbarrier.operand});
    for (const Operand& o : from) e.operands.push_back(d.source(o, form.type));
    e.immediate = to.offset;
    e.detail =
        std::uint16_t(unsigned(mbarrier.wide) | reduction_of(d, form.type, Space::cluster, e) << 1);
    e.target = form.access_form().encoded();
    e.bytes = std::uint8_t(bytes_of(form.type) * form.elements);
    d.emit(std::move(e));
}

// fence.proxy.async{.space}; fence.mbarrier_init.release.cluster
void decode_proxy_fence(StatementDecoder& d) {
    Emission e = async_emission(d, proxy_fence, {});
    const Space space = space_of(d.statement());
    const bool of_shared = d.operation() == Operation::fence_mbarrier || space == Space::cluster;
    e.detail = std::uint16_t(of_shared ? Space::shared : space);
    d.emit(std::move(e));
}

// mbarrier.pending_count.b64 d, state
void decode_pending_count(StatementDecoder& d) {
    d.emit(async_emission(d, pending_count, {d.destination(d.operand(0)), d.source(1, Type::b64)}));
}

// barrier.cluster.arrive{.release, .relaxed}{.aligned}; barrier.cluster.wait{.acquire}{.aligned}
void decode_cluster_barrier(StatementDecoder& d) {
    const bool arrives = d.operation() == Operation::barrier_cluster_arrive;
    Emission e;
    e.detail = arrives && !d.has("relaxed");
    emit_for_cluster(d, std::move(e), arrives ? arrive_at_cluster : wait_for_cluster);
}

// mapa{.shared::cluster}.type d, a, rank
void decode_map_address(StatementDecoder& d) {
    Emission e = emission_of(
        {d.destination(d.operand(0)), d.source(1, d.type()), d.source(d.operand(2), Type::u32)});
    e.detail = std::uint16_t(bits_of(d.type()));
    emit_for_cluster(d, std::move(e), map_address);
}

// getctarank{.shared::cluster}.type d, a
void decode_address_rank(StatementDecoder& d) {
    Emission e = emission_of({d.destination(d.operand(0)), d.source(1, d.type())});
    e.detail = std::uint16_t(bits_of(d.type()));
    emit_for_cluster(d, std::move(e), address_rank);
}

}  // namespace warpscope::emulator
