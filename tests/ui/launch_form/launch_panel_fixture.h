#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "compute/emulated/emulated_device.h"
#include "experiments/launch/launch.h"
#include "experiments/launch/open_launch.h"
#include "support/add_kernel.h"
#include "ui/view_fixture.h"

namespace warpscope::ui {
/// Stands in for the compiler: every text has the kernel add(). A text with "error" fails.
inline experiments::EditResult compile_add(const experiments::EditRequest& request) {
    experiments::EditResult result;
    const auto fail = [&](const std::string& words) {
        result.error = words;
        return std::move(result);
    };
    const auto text = request.sources.find("launch/add");
    if (text == request.sources.end()) return fail("there is no source");
    if (text->second.find("error") != std::string::npos) {
        result.diagnostics["launch/add"] = {{1, 1, compiler::Severity::error, "no such name"}};
        return fail("add.cu:1: no such name");
    }
    try {
        const auto blank = compute::make_emulated_device("");
        const auto before = request.entry->make(*blank);
        const launches::LaunchFile& file = dynamic_cast<experiments::Launch&>(*before).plan()->file;
        result.entry = experiments::launch_entry(std::make_shared<const experiments::LaunchPlan>(
            experiments::plan_launch(file, {tests::add_signature()})));
        result.running.device = compute::make_emulated_device(
            {.settings = request.settings,
             .edits = {{"launch/add", tests::add_kernels(text->second, request.settings.math)}}});
        result.running.experiment = result.entry->make(*result.running.device);
        experiments::Snapshot from = request.snapshot;
        from.parameters.insert(from.parameters.end(), request.values.begin(), request.values.end());
        result.running.experiment->resume(experiments::fitted(std::move(from), *result.entry));
        result.running.experiment->report();
        return result;
    } catch (const std::exception& error) {
        return fail(error.what());
    }
}

/// A window with the launch file of add(), in a folder of its own.
class LaunchPanelTest : public ViewFixture {
  protected:
    LaunchPanelTest() {
        std::filesystem::create_directories(folder_);
        launches::LaunchFile file = launches::parse_launch_file(tests::file_text());
        file.file = folder_ / "add.launch.json";
        Stage::Start start;
        start.device_wish = "emulator";
        start.entry = experiments::launch_entry(file);
        start.try_edits = [](const auto& request, const auto&) { return compile_add(request); };
        start.no_compiler = [] { return std::string(); };
        show(start);
        stage_->documents().open("launch/add", "kernels", (folder_ / "add.cu").string());
        finish_edits();
    }
    ~LaunchPanelTest() override { std::filesystem::remove_all(folder_); }

    void fill(const std::string& field, const std::string& text) {
        type("launch." + field, text);
        finish_edits();
    }
    void press_button(const std::string& id) {
        click(id);
        finish_edits();
    }
    std::string state() { return value("launch.state"); }
    bool shows(const std::string& id) { return view_->widgets().find(id) != nullptr; }
    double result(const std::string& name) {
        return experiments::find(stage_->report(), name)->value;
    }

    const std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                          ("warpscope-launch-panel-" + std::to_string(::getpid()));
};

}  // namespace warpscope::ui
