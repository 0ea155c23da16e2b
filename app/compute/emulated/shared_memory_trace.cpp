#include "compute/emulated/shared_memory_trace.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "emulator/observe/observer.h"
#include "emulator/program/lanes.h"

namespace warpscope::compute {
namespace {

using emulator::lanes_per_warp;

class Tracer : public emulator::Observer {
  public:
    explicit Tracer(std::uint32_t block) : block_(block) {}
    SharedMemoryTrace take() {
        for (StoreRecord& record : stores_) {
            for (const std::size_t load : record.loads)
                record.store.loads.push_back({loads_[load].address, loads_[load].races});
            trace_.stores.push_back(std::move(record.store));
        }
        return std::move(trace_);
    }

    bool wants(std::uint32_t block) override { return block == block_; }

    void on_block_begin(const emulator::Kernel& kernel, std::uint32_t) override {
        kernel_ = &kernel;
        next_ = {};
        loaded_.clear();
        since_store_.clear();
        words_.clear();
        ++epoch_;
    }

    void on_instruction(std::uint32_t, const emulator::Warp&, std::uint32_t,
                        std::uint32_t pc) override {
        if (kernel_->lines[pc].barrier) next_.barrier = kernel_->own_line(pc);
    }

    void on_shared_access(const emulator::Access& access) override {
        for (std::uint32_t lane = 0; lane < lanes_per_warp; ++lane) {
            if (!(access.mask >> lane & 1)) continue;
            const std::uint32_t thread = access.warp * lanes_per_warp + lane;
            const auto address = std::uint32_t(access.address(lane));
            if (access.kind == emulator::MemoryAccess::load) {
                loaded_[thread].push_back(address);
                load(thread, address);
            } else {
                next_.stored.push_back(thread);
                for (std::uint32_t from : loaded_[thread]) next_.flows.emplace_back(from, address);
                store(access, lane, thread);
            }
        }
    }

    void on_barrier_release(const emulator::BarrierRelease& release) override {
        const std::span<const std::byte> shared = release.shared_memory;
        next_.shared.assign(shared.begin(), shared.end());
        sort_unique(next_.stored);
        sort_unique(next_.flows);
        trace_.barriers.push_back(std::move(next_));
        next_ = {};
        loaded_.clear();
        ++epoch_;
    }

  private:
    template <class T>
    static void sort_unique(std::vector<T>& values) {
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
    }

    struct LoadRecord {
        std::uint32_t thread = 0, address = 0;
        bool races = false;
    };
    struct StoreRecord {
        TracedStore store;
        std::vector<std::size_t> loads;
    };
    /// The accesses of a word in the newest epoch in which it was accessed.
    struct Word {
        std::uint64_t stored_in = 0, loaded_in = 0;  ///< epochs; 0: never
        std::uint32_t writer = 0;                    ///< the warp of the last store
        std::vector<std::size_t> loads;
    };

    void load(std::uint32_t thread, std::uint32_t address) {
        Word& word = words_[address];
        if (word.loaded_in != epoch_) word.loads.clear();
        word.loaded_in = epoch_;
        word.loads.push_back(loads_.size());
        since_store_[thread].push_back(loads_.size());
        const bool races = word.stored_in == epoch_ && word.writer != thread / lanes_per_warp;
        loads_.push_back({thread, address, races});
    }

    void store(const emulator::Access& access, unsigned lane, std::uint32_t thread) {
        const auto address = std::uint32_t(access.address(lane));
        std::byte bytes[16]{};
        if (access.kind == emulator::MemoryAccess::store) access.stored(lane, bytes);
        StoreRecord record;
        record.store = {thread, address, 0, kernel_->own_line(access.pc), {}};
        std::memcpy(&record.store.value, bytes, sizeof(float));
        record.loads = std::exchange(since_store_[thread], {});
        stores_.push_back(std::move(record));
        Word& word = words_[address];
        word.stored_in = epoch_;
        word.writer = thread / lanes_per_warp;
        if (word.loaded_in != epoch_) return;
        for (const std::size_t earlier : word.loads)
            loads_[earlier].races |= loads_[earlier].thread / lanes_per_warp != word.writer;
    }

    std::uint32_t block_;
    const emulator::Kernel* kernel_ = nullptr;
    SharedMemoryTrace trace_;
    std::uint64_t epoch_ = 0;
    std::vector<LoadRecord> loads_;
    std::vector<StoreRecord> stores_;
    std::map<std::uint32_t, Word> words_;  ///< indexed by address
    /// Loads since the thread's last store, indexed by thread.
    std::map<std::uint32_t, std::vector<std::size_t>> since_store_;
    BarrierMoment next_;
    std::map<std::uint32_t, std::vector<std::uint32_t>> loaded_;  ///< addresses, indexed by thread
};

}  // namespace

SharedMemoryTrace trace_shared_memory(EmulatedDevice& device, std::uint32_t block,
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
    return tracer.take();
}

}  // namespace warpscope::compute
