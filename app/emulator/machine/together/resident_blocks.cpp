#include "emulator/machine/together/resident_blocks.h"

#include <algorithm>
#include <cstring>

#include "emulator/program/error.h"

namespace warpscope::emulator {

ResidentBlocks::Place::Place(const Kernel& kernel, const FrozenLaunch& launch, const Memory& memory,
                             Budget& budget)
    : shared(kernel.shared_bytes + launch.launch.dynamic_shared_bytes),
      runner(kernel, launch.launch, memory, launch.arguments, launch.settings, budget) {}

ResidentBlocks::ResidentBlocks(const Kernel& kernel, const FrozenLaunch& launch,
                               const Memory& memory, Budget& budget, std::size_t count)
    : progress_(launch.settings.progress.get()),
      cluster_size_(kernel.uses_cluster ? launch.launch.cluster.count() : 0) {
    for (std::size_t k = 0; k < count; ++k)
        places_.push_back(std::make_unique<Place>(kernel, launch, memory, budget));
    for (std::size_t first = 0; cluster_size_ && first < count; first += cluster_size_) {
        std::vector<Cluster::Block> blocks;
        for (std::size_t k = first; k < first + cluster_size_; ++k) {
            blocks.push_back(places_[k]->runner.block_of_cluster());
            copies_.push_back(blocks.back().context->async);
        }
        clusters_.push_back(std::make_unique<Cluster>(std::move(blocks)));
    }
}

void ResidentBlocks::begin(unsigned virtual_sms, Observer* observer) {
    for (const auto& place : places_) {
        if (place->shared.size()) std::memset(place->shared.data(), 0, place->shared.size());
        place->runner.begin_turns(place->block, place->block % virtual_sms, virtual_sms,
                                  place->shared.data(), observer);
    }
    for (const auto& cluster : clusters_) cluster->begin();
    waiting_turns_ = 0;
    for (std::size_t k = 0; k < copies_.size(); ++k)
        copies_[k]->join_cluster(
            std::span(copies_).subspan(k / cluster_size_ * cluster_size_, cluster_size_),
            &waiting_turns_);
}

void ResidentBlocks::run(std::span<const std::uint32_t> blocks, unsigned virtual_sms,
                         bool from_last, Observer* observer) {
    std::vector<Place*> running;
    for (std::size_t k = 0; k < places_.size(); ++k) {
        places_[k]->block = blocks[k];
        running.push_back(places_[k].get());
    }
    std::ranges::sort(running, {}, &Place::block);
    if (from_last) std::ranges::reverse(running);
    begin(virtual_sms, observer);
    while (!running.empty())
        std::erase_if(running, [this](Place* place) { return !takes_turns(*place); });
}

bool ResidentBlocks::takes_turns(Place& place) const {
    // A thread may wait for a word of memory, which cannot be told from work.
    const unsigned most_turns = clusters_.empty() ? 1 : 64;
    try {
        for (unsigned turn = 0; turn < most_turns; ++turn) {
            if (!place.runner.take_turn()) {
                if (progress_) progress_->add(1);
                return false;
            }
            if (place.runner.turn_has_waited()) break;
        }
    } catch (Error& error) {
        error.block = place.block;
        throw;
    }
    return true;
}

Statistics ResidentBlocks::statistics() const {
    Statistics all;
    for (const auto& place : places_) all += place->runner.statistics();
    return all;
}

std::vector<ExecutionCount> ResidentBlocks::executions() const {
    std::vector<ExecutionCount> all;
    for (const auto& place : places_) {
        const std::span<const ExecutionCount> of_place = place->runner.executions();
        all.resize(std::max(all.size(), of_place.size()));
        for (std::size_t pc = 0; pc < of_place.size(); ++pc) {
            all[pc].warps += of_place[pc].warps;
            all[pc].idle_lanes += of_place[pc].idle_lanes;
            all[pc].separations += of_place[pc].separations;
        }
    }
    return all;
}

void ResidentBlocks::add_prints_to(LaunchPrints& prints) const {
    for (const auto& place : places_) prints.add(place->block, place->runner.printed());
}

}  // namespace warpscope::emulator
