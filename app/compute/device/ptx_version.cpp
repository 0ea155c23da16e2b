#include "compute/device/ptx_version.h"

#include <fmt/format.h>

#include <charconv>

namespace warpscope::compute {
namespace {

/// Ten times the PTX ISA version that came with a release of CUDA, 11.0 or newer.
int isa_of(int major, int minor) {
    constexpr int of_cuda_12[] = {80, 81, 82, 83, 84, 85, 85, 86, 87, 88};
    if (major == 11) return 70 + minor;
    if (major == 12 && minor < int(std::size(of_cuda_12))) return of_cuda_12[minor];
    return 90 + 10 * (major - 13) + minor;
}

}  // namespace

std::string ptx_for_driver(std::string_view ptx, int driver_version) {
    const std::size_t at = ptx.find(".version ");
    if (at == std::string_view::npos) return std::string(ptx);
    const std::size_t begin = at + std::string_view(".version ").size();
    const std::size_t end = ptx.find_first_of("\r\n", begin);
    const std::string_view number = ptx.substr(begin, end - begin);
    const std::size_t dot = number.find('.');
    int major = 0, minor = 0;
    if (dot == std::string_view::npos) return std::string(ptx);
    std::from_chars(number.data(), number.data() + dot, major);
    std::from_chars(number.data() + dot + 1, number.data() + number.size(), minor);
    const int known = isa_of(driver_version / 1000, driver_version % 1000 / 10);
    if (10 * major + minor <= known) return std::string(ptx);
    return fmt::format("{}{}.{}{}", ptx.substr(0, begin), known / 10, known % 10,
                       end == std::string_view::npos ? "" : ptx.substr(end));
}

}  // namespace warpscope::compute
