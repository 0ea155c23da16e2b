// Source: CUDA Runtime API, "Texture Object Management", "Surface Object Management".
#include <cstddef>
#include <cstring>

#include "programs/runtime_api/arrays.h"

using namespace warpscope::programs;

namespace {

using warpscope::emulator::Texture;

struct ResourceDescription {  // cudaResourceDesc
    int type;                 ///< cudaResourceType
    union {
        const Array* array;
        struct {
            void* pointer;
            ChannelFormat format;
            std::size_t bytes;
        } linear;
        struct {
            void* pointer;
            ChannelFormat format;
            std::size_t width, height, pitch;
        } rows;
        int reserved[32];
    };
    unsigned flags;
};
enum ResourceType { array_type, mipmap_type, linear_type, rows_type };

struct TextureDescription {  // cudaTextureDesc, as far as it has a meaning without mipmaps
    std::array<int, 3> address;
    int filter, read_mode, srgb;
    std::array<float, 4> border;
    int normalized_coordinates;
    unsigned anisotropy;
    int mipmap_filter;
    float mipmap_bias, mipmap_least, mipmap_most;
    int no_trilinear_optimization, seamless_cubemap;
};

Texture image_of(Gpu& gpu, const ResourceDescription& r) {
    switch (r.type) {
        case array_type:
            return Arrays::image_of(gpu.arrays().checked(r.array));
        case linear_type:
            return Arrays::image_of(address(r.linear.pointer), element_format(r.linear.format),
                                    r.linear.bytes);
        case rows_type:
            return Arrays::image_of(address(r.rows.pointer), element_format(r.rows.format),
                                    r.rows.width, r.rows.height, r.rows.pitch);
        default:
            throw CallError(Status::not_supported, "mipmaps are not supported");
    }
}

/// The bytes of a structure of the program: later versions of CUDA have appended members.
std::size_t bytes_in_program(const ResourceDescription&) {
    constexpr std::size_t until_12 = 64;
    return runtime_version() < 13000 ? until_12 : sizeof(ResourceDescription);
}
std::size_t bytes_in_program(const TextureDescription& t) {
    return runtime_version() < 12000 ? offsetof(TextureDescription, seamless_cubemap) : sizeof t;
}

template <class T>
std::vector<std::byte> bytes_of_program(const T& structure) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&structure);
    return {bytes, bytes + bytes_in_program(structure)};
}

Status describe(const char* function, void* to, std::uint64_t object, std::size_t which) {
    return runtime_call(function, [&](Gpu& gpu) {
        const std::vector<std::byte>& bytes = gpu.arrays().description_of(object).at(which);
        std::memcpy(to, bytes.data(), bytes.size());
    });
}

}  // namespace

WARPSCOPE_RUNTIME(cudaCreateTextureObject, std::uint64_t* object, const ResourceDescription* r,
                  const TextureDescription* t, const void* view) {
    return runtime_call(__func__, [&](Gpu& gpu) {
        demand(!view, Status::not_supported, "views of a resource are not supported");
        *object = gpu.arrays().create_object(
            Arrays::sampled(image_of(gpu, *r),
                            {.address = t->address,
                             .filter = t->filter,
                             .normalized_coordinates = t->normalized_coordinates != 0,
                             .normalized_numbers = t->read_mode == 1,
                             .srgb = t->srgb != 0,
                             .border = t->border}),
            {bytes_of_program(*r), bytes_of_program(*t)});
    });
}
WARPSCOPE_RUNTIME(cudaCreateSurfaceObject, std::uint64_t* object, const ResourceDescription* r) {
    return runtime_call(__func__, [&](Gpu& gpu) {
        demand(r->type == array_type, Status::invalid_value, "a surface is made of an array");
        *object = gpu.arrays().create_object(image_of(gpu, *r), {bytes_of_program(*r)});
    });
}
WARPSCOPE_RUNTIME(cudaDestroyTextureObject, std::uint64_t object) {
    return runtime_call(__func__, [&](Gpu& gpu) { gpu.arrays().destroy_object(object); });
}
WARPSCOPE_RUNTIME(cudaDestroySurfaceObject, std::uint64_t object) {
    return runtime_call(__func__, [&](Gpu& gpu) { gpu.arrays().destroy_object(object); });
}
WARPSCOPE_RUNTIME(cudaGetTextureObjectResourceDesc, ResourceDescription* to, std::uint64_t object) {
    return describe(__func__, to, object, 0);
}
WARPSCOPE_RUNTIME(cudaGetSurfaceObjectResourceDesc, ResourceDescription* to, std::uint64_t object) {
    return describe(__func__, to, object, 0);
}
WARPSCOPE_RUNTIME(cudaGetTextureObjectTextureDesc, TextureDescription* to, std::uint64_t object) {
    return describe(__func__, to, object, 1);
}
