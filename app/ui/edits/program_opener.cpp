#include "ui/edits/program_opener.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <system_error>
#include <utility>

#include "compiler/cache.h"
#include "compiler/programs/nvcc.h"
#include "compute/confinement/confined_program.h"
#include "compute/device/number_text.h"
#include "experiments/launch/launch_plan.h"
#include "experiments/launch/program_command.h"
#include "launches/files/program_capture.h"
#include "ui/language/language.h"
#include "ui/widgets/futures.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

std::string name_of(const std::string& path) {
    return fs::path(path).filename().string();
}

/// Where the launches of the program of a source are kept until it runs again.
fs::path folder_of_launches(const std::string& path) {
    return compiler::Cache::default_folder().parent_path() / "programs" /
           fmt::format("{}-{:016x}", name_of(path), compiler::content_hash(path));
}

/// Why no program can be compiled here; empty: it can.
std::string why_no_nvcc() {
    try {
        compiler::find_nvcc();
        return {};
    } catch (const compiler::NoCompiler& none) {
        return none.what();
    }
}

}  // namespace

ProgramOpener::~ProgramOpener() {
    stop_.request_stop();
}

void ProgramOpener::open(const std::string& path) {
    const auto known = options_.program_answers.find(path);
    if (known != options_.program_answers.end()) return act(path, known->second);
    asked_ = path;
    opens_ = true;
    no_nvcc_ = why_no_nvcc();
}

void ProgramOpener::answer(ProgramAnswer answer) {
    options_.program_answers[asked_] = answer;
    act(std::exchange(asked_, {}), answer);
}

void ProgramOpener::act(const std::string& path, ProgramAnswer answer) {
    if (answer == ProgramAnswer::kernels) return show(path);
    stop_.request_stop();
    errors_.reset();
    next_ = {path, answer == ProgramAnswer::confined};
}

void ProgramOpener::compile() {
    stop_ = {};
    now_ = *std::exchange(next_, {});
    compiler::ProgramSource source{now_.path};
    if (stage_.run().math == compute::Math::fast) source.options.emplace_back("-use_fast_math");
    making_ = std::async(
        std::launch::async, [source, confined = now_.confined, stop = stop_.get_token()] {
            compiler::RunCompiler run;
            if (confined)
                run = [&](Words command, const fs::path& folder) {
                    return compute::run_confined_command(std::move(command), folder, stop);
                };
            return compiler::compile_program(source, run, stop);
        });
}

std::string ProgramOpener::work_words() const {
    if (making_.valid()) return tr("nvcc compiles {}", name_of(now_.path));
    if (running_.valid() && !shown_)
        return tr("{} runs and has made no launch", name_of(now_.path));
    return {};
}

void ProgramOpener::cancel() {
    next_.reset();
    stop_.request_stop();
}

void ProgramOpener::advance() {
    if (download_.has_script() && !no_nvcc_.empty() && !download_.runs() && !asked_.empty())
        no_nvcc_ = why_no_nvcc();
    if (is_ready(making_)) take_compiled();
    if (running_.valid()) follow();
    if (next_ && !making_.valid() && !running_.valid()) compile();
    if (!errors_ || !stage_.settled() || stage_.trying()) return;
    const auto& plan = stage_.shown().plan;
    if (!plan || plan->file.in_folder(plan->file.source) != now_.path)
        return;  // it is being opened
    KernelDocument& document = stage_.documents()[plan->kernel_file];
    errors_->text = document.shared_text();
    document.set_outcome(std::move(*errors_));
    errors_.reset();
}

void ProgramOpener::take_compiled() {
    try {
        making_.get();
        if (!stop_.stop_requested()) start();
    } catch (const compiler::CompileError& error) {
        if (!stop_.stop_requested()) show_errors(error);
    } catch (const std::exception& error) {
        if (!stop_.stop_requested()) stage_.say(compute::sentence(error.what()), Tone::error);
    }
}

/// The source is on show with the messages of nvcc, g++ or the linker in the editor.
void ProgramOpener::show_errors(const compiler::CompileError& error) {
    show(now_.path);
    stage_.say(compute::sentence(error.what()), Tone::error);
    errors_ =
        EditOutcome{EditState::failed, nullptr, error.diagnostics, compute::sentence(error.what())};
}

void ProgramOpener::start() {
    folder_ = folder_of_launches(now_.path);
    shown_ = false;
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    Words options;
    if (now_.confined) options.emplace_back("--confined");
    running_ = std::async(
        std::launch::async,
        [command = experiments::program_command(now_.path, folder_, stage_.run(), options),
         stop = stop_.get_token()] { return compiler::run_command(command, stop); });
}

void ProgramOpener::follow() {
    const bool has_ended = is_ready(running_);
    if (!shown_ && !next_ && launches::read_capture(folder_)) {
        shown_ = true;
        show(folder_.string());
    }
    if (!has_ended) return;
    try {
        const compiler::Ended ended = running_.get();
        std::fwrite(ended.output.data(), 1, ended.output.size(), stdout);
        std::fflush(stdout);
        if (shown_ || stop_.stop_requested()) return;
        stage_.say(WIFEXITED(ended.status)
                       ? tr("The program of {} has made no launch. Its exit status is {}.",
                            name_of(now_.path), WEXITSTATUS(ended.status))
                       : tr("The program of {} was killed by signal {}.", name_of(now_.path),
                            WTERMSIG(ended.status)),
                   Tone::error);
    } catch (const std::exception& error) {
        stage_.say(compute::sentence(error.what()), Tone::error);
    }
}

void ProgramOpener::draw(Ui& ui) {
    if (std::exchange(opens_, false)) ImGui::OpenPopup("program");
    if (!begin_dialog(ui, "program")) return;
    heading(ui, tr("Run the program of {}?", name_of(asked_)));
    ImGui::PushTextWrapPos(std::min(ui.px(520), ImGui::GetIO().DisplaySize.x - ui.px(40)));
    text(ui.fonts.small, colour::dim,
         tr("It is in {}. nvcc compiles it, and its code for the host runs on this computer. "
            "Confined, "
            "it has no network and writes only temporary files. Warpscope asks once for each file.",
            fs::path(asked_).parent_path().string()));
    if (!no_nvcc_.empty()) text(ui.fonts.small, colour::bad, compute::sentence(no_nvcc_));
    ImGui::PopTextWrapPos();
    bool done = key_pressed(ImGuiKey_Escape);
    const auto choice = [&](const char* id, const char* words, ProgramAnswer answer) {
        if (flat_button(ui, id, words)) {
            ui.later([this, answer] { this->answer(answer); });
            done = true;
        }
        ImGui::SameLine();
    };
    if (no_nvcc_.empty()) {
        choice("program.run", tr("Run"), ProgramAnswer::run);
        choice("program.confined", tr("Run confined"), ProgramAnswer::confined);
    } else if (download_.runs()) {
        text(ui.fonts.body, colour::text, tr("Downloading nvcc"));
        ImGui::SameLine();
    } else if (no_nvcc_.starts_with("nvcc") && download_.has_script() &&
               CompilerDownload::can_run()) {
        if (flat_button(ui, "program.download", tr("Download nvcc (129 MB)")))
            ui.later([this] { download_.start(); });
        ImGui::SameLine();
    }
    choice("program.kernels", tr("Only its kernels"), ProgramAnswer::kernels);
    end_dialog(done);
}

}  // namespace warpscope::ui
