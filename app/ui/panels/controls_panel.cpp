#include "ui/panels/controls_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <type_traits>

#include "compute/pick_device.h"
#include "ui/widgets/enum_choice.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using experiments::Choice;
using experiments::Integer;
using experiments::Parameter;
using experiments::Real;
using experiments::Text;
using experiments::Toggle;

/// Widths of the columns of labels and widgets.
struct Columns {
    float label;
    float widget;
};

Columns columns(Ui& ui, float widest_label) {
    const float width = ImGui::GetContentRegionAvail().x;
    const float gap = ui.px(12);
    const float label = std::min(std::max(widest_label + gap, ui.px(84)), width * 0.45F);
    return {label, std::max(ui.px(24), width - label)};
}

/// Draws the label and leaves the cursor at the widget's place.
void row_label(Ui& ui, const Columns& at, const std::string& label, const std::string& help) {
    ImGui::AlignTextToFramePadding();
    const float x = ImGui::GetCursorPosX();
    clipped_text(ui.fonts.body, colour::dim, label, at.label - ui.px(8));
    tooltip(ui, help);
    ImGui::SameLine(x + at.label, 0);
}

void apply(Ui& ui, Stage& stage, const Parameter& parameter, std::string value) {
    if (value == parameter.text()) return;
    ui.later([&stage, id = parameter.id(), value = std::move(value)] {
        const experiments::Assignment one{id, value};
        stage.assign({&one, 1});
    });
}

void choice_widget(Ui& ui, Stage& stage, const Choice& choice, const std::string& id, float width) {
    std::vector<std::string> ids, labels;
    for (const Choice::Word& word : choice.words()) {
        ids.push_back(word.id);
        labels.push_back(word.label);
    }
    const bool few = labels.size() <= 3 && segments_width(labels) <= width;
    const int clicked = few ? segments(ui, id, ids, labels, choice.index(), width)
                            : dropdown(ui, id, ids, labels, choice.index(), width);
    if (clicked >= 0) apply(ui, stage, choice, ids[std::size_t(clicked)]);
}

/// A slider over a wide range of positive numbers is logarithmic.
ImGuiSliderFlags slider_flags(double low, double high) {
    const bool wide = low > 0 ? high / low >= 200 : low == 0 && high >= 1000;
    return ImGuiSliderFlags_NoInput | ImGuiSliderFlags_NoRoundToFormat |
           (wide ? ImGuiSliderFlags_Logarithmic : 0);
}

/// A slider and a field for one number. The slider's value is applied while it moves (`live`), or
/// else when it is released, because a change of a size may take a while.
template <class Number, class Print>
void number_widget(Ui& ui, Stage& stage, const Parameter& parameter, const std::string& id,
                   float width, Number value, Number low, Number high, bool live, Print print) {
    const std::string slider_id = id + ".slider";
    const bool dragging = ui.edit.id == slider_id;
    const float field_width = std::min(ui.px(86), width * 0.5F);
    const auto type = std::is_integral_v<Number> ? ImGuiDataType_S64 : ImGuiDataType_Double;
    ImGui::SetNextItemWidth(width - field_width - ui.px(6));
    Number shown = value;
    const char* const end = ui.edit.text.data() + ui.edit.text.size();
    // The lowest value may be a word.
    if (dragging && std::from_chars(ui.edit.text.data(), end, shown).ec != std::errc()) shown = low;
    ImGui::PushStyleVar(ImGuiStyleVar_FrameRounding, ui.px(4));
    const bool moved = ImGui::SliderScalar(("##" + slider_id).c_str(), type, &shown, &low, &high,
                                           "", slider_flags(double(low), double(high)));
    ImGui::PopStyleVar();
    record(ui, slider_id, parameter.text());
    tooltip(ui, parameter.help() + " " + parameter.range() + ".");
    if (moved) ui.edit = {slider_id, print(shown)};
    if (ui.edit.id == slider_id && (live || !ImGui::IsItemActive()))
        apply(ui, stage, parameter, ui.edit.text);
    const std::string current = ui.edit.id == slider_id ? ui.edit.text : parameter.text();
    if (ui.edit.id == slider_id && !ImGui::IsItemActive()) ui.edit = {};
    ImGui::SameLine(0, ui.px(6));
    std::string typed;
    if (field(ui, id, current, field_width, typed)) apply(ui, stage, parameter, typed);
}

void text_widget(Ui& ui, Stage& stage, const Text& parameter, const std::string& id, float width) {
    const float button = ui.px(58);
    std::string typed;
    if (field(ui, id, parameter.text(), width - button - ui.px(6), typed))
        apply(ui, stage, parameter, typed);
    tooltip(ui, parameter.help());
    ImGui::SameLine(0, ui.px(6));
    // A click on this button leaves the field, and leaving the field applies its text.
    flat_button(ui, id + ".apply", "Apply", false, {button, 0});
}

void parameter_widget(Ui& ui, Stage& stage, const Parameter& parameter, const std::string& id,
                      float width) {
    if (const auto* toggle = dynamic_cast<const Toggle*>(&parameter)) {
        if (toggle_switch(ui, id, *toggle, width))
            apply(ui, stage, parameter, *toggle ? "off" : "on");
    } else if (const auto* choice = dynamic_cast<const Choice*>(&parameter)) {
        choice_widget(ui, stage, *choice, id, width);
    } else if (const auto* integer = dynamic_cast<const Integer*>(&parameter)) {
        number_widget<std::int64_t>(ui, stage, parameter, id, width, *integer, integer->low(),
                                    integer->high(), false,
                                    [&](std::int64_t v) { return integer->text_of(v); });
    } else if (const auto* real = dynamic_cast<const Real*>(&parameter)) {
        number_widget<double>(ui, stage, parameter, id, width, *real, real->low(), real->high(),
                              true,
                              [&](double v) { return rounded(v, real->low(), real->high()); });
    } else if (const auto* words = dynamic_cast<const Text*>(&parameter)) {
        text_widget(ui, stage, *words, id, width);
    }
}

void parameters(Ui& ui, Stage& stage) {
    const experiments::ParameterSet& set = stage.parameters();
    float widest = 0;
    for (const Parameter* p : set.all())
        widest = std::max(widest, ImGui::CalcTextSize(p->label().c_str()).x);
    const Columns at = columns(ui, widest);
    for (const Parameter* p : set.all()) {
        const std::string id = stage.entry().id + "." + p->id();
        ImGui::PushID(id.c_str());
        const auto* real = dynamic_cast<const Real*>(p);
        const bool unit = real && !real->unit().empty();
        const std::size_t first = ui.widgets.widgets().size();
        ImGui::BeginDisabled(!p->matters());
        row_label(ui, at, unit ? fmt::format("{} ({})", p->label(), real->unit()) : p->label(),
                  p->help());
        parameter_widget(ui, stage, *p, id, at.widget);
        ImGui::EndDisabled();
        if (!p->matters()) ui.widgets.disable_from(first);
        const auto* choice = dynamic_cast<const Choice*>(p);
        // The box may be too narrow for the chosen label.
        if (choice) tooltip(ui, choice->words()[choice->index()].label + ".\n" + p->help());
        if (dynamic_cast<const Toggle*>(p)) tooltip(ui, p->help());
        if (const auto remark = p->remark()) {
            paragraph(ui.fonts.small, colour::finding, remark->sentence);
            record(ui, id + ".remark", remark->sentence);
        }
        ImGui::PopID();
    }
}

void device_row(Ui& ui, Stage& stage, std::vector<std::string>& devices, const Columns& at) {
    row_label(ui, at, "Run on", "The device that runs the kernels: a GPU or the emulator.");
    // Asking the driver takes time, so the list is made when the mouse comes near.
    if (devices.empty()) devices = {stage.device_wish()};
    if (ImGui::IsMouseHoveringRect(ImGui::GetCursorScreenPos(),
                                   {ImGui::GetCursorScreenPos().x + at.widget,
                                    ImGui::GetCursorScreenPos().y + ImGui::GetFrameHeight()}) &&
        devices.size() == 1)
        devices = compute::device_choices();
    auto found = std::find(devices.begin(), devices.end(), stage.device_wish());
    if (found == devices.end()) found = devices.insert(devices.begin(), stage.device_wish());
    const auto chosen = std::size_t(found - devices.begin());
    const int clicked = dropdown(ui, "device", devices, devices, chosen, at.widget);
    if (clicked >= 0)
        ui.later([&stage, wish = devices[std::size_t(clicked)]] { stage.set_device(wish); });
}

void run_rows(Ui& ui, Stage& stage, const Columns& at) {
    compute::RunSettings run = stage.run();
    const auto change = [&] { ui.later([&stage, run] { stage.set_run(run); }); };
    row_label(ui, at, "Math",
              "Precise: results are rounded as IEEE 754 requires. Fast: compiled with nvcc's "
              "-use_fast_math. A change resets the experiment to frame 0.");
    if (const auto math = enum_segments(ui, "math", run.math, at.widget)) {
        run.math = *math;
        change();
    }
    if (stage.device().kind != compute::DeviceKind::emulator) return;
    row_label(ui, at, "Schedule",
              "The order in which the emulator runs the warps of a block. It decides what the "
              "result of a race looks like. A change resets the experiment to frame 0.");
    if (const auto schedule = enum_dropdown(ui, "schedule", run.schedule, at.widget)) {
        run.schedule = *schedule;
        change();
    }
    row_label(ui, at, "Barriers",
              barrier_policy_help() + " A change resets the experiment to frame 0.");
    if (const auto barriers = enum_dropdown(ui, "barriers", run.barriers, at.widget)) {
        run.barriers = *barriers;
        change();
    }
    row_label(ui, at, "Seed",
              "The seed of the random order. An equal seed gives an equal picture.");
    std::string typed;
    if (!field(ui, "seed", fmt::format("{}", run.seed), at.widget, typed)) return;
    const auto end = typed.data() + typed.size();
    if (std::from_chars(typed.data(), end, run.seed).ptr == end && !typed.empty())
        change();
    else
        stage.say(fmt::format("The seed '{}' is not a whole number of 0 or more.", typed),
                  Tone::error);
}

void device(Ui& ui, Stage& stage, std::vector<std::string>& devices) {
    heading(ui, "Device");
    const Columns at = columns(ui, ImGui::CalcTextSize("Schedule").x);
    device_row(ui, stage, devices, at);
    run_rows(ui, stage, at);
    const compute::DeviceInfo& info = stage.device();
    ImGui::Dummy({0, ui.px(2)});
    const ImVec2 low = ImGui::GetCursorScreenPos();
    paragraph(ui.fonts.small, colour::faint,
              fmt::format("{}{}: {}", info.name, info.in_helper ? " (in a helper process)" : "",
                          info.reason));
    record_rect(ui, low, {low.x + ImGui::GetContentRegionAvail().x, ImGui::GetCursorScreenPos().y},
                "device.reason", info.reason);
    if (const ShownPicture& picture = stage.shown().picture; picture.texture) {
        paragraph(ui.fonts.small, colour::faint,
                  fmt::format("Pixels: {}. {}", gl::to_string(picture.path), picture.reason));
        record(ui, "presentation", gl::to_string(picture.path));
    }
}

}  // namespace

void ControlsPanel::draw(Ui& ui) {
    text(ui.fonts.value, colour::text, stage_.entry().title);
    paragraph(ui.fonts.small, colour::dim, stage_.entry().summary);
    ImGui::Dummy({0, ui.px(6)});
    parameters(ui, stage_);
    rule(ui);
    device(ui, stage_, devices_);
}

}  // namespace warpscope::ui
