#include <algorithm>

#include "emulator/races/grid/grid_races.h"
#include "emulator/warp/warp.h"

// The functions of GridRaces for blocks that follow a model.
namespace warpscope::emulator {

void GridRaces::on_model(const ModelBlock& model) {
    followed_.begin_model(model);
    values_.clear();
}

bool GridRaces::needs_values(std::uint32_t pc, std::uint64_t distance) {
    if (launch_.kernel().lines[pc].access == MemoryAccess::load || constants_.contains(pc))
        return false;
    if (of_all_blocks_[pc]) return true;
    GridStrips* const memory = moved_memory({pc, distance});
    if (!memory) return true;
    const std::uint64_t first = memory->cell_of(followed_.runs(pc).front().begin + distance);
    const auto [found, is_new] = values_.try_emplace({pc, first % GridStrips::row_cells});
    if (is_new) found->second = has_single_lanes(pc, distance, *memory);
    return found->second;
}

bool GridRaces::has_single_lanes(std::uint32_t pc, std::uint64_t distance,
                                 const GridStrips& memory) const {
    bool has = false;
    followed_.for_accesses(pc, [&](const Access& a) {
        const std::uint32_t cells_of_lane = std::max(1u, a.bytes / cell_bytes_);
        const std::uint64_t last = GridStrips::row_cells / cells_of_lane - 1;
        for_runs(a, a.mask, [&](unsigned lane, unsigned lanes) {
            const std::uint64_t first = memory.cell_of(a.address(lane) + distance) / cells_of_lane;
            has |= lanes == 1 || (first & last) == last || ((first + lanes - 1) & last) == 0;
        });
    });
    return has;
}

void GridRaces::on_stored_values(const Access& a) {
    followed_.keep_values(a);
}

void GridRaces::on_followed(const ModelBlock& model, std::uint32_t block, const Statistics&) {
    begin_block(block);
    followed_.add(block, model.moves());
    if (!has_conflict_) has_conflict_ = !add_cells(model.moves());
}

// Calls f(memory, first cell, cells, writes) for what the running block, which follows a model,
// accesses at an instruction, until it returns false. Returns false if f did, or if no memory holds
// all of the bytes.
template <typename F>
bool GridRaces::for_cells(const Move& move, F&& f) {
    const bool writes = launch_.kernel().lines[move.pc].access != MemoryAccess::load;
    GridStrips* const memory = moved_memory(move);
    if (!memory) return false;
    if (!writes && !memory->has_writes()) {
        memory->leave_out_reads();
        return true;
    }
    for (const FollowedBlocks::Run& run : followed_.runs(move.pc)) {
        const std::uint64_t cell = memory->cell_of(run.begin + move.distance);
        const std::uint64_t cells = std::max<std::uint64_t>(1, (run.end - run.begin) / cell_bytes_);
        if (!f(*memory, cell, cells, writes)) return false;
    }
    return true;
}

// Returns false if accesses of the running block conflict with another block. Those of one
// instruction do not overlap, so that they can be added while others are compared.
bool GridRaces::add_cells(std::span<const Move> moves) {
    if (moves.size() == 1)
        return for_cells(moves[0], [this](GridStrips& memory, std::uint64_t cell,
                                          std::uint64_t cells, bool writes) {
            return memory.add_alone(cell, cells, writes, block_first_);
        });
    for (const Move& move : moves)
        if (!for_cells(move, [this](GridStrips& memory, std::uint64_t cell, std::uint64_t cells,
                                    bool writes) {
                return !memory.conflicts(cell, cells, writes, block_first_);
            }))
            return false;
    for (const Move& move : moves)
        for_cells(move,
                  [](GridStrips& memory, std::uint64_t cell, std::uint64_t cells, bool writes) {
                      memory.add_cells(cell, cells, writes);
                      return true;
                  });
    return true;
}

// The memory with all that a block that follows the model accesses at an instruction.
GridStrips* GridRaces::moved_memory(const Move& move) {
    const std::span<const FollowedBlocks::Run> runs = followed_.runs(move.pc);
    const std::uint64_t begin = runs.front().begin;
    return memory_of(move.pc, begin + move.distance, runs.back().end - begin);
}

void GridRaces::record_followers() {
    for (const auto& [begin, memory] : memories_)
        has_conflict_ |= memory.has_left_out_reads() && memory.has_writes();
    if (!has_conflict_) return;
    followed_.for_blocks([&](std::uint32_t block) { begin_block(block); },
                         [&](const Access& a) { record(a); });
    followed_.clear();
}

}  // namespace warpscope::emulator
