// Memory of the device that graphs and kernels allocate.
#include <sys/mman.h>

#include "programs/gpu/gpu.h"

namespace warpscope::programs {

std::uint64_t Gpu::allocate_in(Stream& stream, std::size_t bytes) {
    const std::uint64_t address = allocate(bytes, MemoryKind::device);
    if (!stream.capture) return address;
    memory_of_graphs_[address] = bytes;
    streams_.add(
        stream,
        [this, address, bytes] {
            // A launch of the graph allocates again what the previous one has freed.
            if (memory_.find(address) || !memory_.allocate_at(address, bytes, MemoryKind::device))
                return;
            if (judge_) judge_->observer().on_allocate(address, bytes);
        },
        NodeKind::allocate);
    return address;
}

std::size_t Gpu::bytes_of_graphs() const {
    std::size_t bytes = 0;
    for (const auto& [address, size] : memory_of_graphs_)
        if (memory_.find(address)) bytes += size;
    return bytes;
}

std::uint64_t Gpu::add_condition(Graph& graph, std::uint32_t at_launch, bool is_set_at_launch) {
    const std::shared_ptr<Condition> condition(
        new Condition{at_launch, at_launch, is_set_at_launch}, [this](Condition* ended) {
            memory_.detach(&ended->value);
            delete ended;
        });
    memory_.attach(&condition->value, sizeof condition->value);
    graph.conditions.push_back(condition);
    return reinterpret_cast<std::uint64_t>(&condition->value);
}

std::uint64_t Gpu::heap() {
    // The heap takes up address space only; a page takes memory when a kernel writes it.
    constexpr std::size_t most_bytes = std::size_t(64) << 30;
    if (!heap_) {
        void* const pages = mmap(nullptr, most_bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        demand(pages != MAP_FAILED, Status::out_of_memory,
               "the host has no address space for the device's heap");
        heap_ = static_cast<DeviceHeap*>(pages);
        const auto begin = reinterpret_cast<std::uint64_t>(pages);
        *heap_ = {begin + sizeof(DeviceHeap) + 8, 0, limits_.at(DeviceHeap::number_of_limit)};
        launcher_.machine().memory().attach(pages, most_bytes, &heap_->next);
    }
    return reinterpret_cast<std::uint64_t>(heap_);
}

}  // namespace warpscope::programs
