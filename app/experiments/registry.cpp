#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "experiments/framework/experiment.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/open_launch.h"
#include "experiments/nbody/nbody.h"
#include "experiments/pipeline/pipeline.h"
#include "experiments/ripple/ripple.h"
#include "experiments/sums/dot.h"
#include "experiments/sums/reduction.h"

namespace warpscope::experiments {
std::span<const Entry> registry() {
    static const std::array entries{
        entry_of<Ripple>("ripple", "Ripple bitmap",
                         "A picture that passes through shared memory: right with the barrier, "
                         "torn without it."),
        entry_of<NBody>("nbody", "N-body",
                        "Gravity among thousands of bodies, read from global memory or from tiles "
                        "in shared memory.",
                        true),
        entry_of<Dot>("dot", "Dot product",
                      "A sum in a tree that needs a barrier after every step, compared with its "
                      "exact value."),
        entry_of<Reduction>("reduction", "Reduction",
                            "The sum of many floats. Each kernel is faster than the one before."),
        entry_of<Pipeline>("pipeline", "Pipeline",
                           "A picture that is filtered through a ring of tiles, which asynchronous "
                           "copies fill in advance."),
        *launch_entry(gallery_file(gallery()[0].name)),
    };
    return entries;
}

const Entry& launch_experiment() {
    return *std::ranges::find_if(registry(), [](const Entry& entry) { return !!entry.compile; });
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
