#include "emulator/fast_paths/alike/noted_accesses.h"

#include <algorithm>

namespace warpscope::emulator {

void SharedNotes::add(Threads& to, std::uint32_t thread) const {
    const std::uint32_t warp = thread / 32;
    if (to.interval != interval_)
        to = {interval_, thread, warp, syncs_[warp]};
    else if (to.warp == warp)
        to = {interval_, to.thread == thread ? thread : several, warp, syncs_[warp]};
    else
        to = {interval_, several, several, 0};
}

bool SharedNotes::read(std::uint32_t word, std::uint32_t thread) {
    Word& w = words_[word];
    if (!are_ordered(w.writers, thread)) return false;
    add(w.readers, thread);
    return true;
}

// All earlier accesses are ordered before this write, so the write stands for the writers.
bool SharedNotes::write(std::uint32_t word, std::uint32_t thread) {
    Word& w = words_[word];
    if (!are_ordered(w.writers, thread) || !are_ordered(w.readers, thread)) return false;
    w.writers.interval = 0;
    add(w.writers, thread);
    return true;
}

void GlobalNotes::store(std::uint32_t pc, std::uint64_t address, std::uint32_t thread) {
    by_several_ |= !stores_.empty() && pc_ != pc;
    pc_ = pc;
    stores_.push_back({std::uint32_t(address), thread});
}

const char* GlobalNotes::end_interval() {
    const char* obstacle = nullptr;
    if (!stores_.empty()) {
        const auto by_address = [](const Store& a, const Store& b) {
            return a.address < b.address || (a.address == b.address && a.thread < b.thread);
        };
        const auto meet = [](const Store& a, const Store& b) {
            return a.address == b.address && a.thread != b.thread;
        };
        if (!std::is_sorted(stores_.begin(), stores_.end(), by_address))
            std::sort(stores_.begin(), stores_.end(), by_address);
        if (loads_)
            obstacle = "global memory is read and written between two barriers";
        else if (by_several_)
            obstacle = "several instructions write global memory between two barriers";
        else if (std::adjacent_find(stores_.begin(), stores_.end(), meet) != stores_.end())
            obstacle = "threads write one address of global memory";
    }
    stores_.clear();
    by_several_ = loads_ = false;
    return obstacle;
}

}  // namespace warpscope::emulator
