// Source: CUDA Driver API, "Tensor Map Object Management".
#include <array>
#include <cstring>

#include "emulator/async/tensor_map.h"
#include "programs/driver_api/driver.h"

using namespace warpscope::programs;

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
