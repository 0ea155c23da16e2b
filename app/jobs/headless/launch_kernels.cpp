#include "jobs/headless/launch_kernels.h"

#include <fmt/format.h>

#include "jobs/headless/kernel_files.h"
#include "jobs/output/output.h"

namespace warpscope::jobs {
namespace {

void print_messages(const std::filesystem::path& source,
                    const std::vector<compiler::Diagnostic>& said) {
    print_error(diagnostic_lines({{.file = "", .from = source, .source = "", .said = said}}));
}

/// Prints what was left out: "sums.cu: note: host code is left out: the function main, …".
void print_left_out(const std::filesystem::path& source,
                    const std::vector<compiler::LeftOut>& left_out) {
    std::string text;
    for (const compiler::LeftOut& part : left_out)
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", part.what,
                            part.first_line == part.last_line
                                ? fmt::format("line {}", part.first_line)
                                : fmt::format("lines {} to {}", part.first_line, part.last_line));
    if (!text.empty())
        print_error(fmt::format("{}: note: host code is left out: {}\n", source.string(), text));
}

}  // namespace

std::optional<experiments::OpenedLaunch> compile_launch(compute::Helpers& helpers,
                                                        const experiments::LaunchFile& file,
                                                        compute::Math math,
                                                        const std::stop_token& stop) {
    const std::filesystem::path source = file.in_folder(file.source);
    try {
        experiments::OpenedLaunch opened = experiments::open_launch(helpers, file, math, stop);
        print_left_out(source, opened.left_out);
        print_messages(source, opened.kernels->warnings);
        return opened;
    } catch (const compiler::CompileError& error) {
        print_messages(source, error.diagnostics);
        return std::nullopt;
    }
}

}  // namespace warpscope::jobs
