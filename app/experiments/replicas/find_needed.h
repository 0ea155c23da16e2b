#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "experiments/replicas/specimen.h"
#include "launches/arrays/array.h"

namespace warpscope::experiments {

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
