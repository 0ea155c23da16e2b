// Source: CUDA Runtime API, "Memory Management": arrays, and copies in three dimensions.
#include "programs/runtime_api/arrays.h"

#include <algorithm>
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

ChannelFormat channel_format(const ElementFormat& format) {
    int bits[4] = {};
    std::fill_n(bits, format.channels, int(format.bytes * 8));
    const auto kind = std::ranges::find(numbers_of_kind, format.numbers) - numbers_of_kind;
    return {bits[0], bits[1], bits[2], bits[3], int(kind)};
}

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
struct Place {
    const Array* array;
    std::size_t byte, row;
};

Status copy_2d(const char* function, std::variant<Place, Rows> to, std::variant<Place, Rows> from,
               std::size_t width, std::size_t height, int kind, StreamHandle stream,
               Return returns) {
    return runtime_call(function, [&](Gpu& gpu) {
        const auto rows = [&](const std::variant<Place, Rows>& side) {
            if (const auto* const place = std::get_if<Place>(&side))
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
Status copy_bytes(const char* function, Place place, const void* other, bool into_array,
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
    return copy_2d(__func__, Place{to, byte, row}, Rows{address(from), pitch}, width, height, kind,
                   nullptr, Return::when_done);
}
WARPSCOPE_RUNTIME(cudaMemcpy2DToArrayAsync, Array* to, std::size_t byte, std::size_t row,
                  const void* from, std::size_t pitch, std::size_t width, std::size_t height,
                  int kind, StreamHandle stream) {
    return copy_2d(__func__, Place{to, byte, row}, Rows{address(from), pitch}, width, height, kind,
                   stream, Return::at_once);
}
WARPSCOPE_RUNTIME(cudaMemcpy2DFromArray, void* to, std::size_t pitch, const Array* from,
                  std::size_t byte, std::size_t row, std::size_t width, std::size_t height,
                  int kind) {
    return copy_2d(__func__, Rows{address(to), pitch}, Place{from, byte, row}, width, height, kind,
                   nullptr, Return::when_done);
}
WARPSCOPE_RUNTIME(cudaMemcpy2DFromArrayAsync, void* to, std::size_t pitch, const Array* from,
                  std::size_t byte, std::size_t row, std::size_t width, std::size_t height,
                  int kind, StreamHandle stream) {
    return copy_2d(__func__, Rows{address(to), pitch}, Place{from, byte, row}, width, height, kind,
                   stream, Return::at_once);
}
WARPSCOPE_RUNTIME(cudaMemcpy2DArrayToArray, Array* to, std::size_t to_byte, std::size_t to_row,
                  const Array* from, std::size_t from_byte, std::size_t from_row, std::size_t width,
                  std::size_t height, int kind) {
    return copy_2d(__func__, Place{to, to_byte, to_row}, Place{from, from_byte, from_row}, width,
                   height, kind, nullptr, Return::when_done);
}
WARPSCOPE_RUNTIME(cudaMemcpy3D, const Copy3d* c) {
    return runtime_call(__func__,
                        [&](Gpu& gpu) { copy_3d(gpu, *c, stream_of(nullptr), Return::when_done); });
}
WARPSCOPE_RUNTIME(cudaMemcpy3DAsync, const Copy3d* c, StreamHandle stream) {
    return runtime_call(__func__,
                        [&](Gpu& gpu) { copy_3d(gpu, *c, stream_of(stream), Return::at_once); });
}
