#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compute/device/device.h"
#include "experiments/framework/experiment.h"
#include "jobs/grade_command.h"
#include "jobs/headless/headless.h"
#include "jobs/programs/run_program.h"
#include "ui/language/language.h"

namespace warpscope {

/// What the app does in this run.
enum class Mode {
    window,
    headless,
    program,
    report,
    environment,
    get_nvcc,
    list,
    helper,
    grade,
    serve,
    debugger,
    mcp
};

/// The command line, checked as far as possible without a device: experiments and parameters exist,
/// their values are legal, and no two options exclude each other.
struct Options {
    Mode mode = Mode::window;
    std::string device = "auto";
    bool device_given = false;
    compute::RunSettings run;
    compute::Execution execution = compute::Execution::automatic;
    unsigned target = 0;  ///< compute::Helpers::compile_for()
    /// An option of `run` was given: `run` replaces the settings that the window saved.
    bool run_given = false;

    std::string experiment;  ///< empty: not given
    /// The assignments of --bodies, then those of --set in their order. Every value is legal.
    experiments::Assignments assignments;
    std::filesystem::path launch;         ///< a launch file, in place of an experiment; empty: none
    std::filesystem::path kernel_source;  ///< replaces the experiment's kernel file; empty: none
    std::filesystem::path kernels;        ///< a folder of kernel files; empty: none

    std::optional<experiments::Size> size;
    std::string json;  ///< a file, "-" for standard output; empty: none
    /// The options that only a headless run has.
    jobs::HeadlessRequest headless{.experiment = {}};
    /// A program to run and its arguments; empty: none. A source, NAME.cu, is compiled first.
    std::vector<std::string> program;
    std::vector<std::string> compiler_options;  ///< for nvcc
    bool confined = false;                      ///< the program runs confined
    std::chrono::seconds time_limit{0};         ///< of the program; 0: none
    /// Says that the source of --launch has a main() that does not run, and why; or empty.
    std::string no_program;
    jobs::CaptureRequest capture;    ///< of its launches
    bool program_window = false;     ///< its launches are shown in the window
    int error_status = 1;            ///< of a program in which the checks find something
    bool all_blocks = false;         ///< of a program's large launches are checked
    std::filesystem::path report;    ///< Mode::report: the file that the library has written
    std::filesystem::path lesson;    ///< the window opens it, Mode::grade judges by it; or empty
    std::filesystem::path solution;  ///< Mode::grade: a source, or a folder of them
    bool grade_here = false;         ///< Mode::grade: in this process
    bool with_forms = false;         ///< jobs::ProgramRequest::with_forms
    bool reset_settings = false;     ///< the window starts with its defaults
    std::optional<bool> vsync;
    /// The language of the window; nullopt: its settings or the locale say it.
    std::optional<ui::Language> language;
    std::string microscope;            ///< "12,7@214": open it there; empty: closed
    std::filesystem::path widget_map;  ///< empty: none
    std::optional<unsigned> dap_port;  ///< Mode::debugger; nullopt: standard input and output
    int helper_socket = -1;            ///< Mode::helper: the socket that a helper process serves
};

/// For --help and --version: the app prints `text` and ends with 0.
struct Answer {
    std::string text;
};

/// Throws jobs::UsageError that names the argument and says what to write, Answer for --help and
/// --version.
Options parse_options(int argc, const char* const* argv);

}  // namespace warpscope
