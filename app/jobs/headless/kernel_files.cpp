#include "jobs/headless/kernel_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "compiler/nvrtc.h"
#include "compute/device/kernel_source.h"
#include "jobs/output/output.h"

namespace warpscope::jobs {

namespace {

namespace fs = std::filesystem;

std::string embedded_name(const std::string& file) {
    return fmt::format("kernels/{}.cu", file);
}

[[noreturn]] void refuse(const fs::path& path, std::string_view argument, const char* why) {
    throw UsageError(
        fmt::format("{} {}: {}; name a file that can be read", argument, path.string(), why));
}

/// A byte more than is compiled, of a file that is longer: the compiler then says so.
std::string read(const fs::path& path, std::string_view argument) {
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    std::string text(compiler::largest_source + 1, '\0');
    in.read(text.data(), std::streamsize(text.size()));
    if (!in.is_open() || in.bad()) refuse(path, argument, std::strerror(errno));
    text.resize(std::size_t(in.gcount()));
    return text;
}

/// As the parameters have it, without the state that goes with them.
std::string own_file(const experiments::Entry& entry,
                     std::span<const experiments::Assignment> assignments) {
    const auto device = compute::pick_device("emulator");
    const auto experiment = entry.make(*device);
    for (const auto& [id, text] : assignments) experiment->parameters().find(id).parse(text);
    return experiment->kernel_file();
}

void read_folder(const fs::path& folder, const std::string& prefix, std::vector<KernelFile>& to) {
    std::error_code error;
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder, error)) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) {
        const std::string file = prefix + path.stem().string();
        if (path.extension() != ".cu" || compute::kernel_source(embedded_name(file)).empty())
            continue;
        to.push_back({file, path, read(path, "--kernels")});
    }
}

std::string diagnostic_line(const fs::path& from, const compiler::Diagnostic& d) {
    std::string place = from.string();
    if (d.line) place += fmt::format(":{}", d.line);
    if (d.line && d.column) place += fmt::format(":{}", d.column);
    const char* const severity = d.severity == compiler::Severity::error     ? "error"
                                 : d.severity == compiler::Severity::warning ? "warning"
                                                                             : "note";
    return fmt::format("{}: {}: {}\n", place, severity, d.text);
}

}  // namespace

void check_kernel_files(const fs::path& kernel_source, const fs::path& kernels) {
    std::error_code ignored;
    if (!kernels.empty() && !fs::is_directory(kernels, ignored))
        throw UsageError(fmt::format("--kernels {}: there is no such folder", kernels.string()));
    if (kernel_source.empty()) return;
    if (fs::is_directory(kernel_source, ignored))
        refuse(kernel_source, "--kernel-source", "this is a folder");
    if (::access(kernel_source.c_str(), R_OK) != 0)
        refuse(kernel_source, "--kernel-source", std::strerror(errno));
}

std::vector<KernelFile> read_kernel_files(const fs::path& kernel_source, const fs::path& kernels,
                                          const experiments::Entry& entry,
                                          std::span<const experiments::Assignment> assignments) {
    check_kernel_files(kernel_source, kernels);
    std::vector<KernelFile> files;
    if (!kernels.empty()) {
        read_folder(kernels, "", files);
        read_folder(kernels / "gallery", "gallery/", files);
        if (files.empty())
            throw UsageError(fmt::format(
                "--kernels {}: no file there has the name of a kernel file, such as ripple.cu",
                kernels.string()));
    }
    if (kernel_source.empty()) return files;
    const std::string file = own_file(entry, assignments);
    std::erase_if(files, [&](const KernelFile& other) { return other.file == file; });
    files.push_back({file, kernel_source, read(kernel_source, "--kernel-source")});
    return files;
}

bool compile(compute::Sandbox& sandbox, compute::Math math, std::vector<KernelFile>& files,
             compute::KernelEdits& edits) {
    bool all = true;
    for (KernelFile& file : files) {
        if (file.source == compute::kernel_source(embedded_name(file.file))) continue;
        try {
            compute::KernelEdit edit = *sandbox.compile(file.file, file.source, math);
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

std::string diagnostic_lines(const std::vector<KernelFile>& files) {
    std::string lines;
    for (const KernelFile& file : files)
        for (const compiler::Diagnostic& d : file.said) lines += diagnostic_line(file.from, d);
    return lines;
}

Json to_json(const std::vector<KernelFile>& files) {
    Json json = Json::array();
    for (const KernelFile& file : files) {
        Json warnings = Json::array();
        for (const compiler::Diagnostic& d : file.said)
            warnings.push_back({{"line", d.line}, {"column", d.column}, {"text", d.text}});
        json.push_back({{"file", embedded_name(file.file)},
                        {"from", file.from.string()},
                        {"warnings", std::move(warnings)}});
    }
    return json;
}

}  // namespace warpscope::jobs
