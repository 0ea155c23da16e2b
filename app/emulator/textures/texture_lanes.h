#pragma once

#include <array>
#include <cstdint>

#include "emulator/program/access_form.h"
#include "emulator/warp/textures.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// Where the lanes of a warp access a texture or a surface, by tex, suld or sust.
class TextureLanes {
  public:
    /// `handle`: the operand with the handle; the next one has the coordinates.
    TextureLanes(const Instruction& i, const Warp& w, unsigned handle)
        : form_(i.target), w_(w), handle_(i.operands[handle]), place_(i.operands[handle + 1]) {}

    const TextureForm& form() const { return form_; }
    std::uint64_t handle(unsigned lane) const {
        const auto handle = w_.get<std::uint64_t>(handle_, lane);
        return form_.coordinates() == 3 ? std::uint32_t(handle) : handle;
    }
    /// What a lane reads of a texture.
    TextureReads reads(unsigned lane, const Texture& texture) const;

    /// The bytes of a surface that a lane accesses.
    struct Place {
        std::int64_t byte, row, slice;  ///< as the coordinates say
        bool outside;
        std::uint64_t address;  ///< of the nearest bytes inside, where the place is outside
    };
    Place place(unsigned lane, const Texture& surface) const;
    /// The bytes that a lane reads or writes there; none where the place is outside and does not
    /// count as the nearest one.
    TextureReads bytes(unsigned lane, const Texture& surface) const;
    unsigned place_bytes() const { return form_.bytes * form_.elements; }

  private:
    /// The coordinates of a lane; those that the form lacks are 0.
    std::array<std::uint32_t, 3> coordinates(unsigned lane) const;

    const TextureForm form_;
    const Warp& w_;
    const std::uint32_t handle_, place_;
};

}  // namespace warpscope::emulator
