#include "jobs/output/why.h"

#include <fmt/format.h>

#include <stdexcept>

#include "compute/device/sentences.h"
#include "jobs/output/files_and_terminal.h"

namespace warpscope::jobs {

namespace {

std::string side_text(const std::string& title, std::size_t nodes,
                      const std::vector<std::string>& lines) {
    std::string text = fmt::format("  {}: {}\n", title, compute::plural(nodes, "instruction"));
    for (const std::string& line : lines) text += "    " + line + "\n";
    return text;
}

}  // namespace

Why ask_why(std::shared_ptr<const experiments::LaunchState> launch, const std::string& element,
            std::stop_token stop) {
    const experiments::WrongResults results(std::move(launch), stop);
    Why why;
    try {
        why.reason = results.why(results.find(element), stop);
    } catch (const std::invalid_argument& error) {
        throw UsageError(fmt::format("--why: {}", error.what()));
    }
    if (why.reason.word) {
        why.order = why.reason.word->order;
        why.nodes = why.reason.word->run.slice.nodes.size();
        if (why.reason.word->right) why.right_nodes = why.reason.word->right->slice.nodes.size();
    }
    why.slice = slice_lines(why.reason, false);
    why.right = slice_lines(why.reason, true);
    return why;
}

Json to_json(const Why& why) {
    const experiments::WrongReason& reason = why.reason;
    const auto place = reason.word ? reason.word->place() : std::nullopt;
    return {{"element", reason.element},
            {"found", reason.found},
            {"expected", reason.expected},
            {"brief", reason.brief},
            {"sentence", reason.whole},
            {"block", reason.block ? to_json(*reason.block) : Json(nullptr)},
            {"step", place ? Json(place->step) : Json(nullptr)},
            {"right_order", why.order.empty() ? Json(nullptr) : Json(why.order)},
            {"slice", {{"instructions", why.nodes}, {"lines", why.slice}}},
            {"right_slice", {{"instructions", why.right_nodes}, {"lines", why.right}}}};
}

std::string why_text(const Why& why) {
    std::string text =
        fmt::format("why {} {}\n  {}\n", why.reason.element,
                    why.reason.is_captured ? "differs" : "is wrong", why.reason.brief);
    if (why.reason.found.empty() || !why.reason.word) return text + "  " + why.reason.whole + "\n";
    text += fmt::format("  {}\n", why.reason.whole);
    text += side_text("This run computes it by", why.nodes, why.slice);
    if (!why.order.empty())
        text += side_text(fmt::format("The run in which {} computes it by", why.order),
                          why.right_nodes, why.right);
    return text;
}

}  // namespace warpscope::jobs
