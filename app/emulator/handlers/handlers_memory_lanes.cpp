// Loads and stores of every form, lane by lane: the slow path of handlers_memory.cpp, and the only
// one for partial masks, generic addresses and local memory.
#include <atomic>
#include <bit>

#include "emulator/handlers/handlers.h"

namespace warpscope::emulator {

namespace {

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

std::byte* atomic_target(const Instruction* i, Warp& w, unsigned lane, unsigned bytes) {
    const AccessForm access(i->target);
    return w.checked_address(i, lane, access.space, lane_address(i, w, access, lane), bytes, bytes);
}

}  // namespace warpscope::emulator
