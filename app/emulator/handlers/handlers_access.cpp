// Loads and stores of every form, lane by lane: the slow path of handlers_memory.cpp, and the only
// one for partial masks, generic addresses and local memory.
#include <bit>

#include "emulator/handlers/handlers.h"

namespace warpscope::emulator {

namespace {

std::uint64_t lane_address(const Instruction* i, const Warp& w, const AccessForm& access,
                           unsigned lane) {
    const std::uint32_t operand = i->operands[i->detail];
    if (access.wide_address)
        return w.get<std::uint64_t>(operand, lane) + std::uint64_t(i->immediate);
    return w.get<std::uint32_t>(operand, lane) + std::uint32_t(i->immediate);
}

std::uint64_t widened(const std::byte* p, const AccessForm& access) {
    std::uint64_t value = 0;
    std::memcpy(&value, p, access.bytes);
    const unsigned unused = 64 - 8 * access.bytes;
    return access.is_signed ? std::uint64_t(std::int64_t(value << unused) >> unused) : value;
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
            std::memcpy(p + e * access.bytes, &value, access.bytes);
        }
    }
    return w.cost_point(i, i + 1);
}

std::byte* atomic_target(const Instruction* i, Warp& w, unsigned lane, unsigned bytes) {
    const AccessForm access(i->target);
    return w.checked_address(i, lane, access.space, lane_address(i, w, access, lane), bytes, bytes);
}

}  // namespace warpscope::emulator
