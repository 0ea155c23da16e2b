#include "compute/cuda/cuda_texture.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/cuda/driver.h"

namespace warpscope::compute {

namespace {

using emulator::Texture;

/// The longest array of one dimension of every GPU.
constexpr std::uint32_t longest_row = 131072;

// CUarray_format.
int format_of(const Texture& t) {
    const int log_bytes = t.bytes == 4 ? 2 : t.bytes == 2 ? 1 : 0;
    switch (t.numbers) {
        case Texture::Numbers::unsigned_:
            return 1 + log_bytes;
        case Texture::Numbers::signed_:
            return 8 + log_bytes;
        case Texture::Numbers::float_:
            break;
    }
    return t.bytes == 2 ? 0x10 : 0x20;
}

std::string words_of(const Texture& t) {
    return fmt::format("a texture of {} x {} x {} elements", t.width, t.rows(), t.slices());
}

bool is_line(const Texture& t) {
    return t.height == 0 && t.depth == 0;
}

/// Whether tex1Dfetch() can read the texture, from linear memory and not from an array.
bool can_be_linear(const Texture& t, bool is_surface) {
    return is_line(t) && !is_surface && !t.interpolates() && !t.normalized_coordinates;
}

}  // namespace

CudaTexture::CudaTexture(const Texture& texture, bool is_surface)
    : texture_(texture), is_surface_(is_surface) {
    const bool is_too_long = is_line(texture) && texture.width > longest_row;
    try {
        if (is_too_long && !can_be_linear(texture, is_surface))
            throw DeviceError(
                fmt::format("{} can only be read by index on a GPU (tex1Dfetch), without a filter: "
                            "a row has at most {} elements else",
                            words_of(texture), longest_row));
        if (!is_too_long && !(texture.read_by_index && can_be_linear(texture, is_surface)))
            make_array();
        make_object();
    } catch (...) {
        destroy();
        throw;
    }
}

CudaTexture::~CudaTexture() {
    destroy();
}

void CudaTexture::destroy() noexcept {
    if (handle_) is_surface_ ? cuda().surface_destroy(handle_) : cuda().texture_destroy(handle_);
    if (array_) cuda().array_destroy(array_);
}

void CudaTexture::make_array() {
    CudaArrayShape shape{texture_.width, texture_.height, texture_.depth, format_of(texture_),
                         texture_.channels};
    if (texture_.depth && texture_.slices_are == Texture::Slices::layers)
        shape.flags |= CudaArrayShape::layered;
    if (texture_.depth && texture_.slices_are == Texture::Slices::faces)
        shape.flags |= CudaArrayShape::cube;
    if (is_surface_) shape.flags |= CudaArrayShape::surface;
    cuda_check(cuda().array_create(&array_, &shape), "making " + words_of(texture_));
}

void CudaTexture::make_object() {
    CudaResourceShape resource{};
    if (array_) {
        resource.kind = CudaResourceShape::of_array;
        resource.of.array = array_;
    } else {
        resource.kind = CudaResourceShape::of_memory;
        resource.of.memory = {texture_.memory, format_of(texture_), texture_.channels,
                              std::size_t(texture_.width) * texture_.element_bytes()};
    }
    if (is_surface_) {
        cuda_check(cuda().surface_create(&handle_, &resource), "making a surface object");
        return;
    }
    CudaSampling sampling{};
    // The numbers of CUaddress_mode are those of TextureAddress.
    std::ranges::transform(texture_.address, sampling.address, [](auto mode) { return int(mode); });
    sampling.filter = texture_.interpolates();
    if (!texture_.gives_floats()) sampling.flags |= CudaSampling::reads_integers;
    // A direction is no place among elements.
    const bool is_cube = texture_.slices_are == Texture::Slices::faces;
    if (texture_.normalized_coordinates || is_cube)
        sampling.flags |= CudaSampling::normalized_coordinates;
    cuda_check(cuda().texture_create(&handle_, &resource, &sampling, nullptr),
               "making a texture object");
}

void CudaTexture::load(CudaStream stream) const {
    copy(stream, true);
}

void CudaTexture::store(CudaStream stream) const {
    copy(stream, false);
}

void CudaTexture::copy(CudaStream stream, bool to_array) const {
    if (!array_) return;
    CudaCopy copy{};
    CudaCopyEnd& memory = to_array ? copy.from : copy.to;
    CudaCopyEnd& array = to_array ? copy.to : copy.from;
    memory.kind = CudaCopyEnd::device;
    memory.device_address = texture_.memory;
    memory.pitch = texture_.pitch;
    memory.height = texture_.rows();
    array.kind = CudaCopyEnd::in_array;
    array.array = array_;
    copy.row_bytes = std::size_t(texture_.width) * texture_.element_bytes();
    copy.height = texture_.rows();
    copy.depth = texture_.slices();
    cuda_check(cuda().copy_array(&copy, stream), "copying " + words_of(texture_));
}

}  // namespace warpscope::compute
