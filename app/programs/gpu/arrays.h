#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "emulator/warp/textures.h"

namespace warpscope::programs {

class Gpu;
struct Rows;

/// The numbers of an element of an array or a texture.
struct ElementFormat {
    emulator::Texture::Numbers numbers = emulator::Texture::Numbers::float_;
    unsigned bytes = 4;     ///< of a number
    unsigned channels = 1;  ///< numbers of an element

    std::size_t element_bytes() const { return std::size_t(bytes) * channels; }
};

/// CUarray, cudaArray_t: elements in device memory, row behind row without a gap.
struct Array {
    /// The flags that cudaMalloc3DArray() and cuArray3DCreate() have in common.
    enum Flag : unsigned { layered = 1, surface = 2, cubemap = 4, gather = 8 };

    ElementFormat format;
    std::size_t width = 0, height = 0, depth = 0;  ///< elements; 0: it lacks this dimension
    unsigned flags = 0;
    std::uint64_t memory = 0;

    std::size_t row_bytes() const { return width * format.element_bytes(); }
    std::size_t rows() const { return height ? height : 1; }
    std::size_t slices() const { return depth ? depth : 1; }
    std::size_t bytes() const { return row_bytes() * rows() * slices(); }
    /// The rows from a byte of row `y` of slice `z` on. Throws CallError where `width` bytes or
    /// `height` rows from there lie outside.
    Rows rows_at(std::size_t byte, std::size_t y, std::size_t z, std::size_t width,
                 std::size_t height) const;
};

/// How a texture object reads, as cudaTextureDesc and CUDA_TEXTURE_DESC say it.
struct Sampling {
    std::array<int, 3> address{};  ///< numbers of TextureAddress
    int filter = 0;                ///< 1: linear
    bool normalized_coordinates = false, normalized_numbers = false, srgb = false;
    std::array<float, 4> border{};
};

/// The arrays of a program, and its texture and surface objects. Functions throw CallError; what
/// the emulator lacks is Status::not_supported.
class Arrays {
  public:
    explicit Arrays(Gpu& gpu) : gpu_(gpu) {}
    Arrays(const Arrays&) = delete;
    Arrays& operator=(const Arrays&) = delete;

    /// `shape` has all but the memory.
    Array* create(const Array& shape);
    void destroy(Array* array);
    const Array& checked(const Array* array) const;
    /// Destroys all arrays and objects, whose memory is freed otherwise. No work may wait.
    void reset();

    /// What textures and surfaces are made of: an array, and linear memory in one or two
    /// dimensions.
    static emulator::Texture image_of(const Array& array);
    static emulator::Texture image_of(std::uint64_t memory, ElementFormat format,
                                      std::size_t bytes);
    static emulator::Texture image_of(std::uint64_t memory, ElementFormat format, std::size_t width,
                                      std::size_t height, std::size_t pitch);
    static emulator::Texture sampled(emulator::Texture image, const Sampling& sampling);

    /// Makes an object. `description` are the bytes that the program has described it by, which
    /// description_of() gives back: a copy of each structure.
    using Description = std::vector<std::vector<std::byte>>;
    std::uint64_t create_object(const emulator::Texture& image, Description description);
    void destroy_object(std::uint64_t object);
    const Description& description_of(std::uint64_t object) const;

  private:
    Gpu& gpu_;
    std::vector<std::unique_ptr<Array>> arrays_;
    std::map<std::uint64_t, Description> objects_;
};

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    return {bytes.begin(), bytes.end()};
}

}  // namespace warpscope::programs
