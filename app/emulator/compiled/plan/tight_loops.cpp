#include "emulator/compiled/plan/tight_loops.h"

#include <algorithm>

namespace warpscope::emulator {

TightLoops::TightLoops(const Units& units, const Variables& variables, const Liveness& liveness)
    : around(units.size()), written(1, variables.none()) {
    std::uint32_t begin = 0;  // behind the last loop's end, or behind what ends compiled code
    for (std::uint32_t u = 0; u < units.size(); ++u) {
        if (units[u].ends_compiled_code()) begin = u + 1;
        if (units[u].kind != Unit::Kind::branches) continue;
        const std::uint32_t target = units.target_of(units[u]);
        if (target > u) continue;
        if (target >= begin) {
            const auto number = std::uint32_t(written.size());
            std::fill(around.begin() + target, around.begin() + u + 1, number);
            NumberSet& found = written.emplace_back(liveness.writes[u]);
            for (std::uint32_t k = target; k < u; ++k) found |= liveness.writes[k];
        }
        begin = u + 1;
    }
}

}  // namespace warpscope::emulator
