#include "ui/parameters/controls_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <type_traits>

#include "emulator/witness/schedule_file.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/open_launch.h"
#include "ui/language/language.h"
#include "ui/parameters/parameter_row.h"
#include "ui/widgets/enum_choice.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using experiments::Parameter;
using experiments::ParameterGroup;

/// Draws the title of a group with an arrow, and the number of its changed values while it is
/// folded. A click folds or opens it. `why_folded`: why it is folded at first; empty: it is open.
/// Returns whether it is open.
bool group_heading(Ui& ui, ViewOptions& options, const std::string& id, const std::string& title,
                   const std::string& why_folded, std::ptrdiff_t changed) {
    const auto wished = options.folds.find(id);
    const bool folded = wished == options.folds.end() ? !why_folded.empty() : wished->second;
    const float height = ui.px(26);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const bool clicked = hit_area("group." + id, {width, height});
    record(ui, "group." + id, folded ? "folded" : "open");
    const bool hovered = ImGui::IsItemHovered();
    tooltip(ui, why_folded);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float line = low.y + height - ui.px(2);
    list.AddLine({low.x, line}, {low.x + width, line}, colour::line, ui.px(1));
    const ImVec2 arrow{low.x + width - ui.px(8), low.y + height / 2 - ui.px(1)};
    draw_icon(folded ? Icon::fold : Icon::unfold, arrow, ui.px(4.5F),
              hovered ? colour::text : colour::faint);
    ImGui::PushFont(ui.fonts.strong);
    const float y = low.y + (height - ImGui::GetTextLineHeight()) / 2 - ui.px(1);
    const float after = low.x + ImGui::CalcTextSize(title.c_str()).x + ui.px(10);
    list.AddText({low.x, y}, folded && !hovered ? colour::dim : colour::text, title.c_str());
    ImGui::PopFont();
    if (folded && changed > 0)
        list.AddText(ui.fonts.small, text_size(ui.fonts.small), {after, y + ui.px(1)},
                     colour::accent, tr("{} changed", changed).c_str());
    if (clicked) options.folds[id] = !folded;
    return !folded;
}

std::ptrdiff_t changed_of(const std::vector<Parameter*>& parameters) {
    return std::count_if(parameters.begin(), parameters.end(),
                         [](const Parameter* p) { return !p->is_default(); });
}

void group(Ui& ui, Stage& stage, ViewOptions& options, const ParameterGroup& group,
           const RowColumns& at) {
    const std::string id = stage.entry().id + "." + group.title;
    const std::string why_folded =
        group.matters() ? tr(group.otherwise) : tr("These have no effect with the other settings.");
    const bool open =
        group_heading(ui, options, id, tr(group.title), why_folded, changed_of(group.parameters));
    if (!open) return;
    for (const Parameter* p : group.parameters) parameter_row(ui, stage, *p, at);
    ImGui::Dummy({0, 0});
}

/// Draws a button that sets all parameters to their defaults, if one of them has another value.
void defaults_button(Ui& ui, Stage& stage) {
    const auto& all = stage.parameters().all();
    if (changed_of(all) == 0) return;
    if (flat_button(ui, "parameters.defaults", tr("Reset to defaults")))
        ui.later([&stage] {
            std::vector<experiments::Assignment> defaults;
            for (const Parameter* p : stage.parameters().all())
                defaults.push_back({p->id(), p->default_text()});
            stage.assign(defaults);
        });
    tooltip(ui, tr("Set every parameter of this experiment back to its default."));
    ImGui::Dummy({0, ui.px(4)});
}

void device_row(Ui& ui, Stage& stage, const RowColumns& at) {
    row_label(ui, at, tr("Run on"), tr("The device that runs the kernels: a GPU or the emulator."));
    std::vector<std::string> devices, labels;
    for (const auto& [wish, label] : stage.shown().devices) {
        devices.push_back(wish);
        labels.push_back(tr(label));
    }
    auto found = std::find(devices.begin(), devices.end(), stage.device_wish());
    if (found == devices.end()) {
        found = devices.insert(devices.begin(), stage.device_wish());
        labels.insert(labels.begin(), stage.device_wish());
    }
    const auto chosen = std::size_t(found - devices.begin());
    const int clicked = dropdown(ui, "device", devices, labels, chosen, at.widget);
    if (clicked >= 0)
        ui.later([&stage, wish = devices[std::size_t(clicked)]] { stage.set_device(wish); });
}

/// Draws the label of a run setting and, if it is not at its default, the mark that sets it back.
template <class Value>
void run_label(Ui& ui, Stage& stage, const RowColumns& at, const char* id, const char* label,
               const std::string& help, Value compute::RunSettings::*member) {
    const Value usual = compute::RunSettings().*member;
    if (stage.run().*member != usual) {
        std::string words;
        if constexpr (std::is_enum_v<Value>)
            words = entries_of(usual).labels[entries_of(usual).chosen];
        else
            words = fmt::format("{}", usual);
        if (reset_mark(ui, id, words))
            ui.later([&stage, member, usual] {
                compute::RunSettings run = stage.run();
                run.*member = usual;
                stage.set_run(run);
            });
    }
    row_label(ui, at, label, help);
}

void seed_row(Ui& ui, Stage& stage, const RowColumns& at) {
    run_label(
        ui, stage, at, "seed", tr("Schedule seed"),
        tr("The seed of the random order of the warps. An equal seed gives an equal picture."),
        &compute::RunSettings::seed);
    compute::RunSettings run = stage.run();
    std::string typed;
    if (!field(ui, "seed", fmt::format("{}", run.seed), at.widget, typed)) return;
    const auto end = typed.data() + typed.size();
    if (std::from_chars(typed.data(), end, run.seed).ptr == end && !typed.empty())
        ui.later([&stage, run] { stage.set_run(run); });
    else
        stage.say(tr("The seed '{}' is not a whole number of 0 or more.", typed), Tone::error);
}

void run_rows(Ui& ui, Stage& stage, const RowColumns& at) {
    using compute::RunSettings;
    RunSettings run = stage.run();
    const auto change = [&] { ui.later([&stage, run] { stage.set_run(run); }); };
    run_label(ui, stage, at, "math", tr("Math"),
              tr("Precise: results are rounded as IEEE 754 requires. Fast: compiled with nvcc's "
                 "-use_fast_math. A change resets the experiment to frame 0."),
              &RunSettings::math);
    if (const auto math = enum_segments(ui, "math", run.math, at.widget)) {
        run.math = *math;
        change();
    }
    if (stage.device().kind != compute::DeviceKind::emulator) return;
    run_label(ui, stage, at, "schedule", tr("Schedule"),
              tr("The order in which the emulator runs the warps of a block. It decides what the "
                 "result of a race looks like. A change resets the experiment to frame 0."),
              &RunSettings::schedule);
    EnumEntries schedules = entries_of(run.schedule);
    if (run.turns) {
        schedules.chosen = schedules.ids.size();
        schedules.ids.emplace_back("listed");
        schedules.labels.push_back(std::filesystem::path(run.turns->name).filename().string());
    }
    if (const auto schedule = entry_clicked<compute::Schedule>(dropdown(
            ui, "schedule", schedules.ids, schedules.labels, schedules.chosen, at.widget))) {
        run.schedule = *schedule;
        run.turns.reset();
        change();
    }
    run_label(ui, stage, at, "barriers", tr("Barriers"),
              std::string(barrier_policy_help) + tr(" A change resets the experiment to frame 0."),
              &RunSettings::barriers);
    if (const auto barriers = enum_dropdown(ui, "barriers", run.barriers, at.widget)) {
        run.barriers = *barriers;
        change();
    }
    run_label(
        ui, stage, at, "landing", tr("Copies land"),
        tr("When the asynchronous copies of a kernel (cp.async and bulk copies) write their "
           "destination: at a random moment, at once, or as late as the waits allow. It decides "
           "what a missing wait looks like. A change resets the experiment to frame 0."),
        &RunSettings::landing);
    if (const auto landing = enum_dropdown(ui, "landing", run.landing, at.widget)) {
        run.landing = *landing;
        change();
    }
    seed_row(ui, stage, at);
}

std::ptrdiff_t changed_run_settings(const Stage& stage) {
    const compute::RunSettings run = stage.run(), usual;
    const std::ptrdiff_t math = run.math != usual.math;
    if (stage.device().kind != compute::DeviceKind::emulator) return math;
    return math + (run.schedule != usual.schedule) + (run.barriers != usual.barriers) +
           (run.landing != usual.landing) + (run.seed != usual.seed);
}

void device(Ui& ui, Stage& stage, const RowColumns& at) {
    device_row(ui, stage, at);
    run_rows(ui, stage, at);
    const compute::DeviceInfo& info = stage.device();
    ImGui::Dummy({0, ui.px(2)});
    const ImVec2 low = ImGui::GetCursorScreenPos();
    paragraph(ui.fonts.small, colour::faint,
              fmt::format("{}{}: {}", tr(std::string_view(info.name)),
                          info.in_helper ? tr(" (in a helper process)") : "",
                          tr(std::string_view(info.reason))));
    record_rect(ui, low, {low.x + ImGui::GetContentRegionAvail().x, ImGui::GetCursorScreenPos().y},
                "device.reason", info.reason);
    if (const ShownPicture& picture = stage.shown().picture; picture.texture) {
        paragraph(ui.fonts.small, colour::faint,
                  tr("Pixels: {}", tr(std::string_view(gl::to_string(picture.path)))));
        record(ui, "presentation", gl::to_string(picture.path));
        tooltip(ui, picture.reason);
    }
}

/// Draws the choice of a kernel of the gallery, or the user's own launch file.
void gallery_row(Ui& ui, Stage& stage, const RowColumns& at) {
    const auto& plan = stage.shown().plan;
    if (!plan) return;
    row_label(ui, at, tr("Gallery"),
              tr("A kernel to start from, with its launch file. Change both as you like."));
    std::vector<std::string> names, labels;
    if (!plan->file.built_in) {
        names.emplace_back();
        labels.push_back(plan->file.source.filename().string());
    }
    std::size_t chosen = 0;
    for (const experiments::GalleryKernel& kernel : experiments::gallery()) {
        if (plan->file.built_in && plan->file.source.stem() == kernel.name) chosen = names.size();
        names.emplace_back(kernel.name);
        labels.emplace_back(tr(kernel.title));
    }
    const int clicked = dropdown(ui, "gallery", names, labels, chosen, at.widget);
    if (clicked >= 0 && !names[std::size_t(clicked)].empty())
        ui.later([&stage, name = names[std::size_t(clicked)]] {
            stage.open_launch(experiments::gallery_file(name), "");
        });
}

}  // namespace

void ControlsPanel::draw(Ui& ui) {
    paragraph(ui.fonts.small, colour::dim, tr(stage_.entry().summary));
    ImGui::Dummy({0, ui.px(2)});
    const experiments::ParameterSet& set = stage_.parameters();
    float widest = ImGui::CalcTextSize(tr("Schedule seed")).x;
    for (const Parameter* p : set.all())
        widest = std::max(widest, ImGui::CalcTextSize(p->label().c_str()).x);
    const RowColumns at = row_columns(ui, widest);
    gallery_row(ui, stage_, at);
    program_.draw(ui, at);
    for (const ParameterGroup& one : set.groups()) group(ui, stage_, options_, one, at);
    defaults_button(ui, stage_);
    if (group_heading(ui, options_, "Device", tr("Device"), "", changed_run_settings(stage_)))
        device(ui, stage_, at);
}

}  // namespace warpscope::ui
