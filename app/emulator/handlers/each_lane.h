#pragma once

#include <utility>

#include "emulator/handlers/handlers.h"

namespace warpscope::emulator {

template <typename F, typename R, typename... A, std::size_t... k>
inline const Instruction* run_each_lane(const Instruction* i, Warp& w, std::index_sequence<k...>) {
    const unsigned count = is_uniform(i->operands[0]) ? 1 : lanes_per_warp;
    for (unsigned lane = 0; lane < count; ++lane)
        w.set<R>(i->operands[0], lane, R(F{}(w.get<A>(i->operands[k + 1], lane)...)));
    return i + 1;
}

template <typename F, typename R, typename... A>
const Instruction* each_lane(const Instruction* i, Warp& w) {
    return run_each_lane<F, R, A...>(i, w, std::index_sequence_for<A...>{});
}

/// A handler that applies a lambda without captures to every lane: operand 0 = f(operand 1, …).
template <typename R, typename... A, typename F>
Handler lanes(F) {
    return each_lane<F, R, A...>;
}

}  // namespace warpscope::emulator
