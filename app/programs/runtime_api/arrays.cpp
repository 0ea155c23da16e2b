// Source: CUDA Runtime API, "Memory Management": arrays, and copies in three dimensions.
// Source: CUDA Runtime API, "Texture Object Management", "Surface Object Management".
#include "programs/runtime_api/arrays.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <variant>

namespace warpscope::programs {

namespace {

using Numbers = emulator::Texture::Numbers;
constexpr Numbers numbers_of_kind[] = {Numbers::signed_, Numbers::unsigned_, Numbers::float_};

}  // namespace

Direction direction_of(int kind) {  // cudaMemcpyKind
    demand(kind >= 0 && kind <= 4, Status::runtime_invalid_direction, "an unknown direction");
    return Direction(kind);
}

ElementFormat element_format(const ChannelFormat& format) {
    demand(format.kind >= 0 && format.kind < int(std::size(numbers_of_kind)), Status::not_supported,
           "channels that are neither integers nor floats are not supported");
    const int channels[] = {format.x, format.y, format.z, format.w};
    const auto count = unsigned(std::ranges::count_if(channels, [](int bits) { return bits > 0; }));
    for (unsigned i = 0; i < count; ++i)
        demand(channels[i] == format.x, Status::invalid_value, "channels have different sizes");
    return {numbers_of_kind[format.kind], unsigned(format.x) / 8, count};
}

namespace {

ChannelFormat channel_format(const ElementFormat& format) {
    int bits[4] = {};
    std::fill_n(bits, format.channels, int(format.bytes * 8));
    const auto kind = std::ranges::find(numbers_of_kind, format.numbers) - numbers_of_kind;
    return {bits[0], bits[1], bits[2], bits[3], int(kind)};
}

}  // namespace

void copy_3d(Gpu& gpu, const Copy3d& c, Stream& stream, Return returns) {
    const Array* const any = c.from_array ? c.from_array : c.to_array;
    // Where an array takes part, the width counts its elements.
    const std::size_t width =
        c.extent.width * (any ? gpu.arrays().checked(any).format.element_bytes() : 1);
    const auto at = [&](const Array* array, const PitchedPointer& p, const Position& position,
                        std::size_t z) -> Rows {
        if (array)
            return gpu.arrays().checked(array).rows_at(position.x * array->format.element_bytes(),
                                                       position.y, position.z + z, width,
                                                       c.extent.height);
        return {
            address(p.pointer) + position.x + p.pitch * (position.y + p.height * (position.z + z)),
            p.pitch};
    };
    for (std::size_t z = 0; z < c.extent.depth; ++z)
        gpu.copy_rows(at(c.to_array, c.to, c.to_position, z),
                      at(c.from_array, c.from, c.from_position, z), width, c.extent.height,
                      direction_of(c.kind), stream, returns);
}

}  // namespace warpscope::programs

using namespace warpscope::programs;

namespace {

Status create(const char* function, Array** array, const ChannelFormat* format, Extent extent,
              unsigned flags) {
    return runtime_call(function, [&](Gpu& gpu) {
        *array = gpu.arrays().create({.format = element_format(*format),
                                      .width = extent.width,
                                      .height = extent.height,
                                      .depth = extent.depth,
                                      .flags = flags});
    });
}

/// A place in an array: a byte of a row.
struct PlaceInArray {
    const Array* array;
    std::size_t byte, row;
};

Status copy_2d(const char* function, std::variant<PlaceInArray, Rows> to,
               std::variant<PlaceInArray, Rows> from, std::size_t width, std::size_t height,
               int kind, StreamHandle stream, Return returns) {
    return runtime_call(function, [&](Gpu& gpu) {
        const auto rows = [&](const std::variant<PlaceInArray, Rows>& side) {
            if (const auto* const place = std::get_if<PlaceInArray>(&side))
                return gpu.arrays()
                    .checked(place->array)
                    .rows_at(place->byte, place->row, 0, width, height);
            return std::get<Rows>(side);
        };
        gpu.copy_rows(rows(to), rows(from), width, height, direction_of(kind), stream_of(stream),
                      returns);
    });
}

/// A copy of bytes in their order, from one row to the next: rows have no gap between them.
Status copy_bytes(const char* function, PlaceInArray place, const void* other, bool into_array,
                  std::size_t bytes, int kind, StreamHandle stream, Return returns) {
    return runtime_call(function, [&](Gpu& gpu) {
        const Array& array = gpu.arrays().checked(place.array);
        const std::size_t begin = place.row * array.row_bytes() + place.byte;
        demand(begin + bytes <= array.bytes(), Status::invalid_value,
               "a copy beyond the end of an array");
        const Address inside = array.memory + begin;
        gpu.copy(into_array ? inside : address(other), into_array ? address(other) : inside, bytes,
                 direction_of(kind), stream_of(stream), returns);
    });
}

}  // namespace

WARPSCOPE_API(ChannelFormat, cudaCreateChannelDesc, cudaCreateChannelDesc, int x, int y, int z,
              int w, int kind) {
    return {x, y, z, w, kind};
}
WARPSCOPE_RUNTIME(cudaGetChannelDesc, ChannelFormat* format, const Array* array) {
    return runtime_call(
        __func__, [&](Gpu& gpu) { *format = channel_format(gpu.arrays().checked(array).format); });
}
WARPSCOPE_RUNTIME(cudaMallocArray, Array** array, const ChannelFormat* format, std::size_t width,
                  std::size_t height, unsigned flags) {
    return create(__func__, array, format, {width, height, 0}, flags);
}
WARPSCOPE_RUNTIME(cudaMalloc3DArray, Array** array, const ChannelFormat* format, Extent extent,
                  unsigned flags) {
    return create(__func__, array, format, extent, flags);
}
WARPSCOPE_RUNTIME(cudaFreeArray, Array* array) {
    return runtime_call(__func__, [&](Gpu& gpu) {
        if (array) gpu.arrays().destroy(array);
    });
}
WARPSCOPE_RUNTIME(cudaArrayGetInfo, ChannelFormat* format, Extent* extent, unsigned* flags,
                  const Array* array) {
    return runtime_call(__func__, [&](Gpu& gpu) {
        const Array& a = gpu.arrays().checked(array);
        if (format) *format = channel_format(a.format);
        if (extent) *extent = {a.width, a.height, a.depth};
        if (flags) *flags = a.flags;
    });
}
WARPSCOPE_RUNTIME(cudaMallocMipmappedArray, void**, const ChannelFormat*, Extent, unsigned,
                  unsigned) {
    return runtime_call(__func__, [](Gpu&) {
        throw CallError(Status::not_supported, "mipmaps are not supported");
    });
}

WARPSCOPE_RUNTIME(cudaMemcpyToArray, Array* to, std::size_t byte, std::size_t row, const void* from,
                  std::size_t bytes, int kind) {
    return copy_bytes(__func__, {to, byte, row}, from, true, bytes, kind, nullptr,
                      Return::when_done);
}
WARPSCOPE_RUNTIME(cudaMemcpyToArrayAsync, Array* to, std::size_t byte, std::size_t row,
                  const void* from, std::size_t bytes, int kind, StreamHandle stream) {
    return copy_bytes(__func__, {to, byte, row}, from, true, bytes, kind, stream, Return::at_once);
}
WARPSCOPE_RUNTIME(cudaMemcpyFromArray, void* to, const Array* from, std::size_t byte,
                  std::size_t row, std::size_t bytes, int kind) {
    return copy_bytes(__func__, {from, byte, row}, to, false, bytes, kind, nullptr,
                      Return::when_done);
}
WARPSCOPE_RUNTIME(cudaMemcpyFromArrayAsync, void* to, const Array* from, std::size_t byte,
                  std::size_t row, std::size_t bytes, int kind, StreamHandle stream) {
    return copy_bytes(__func__, {from, byte, row}, to, false, bytes, kind, stream, Return::at_once);
}
WARPSCOPE_RUNTIME(cudaMemcpy2DToArray, Array* to, std::size_t byte, std::size_t row,
                  const void* from, std::size_t pitch, std::size_t width, std::size_t height,
                  int kind) {
    return copy_2d(__func__, PlaceInArray{to, byte, row}, Rows{address(from), pitch}, width, height,
                   kind, nullptr, Return::when_done);
}
WARPSCOPE_RUNTIME(cudaMemcpy2DToArrayAsync, Array* to, std::size_t byte, std::size_t row,
                  const void* from, std::size_t pitch, std::size_t width, std::size_t height,
                  int kind, StreamHandle stream) {
    return copy_2d(__func__, PlaceInArray{to, byte, row}, Rows{address(from), pitch}, width, height,
                   kind, stream, Return::at_once);
}
WARPSCOPE_RUNTIME(cudaMemcpy2DFromArray, void* to, std::size_t pitch, const Array* from,
                  std::size_t byte, std::size_t row, std::size_t width, std::size_t height,
                  int kind) {
    return copy_2d(__func__, Rows{address(to), pitch}, PlaceInArray{from, byte, row}, width, height,
                   kind, nullptr, Return::when_done);
}
WARPSCOPE_RUNTIME(cudaMemcpy2DFromArrayAsync, void* to, std::size_t pitch, const Array* from,
                  std::size_t byte, std::size_t row, std::size_t width, std::size_t height,
                  int kind, StreamHandle stream) {
    return copy_2d(__func__, Rows{address(to), pitch}, PlaceInArray{from, byte, row}, width, height,
                   kind, stream, Return::at_once);
}
WARPSCOPE_RUNTIME(cudaMemcpy2DArrayToArray, Array* to, std::size_t to_byte, std::size_t to_row,
                  const Array* from, std::size_t from_byte, std::size_t from_row, std::size_t width,
                  std::size_t height, int kind) {
    return copy_2d(__func__, PlaceInArray{to, to_byte, to_row},
                   PlaceInArray{from, from_byte, from_row}, width, height, kind, nullptr,
                   Return::when_done);
}
WARPSCOPE_RUNTIME(cudaMemcpy3D, const Copy3d* c) {
    return runtime_call(__func__,
                        [&](Gpu& gpu) { copy_3d(gpu, *c, stream_of(nullptr), Return::when_done); });
}
WARPSCOPE_RUNTIME(cudaMemcpy3DAsync, const Copy3d* c, StreamHandle stream) {
    return runtime_call(__func__,
                        [&](Gpu& gpu) { copy_3d(gpu, *c, stream_of(stream), Return::at_once); });
}

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
WARPSCOPE_BOTH(cudaDestroyTextureObject, cuTexObjectDestroy, , (std::uint64_t object),
               gpu.arrays().destroy_object(object))
WARPSCOPE_BOTH(cudaDestroySurfaceObject, cuSurfObjectDestroy, , (std::uint64_t object),
               gpu.arrays().destroy_object(object))
WARPSCOPE_RUNTIME(cudaGetTextureObjectResourceDesc, ResourceDescription* to, std::uint64_t object) {
    return describe(__func__, to, object, 0);
}
WARPSCOPE_RUNTIME(cudaGetSurfaceObjectResourceDesc, ResourceDescription* to, std::uint64_t object) {
    return describe(__func__, to, object, 0);
}
WARPSCOPE_RUNTIME(cudaGetTextureObjectTextureDesc, TextureDescription* to, std::uint64_t object) {
    return describe(__func__, to, object, 1);
}
