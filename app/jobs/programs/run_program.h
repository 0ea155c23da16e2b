#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compute/device/device.h"
#include "emulator/judge.h"
#include "jobs/headless/headless.h"

namespace warpscope::jobs {

/// Which launches of a program are recorded as launch files.
struct CaptureRequest {
    std::filesystem::path to;  ///< a folder, or an archive, NAME.wslaunch; empty: none
    std::string launches;      ///< "3,17-20", counted from 1; empty: all
    std::string kernel;        ///< empty: of all kernels
    /// A GPU, if there is one, makes the launches, unless they are checked or counted.
    bool on_gpu = false;
};

/// A program of somebody else, whose launches run in the emulator.
struct ProgramRequest {
    /// The program and its arguments. A source, NAME.cu, is compiled first.
    std::vector<std::string> command;
    std::vector<std::string> compiler_options{};  ///< for nvcc, and further files
    unsigned target = 0;                          ///< compiler::ProgramSource::target
    /// It runs confined: see compute::run_confined(). It gets a scratch folder as TMPDIR.
    bool confined = false;
    std::chrono::seconds time_limit{0};  ///< 0: none
    emulator::CheckChoice checks;
    bool counters = false;
    CaptureRequest capture;
    /// The window is open too, and takes the signals of this process. Otherwise they are for the
    /// program as long as it runs.
    bool beside_window = false;
    compute::RunSettings run;
    emulator::Severity fail_on = emulator::Severity::warning;
    int error_status = 1;        ///< exit status where the checks find something
    std::filesystem::path json;  ///< empty: none
    bool with_forms = false;     ///< "form" in the JSON is the sentence of a finding as a value
    FindingFiles findings{};     ///< what is known of what the checks find, and who receives it
};

/// Runs the program with its own standard input, output and arguments, and then prints on standard
/// error what was found in it and in the processes that it has started. Returns the exit status of
/// the program, 128 and the number of the signal that has ended it, `no_verdict` where the time
/// limit has ended it, or `error_status` where the checks have found something. Where a source
/// cannot be compiled, prints the messages of the compilers and returns 2. Throws UsageError if
/// there is no such program, and compiler::NoCompiler.
int run_program(const ProgramRequest& request);

/// run_program(), and then asks HeadlessRequest::why of a launch that was captured: in a folder
/// that is removed at the end where the request names none. The answer is printed on standard
/// error, and is "why" in the JSON. Throws as run_program() and ask_capture().
int run_program_and_ask(compute::Helpers& helpers, ProgramRequest request,
                        HeadlessRequest question);

/// Returns a folder in `parent` for the launches of a program that this process runs beside its
/// window. Removes the folders of processes that have ended.
std::filesystem::path folder_for_launches(const std::filesystem::path& parent,
                                          const std::filesystem::path& program);

/// The environment variables that run_program() gives to a program, as lines for a shell: "export
/// NAME='value'". A program that is started with them prints its report at its end.
std::string program_environment(const ProgramRequest& request);

/// Prints a report that the library in a program has written, and returns 1 where it has findings,
/// otherwise 0. Throws std::runtime_error if the file is no report.
int print_report(const std::filesystem::path& file);

}  // namespace warpscope::jobs
