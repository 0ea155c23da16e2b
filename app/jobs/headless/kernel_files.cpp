#include "jobs/headless/kernel_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "compiler/source_file.h"
#include "compute/device/kernel_files.h"
#include "files/regular_file.h"
#include "jobs/output/files_and_terminal.h"

namespace warpscope::jobs {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, std::string_view argument,
                         const std::runtime_error& error) {
    throw UsageError(fmt::format("{} {}: {}; name a file that can be read", argument, path.string(),
                                 error.what()));
}

std::string read(const fs::path& path, std::string_view argument) {
    try {
        return compiler::read_source_file(path);
    } catch (const std::runtime_error& error) {
        refuse(path, argument, error);
    }
}

void check_folder(const fs::path& kernels) {
    std::error_code ignored;
    if (!kernels.empty() && !fs::is_directory(kernels, ignored))
        throw UsageError(fmt::format(
            "--kernels {}: there is no such folder; name one with kernel files", kernels.string()));
}

/// The kernel file that the experiment uses with these parameters.
std::string own_file(const experiments::Entry& entry,
                     std::span<const experiments::Assignment> assignments) {
    const auto parameters = entry.make_parameters();
    parameters->parse(assignments);
    return parameters->kernel_file();
}

void read_folder(const fs::path& folder, std::vector<KernelFile>& to) {
    std::error_code error;
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder, error)) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) {
        const std::string file = path.stem().string();
        if (path.extension() != ".cu" || compute::kernel_source(compute::kernel_path(file)).empty())
            continue;
        to.push_back({file, path, read(path, "--kernels")});
    }
}

/// "sums.cu: note: host code is left out: the function main (lines 26 to 32), …"
void print_left_out(const fs::path& source, const std::vector<compiler::LeftOut>& left_out) {
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

void check_kernel_files(const fs::path& kernel_source, const fs::path& kernels) {
    check_folder(kernels);
    if (kernel_source.empty()) return;
    try {
        files::RegularFile opened(kernel_source);
    } catch (const std::runtime_error& error) {
        refuse(kernel_source, "--kernel-source", error);
    }
}

std::vector<KernelFile> read_kernel_files(const fs::path& kernel_source, const fs::path& kernels,
                                          const experiments::Entry& entry,
                                          std::span<const experiments::Assignment> assignments) {
    check_folder(kernels);
    std::vector<KernelFile> files;
    if (!kernels.empty()) {
        read_folder(kernels, files);
        if (files.empty())
            throw UsageError(
                fmt::format("--kernels {}: the folder has no file with the name of a kernel file, "
                            "such as ripple.cu",
                            kernels.string()));
    }
    if (kernel_source.empty()) return files;
    const std::string file = own_file(entry, assignments);
    std::erase_if(files, [&](const KernelFile& other) { return other.file == file; });
    files.push_back({file, kernel_source, read(kernel_source, "--kernel-source")});
    return files;
}

bool compile(compute::Helpers& helpers, compute::Math math, std::vector<KernelFile>& files,
             compute::KernelEdits& edits, const std::stop_token& stop) {
    bool all = true;
    for (KernelFile& file : files) {
        if (file.source == compute::kernel_source(compute::kernel_path(file.file))) continue;
        try {
            compute::KernelEdit edit = *helpers.compile(file.file, file.source, math, stop);
            edit.from = file.from.string();
            file.said = edit.warnings;
            edits[file.file] = std::make_shared<const compute::KernelEdit>(std::move(edit));
        } catch (const compiler::CompileError& error) {
            file.said = error.diagnostics;
            all = false;
        }
    }
    return all;
}

std::string diagnostic_lines(const fs::path& from, std::span<const compiler::Diagnostic> said) {
    std::string lines;
    for (const compiler::Diagnostic& d : said) {
        std::string place = from.string();
        if (d.line) place += fmt::format(":{}", d.line);
        if (d.line && d.column) place += fmt::format(":{}", d.column);
        lines += fmt::format("{}: {}: {}\n", place, to_string(d.severity), d.text);
    }
    return lines;
}

std::string diagnostic_lines(const std::vector<KernelFile>& files) {
    std::string lines;
    for (const KernelFile& file : files) lines += diagnostic_lines(file.from, file.said);
    return lines;
}

std::optional<experiments::CompiledEntry> compile_launch(compute::Helpers& helpers,
                                                         const launches::LaunchFile& file,
                                                         compute::Math math,
                                                         const std::stop_token& stop) {
    const fs::path source = file.in_folder(file.source);
    try {
        experiments::CompiledEntry compiled = experiments::open_launch(helpers, file, math, stop);
        print_left_out(source, compiled.left_out);
        print_error(diagnostic_lines(source, compiled.kernels->warnings));
        return compiled;
    } catch (const compiler::CompileError& error) {
        print_error(diagnostic_lines(source, error.diagnostics));
        return std::nullopt;
    }
}

Json to_json(const std::vector<KernelFile>& files) {
    Json json = Json::array();
    for (const KernelFile& file : files) {
        Json warnings = Json::array();
        for (const compiler::Diagnostic& d : file.said)
            warnings.push_back({{"line", d.line}, {"column", d.column}, {"text", d.text}});
        json.push_back({{"file", compute::kernel_path(file.file)},
                        {"from", file.from.string()},
                        {"warnings", std::move(warnings)}});
    }
    return json;
}

}  // namespace warpscope::jobs
