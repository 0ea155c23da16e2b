#include "programs/report/launch_ranges.h"

#include <charconv>

namespace warpscope::programs {

std::optional<std::vector<LaunchRange>> read_launch_ranges(const std::string& text) {
    std::vector<LaunchRange> ranges;
    const char *at = text.data(), *const end = at + text.size();
    while (at < end) {
        std::uint64_t first = 0, last = 0;
        auto [rest, error] = std::from_chars(at, end, first);
        if (error != std::errc() || first == 0) return {};
        last = first;
        if (rest < end && *rest == '-') {
            const auto second = std::from_chars(rest + 1, end, last);
            if (second.ec != std::errc() || last < first) return {};
            rest = second.ptr;
        }
        ranges.push_back({first, last});
        if (rest < end && (*rest != ',' || rest + 1 == end)) return {};
        at = rest + 1;
    }
    return ranges;
}

}  // namespace warpscope::programs
