// Loads and stores of every form, lane by lane: the slow path of handlers_memory.cpp, and the only
// one for partial masks, generic addresses and local memory. Textures and surfaces (PTX ISA 9.7.10
// and 9.7.11).
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>

#include "emulator/handlers/handlers.h"
#include "emulator/images/image_lanes.h"
#include "emulator/warp/matrices.h"
#include "emulator/warp/memory.h"

namespace warpscope::emulator {

namespace {

std::uint64_t lane_address(const Instruction* i, const Warp& w, const AccessForm& access,
                           unsigned lane) {
    const std::uint32_t operand = i->operands[i->detail];
    if (access.wide_address)
        return w.get<std::uint64_t>(operand, lane) + std::uint64_t(i->immediate);
    return w.get<std::uint32_t>(operand, lane) + std::uint32_t(i->immediate);
}

// Blocks run on several host threads, and one block may poll a word that another one changes: the
// host accesses each number as a whole.
template <typename T>
std::atomic_ref<T> cell(const std::byte* p) {
    return std::atomic_ref<T>(*reinterpret_cast<T*>(const_cast<std::byte*>(p)));
}

template <typename T>
std::uint64_t number_at(const std::byte* p) {
    return std::uint64_t(cell<T>(p).load(std::memory_order_relaxed));
}

// Each width has a copy of its own: a load of eight bytes from four that were just stored waits.
std::uint64_t widened(const std::byte* p, const AccessForm& access) {
    switch (access.bytes) {
        case 1:
            return access.is_signed ? number_at<std::int8_t>(p) : number_at<std::uint8_t>(p);
        case 2:
            return access.is_signed ? number_at<std::int16_t>(p) : number_at<std::uint16_t>(p);
        case 4:
            return access.is_signed ? number_at<std::int32_t>(p) : number_at<std::uint32_t>(p);
        default:
            return number_at<std::uint64_t>(p);
    }
}

void store_number(std::byte* p, unsigned bytes, std::uint64_t value) {
    constexpr auto relaxed = std::memory_order_relaxed;
    switch (bytes) {
        case 1:
            return cell<std::uint8_t>(p).store(std::uint8_t(value), relaxed);
        case 2:
            return cell<std::uint16_t>(p).store(std::uint16_t(value), relaxed);
        case 4:
            return cell<std::uint32_t>(p).store(std::uint32_t(value), relaxed);
        default:
            return cell<std::uint64_t>(p).store(value, relaxed);
    }
}

/// The texture or surface of an instruction, which most lanes have in common.
class Image : public ImageLanes {
  public:
    Image(const Instruction* i, Warp& w, unsigned handle)
        : ImageLanes(*i, w, handle), i_(i), w_(w) {}

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
            w_.fail_access(i_, lane,
                           fmt::format("the byte {} of a surface is no multiple of {}", p.byte,
                                       place_bytes()));
        if (p.outside && form().outside == ImageForm::Outside::zero) return nullptr;
        if (p.outside && form().outside == ImageForm::Outside::trap)
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

AccessForm MemoryForm::access_form() const {
    AccessForm form;
    form.space = space;
    form.bytes = bytes_of(type);
    form.elements = elements;
    form.is_signed = emulator::is_signed(type);
    form.wide_address = wide_address;
    form.wide_register = wide_register;
    return form;
}

const Instruction* any_load(const Instruction* i, Warp& w) {
    const AccessForm access(i->target);
    const unsigned bytes = access.bytes * access.elements;
    // A load into uniform registers is executed once, by the first active lane.
    const std::uint32_t active = is_uniform(i->operands[0]) ? w.mask & (0 - w.mask) : w.mask;
    for (std::uint32_t lanes = active; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const std::byte* p = w.checked_address(i, lane, access.space,
                                               lane_address(i, w, access, lane), bytes, bytes);
        for (unsigned e = 0; e < access.elements; ++e) {
            if (!i->operands[e]) continue;  // the sink _
            const std::uint64_t value = widened(p + e * access.bytes, access);
            if (access.wide_register)
                w.set<std::uint64_t>(i->operands[e], lane, value);
            else
                w.set<std::uint32_t>(i->operands[e], lane, std::uint32_t(value));
        }
    }
    return w.cost_point(i, i + 1);
}

const Instruction* any_store(const Instruction* i, Warp& w) {
    const AccessForm access(i->target);
    const unsigned bytes = access.bytes * access.elements;
    for (std::uint32_t lanes = w.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        std::byte* p = w.checked_address(i, lane, access.space, lane_address(i, w, access, lane),
                                         bytes, bytes);
        for (unsigned e = 0; e < access.elements; ++e) {
            const std::uint32_t operand = i->operands[e + (i->detail == 0)];
            const std::uint64_t value = access.wide_register ? w.get<std::uint64_t>(operand, lane)
                                                             : w.get<std::uint32_t>(operand, lane);
            store_number(p + e * access.bytes, access.bytes, value);
        }
    }
    return w.cost_point(i, i + 1);
}

const Instruction* load_matrices(const Instruction* i, Warp& w) {
    if (!w.has_all(w.threads)) return w.wait_for_members(i, w.threads);
    const AccessForm access(i->target);
    std::uint16_t rows[lanes_per_warp][8]{};
    for (std::uint32_t lanes = w.mask & access.addressing_lanes(); lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const std::uint64_t address = lane_address(i, w, access, lane);
        std::memcpy(
            rows[lane],
            w.checked_address(i, lane, access.space, address, matrix_row_bytes, matrix_row_bytes),
            matrix_row_bytes);
    }
    for (unsigned m = 0; m < access.elements; ++m) {
        if (!i->operands[m]) continue;  // the sink _
        for (std::uint32_t lanes = w.mask; lanes; lanes &= lanes - 1) {
            const auto lane = unsigned(std::countr_zero(lanes));
            std::uint32_t pair = 0;
            for (unsigned half = 0; half < 2; ++half) {
                const MatrixPlace at = matrix_place(lane, half, access.transposed);
                pair |= std::uint32_t(rows[8 * m + at.row][at.column]) << 16 * half;
            }
            w.set(i->operands[m], lane, pair);
        }
    }
    return w.cost_point(i, i + 1);
}

const Instruction* store_matrices(const Instruction* i, Warp& w) {
    if (!w.has_all(w.threads)) return w.wait_for_members(i, w.threads);
    const AccessForm access(i->target);
    for (std::uint32_t lanes = w.mask & access.addressing_lanes(); lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const std::uint64_t address = lane_address(i, w, access, lane);
        copy_matrix_row(
            w, *i, lane,
            w.checked_address(i, lane, access.space, address, matrix_row_bytes, matrix_row_bytes));
    }
    return w.cost_point(i, i + 1);
}

std::byte* atomic_target(const Instruction* i, Warp& w, unsigned lane, unsigned bytes) {
    const AccessForm access(i->target);
    return w.checked_address(i, lane, access.space, lane_address(i, w, access, lane), bytes, bytes);
}

const Instruction* fetch_texture(const Instruction* i, Warp& w) {
    Image image(i, w, 4);
    for (std::uint32_t lanes = w.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const Texture& texture = image.of(lane);
        const Texture::Texel texel = texture.texel_of(image.reads(lane, texture));
        for (unsigned e = 0; e < 4; ++e)
            if (i->operands[e]) w.set(i->operands[e], lane, texel[e]);
    }
    return w.cost_point(i, i + 1);
}

const Instruction* load_surface(const Instruction* i, Warp& w) {
    const ImageForm form(i->target);
    Image image(i, w, form.elements);
    for (std::uint32_t lanes = w.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const std::byte* const from = image.bytes_of(lane);
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
    const ImageForm form(i->target);
    Image image(i, w, 0);
    for (std::uint32_t lanes = w.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        std::byte* const to = image.bytes_of(lane);
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
