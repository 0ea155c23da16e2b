#include "emulator/machine/together/resident_blocks.h"

#include <algorithm>
#include <cstring>

#include "emulator/machine/parallel.h"
#include "emulator/machine/warp_scheduler.h"
#include "emulator/program/error.h"
#include "emulator/warp/float_mode.h"

namespace warpscope::emulator {

std::vector<std::uint32_t> blocks_of_clusters(const LaunchShape& launch, std::uint32_t first,
                                              std::uint32_t count) {
    std::vector<std::uint32_t> blocks;
    for (std::uint32_t cluster = first; cluster < first + count; ++cluster)
        for (std::uint32_t rank = 0; rank < launch.cluster.count(); ++rank)
            blocks.push_back(ClusterPlace{cluster, rank}.block(launch));
    return blocks;
}

std::uint64_t bytes_of_block(const Kernel& kernel, const LaunchShape& launch) {
    const std::uint64_t threads = launch.block.count();
    const std::uint64_t warps = (threads + lanes_per_warp - 1) / lanes_per_warp;
    return warps * kernel.register_bytes + threads * kernel.local_bytes + kernel.shared_bytes +
           launch.dynamic_shared_bytes;
}

ResidentBlocks::ResidentBlocks(const Kernel& kernel, const FrozenLaunch& launch,
                               const Memory& memory, Budget& budget, std::size_t count,
                               const Stepped& stepped, const MakeBlockEvents& make_events)
    : kernel_(kernel),
      settings_(launch.settings),
      warps_(warps_of_block(launch.launch)),
      progress_(launch.settings.progress.get()),
      cluster_size_(kernel.uses_cluster ? launch.launch.cluster.count() : 0),
      places_(count) {
    for (std::size_t k = 0; k < count; ++k) {
        Place& place = places_[k];
        place.shared = AlignedBytes(kernel.shared_bytes + launch.launch.dynamic_shared_bytes);
        const bool is_stepped = stepped.runner && k == stepped.place;
        if (!is_stepped)
            place.own =
                std::make_unique<BlockRunner>(kernel, launch.launch, memory, launch.arguments,
                                              launch.settings, budget, make_events);
        place.runner = is_stepped ? stepped.runner : place.own.get();
        if (k > 0) place.runner->share_old_values(*places_[0].runner);
    }
    for (std::size_t first = 0; cluster_size_ && first < count; first += cluster_size_) {
        std::vector<Cluster::Block> blocks;
        for (std::size_t k = first; k < first + cluster_size_; ++k) {
            blocks.push_back(places_[k].runner->block_of_cluster());
            copies_.push_back(blocks.back().context->async);
        }
        clusters_.push_back(std::make_unique<Cluster>(std::move(blocks)));
    }
}

void ResidentBlocks::begin(std::span<const std::uint32_t> blocks, unsigned virtual_sms,
                           bool from_last, std::span<Observer* const> observers) {
    order_.clear();
    for (std::size_t k = 0; k < places_.size(); ++k) {
        places_[k].block = blocks[k];
        places_[k].ended = false;
        order_.push_back(&places_[k]);
    }
    std::ranges::sort(order_, {}, &Place::block);
    for (std::size_t k = 0; k < order_.size(); ++k) {
        Place& place = *order_[k];
        const std::size_t position = from_last ? order_.size() - 1 - k : k;
        if (place.shared.size()) std::memset(place.shared.data(), 0, place.shared.size());
        place.runner->begin_turns(place.block, place.block % virtual_sms, virtual_sms,
                                  place.shared.data(),
                                  observers[part_of(position, observers.size())]);
    }
    if (from_last) std::ranges::reverse(order_);
    turn_ = order_.size() - 1;
    for (const auto& cluster : clusters_) cluster->begin();
    waiting_turns_ = 0;
    listed_ = 0;
    unit_ = std::uint32_t(places_.size()) * warps_ - 1;
    for (std::size_t k = 0; k < copies_.size(); ++k)
        copies_[k]->join_cluster(
            std::span(copies_).subspan(k / cluster_size_ * cluster_size_, cluster_size_),
            &waiting_turns_);
}

void ResidentBlocks::run(std::span<const std::uint32_t> blocks, unsigned virtual_sms,
                         bool from_last, Observer* observer) {
    begin(blocks, virtual_sms, from_last, observer);
    if (is_listed()) return run_listed();
    while (!order_.empty()) {
        for (Place* const place : order_) take_turns(*place);
        std::erase_if(order_, [](const Place* place) { return place->ended; });
    }
}

void ResidentBlocks::run_ahead(std::span<const std::uint32_t> blocks, unsigned virtual_sms,
                               bool from_last, std::span<Observer* const> observers) {
    const auto tell_turns = [&](bool begin) {
        for (Observer* const observer : observers)
            if (observer) begin ? observer->on_turns_begin() : observer->on_turns_end();
    };
    begin(blocks, virtual_sms, from_last, observers);
    std::vector<std::vector<Place*>> parts(observers.size());
    for (std::size_t k = 0; k < order_.size(); ++k)
        parts[part_of(k, parts.size())].push_back(order_[k]);
    while (!order_.empty()) {
        tell_turns(false);
        run_parallel(unsigned(parts.size()), [&](unsigned k) {
            const FloatMode mode(kernel_.flush_subnormals);
            for (Place* const place : parts[k]) run_ahead(*place);
        });
        tell_turns(true);
        for (Place* const place : order_) {
            if (place->failure) rethrow_failure(*place);
            if (!place->ended && place->runner->needs_turn()) take_turns(*place);
        }
        std::erase_if(order_, [](const Place* place) { return place->ended; });
    }
}

// All blocks run, whichever fails: the error is that of the first one, on any number of threads.
// Observers may have to keep what all blocks do until the next turns.
void ResidentBlocks::run_ahead(Place& place) const {
    constexpr std::size_t most_of_all = 1 << 21;
    const auto most = std::int64_t(std::clamp<std::size_t>(
        most_of_all / places_.size(), std::size_t(longest_turn), std::size_t(1) << 14));
    if (place.ended) return;
    try {
        go_on(place, [&] { return place.runner->run_ahead(longest_turn, most); });
    } catch (...) {
        place.failure = std::current_exception();
    }
}

void ResidentBlocks::rethrow_failure(const Place& place) {
    try {
        std::rethrow_exception(place.failure);
    } catch (const Error& error) {
        place.runner->tell_error(error);
        throw;
    }
}

/// The unit of the next turn; nullopt: no warp can run.
std::optional<std::uint32_t> ResidentBlocks::next_unit(OpenTurn& turn) {
    std::uint32_t runnable = 0;
    for (std::size_t k = 0; k < places_.size(); ++k)
        runnable |= places_[k].runner->runnable_warps() << k * warps_;
    turn = {};
    while (!settings_.turns.empty() && listed_ < settings_.turns[0].size()) {
        const ListedTurn& listed = settings_.turns[0][listed_++];
        if (listed.warp >= BlockGroup::most_units || !(runnable >> listed.warp & 1)) continue;
        turn = OpenTurn::of(listed, kernel_);
        return unit_ = listed.warp;
    }
    if (!settings_.turns.empty()) listed_ = settings_.turns[0].size() + 1;
    if (!runnable) return {};
    return unit_ = WarpScheduler::next_after(unit_, runnable);
}

void ResidentBlocks::take_listed_turn(Place& place, std::uint32_t warp,
                                      const OpenTurn& turn) const {
    try {
        place.runner->take_listed_turn(warp, turn);
    } catch (Error& error) {
        error.block = place.block;
        throw;
    }
}

void ResidentBlocks::run_listed() {
    OpenTurn turn;
    while (const auto unit = next_unit(turn))
        take_listed_turn(places_[*unit / warps_], *unit % warps_, turn);
    // No warp can run: each block ends, or reports the threads that wait.
    for (Place* const place : order_) take_turns(*place);
}

std::optional<ResidentBlocks::Turn> ResidentBlocks::run_listed_others() {
    OpenTurn turn;
    while (const auto unit = next_unit(turn)) {
        Place& place = places_[*unit / warps_];
        if (!place.own) return Turn{*unit % warps_, turn};
        take_listed_turn(place, *unit % warps_, turn);
    }
    for (Place& place : places_) {
        if (place.own && !place.ended) take_turns(place);
        place.ended = true;
    }
    return {};
}

void ResidentBlocks::run_others() {
    for (;;) {
        turn_ = (turn_ + 1) % order_.size();
        Place& place = *order_[turn_];
        if (!place.own) return;
        if (!place.ended) take_turns(place);
    }
}

bool ResidentBlocks::others_have_ended() const {
    return std::ranges::all_of(places_,
                               [](const Place& place) { return place.ended || !place.own; });
}

template <typename F>
void ResidentBlocks::go_on(Place& place, F&& f) const {
    try {
        place.ended = !f();
        if (place.ended && progress_) progress_->add(1);
    } catch (Error& error) {
        error.block = place.block;
        throw;
    }
}

void ResidentBlocks::take_turns(Place& place) const {
    // A thread may wait for a word of memory, which cannot be told from work.
    for (unsigned turn = 0; turn < most_turns(); ++turn) {
        go_on(place, [&] { return place.runner->take_turn(longest_turn); });
        if (place.ended || place.runner->turn_has_waited()) break;
    }
}

void ResidentBlocks::set_timer(std::uint64_t base) {
    for (const Place& place : places_) place.runner->block_of_cluster().context->timer_base = base;
}

std::span<std::byte> ResidentBlocks::shared_memory(std::size_t place) const {
    const AlignedBytes& shared = places_[place].shared;
    return {shared.data(), shared.size()};
}

const Cluster* ResidentBlocks::cluster_of(std::size_t place) const {
    return clusters_.empty() ? nullptr : clusters_[place / cluster_size_].get();
}

ResidentBlocks::Saved ResidentBlocks::save() const {
    Saved saved{.waiting_turns = waiting_turns_, .turn = turn_, .listed = listed_, .unit = unit_};
    for (const Place& place : places_) {
        saved.ended.push_back(place.ended);
        if (place.own) saved.blocks.push_back(place.own->save());
    }
    for (const auto& cluster : clusters_) saved.barriers.push_back(cluster->barrier());
    return saved;
}

void ResidentBlocks::restore(const Saved& saved) {
    waiting_turns_ = saved.waiting_turns;
    turn_ = saved.turn;
    listed_ = saved.listed;
    unit_ = saved.unit;
    auto block = saved.blocks.begin();
    for (std::size_t k = 0; k < places_.size(); ++k) {
        places_[k].ended = saved.ended[k];
        if (places_[k].own) places_[k].own->restore(*block++);
    }
    for (std::size_t k = 0; k < clusters_.size(); ++k) clusters_[k]->restore(saved.barriers[k]);
}

Statistics ResidentBlocks::statistics() const {
    Statistics all;
    for (const Place& place : places_) all += place.runner->statistics();
    return all;
}

void ResidentBlocks::add_executions_to(std::vector<ExecutionCount>& all) const {
    for (const Place& place : places_) {
        const std::span<const ExecutionCount> of_place = place.runner->executions();
        all.resize(std::max(all.size(), of_place.size()));
        for (std::size_t pc = 0; pc < of_place.size(); ++pc) {
            all[pc].warps += of_place[pc].warps;
            all[pc].idle_lanes += of_place[pc].idle_lanes;
            all[pc].separations += of_place[pc].separations;
        }
    }
}

void ResidentBlocks::add_prints_to(LaunchPrints& prints) const {
    for (const Place& place : places_) prints.add(place.block, place.runner->printed());
}

}  // namespace warpscope::emulator
