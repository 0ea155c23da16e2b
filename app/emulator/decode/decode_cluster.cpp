#include "emulator/decode/statement_decoder.h"

// Clusters: PTX ISA 9.7.13.4 "barrier.cluster", 9.7.9 "mapa" and "getctarank".
namespace warpscope::emulator {

namespace {

void emit_for_cluster(StatementDecoder& d, Emission e, Handler handler) {
    e.full = e.masked = handler;
    e.cost_point = true;
    Kernel& kernel = *d.state().kernel;
    kernel.is_asynchronous = kernel.uses_cluster = true;
    d.emit(std::move(e));
}

}  // namespace

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
