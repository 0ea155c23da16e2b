#include "ui/parameters/parameter_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <type_traits>
#include <vector>

#include "ui/edits/barrier_switch.h"
#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/glossary.h"
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
    if (ui.edit.id == slider_id && (live || !ImGui::IsItemActive()))
        apply(ui, stage, parameter, ui.edit.text);
    const std::string current = ui.edit.id == slider_id ? ui.edit.text : parameter.text();
    if (ui.edit.id == slider_id && !ImGui::IsItemActive()) ui.edit = {};
    ImGui::SameLine(0, ui.px(6));
    std::string typed;
    if (field(ui, id, current, field_width, typed)) apply(ui, stage, parameter, typed);
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
    paragraph(ui.fonts.small, colour::finding, words);
    record(ui, id + ".taken_out", words);
}

}  // namespace

std::string label_of(const Parameter& parameter) {
    const auto* real = dynamic_cast<const Real*>(&parameter);
    if (!real || real->unit().empty()) return tr(parameter.label());
    return fmt::format("{} ({})", tr(parameter.label()), tr(real->unit()));
}

void parameter_row(Ui& ui, Stage& stage, const Parameter& parameter, const RowColumns& at) {
    const std::string id = stage.entry().id + "." + parameter.id();
    ImGui::PushID(id.c_str());
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
        paragraph(ui.fonts.small, colour::finding, tr(remark->sentence));
        record(ui, id + ".remark", remark->sentence);
    }
    ImGui::PopID();
}

}  // namespace warpscope::ui
