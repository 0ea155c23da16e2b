#include "experiments/framework/report.h"

#include <algorithm>

namespace warpscope::experiments {

std::string_view to_string(Verdict verdict) {
    switch (verdict) {
        case Verdict::pass:
            return "pass";
        case Verdict::unproven:
            return "unproven";
        case Verdict::finding:
            return "finding";
        case Verdict::fail:
            return "fail";
        case Verdict::none:
            break;
    }
    return "none";
}

std::string_view to_string(Timeline::Activity activity) {
    switch (activity) {
        case Timeline::Activity::delayed:
            return "delayed";
        case Timeline::Activity::writing:
            return "writing";
        case Timeline::Activity::waiting:
            return "waiting";
        case Timeline::Activity::reading:
            return "reading";
        case Timeline::Activity::computing:
            break;
    }
    return "computing";
}

const Reading* find(const Report& report, std::string_view name) {
    const auto found = std::find_if(report.begin(), report.end(),
                                    [&](const Reading& reading) { return reading.name == name; });
    return found == report.end() ? nullptr : &*found;
}

bool has_failure(const Report& report) {
    return std::any_of(report.begin(), report.end(),
                       [](const Reading& reading) { return reading.verdict == Verdict::fail; });
}

}  // namespace warpscope::experiments
