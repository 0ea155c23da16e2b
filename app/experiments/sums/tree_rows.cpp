#include "experiments/sums/tree_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace warpscope::experiments {
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
        row.label = fmt::format("barrier {}, {}", rows.size() + 1, short_place(moment.barrier));
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
        row.label = fmt::format("{}, {}", pass == 0 ? "stores" : fmt::format("pass {}", pass),
                                short_place(store.place));
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
              std::string_view kernel) {
    const bool by_warp = array.empty();
    return {fmt::format("{} of block 0, kernel {}, as the emulator runs it",
                        by_warp ? "Warp sums" : array, kernel),
            by_warp ? tree_rows(trace, (threads + 31) / 32, 32) : tree_rows(trace, threads)};
}

std::string remark_on(const std::vector<Tree::Row>& rows) {
    const bool by_pass = std::any_of(rows.begin(), rows.end(),
                                     [](const Tree::Row& row) { return !row.racing.empty(); });
    return by_pass ? ", by pass; red reads race" : "";
}

}  // namespace warpscope::experiments
