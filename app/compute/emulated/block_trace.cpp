#include "compute/emulated/block_trace.h"

#include <algorithm>
#include <map>

#include "emulator/machine/observer.h"

namespace warpscope::compute {
namespace {

constexpr std::uint32_t warp_size = 32;

class Tracer : public emulator::Observer {
  public:
    explicit Tracer(std::uint32_t block) : block_(block) {}
    std::vector<BarrierSnapshot> snapshots;

    bool wants(std::uint32_t block) override { return block == block_; }

    void on_block_begin(const emulator::Kernel& kernel, std::uint32_t) override {
        kernel_ = &kernel;
        next_ = {};
        loaded_.clear();
    }

    void on_instruction(std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t pc) override {
        if (kernel_->lines[pc].barrier) next_.barrier = kernel_->where(pc);
    }

    void on_shared_access(const emulator::Access& access) override {
        for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
            if (!(access.mask >> lane & 1)) continue;
            const std::uint32_t thread = access.warp * warp_size + lane;
            const auto address = std::uint32_t(access.address(lane));
            if (access.kind == emulator::MemoryAccess::load) {
                loaded_[thread].push_back(address);
            } else {
                next_.stored.push_back(thread);
                for (std::uint32_t from : loaded_[thread]) next_.flows.emplace_back(from, address);
            }
        }
    }

    void on_barrier_release(const emulator::BarrierRelease& release) override {
        const std::span<const std::byte> shared = release.shared_memory;
        next_.shared.assign(shared.begin(), shared.end());
        sort_unique(next_.stored);
        sort_unique(next_.flows);
        snapshots.push_back(std::move(next_));
        next_ = {};
        loaded_.clear();
    }

  private:
    template <class T>
    static void sort_unique(std::vector<T>& values) {
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
    }

    std::uint32_t block_;
    const emulator::Kernel* kernel_ = nullptr;
    BarrierSnapshot next_;
    std::map<std::uint32_t, std::vector<std::uint32_t>> loaded_;  ///< addresses, by thread
};

}  // namespace

std::vector<BarrierSnapshot> trace_block(EmulatedDevice& device, std::uint32_t block,
                                         const std::function<void()>& launches) {
    Tracer tracer(block);
    emulator::Observer* const before = device.observe(&tracer);
    try {
        launches();
    } catch (...) {
        device.observe(before);
        throw;
    }
    device.observe(before);
    return std::move(tracer.snapshots);
}

}  // namespace warpscope::compute
