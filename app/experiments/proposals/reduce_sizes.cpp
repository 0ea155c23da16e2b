#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "experiments/proposals/proposal.h"

// Sizes that become smaller.
namespace warpscope::experiments {
namespace {

/// Numbers of the host program above these become smaller: in one dimension and in each of two.
constexpr std::int64_t long_line = 4096, long_side = 512;

}  // namespace

/// Whether all threads and buffers above the limit depend on one of these scalars.
bool Proposal::is_reducible(const std::set<std::string>& scalars) const {
    const std::vector<std::string> names(scalars.begin(), scalars.end());
    const Names known = numbers();
    const auto is_large = [&](const Texts& sizes) {
        double product = 1;
        for (const Expression& size : sizes) product *= real(size.value(known));
        const bool depends = std::ranges::any_of(
            sizes, [&](const Expression& size) { return depends_on(file(), size, names); });
        return product > double(long_line) && !depends;
    };
    try {
        for (const BufferSpec& buffer : file().buffers)
            if (is_large(buffer.shape)) return false;
        for (std::size_t l = 0; l < file().launches.size(); ++l) {
            const LaunchSpec& launch = file().launches[l];
            Texts threads = launch.grid;
            threads.insert(threads.end(), launch.block.begin(), launch.block.end());
            if (!takes_any_grid_[l] && is_large(threads)) return false;
        }
    } catch (const LaunchError&) {
        return false;
    }
    return true;
}

void Proposal::reduce(const std::set<std::string>& device_words) {
    const bool squares = std::ranges::any_of(
        file().launches, [](const LaunchSpec& launch) { return launch.block.size() > 1; });
    const std::int64_t limit = squares ? long_side : long_line;
    std::set<std::string> large;
    for (const auto& [name, value] : file().scalars) {
        const auto* const number = std::get_if<Number>(&value);
        const auto* const integer = number ? std::get_if<std::int64_t>(number) : nullptr;
        const auto origin = origins_.find(name);
        if (!integer || *integer <= limit || origin == origins_.end()) continue;
        const bool on_device = std::ranges::any_of(origin->second, [&](const std::string& name) {
            const std::string word = name.substr(0, name.find('$'));
            return program_.of_file.contains(name) && device_words.contains(word);
        });
        if (!on_device) large.insert(name);
    }
    if (large.empty() || !is_reducible(large)) return;
    std::int64_t step = limit / 4;  // a multiple of most blocks
    const Names known = numbers();
    for (const LaunchSpec& launch : file().launches)
        if (const std::int64_t block = std::int64_t(real(launch.block[0].value(known)));
            block > 0 && step % block != 0)
            step = std::min(limit, std::lcm(block, std::int64_t(32)));
    const auto before = file().scalars;
    for (auto& [name, value] : file().scalars) {
        if (!large.contains(name)) continue;
        const std::int64_t was = std::get<std::int64_t>(std::get<Number>(value));
        const std::int64_t whole = limit / step * step;
        const std::int64_t smaller = was % step == 0 ? whole : whole - step + was % step;
        value = Number(smaller);
        made_.reduced.push_back(
            fmt::format("{} is {}, the host program has {}", name, smaller, was));
    }
    if (!keep_overflows(known, numbers())) {
        file().scalars = before;
        made_.reduced.clear();
    }
}

/// Looks for buffers of a fixed size that have fewer elements than the host program has blocks, and
/// enough for the blocks that are left. False: the program is small enough to run it as it is; else
/// they are listed.
bool Proposal::keep_overflows(const Names& before, const Names& now) {
    constexpr double most_threads = double(1 << 22);
    const auto product = [](const Texts& sizes, const Names& names) {
        double all = 1;
        for (const Expression& size : sizes) all *= real(size.value(names));
        return all;
    };
    for (const LaunchSpec& launch : file().launches)
        for (const BufferSpec& buffer : file().buffers) {
            const double elements = product(buffer.shape, before);
            const double blocks = product(launch.grid, before);
            if (elements <= 1 || elements >= blocks || elements != product(buffer.shape, now) ||
                elements < product(launch.grid, now))
                continue;
            if (blocks * product(launch.block, before) <= most_threads) return false;
            made_.reduced.push_back(fmt::format(
                "{} keeps its {} elements, and the host program has {} blocks of {}", buffer.name,
                std::int64_t(elements), std::int64_t(blocks), launch.kernel));
        }
    return true;
}

}  // namespace warpscope::experiments
