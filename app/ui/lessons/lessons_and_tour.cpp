#include "ui/lessons/lessons_and_tour.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ui/language/language.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

namespace {

/// A frame around a widget of this frame, with a number at its corner, over the whole window.
/// Adds the widget "coach_mark", so `widget` must not be one of ui.widgets.
void draw_coach_mark(Ui& ui, const Widget& widget, const std::string& number) {
    ImDrawList& list = *ImGui::GetForegroundDrawList();
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const float gap = ui.px(4), r = ui.px(11);
    const ImVec2 low{std::max(ui.px(1), float(widget.x) - gap),
                     std::max(ui.px(1), float(widget.y) - gap)};
    const ImVec2 high{std::min(screen.x - ui.px(1), float(widget.x + widget.w) + gap),
                      std::min(screen.y - ui.px(1), float(widget.y + widget.h) + gap)};
    list.AddRect(low, high, colour::accent, ui.px(7), 0, ui.px(2.5F));
    ui.widgets.add({"coach_mark", low.x, low.y, high.x - low.x, high.y - low.y, number});
    const ImVec2 centre{std::clamp(low.x, r, screen.x - r), std::clamp(low.y, r, screen.y - r)};
    list.AddCircleFilled(centre, r, colour::accent);
    ImGui::PushFont(ui.fonts.strong);
    const ImVec2 size = ImGui::CalcTextSize(number.c_str());
    list.AddText({centre.x - size.x / 2, centre.y - size.y / 2}, colour::background,
                 number.c_str());
    ImGui::PopFont();
}

struct TourStep {
    const char* widget;
    const char* title;
    const char* words;
};

constexpr std::array steps{
    TourStep{
        "picture", tr_later("The picture"),
        tr_later(
            "Thousands of threads have drawn it, in blocks. Each block passes its pixels through "
            "shared memory. A click with the right button opens a block in the microscope.")},
    TourStep{
        "ripple.sync", tr_later("The barrier"),
        tr_later("__syncthreads() makes the threads of a block wait for each other. Switch it off, "
                 "also with the key S, and threads read before others have written.")},
    TourStep{
        "race", tr_later("The verdict"),
        tr_later(
            "A detector checks every access. It finds a race even where the picture is right. A "
            "click lists the two source lines and threads of each finding.")},
    TourStep{
        "editor.open", tr_later("The source"),
        tr_later("The editor shows the kernel beside the picture. What you type runs as soon as it "
                 "compiles. Words such as barrier, warp or sector are explained where you point.")},
    TourStep{
        "lessons.button", tr_later("Lessons"),
        tr_later(
            "Thirteen lessons begin with a missing barrier. The detector says whether you have "
            "passed. Ctrl+Shift+P lists every command of the window.")},
};

/// Dims the window but for a widget; null: all of it.
void dim_around(const Widget* widget) {
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    ImVec2 low{0, 0}, high{0, 0};
    if (widget) {
        low = {float(widget->x), float(widget->y)};
        high = {low.x + float(widget->w), low.y + float(widget->h)};
    }
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(screen);
    ImGui::Begin("##tour.dim", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoInputs |
                     ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoFocusOnAppearing);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    constexpr ImU32 dim = IM_COL32(0, 0, 0, 120);
    list.AddRectFilled({0, 0}, {screen.x, low.y}, dim);
    list.AddRectFilled({0, high.y}, screen, dim);
    list.AddRectFilled({0, low.y}, {low.x, high.y}, dim);
    list.AddRectFilled({high.x, low.y}, {screen.x, high.y}, dim);
    ImGui::End();
}

/// Where the words stand: below the widget, above it, or in the middle of a large one.
ImVec2 place_beside(Ui& ui, const Widget* widget, ImVec2 size) {
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const float gap = ui.px(16), edge = ui.px(8);
    if (!widget) return {(screen.x - size.x) / 2, (screen.y - size.y) / 2};
    const float below = float(widget->y + widget->h) + gap, above = float(widget->y) - gap - size.y;
    float y = float(widget->y + widget->h / 2) - size.y / 2;
    if (below + size.y + edge < screen.y)
        y = below;
    else if (above > edge)
        y = above;
    const float x = float(widget->x + widget->w / 2) - size.x / 2;
    return {std::clamp(x, edge, std::max(edge, screen.x - size.x - edge)), y};
}

}  // namespace

void Tour::go(int by) {
    const auto next = std::ptrdiff_t(*step_) + by;
    if (next >= std::ssize(steps)) return end();
    step_ = std::size_t(std::max<std::ptrdiff_t>(next, 0));
}

bool Tour::press(int key) {
    switch (key) {
        case GLFW_KEY_RIGHT:
        case GLFW_KEY_SPACE:
        case GLFW_KEY_ENTER:
        case GLFW_KEY_KP_ENTER:
            go(1);
            return true;
        case GLFW_KEY_LEFT:
            go(-1);
            return true;
        default:
            return false;
    }
}

void Tour::draw(Ui& ui, bool covered) {
    if (!step_) return;
    const std::size_t at = *step_;
    const TourStep& step = steps[at];
    const Widget* widget = ui.widgets.find(step.widget);
    if (widget && !widget->visible) widget = nullptr;
    const ImVec2 size{ui.px(360), ui.px(178)};
    const ImVec2 place = place_beside(ui, widget, size);
    if (!covered) dim_around(widget);
    if (widget && !covered) draw_coach_mark(ui, Widget(*widget), fmt::format("{}", at + 1));
    ImGui::PushFont(ui.fonts.body);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(16), ui.px(12)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.px(8));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, ui.px(1));
    ImGui::PushStyleColor(ImGuiCol_WindowBg, colour::panel);
    ImGui::PushStyleColor(ImGuiCol_Border, colour::accent);
    ImGui::SetNextWindowPos(place);
    ImGui::SetNextWindowSize(size);
    ImGui::Begin(
        "##tour", nullptr,
        ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
    heading(ui, tr(step.title));
    paragraph(ui.fonts.body, colour::text, tr(step.words));
    record(ui, "tour", step.widget);
    ImGui::SetCursorPosY(size.y - ImGui::GetFrameHeight() - ui.px(12));
    ImGui::AlignTextToFramePadding();
    text(ui.fonts.small, colour::dim, tr("{} of {}", at + 1, steps.size()));
    const bool last = at + 1 == steps.size();
    const char* const next = last ? tr("Done") : tr("Next");
    float width = button_width(next) + button_width(tr("Back")) + ui.px(8);
    if (!last) width += button_width(tr("End the tour")) + ui.px(8);
    ImGui::SameLine(size.x - width - ui.px(16));
    if (!last) {
        if (flat_button(ui, "tour.end", tr("End the tour"))) end();
        ImGui::SameLine(0, ui.px(8));
    }
    ImGui::BeginDisabled(at == 0);
    if (flat_button(ui, "tour.back", tr("Back"))) go(-1);
    ImGui::EndDisabled();
    ImGui::SameLine(0, ui.px(8));
    if (flat_button(ui, "tour.next", next, true)) go(1);
    ImGui::End();
    ImGui::PopStyleColor(2);
    ImGui::PopStyleVar(3);
    ImGui::PopFont();
}

namespace {

/// A tick in a circle of this colour, or an empty circle, as high as a line of text. The text
/// follows beside it.
void tick(Ui& ui, bool holds, ImU32 ink = colour::good) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = ImGui::GetTextLineHeight(), r = ui.px(7);
    const ImVec2 centre{at.x + r, at.y + height / 2};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (holds) {
        list.AddCircleFilled(centre, r, faded(ink, colour::pill_fill));
        list.PathLineTo({centre.x - ui.px(3.2F), centre.y});
        list.PathLineTo({centre.x - ui.px(0.8F), centre.y + ui.px(2.6F)});
        list.PathLineTo({centre.x + ui.px(3.4F), centre.y - ui.px(2.8F)});
        list.PathStroke(ink, 0, ui.px(1.8F));
    } else {
        list.AddCircle(centre, r - ui.px(1), colour::faint, 0, ui.px(1.4F));
    }
    ImGui::Dummy({2 * r, height});
    ImGui::SameLine(0, ui.px(8));
}

/// An item of a list that a click chooses: what `contents` draws. True when clicked.
template <class Contents>
bool choice(Ui& ui, const std::string& id, const std::string& value, bool chosen,
            Contents&& contents) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    list.ChannelsSplit(2);
    list.ChannelsSetCurrent(1);
    ImGui::BeginGroup();
    std::forward<Contents>(contents)();
    ImGui::EndGroup();
    const float height = ImGui::GetItemRectMax().y - low.y;
    ImGui::SetCursorScreenPos(low);
    const bool clicked = hit_area(id, {width, height});
    record(ui, id, value);
    list.ChannelsSetCurrent(0);
    const float edge = ui.px(4);
    if (chosen || ImGui::IsItemHovered())
        list.AddRectFilled({low.x - edge, low.y - edge},
                           {low.x + width + edge, low.y + height + edge},
                           chosen ? colour::raised : colour::hovered, ui.px(5));
    list.ChannelsMerge();
    ImGui::Dummy({0, ui.px(3)});
    return clicked;
}

const char* name_of(StepState state) {
    switch (state) {
        case StepState::done:
            return "done";
        case StepState::current:
            return "current";
        case StepState::open:
            break;
    }
    return "open";
}

}  // namespace

void LessonPanel::draw(Ui& ui) {
    book_.lesson() ? draw_lesson(ui) : draw_list(ui);
}

void LessonPanel::draw_list(Ui& ui) {
    heading(ui, tr("Lessons"));
    const auto& all = book_.lessons();
    const auto passed = std::ranges::count_if(
        all, [this](const ListedLesson& one) { return book_.passed(one.name); });
    text(ui.fonts.small, colour::dim, tr("{} of {} passed", passed, all.size()));
    record(ui, "lessons.passed", tr("{} of {}", passed, all.size()));
    ImGui::Dummy({0, ui.px(6)});
    if (all.empty()) paragraph(ui.fonts.body, colour::dim, tr("The folder of lessons is missing."));
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool done = book_.passed(all[i].name);
        const bool clicked =
            choice(ui, fmt::format("lessons:{}", i + 1), done ? "passed" : "open", false, [&] {
                tick(ui, done);
                ImGui::BeginGroup();
                paragraph(ui.fonts.body, colour::text,
                          fmt::format("{}. {}", i + 1, tr(all[i].title)));
                if (!all[i].error.empty()) paragraph(ui.fonts.small, colour::bad, all[i].error);
                ImGui::EndGroup();
            });
        if (clicked) ui.later([this, file = all[i].file] { book_.open(file); });
    }
}

void LessonPanel::draw_lesson(Ui& ui) {
    const experiments::Lesson& lesson = *book_.lesson();
    const auto place = book_.place();
    const std::string number =
        place ? tr("Lesson {} of {}", *place + 1, book_.lessons().size()) : tr("Lesson");
    text(ui.fonts.small, colour::dim, number);
    paragraph(ui.fonts.strong, colour::text, tr(lesson.title));
    record(ui, "lesson", lesson.name);
    ImGui::Dummy({0, ui.px(4)});
    for (const std::string& words : lesson.text) {
        paragraph(ui.fonts.body, colour::text, tr(words));
        ImGui::Dummy({0, ui.px(2)});
    }
    draw_gate(ui);
    draw_steps(ui);
    draw_buttons(ui);
    // The button that goes on comes into sight when the lesson is passed.
    const bool passed = book_.passed(lesson.name);
    bool& was = *ImGui::GetStateStorage()->GetBoolRef(ImGui::GetID(lesson.name.c_str()), passed);
    if (!std::exchange(was, passed) && passed) ImGui::SetScrollHereY(1);
}

void LessonPanel::draw_steps(Ui& ui) {
    const experiments::Lesson& lesson = *book_.lesson();
    if (lesson.steps.empty()) return;
    rule(ui);
    heading(ui, tr("Steps"));
    int& in_sight = *ImGui::GetStateStorage()->GetIntRef(ImGui::GetID("step in sight"), 0);
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
        const StepState state = book_.state(i);
        const bool chosen = state == StepState::current;
        const bool clicked =
            choice(ui, fmt::format("lesson.step.{}", i + 1), name_of(state), chosen, [&] {
                if (state == StepState::done) {
                    tick(ui, true);
                } else {
                    text(ui.fonts.strong, chosen ? colour::accent : colour::dim,
                         fmt::format("{}", i + 1));
                    ImGui::SameLine(ui.px(22), 0);
                }
                ImGui::BeginGroup();
                paragraph(ui.fonts.body, chosen ? colour::text : colour::dim,
                          tr(lesson.steps[i].text));
                ImGui::EndGroup();
            });
        if (chosen && std::exchange(in_sight, int(i)) != int(i)) ImGui::SetScrollHereY(1);
        if (clicked) book_.set_step(i);
    }
}

void LessonPanel::draw_gate(Ui& ui) {
    const experiments::Lesson& lesson = *book_.lesson();
    const auto& judgements = book_.judgements();
    rule(ui);
    heading(ui, tr("The lesson is passed when"));
    const bool passed = book_.passed(lesson.name);
    for (std::size_t i = 0; i < lesson.gate.size(); ++i) {
        const bool holds = i < judgements.size() && judgements[i].holds;
        tick(ui, holds || passed, holds ? colour::good : colour::dim);
        ImGui::BeginGroup();
        paragraph(ui.fonts.body, holds ? colour::text : colour::dim, tr(lesson.gate[i].sentence));
        ImGui::EndGroup();
        record(ui, fmt::format("lesson.gate.{}", i + 1), holds ? "yes" : passed ? "passed" : "no");
    }
    draw_evidence(ui);
    ImGui::Dummy({0, ui.px(2)});
    if (passed) badge(ui, tr("Passed"), colour::good);
    record_rect(ui, ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), "lesson.passed",
                passed ? "yes" : "no");
    if (book_.is_elsewhere())
        paragraph(ui.fonts.small, colour::warning,
                  tr("Something else is on show. \"Start again\" brings the lesson back."));
}

/// What the gate lacks, where nothing else in the window says it.
void LessonPanel::draw_evidence(Ui& ui) {
    if (const auto reader = book_.other_reader(); reader && !book_.passed(book_.lesson()->name))
        paragraph(ui.fonts.small, colour::warning,
                  tr("Thread {} does not read too early: open another one.", name_of(*reader)));
    if (!book_.lesson()->start.program) return;
    ImGui::Dummy({0, ui.px(6)});
    ImGui::BeginGroup();
    if (book_.runs_program())
        paragraph(ui.fonts.small, colour::dim, tr("The program is compiled and runs …"));
    else if (!book_.program_says().empty())
        paragraph(ui.fonts.small, colour::bad, tr(book_.program_says()));
    else if (book_.program_ran())
        paragraph(ui.fonts.small, colour::dim, tr("The run of the program has no finding."));
    ImGui::EndGroup();
    record(ui, "lesson.program", book_.runs_program() ? "runs" : book_.program_says());
}

void LessonPanel::draw_buttons(Ui& ui) {
    rule(ui);
    const float gap = ui.px(6);
    if (flat_button(ui, "lesson.leave", tr("All lessons"))) ui.later([this] { book_.leave(); });
    ImGui::SameLine(0, gap);
    if (ImGui::GetContentRegionAvail().x < button_width(tr("Start again"))) ImGui::NewLine();
    if (flat_button(ui, "lesson.again", tr("Start again")))
        ui.later([this] {
            if (book_.is_elsewhere()) book_.open(std::filesystem::path(book_.lesson()->file));
            book_.start_again();
        });
    tooltip(ui, tr("Open the lesson with the source that it starts from. Undo brings yours back."));
    const auto place = book_.place();
    if (!place || *place + 1 >= book_.lessons().size()) return;
    ImGui::SameLine(0, gap);
    if (ImGui::GetContentRegionAvail().x < button_width(tr("Next"))) ImGui::NewLine();
    const bool passed = book_.passed(book_.lesson()->name);
    if (flat_button(ui, "lesson.next", tr("Next"), passed))
        ui.later([this, file = book_.lessons()[*place + 1].file] { book_.open(file); });
}

/// Whether a widget has another value than in the frame before. The lesson itself sets parameters
/// when it begins, before the kernel has been judged.
bool LessonPanel::is_switched(const Widget& widget) {
    if (book_.judgements().empty()) {
        values_.clear();
        return false;
    }
    const auto [known, is_new] = values_.try_emplace(widget.id, widget.value);
    return std::exchange(known->second, widget.value) != widget.value && !is_new;
}

/// Notes which widgets of the steps are used.
void LessonPanel::follow_steps(Ui& ui, bool covered) {
    const auto& asked = book_.lesson()->steps;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const Widget* const widget = ui.widgets.find(asked[i].widget);
        if (!widget || !widget->visible) continue;
        const ImVec2 low{float(widget->x), float(widget->y)},
            high{float(widget->x + widget->w), float(widget->y + widget->h)};
        const bool clicked = !covered && ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
                             ImGui::IsMouseHoveringRect(low, high, false);
        if (asked[i].switches ? is_switched(*widget) : clicked) book_.use(i);
    }
}

void LessonPanel::draw_mark(Ui& ui, bool covered) {
    if (!book_.lesson()) return;
    follow_steps(ui, covered);
    const auto step = book_.step();
    if (!step || covered) return;
    const Widget* const widget = ui.widgets.find(book_.lesson()->steps[*step].widget);
    if (widget && widget->visible)
        draw_coach_mark(ui, Widget(*widget), fmt::format("{}", *step + 1));
}

}  // namespace warpscope::ui
