#include "ui/launch_form/launch_panel.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/host/host_code.h"
#include "compiler/nvrtc.h"
#include "experiments/proposals/propose_launch.h"
#include "ui/language/language.h"
#include "ui/widgets/edition.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

using launches::ArgumentSpec;
using launches::BufferSpec;
using launches::Expectation;
using launches::Expression;
using launches::LaunchError;
using launches::LaunchFile;
using launches::LaunchSpec;

namespace {

constexpr float kernel_width = 230;

/// The value of an argument, found by the names of its parameter and of members.
ArgumentSpec* find(std::vector<std::pair<std::string, ArgumentSpec>>& arguments,
                   const std::string& name) {
    const auto found =
        std::ranges::find_if(arguments, [&](const auto& one) { return one.first == name; });
    return found == arguments.end() ? nullptr : &found->second;
}

ArgumentSpec value_of(const std::string& text) {
    if (text == "null") return {};
    return {.text = Expression(text).text()};
}

std::string text_of(const ArgumentSpec* value, const std::string& otherwise) {
    if (!value) return otherwise;
    return value->text.value_or("null");
}

/// Begins the next row of fields that flow from left to right where `width` has no room.
void flow(Ui& ui, float width) {
    ImGui::SameLine(0, ui.px(14));
    if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
}

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

void LaunchPanel::cell(Ui& ui, const std::string& place, const std::string& current, float width,
                       const std::string& help, const LaunchForm::Set& set,
                       const std::string& hint) {
    std::string typed;
    if (field(ui, "launch." + place, form_.text(place, current), ui.px(width), typed, hint))
        ui.later([this, place, typed, set] { form_.set(place, typed, set); });
    ui.widgets.last().enabled = ImGui::GetStyle().Alpha >= 1;  // less than 1: disabled
    const std::string error = form_.error(place);
    tooltip(ui, error.empty() ? help : error);
    if (error.empty()) return;
    ImGui::GetWindowDrawList()->AddRect(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(),
                                        colour::bad, ui.px(4), 0, ui.px(1.5F));
}

void LaunchPanel::column_titles(Ui& ui, const std::vector<Column>& columns) {
    float x = ImGui::GetCursorPosX();
    for (const Column& column : columns) {
        ImGui::SetCursorPosX(x);
        text(ui.fonts.small, colour::faint, column.title);
        tooltip(ui, column.help);
        x += ui.px(column.width + gap);
        if (&column != &columns.back()) ImGui::SameLine(0, 0);
    }
}

void LaunchPanel::head(Ui& ui) {
    const LaunchFile& file = form_.file();
    if (offers(Command::save_page)) {
        if (flat_button(ui, "launch.save", tr("Save launch file")))
            ui.later([this] { form_.save(); });
        tooltip(ui, (file.built_in
                         ? tr("Write {} and {} to the current folder.",
                              file.file.filename().string(), file.source.string())
                         : tr("Write {}, and its source if it is edited.", file.file.string())) +
                        " " + tr("With --launch FILE it runs without a window, and is checked."));
        ImGui::SameLine(0, ui.px(8));
    }
    undo_buttons(ui);
    ImGui::SameLine(0, ui.px(8));
    add_launch(ui);
    ImGui::SameLine(0, ui.px(12));
    ImGui::AlignTextToFramePadding();
    const std::string error = form_.error();
    const bool trying = stage_.trying();
    const std::string words =
        trying           ? tr("compiling…")
        : !error.empty() ? error
                         : file.file.filename().string() + (file.saved ? "" : tr(" (not saved)"));
    clipped_text(ui.fonts.small, trying || error.empty() ? colour::dim : colour::bad, words,
                 std::max(ui.px(40), ImGui::GetContentRegionAvail().x));
    record(ui, "launch.state", words);
}

void LaunchPanel::undo_buttons(Ui& ui) {
    const auto one = [&](const char* id, const char* label, bool enabled, const char* help,
                         void (LaunchForm::*act)()) {
        ImGui::BeginDisabled(!enabled);
        if (flat_button(ui, id, label)) ui.later([this, act] { (form_.*act)(); });
        ui.widgets.last().enabled = enabled;
        ImGui::EndDisabled();
        tooltip(ui, help);
    };
    one("launch.undo", tr("Undo"), form_.can_undo(),
        tr("Take back the last change of this form (Ctrl+Z)"), &LaunchForm::undo);
    ImGui::SameLine(0, ui.px(gap));
    one("launch.redo", tr("Redo"), form_.can_redo(),
        tr("Make the change again that was taken back (Ctrl+Shift+Z)"), &LaunchForm::redo);
}

/// The kernels of the source, and its templates.
std::vector<std::string> LaunchPanel::kernels() const {
    std::vector<std::string> names;
    for (const compiler::Signature& kernel : form_.plan()->signatures) names.push_back(kernel.name);
    for (const std::string& name : form_.plan()->templates) names.push_back(name);
    return names;
}

/// What a person should look at in a launch that was proposed for a source without a launch file.
void LaunchPanel::guesses(Ui& ui) {
    const experiments::LaunchPlan& plan = *form_.plan();
    std::string all;
    for (const files::Sentence& guess : plan.guesses) all += (all.empty() ? "" : ", ") + tr(guess);
    const std::string note = tr("Guessed for {}: {}", plan.launches[0].name, all);
    paragraph(ui.fonts.small, colour::warning, note);
    record(ui, "launch.note", note);
}

/// A list of the kernels of the source: the chosen one is launched after the others.
void LaunchPanel::add_launch(Ui& ui) {
    std::vector<std::string> names = kernels(), labels = names;
    names.insert(names.begin(), "");
    labels.insert(labels.begin(), tr("Add a launch of…"));
    const int chosen = dropdown(ui, "launch.add", names, labels, 0, ui.px(150));
    if (chosen > 0)
        ui.later([this, name = names[std::size_t(chosen)]] {
            form_.change("launches", [&](LaunchFile& file) {
                if (const auto* known = experiments::find_signature(form_.plan()->signatures, name))
                    file = experiments::propose_launch(std::move(file), *known).file;
                else
                    file.launches.push_back({.kernel = name, .grid = {}, .block = {}});
            });
        });
    tooltip(ui, tr("Launch another kernel of the source. It gets a scalar for each number and a "
                   "buffer for each pointer that has none."));
}

/// A field, since only its name makes a kernel of a template, and a list of the other kernels.
void LaunchPanel::kernel_cell(Ui& ui, std::size_t index) {
    const std::string place = fmt::format("launches[{}].kernel", index);
    const std::string& kernel = form_.file().launches[index].kernel;
    const auto set = [this, index](LaunchFile& file, const std::string& text) {
        if (text.empty()) throw LaunchError(tr("name a kernel"));
        const experiments::LaunchPlan& plan = *form_.plan();
        if (const auto* known = experiments::find_signature(plan.signatures, text)) {
            file = experiments::replace_launch(std::move(file), index, *known, plan.variables);
            propose_values(file);
            return;
        }
        // Once a template is compiled, its launch is proposed. Other arguments of one change none.
        LaunchSpec& launch = file.launches[index];
        if (compiler::template_name(launch.kernel) == compiler::template_name(text))
            launch.kernel = text;
        else
            launch = {.kernel = text, .grid = {}, .block = {}};
    };
    constexpr float list_width = 26;
    cell(ui, place, kernel, kernel_width - list_width - gap,
         tr("A kernel of the source; a template with its arguments: reduce<256, float>."), set);
    ImGui::SameLine(0, ui.px(gap));
    std::vector<std::string> names{kernel};
    for (const std::string& other : kernels())
        if (other != kernel) names.push_back(other);
    const int chosen =
        dropdown(ui, "launch." + place + ".list", names, names, 0, ui.px(list_width));
    if (chosen > 0)
        ui.later(
            [this, place, name = names[std::size_t(chosen)], set] { form_.set(place, name, set); });
    tooltip(ui,
            tr("Launch another kernel of the source, with the launch that is proposed for it."));
}

void LaunchPanel::launch_row(Ui& ui, std::size_t index) {
    const LaunchSpec& launch = form_.file().launches[index];
    const std::string place = fmt::format("launches[{}]", index);
    const auto spec = [index](LaunchFile& file) -> LaunchSpec& { return file.launches[index]; };
    kernel_cell(ui, index);
    ImGui::SameLine(0, ui.px(gap));
    cell(ui, place + ".grid", to_text(launch.grid), 230,
         tr("Blocks: one to three expressions of the scalars, such as (n + 255) / 256."),
         [spec](LaunchFile& file, const std::string& text) {
             spec(file).grid = parse_list(text, 3);
         });
    ImGui::SameLine(0, ui.px(gap));
    cell(ui, place + ".block", to_text(launch.block), 110,
         tr("Threads of a block: one to three expressions, 1024 in all at most."),
         [spec](LaunchFile& file, const std::string& text) {
             spec(file).block = parse_list(text, 3);
         });
    ImGui::SameLine(0, ui.px(gap));
    cell(ui, place + ".shared", launch.shared.text(), 110, tr("Bytes of dynamic shared memory."),
         [spec](LaunchFile& file, const std::string& text) {
             spec(file).shared = Expression(text);
         });
    ImGui::SameLine(0, ui.px(gap));
    cell(ui, place + ".repeat", launch.repeat.text(), 70,
         tr("How often the launch is made; `iteration` counts from 0."),
         [spec](LaunchFile& file, const std::string& text) {
             spec(file).repeat = Expression(text);
         });
    ImGui::SameLine(0, ui.px(gap));
    if (flat_button(ui, "launch.arguments." + place, tr("Arguments"), all_arguments_))
        all_arguments_ = !all_arguments_;
    tooltip(ui,
            tr("Show all arguments, also those that are the scalar or the buffer of their name."));
    if (form_.file().launches.size() > 1) {
        ImGui::SameLine(0, ui.px(gap));
        if (flat_button(ui, "launch.remove." + place, tr("Remove")))
            ui.later([this, index, place] {
                form_.change(place, [&](LaunchFile& file) {
                    file.launches.erase(file.launches.begin() + std::ptrdiff_t(index));
                });
            });
    }
    arguments(ui, index);
}

/// A field for each parameter of the kernel, and for each member of a struct. Those that take the
/// scalar or the buffer of their name are shown only if a person wants to see them.
void LaunchPanel::arguments(Ui& ui, std::size_t index) {
    LaunchSpec launch = form_.file().launches[index];
    const auto* const kernel = experiments::find_signature(form_.plan()->signatures, launch.kernel);
    if (!kernel) return;
    bool first = true;
    const auto one = [&](const std::string& label, const std::string& help,
                         const std::string& place, const std::string& current,
                         const LaunchForm::Set& set) {
        constexpr float width = 110;
        ImGui::PushFont(ui.fonts.small);
        const float room = ImGui::CalcTextSize(label.c_str()).x + ui.px(width + gap);
        ImGui::PopFont();
        if (!std::exchange(first, false)) flow(ui, room);
        ImGui::AlignTextToFramePadding();
        text(ui.fonts.small, colour::dim, label);
        tooltip(ui, help);
        ImGui::SameLine(0, ui.px(gap));
        cell(ui, place, current, width, help, set);
    };
    for (const compiler::KernelParameter& parameter : kernel->parameters) {
        const std::string& name = parameter.name;
        const std::string place = fmt::format("launches[{}].arguments.{}", index, name);
        const std::string type = parameter.type->name;
        if (parameter.type->kind != compiler::Type::Kind::structure) {
            const bool is_usual = !find(launch.arguments, name) && form_.error(place).empty();
            if (is_usual && !all_arguments_) continue;
            one(name, tr("{} {}: a number, an expression or a buffer.", type, name), place,
                text_of(find(launch.arguments, name), name),
                [index, name](LaunchFile& file, const std::string& text) {
                    auto& all = file.launches[index].arguments;
                    std::erase_if(all, [&](const auto& given) { return given.first == name; });
                    if (text != name && !text.empty()) all.emplace_back(name, value_of(text));
                });
            continue;
        }
        ArgumentSpec* const given = find(launch.arguments, name);
        for (const compiler::Member& member : parameter.type->members)
            one(name + "." + member.name, tr("{} of {}", member.type->name, type),
                place + "." + member.name,
                text_of(given ? find(given->members, member.name) : nullptr, ""),
                [index, name, key = member.name](LaunchFile& file, const std::string& text) {
                    auto& all = file.launches[index].arguments;
                    if (!find(all, name)) all.emplace_back(name, ArgumentSpec{});
                    auto& members = find(all, name)->members;
                    std::erase_if(members, [&](const auto& one) { return one.first == key; });
                    members.emplace_back(key, value_of(text));
                });
    }
}

void LaunchPanel::launches(Ui& ui) {
    column_titles(ui, {{tr("Kernel"), kernel_width, ""},
                       {tr("Grid (blocks)"), 230, ""},
                       {tr("Block (threads)"), 110, ""},
                       {tr("Shared (bytes)"), 110, ""},
                       {tr("Repeat"), 70, ""}});
    for (std::size_t i = 0; i < form_.file().launches.size(); ++i) {
        launch_row(ui, i);
        ImGui::Dummy({0, ui.px(2)});
    }
}

/// The compute capability that the source is compiled for.
void LaunchPanel::target(Ui& ui) {
    const std::vector<std::string> ids{"auto", "75", "80", "90"};
    const auto found = std::ranges::find(compiler::targets, form_.file().target);
    const auto place = std::size_t(found - compiler::targets.begin()) + 1;
    const std::size_t chosen = place % ids.size();
    ImGui::AlignTextToFramePadding();
    text(ui.fonts.small, colour::faint, tr("Compiled for"));
    ImGui::SameLine(0, ui.px(gap));
    const int clicked =
        dropdown(ui, "launch.target", ids,
                 {tr("automatic"), "compute_75", "compute_80", "compute_90"}, chosen, ui.px(130));
    tooltip(
        ui,
        tr("The compute capability that the source is compiled for. Automatic: the oldest of these "
           "that has what the source uses."));
    if (clicked < 0) return;
    ui.later([this, target = clicked == 0 ? 0 : compiler::targets[std::size_t(clicked) - 1]] {
        form_.change("target", [target](LaunchFile& file) { file.target = target; });
    });
}

void LaunchPanel::scalars(Ui& ui) {
    text(ui.fonts.small, colour::faint, tr("Scalars"));
    for (const auto& [name, value] : form_.file().scalars) {
        const auto* number = std::get_if<launches::Number>(&value);
        std::string current =
            number ? launches::to_string(*number) : std::get<Expression>(value).text();
        if (number)
            for (const experiments::Parameter* parameter : stage_.parameters().all())
                if (parameter->id() == name) current = parameter->text();
        ImGui::PushFont(ui.fonts.small);
        const float room = ImGui::CalcTextSize(name.c_str()).x + ui.px(110 + gap);
        ImGui::PopFont();
        flow(ui, room);
        ImGui::AlignTextToFramePadding();
        text(ui.fonts.small, colour::dim, name);
        ImGui::SameLine(0, ui.px(gap));
        cell(ui, "scalars." + name, current, 110,
             tr("A number, or an expression of the scalars before it. Empty: the scalar goes."),
             [this, key = name](LaunchFile& file, const std::string& text) {
                 set_scalar(file, key, text);
             });
    }
    flow(ui, ui.px(110));
    std::string typed;
    if (field(ui, "launch.scalar.add", "", ui.px(110), typed))
        ui.later([this, typed] {
            form_.set("scalars", typed, [](LaunchFile& file, const std::string& name) {
                launches::check_scalar_name(name);
                file.scalars.emplace_back(name, launches::Number(std::int64_t(1)));
            });
        });
    tooltip(ui, tr("The name of a new scalar."));
    ImGui::SameLine(0, ui.px(gap));
    text(ui.fonts.small, colour::faint, tr("a new scalar"));
}

/// A scalar of the launch before that has its first value there gets the one that is proposed.
void LaunchPanel::propose_values(const LaunchFile& file) {
    std::vector<experiments::Assignment> values;
    for (const auto& [name, value] : file.scalars)
        if (const auto* number = std::get_if<launches::Number>(&value))
            for (const experiments::Parameter* parameter : stage_.parameters().all())
                if (parameter->id() == name && parameter->text() == parameter->default_text())
                    values.push_back({name, launches::to_string(*number)});
    if (!values.empty()) stage_.assign(values);
}

/// A number becomes the value of the scalar's parameter, too.
void LaunchPanel::set_scalar(LaunchFile& file, const std::string& name, const std::string& text) {
    if (text.empty()) {
        std::erase_if(file.scalars, [&](const auto& scalar) { return scalar.first == name; });
        return;
    }
    const Expression value(text);
    for (auto& scalar : file.scalars) {
        if (scalar.first != name) continue;
        if (!value.names().empty()) {
            scalar.second = value;
            continue;
        }
        scalar.second = value.value(launches::Names());
        const experiments::Assignment one{
            name, launches::to_string(std::get<launches::Number>(scalar.second))};
        const auto& all = stage_.parameters().all();
        if (std::ranges::any_of(all, [&](const auto* known) { return known->id() == name; }))
            stage_.assign({&one, 1});
    }
}

void LaunchPanel::draw(Ui& ui) {
    form_.follow();
    if (!form_.plan()) return;
    if (ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows))
        focused_in_ = ImGui::GetFrameCount();
    head(ui);
    if (form_.plan()->is_proposed()) guesses(ui);
    launches(ui);
    target(ui);
    scalars(ui);
    ImGui::Dummy({0, ui.px(4)});
    buffers(ui);
}

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
    const auto& types = form_.plan()->types;
    const bool is_captured =
        form_.plan()->file.of_program && std::holds_alternative<std::filesystem::path>(buffer.fill);
    ImGui::BeginDisabled(is_captured);
    cell(
        ui, place + ".type", buffer.type ? to_string(*buffer.type) : "", 80,
        tr("The type of an element, such as float4; empty: that of the kernel's pointer."),
        [index](LaunchFile& file, const std::string& text) {
            auto& type = file.buffers[index].type;
            type.reset();
            if (!text.empty()) type = launches::parse_element_type(text);
        },
        index < types.size() ? to_string(types[index]) : "");
    ImGui::SameLine(0, ui.px(gap));
    cell(
        ui, place + ".shape", to_text(buffer.shape), 150,
        tr("One to four sizes, the last one fastest: height, width. Empty: that of the file."),
        [index](LaunchFile& file, const std::string& text) {
            auto& shape = file.buffers[index].shape;
            shape.clear();
            if (!text.empty()) shape = parse_list(text, 4);
        },
        is_captured ? tr("as captured") : tr("that of the file"));
    ImGui::EndDisabled();
    ImGui::SameLine(0, ui.px(gap));
    cell(ui, place + ".fill", launches::fill_text(buffer.fill), 220, tr(fill_help),
         [index](LaunchFile& file, const std::string& text) {
             file.buffers[index].fill = launches::parse_fill_text(text);
         });
    ImGui::SameLine(0, ui.px(gap));
    ImGui::BeginDisabled(is_captured);
    cell(
        ui, place + ".keep", buffer.keep, 110,
        tr("A frame begins with what the frame before left in this buffer, or in another one: "
           "write its name. Empty: with the fill."),
        [index](LaunchFile& file, const std::string& text) {
            if (!text.empty()) (void)file.index_of(text);
            file.buffers[index].keep = text;
        },
        tr("nothing"));
    ImGui::EndDisabled();
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
