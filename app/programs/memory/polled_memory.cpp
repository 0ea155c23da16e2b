#include "programs/memory/polled_memory.h"

#include <sys/mman.h>

#include <algorithm>

namespace warpscope::programs {

namespace {

void protect(std::uint64_t begin, std::uint64_t end, int protection) {
    mprotect(reinterpret_cast<void*>(begin), end - begin, protection);
}

bool is_mapped(std::uint64_t address) {
    unsigned char is_resident = 0;
    const std::uint64_t page = address / PolledMemory::page_bytes * PolledMemory::page_bytes;
    return mincore(reinterpret_cast<void*>(page), 1, &is_resident) == 0;
}

}  // namespace

void PolledMemory::watch(std::vector<Pages> pages, std::function<void()> on_poll) {
    const std::scoped_lock lock(mutex_);
    pages_ = std::move(pages);
    on_poll_ = std::move(on_poll);
    is_watching_ = !pages_.empty();
    // Where pages are listed twice, those count that show nothing.
    for (const bool shows_reads : {true, false})
        for (const Pages& each : pages_)
            if (each.shows_reads == shows_reads)
                protect(each.begin, each.end, shows_reads ? PROT_READ : PROT_NONE);
}

int PolledMemory::protection_of(std::uint64_t page) const {
    const bool is_hidden = std::ranges::any_of(
        pages_, [&](const Pages& p) { return page >= p.begin && page < p.end && !p.shows_reads; });
    return is_hidden ? PROT_NONE : PROT_READ;
}

void PolledMemory::show() {
    is_watching_ = false;
    stepping_.clear();
    for (const Pages& each : pages_) protect(each.begin, each.end, PROT_READ | PROT_WRITE);
}

void PolledMemory::unwatch() {
    if (!is_watching_) return;
    const std::scoped_lock lock(mutex_);
    if (is_watching_) show();
}

bool PolledMemory::show_if_watched(std::uint64_t address, std::size_t bytes) {
    if (!is_watching_) return false;
    const std::scoped_lock lock(mutex_);
    const auto touches = [&](const Pages& p) {
        return address < p.end && p.begin < address + bytes;
    };
    if (!is_watching_ || std::ranges::none_of(pages_, touches)) return false;
    show();
    return true;
}

void PolledMemory::restart() {
    const std::scoped_lock lock(mutex_);
    accesses_.clear();
    is_polled_ = false;
}

PolledMemory::Access PolledMemory::on_access(std::uint64_t address) {
    const std::scoped_lock lock(mutex_);
    const auto has_it = [&](const Pages& p) { return address >= p.begin && address < p.end; };
    if (std::ranges::none_of(pages_, has_it)) return Access::other;
    // Another thread has shown it meanwhile, unless the program has unmapped it.
    if (!is_watching_) return is_mapped(address) ? Access::open : Access::other;
    const unsigned count = ++accesses_[address];
    const bool polls = on_poll_ && count >= most_accesses;
    if (count >= most_accesses || accesses_.size() > (on_poll_ ? most_words : most_words_seen)) {
        show();
        accesses_.clear();
        is_polled_ = polls;
        if (polls) on_poll_();
        return Access::open;
    }
    const std::uint64_t page = address / page_bytes * page_bytes;
    stepping_.insert(page);
    protect(page, page + page_bytes, PROT_READ | PROT_WRITE);
    return Access::step;
}

void PolledMemory::end_step() {
    const std::scoped_lock lock(mutex_);
    if (is_watching_)
        for (const std::uint64_t page : stepping_)
            protect(page, page + page_bytes, protection_of(page));
    stepping_.clear();
}

}  // namespace warpscope::programs
