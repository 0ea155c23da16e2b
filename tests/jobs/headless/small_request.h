#pragma once

#include <set>
#include <stdexcept>
#include <string>

#include "jobs/headless/headless.h"

namespace warpscope::jobs {

/// Throws, and so fails the test, if a run that does not need OpenGL opens it.
inline Painter no_painter() {
    return [](const Shot&) -> Presentation { throw std::logic_error("no painter"); };
}

inline std::set<std::string> keys(const Json& json) {
    std::set<std::string> names;
    for (const auto& item : json.items()) names.insert(item.key());
    return names;
}

inline HeadlessRequest small(const std::string& experiment) {
    HeadlessRequest request{.experiment = experiment};
    if (experiment == "ripple") request.assignments = {{"size", "64"}};
    if (experiment == "nbody") request.assignments = {{"bodies", "100"}, {"block", "32"}};
    if (experiment == "dot" || experiment == "reduction") request.assignments = {{"n", "1000"}};
    request.frames = 2;
    request.size = {320, 200};
    return request;
}

}  // namespace warpscope::jobs
