#pragma once

#include <string>
#include <vector>

#include "experiments/launch/launch_plan.h"
#include "support/add_kernel.h"

namespace warpscope::experiments {

/// A launch file of scale(); `more` are fields of the variable `calls`.
inline std::string scale_file(const std::string& more) {
    return R"json({"source": "scale.cu", "buffers": {"y": {"shape": 8, "fill": "i + 1"},
               "factors": {"shape": 4, "fill": "10 * (i + frame)"}, "calls": {"shape": 1)json" +
           more + R"json(}}, "launches": [{"kernel": "scale", "grid": 1, "block": 8}]})json";
}

inline LaunchPlan planned_scale(const std::string& text,
                                const std::vector<compiler::ModuleVariable>& of) {
    compiler::Signature signature;
    signature.name = signature.entry = "scale";
    signature.parameters = {{"y", tests::pointer_to(tests::f32)}};
    return plan_launch(launches::parse_launch_file(text), {signature}, of);
}

inline std::vector<compiler::ModuleVariable> scale_variables() {
    return {{"factors", "_ZN3lib7factorsE", tests::array_of(tests::f32, 4), true},
            {"calls", "_ZN3lib5callsE", tests::u32}};
}

}  // namespace warpscope::experiments
