#include "experiments/launch/gallery.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include "compute/device/kernel_files.h"

namespace warpscope::experiments {

using namespace launches;
namespace {

using compiler::Type;
using SharedType = std::shared_ptr<const Type>;

SharedType made(Type::Kind kind, std::string_view name, std::size_t bytes,
                std::vector<compiler::Member> members = {}) {
    return std::make_shared<const Type>(Type{.kind = kind,
                                             .name = std::string(name),
                                             .canonical = std::string(name),
                                             .bytes = bytes,
                                             .members = std::move(members),
                                             .target = {}});
}

/// The types of the gallery's parameters.
SharedType type_of(std::string_view name) {
    constexpr std::string_view to_const = "const ";
    if (name.ends_with('*')) {
        const bool is_const = name.starts_with(to_const);
        std::string_view target = name.substr(is_const ? to_const.size() : 0);
        target.remove_suffix(1);
        return std::make_shared<const Type>(Type{.kind = Type::Kind::pointer,
                                                 .name = std::string(name),
                                                 .canonical = std::string(name),
                                                 .bytes = 8,
                                                 .members = {},
                                                 .target = type_of(target),
                                                 .target_is_const = is_const});
    }
    if (name == "int") return made(Type::Kind::signed_integer, name, 4);
    if (name == "float") return made(Type::Kind::floating, name, 4);
    if (name == "float3") {
        const SharedType of = type_of("float");
        return made(Type::Kind::structure, name, 12, {{"x", 0, of}, {"y", 4, of}, {"z", 8, of}});
    }
    return made(Type::Kind::unsigned_integer, name, 4);
}

/// A kernel of a source of the gallery, with its parameters as the source declares them.
struct DeclaredKernel {
    std::string_view source, name, parameters;
};

constexpr std::string_view picture = "Pixel* pixels, int width, int height, float time";
constexpr std::string_view picture_with_mouse =
    "Pixel* pixels, int width, int height, float time, float3 mouse";

constexpr DeclaredKernel declared_kernels[] = {
    {"own", "rings", picture_with_mouse},
    {"transpose", "transpose", picture},
    {"transpose_padded", "transpose_padded", picture},
    {"blur", "blur", picture_with_mouse},
    {"shuffle", "shuffle", picture},
    {"double_buffer", "whole", "Pixel* expected, int width, int height, float time"},
    {"double_buffer", "double_buffer", picture},
    {"single_buffer", "whole", "Pixel* expected, int width, int height, float time"},
    {"single_buffer", "single_buffer", picture},
    {"histogram", "histogram", picture_with_mouse},
    {"life", "life",
     "Pixel* pixels, int width, int height, float time, float3 mouse, const Pixel* before"},
    {"pipeline_blur", "rings", "Pixel* source, int width, int height, float time"},
    {"pipeline_blur", "pipeline_blur",
     "Pixel* pixels, const Pixel* source, int width, int height, int wait"},
    {"hand_over", "hand_over", "Pixel* pixels, int width, int height, float time, int every_lane"},
    {"matrix_product", "matrices", "unsigned* a, unsigned* b, int width, int height, float time"},
    {"matrix_product", "matrix_product",
     "Pixel* pixels, const unsigned* a, const unsigned* b, int width, int height, int swizzle, "
     "int barrier"},
};

compiler::Signature signature_of(const DeclaredKernel& kernel) {
    compiler::Signature made;
    made.name = made.entry = std::string(kernel.name);
    for (std::string_view rest = kernel.parameters; !rest.empty();) {
        const std::size_t end = std::min(rest.find(", "), rest.size());
        const std::size_t space = rest.rfind(' ', end - 1);
        made.parameters.push_back(
            {std::string(rest.substr(space + 1, end - space - 1)), type_of(rest.substr(0, space))});
        rest.remove_prefix(std::min(end + 2, rest.size()));
    }
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
    static constexpr std::array<GalleryKernel, 12> kernels{{
        {"own", "Your own kernel", "Rings around the mouse: a start for a kernel of your own."},
        {"transpose", "Transpose", "A tile in shared memory exchanges rows and columns."},
        {"transpose_padded", "Transpose, padded",
         "The rows of the tile have one more word, which avoids bank conflicts."},
        {"blur", "Blur", "A stencil: each block also loads a halo around its pixels."},
        {"shuffle", "Sort by shuffles", "Warps sort 32 numbers in registers, without a barrier."},
        {"double_buffer", "Double buffer", "Two tiles in shared memory, one barrier a step."},
        {"single_buffer", "Single buffer (racy)",
         "One tile, and a barrier is missing: it races, on purpose."},
        {"pipeline_blur", "Blur in a pipeline",
         "Asynchronous copies bring the next row while the threads add up the last one."},
        {"hand_over", "Hand-over by mbarriers",
         "A warp computes rows, another one draws them, without a barrier of the block."},
        {"matrix_product", "Matrix product",
         "Tensor cores multiply; a swizzle keeps the loads free of bank conflicts."},
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
    std::vector<compiler::Signature> found;
    for (const DeclaredKernel& kernel : declared_kernels)
        if (kernel.source == file.source.stem().string()) found.push_back(signature_of(kernel));
    return found;
}

}  // namespace warpscope::experiments
