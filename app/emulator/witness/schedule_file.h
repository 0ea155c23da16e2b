#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/machine/launch_settings.h"
#include "emulator/program/launch.h"
#include "emulator/program/module.h"

namespace warpscope::emulator {

/// The order of the warps of one block, or of some blocks together, as a text that people keep and
/// share. A turn ends at a source line, so that the text still holds after the kernel is
/// compiled again. docs/schedules.md has the format.
struct ScheduleFile {
    struct Turn {
        std::uint32_t epoch = 0;  ///< completed barriers of the block
        std::uint32_t warp = 0;
        /// The place of the access before which it ends: users_place(). Empty: the warp runs until
        /// it waits or ends.
        std::string until{};
        unsigned access = 1;     ///< among the accesses of the kernel at this place, from 1
        unsigned pass = 1;       ///< the turn ends before the access comes for this time
        bool reads_old = false;  ///< ListedTurn::reads_old
        Dim3 block{0, 0, 0};     ///< where blocks run together
        int line = 0;            ///< of the text that was read
    };

    /// A copy that does not land at once.
    struct Held {
        std::uint32_t warp = 0, number = 1;  ///< the copy is the number-th that the warp starts
        bool late = true;                    ///< HeldCopy::late
        Dim3 block{0, 0, 0};                 ///< where blocks run together
        int line = 0;
    };

    std::string kernel;
    Dim3 block{0, 0, 0};
    bool together = false;             ///< blocks run together
    std::vector<Dim3> blocks{};        ///< these; empty: all of the launch
    int blocks_line = 0;               ///< of the text that was read
    std::optional<Landing> landing{};  ///< of asynchronous copies; nullopt: as the launch says
    std::vector<Held> held{};          ///< with Landing::at_once
    std::vector<Turn> turns;
    std::string name;  ///< of the file that was read

    /// Throws Error that names the line.
    static ScheduleFile parse(std::string_view text, std::string name);
    static ScheduleFile of(const Kernel& kernel, Dim3 block,
                           const std::vector<std::vector<ListedTurn>>& turns);
    /// The file of an order of blocks that run together.
    static ScheduleFile of_units(const Kernel& kernel, const BlockGroup& group,
                                 const std::vector<std::vector<ListedTurn>>& turns);
    std::string text() const;
    /// LaunchSettings::turns; of blocks that run together, with the warps of each block. Throws
    /// Error if the kernel has no access at a place.
    std::vector<std::vector<ListedTurn>> turns_in(const Kernel& kernel) const;
    /// Sets the schedule of a launch. A launch of another kernel gets Schedule::run_to_barrier, and
    /// so do the other blocks (OtherBlocks). Throws Error if the file does not fit the kernel or
    /// the grid.
    void apply(const Kernel& kernel, const LaunchShape& launch, LaunchSettings& settings) const;

  private:
    /// The linear index of a block. Throws Error, with the line, if the launch lacks it or the
    /// warp.
    std::uint32_t index_of(const Dim3& block, std::uint32_t warp, const LaunchShape& launch,
                           int line) const;
    /// Lists the blocks that run together, and makes the warps of the turns units.
    void list_units(const Kernel& kernel, const LaunchShape& launch,
                    LaunchSettings& settings) const;
};

/// users_place() of an instruction.
std::string users_place(const Kernel& kernel, std::uint32_t pc);

}  // namespace warpscope::emulator
