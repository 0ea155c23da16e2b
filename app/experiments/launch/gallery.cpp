#include "experiments/launch/gallery.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include "compute/device/kernel_source.h"

namespace warpscope::experiments {
namespace {

using compiler::Type;
using SharedType = std::shared_ptr<const Type>;

SharedType made(Type::Kind kind, const char* name, std::size_t bytes,
                std::vector<compiler::Member> members = {}) {
    return std::make_shared<const Type>(Type{.kind = kind,
                                             .name = name,
                                             .canonical = name,
                                             .bytes = bytes,
                                             .members = std::move(members),
                                             .target = {}});
}

SharedType pointer_to(const char* name, SharedType target, bool is_const) {
    return std::make_shared<const Type>(Type{.kind = Type::Kind::pointer,
                                             .name = name,
                                             .canonical = name,
                                             .bytes = 8,
                                             .members = {},
                                             .target = std::move(target),
                                             .target_is_const = is_const});
}

SharedType int_type() {
    return made(Type::Kind::signed_integer, "int", 4);
}

SharedType float_type() {
    return made(Type::Kind::floating, "float", 4);
}

SharedType pixel_type() {
    return made(Type::Kind::unsigned_integer, "Pixel", 4);
}

/// The first parameter, `pixels` or `expected`, is the picture that the kernel draws.
compiler::Signature signature(const std::string& name, const char* picture) {
    compiler::Signature made;
    made.name = made.entry = name;
    made.parameters = {{picture, pointer_to("Pixel*", pixel_type(), false)},
                       {"width", int_type()},
                       {"height", int_type()},
                       {"time", float_type()}};
    return made;
}

using KernelWords = std::pair<std::string, std::vector<std::pair<std::string, std::size_t>>>;

std::set<KernelWords> words_of(std::span<const compiler::Signature> signatures) {
    std::set<KernelWords> all;
    for (const compiler::Signature& signature : signatures) {
        KernelWords words{signature.name, {}};
        for (const compiler::KernelParameter& parameter : signature.parameters)
            words.second.emplace_back(parameter.name, parameter.type->bytes);
        all.insert(std::move(words));
    }
    return all;
}

}  // namespace

bool equal(std::span<const compiler::Signature> a, std::span<const compiler::Signature> b) {
    return words_of(a) == words_of(b);
}

std::span<const GalleryKernel> gallery() {
    static constexpr std::array<GalleryKernel, 9> kernels{{
        {"own", "Your own kernel", "Rings around the mouse: a start for a kernel of your own."},
        {"transpose", "Transpose", "A tile in shared memory exchanges rows and columns."},
        {"transpose_padded", "Transpose, padded",
         "The rows of the tile have one more word, which avoids bank conflicts."},
        {"blur", "Blur", "A stencil: each block also loads a halo around its pixels."},
        {"shuffle", "Sort by shuffles", "Warps sort 32 numbers in registers, without a barrier."},
        {"double_buffer", "Double buffer", "Two tiles in shared memory, one barrier a step."},
        {"single_buffer", "Single buffer (racy)",
         "One tile, and a barrier is missing: it races, on purpose."},
        {"histogram", "Histogram", "Atomics in shared memory count bins."},
        {"life", "Life", "Conway's Game of Life: each frame reads the frame before."},
    }};
    return kernels;
}

bool in_gallery(std::string_view name) {
    return std::ranges::find(gallery(), name, &GalleryKernel::name) != gallery().end();
}

LaunchFile gallery_file(std::string_view name) {
    if (!in_gallery(name))
        throw LaunchError(fmt::format("the gallery has no kernel {}; --list names them", name));
    const std::string path = fmt::format("kernels/gallery/{}.launch.json", name);
    LaunchFile file = parse_launch_file(compute::kernel_source(path));
    file.file = path;
    file.built_in = true;
    return file;
}

std::vector<compiler::Signature> gallery_signatures(const LaunchFile& file) {
    const std::string name = file.source.stem().string();
    compiler::Signature kernel = signature(name == "own" ? "rings" : name, "pixels");
    constexpr std::array<std::string_view, 4> with_mouse{"own", "blur", "histogram", "life"};
    if (std::ranges::find(with_mouse, name) != with_mouse.end())
        kernel.parameters.push_back(
            {"mouse",
             made(Type::Kind::structure, "float3", 12,
                  {{"x", 0, float_type()}, {"y", 4, float_type()}, {"z", 8, float_type()}})});
    if (name == "life")
        kernel.parameters.push_back({"before", pointer_to("const Pixel*", pixel_type(), true)});
    if (name == "double_buffer" || name == "single_buffer")
        return {signature("whole", "expected"), std::move(kernel)};
    return {std::move(kernel)};
}

}  // namespace warpscope::experiments
