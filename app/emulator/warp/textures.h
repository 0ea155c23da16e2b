#pragma once

#include <array>
#include <cstdint>
#include <map>

namespace warpscope::emulator {

/// What a coordinate outside of a texture reads. Wrap and mirror need normalised coordinates, and
/// are as clamp without them.
enum class TextureAddress : std::uint8_t { wrap, clamp, mirror, border };

/// The elements that a fetch reads, and how much each counts for the result.
struct TextureReads {
    struct Element {
        std::uint64_t address;
        float weight;
    };
    static constexpr unsigned most = 8;
    std::array<Element, most> elements;  ///< the first `count` are valid
    unsigned count = 0;                  ///< 0: the fetch reads outside of the texture

    void add(std::uint64_t address, float weight) { elements[count++] = {address, weight}; }
};

/// A texture or surface object: how kernels read elements of global memory, in rows and slices.
struct Texture {
    enum class Numbers : std::uint8_t { unsigned_, signed_, float_ };
    /// A GPU has to know what the slices are; in the emulator the instruction says it.
    enum class Slices : std::uint8_t { of_volume, layers, faces };

    std::uint64_t memory = 0;             ///< address of the first element
    std::uint32_t width = 0, height = 0;  ///< elements; height 0: it has one dimension
    std::uint32_t depth = 0;              ///< slices or layers; 0: it has none
    Slices slices_are = Slices::of_volume;
    std::uint64_t pitch = 0;              ///< bytes from a row to the next
    std::uint32_t channels = 1;           ///< numbers of an element: 1, 2 or 4
    std::uint32_t bytes = 4;              ///< of a number: 1, 2 or 4
    Numbers numbers = Numbers::float_;    ///< those of 2 bytes are half floats
    bool linear = false;                  ///< interpolates; only where the result is a float
    bool normalized_coordinates = false;  ///< 0 to 1, not 0 to width
    bool normalized_numbers = false;      ///< integers become floats: 0 to 1, or -1 to 1
    bool read_by_index = false;           ///< by tex1Dfetch(), which on a GPU needs linear memory
    std::array<TextureAddress, 3> address{TextureAddress::clamp, TextureAddress::clamp,
                                          TextureAddress::clamp};

    std::uint32_t element_bytes() const { return channels * bytes; }
    std::uint32_t rows() const { return height == 0 ? 1 : height; }
    std::uint32_t slices() const { return depth == 0 ? 1 : depth; }
    std::uint64_t slice_bytes() const { return rows() * pitch; }
    std::uint64_t end() const {
        return memory + (slices() - 1) * slice_bytes() + (rows() - 1) * pitch +
               std::uint64_t(width) * element_bytes();
    }
    bool gives_floats() const { return numbers == Numbers::float_ || normalized_numbers; }

    bool interpolates() const { return linear && gives_floats(); }
    std::uint64_t address_of(std::int64_t x, std::int64_t y, std::int64_t z) const {
        return memory + std::uint64_t(z) * slice_bytes() + std::uint64_t(y) * pitch +
               std::uint64_t(x) * element_bytes();
    }

    /// What a fetch reads (CUDA C++ Programming Guide, "Texture Fetching"). `y` and `z` count for
    /// textures of so many dimensions only.
    TextureReads reads_at(float x, float y, float z = 0) const;
    TextureReads reads_of_cube(float x, float y, float z) const;  ///< of six faces, the slices
    /// Reads by index: tex1Dfetch(), and tex.2d with integers. Outside of the texture nothing is
    /// read.
    TextureReads reads_of_index(std::int64_t x, std::int64_t y, std::int64_t z) const;
    /// Four numbers of 32 bits each: floats, or integers.
    using Texel = std::array<std::uint32_t, 4>;
    /// The result of a fetch. The memory must be valid.
    Texel texel_of(const TextureReads& reads) const;
    /// A layer, without the others; the nearest one if there is none with this number.
    Texture slice(std::uint32_t number) const;
};

/// The texture and surface objects of a machine, by the handles that kernels get as arguments.
class Textures {
  public:
    /// Returns a handle. Throws Error for a texture without elements, or whose numbers have another
    /// size than CUDA knows.
    std::uint64_t add(const Texture& texture);
    void remove(std::uint64_t handle) { all_.erase(handle); }
    const Texture* find(std::uint64_t handle) const;  ///< nullptr: there is none

  private:
    std::map<std::uint64_t, Texture> all_;
    std::uint64_t newest_ = 0;
};

}  // namespace warpscope::emulator
