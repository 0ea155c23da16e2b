#include "programs/gpu/arrays.h"

#include <algorithm>

#include "emulator/program/error.h"
#include "programs/gpu/device_attributes.h"
#include "programs/gpu/gpu.h"

namespace warpscope::programs {

using emulator::Texture;

namespace {

void check_format(const ElementFormat& format) {
    const bool is_float = format.numbers == Texture::Numbers::float_;
    demand(format.channels == 1 || format.channels == 2 || format.channels == 4,
           Status::invalid_value, "an element has 1, 2 or 4 channels");
    demand((format.bytes == 1 && !is_float) || format.bytes == 2 || format.bytes == 4,
           Status::invalid_value, "a channel has 8, 16 or 32 bits, a float 16 or 32");
}

Texture image(std::uint64_t memory, ElementFormat format) {
    check_format(format);
    Texture t;
    t.memory = memory;
    t.numbers = format.numbers;
    t.bytes = format.bytes;
    t.channels = format.channels;
    return t;
}

}  // namespace

Rows Array::rows_at(std::size_t byte, std::size_t y, std::size_t z, std::size_t width,
                    std::size_t height) const {
    demand(byte + width <= row_bytes() && y + height <= rows() && z < slices(),
           Status::invalid_value, "a copy beyond the end of an array");
    return {memory + (z * rows() + y) * row_bytes() + byte, row_bytes()};
}

Array* Arrays::create(const Array& shape) {
    check_format(shape.format);
    demand(shape.width > 0, Status::invalid_value, "the array has no elements");
    const bool has_layers = shape.flags & Array::layered, is_cube = shape.flags & Array::cubemap;
    demand(!has_layers || !is_cube, Status::not_supported, "layers of cubes are not supported");
    demand(!is_cube || (shape.depth == 6 && shape.width == shape.height), Status::invalid_value,
           "a cube has six square faces");
    demand(has_layers || is_cube || !shape.depth || shape.height, Status::invalid_value,
           "an array with depth has a height");
    auto array = std::make_unique<Array>(shape);
    array->memory = gpu_.allocate(shape.bytes(), MemoryKind::device);
    return arrays_.emplace_back(std::move(array)).get();
}

const Array& Arrays::checked(const Array* array) const {
    demand(std::ranges::any_of(arrays_, [&](const auto& a) { return a.get() == array; }),
           Status::invalid_handle, "the array does not exist");
    return *array;
}

void Arrays::destroy(Array* array) {
    gpu_.free(checked(array).memory);
    std::erase_if(arrays_, [&](const auto& a) { return a.get() == array; });
}

void Arrays::reset() {
    for (const auto& [object, description] : objects_) gpu_.textures().remove(object);
    objects_.clear();
    arrays_.clear();
}

Texture Arrays::image_of(const Array& array) {
    Texture t = image(array.memory, array.format);
    t.width = std::uint32_t(array.width);
    t.height = std::uint32_t(array.height);
    t.depth = std::uint32_t(array.depth);
    t.pitch = array.row_bytes();
    return t;
}

Texture Arrays::image_of(std::uint64_t memory, ElementFormat format, std::size_t bytes) {
    Texture t = image(memory, format);
    t.width = std::uint32_t(bytes / format.element_bytes());
    return t;
}

Texture Arrays::image_of(std::uint64_t memory, ElementFormat format, std::size_t width,
                         std::size_t height, std::size_t pitch) {
    demand(pitch % texture_pitch_alignment == 0, Status::invalid_value,
           "the pitch is no multiple of the device's texture pitch alignment, 32 bytes");
    Texture t = image(memory, format);
    t.width = std::uint32_t(width);
    t.height = std::uint32_t(height);
    t.pitch = pitch;
    return t;
}

Texture Arrays::sampled(Texture t, const Sampling& sampling) {
    demand(!sampling.srgb, Status::not_supported,
           "textures with colours in sRGB are not supported");
    const bool has_border = std::ranges::find(sampling.address, 3) != sampling.address.end();
    demand(!has_border || std::ranges::all_of(sampling.border, [](float c) { return c == 0; }),
           Status::not_supported,
           "borders of a texture with another value than 0 are not supported");
    for (std::size_t i = 0; i < t.address.size(); ++i) {
        demand(sampling.address[i] >= 0 && sampling.address[i] <= 3, Status::invalid_value,
               "an unknown address mode");
        t.address[i] = emulator::TextureAddress(sampling.address[i]);
    }
    t.linear = sampling.filter == 1;
    t.normalized_coordinates = sampling.normalized_coordinates;
    t.normalized_numbers =
        sampling.normalized_numbers && t.numbers != Texture::Numbers::float_ && t.bytes < 4;
    return t;
}

std::uint64_t Arrays::create_object(const Texture& image, Description description) {
    try {
        const std::uint64_t object = gpu_.textures().add(image);
        objects_[object] = std::move(description);
        return object;
    } catch (const emulator::Error& error) {
        throw CallError(Status::invalid_value, error.what());
    }
}

void Arrays::destroy_object(std::uint64_t object) {
    description_of(object);
    gpu_.streams().run_until_idle();  // launches may use it
    gpu_.textures().remove(object);
    objects_.erase(object);
}

const Arrays::Description& Arrays::description_of(std::uint64_t object) const {
    const auto found = objects_.find(object);
    demand(found != objects_.end(), Status::invalid_value,
           "the texture or surface object does not exist");
    return found->second;
}

}  // namespace warpscope::programs
