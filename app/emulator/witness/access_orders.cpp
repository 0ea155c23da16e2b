#include "emulator/witness/access_orders.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "emulator/witness/schedule_file.h"

namespace warpscope::emulator {

namespace {

/// The n-th access of a warp to a word by one instruction.
using Instance = std::tuple<std::uint64_t, std::uint32_t, std::uint8_t, std::uint32_t>;

/// For each access of a log, which instance it is.
std::vector<Instance> instances_of(const std::vector<ConflictAccess>& log) {
    std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint8_t>, std::uint32_t> times;
    std::vector<Instance> instances;
    for (const ConflictAccess& a : log)
        instances.emplace_back(a.word, a.pc, a.warp, times[{a.word, a.pc, a.warp}]++);
    return instances;
}

}  // namespace

bool AccessOrders::loses_an_update() const {
    struct Users {
        std::uint32_t epoch = 0, readers = 0, outdated = 0;  ///< warps, a bit each
    };
    std::map<std::uint64_t, Users> of_word;
    for (const ConflictAccess& a : log_) {
        Users& users = of_word[a.word];
        if (users.epoch != a.epoch) users = {.epoch = a.epoch};
        const std::uint32_t mine = 1u << a.warp;
        if (!a.writes) {
            users.readers |= mine;
            users.outdated &= ~mine;
            continue;
        }
        if (users.outdated & mine) return true;
        users.outdated |= users.readers & ~mine;
        users.readers &= ~mine;
    }
    return false;
}

template <class Wanted>
std::optional<Reversal> AccessOrders::find(const AccessOrders& reference,
                                           const Wanted& wanted) const {
    std::map<Instance, std::size_t> place_in_reference;
    const std::vector<Instance> there = instances_of(reference.log_), here = instances_of(log_);
    for (std::size_t k = 0; k < there.size(); ++k) place_in_reference.emplace(there[k], k);
    // For each word, its accesses in the reference.
    std::map<std::uint64_t, std::vector<std::size_t>> of_word;
    for (std::size_t k = 0; k < there.size(); ++k) of_word[reference.log_[k].word].push_back(k);
    std::vector<bool> done(there.size(), false);
    for (std::size_t k = 0; k < here.size(); ++k) {
        const auto found = place_in_reference.find(here[k]);
        if (found == place_in_reference.end()) continue;
        const ConflictAccess& mine = log_[k];
        for (const std::size_t before : of_word[mine.word]) {
            if (before >= found->second) break;
            const ConflictAccess& other = reference.log_[before];
            if (done[before] || other.warp == mine.warp || !(other.writes || mine.writes)) continue;
            const Reversal reversal{mine.warp, mine.pc, other.warp, other.pc};
            if (wanted(reversal)) return reversal;
        }
        done[found->second] = true;
    }
    return {};
}

std::optional<Reversal> AccessOrders::first_reversal(const AccessOrders& reference) const {
    return find(reference, [](const Reversal&) { return true; });
}

std::optional<Reversal> AccessOrders::first_reversal(const AccessOrders& reference,
                                                     const Kernel& kernel,
                                                     const LinePair& places) const {
    std::map<std::uint32_t, std::string> known;
    const auto place = [&](std::uint32_t pc) -> const std::string& {
        std::string& text = known[pc];
        if (text.empty()) text = users_place(kernel, pc);
        return text;
    };
    return find(reference, [&](const Reversal& reversal) {
        const std::string &a = place(reversal.pc), &b = place(reversal.other_pc);
        return (a == places.first && b == places.second) ||
               (b == places.first && a == places.second);
    });
}

}  // namespace warpscope::emulator
