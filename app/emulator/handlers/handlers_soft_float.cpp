// Rounding and flushing where the CPU cannot be told to: in place of handlers_float_mode.cpp.
#include <algorithm>
#include <array>
#include <cstring>

#include "emulator/handlers/handlers.h"
#include "emulator/handlers/soft_float.h"

namespace warpscope::emulator {
namespace {

constexpr std::uint32_t sign = 0x80000000, smallest_normal = 0x00800000;

using Lanes = std::array<std::uint32_t, lanes_per_warp>;

/// A slot of floats, which is uniform or a vector.
struct Slot {
    std::uint32_t* at;
    unsigned count;

    Slot(const Warp& w, std::uint32_t operand)
        : at(reinterpret_cast<std::uint32_t*>(w.registers + slot_offset(operand))),
          count(is_uniform(operand) ? 1 : lanes_per_warp) {}
    Lanes read() const {
        Lanes lanes{};
        std::memcpy(lanes.data(), at, count * sizeof(*at));
        return lanes;
    }
    std::uint32_t of(unsigned lane) const { return at[count == 1 ? 0 : lane]; }

    /// Whether a lane has a number that is neither zero nor above `most`. Each kernel that flushes
    /// asks this of all its numbers: the compiler makes vectors of the loop.
    bool has_small(std::uint32_t most) const {
        if (count == 1) return 2 * *at - 2 < 2 * most;
        std::uint32_t found = 0;
        for (unsigned lane = 0; lane < lanes_per_warp; ++lane) found |= 2 * at[lane] - 2 < 2 * most;
        return found;
    }
};

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

/// The sources of an instruction, flushed while it runs.
struct FlushedSources {
    const Instruction& i;
    const Warp& w;
    Lanes before[4];  ///< of those that change
    bool changed[4] = {};

    FlushedSources(const Instruction& instruction, const Warp& warp) : i(instruction), w(warp) {
        for (unsigned k = 1; k < 4 && has_float_sources(i); ++k) {
            if (!i.operands[k]) continue;
            const Slot slot(w, i.operands[k]);
            const bool flushes = slot.has_small(smallest_normal - 1);
            changed[k] = flushes || i.operands[k] == i.operands[0];
            if (changed[k]) before[k] = slot.read();
            for (unsigned lane = 0; flushes && lane < slot.count; ++lane)
                slot.at[lane] = flushed(slot.at[lane]);
        }
    }
    /// Gives the sources their numbers back, but not those of `lanes` that are results now.
    void restore(std::uint32_t lanes) const {
        for (unsigned k = 1; k < 4; ++k) {
            if (!changed[k]) continue;
            const Slot slot(w, i.operands[k]);
            const std::uint32_t kept = i.operands[k] == i.operands[0] ? lanes : 0;
            for (unsigned lane = 0; lane < slot.count; ++lane)
                if (!(kept >> lane & 1)) slot.at[lane] = before[k][lane];
        }
    }
    float of(unsigned k, unsigned lane) const {
        if (!i.operands[k]) return 0;
        const Slot slot(w, i.operands[k]);
        return std::bit_cast<float>(changed[k] ? before[k][slot.count == 1 ? 0 : lane]
                                               : slot.of(lane));
    }
};

/// The number that rounding has made normal may be subnormal with more digits.
std::uint32_t flushed_result(const FlushedSources& sources, unsigned lane, std::uint32_t bits) {
    if ((bits & ~sign) != smallest_normal) return flushed(bits);
    const Instruction& i = sources.i;
    switch (i.operation) {
        case Operation::fmul:
        case Operation::fma:
        case Operation::fdiv:
        case Operation::frcp:
            return std::bit_cast<std::uint32_t>(
                soft::computed(i.operation, sources.of(1, lane), sources.of(2, lane),
                               sources.of(3, lane), {.flushes = true}));
        case Operation::cvt:
            if (i.second_type != Type::f64) return bits;
            return std::bit_cast<std::uint32_t>(soft::narrowed(
                sources.w.get<double>(i.operands[1], lane), {Rounding(i.detail & 7), true}));
        default:
            return bits;
    }
}

/// Runs the instruction `i` behind its prefix `first`, for `lanes`.
const Instruction* flush_lanes(const Instruction* first, const Instruction& i, Warp& w,
                               std::uint32_t lanes) {
    const FlushedSources sources(i, w);
    const Instruction* next = first->handlers[w.mode](first, w);
    sources.restore(lanes);
    const Slot to(w, i.operands[0]);
    if (!has_float_result(i) || !to.has_small(smallest_normal)) return next;
    for (unsigned lane = 0; lane < to.count; ++lane)
        if (lanes >> lane & 1) to.at[lane] = flushed_result(sources, lane, to.at[lane]);
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
