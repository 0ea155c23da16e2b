#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compute/device/device.h"
#include "experiments/framework/experiment.h"
#include "experiments/measure/heat_figures.h"
#include "experiments/measure/line_figures.h"
#include "jobs/bench/sections.h"
#include "jobs/headless/check.h"

namespace warpscope {

/// What the app does in this run.
enum class Mode { window, headless, list, bench, helper };

/// The command line, checked as far as possible without a device: experiments and parameters exist,
/// their values are legal, and no two options exclude each other.
struct Options {
    Mode mode = Mode::window;
    std::string device = "auto";
    bool device_given = false;
    compute::RunSettings run;
    compute::Execution execution = compute::Execution::automatic;
    bool run_given = false;  ///< some of `run`: replaces the settings that the window saved

    std::string experiment;  ///< empty: not given
    /// First from --bodies, then from --set in the order given. Every value is legal.
    experiments::Assignments assignments;
    std::filesystem::path launch;         ///< a launch file, in place of an experiment; empty: none
    std::filesystem::path kernel_source;  ///< replaces the experiment's kernel file; empty: none
    std::filesystem::path kernels;        ///< a folder of kernel files; empty: none

    std::uint64_t frames = 1;
    std::optional<experiments::Size> size;
    std::filesystem::path screenshot;  ///< empty: none
    bool view_only = false;
    bool compare = false;
    bool force = false;           ///< run headless even if it takes very long
    bool reset_settings = false;  ///< the window starts with its defaults
    jobs::Checks checks;          ///< any: run headless, on the emulator
    std::filesystem::path sarif;  ///< for what the checks find; empty: none
    /// The exit code is 1 for findings from this severity on.
    emulator::Severity fail_on = emulator::Severity::warning;
    bool counters = false;                         ///< true: run headless, on the emulator
    std::optional<experiments::LineFigure> lines;  ///< counters of source lines too, by this
    std::optional<emulator::HeatFigure> heat;      ///< counts of words of memory too, by this
    std::filesystem::path checkpoint, resume;      ///< empty: none
    std::uint64_t every = 100;                     ///< frames between checkpoints
    std::string json;                              ///< a file, "-" for standard output; empty: none
    std::optional<bool> vsync;
    std::string microscope;            ///< "12,7@214": open it there; empty: closed
    std::filesystem::path widget_map;  ///< empty: none
    jobs::BenchSections bench;         ///< Mode::bench: the sections to measure
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
