#include "experiments/sums/sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "compute/helper/helpers.h"

namespace warpscope::experiments {

double float_error_bound(double roundings) {
    constexpr double unit = 0x1p-24;
    return roundings * unit / (1.0 - roundings * unit);
}

double library_error_bound(const compute::Device& device, std::int64_t n) {
    const double threads = 256.0 * std::max(device.info().multiprocessors, 1);
    return float_error_bound(std::ceil(double(n) / threads) + 64);
}

int tree_steps(unsigned elements) {
    return std::bit_width(std::max(elements, 1u) - 1);
}

GpuSizedGrid::GpuSizedGrid(const compute::DeviceInfo& device, std::int64_t n, unsigned wanted_block,
                           unsigned threads)
    : block((wanted_block + 31) / 32 * 32) {
    constexpr unsigned most_blocks = 32;  // on one multiprocessor
    constexpr int loads = 4, load_elements = 4;
    const std::int64_t tile = std::int64_t(loads) * block;  // loads
    const std::int64_t tiles = std::max<std::int64_t>(1, (n / load_elements + tile - 1) / tile);
    const std::int64_t wanted = std::int64_t(std::max(device.multiprocessors, 1)) *
                                std::clamp(threads / block, 1U, most_blocks);
    blocks = unsigned(std::min(tiles, wanted));
    // A term is added to the other elements of its load (2), to the sums of the other tiles, and to
    // those of the other loads. The remainder of the last tile costs 2. Then come a tree of lanes
    // and a tree of warps; the steps of each are rounded up.
    const double of_a_thread = 2 + std::ceil(double(tiles) / blocks) + (loads - 1) + 2;
    const double of_a_block = tree_steps(block) + 1;
    additions = of_a_thread + of_a_block;
    last_additions = std::ceil(double(blocks) / block) + of_a_block;
}

void require_memory(const compute::Device& device, std::int64_t n, double bytes_per_element) {
    const double needed = double(n) * bytes_per_element;
    const double there = double(device.info().memory_bytes);
    if (needed <= there) return;
    throw compute::OutOfMemory(
        fmt::format("n = {} needs {:.1f} GiB and the device has {:.1f} GiB: choose at most {}", n,
                    needed / 0x1p30, there / 0x1p30, std::int64_t(there / bytes_per_element)));
}

std::unique_ptr<compute::EmulatedDevice> emulator_like(const compute::Device& device,
                                                       std::string reason,
                                                       std::size_t memory_bytes) {
    compute::LaunchLimits limits;
    if (!device.edits().empty()) limits = compute::usual_limits();
    limits.stop = device.launch_limits().stop;
    return compute::make_emulated_device({std::move(reason), memory_bytes, device.settings(),
                                          device.edits(), limits, device.progress()});
}

namespace {

/// Returns "dot.cu:64" for "kernels/dot.cu:64".
std::string short_place(const std::string& place) {
    const std::size_t slash = place.rfind('/');
    return place.substr(slash == std::string::npos ? 0 : slash + 1);
}

std::vector<Tree::Row> rows_by_barrier(const std::vector<compute::BarrierMoment>& moments,
                                       std::size_t elements, unsigned threads_per_element) {
    std::vector<Tree::Row> rows;
    for (const compute::BarrierMoment& moment : moments) {
        Tree::Row row;
        row.label = files::sentence("barrier {}, {}", rows.size() + 1, short_place(moment.barrier));
        row.values.resize(std::min(elements, moment.shared.size() / sizeof(float)));
        std::memcpy(row.values.data(), moment.shared.data(), row.values.size() * sizeof(float));
        row.active.resize(row.values.size());
        for (const std::uint32_t thread : moment.stored)
            if (thread / threads_per_element < row.active.size())
                row.active[thread / threads_per_element] = true;
        for (const auto& [from, to] : moment.flows) {
            const std::pair<unsigned, unsigned> edge(from / sizeof(float), to / sizeof(float));
            if (std::max(edge.first, edge.second) < row.values.size()) row.edges.push_back(edge);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

/// Returns for each store its number among the stores of its thread, counted from 0.
std::vector<std::size_t> passes_of(const std::vector<compute::TracedStore>& stores) {
    std::map<std::uint32_t, std::size_t> counts;
    std::vector<std::size_t> passes;
    for (const compute::TracedStore& store : stores) passes.push_back(counts[store.thread]++);
    return passes;
}

void add(Tree::Row& row, const compute::TracedStore& store, std::size_t pass) {
    const auto to = unsigned(store.address / sizeof(float));
    if (to >= row.values.size()) return;
    if (row.label.empty())
        row.label = pass == 0 ? files::sentence("stores, {}", short_place(store.place))
                              : files::sentence("pass {}, {}", pass, short_place(store.place));
    row.values[to] = store.value;
    row.active[to] = true;
    for (const compute::TracedLoad& load : store.loads) {
        const auto from = unsigned(load.address / sizeof(float));
        if (from >= row.values.size()) continue;
        row.edges.emplace_back(from, to);
        row.racing.push_back(load.races);
    }
}

std::vector<Tree::Row> rows_by_pass(const std::vector<compute::TracedStore>& stores,
                                    const std::vector<std::size_t>& passes, std::size_t elements) {
    const std::size_t count = 1 + *std::max_element(passes.begin(), passes.end());
    std::vector<Tree::Row> rows;
    for (std::size_t pass = 0; pass < count; ++pass) {
        Tree::Row row;
        row.values = pass == 0 ? std::vector<float>(elements) : rows.back().values;
        row.active.resize(elements);
        for (std::size_t i = 0; i < stores.size(); ++i)
            if (passes[i] == pass) add(row, stores[i], pass);
        rows.push_back(std::move(row));
    }
    return rows;
}

/// The rows of a tree of the first `elements` floats of a block's shared memory. Thread
/// `threads_per_element` * i writes element i. There is a row for each barrier; where barriers are
/// missing, for each pass: the threads' first stores, their second stores, and so on.
std::vector<Tree::Row> tree_rows(const compute::SharedMemoryTrace& trace, std::size_t elements,
                                 unsigned threads_per_element = 1) {
    const std::vector<std::size_t> passes = passes_of(trace.stores);
    const bool missing =
        threads_per_element == 1 && !passes.empty() &&
        1 + *std::max_element(passes.begin(), passes.end()) > trace.barriers.size();
    return missing ? rows_by_pass(trace.stores, passes, elements)
                   : rows_by_barrier(trace.barriers, elements, threads_per_element);
}

}  // namespace

Tree sum_tree(const compute::SharedMemoryTrace& trace, std::size_t threads, std::string_view array,
              std::string_view kernel, const std::string& sample) {
    const bool by_warp = array.empty();
    Tree tree{{}, by_warp ? tree_rows(trace, (threads + 31) / 32, 32) : tree_rows(trace, threads)};
    const files::Sentence what = by_warp ? files::sentence("Warp sums") : files::Sentence(array);
    const bool by_pass = std::any_of(tree.rows.begin(), tree.rows.end(),
                                     [](const Tree::Row& row) { return !row.racing.empty(); });
    if (sample.empty())
        tree.title = files::sentence(
            by_pass
                ? files::Form<2>("{} of block 0, kernel {}, as the emulator runs it, by pass; red "
                                 "reads race")
                : files::Form<2>("{} of block 0, kernel {}, as the emulator runs it"),
            what, kernel);
    else
        tree.title = files::sentence(
            by_pass ? files::Form<3>("{} of block 0, kernel {}, as the emulator runs it, {}, by "
                                     "pass; red reads race")
                    : files::Form<3>("{} of block 0, kernel {}, as the emulator runs it, {}"),
            what, kernel, sample);
    return tree;
}

}  // namespace warpscope::experiments
