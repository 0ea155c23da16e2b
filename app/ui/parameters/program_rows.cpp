#include "ui/parameters/program_rows.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "experiments/launch/launch_plan.h"
#include "experiments/launch/open_launch.h"
#include "programs/report/program_control.h"
#include "ui/dock/verdict_card.h"
#include "ui/language/language.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

void ProgramRows::read(const std::filesystem::path& folder) {
    std::error_code none;
    const auto written = std::filesystem::last_write_time(folder / "program.json", none);
    if (folder == folder_ && written == written_) return;
    const bool other = folder != folder_;
    folder_ = folder;
    written_ = written;
    capture_ = launches::read_capture(folder);
    if (!capture_ || capture_->launches.empty()) return;
    // The folder of a source has the launches of its newest run.
    const auto begun = std::filesystem::last_write_time(capture_->launches[0].file, none);
    if (!other && begun == begun_) return;
    begun_ = begun;
    checks_.forget();
    is_chosen_ = false;
    kernel_shown_.clear();
}

void ProgramRows::draw(Ui& ui, const RowColumns& at) {
    const auto& plan = stage_.shown().plan;
    if (!plan || plan->file.built_in) return;
    read(plan->file.file.parent_path());
    if (!capture_) return;
    const auto& launches = capture_->launches;
    const auto shown =
        std::ranges::find(launches, plan->file.file, &launches::CapturedLaunch::file);
    if (shown == launches.end()) return;
    // What a person or this panel has not opened, as when the program runs anew, is no choice.
    if (std::exchange(on_show_, shown->file) != shown->file && shown->file != asked_)
        is_chosen_ = false;
    checks_.follow(*capture_, stage_.run());
    show_first_race(ui);
    const bool runs = programs::is_alive(capture_->process);
    head(ui, runs);
    if (runs) pause_rows(ui, at);  // above the list, which grows
    launch_rows(ui, at, std::size_t(shown - launches.begin()));
}

/// The launch that is looked at is the first one with a race, unless a person has chosen one.
void ProgramRows::show_first_race(Ui& ui) {
    if (is_chosen_) return;
    for (const launches::CapturedLaunch& launch : capture_->launches) {
        const RaceSummary* const verdict = checks_.of(launch.file);
        if (!verdict) return;  // one before may have a race, too
        if (mark_of(*verdict) != Mark::octagon) continue;
        is_chosen_ = true;
        if (launch.file != stage_.shown().plan->file.file) open(ui, launch.file);
        return;
    }
}

void ProgramRows::open(Ui& ui, const std::filesystem::path& file) {
    asked_ = file;
    ui.later([this, file] {
        try {
            const launches::LaunchFile launch = launches::read_launch_file(file);
            stage_.open_launch(launch, experiments::read_launch_source(launch));
        } catch (const launches::LaunchError& error) {
            stage_.say(error.what(), Tone::error);
        }
    });
}

/// The verdict on the launch on show is of all its blocks, and of its source as it stands now.
RaceSummary ProgramRows::verdict_on(std::size_t launch, std::size_t shown) const {
    if (launch == shown && stage_.race_summary().state != RaceSummary::State::unknown)
        return stage_.race_summary();
    const RaceSummary* const verdict = checks_.of(capture_->launches[launch].file);
    return verdict ? *verdict : RaceSummary{.chip = tr("Not checked")};
}

/// The launches of the kernel that is chosen, without those of which nothing was found if a person
/// wishes so.
std::vector<std::size_t> ProgramRows::listed(std::size_t shown) const {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < capture_->launches.size(); ++i) {
        if (!kernel_shown_.empty() && capture_->launches[i].kernel != kernel_shown_) continue;
        const Mark mark = mark_of(verdict_on(i, shown));
        if (!found_only_ || mark == Mark::octagon || mark == Mark::triangle) rows.push_back(i);
    }
    return rows;
}

/// Draws a list of the kernels of the program. Returns whether another entry of it was chosen,
/// which then is `kernel`; empty: all kernels.
bool ProgramRows::kernel_list(Ui& ui, const char* id, const char* all, float width,
                              std::string& kernel) const {
    std::vector<std::string> ids{"all"}, labels{all};
    std::size_t chosen = 0;
    for (const launches::CapturedLaunch& launch : capture_->launches) {
        if (std::ranges::find(labels.begin() + 1, labels.end(), launch.kernel) != labels.end())
            continue;
        if (launch.kernel == kernel) chosen = ids.size();
        ids.push_back(launch.kernel);
        labels.push_back(launch.kernel);
    }
    const int clicked = dropdown(ui, id, ids, labels, chosen, width);
    if (clicked >= 0) kernel = clicked == 0 ? "" : labels[std::size_t(clicked)];
    return clicked >= 0;
}

void ProgramRows::head(Ui& ui, bool runs) const {
    heading(ui, tr("The program's launches"));
    tooltip(ui, capture_->command);
    // It is as high before the first check as after the last one: no row below it may move away
    // from the pointer.
    const std::string words =
        (runs ? tr("The program runs.") : tr("The program has ended.")) + std::string(" ") +
        tr("{} of {} launches are checked.", checks_.checked(), capture_->launches.size());
    paragraph(ui.fonts.small, colour::dim, words);
    record(ui, "program.state", words);
}

void ProgramRows::launch_rows(Ui& ui, const RowColumns& at, std::size_t shown) {
    if (capture_->launches.size() > 1) {
        row_label(ui, at, tr("Show"), tr("The launches that are listed."));
        kernel_list(ui, "program_kernel", tr("every kernel"), at.widget, kernel_shown_);
        row_label(ui, at, tr("Only findings"), tr("List only launches with a finding."));
        if (toggle_switch(ui, "program_found", found_only_, at.widget)) found_only_ = !found_only_;
    }
    const std::vector<std::size_t> rows = listed(shown);
    if (rows.empty()) text(ui.fonts.small, colour::dim, tr("No such launch has a finding."));
    const float height = ui.px(22), most = 8;
    ImGui::PushStyleColor(ImGuiCol_ChildBg, colour::background);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 size{ImGui::GetContentRegionAvail().x,
                      height * std::clamp(float(rows.size()), 1.F, most)};
    ImGui::BeginChild("launches", size);
    const float row = height * float(std::ranges::find(rows, shown) - rows.begin());
    const float scrolled = row - ImGui::GetScrollY();
    if (std::exchange(shown_, shown) != shown && (scrolled < 0 || scrolled + height > size.y))
        ImGui::SetScrollY(row - size.y / 2);
    ImGuiListClipper clipper;
    clipper.Begin(int(rows.size()), height);
    while (clipper.Step())
        for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
            launch_row(ui, rows[std::size_t(i)], shown, height);
    ImGui::EndChild();
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
    record_rect(ui, low, {low.x + size.x, low.y + size.y}, "program_launch",
                std::to_string(capture_->launches[shown].number));
    ImGui::Dummy({0, ui.px(4)});
}

void ProgramRows::launch_row(Ui& ui, std::size_t index, std::size_t shown, float height) {
    const launches::CapturedLaunch& launch = capture_->launches[index];
    const RaceSummary verdict = verdict_on(index, shown);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const std::string number = std::to_string(launch.number);
    if (ImGui::Selectable(("##" + number).c_str(), index == shown, 0, {width, height})) {
        is_chosen_ = true;
        open(ui, launch.file);
    }
    record(ui, "program_launch:" + number, verdict.chip);
    tooltip(ui, tr("{}, {} blocks of {} threads, {:.3g} ms.", launch.kernel, launch.grid.count(),
                   launch.block.count(), launch.milliseconds) +
                    (verdict.sentence.empty() ? "" : "\n" + verdict.sentence));
    const Mark mark = mark_of(verdict);
    draw_mark(mark, {low.x + ui.px(11), low.y + height / 2}, ui.px(5.5F), colour_of(mark));
    ImGui::PushFont(ui.fonts.small);
    const std::string words =
        shortened(fmt::format("{}  {}", number, launch.kernel), width - ui.px(30));
    ImGui::GetWindowDrawList()->AddText(
        {low.x + ui.px(24), low.y + (height - ImGui::GetTextLineHeight()) / 2}, colour::text,
        words.c_str());
    ImGui::PopFont();
}

void ProgramRows::pause_rows(Ui& ui, const RowColumns& at) {
    row_label(ui, at, tr("Program"),
              tr("It runs beside the window. When it pauses, it waits behind its newest launch."));
    if (flat_button(ui, "program.pause", is_paused_ ? tr("Go on") : tr("Pause")))
        control(!is_paused_);
    if (is_paused_) {
        ImGui::SameLine();
        if (flat_button(ui, "program.next", tr("Next launch"))) control(true);
    }
    row_label(ui, at, tr("Pause at"), tr("The kernel behind whose launches the program pauses."));
    const bool other = kernel_list(ui, "program_pause_at", tr("every launch"), at.widget, kernel_);
    if (other && is_paused_) control(true);
}

void ProgramRows::control(bool wait) {
    programs::ProgramControl control{.kernel = kernel_, .process = ::getpid()};
    if (wait) control.until = capture_->launches.back().number + 1;
    try {
        programs::write_control(folder_, control);
        is_paused_ = wait;
    } catch (const std::exception& error) {
        stage_.say(error.what(), Tone::error);
    }
}

}  // namespace warpscope::ui
