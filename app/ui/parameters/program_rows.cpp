#include "ui/parameters/program_rows.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>

#include "experiments/launch/launch_plan.h"
#include "experiments/launch/open_launch.h"
#include "programs/report/program_control.h"
#include "ui/language/language.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

void ProgramRows::read(const std::filesystem::path& folder) {
    std::error_code none;
    const auto written = std::filesystem::last_write_time(folder / "program.json", none);
    if (folder == folder_ && written == written_) return;
    folder_ = folder;
    written_ = written;
    capture_ = launches::read_capture(folder);
}

void ProgramRows::draw(Ui& ui, const RowColumns& at) {
    const auto& plan = stage_.shown().plan;
    if (!plan || plan->file.built_in) return;
    read(plan->file.file.parent_path());
    if (!capture_) return;
    const auto shown =
        std::ranges::find(capture_->launches, plan->file.file, &launches::CapturedLaunch::file);
    if (shown == capture_->launches.end()) return;
    launch_row(ui, at, std::size_t(shown - capture_->launches.begin()));
    if (programs::is_alive(capture_->process)) pause_rows(ui, at);
}

void ProgramRows::launch_row(Ui& ui, const RowColumns& at, std::size_t chosen) {
    std::vector<std::string> numbers, labels;
    for (const launches::CapturedLaunch& launch : capture_->launches) {
        numbers.push_back(fmt::format("{}", launch.number));
        labels.push_back(tr("{}: {}, {} x {}, {:.3g} ms", launch.number, launch.kernel,
                            launch.grid.count(), launch.block.count(), launch.milliseconds));
        if (launch.findings)
            labels.back() += fmt::format(", {}", counted(launch.findings, "finding"));
    }
    const launches::CapturedLaunch& shown = capture_->launches[chosen];
    row_label(ui, at, tr("Program's launch"),
              tr("The launches of {}. This one had {} blocks of {} threads and took "
                 "{:.3g} ms.",
                 capture_->command, shown.grid.count(), shown.block.count(), shown.milliseconds));
    const int clicked = dropdown(ui, "program_launch", numbers, labels, chosen, at.widget);
    if (clicked < 0) return;
    ui.later([this, file = capture_->launches[std::size_t(clicked)].file] {
        try {
            const launches::LaunchFile launch = launches::read_launch_file(file);
            stage_.open_launch(launch, experiments::read_launch_source(launch));
        } catch (const launches::LaunchError& error) {
            stage_.say(error.what(), Tone::error);
        }
    });
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
    std::vector<std::string> ids{"all"}, labels{tr("every launch")};
    std::size_t chosen = 0;
    for (const launches::CapturedLaunch& launch : capture_->launches) {
        if (std::ranges::find(ids.begin() + 1, ids.end(), launch.kernel) != ids.end()) continue;
        if (launch.kernel == kernel_) chosen = ids.size();
        ids.push_back(launch.kernel);
        labels.push_back(launch.kernel);
    }
    row_label(ui, at, tr("Pause at"), tr("The kernel behind whose launches the program pauses."));
    const int clicked = dropdown(ui, "program_pause_at", ids, labels, chosen, at.widget);
    if (clicked < 0) return;
    kernel_ = clicked == 0 ? "" : ids[std::size_t(clicked)];
    if (is_paused_) control(true);
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
