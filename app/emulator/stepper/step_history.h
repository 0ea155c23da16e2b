#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/machine/launch_settings.h"
#include "emulator/stepper/block_stepper.h"
#include "emulator/stepper/blocks_together.h"
#include "emulator/stepper/step_recorder.h"
#include "emulator/stepper/stepper.h"

namespace warpscope::emulator {

/// The history of a stepped block: executes steps, saves positions and returns to them.
struct Stepper::StepHistory {
    StepHistory(Machine& machine, FrozenLaunch frozen, std::uint32_t block);
    ~StepHistory() { recorder.undo.move_to(0); }

    struct SavedPosition {
        std::uint64_t position = 0;
        BlockStepper::Saved block;
        Observations observed;
        std::size_t undo = 0;
    };

    void start();
    std::size_t start_alone();     ///< returns the bytes of the block's state
    std::size_t start_together();  ///< returns those of all blocks
    std::size_t bytes_of_tiles() const;
    /// Executes a step of a warp, by default the scheduled one; false if it cannot run.
    bool step(std::optional<std::uint32_t> warp);
    /// Executes the known step at this position again.
    bool repeat();
    bool land(std::uint32_t number);
    void execute(std::uint32_t warp);
    void add(const Step& step);
    void note_cluster_phase(std::uint32_t before);
    std::uint32_t cluster_phase() const;
    void seek(std::uint64_t target);
    void save_position();
    void forget_from(std::uint64_t position);
    bool is_open() const { return end == End::open; }
    /// Begins a run of many steps: the launch's time limit counts from here.
    void start_run() { budget.restart_time(); }
    bool may_continue_run() const {
        return position % 1024 != 0 || budget.check_time() == Budget::Verdict::within;
    }
    using Line = std::pair<std::int32_t, std::int32_t>;  ///< file and line
    Line line_of(std::uint32_t pc) const;
    std::optional<Line> next_line(std::uint32_t warp) const;

    Machine& machine;
    FrozenLaunch launch;
    std::uint32_t block, sm;
    /// For a block that runs alone: a copy of the shared memory of each virtual SM, so that the
    /// machine's own does not change.
    std::vector<std::vector<std::byte>> of_sms;
    std::span<std::byte> shared;  ///< of the block
    Budget budget;
    StepRecorder recorder;
    BlockStepper stepper;
    std::optional<BlocksTogether> together;  ///< none: the block runs alone

    std::vector<Step> steps;
    std::uint64_t position = 0;
    End end = End::open;
    files::Sentence error;
    std::vector<SavedPosition> saved;  ///< ordered by position; the first one is 0
    std::uint64_t distance = 64;       ///< between saved positions; doubles when there are too many
    std::size_t most_saved = 128;
};

}  // namespace warpscope::emulator
