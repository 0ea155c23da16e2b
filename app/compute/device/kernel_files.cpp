#include "compute/device/kernel_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/device/device.h"
#include "files/uncompressed.h"

namespace warpscope::compute {

std::string kernel_path(std::string_view file) {
    return fmt::format("kernels/{}.cu", file);
}

std::string kernel_file(std::string_view path) {
    constexpr std::string_view folder = "kernels/", end = ".cu";
    if (!path.starts_with(folder) || !path.ends_with(end)) return {};
    path.remove_prefix(folder.size());
    path.remove_suffix(std::min(path.size(), end.size()));
    return std::string(path);
}

namespace {

std::string name_of_image(std::string_view file, Math math, std::string_view extension) {
    return fmt::format("{}/{}.{}", math == Math::fast ? "fast" : "precise", file, extension);
}

}  // namespace

std::string_view kernel_ptx(std::string_view file, Math math) {
    const auto name = name_of_image(file, math, "ptx");
    const std::string_view image = embedded_kernel_image(name);
    if (image.empty()) throw DeviceError(fmt::format("the app has no kernel image {}", name));
    return files::uncompressed(image);
}

std::string_view kernel_binary(std::string_view file, Math math) {
    return embedded_kernel_image(name_of_image(file, math, "fatbin"));
}

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
