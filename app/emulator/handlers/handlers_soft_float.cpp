// Rounding and flushing where the CPU cannot be told to: in place of handlers_float_mode.cpp.
#include <algorithm>
#include <array>
#include <cstring>

#include "emulator/handlers/handlers.h"
#include "emulator/handlers/soft_float.h"

namespace warpscope::emulator {
namespace {

using Lanes = std::array<std::uint32_t, lanes_per_warp>;
constexpr std::uint32_t sign = 0x80000000, smallest_normal = 0x00800000;

/// A slot of floats, which is uniform or a vector.
struct Slot {
    std::byte* at;
    std::size_t bytes;

    Slot(const Warp& w, std::uint32_t operand)
        : at(w.registers + slot_offset(operand)),
          bytes(is_uniform(operand) ? sizeof(std::uint32_t) : sizeof(Lanes)) {}
    Lanes read() const {
        Lanes lanes{};
        std::memcpy(lanes.data(), at, bytes);
        return lanes;
    }
    void write(const Lanes& lanes) const { std::memcpy(at, lanes.data(), bytes); }
};

/// Whether a lane has a number that is neither zero nor above `most`.
bool has_small(const Lanes& lanes, std::uint32_t most) {
    std::uint32_t found = 0;
    for (const std::uint32_t bits : lanes) found |= (bits & ~sign) - 1 < most;
    return found;
}

std::uint32_t flushed(std::uint32_t bits) {
    return (bits & ~sign) < smallest_normal ? bits & sign : bits;
}

bool has_float_sources(const Instruction& i) {
    return (i.operation == Operation::cvt ? i.second_type : i.type) == Type::f32;
}
bool has_float_result(const Instruction& i) {
    return i.type == Type::f32 && i.operation != Operation::setp;
}

template <class F>
F result(const Instruction& i, const Warp& w, unsigned lane, soft::Mode mode) {
    const auto source = [&](unsigned k) { return w.get<F>(i.operands[k], lane); };
    const F r = soft::computed(i.operation, source(1), source(2), source(3), mode);
    return i.modifiers & Instruction::saturates ? (r > 0 ? std::min(r, F(1)) : F(0)) : r;
}

template <class F>
const Instruction* round_lanes(const Instruction* i, Warp& w, std::uint32_t lanes,
                               soft::Mode mode) {
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        if (lanes >> lane & 1) w.set(i->operands[0], lane, result<F>(*i, w, lane, mode));
    return i + 1;
}

/// The number that rounding has made normal may be subnormal with more digits. `before` has the
/// sources.
std::uint32_t flushed_result(const Instruction& i, const Warp& w,
                             const std::array<Lanes, 4>& before, unsigned lane,
                             std::uint32_t bits) {
    if ((bits & ~sign) != smallest_normal) return flushed(bits);
    const auto source = [&](unsigned k) {
        const unsigned from = is_uniform(i.operands[k]) ? 0 : lane;
        return i.operands[k] ? std::bit_cast<float>(before[k][from]) : 0;
    };
    switch (i.operation) {
        case Operation::fmul:
        case Operation::fma:
        case Operation::fdiv:
        case Operation::frcp:
            return std::bit_cast<std::uint32_t>(
                soft::computed(i.operation, source(1), source(2), source(3), {.flushes = true}));
        case Operation::cvt:
            if (i.second_type != Type::f64) return bits;
            return std::bit_cast<std::uint32_t>(
                soft::narrowed(w.get<double>(i.operands[1], lane), {Rounding(i.detail & 7), true}));
        default:
            return bits;
    }
}

/// Runs the instruction `i` behind its prefix `first`, for `lanes`, with flushed sources.
const Instruction* flush_lanes(const Instruction* first, const Instruction& i, Warp& w,
                               std::uint32_t lanes) {
    std::array<Lanes, 4> before;
    bool changed[4] = {};
    for (unsigned k = 1; k < 4 && has_float_sources(i); ++k) {
        if (!i.operands[k]) continue;
        const Slot slot(w, i.operands[k]);
        before[k] = slot.read();
        if (!(changed[k] = has_small(before[k], smallest_normal - 1))) continue;
        Lanes all = before[k];
        for (std::uint32_t& bits : all) bits = flushed(bits);
        slot.write(all);
    }
    const Instruction* next = first->handlers[w.mode](first, w);
    const Slot to(w, i.operands[0]);
    for (unsigned k = 1; k < 4; ++k) {
        if (!changed[k]) continue;
        Lanes all = before[k];
        if (i.operands[k] == i.operands[0]) {
            const Lanes results = to.read();
            for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
                if (lanes >> lane & 1) all[lane] = results[lane];
        }
        Slot(w, i.operands[k]).write(all);
    }
    if (!has_float_result(i)) return next;
    Lanes results = to.read();
    if (!has_small(results, smallest_normal)) return next;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        if (lanes >> lane & 1) results[lane] = flushed_result(i, w, before, lane, results[lane]);
    to.write(results);
    return next;
}

}  // namespace

bool cpu_has_float_modes() {
    return false;
}

const Instruction* with_float_mode(const Instruction* i, Warp& w) {
    const Instruction* of = i + 1;
    std::uint32_t lanes = w.mask;
    if (is_guard(of->role)) {
        const std::uint32_t p = w.predicate(of->operands[0]);
        lanes &= of->role == Role::guard ? p : ~p;
        ++of;
    }
    if (!lanes) return of + 1;
    if (is_uniform(of->operands[0])) lanes = 1;
    const soft::Mode mode{Rounding(i->target), i->detail != 0};
    if (mode.rounding == Rounding::nearest) return flush_lanes(i + 1, *of, w, lanes);
    return of->type == Type::f64 ? round_lanes<double>(of, w, lanes, mode)
                                 : round_lanes<float>(of, w, lanes, mode);
}

}  // namespace warpscope::emulator
