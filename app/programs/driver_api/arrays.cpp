// Source: CUDA Driver API, "Memory Management": arrays and copies with them, "Texture Object
// Management", "Surface Object Management".
// Source: CUDA Driver API, "Tensor Map Object Management".
#include <array>
#include <cstring>

#include "emulator/async/async_copies.h"
#include "programs/driver_api/driver.h"

namespace warpscope::programs {

void copy_3d(Gpu& gpu, const Copy3dParameters& c, Stream& stream, Return returns) {
    enum MemoryType { host = 1, device = 2, array = 3 };
    const auto at = [&](const CopySide3d& side, std::size_t z) -> Rows {
        if (side.type == array)
            return gpu.arrays()
                .checked(side.array)
                .rows_at(side.x, side.y, side.z + z, c.width, c.height);
        const Address memory =
            side.type == host ? reinterpret_cast<Address>(side.host) : side.device;
        return {memory + side.x + side.pitch * (side.y + side.height * (side.z + z)), side.pitch};
    };
    const bool from_host = c.from.type == host, to_host = c.to.type == host;
    const Direction direction = from_host && to_host ? Direction::host_to_host
                                : from_host          ? Direction::host_to_device
                                : to_host            ? Direction::device_to_host
                                                     : Direction::device_to_device;
    for (std::size_t z = 0; z < c.depth; ++z)
        gpu.copy_rows(at(c.to, z), at(c.from, z), c.width, c.height, direction, stream, returns);
}

}  // namespace warpscope::programs

using namespace warpscope::programs;

namespace {

using warpscope::emulator::Texture;
using Numbers = Texture::Numbers;

// CUarray_format
struct FormatRow {
    int number;
    Numbers numbers;
    unsigned bytes;
};
constexpr FormatRow formats[] = {
    {0x01, Numbers::unsigned_, 1}, {0x02, Numbers::unsigned_, 2}, {0x03, Numbers::unsigned_, 4},
    {0x08, Numbers::signed_, 1},   {0x09, Numbers::signed_, 2},   {0x0A, Numbers::signed_, 4},
    {0x10, Numbers::float_, 2},    {0x20, Numbers::float_, 4},
};

ElementFormat element_format(int number, unsigned channels) {
    for (const FormatRow& row : formats)
        if (row.number == number) return {row.numbers, row.bytes, channels};
    throw CallError(Status::not_supported,
                    "channels that are neither integers nor floats are not supported");
}

int number_of(const ElementFormat& format) {
    for (const FormatRow& row : formats)
        if (row.numbers == format.numbers && row.bytes == format.bytes) return row.number;
    return 0;
}

struct ArrayDescription {  // CUDA_ARRAY_DESCRIPTOR
    std::size_t width, height;
    int format;
    unsigned channels;
};
struct Array3dDescription {  // CUDA_ARRAY3D_DESCRIPTOR
    std::size_t width, height, depth;
    int format;
    unsigned channels, flags;
};

Status create(const char* function, Array** array, const Array3dDescription& d) {
    return driver_call(function, [&](Gpu& gpu) {
        *array = gpu.arrays().create({.format = element_format(d.format, d.channels),
                                      .width = d.width,
                                      .height = d.height,
                                      .depth = d.depth,
                                      .flags = d.flags});
    });
}

struct ResourceDescription {  // CUDA_RESOURCE_DESC
    int type;                 ///< CUresourcetype
    union {
        const Array* array;
        struct {
            Address memory;
            int format;
            unsigned channels;
            std::size_t bytes;
        } linear;
        struct {
            Address memory;
            int format;
            unsigned channels;
            std::size_t width, height, pitch;
        } rows;
        int reserved[32];
    };
    unsigned flags;
};
enum ResourceType { array_type, mipmap_type, linear_type, rows_type };

struct TextureDescription {  // CUDA_TEXTURE_DESC
    std::array<int, 3> address;
    int filter;
    unsigned flags, anisotropy;
    int mipmap_filter;
    float mipmap_bias, mipmap_least, mipmap_most;
    std::array<float, 4> border;
    int reserved[12];
};
enum TextureFlag { read_as_integer = 1, normalized_coordinates = 2, srgb = 16 };

Texture image_of(Gpu& gpu, const ResourceDescription& r) {
    switch (r.type) {
        case array_type:
            return Arrays::image_of(gpu.arrays().checked(r.array));
        case linear_type:
            return Arrays::image_of(r.linear.memory,
                                    element_format(r.linear.format, r.linear.channels),
                                    r.linear.bytes);
        case rows_type:
            return Arrays::image_of(r.rows.memory, element_format(r.rows.format, r.rows.channels),
                                    r.rows.width, r.rows.height, r.rows.pitch);
        default:
            throw CallError(Status::not_supported, "mipmaps are not supported");
    }
}

template <class T>
Status describe(const char* function, T* to, std::uint64_t object, std::size_t which) {
    return driver_call(function, [&](Gpu& gpu) {
        std::memcpy(to, gpu.arrays().description_of(object).at(which).data(), sizeof *to);
    });
}

}  // namespace

WARPSCOPE_DRIVER(cuArrayCreate, cuArrayCreate_v2, Array** array, const ArrayDescription* d) {
    return create(__func__, array, {d->width, d->height, 0, d->format, d->channels, 0});
}
WARPSCOPE_DRIVER(cuArray3DCreate, cuArray3DCreate_v2, Array** array, const Array3dDescription* d) {
    return create(__func__, array, *d);
}
WARPSCOPE_DRIVER(cuArrayGetDescriptor, cuArrayGetDescriptor_v2, ArrayDescription* to,
                 const Array* array) {
    return driver_call(__func__, [&](Gpu& gpu) {
        const Array& a = gpu.arrays().checked(array);
        *to = {a.width, a.height, number_of(a.format), a.format.channels};
    });
}
WARPSCOPE_DRIVER(cuArray3DGetDescriptor, cuArray3DGetDescriptor_v2, Array3dDescription* to,
                 const Array* array) {
    return driver_call(__func__, [&](Gpu& gpu) {
        const Array& a = gpu.arrays().checked(array);
        *to = {a.width, a.height, a.depth, number_of(a.format), a.format.channels, a.flags};
    });
}
WARPSCOPE_DRIVER(cuArrayDestroy, cuArrayDestroy, Array* array) {
    return driver_call(__func__, [&](Gpu& gpu) { gpu.arrays().destroy(array); });
}
WARPSCOPE_DRIVER(cuMipmappedArrayCreate, cuMipmappedArrayCreate, void**, const Array3dDescription*,
                 unsigned) {
    return driver_call(__func__, [](Gpu&) {
        throw CallError(Status::not_supported, "mipmaps are not supported");
    });
}
WARPSCOPE_DRIVER(cuTexObjectCreate, cuTexObjectCreate, std::uint64_t* object,
                 const ResourceDescription* r, const TextureDescription* t, const void* view) {
    return driver_call(__func__, [&](Gpu& gpu) {
        demand(!view, Status::not_supported, "views of a resource are not supported");
        const Sampling sampling{.address = t->address,
                                .filter = t->filter,
                                .normalized_coordinates = (t->flags & normalized_coordinates) != 0,
                                .normalized_numbers = !(t->flags & read_as_integer),
                                .srgb = (t->flags & srgb) != 0,
                                .border = t->border};
        *object = gpu.arrays().create_object(Arrays::sampled(image_of(gpu, *r), sampling),
                                             {bytes_of(*r), bytes_of(*t)});
    });
}
WARPSCOPE_DRIVER(cuSurfObjectCreate, cuSurfObjectCreate, std::uint64_t* object,
                 const ResourceDescription* r) {
    return driver_call(__func__, [&](Gpu& gpu) {
        demand(r->type == array_type, Status::invalid_value, "a surface is made of an array");
        *object = gpu.arrays().create_object(image_of(gpu, *r), {bytes_of(*r)});
    });
}
WARPSCOPE_DRIVER(cuTexObjectGetResourceDesc, cuTexObjectGetResourceDesc, ResourceDescription* to,
                 std::uint64_t object) {
    return describe(__func__, to, object, 0);
}
WARPSCOPE_DRIVER(cuSurfObjectGetResourceDesc, cuSurfObjectGetResourceDesc, ResourceDescription* to,
                 std::uint64_t object) {
    return describe(__func__, to, object, 0);
}
WARPSCOPE_DRIVER(cuTexObjectGetTextureDesc, cuTexObjectGetTextureDesc, TextureDescription* to,
                 std::uint64_t object) {
    return describe(__func__, to, object, 1);
}

namespace {

using warpscope::emulator::Swizzle;
using warpscope::emulator::TensorMap;
using warpscope::emulator::Type;

/// By CUtensorMapDataType, up to CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ.
constexpr std::array<Type, 13> element_types{
    Type::u8,  Type::u16, Type::u32,  Type::s32, Type::u64,  Type::s64, Type::f16,
    Type::f32, Type::f64, Type::bf16, Type::f32, Type::tf32, Type::tf32};

void check_map(const TensorMap& map) {
    constexpr unsigned unit = 16, most_box = 256;
    constexpr std::uint64_t most_size = std::uint64_t(1) << 32, most_stride = std::uint64_t(1)
                                                                              << 40;
    demand(map.memory % unit == 0, Status::invalid_value,
           "a tensor begins at a multiple of 16 bytes");
    for (unsigned d = 0; d < map.dimensions; ++d) {
        demand(map.size[d] > 0 && map.size[d] <= most_size, Status::invalid_value,
               "a dimension of a tensor has 1 to 2^32 elements");
        demand(map.box[d] > 0 && map.box[d] <= most_box, Status::invalid_value,
               "a dimension of a box has 1 to 256 elements");
        demand(d == 0 || (map.stride[d - 1] % unit == 0 && map.stride[d - 1] < most_stride),
               Status::invalid_value, "a stride is a multiple of 16 bytes, below 2^40");
    }
    const std::uint32_t row = map.box[0] * map.element_bytes;
    demand(row % unit == 0, Status::invalid_value, "a row of a box is a multiple of 16 bytes");
    demand(map.swizzle == Swizzle::none || row <= unit << unsigned(map.swizzle),
           Status::invalid_value, "a row of a box is at most as long as the span of its swizzle");
}

}  // namespace

WARPSCOPE_DRIVER(cuTensorMapEncodeTiled, cuTensorMapEncodeTiled, void* to, unsigned type,
                 unsigned dimensions, void* memory, const std::uint64_t* size,
                 const std::uint64_t* strides, const std::uint32_t* box, const std::uint32_t* steps,
                 int interleave, unsigned swizzle, int /*promotion*/, int fill) {
    return driver_call(__func__, [&](Gpu&) {
        demand(dimensions >= 1 && dimensions <= TensorMap::most_dimensions, Status::invalid_value,
               "a tensor has 1 to 5 dimensions");
        demand(
            type < element_types.size() && swizzle <= unsigned(Swizzle::bytes_128) &&
                interleave == 0 && fill == 0,
            Status::not_supported,
            "packed elements, interleaved tensors, atoms of swizzles and a fill with NaN are not "
            "supported");
        TensorMap map;
        map.dimensions = std::uint8_t(dimensions);
        map.type = element_types[type];
        map.element_bytes = std::uint8_t(bytes_of(map.type));
        map.swizzle = Swizzle(swizzle);
        map.memory = reinterpret_cast<std::uint64_t>(memory);
        for (unsigned d = 0; d < dimensions; ++d) {
            demand(steps[d] == 1, Status::not_supported, "steps over elements are not supported");
            map.size[d] = size[d];
            map.box[d] = box[d];
            if (d > 0) map.stride[d - 1] = strides[d - 1];
        }
        check_map(map);
        std::memset(to, 0, TensorMap::bytes);
        std::memcpy(to, &map, sizeof(map));
    });
}
