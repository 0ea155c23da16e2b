#include "experiments/export/trace.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace warpscope::experiments {

std::string to_trace(const Timeline& timeline) {
    using Json = nlohmann::ordered_json;
    Json events = Json::array();
    const auto name = [&](const char* what, unsigned warp, const std::string& words) {
        events.push_back(
            {{"name", what}, {"ph", "M"}, {"pid", 0}, {"tid", warp}, {"args", {{"name", words}}}});
    };
    name("process_name", 0, timeline.title);
    for (unsigned warp = 0; warp < timeline.warps; ++warp)
        name("thread_name", warp, fmt::format("warp {}", warp));
    for (const Timeline::Span& span : timeline.spans)
        events.push_back({{"name", to_string(span.activity)},
                          {"cat", "warp"},
                          {"ph", "X"},
                          {"ts", span.begin},
                          {"dur", span.end - span.begin},
                          {"pid", 0},
                          {"tid", span.warp},
                          {"args", {{"line", span.line}}}});
    const Json json{{"traceEvents", events}, {"otherData", {{"unit", timeline.unit}}}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace warpscope::experiments
