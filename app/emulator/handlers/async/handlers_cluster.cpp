// Barriers of a cluster and addresses in its shared memory (PTX ISA 9.7.13.4, "barrier.cluster",
// and 9.7.9, "mapa", "getctarank").
#include <bit>

#include "emulator/async/async_copies.h"
#include "emulator/handlers/handlers.h"
#include "emulator/warp/cluster.h"
#include "emulator/warp/members.h"

namespace warpscope::emulator {

namespace {

template <typename T>
const Instruction* map_address_of(const Instruction* i, Warp& w) {
    for_each_lane(w.mask, [&](unsigned lane) {
        const auto rank = w.get<std::uint32_t>(i->operands[2], lane);
        w.set(i->operands[0], lane, T(address_in_cluster(w.get<T>(i->operands[1], lane), rank)));
    });
    return w.cost_point(i, i + 1);
}

template <typename T>
const Instruction* address_rank_of(const Instruction* i, Warp& w) {
    for_each_lane(w.mask, [&](unsigned lane) {
        const SharedPlace place = shared_place(*w.block, w.get<T>(i->operands[1], lane));
        if (!place.block)
            w.fail(i, lane, "this address is not in the shared memory of the cluster");
        w.set(i->operands[0], lane, place.block->rank);
    });
    return w.cost_point(i, i + 1);
}

}  // namespace

const Instruction* arrive_at_cluster(const Instruction* i, Warp& w) {
    if (const std::uint32_t again = w.block->cluster->arrived(w) & w.mask)
        w.fail(i, unsigned(std::countr_zero(again)),
               "the thread arrives at the barrier of the cluster a second time, before it has "
               "waited: barrier.cluster.wait must stand between");
    Cluster& cluster = *w.block->cluster;
    w.block->async->tell_cluster(AsyncEvent::cluster_arrived, w.index, w.mask, cluster.phase(),
                                 i->detail != 0);
    cluster.arrive(w, w.mask);
    return w.cost_point(i, i + 1);
}

const Instruction* wait_for_cluster(const Instruction* i, Warp& w) {
    if (const std::uint32_t not_arrived = w.mask & ~w.block->cluster->arrived(w))
        w.fail(i, unsigned(std::countr_zero(not_arrived)),
               "the thread waits at the barrier of the cluster, but it has not arrived: "
               "barrier.cluster.arrive must come before");
    if (w.block->cluster->wait(w, w.mask)) {
        w.block->async->tell_cluster(AsyncEvent::cluster_waited, w.index, w.mask,
                                     w.block->cluster->phase() - 1);
        return w.cost_point(i, i + 1);
    }
    w.block->async->wait_failed(w.index, {.pc = w.block->kernel->index_of(i),
                                          .lane = unsigned(std::countr_zero(w.mask)),
                                          .for_cluster = true});
    --w.left;
    return w.pause(i);
}

const Instruction* map_address(const Instruction* i, Warp& w) {
    return i->detail == 64 ? map_address_of<std::uint64_t>(i, w)
                           : map_address_of<std::uint32_t>(i, w);
}

const Instruction* address_rank(const Instruction* i, Warp& w) {
    return i->detail == 64 ? address_rank_of<std::uint64_t>(i, w)
                           : address_rank_of<std::uint32_t>(i, w);
}

}  // namespace warpscope::emulator
