#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "experiments/framework/experiment.h"
#include "experiments/nbody/nbody.h"
#include "experiments/ripple/ripple.h"
#include "experiments/scratch/scratch.h"
#include "experiments/sums/dot.h"
#include "experiments/sums/reduction.h"

namespace warpscope::experiments {
namespace {

template <class T>
std::unique_ptr<Experiment> make(compute::Device& device) {
    return std::make_unique<T>(device);
}

}  // namespace

std::span<const Entry> registry() {
    static const std::array entries{
        Entry{"ripple", "Ripple bitmap",
              "A picture that passes through shared memory: right with the barrier, torn without.",
              make<Ripple>},
        Entry{"nbody", "N-body",
              "Gravity of thousands of bodies, fetched from global memory or in shared tiles.",
              make<NBody>},
        Entry{"dot", "Dot product",
              "A sum whose tree needs a barrier after every step, against its exact value.",
              make<Dot>},
        Entry{"reduction", "Reduction",
              "The sum of many floats, on a ladder of kernels that get faster.", make<Reduction>},
        Entry{"scratch", "Your own kernel",
              "What you write as scratch(pixels, width, height, time, mouse), from a gallery of "
              "starting points.",
              make<Scratch>},
    };
    return entries;
}

const Entry& find_experiment(std::string_view id) {
    std::string known;
    for (const Entry& entry : registry()) {
        if (entry.id == id) return entry;
        known += (known.empty() ? "" : ", ") + entry.id;
    }
    throw ParameterError(fmt::format("unknown experiment \"{}\": known are {}", id, known));
}

}  // namespace warpscope::experiments
