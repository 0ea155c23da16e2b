#include "ui/bars/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "experiments/framework/frame_cost.h"
#include "ui/bars/button_bars.h"
#include "ui/dock/verdict_card.h"
#include "ui/edits/barrier_switch.h"
#include "ui/language/language.h"
#include "ui/stage/inspector.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

struct MessageWords {
    std::string text;
    ImU32 colour, dot;
};

/// Draws the offer so that it ends at `right`; returns the width that it takes.
float offer_button(Ui& ui, const std::optional<Offer>& offer, float right) {
    if (!offer) return 0;
    ImGui::PushFont(ui.fonts.small);
    const float width = button_width(offer->label.c_str());
    const char* const decline = offer->decline_label.c_str();
    const float beside = offer->decline ? button_width(decline) + ui.px(6) : 0;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos({right - width - beside, at.y});
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ImGui::GetStyle().FramePadding.x, 0});
    if (flat_button(ui, "offer", offer->label.c_str(), true)) ui.later(offer->accept);
    tooltip(ui, offer->help);
    if (offer->decline) {
        ImGui::SameLine(0, ui.px(6));
        if (flat_button(ui, "offer.decline", decline, false)) ui.later(offer->decline);
        tooltip(ui, tr("Discard it; it is not offered again."));
    }
    ImGui::PopStyleVar();
    ImGui::SetCursorScreenPos(at);
    ImGui::PopFont();
    return width + beside + ui.px(12);
}

/// The worst result's sentence; empty: no result has one.
MessageWords result_words(const Stage& stage) {
    for (const auto verdict : {experiments::Verdict::fail, experiments::Verdict::finding})
        for (const experiments::Reading& r : stage.report())
            if (r.verdict == verdict && !r.sentence.empty())
                return {tr(r.sentence), verdict_colour(verdict), verdict_colour(verdict)};
    for (const experiments::Reading& r : stage.report())
        if (r.verdict != experiments::Verdict::none && !r.sentence.empty())
            return {tr(r.sentence), colour::dim, verdict_colour(r.verdict)};
    return {"", colour::dim, colour::clear};
}

/// The words of the message line. An error stays until the next change, any other message for a
/// while.
MessageWords message_words(const Stage& stage) {
    const Message& message = stage.message();
    const auto age = std::chrono::steady_clock::now() - message.at;
    if (message.tone == Tone::error && !message.text.empty())
        return {message.text, colour::bad, colour::bad};
    if (!message.text.empty() && age < std::chrono::seconds(12))
        return {message.text, colour::text, colour::text};
    return {"", colour::dim, colour::clear};
}

}  // namespace

void MessageLine::draw(Ui& ui) {
    const compute::DeviceInfo& info = stage_.device();
    std::string right = tr(std::string_view(info.name));
    // How a GPU's pixels reach OpenGL; the emulator always writes where OpenGL reads.
    if (stage_.pixels() && info.kind != compute::DeviceKind::emulator)
        right += " · " + tr(gl::to_string(stage_.shown().picture.path));
    ImGui::PushFont(ui.fonts.small);
    const float right_width = ImGui::CalcTextSize(right.c_str()).x;
    ImGui::PopFont();
    const float width = ImGui::GetContentRegionAvail().x;
    const ImVec2 low = ImGui::GetCursorScreenPos();
    // The text at the right grows with the first picture, and a button must not move under the
    // mouse.
    const float offer_width = offer_button(ui, offer_, low.x + width);
    const float taken = right_width + offer_width + ui.px(50);
    const MessageWords line = message_words(stage_);
    const float dot = ui.px(3.5F);
    ImGui::GetWindowDrawList()->AddCircleFilled(
        {low.x + dot, low.y + ImGui::GetTextLineHeight() / 2}, dot, line.dot);
    ImGui::SetCursorScreenPos({low.x + 2 * dot + ui.px(8), low.y});
    clipped_text(ui.fonts.small, line.colour, line.text, width - taken);
    record(ui, "message", line.text);
    ImGui::SetCursorScreenPos({low.x + width - right_width - offer_width, low.y});
    text(ui.fonts.small, colour::dim, right);
    record(ui, "device.name", info.name);
}

namespace {

/// True when clicked.
bool large_switch(Ui& ui, const std::string& label, bool on) {
    ImGui::PushFont(ui.fonts.value);
    const float words = ImGui::CalcTextSize(label.c_str()).x;
    ImGui::PopFont();
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float height = ImGui::GetContentRegionAvail().y;
    const ImVec2 size{ui.px(64), ui.px(34)};
    const float width = size.x + words + ui.px(34);
    const bool clicked = hit_area("caption.barrier", {width, height});
    record(ui, "caption.barrier", on ? "on" : "off");
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const bool hovered = ImGui::IsItemHovered();
    const float top = low.y + (height - size.y) / 2, r = size.y / 2;
    list.AddRectFilled({low.x, top}, {low.x + size.x, top + size.y},
                       on        ? colour::good
                       : hovered ? colour::faint
                                 : colour::hovered,
                       r);
    list.AddCircleFilled({on ? low.x + size.x - r : low.x + r, top + r}, r - ui.px(4),
                         IM_COL32_WHITE);
    const float y = low.y + (height - text_size(ui.fonts.value)) / 2;
    list.AddText(ui.fonts.value, text_size(ui.fonts.value), {low.x + size.x + ui.px(14), y},
                 on ? colour::text : colour::dim, label.c_str());
    return clicked;
}

/// Says beside the verdict that it is about an edited kernel.
void edited_mark(Ui& ui, const Stage& stage) {
    const std::string files = edited_files(stage);
    if (files.empty()) return;
    ImGui::SameLine(0, ui.px(12));
    draw_edited_badge(ui, files);
}

}  // namespace

void Caption::draw(Ui& ui) {
    const experiments::Toggle* const barrier = stage_.parameters().barrier_switch();
    const float top = ImGui::GetCursorPosY();
    if (barrier) {
        if (large_switch(ui, tr(barrier->label()), is_on(stage_, *barrier)))
            ui.later([this, held = stage_.held(*barrier)] { flip(stage_, *held); });
        ImGui::SameLine(0, ui.px(10));
    }
    const RaceSummary race = stage_.race_summary();
    // An audience reads what the picture means; what a key has changed, it sees.
    const bool failed = stage_.message().tone == Tone::error;
    const MessageWords said = failed ? message_words(stage_) : result_words(stage_);
    ImGui::SetCursorPosY(top + ui.px(4));
    ImGui::BeginGroup();
    const float bottom = ImGui::GetCursorPosY() + ImGui::GetContentRegionAvail().y;
    paragraph(ui.fonts.strong, colour_of(mark_of(race)), race.chip);
    record(ui, "caption.race", race.chip);
    edited_mark(ui, stage_);
    // A long sentence is smaller, rather than cut.
    const float room = bottom - ImGui::GetCursorPosY();
    const std::string lines = wrapped(said.text, ImGui::GetContentRegionAvail().x);
    const bool fits = ImGui::CalcTextSize(lines.c_str()).y <= room;
    paragraph(fits ? ui.fonts.body : ui.fonts.small, colour::text, said.text);
    record(ui, "caption", said.text);
    ImGui::EndGroup();
}

namespace {

/// Shorter work is not mentioned, because it is over before a person could read about it.
constexpr double long_seconds = 0.3;
/// The remaining time is estimated once this share of the blocks has run.
constexpr double telling_share = 0.02;

double seconds_since(std::chrono::steady_clock::time_point since) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

/// Formats a duration in whole seconds, so that the words do not change all the time.
std::string duration(double seconds) {
    return experiments::duration_words(std::ceil(seconds));
}

}  // namespace

std::string work_words(Activity activity, std::uint64_t frame, double seconds,
                       const compute::LaunchProgress::Reading& launch, double expected) {
    if (seconds < long_seconds) return {};
    if (launch.compiling) return tr("Compiling kernels · {} so far", duration(seconds));
    if (activity == Activity::start) return tr("Starting · {} so far", duration(seconds));
    if (activity == Activity::report)
        return tr("Computing the results · {} so far", duration(seconds));
    if (activity == Activity::comparison)
        return tr("Comparing the variants · {} so far", duration(seconds));
    std::string words = tr("Frame {}", quantity(double(frame), ""));
    // A frame has several launches: what frames take says more than the blocks of the newest one.
    if (expected > seconds)
        return words + tr(" · {:.0f} %", 100 * seconds / expected) +
               tr(" · about {} left", duration(expected - seconds));
    if (expected > 0) return words + tr(" · {} so far", duration(seconds));
    const double share = launch.blocks > 0 ? double(launch.done) / double(launch.blocks) : 0;
    if (launch.blocks > 0) words += tr(" · {:.0f} % of the blocks", 100 * share);
    if (share >= telling_share && share < 1)
        return words + tr(" · about {} left", duration(seconds * (1 - share) / share));
    return words + tr(" · {} so far", duration(seconds));
}

void draw_start(Ui& ui, const std::string& words) {
    ui.widgets.begin_frame();
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(size);
    ImGui::Begin("##start", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground);
    ImGui::PushFont(ui.fonts.body);
    const ImVec2 wide = ImGui::CalcTextSize(words.c_str());
    ImGui::SetCursorScreenPos({(size.x - wide.x) / 2, (size.y - wide.y) / 2});
    text(ui.fonts.body, colour::text, words);
    record(ui, "work", words);
    ImGui::PopFont();
    ImGui::End();
}

std::string block_words(double seconds, const compute::LaunchProgress::Reading& earlier) {
    if (seconds < long_seconds) return {};
    std::string words = tr("Running the block");
    if (earlier.done < earlier.blocks)
        words += tr(" · {:.0f} % of the earlier blocks",
                    100 * double(earlier.done) / double(earlier.blocks));
    return words + tr(" · {} so far", duration(seconds));
}

std::string cost_words(double seconds) {
    return tr("The next frame takes about {} on this machine.", duration(seconds));
}

std::string WorkChip::words() const {
    const BlockRun& run = microscope_.run();
    if (run.works()) return block_words(seconds_since(run.works_since()), run.progress());
    if (microscope_.searches_orders())
        return tr("Searching the orders of the warps · {:.0f} % of the time",
                  100 * microscope_.finder().progress());
    if (const std::string& asked = microscope_.asked(); microscope_.is_open() && !asked.empty())
        return asked == "first" ? tr("Searching why the result is wrong")
                                : tr("Searching why {} is wrong", microscope_.asked_words());
    if (auto words = program_.work_words(); !words.empty()) return words;
    const auto work = stage_.work();
    if (!work) return {};
    return work_words(work->activity, work->frame, seconds_since(work->since), work->launch,
                      stage_.expected_seconds());
}

void WorkChip::cancel() {
    if (stage_.costly_change())
        stage_.answer(Stage::Answer::go_back);
    else if (microscope_.run().works())
        microscope_.cancel();
    else if (microscope_.searches_orders())
        microscope_.finder().cancel();
    else if (!microscope_.asked().empty())
        microscope_.forget_asked();
    else if (!program_.work_words().empty())
        program_.cancel();
    else
        stage_.cancel();
}

void WorkChip::draw(Ui& ui) {
    using Answer = Stage::Answer;
    if (const auto& change = stage_.costly_change()) {
        const auto answer = [this](Answer word) { return [this, word] { stage_.answer(word); }; };
        draw(ui, "cost", cost_words(change->seconds),
             {{"cost.apply", tr("Apply"), tr("Make the change. Esc cancels a frame."),
               answer(Answer::apply)},
              {"cost.paused", tr("Apply paused"),
               tr("Make the change and pause; no frame is computed yet."),
               answer(Answer::apply_paused)},
              {"cost.back", tr("Back"), tr("Keep the values as they are (Esc)."),
               answer(Answer::go_back)}});
    } else if (const std::string words = this->words(); !words.empty()) {
        draw(ui, "work", words,
             {{"work.cancel", tr("Cancel"),
               tr("End this computation and go back to the last good state (Esc)."),
               [this] { cancel(); }}});
    }
}

void WorkChip::draw(Ui& ui, const char* id, const std::string& words,
                    const std::vector<Button>& buttons) {
    const float gap = ui.px(10), height = ImGui::GetFrameHeight() + ui.px(8);
    float width = ImGui::CalcTextSize(words.c_str()).x + 2 * gap;
    for (const Button& button : buttons) width += button_width(button.label) + gap;
    const ImVec2 window = ImGui::GetWindowPos();
    const ImVec2 low{window.x + ImGui::GetWindowWidth() - width - gap, window.y + gap};
    // A child window takes the mouse from the picture below the buttons.
    ImGui::SetCursorScreenPos(low);
    ImGui::PushStyleColor(ImGuiCol_ChildBg, faded(colour::background, 0.92F));
    ImGui::PushStyleVar(ImGuiStyleVar_ChildRounding, ui.px(6));
    ImGui::BeginChild(id, {width, height}, false, ImGuiWindowFlags_NoScrollbar);
    ImGui::SetCursorScreenPos({low.x + gap, low.y + ui.px(4)});
    ImGui::AlignTextToFramePadding();
    text(ui.fonts.body, colour::text, words);
    record(ui, id, words);
    for (const Button& button : buttons) {
        ImGui::SameLine(0, gap);
        const bool main = &button == &buttons.front();
        if (flat_button(ui, button.id, button.label, main)) ui.later(button.action);
        tooltip(ui, button.help);
    }
    ImGui::EndChild();
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
}

}  // namespace warpscope::ui
