#pragma once

#include <cstddef>
#include <vector>

namespace warpscope::experiments {

/// The bodies that one rank owns: `count` of them, from body `begin` on.
struct BodyShare {
    std::size_t begin = 0, count = 0;
    bool operator==(const BodyShare&) const = default;
};

/// The share of a rank: shares follow each other in the order of the ranks, and their sizes differ
/// by at most one. With more ranks than bodies some ranks own none.
constexpr BodyShare share_of(std::size_t bodies, std::size_t ranks, std::size_t rank) {
    const std::size_t begin = bodies * rank / ranks;
    return {begin, bodies * (rank + 1) / ranks - begin};
}

/// Where each share begins in an array with `bytes` for each body, and behind them its end.
inline std::vector<std::size_t> byte_bounds(std::size_t bodies, std::size_t ranks,
                                            std::size_t bytes) {
    std::vector<std::size_t> bounds;
    for (std::size_t rank = 0; rank < ranks; ++rank)
        bounds.push_back(share_of(bodies, ranks, rank).begin * bytes);
    bounds.push_back(bodies * bytes);
    return bounds;
}

}  // namespace warpscope::experiments
