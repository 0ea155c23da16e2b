#include "ui/edits/barrier_switch.h"

#include <algorithm>
#include <vector>

namespace warpscope::ui {
namespace {

/// Puts back the barriers that are commented out. Where there is no barrier at all, the built-in
/// text replaces the edit.
void put_barriers_back(KernelDocument& document) {
    const std::vector<BarrierLine> lines = document.barriers();
    if (lines.empty()) return document.replace(document.shipped());
    // The newest text may have its barriers back already and only not run yet.
    const auto is_out = [](const BarrierLine& one) { return one.state == BarrierState::out; };
    if (!std::all_of(lines.begin(), lines.end(), is_out)) return;
    for (const BarrierLine& one : lines) document.toggle_barriers(one.line);
}

}  // namespace

bool is_on(const Stage& stage, const experiments::Toggle& toggle) {
    const bool out = &toggle == stage.parameters().barrier_switch() && stage.barrier_taken_out();
    return toggle && !out;
}

void flip(Stage& stage, const experiments::Toggle& toggle) {
    const bool out = &toggle == stage.parameters().barrier_switch() && stage.barrier_taken_out();
    if (out && stage.read_only().empty())
        put_barriers_back(stage.documents()[stage.parameters().kernel_file()]);
    const bool wish = out || !toggle;
    if (wish != toggle) stage.assign(toggle, wish ? "on" : "off");
}

void revert_edits(Stage& stage) {
    for (const auto& [file, edit] : stage.shown().edits) {
        KernelDocument& document = stage.documents()[file];
        document.replace(document.shipped());
    }
}

std::string edited_files(const Stage& stage) {
    std::string names;
    for (const auto& [file, edit] : stage.shown().edits)
        if (edit->source != stage.documents().text_before_edits(file))
            names += (names.empty() ? "" : ", ") + stage.documents().name_of(file);
    return names;
}

}  // namespace warpscope::ui
