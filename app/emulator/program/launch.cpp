#include "emulator/program/launch.h"

#include <charconv>
#include <cstddef>

namespace warpscope::emulator {

std::optional<Dim3> read_index(std::string_view text) {
    Dim3 index{0, 0, 0};
    std::uint32_t* const places[] = {&index.x, &index.y, &index.z};
    std::size_t count = 0;
    const char *at = text.data(), *const end = at + text.size();
    const auto between = [](char c) { return c == ' ' || c == ',' || c == '(' || c == ')'; };
    while (at < end) {
        if (between(*at)) {
            ++at;
            continue;
        }
        if (count == 3) return {};
        const auto [next, error] = std::from_chars(at, end, *places[count++]);
        if (error != std::errc()) return {};
        at = next;
    }
    return count > 0 ? std::optional(index) : std::nullopt;
}

}  // namespace warpscope::emulator
