#include "ui/parameters/controls_panel.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include "emulator/witness/schedule_file.h"
#include "experiments/framework/parameter.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/open_launch.h"
#include "ui/edits/barrier_switch.h"
#include "ui/language/language.h"
#include "ui/widgets/columns.h"
#include "ui/widgets/edition.h"
#include "ui/widgets/format.h"
#include "ui/widgets/glossary.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using experiments::Choice;
using experiments::Integer;
using experiments::Parameter;
using experiments::Real;
using experiments::Text;
using experiments::Toggle;

/// Returns whether a value needs a file that is not chosen yet.
bool lacks_file(const Stage& stage, const Parameter& parameter, const std::string& value) {
    const auto& all = stage.parameters().all();
    return std::any_of(all.begin(), all.end(), [&](const Parameter* p) {
        const auto& other = p->comes_with();
        return other && other->id == parameter.id() && other->text == value && p->text().empty();
    });
}

void apply(Ui& ui, Stage& stage, const Parameter& parameter, std::string value) {
    if (value == parameter.text()) return;
    if (lacks_file(stage, parameter, value)) return ui.ask(Command::open_file);
    if (!parameter.comes_with() || value.empty())
        return ui.later([&stage, held = stage.held(parameter), value = std::move(value)] {
            stage.assign(*held, value);
        });
    ui.later([&stage, values = std::vector<experiments::Assignment>{
                          {parameter.id(), std::move(value)}, *parameter.comes_with()}] {
        stage.assign(values);
    });
}

void choice_widget(Ui& ui, Stage& stage, const Choice& choice, const std::string& id, float width) {
    std::vector<std::string> ids, labels;
    for (const Choice::Word& word : choice.words()) {
        ids.push_back(word.id);
        labels.push_back(tr(word.label));
    }
    const bool few = labels.size() <= 3 && segments_width(labels) <= width;
    const int clicked = few ? segments(ui, id, ids, labels, choice.index(), width)
                            : dropdown(ui, id, ids, labels, choice.index(), width);
    if (clicked >= 0) apply(ui, stage, choice, ids[std::size_t(clicked)]);
}

/// Returns the flags of a slider. A slider over a wide range of positive numbers is logarithmic.
ImGuiSliderFlags slider_flags(double low, double high) {
    const bool wide = low > 0 ? high / low >= 200 : low == 0 && high >= 1000;
    return ImGuiSliderFlags_NoInput | ImGuiSliderFlags_NoRoundToFormat |
           (wide ? ImGuiSliderFlags_Logarithmic : 0);
}

/// Draws a slider and a field for one number. With `live`, the slider's value is applied while it
/// moves; otherwise when it is released, because a change of a size may take a while.
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
    // A word may stand for the lowest value.
    if (dragging && std::from_chars(ui.edit.text.data(), end, shown).ec != std::errc()) shown = low;
    ImGui::PushStyleVar(ImGuiStyleVar_FrameRounding, ui.px(4));
    const bool moved = ImGui::SliderScalar(("##" + slider_id).c_str(), type, &shown, &low, &high,
                                           "", slider_flags(double(low), double(high)));
    ImGui::PopStyleVar();
    record(ui, slider_id, parameter.text());
    tooltip(ui, tr(parameter.help()) + " " + parameter.range() + ".");
    if (moved) ui.edit = {slider_id, print(shown)};
    if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
        ui.edit = {slider_id, parameter.default_text()};
        ImGui::ClearActiveID();  // else the slider takes the value under the mouse
    }
    const bool types = ImGui::IsItemActivated() && ImGui::GetIO().KeyCtrl;
    if (types) {
        ui.edit = {};
        ImGui::ClearActiveID();
    }
    if (ui.edit.id == slider_id && (live || !ImGui::IsItemActive()))
        apply(ui, stage, parameter, ui.edit.text);
    const std::string current = ui.edit.id == slider_id ? ui.edit.text : parameter.text();
    if (ui.edit.id == slider_id && !ImGui::IsItemActive()) ui.edit = {};
    ImGui::SameLine(0, ui.px(6));
    if (types) ImGui::SetKeyboardFocusHere();
    std::string typed;
    if (field(ui, id, tr(current), field_width, typed)) apply(ui, stage, parameter, typed);
}

void text_widget(Ui& ui, Stage& stage, const Text& parameter, const std::string& id, float width) {
    const float button = std::max(ui.px(58), button_width(tr("Open…")));
    std::string typed;
    if (field(ui, id, parameter.text(), width - button - ui.px(6), typed))
        apply(ui, stage, parameter, typed);
    tooltip(ui, tr(parameter.help()));
    ImGui::SameLine(0, ui.px(6));
    // A click on this button leaves the field, and leaving the field applies its text.
    if (flat_button(ui, id + ".open", tr("Open…"), false, {button, 0})) ui.ask(Command::open_file);
    tooltip(ui, with_key(tr("Choose a file"), Command::open_file));
}

/// In a wider range, a pixel of the slider would stand for too many values.
constexpr double widest_slider = 1e12;

/// Returns the width of the range of legal values; 0 for parameters that are no numbers.
double span_of(const Parameter& parameter) {
    if (const auto* integer = dynamic_cast<const Integer*>(&parameter))
        return double(integer->high()) - double(integer->low());
    if (const auto* real = dynamic_cast<const Real*>(&parameter)) return real->high() - real->low();
    return 0;
}

void parameter_widget(Ui& ui, Stage& stage, const Parameter& parameter, const std::string& id,
                      float width) {
    if (const auto* toggle = dynamic_cast<const Toggle*>(&parameter)) {
        if (toggle_switch(ui, id, is_on(stage, *toggle), width))
            ui.later([&stage, held = stage.held(*toggle)] { flip(stage, *held); });
    } else if (const auto* choice = dynamic_cast<const Choice*>(&parameter)) {
        choice_widget(ui, stage, *choice, id, width);
    } else if (span_of(parameter) > widest_slider) {
        std::string typed;
        if (field(ui, id, parameter.text(), width, typed)) apply(ui, stage, parameter, typed);
        tooltip(ui, tr(parameter.help()));
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

/// The words of a default value as the widget shows them.
std::string shown_default(const Parameter& parameter) {
    const std::string text = parameter.default_text();
    if (const auto* choice = dynamic_cast<const Choice*>(&parameter))
        for (const Choice::Word& word : choice->words())
            if (word.id == text) return tr(word.label);
    return text.empty() ? tr("empty") : text;
}

void say_barrier_taken_out(Ui& ui, Stage& stage, const Parameter& parameter,
                           const std::string& id) {
    if (&parameter != stage.parameters().barrier_switch() || !stage.barrier_taken_out()) return;
    std::string words = tr("Taken out in the source of {}.cu.", stage.parameters().kernel_file());
    if (stage.read_only().empty()) words += tr(" A click puts it back.");
    paragraph(ui.fonts.small, colour::warning, words);
    record(ui, id + ".taken_out", words);
}

/// Returns the parameter's label with its unit: "Yaw (°)".
std::string label_of(const Parameter& parameter) {
    const auto* real = dynamic_cast<const Real*>(&parameter);
    if (!real || real->unit().empty()) return tr(parameter.label());
    return fmt::format("{} ({})", tr(parameter.label()), tr(real->unit()));
}

/// Draws a parameter's label and its widget. A change is assigned to the stage after the frame.
void parameter_row(Ui& ui, Stage& stage, const Parameter& parameter, const RowColumns& at) {
    const bool names_file = dynamic_cast<const Text*>(&parameter) != nullptr;
    if (names_file && !offers(Command::open_file)) return;
    const std::string id = stage.entry().id + "." + parameter.id();
    ImGui::PushID(id.c_str());
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float right = low.x + ImGui::GetContentRegionAvail().x;
    if (!parameter.is_default() && reset_mark(ui, id, shown_default(parameter)))
        apply(ui, stage, parameter, parameter.default_text());
    const std::size_t first = ui.widgets.widgets().size();
    const bool usable = parameter.matters() || parameter.comes_with();
    ImGui::BeginDisabled(!usable);
    const std::string label = label_of(parameter);
    row_label(ui, at, label, label + ": " + tr(parameter.help()));
    parameter_widget(ui, stage, parameter, id, at.widget);
    hover_label(label);
    ImGui::EndDisabled();
    if (!usable) ui.widgets.disable_from(first);
    const auto* choice = dynamic_cast<const Choice*>(&parameter);
    // The box may be too narrow for the chosen label.
    if (choice)
        tooltip(ui, tr(choice->words()[choice->index()].label) + ".\n" + tr(parameter.help()));
    if (dynamic_cast<const Toggle*>(&parameter)) tooltip(ui, tr(parameter.help()));
    say_barrier_taken_out(ui, stage, parameter, id);
    if (const std::string note = tr(parameter.note()); !note.empty()) {
        paragraph(ui.fonts.small, colour::dim, note);
        record(ui, id + ".note", note);
    }
    if (const auto remark = parameter.remark()) {
        paragraph(ui.fonts.small, colour::warning, tr(remark->sentence));
        record(ui, id + ".remark", remark->sentence);
    }
    std::function<void()> reset;
    if (!parameter.is_default())
        reset = [&] { apply(ui, stage, parameter, parameter.default_text()); };
    context_menu(ui, id, low, {right, ImGui::GetCursorScreenPos().y}, parameter.text(),
                 label + ": " + tr(parameter.help()), reset);
    ImGui::PopID();
}

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
    const auto has_choice = [](const Parameter* p) {
        const auto* choice = dynamic_cast<const Choice*>(p);
        return !choice || choice->words().size() > 1;
    };
    if (std::ranges::none_of(group.parameters, has_choice)) return;
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

void vsync_row(Ui& ui, const ViewOptions& options, const RowColumns& at) {
    const std::string help =
        tr("Wait for the monitor before each frame; off: unlimited frame rate");
    row_label(ui, at, tr("V-sync"), with_key(help, Command::toggle_vsync));
    if (toggle_switch(ui, "vsync", options.vsync, at.widget)) ui.ask(Command::toggle_vsync);
}

void device(Ui& ui, Stage& stage, const ViewOptions& options, const RowColumns& at) {
    if (offers_gpus()) device_row(ui, stage, at);
    run_rows(ui, stage, at);
    if (offers(Command::toggle_vsync)) vsync_row(ui, options, at);
    const compute::DeviceInfo& info = stage.device();
    ImGui::Dummy({0, ui.px(2)});
    const ImVec2 low = ImGui::GetCursorScreenPos();
    paragraph(ui.fonts.small, colour::faint,
              fmt::format("{}{}: {}", tr(std::string_view(info.name)),
                          info.in_helper ? tr(" (in a helper process)") : "",
                          tr(std::string_view(info.reason))));
    record_rect(ui, low, {low.x + ImGui::GetContentRegionAvail().x, ImGui::GetCursorScreenPos().y},
                "device.reason", info.reason);
    if (const ShownPicture& picture = stage.shown().picture; picture.texture && offers_gpus()) {
        paragraph(ui.fonts.small, colour::faint,
                  tr("Pixels reach OpenGL: {}", tr(gl::to_string(picture.path))));
        record(ui, "presentation", std::string(gl::to_string(picture.path)));
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
    if (group_heading(ui, options_, "Device", tr("Device"),
                      tr("The device that runs the kernels, and how it runs them."),
                      changed_run_settings(stage_)))
        device(ui, stage_, options_, at);
}

}  // namespace warpscope::ui
