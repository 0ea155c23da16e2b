#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "emulator/machine/block.h"
#include "emulator/program/error.h"

// What an error says of where a block's threads are.
namespace warpscope::emulator {

namespace {

constexpr size_t most_places = 4;

// "warp 3", "warps 0-2, 5"
std::string names_of(uint32_t warps) {
    std::string names;
    for (uint32_t w = 0; w < 32; ++w) {
        if (!(warps >> w & 1)) continue;
        uint32_t last = w;
        while (last < 31 && (warps >> (last + 1) & 1)) ++last;
        names += fmt::format("{}{}", names.empty() ? "" : ", ", w);
        if (last > w) names += fmt::format("-{}", last);
        w = last;
    }
    return ((warps & (warps - 1)) ? "warps " : "warp ") + names;
}

}  // namespace

std::string BlockRunner::block_name() const {
    const Dim3& g = launch_.grid;
    return fmt::format("({},{},{})", context_.block % g.x, context_.block / g.x % g.y,
                       context_.block / g.x / g.y);
}

void BlockRunner::report_deadlock() const {
    std::string waiting;
    for (const Warp& warp : warps_)
        for (const Split& split : warp.splits) {
            const std::string where = kernel_.where(kernel_.index_of(split.pc));
            waiting += fmt::format("{}warp {} lanes {:#010x} ", waiting.empty() ? "" : "; ",
                                   warp.index, split.mask);
            switch (split.state) {
                case Split::at_barrier:
                    waiting += fmt::format("at the barrier {} (barrier {})", where, split.barrier);
                    break;
                case Split::at_warp_sync:
                    waiting += "at the warp-wide exchange " + where;
                    break;
                case Split::runnable:
                    waiting += fmt::format("before {}, behind those lanes", where);
                    break;
            }
        }
    throw DeadlockError(
        fmt::format("kernel {}: block {} can't go on, its threads wait for each other: {}",
                    kernel_.name, block_name(), waiting));
}

// "warps 0-2 were at a.cu:7, lanes 0x0000000f of warp 3 at the barrier a.cu:9"
std::string BlockRunner::whereabouts() const {
    struct Place {
        std::string who;
        uint32_t warps = 0;
    };
    std::vector<std::pair<std::string, Place>> places;  // in the order in which they are found
    const auto found = [&](std::string where, const std::string& who, uint32_t warp) {
        for (auto& [known, place] : places)
            if (known == where && place.who.empty() && who.empty()) {
                place.warps |= 1u << warp;
                return;
            }
        places.push_back({std::move(where), {who, 1u << warp}});
    };
    for (size_t k = 0; k < warps_.size(); ++k) {
        const Warp& warp = warps_[(k + last_) % warps_.size()];  // whose turn it is comes first
        for (const Split& split : warp.splits) {
            const char* how = split.state == Split::at_barrier     ? "at the barrier "
                              : split.state == Split::at_warp_sync ? "at the warp-wide exchange "
                                                                   : "at ";
            const bool whole = split.mask == (warp.threads & ~warp.exited);
            found(how + kernel_.where(kernel_.index_of(split.pc)),
                  whole ? "" : fmt::format("lanes {:#010x} of ", split.mask), warp.index);
        }
    }
    std::string text;
    for (size_t k = 0; k < std::min(places.size(), most_places); ++k) {
        const auto& [where, place] = places[k];
        const bool many = place.warps & (place.warps - 1) || !place.who.empty();
        text += fmt::format("{}{}{} {}{}", k ? ", " : "", place.who, names_of(place.warps),
                            k      ? ""
                            : many ? "were "
                                   : "was ",
                            where);
    }
    if (places.size() > most_places) text += ", and others elsewhere";
    return text;
}

void BlockRunner::report_end(Budget::Verdict verdict) const {
    std::string why, hint = "an endless loop?";
    switch (verdict) {
        case Budget::Verdict::late:
            why = fmt::format(" did not end within {:.1f} s",
                              double(options_.time_limit.count()) / 1000);
            break;
        case Budget::Verdict::stopped:
            why = " was stopped";
            hint.clear();
            break;
        default:
            why = fmt::format(": its budget of {} warp instructions is spent",
                              options_.instruction_budget);
            hint = "an endless loop, or too much to emulate?";
    }
    std::string where = whereabouts();
    if (where.empty()) {  // between two blocks
        where = fmt::format(" of {} blocks has just ended", launch_.grid.count());
        if (!hint.empty()) hint = "too much to emulate?";
    } else {
        where.insert(0, ", ");
    }
    throw Error(fmt::format("kernel {}{}: block {}{}{}", kernel_.name, why, block_name(), where,
                            hint.empty() ? "" : " (" + hint + ")"));
}

}  // namespace warpscope::emulator
