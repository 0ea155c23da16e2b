// Loads and stores of every shape, lane by lane: the slow path behind handlers_memory.cpp, and the
// only one for partial masks, generic addresses and local memory.
#include <bit>

#include "emulator/handlers/handlers.h"

namespace warpscope::emulator {

namespace {

// Fields of Instruction::target.
struct Encoded {
    Space space;
    unsigned bytes;  // of one element
    unsigned elements;
    bool sign;
    bool wide_address;
    bool wide_register;

    explicit Encoded(uint32_t bits)
        : space(Space(bits & 7)),
          bytes(1u << (bits >> 3 & 3)),
          elements(bits >> 5 & 7),
          sign(bits >> 8 & 1),
          wide_address(bits >> 9 & 1),
          wide_register(bits >> 10 & 1) {}
};

uint64_t lane_address(const Instruction* i, const Warp& w, const Encoded& access, unsigned lane) {
    const uint32_t operand = i->operands[i->detail];
    if (access.wide_address) return w.get<uint64_t>(operand, lane) + uint64_t(i->immediate);
    return w.get<uint32_t>(operand, lane) + uint32_t(i->immediate);
}

uint64_t widened(const std::byte* p, const Encoded& access) {
    uint64_t value = 0;
    std::memcpy(&value, p, access.bytes);
    const unsigned unused = 64 - 8 * access.bytes;
    return access.sign ? uint64_t(int64_t(value << unused) >> unused) : value;
}

}  // namespace

uint32_t encode_access(const MemoryShape& s) {
    return uint32_t(s.space) | uint32_t(std::countr_zero(bytes_of(s.type))) << 3 | s.elements << 5 |
           uint32_t(is_signed(s.type)) << 8 | uint32_t(s.wide_address) << 9 |
           uint32_t(s.wide_register) << 10;
}

const Instruction* any_load(const Instruction* i, Warp& w) {
    const Encoded access(i->target);
    const unsigned bytes = access.bytes * access.elements;
    // One lane speaks for a warp that loads into uniform registers.
    const uint32_t active = i->operands[0] & 1 ? w.mask & (0 - w.mask) : w.mask;
    for (uint32_t lanes = active; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const std::byte* p =
            w.resolve(i, lane, access.space, lane_address(i, w, access, lane), bytes, bytes);
        for (unsigned e = 0; e < access.elements; ++e) {
            if (!i->operands[e]) continue;  // the sink _
            const uint64_t value = widened(p + e * access.bytes, access);
            if (access.wide_register)
                w.set<uint64_t>(i->operands[e], lane, value);
            else
                w.set<uint32_t>(i->operands[e], lane, uint32_t(value));
        }
    }
    return w.checkpoint(i, i + 1);
}

const Instruction* any_store(const Instruction* i, Warp& w) {
    const Encoded access(i->target);
    const unsigned bytes = access.bytes * access.elements;
    for (uint32_t lanes = w.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        std::byte* p =
            w.resolve(i, lane, access.space, lane_address(i, w, access, lane), bytes, bytes);
        for (unsigned e = 0; e < access.elements; ++e) {
            const uint32_t operand = i->operands[e + (i->detail == 0)];
            const uint64_t value = access.wide_register ? w.get<uint64_t>(operand, lane)
                                                        : w.get<uint32_t>(operand, lane);
            std::memcpy(p + e * access.bytes, &value, access.bytes);
        }
    }
    return w.checkpoint(i, i + 1);
}

std::byte* atomic_target(const Instruction* i, Warp& w, unsigned lane, unsigned bytes) {
    const Encoded access(i->target);
    return w.resolve(i, lane, access.space, lane_address(i, w, access, lane), bytes, bytes);
}

}  // namespace warpscope::emulator
