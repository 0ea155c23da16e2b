#include <cfenv>

#include "emulator/handlers/handlers.h"
#include "emulator/warp/float_mode.h"

namespace warpscope::emulator {
namespace {

int host_rounding(Rounding rounding) {
    switch (rounding) {
        case Rounding::zero:
            return FE_TOWARDZERO;
        case Rounding::down:
            return FE_DOWNWARD;
        case Rounding::up:
            return FE_UPWARD;
        default:
            return FE_TONEAREST;
    }
}

}  // namespace

bool cpu_has_float_modes() {
    return true;
}

const Instruction* with_float_mode(const Instruction* i, Warp& w) {
    const FloatMode mode(i->detail, host_rounding(Rounding(i->target)));
    return i[1].handlers[w.mode](i + 1, w);
}

}  // namespace warpscope::emulator
