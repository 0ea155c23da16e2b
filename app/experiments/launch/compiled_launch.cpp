#include "experiments/launch/compiled_launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <span>
#include <utility>

#include "compiler/host/template_kernels.h"
#include "compiler/nvrtc.h"
#include "compute/device/kernel_source.h"
#include "experiments/launch/launch_plan.h"
#include "experiments/proposals/launch_traits.h"
#include "launches/files/ptx_source.h"
#include "launches/files/removed_arrays.h"

namespace warpscope::experiments {

using namespace launches;
namespace {

/// Adds a note that names a limit where the compiler says only what follows from it.
compiler::CompileError about_limits(const compiler::CompileError& error) {
    std::vector<compiler::Diagnostic> said = error.diagnostics;
    for (const compiler::Diagnostic& one : error.diagnostics)
        if (one.text.find("device-side kernel launch") != std::string::npos)
            said.push_back({one.line, 0, compiler::Severity::note, "kernels can't launch kernels"});
    return {error.what(), std::move(said)};
}

/// Adds a note and a sentence about the headers that were not found.
compiler::CompileError about_headers(const compiler::CompileError& error,
                                     std::span<const compiler::LeftOut> left_out) {
    std::vector<compiler::Diagnostic> said = error.diagnostics;
    std::vector<std::string> missing;
    for (const compiler::LeftOut& part : left_out) {
        if (part.missing_header.empty()) continue;
        missing.push_back(part.missing_header);
        said.push_back({part.first_line, 0, compiler::Severity::note,
                        fmt::format("{} was not found beside the source", part.missing_header)});
    }
    if (missing.empty()) return error;
    return {
        fmt::format("{}; {} {} not found beside the source: open the source in its folder, or "
                    "paste the header over the #include",
                    error.what(), fmt::join(missing, ", "), missing.size() > 1 ? "were" : "was"),
        std::move(said)};
}

/// The folders in which the file's source finds headers.
std::vector<std::filesystem::path> folders_of(const LaunchFile& file) {
    std::vector<std::filesystem::path> folders;
    for (const std::filesystem::path& folder : file.include)
        folders.push_back(file.in_folder(folder));
    return folders;
}

/// Functions of the source that arguments name.
std::set<std::string> functions_of(const LaunchFile& file, const std::string& source) {
    std::set<std::string> found;
    const auto add = [&](const auto& self, const ArgumentSpec& value) -> void {
        for (const auto& [name, member] : value.members) self(self, member);
        for (const ArgumentSpec& element : value.elements) self(self, element);
        const std::string text = value.text.value_or("");
        const bool is_name = std::ranges::all_of(text, [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
        });
        if (!text.empty() && is_name && !file.find_buffer(text) &&
            std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
            (source.find(" " + text + "(") != std::string::npos ||
             source.find(" " + text + " (") != std::string::npos))
            found.insert(text);
    };
    for (const LaunchSpec& launch : file.launches)
        for (const auto& [name, value] : launch.arguments) add(add, value);
    return found;
}

CompiledLaunch without_compiler(const std::string& ptx, const LaunchFile& file) {
    CompiledLaunch found;
    PtxKernels kernels = kernels_of_ptx(ptx, file);
    found.compiled.ptx = ptx;
    found.signatures = std::move(kernels.signatures);
    found.variables = std::move(kernels.variables);
    read_launch_traits(ptx, found.signatures);
    return found;
}

}  // namespace

CompiledLaunch compile_source(compute::Helpers& helpers, const LaunchFile& file,
                              const std::string& source, std::vector<std::string> names,
                              compute::Math math, const std::stop_token& stop) {
    if (is_ptx(file)) return without_compiler(source, file);
    compiler::Request request{compute::kernel_path(source_key(file)), source,
                              math == compute::Math::fast};
    request.names = std::move(names);
    request.target = file.target;
    CompiledLaunch found;
    found.left_out =
        compiler::leave_out_host_code(request, file.in_folder(file.source), folders_of(file));
    const auto of_program = ptx_of_program(file, source, request.file);
    for (compiler::Header& header : request.headers)
        if (header.name == compiler::implied_header)
            for (const auto& [name, value] : file.defines)
                header.text += fmt::format("#define {} {}\n", name, value);
    for (const std::string& function : functions_of(file, source))
        request.source +=
            fmt::format("\n__device__ auto {} = &{};", address_variable(function), function);
    found.templates = compiler::template_kernels(request.source);
    for (const compiler::Header& header : request.headers) {
        if (header.path.empty()) continue;
        found.headers[compiler::header_in_ptx(header.name)] = header.path;
        for (std::string& name : compiler::template_kernels(header.text))
            found.templates.push_back(std::move(name));
    }
    const auto as_the_program_ran = [&] {
        CompiledLaunch made = without_compiler(*of_program, file);
        made.left_out = std::move(found.left_out);
        return made;
    };
    try {
        found.compiled = helpers.compile(request, stop);
    } catch (const compiler::CompileError& error) {
        if (of_program) return as_the_program_ran();
        throw about_headers(about_limits(error), found.left_out);
    } catch (const compiler::NoCompiler&) {
        if (of_program) return as_the_program_ran();
        throw;
    }
    if (has_other_source(file))
        found.compiled.warnings.push_back(
            {.severity = compiler::Severity::note,
             .text = "it was changed after the capture, so it is compiled, and the PTX that the "
                     "program has run is not used"});
    request.debug_info = true;
    const std::string described = helpers.compile(request, stop).ptx;
    found.signatures = compiler::read_signatures(described);
    const auto has = [&](const LaunchSpec& launch) {
        const auto* const kernel = find_signature(found.signatures, launch.kernel);
        return kernel && has_kernel(*of_program, kernel->entry);
    };
    if (of_program && std::ranges::all_of(file.launches, has)) {
        found.compiled.ptx = *of_program;
        found.compiled.kept = nullptr;
    }
    read_launch_traits(found.compiled.ptx, found.signatures);
    found.variables = compiler::read_variables(described);
    if (of_program) return found;
    for (compiler::Diagnostic& note : removed_arrays(found.compiled.ptx, described, request.file))
        found.compiled.warnings.push_back(std::move(note));
    found.unoptimized = described;
    return found;
}

}  // namespace warpscope::experiments
