#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "emulator/witness/access_watch.h"
#include "emulator/witness/witness_words.h"
#include "experiments/framework/experiment.h"
#include "experiments/replicas/specimen.h"
#include "launches/arrays/array.h"

namespace warpscope::experiments {

/// Names the words of an experiment's results as people see them: "pixel (35, 41)", with the
/// channels of its colours that differ, or "y[12]", with numbers of its type.
emulator::NameWord word_names(Experiment& experiment);

/// Judges words of the memory of a specimen by what is known of its results. Null: nothing is known
/// of this launch, or no more than what it has left in a program. It is valid as long as the
/// specimen.
emulator::JudgeWord expected_words(Specimen& specimen, const LaunchState& state,
                                   const std::stop_token& stop);

/// Looks for an order in which each race of the list spoils a result, and sets Finding::witness: an
/// order of the warps of its block or, of a race between blocks, of all blocks of a small launch or
/// else of the two that race. Blocks of a cluster, or of a cooperative launch, stay together.
/// `findings` are those of the launches of `state`, with the names of the emulator; an empty name
/// of a kernel stands for the last launch. Takes about `time`, and an eighth of it for each further
/// block or blocks. Where there is nothing to search, the witness says why. Where a launch file
/// expects numbers, a result is spoilt if one of them is wrong. `progress` counts milliseconds of
/// each search.
void find_witnesses(std::vector<emulator::Finding>& findings, const LaunchState& state,
                    std::chrono::milliseconds time = std::chrono::seconds(2),
                    std::stop_token stop = {},
                    std::shared_ptr<compute::LaunchProgress> progress = {});

/// Whether an element of a result differs, in any order, without a barrier.
enum class Dependence : std::uint8_t {
    unknown,  ///< the blocks that were run have not written it, or it is not known what is right
    none,     ///< it stays as it is
    depends
};

/// What depends on the barriers, fences and waits of a launch.
struct NeededBarriers {
    /// A result of the experiment: pixels, sums, bodies, a buffer.
    struct Result {
        std::string name;
        bool is_picture = false;  ///< its elements are the pixels of the experiment's picture
        launches::Array values;   ///< as the launch is
    };
    struct Barrier {
        emulator::Finding finding;                      ///< a note
        bool is_needed = false;                         ///< emulator::NeededLine::is_needed
        std::uint64_t words = 0;                        ///< that Finding::count is a part of
        std::vector<std::vector<Dependence>> elements;  ///< by result; empty: nothing is known
    };
    std::shared_ptr<const LaunchState> launch;
    std::vector<Result> results;
    Experiment::Places places;  ///< of the elements of the first result; or null
    std::vector<Barrier> barriers;

    std::vector<emulator::Finding> findings() const;
};

/// Takes out each barrier, fence and wait of the kernels that `launch` launches, one at a time, and
/// says what depends on it: emulator::NecessityCheck. Takes about `time` for each kernel. A kernel
/// that fails as it is, or for which there is too little memory, gives no barriers. `progress`
/// counts the lines of a kernel.
NeededBarriers find_needed(std::shared_ptr<const LaunchState> launch,
                           std::chrono::milliseconds time = std::chrono::seconds(5),
                           std::stop_token stop = {},
                           std::shared_ptr<compute::LaunchProgress> progress = {});

}  // namespace warpscope::experiments
