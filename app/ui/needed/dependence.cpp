#include "ui/needed/dependence.h"

#include <algorithm>

namespace warpscope::ui {

using experiments::Dependence;

ImU32 dependence_colour(Dependence dependence) {
    constexpr ImU32 grey = IM_COL32(110, 112, 118, 190), magenta = IM_COL32(255, 60, 170, 190);
    return dependence == Dependence::depends ? magenta : dependence == Dependence::none ? grey : 0;
}

const std::vector<Dependence>& dependence_of(const Stage& stage, const NeedFinder& needs,
                                             const std::string& buffer) {
    static const std::vector<Dependence> nothing;
    const auto& inspection = stage.checks().inspection;
    const NeedFinder::Barrier* const barrier = needs.shown();
    if (!barrier || !inspection || !needs.knows(inspection->launch)) return nothing;
    const auto& results = needs.answer()->results;
    for (std::size_t k = 0; k < std::min(results.size(), barrier->elements.size()); ++k)
        if (results[k].name == buffer) return barrier->elements[k];
    return nothing;
}

}  // namespace warpscope::ui
