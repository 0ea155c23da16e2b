#include <fmt/format.h>

#include <algorithm>

#include "ui/language/language.h"
#include "ui/launch_form/launch_panel.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

using launches::BufferSpec;
using launches::Expectation;
using launches::Expression;
using launches::LaunchError;
using launches::LaunchFile;

namespace {

constexpr const char* fill_help = tr_later(
    "An expression of i, x, y, z and the scalars; uniform(0, 1); normal(0, 1, seed 2); or "
    "file(x.npy).");

Expectation* expectation_of(LaunchFile& file, const std::string& buffer) {
    const auto found = std::ranges::find(file.expect, buffer, &Expectation::buffer);
    return found == file.expect.end() ? nullptr : &*found;
}

std::string equals_text(const Expectation& expected) {
    if (const auto* other = std::get_if<std::string>(&expected.equals)) return *other;
    return launches::fill_text(std::get<launches::Fill>(expected.equals));
}

double tolerance(const std::string& text) {
    const double value = launches::real(Expression(text).value(launches::Names()));
    if (!(value >= 0)) throw LaunchError(tr("write a number that is not negative"));
    return value;
}

void set_expected(LaunchFile& file, const std::string& buffer, const std::string& text) {
    Expectation* expected = expectation_of(file, buffer);
    if (text.empty()) {
        std::erase_if(file.expect, [&](const Expectation& one) { return one.buffer == buffer; });
        return;
    }
    Expectation next{.buffer = buffer, .equals = launches::Fill(Expression("0"))};
    if (expected) next = *expected;
    if (file.find_buffer(text))
        next.equals = text;
    else
        next.equals = launches::parse_fill_text(text);
    if (expected)
        *expected = next;
    else
        file.expect.push_back(next);
}

}  // namespace

void LaunchPanel::expectation(Ui& ui, const std::string& buffer) {
    LaunchFile file = form_.file();
    const Expectation* expected = expectation_of(file, buffer);
    const std::string place = "expect." + buffer;
    cell(ui, place, expected ? equals_text(*expected) : "", 220,
         std::string(tr("What the buffer must hold after a frame: another buffer, or what a fill "
                        "takes. ")) +
             tr(fill_help),
         [buffer](LaunchFile& next, const std::string& text) { set_expected(next, buffer, text); });
    ImGui::SameLine(0, ui.px(gap));
    ImGui::BeginDisabled(!expected);
    cell(ui, place + ".absolute", expected ? fmt::format("{}", expected->absolute) : "", 70,
         tr("A number may differ by absolute + relative * abs(expected)."),
         [buffer](LaunchFile& next, const std::string& text) {
             expectation_of(next, buffer)->absolute = tolerance(text);
         });
    ImGui::SameLine(0, ui.px(gap));
    cell(ui, place + ".relative", expected ? fmt::format("{}", expected->relative) : "", 70,
         tr("A number may differ by absolute + relative * abs(expected)."),
         [buffer](LaunchFile& next, const std::string& text) {
             expectation_of(next, buffer)->relative = tolerance(text);
         });
    ImGui::EndDisabled();
}

void LaunchPanel::buffer_row(Ui& ui, std::size_t index) {
    const BufferSpec& buffer = form_.file().buffers[index];
    const std::string place = "buffers." + buffer.name;
    const float x = ImGui::GetCursorPosX();
    ImGui::AlignTextToFramePadding();
    clipped_text(ui.fonts.mono, colour::text, buffer.name, ui.px(110));
    ImGui::SameLine(x + ui.px(110 + gap), 0);
    cell(ui, place + ".type", buffer.type ? to_string(*buffer.type) : "", 80,
         tr("The type of an element, such as float4; empty: that of the kernel's pointer."),
         [index](LaunchFile& file, const std::string& text) {
             auto& type = file.buffers[index].type;
             type.reset();
             if (!text.empty()) type = launches::parse_element_type(text);
         });
    ImGui::SameLine(0, ui.px(gap));
    cell(ui, place + ".shape", to_text(buffer.shape), 150,
         tr("One to four sizes, the last one fastest: height, width. Empty: that of the file."),
         [index](LaunchFile& file, const std::string& text) {
             auto& shape = file.buffers[index].shape;
             shape.clear();
             if (!text.empty()) shape = parse_list(text, 4);
         });
    ImGui::SameLine(0, ui.px(gap));
    cell(ui, place + ".fill", launches::fill_text(buffer.fill), 220, tr(fill_help),
         [index](LaunchFile& file, const std::string& text) {
             file.buffers[index].fill = launches::parse_fill_text(text);
         });
    ImGui::SameLine(0, ui.px(gap));
    cell(ui, place + ".keep", buffer.keep, 110,
         tr("A frame begins with what the frame before left in this buffer, or in another one: "
            "write its name. Empty: with the fill."),
         [index](LaunchFile& file, const std::string& text) {
             if (!text.empty()) (void)file.index_of(text);
             file.buffers[index].keep = text;
         });
    ImGui::SameLine(0, ui.px(gap));
    expectation(ui, buffer.name);
    ImGui::SameLine(0, ui.px(gap));
    if (flat_button(ui, "launch.remove." + place, tr("Remove")))
        ui.later([this, index, place] {
            form_.change(place, [&](LaunchFile& file) {
                const std::string name = file.buffers[index].name;
                set_expected(file, name, "");
                if (file.show == name) file.show.clear();
                for (BufferSpec& other : file.buffers)
                    if (other.keep == name) other.keep.clear();
                file.buffers.erase(file.buffers.begin() + std::ptrdiff_t(index));
            });
        });
}

void LaunchPanel::buffers(Ui& ui) {
    column_titles(ui, {{tr("Buffer"), 110, ""},
                       {tr("Type"), 80, ""},
                       {tr("Shape"), 150, ""},
                       {tr("Fill"), 220, ""},
                       {tr("Keep"), 110, ""},
                       {tr("Expected"), 220, ""},
                       {tr("± absolute"), 70, ""},
                       {tr("± relative"), 70, ""}});
    for (std::size_t i = 0; i < form_.file().buffers.size(); ++i) buffer_row(ui, i);
    std::string typed;
    if (field(ui, "launch.buffer.add", "", ui.px(110), typed))
        ui.later([this, typed] {
            form_.set("buffers", typed, [](LaunchFile& file, const std::string& name) {
                launches::check_buffer_name(name);
                if (file.find_buffer(name)) throw LaunchError(tr("there is a buffer of this name"));
                file.buffers.push_back(
                    {.name = name, .type = launches::ElementType{}, .shape = {Expression("1")}});
            });
        });
    tooltip(ui, tr("The name of a new buffer."));
    ImGui::SameLine(0, ui.px(gap));
    text(ui.fonts.small, colour::faint, tr("a new buffer"));
}

}  // namespace warpscope::ui
