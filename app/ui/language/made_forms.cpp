#include "ui/language/made_forms.h"

#include <vector>

#include "ui/language/language.h"

namespace warpscope::ui {
namespace {

constexpr const char* before_the_checks[] = {
    // Labels and titles.
    tr_later("Counters of a block"),
    tr_later("Lines of {}"),
    tr_later("Heat of {}"),
    tr_later("Median of the last {}"),
    tr_later("Minimum of the last {}"),
    tr_later("Maximum of the last {}"),
    tr_later("{}: Median of the last {}"),
    tr_later("{}: Minimum of the last {}"),
    tr_later("{}: Maximum of the last {}"),
    tr_later("Numbers of {} that differ"),
    tr_later("Smallest number of {}"),
    tr_later("Largest number of {}"),
    tr_later("Mean of {}"),
    tr_later("Pixels of {}"),
    tr_later("Infinite numbers of {}"),
    tr_later("NaN (not a number) in {}"),
    tr_later("Rank {}, which moves {} of the bodies"),
    tr_later("{} on one rank"),
    tr_later("barrier {}, {}"),
    tr_later("stores, {}"),
    tr_later("pass {}, {}"),
    tr_later("block ({}, {}), SM {}, {}"),
    tr_later("The kernels of {}, with the buffers and expectations of its launch file."),
    tr_later("it was asked for"),
    tr_later("SIMT emulator"),
    tr_later("interop"),
    tr_later("staged"),
    tr_later("mapped"),
    // Of results.
    tr_later("{} of the pixels were read before their thread had written them; {} orders the reads "
             "after the writes."),
    tr_later("__syncthreads() at {}"),
    tr_later("cluster_sync() at {}"),
    tr_later("No pixel is wrong this time."),
    tr_later("That proves nothing: without {} nothing orders the reads after the writes."),
    tr_later("Other timing gives another picture."),
    tr_later("The edited kernel draws each pixel as the built-in kernel with its barrier does."),
    tr_later("{} of the edited kernel's pixels differ from those of the built-in kernel with its "
             "barrier."),
    tr_later("This may be intended; see the race check."),
    tr_later("A second run with the barrier gives equal pixels."),
    tr_later("{} of the pixels differ between two runs with the barrier: the device or this "
             "program is broken."),
    tr_later("Every word was read with the stamp of its own block and launch."),
    tr_later("Words were read with the stamp of another block or launch, although there is a "
             "barrier: the device or this program is broken."),
    tr_later("No read was stale this time."),
    tr_later("{} pixels were read from words with the stamp of another block or launch."),
    tr_later("Some of these words hold the right value by chance, so fewer pixels are wrong."),
    tr_later(
        "The pictures differ, although all waits are there: the device or this program is broken."),
    tr_later("All pixels are those of the kernel that waits for each tile."),
    tr_later("Threads read tiles before their copies had landed, or while the next copy came."),
    tr_later("That proves nothing: the copies may land at any other moment."),
    tr_later("The race check tells."),
    tr_later("{} tiles of {} bytes, in {} blocks."),
    tr_later("The bytes that are read and written in the time of the kernel."),
    tr_later("Below 1, the copies overlap with the filter."),
    tr_later(
        "In {} of {} launches the result was wrong by more than float rounding explains ({})."),
    tr_later("{}, {} of {} launches gave a wrong sum: not every thread reaches the barrier at {}."),
    tr_later("{} of {} launches gave a wrong sum: without __syncthreads() at {} the tree adds sums "
             "that other warps have not stored yet."),
    tr_later("No launch gave a wrong sum this time."),
    tr_later("Under Volta rules the kernel finishes, {}."),
    tr_later("Under the rules before Volta the kernel finishes, {}."),
    tr_later("Under strict PTX rules the kernel finishes, {}."),
    tr_later("On {} the kernel finishes, {}."),
    tr_later("with the right sum"),
    tr_later("with a wrong sum"),
    tr_later("Under Volta rules"),
    tr_later("Under the rules before Volta"),
    tr_later("Under strict PTX rules"),
    tr_later("The threads that skip the barrier at {} continue for a limited time."),
    tr_later("The barrier at {} does not wait for threads that have ended."),
    tr_later("CUDA by Example says that the kernel hangs."),
    tr_later("{}, thread 0 spent {} clocks at its {} barriers."),
    tr_later("Threads that skip a barrier end at once."),
    tr_later("Threads that skip a barrier continued for {} clocks."),
    tr_later("The barrier did not wait for them."),
    tr_later("A barrier waits for every warp that has not ended."),
    tr_later("A barrier waits for every thread that has not ended."),
    tr_later("Wrong of {} launches"),
    tr_later("Relative to the sum of the magnitudes."),
    tr_later("Float rounding explains up to {}."),
    tr_later("Change of the total momentum since frame {}, divided by the sum of all |m v|."),
    tr_later("One step from frame {} compared with double precision, for {}: error {} (limit {}); "
             "the largest error of one body is {} of the forces on it (limit {})."),
    tr_later("all {} bodies"),
    tr_later("{} of {} bodies (choose check \"all\" for every body)"),
    tr_later(
        "That proves nothing: without the wait nothing orders the copies of a tile and its reads."),
    tr_later("Without the wait, threads read bodies that the copies have not brought yet."),
    tr_later("That proves nothing: without __syncthreads() at {} nothing orders the loads of a "
             "tile and its reads."),
    tr_later("Without __syncthreads() at {} warps load the next bodies over those that other warps "
             "still read."),
    tr_later(
        "Without __syncthreads() at {} warps read bodies that other warps have not loaded yet."),
    tr_later("Change of the total energy from frame {} to frame {}, relative to its magnitude."),
    tr_later("Smaller steps or more softening reduce it."),
    tr_later("Estimated from {} of {} bodies, evenly spaced, and from all heavy ones (choose check "
             "\"all\" for every body)."),
    tr_later("Sectors of global memory that the loop over the bodies reads, for each interaction."),
    tr_later("Emulated time of {}: the median of the newest launches."),
    tr_later("GPU time of {}: the median of the newest launches."),
    tr_later("It computes {} ms, the exchange takes {} ms, and it waits {} ms for other ranks."),
    tr_later("All {} numbers are as expected, bit for bit."),
    tr_later("All {} numbers are as expected; the largest difference is {}."),
    tr_later("{} of {} numbers differ."),
    tr_later("The first is {} = {}, expected {}; the largest difference is {}."),
    tr_later("{} of type {}, {}."),
    tr_later("{} of block 0, kernel {}, as the emulator runs it"),
    tr_later("{} of block 0, kernel {}, as the emulator runs it, by pass; red reads race"),
    tr_later("{} of block 0, kernel {}, as the emulator runs it, {}, by pass; red reads race"),
    tr_later("{} of block 0, kernel {}, as the emulator runs it, {}"),
    tr_later("Warp sums"),
};

constexpr const char* behind_the_checks[] = {
    // Of proposed launches.
    tr_later("the arguments of the template"),
    tr_later("the block"),
    tr_later("the function {}"),
    tr_later("the grid"),
    tr_later("the numbers of {}"),
    tr_later("the shared memory"),
    tr_later("the size of {}"),
    tr_later("the texture {}"),
    // Kinds of findings, counts of them, and devices.
    tr_later("uninitialized"),
    tr_later("memory"),
    tr_later("undefined"),
    tr_later("call"),
    tr_later("leak"),
    tr_later("unread"),
    tr_later("needed"),
    tr_later("{} launch"),
    tr_later("{} access"),
    tr_later("{} thread"),
    tr_later("{} call"),
    tr_later("{} object"),
    tr_later("emulator"),
    // Of the bodies and the trees.
    tr_later("A block reads each body once: {} of a sector for each interaction."),
    tr_later("Without the tile it is {}."),
    tr_later("Each warp reads each body: {} of a sector for each interaction."),
    tr_later("With the tile it is {}."),
    tr_later("A Plummer sphere in equilibrium."),
    tr_later("A disk that turns round a heavy central body."),
    tr_later("Two disks that will collide."),
    tr_later("A sphere at rest."),
    tr_later("It collapses and then expands again."),
    tr_later("All masses in the file are 0, so no body pulls another one."),
    tr_later("The masses in the file add up to {}."),
    tr_later("With G = 1, the unit of length is {} of the file's units, the unit of mass {}, the "
             "unit of time {}."),
    tr_later("With G = 6.6743e-11 m^3 / (kg s^2), the unit of length is {} m, the unit of mass {} "
             "kg, the unit of time {} s."),
    tr_later("From {}."),
    tr_later("{}: no barrier, so there is nothing to show"),
    // Lines of one file. The last form, since others have such lines as values.
    tr_later("{}.cu:{} and {}"),
};

}  // namespace

std::span<const char* const> made_forms() {
    static const std::vector<const char*> all = [] {
        std::vector<const char*> joined;
        for (const auto forms : {std::span<const char* const>(before_the_checks), check_forms(),
                                 std::span<const char* const>(behind_the_checks)})
            joined.insert(joined.end(), forms.begin(), forms.end());
        return joined;
    }();
    return all;
}

}  // namespace warpscope::ui
