#include "emulator/checks/race_detector.h"

#include "emulator/checks/access_check.h"

namespace warpscope::emulator {

std::unique_ptr<Observer> RaceDetector::fork() {
    auto fork = std::make_unique<RaceDetector>(*this);
    fork->report_.become_fork();
    return fork;
}

void RaceDetector::join(Observer& fork) {
    report_.join(dynamic_cast<RaceDetector&>(fork).report_);
}

void RaceDetector::on_launch(const Kernel& kernel, const LaunchShape& launch) {
    const std::uint32_t shared_bytes = kernel.shared_bytes + launch.dynamic_shared_bytes;
    report_.begin_launch(kernel, launch, shared_bytes);
    order_.begin_launch(report_.threads());
    cells_.begin_launch(kernel, shared_bytes);
    const std::size_t warps = (report_.threads() + lanes_per_warp - 1) / lanes_per_warp;
    cells_.events().begin_launch(warps, kernel.code.size());
}

void RaceDetector::on_block_begin(const Kernel&, std::uint32_t block) {
    report_.begin_block(block);
    order_.begin_block();
    cells_.begin_block();
    epoch_ = order_.epoch();
}

void RaceDetector::on_shared_access(const Access& a) {
    if (a.kind == MemoryAccess::load && a.same_address && cells_.needs_no_record(a)) return;
    AccessCheck(a, order_, cells_, report_).run();
}

void RaceDetector::on_barrier_arrival(const BarrierArrival& arrival) {
    order_.arrive(arrival);
    cells_.events().separate(arrival.warp);
}

void RaceDetector::on_barrier_release(const BarrierRelease& release) {
    order_.release(release);
    cells_.events().separate_all();
    if (order_.epoch() == epoch_) return cells_.order_some_warps();
    epoch_ = order_.epoch();
    cells_.begin_epoch();
}

void RaceDetector::on_warp_sync(std::uint32_t, std::uint32_t warp, std::uint32_t members) {
    order_.warp_sync(warp, members);
    cells_.events().separate(warp);
}

}  // namespace warpscope::emulator
