#include <bit>
#include <utility>

#include "emulator/counters/heat_map.h"
#include "emulator/warp/warp.h"

// The functions of HeatMap that add what blocks that follow a model have accessed.
namespace warpscope::emulator {

void HeatMap::on_model_begin() {
    add_followers();
    before_model_ = std::exchange(shared_.counts, {});
}

void HeatMap::on_model(const ModelBlock& model) {
    model_ = {};
    find_shared_words(model);
    model_.global.resize(kernel_->code.size());
    model.for_global_accesses([&](const Access& a) {
        for (std::uint32_t m = a.mask; m; m &= m - 1) {
            const std::uint64_t at = a.address(unsigned(std::countr_zero(m)));
            for (std::uint64_t w = at / WordCounts::word_bytes;
                 w <= (at + a.bytes - 1) / WordCounts::word_bytes; ++w)
                model_.global[a.pc].push_back({std::int64_t(w), 1, 1, 0});
        }
    });
    for (std::vector<WordRun>& runs : model_.global) {
        add_up(runs);
        runs = join_neighbours(runs);
    }
}

// What the model has counted in shared memory, and what of that is not foreseen.
void HeatMap::find_shared_words(const ModelBlock& model) {
    add_started();
    Counts all = std::exchange(shared_.counts, {});
    if (model.is_proved()) {
        model.for_shared_accesses([&](const Access& a) { count(a, true); });
        add_started();
    }
    const Counts unforeseen = std::exchange(shared_.counts, std::move(all));
    for (std::size_t f = 0; f < heat_figures; ++f) {
        const WordCounts& counts = shared_.counts[f];
        if (!counts.any()) continue;
        for (std::uint64_t word = 0; word <= shared_.word_of(shared_.end); ++word)
            if (const std::uint64_t number = counts.at(word))
                model_.shared.push_back({HeatFigure(f), word, number, unforeseen[f].at(word)});
    }
}

void HeatMap::on_followed(const ModelBlock& model, std::uint32_t, const Statistics&) {
    ++model_.followers;
    for (const ModelBlock::Move& move : model.moves()) add_moved(model, move);
}

void HeatMap::add_moved(const ModelBlock& model, const ModelBlock::Move& move) {
    Region* const region = region_of(move.pc, model.begin(move.pc) + move.distance,
                                     model.end(move.pc) + move.distance, false);
    if (region && move.distance % WordCounts::word_bytes == 0) {
        WordCounts& counts = region->counts[std::size_t(figure_of(kernel_->lines[move.pc].access))];
        for (const WordRun& run : model_.global[move.pc])
            counts.add(
                region->word_of(std::uint64_t(run.first) * WordCounts::word_bytes + move.distance),
                run.words, run.lanes);
        return;
    }
    model.for_moved_accesses(move, [&](const Access& a) { count_lanes(a); });
}

// Adds the counts of shared memory of the blocks that have followed the model.
void HeatMap::add_followers() {
    add_started();
    const std::uint64_t followers = std::exchange(model_.followers, 0);
    const std::uint64_t foreseen = std::exchange(model_.foreseen, 0);
    for (const Model::SharedWord& word : model_.shared)
        if (const std::uint64_t number =
                word.number * followers + (word.number - word.unforeseen) * foreseen)
            shared_.counts[std::size_t(word.figure)].add(word.word, 1, number);
    for (std::size_t f = 0; f < heat_figures; ++f)
        shared_.counts[f] += std::exchange(before_model_[f], {});
}

}  // namespace warpscope::emulator
