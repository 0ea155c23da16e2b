// Textures and surfaces (PTX ISA 9.7.10 and 9.7.11).
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "emulator/handlers/handlers.h"
#include "emulator/textures/texture_lanes.h"
#include "emulator/warp/memory.h"

namespace warpscope::emulator {

namespace {

/// The texture or surface of an instruction, which most lanes have in common.
class LaneTextures : public TextureLanes {
  public:
    LaneTextures(const Instruction* i, Warp& w, unsigned handle)
        : TextureLanes(*i, w, handle), i_(i), w_(w) {}

    const Texture& of(unsigned lane) {
        const std::uint64_t handle = this->handle(lane);
        if (found_ && handle == newest_) return *found_;
        found_ = w_.block->memory->textures().find(handle);
        newest_ = handle;
        if (!found_)
            w_.fail(i_, lane,
                    fmt::format("there is no texture or surface object {:#x}: give the kernel one "
                                "in its launch",
                                handle));
        if (!w_.in_global(i_, found_->memory, found_->end()))
            w_.fail(i_, lane, "the memory of this texture or surface object is not allocated");
        return *found_;
    }

    /// Where a lane accesses a surface; null: outside, and the mode says that this does nothing.
    std::byte* bytes_of(unsigned lane) {
        const Texture& surface = of(lane);
        const Place p = place(lane, surface);
        if (p.byte % std::int64_t(place_bytes()) != 0)
            w_.fail_alignment(i_, lane,
                              fmt::format("the byte {} of a surface is no multiple of {}", p.byte,
                                          place_bytes()));
        if (p.outside && form().outside == TextureForm::Outside::zero) return nullptr;
        if (p.outside && form().outside == TextureForm::Outside::trap)
            w_.fail_access(
                i_, lane,
                fmt::format("byte {} of row {}{} lies outside of the surface, which has {} "
                            "rows of {} bytes",
                            p.byte, p.row, p.slice ? fmt::format(" of layer {}", p.slice) : "",
                            surface.rows(), surface.width * surface.element_bytes()));
        return reinterpret_cast<std::byte*>(p.address);
    }

  private:
    const Instruction* i_;
    Warp& w_;
    const Texture* found_ = nullptr;
    std::uint64_t newest_ = 0;
};

}  // namespace

const Instruction* fetch_texture(const Instruction* i, Warp& w) {
    LaneTextures textures(i, w, 4);
    for (std::uint32_t lanes = w.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const Texture& texture = textures.of(lane);
        const Texture::Texel texel = texture.texel_of(textures.reads(lane, texture));
        for (unsigned e = 0; e < 4; ++e)
            if (i->operands[e]) w.set(i->operands[e], lane, texel[e]);
    }
    return w.cost_point(i, i + 1);
}

const Instruction* load_surface(const Instruction* i, Warp& w) {
    const TextureForm form(i->target);
    LaneTextures textures(i, w, form.elements);
    for (std::uint32_t lanes = w.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const std::byte* const from = textures.bytes_of(lane);
        for (unsigned e = 0; e < form.elements; ++e) {
            std::uint64_t value = 0;
            if (from) std::memcpy(&value, from + e * form.bytes, form.bytes);
            if (!i->operands[e]) continue;
            if (form.bytes == 8)
                w.set(i->operands[e], lane, value);
            else
                w.set(i->operands[e], lane, std::uint32_t(value));
        }
    }
    return w.cost_point(i, i + 1);
}

const Instruction* store_surface(const Instruction* i, Warp& w) {
    const TextureForm form(i->target);
    LaneTextures textures(i, w, 0);
    for (std::uint32_t lanes = w.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        std::byte* const to = textures.bytes_of(lane);
        for (unsigned e = 0; to && e < form.elements; ++e) {
            const std::uint32_t operand = i->operands[2 + e];
            const std::uint64_t value = form.bytes == 8 ? w.get<std::uint64_t>(operand, lane)
                                                        : w.get<std::uint32_t>(operand, lane);
            std::memcpy(to + e * form.bytes, &value, form.bytes);
        }
    }
    return w.cost_point(i, i + 1);
}

}  // namespace warpscope::emulator
