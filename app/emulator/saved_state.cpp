#include "emulator/saved_state.h"

#include <algorithm>
#include <cstring>

namespace warpscope::emulator {

namespace {

/// Global memory and the variables of a module.
std::vector<std::span<std::byte>> places_of(Machine& machine, const Module& module) {
    std::vector<std::span<std::byte>> places;
    for (const Memory::Allocation& allocation : machine.memory().allocations()) {
        const std::uint64_t end =
            allocation.used_to ? std::min(*allocation.used_to, allocation.end) : allocation.end;
        places.emplace_back(reinterpret_cast<std::byte*>(allocation.begin), end - allocation.begin);
    }
    for (const Module::GlobalVariable& variable : module.variables())
        places.emplace_back(static_cast<std::byte*>(variable.data), variable.bytes);
    return places;
}

}  // namespace

SavedState::SavedState(Machine& machine, const Module& module)
    : machine_(machine), places_(places_of(machine, module)), own_(machine.own_state()) {
    for (const std::span<std::byte> place : places_) {
        const AlignedBytes& copy = copies_.emplace_back(place.size());
        if (!place.empty()) std::memcpy(copy.data(), place.data(), place.size());
    }
}

void SavedState::restore() const {
    for (std::size_t k = 0; k < places_.size(); ++k)
        if (!places_[k].empty())
            std::memcpy(places_[k].data(), copies_[k].data(), places_[k].size());
    machine_.own_state() = own_;
}

std::size_t SavedState::bytes(Machine& machine, const Module& module) {
    std::size_t bytes = 0;
    for (const std::span<std::byte> place : places_of(machine, module)) bytes += place.size();
    return bytes;
}

}  // namespace warpscope::emulator
