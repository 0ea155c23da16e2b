#include "compute/device/moved_kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/device/kernel_images.h"
#include "compute/device/kernel_source.h"

namespace warpscope::compute {
namespace {

using Names = std::vector<std::string_view>;

/// Each row lists the kernel files that were once one file.
const std::vector<Names>& families() {
    static const std::vector<Names> all{
        {"ripple", "ripple_layouts", "ripple_stamped", "ripple_compare"},
        {"dot", "dot_ladder"},
        {"reduce", "reduce_ladder"},
        {"nbody", "nbody_ladder"}};
    return all;
}

bool has(const Names& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// The names of the kernels that a PTX text defines.
Names kernels_of(std::string_view ptx) {
    constexpr std::string_view entry = ".visible .entry ";
    Names names;
    for (std::size_t at = ptx.find(entry); at != std::string_view::npos; at = ptx.find(entry, at)) {
        at += entry.size();
        names.push_back(ptx.substr(at, ptx.find('(', at) - at));
    }
    return names;
}

}  // namespace

std::vector<std::string> moved_kernels(std::string_view file, std::string_view ptx) {
    std::vector<std::string> sentences;
    const auto family = std::find_if(families().begin(), families().end(),
                                     [&](const Names& names) { return has(names, file); });
    if (family == families().end()) return sentences;
    const Names defined = kernels_of(ptx);
    for (const std::string_view other : *family) {
        if (other == file) continue;
        const Names shipped = kernels_of(kernel_ptx(other, Math::precise));
        Names moved;
        std::copy_if(defined.begin(), defined.end(), std::back_inserter(moved),
                     [&](std::string_view name) { return has(shipped, name); });
        if (moved.empty()) continue;
        const std::string more =
            moved.size() == 1 ? "" : fmt::format(" and {} more of this text", moved.size() - 1);
        sentences.push_back(fmt::format("Warpscope runs {}{} from {}: put what you changed there",
                                        moved.front(), more, kernel_path(other)));
    }
    return sentences;
}

}  // namespace warpscope::compute
