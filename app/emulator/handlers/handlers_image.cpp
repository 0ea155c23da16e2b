// Texture fetches, surface loads and surface stores, lane by lane (PTX ISA 9.7.10 and 9.7.11).
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emulator/handlers/handlers.h"
#include "emulator/warp/memory.h"
#include "emulator/warp/textures.h"

namespace warpscope::emulator {

namespace {

const Texture& image_of(const Instruction* i, Warp& w, unsigned lane, std::uint32_t operand) {
    const auto handle = w.get<std::uint64_t>(operand, lane);
    const Texture* const found = w.block->memory->textures().find(handle);
    if (!found)
        w.fail(
            i, lane,
            fmt::format("there is no texture or surface object {:#x}: give the kernel one in its "
                        "launch",
                        handle));
    if (!w.in_global(i, found->memory, found->end()))
        w.fail(i, lane, "the memory of this texture or surface object is not allocated");
    return *found;
}

/// The coordinates of a lane: one number, or two in one slot of 64 bits.
std::array<std::uint32_t, 2> coordinates(const Warp& w, unsigned lane, const ImageForm& form,
                                         std::uint32_t operand) {
    if (form.dimensions == 1) return {w.get<std::uint32_t>(operand, lane), 0};
    const auto both = w.get<std::uint64_t>(operand, lane);
    return {std::uint32_t(both), std::uint32_t(both >> 32)};
}

/// Where a lane accesses a surface; null: outside, and the mode says that this does nothing.
std::byte* place_of(const Instruction* i, Warp& w, unsigned lane, const ImageForm& form,
                    const Texture& image, std::uint32_t operand) {
    const auto [x_bits, y_bits] = coordinates(w, lane, form, operand);
    const std::int64_t size = std::int64_t(form.bytes) * form.elements;
    const std::int64_t row = std::int64_t(image.width) * image.element_bytes();
    std::int64_t x = std::int32_t(x_bits), y = std::int32_t(y_bits);
    if (x % size != 0)
        w.fail(i, lane, fmt::format("the byte {} of a surface is no multiple of {}", x, size));
    const bool outside = x < 0 || x + size > row || y < 0 || y >= image.rows();
    if (outside && form.outside == ImageForm::Outside::zero) return nullptr;
    if (outside && form.outside == ImageForm::Outside::trap)
        w.fail(i, lane,
               fmt::format("byte {} of row {} lies outside of the surface, which has {} rows of {} "
                           "bytes",
                           x, y, image.rows(), row));
    x = std::clamp<std::int64_t>(x, 0, std::max<std::int64_t>(0, row - size));
    y = std::clamp<std::int64_t>(y, 0, image.rows() - 1);
    return reinterpret_cast<std::byte*>(image.memory) + std::uint64_t(y) * image.pitch + x;
}

}  // namespace

const Instruction* fetch_texture(const Instruction* i, Warp& w) {
    const ImageForm form(i->target);
    for (std::uint32_t lanes = w.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const Texture& image = image_of(i, w, lane, i->operands[4]);
        const auto [x, y] = coordinates(w, lane, form, i->operands[5]);
        const Texture::Texel texel =
            form.integer_coordinates
                ? image.fetch(std::int32_t(x), std::int32_t(y))
                : image.sample(std::bit_cast<float>(x), std::bit_cast<float>(y));
        for (unsigned e = 0; e < 4; ++e)
            if (i->operands[e]) w.set(i->operands[e], lane, texel[e]);
    }
    return w.checkpoint(i, i + 1);
}

const Instruction* load_surface(const Instruction* i, Warp& w) {
    const ImageForm form(i->target);
    for (std::uint32_t lanes = w.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const Texture& image = image_of(i, w, lane, i->operands[form.elements]);
        const std::byte* const from =
            place_of(i, w, lane, form, image, i->operands[form.elements + 1]);
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
    return w.checkpoint(i, i + 1);
}

const Instruction* store_surface(const Instruction* i, Warp& w) {
    const ImageForm form(i->target);
    for (std::uint32_t lanes = w.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const Texture& image = image_of(i, w, lane, i->operands[0]);
        std::byte* const to = place_of(i, w, lane, form, image, i->operands[1]);
        for (unsigned e = 0; to && e < form.elements; ++e) {
            const std::uint32_t operand = i->operands[2 + e];
            const std::uint64_t value = form.bytes == 8 ? w.get<std::uint64_t>(operand, lane)
                                                        : w.get<std::uint32_t>(operand, lane);
            std::memcpy(to + e * form.bytes, &value, form.bytes);
        }
    }
    return w.checkpoint(i, i + 1);
}

}  // namespace warpscope::emulator
