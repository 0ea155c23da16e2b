#include "experiments/replicas/find_needed.h"

#include <algorithm>

#include "compute/emulated/emulated_device.h"
#include "emulator/program/error.h"
#include "emulator/witness/needed_barriers.h"
#include "experiments/replicas/result_words.h"

namespace warpscope::experiments {

namespace {

/// The number of elements of a result; 0: it has too many bytes to be painted.
std::size_t painted_elements(const KnownResult& result) {
    constexpr std::size_t most_bytes = std::size_t(64) << 20;
    std::size_t count = 1;
    for (const std::size_t side : result.shape) count *= side;
    return count * result.type.size() <= most_bytes ? count : 0;
}

/// Collects the names of kernels that are launched.
class LaunchedKernels : public emulator::Observer {
  public:
    void on_launch(const emulator::Kernel& kernel, const emulator::LaunchShape&) override {
        if (std::ranges::find(names, kernel.name) == names.end()) names.push_back(kernel.name);
    }
    bool wants(std::uint32_t) override { return false; }
    std::vector<std::string> names;
};

/// The kernels of a frame, in the order of their first launches.
std::vector<std::string> kernels_of(const LaunchState& state, const std::stop_token& stop) {
    const Replica replica = make_replica(state, compute::usual_emulator_memory(), stop);
    LaunchedKernels launched;
    const compute::Observing observing(*replica.device, launched);
    replica.experiment->launch_kernel();
    return launched.names;
}

/// Marks the elements that have bytes of these words.
void mark(std::vector<Dependence>& elements, const KnownResult& result,
          const std::vector<std::uint64_t>& words, Dependence dependence) {
    const std::uint64_t begin = result.address, bytes = result.type.size();
    const std::uint64_t end = begin + elements.size() * bytes;
    auto word = std::ranges::lower_bound(words, begin & ~3ull);
    for (; word != words.end() && *word < end; ++word) {
        const std::uint64_t first = (std::max(*word, begin) - begin) / bytes;
        const std::uint64_t last = (std::min(*word + 4, end) - 1 - begin) / bytes;
        for (std::uint64_t k = first; k <= last; ++k) elements[k] = dependence;
    }
}

/// Adds the barriers of the kernel that the specimen stops before.
void add_barriers(NeededBarriers& all, Specimen& specimen, const emulator::Necessity& found) {
    const std::vector<KnownResult> results = specimen.experiment().results();
    for (const emulator::NeededLine& line : found.lines) {
        auto& barrier = all.barriers.emplace_back(
            NeededBarriers::Barrier{line.finding, line.is_needed, found.words.size(), {}});
        for (const KnownResult& result : results) {
            auto& elements = barrier.elements.emplace_back();
            elements.resize(painted_elements(result), Dependence::unknown);
            mark(elements, result, found.words, Dependence::none);
            mark(elements, result, line.words, Dependence::depends);
        }
    }
}

/// What the launches leave in memory.
void take_results(NeededBarriers& all, const std::stop_token& stop) {
    const Replica replica = make_replica(*all.launch, compute::usual_emulator_memory(), stop);
    replica.experiment->launch_kernel();
    all.places = replica.experiment->places();
    for (const KnownResult& result : replica.experiment->results()) {
        const std::size_t elements = painted_elements(result);
        launches::Array values(result.type, elements ? result.shape : std::vector<std::size_t>{0});
        replica.device->download(values.bytes.data(), result.address, values.bytes.size());
        all.results.push_back({result.name, result.is_picture, std::move(values)});
    }
}

}  // namespace

std::vector<emulator::Finding> NeededBarriers::findings() const {
    std::vector<emulator::Finding> all;
    for (const Barrier& barrier : barriers) all.push_back(barrier.finding);
    return all;
}

NeededBarriers find_needed(std::shared_ptr<const LaunchState> launch,
                           std::chrono::milliseconds time, std::stop_token stop,
                           std::shared_ptr<compute::LaunchProgress> progress) {
    NeededBarriers all;
    all.launch = std::move(launch);
    const LaunchState& state = *all.launch;
    try {
        for (const std::string& name : kernels_of(state, stop)) {
            Specimen specimen(state, compute::usual_emulator_memory(), stop, {}, name);
            const emulator::NecessityCheck check{.time = time,
                                                 .stop = stop,
                                                 .progress = progress,
                                                 .judge = expected_words(specimen, state, stop)};
            add_barriers(all, specimen, check.run(specimen.machine(), specimen.launch()));
        }
        if (!all.barriers.empty()) take_results(all, stop);
    } catch (const emulator::Error&) {
        // The other checks report a launch that fails.
    } catch (const compute::DeviceError&) {
        // So they do here; or the run was stopped.
    }
    return all;
}

}  // namespace warpscope::experiments
