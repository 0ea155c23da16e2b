#include "experiments/launch/open_launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "compiler/host/host_code.h"
#include "compiler/nvrtc.h"
#include "compiler/signature.h"
#include "compiler/source_file.h"
#include "compute/device/kernel_files.h"
#include "compute/helper/helpers.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/launch.h"
#include "experiments/launch/launch_plan.h"
#include "experiments/proposals/propose_launch.h"
#include "launches/arrays/array.h"
#include "launches/files/capture_archive.h"
#include "launches/files/element_types.h"
#include "launches/files/file_kind.h"
#include "launches/files/launch_file.h"
#include "launches/files/program_capture.h"
#include "launches/files/ptx_source.h"

namespace warpscope::experiments {
namespace {

/// A source and what the compiler says of it.
struct CompiledLaunch {
    compute::CompiledSource compiled;
    std::vector<compiler::Signature> signatures;
    std::vector<compiler::ModuleVariable> variables;
    std::vector<std::string> templates;  ///< name expressions of those of its kernels
    std::map<std::string, std::string> headers;
    std::vector<compiler::LeftOut> left_out;  ///< of the host code
    std::string unoptimized;  ///< its PTX with debug information; empty: there is none
};

using namespace launches;

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

/// Compiles the source of a launch file. `names`: the name expressions of its templates. A captured
/// launch runs the PTX that the program ran. Throws CompileError, NoCompiler, LaunchError.
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

using compiler::Type;

/// Reads the values of one argument.
class ArgumentReader {
  public:
    ArgumentReader(std::string parameter, const CapturedArgument& captured)
        : parameter_(std::move(parameter)), captured_(captured) {}

    ArgumentSpec read(const Type& type, std::size_t offset) const {
        if (type.kind == Type::Kind::pointer) return pointer(type, offset);
        ArgumentSpec value;
        if (type.kind == Type::Kind::structure) {
            for (const compiler::Member& member : type.members) {
                value.members.emplace_back(member.name, read(*member.type, offset + member.offset));
                if (is_union(type)) break;
            }
            return value;
        }
        if (type.kind == Type::Kind::array && type.target) {
            for (std::size_t i = 0; i < type.count; ++i)
                value.elements.push_back(read(*type.target, offset + i * type.target->bytes));
            return value;
        }
        value.text = number(type, offset);
        return value;
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw LaunchError(fmt::format("the captured argument {}: {}", parameter_, what));
    }

    ArgumentSpec pointer(const Type& type, std::size_t offset) const {
        const auto found = captured_.addresses.find(offset);
        if (found == captured_.addresses.end()) {
            std::uint64_t address = 0;
            std::memcpy(&address, at(offset, sizeof address), sizeof address);
            if (address == 0) return {};
            fail(fmt::format("{:#x} is the address of no memory that was captured", address));
        }
        const auto& [buffer, bytes] = found->second;
        if (bytes == 0) return {.text = buffer};
        const std::size_t element = type.target && type.target->bytes ? type.target->bytes : 1;
        if (bytes % element)
            fail(
                fmt::format("it begins {} bytes behind the beginning of {}, which is no multiple "
                            "of {}",
                            bytes, buffer, element));
        return {.text = fmt::format("{} + {}", buffer, bytes / element)};
    }

    /// C++ gives a bit-field of a signed type a sign.
    std::string bit_field(const Type& type, std::size_t offset) const {
        std::int64_t value = 0;
        std::memcpy(&value, at(offset, type.bytes), type.bytes);
        value = std::int64_t(std::uint64_t(value) << (64 - type.count - type.first_bit));
        const bool has_sign = type.target->kind == Type::Kind::signed_integer;
        const auto above = int(64 - type.count);
        return launches::to_string(
            Number(has_sign ? value >> above : std::int64_t(std::uint64_t(value) >> above)));
    }

    std::string number(const Type& type, std::size_t offset) const {
        if (type.kind == Type::Kind::bit_field) return bit_field(type, offset);
        const auto element = number_type(type);
        if (!element) fail(fmt::format("a value of type {} cannot be written down", type.name));
        Array one(*element, {1});
        std::memcpy(one.bytes.data(), at(offset, element->size()), element->size());
        const Number value = one.at(0);
        if (!std::isfinite(real(value))) fail("it is infinite or no number");
        // A float has fewer digits than the double of its value.
        if (element->bytes == 4 && element->is_real()) return fmt::format("{}", float(real(value)));
        return launches::to_string(value);
    }

    const std::byte* at(std::size_t offset, std::size_t bytes) const {
        if (offset + bytes > captured_.bytes.size())
            fail("the source has another type than the program");
        return captured_.bytes.data() + offset;
    }

    const std::string parameter_;
    const CapturedArgument& captured_;
};

std::vector<std::pair<std::string, ArgumentSpec>> named_arguments(
    const compiler::Signature& kernel, const std::vector<CapturedArgument>& captured) {
    if (captured.size() != kernel.parameters.size())
        throw LaunchError(fmt::format("{}: the source has {} parameters, the program had {}",
                                      kernel.name, kernel.parameters.size(), captured.size()));
    std::vector<std::pair<std::string, ArgumentSpec>> named;
    for (std::size_t i = 0; i < captured.size(); ++i) {
        const compiler::KernelParameter& parameter = kernel.parameters[i];
        named.emplace_back(parameter.name,
                           ArgumentReader(parameter.name, captured[i]).read(*parameter.type, 0));
    }
    return named;
}

/// Gives a buffer the name of the parameter that it is passed to, unless another thing has it.
void rename_buffer(LaunchFile& file, const std::string& from, const std::string& to) {
    const auto is_taken = [&](const auto& named) { return named.first == to; };
    if (to.empty() || file.find_buffer(to) || std::ranges::any_of(file.scalars, is_taken)) return;
    file.buffers[file.index_of(from)].name = to;
    for (LaunchSpec& launch : file.launches)
        for (CapturedArgument& argument : launch.captured)
            for (auto& [at, address] : argument.addresses)
                if (address.buffer == from) address.buffer = to;
    for (Expectation& expected : file.expect)
        if (expected.buffer == from) expected.buffer = to;
    if (file.show == from) file.show = to;
}

/// Returns the file with the arguments of captured launches as a person writes them, which needs
/// the types of the parameters: buffers get the names of the parameters that they are passed to,
/// and variables that the source does not have are left out. Throws LaunchError for other types
/// than those that were captured, for an address of no buffer, and for infinite numbers, which
/// launch files cannot have.
LaunchFile with_named_arguments(LaunchFile file, std::span<const compiler::Signature> signatures,
                                std::span<const compiler::ModuleVariable> variables) {
    std::set<std::string> passed;
    for (std::size_t i = 0; i < file.launches.size(); ++i) {
        if (file.launches[i].captured.empty()) continue;
        const auto* kernel = find_signature(signatures, file.launches[i].kernel);
        if (!kernel) continue;
        const auto before = file.launches[i].captured;
        for (std::size_t a = 0; a < std::min(before.size(), kernel->parameters.size()); ++a)
            if (const auto whole = before[a].addresses.find(0); whole != before[a].addresses.end())
                rename_buffer(file, whole->second.buffer, kernel->parameters[a].name);
        LaunchSpec& launch = file.launches[i];
        launch.arguments = named_arguments(*kernel, launch.captured);
        for (const CapturedArgument& argument : launch.captured)
            for (const auto& [at, address] : argument.addresses) passed.insert(address.buffer);
        launch.captured.clear();
        file.of_program = true;
    }
    if (passed.empty()) return file;
    std::erase_if(file.buffers, [&](const BufferSpec& buffer) {
        const bool is_variable = std::ranges::any_of(
            variables, [&](const auto& variable) { return variable.name == buffer.name; });
        return !passed.contains(buffer.name) && !is_variable;
    });
    if (!file.find_buffer(file.show)) file.show.clear();
    std::erase_if(file.expect, [&](const Expectation& e) { return !file.find_buffer(e.buffer); });
    return file;
}

}  // namespace

LaunchFile find_launch_file(const std::filesystem::path& path) {
    if (in_gallery(path.string())) return gallery_file(path.string());
    const FileKind kind = file_kind(path);
    if (kind == FileKind::launch_file || kind == FileKind::json) return read_launch_file(path);
    if (kind == FileKind::capture) return find_launch_file(unpacked(path));
    if (std::filesystem::is_directory(path)) {
        const auto capture = read_capture(path);
        if (!capture || capture->launches.empty())
            throw LaunchError(path.string() + ": the folder has no launches of a program");
        return read_launch_file(capture->launches.front().file);
    }
    const std::filesystem::path beside =
        std::filesystem::path(path).replace_extension(".launch.json");
    if (std::filesystem::exists(beside)) return read_launch_file(beside);
    LaunchFile launch;
    launch.source = path.filename();
    launch.file = beside;
    launch.saved = false;
    return launch;
}

std::string read_launch_source(const LaunchFile& file) {
    if (file.built_in)
        return std::string(compute::kernel_source(compute::kernel_path(source_key(file))));
    const std::filesystem::path path = file.in_folder(file.source);
    try {
        return compiler::read_source_file(path);
    } catch (const std::runtime_error& error) {
        throw LaunchError(fmt::format("source: {}: {}", path.string(), error.what()));
    }
}

namespace {

/// The kernels of the launches that exist only where they are named: templates. A person may have
/// put another source in the place of theirs, which does not have them.
std::vector<std::string> templates_to_compile(const LaunchFile& file, const std::string& source) {
    const bool has_headers = source.find("#include \"") != std::string::npos;
    std::vector<std::string> names;
    for (const LaunchSpec& launch : file.launches)
        if (launch.kernel.find('<') != std::string::npos &&
            (has_headers ||
             source.find(compiler::template_name(launch.kernel)) != std::string::npos))
            names.push_back(launch.kernel);
    return names;
}

/// The file with a proposed launch in place of each that says no more than its kernel.
LaunchFile completed(LaunchFile file, std::span<const compiler::Signature> signatures,
                     std::span<const compiler::ModuleVariable> variables) {
    file = with_named_arguments(std::move(file), signatures, variables);
    std::vector<std::string> names;
    for (const compiler::ModuleVariable& variable : variables) names.push_back(variable.name);
    for (std::size_t i = 0; i < file.launches.size(); ++i) {
        if (!file.launches[i].grid.empty()) continue;
        if (const auto* kernel = find_signature(signatures, file.launches[i].kernel))
            file = replace_launch(std::move(file), i, *kernel, names);
    }
    return file;
}

bool is_for_another_source(const LaunchFile& file, std::span<const compiler::Signature> before,
                           std::span<const compiler::Signature> now) {
    return std::ranges::all_of(file.launches, [&](const LaunchSpec& launch) {
        return find_signature(before, launch.kernel) && !find_signature(now, launch.kernel);
    });
}

/// A proposed launch of the kernel that the file names, or else of the first one.
LaunchPlan proposed_plan(const LaunchFile& file, const CompiledLaunch& source) {
    const compiler::Signature* kernel = nullptr;
    if (!file.launches.empty()) kernel = find_signature(source.signatures, file.launches[0].kernel);
    if (!kernel) kernel = source.signatures.data();
    ProposedLaunch proposed =
        propose_launch(file_without_launches(file), *kernel, source.variables);
    LaunchPlan plan = plan_launch(proposed.file, source.signatures, source.variables);
    plan.guesses = std::move(proposed.guesses);
    return plan;
}

/// Compiles the source with the templates that the file launches.
CompiledLaunch compile_with_templates(compute::Helpers& helpers, const LaunchFile& file,
                                      const std::string& source, compute::Math math,
                                      const std::stop_token& stop) {
    const std::vector<std::string> names = templates_to_compile(file, source);
    try {
        return compile_source(helpers, file, source, names, math, stop);
    } catch (const compiler::CompileError& error) {
        const bool is_in_source =
            std::ranges::any_of(error.diagnostics, [](const compiler::Diagnostic& one) {
                return one.severity == compiler::Severity::error && one.line > 0;
            });
        if (names.empty() || is_in_source) throw;
        (void)compile_source(helpers, file, source, {}, math, stop);  // else the source is at fault
        throw LaunchError(
            fmt::format("the arguments of the template in {} are not those that its kernel takes",
                        fmt::join(names, ", ")));
    }
}

/// `is_new`: the launches of the file give way to a proposed one.
LaunchPlan plan_of(const LaunchFile& file, const CompiledLaunch& source, bool is_new) {
    LaunchPlan plan = is_new ? proposed_plan(file, source)
                             : plan_launch(completed(file, source.signatures, source.variables),
                                           source.signatures, source.variables);
    for (const std::string& name : source.templates)
        if (std::ranges::none_of(source.signatures, [&](const auto& kernel) {
                return compiler::template_name(kernel.name) == compiler::template_name(name);
            }))
            plan.templates.push_back(name);
    return plan;
}

std::shared_ptr<const compute::KernelEdit> edit_of(CompiledLaunch source, const LaunchFile& file,
                                                   const std::string& text, compute::Math math) {
    const std::string copies =
        file.built_in ? "" : launches::folder_of_copies(file.source).string();
    std::map<std::string, std::string> readable;
    for (const compiler::Signature& signature : source.signatures)
        if (signature.entry != signature.name) readable[signature.entry] = signature.name;
    return std::make_shared<const compute::KernelEdit>(
        compute::KernelEdit{.file = source_key(file),
                            .source = text,
                            .math = math,
                            .ptx = std::move(source.compiled.ptx),
                            .warnings = std::move(source.compiled.warnings),
                            .unoptimized = std::move(source.unoptimized),
                            .from = file.built_in ? "" : file.in_folder(file.source).string(),
                            .copies = copies.empty() ? "" : file.in_folder(copies).string() + "/",
                            .names = std::move(readable),
                            .headers = std::move(source.headers),
                            .kept = std::move(source.compiled.kept)});
}

}  // namespace

CompiledEntry compile_launch(compute::Helpers& helpers, const LaunchFile& file,
                             const std::string& source, compute::Math math,
                             const std::stop_token& stop,
                             std::span<const compiler::Signature> before) {
    CompiledLaunch compiled = compile_with_templates(helpers, file, source, math, stop);
    CompiledEntry opened;
    opened.left_out = std::move(compiled.left_out);
    try {
        const bool may_propose = file.launches.empty() || !before.empty();
        if (compiled.signatures.empty() && !compiled.templates.empty() && may_propose) {
            LaunchFile of_template = file_without_launches(file);
            of_template.launches.push_back(
                {.kernel = compiled.templates[0], .grid = {}, .block = {}});
            CompiledEntry anew = compile_launch(helpers, of_template, source, math, stop);
            anew.begins_anew = true;
            return anew;
        }
        if (compiled.signatures.empty())
            throw LaunchError(
                "source: it has no __global__ function that can be launched; a template needs a "
                "launch that names its arguments");
        // A template that was named and no more. With other buffers it is another experiment.
        const bool is_named = file.launches.size() == 1 && file.launches[0].grid.empty();
        const bool is_new = is_named || is_for_another_source(file, before, compiled.signatures);
        const auto is_captured = [](const LaunchSpec& launch) { return !launch.captured.empty(); };
        opened.begins_anew = is_new || std::ranges::any_of(file.launches, is_captured);
        opened.plan = std::make_shared<const LaunchPlan>(plan_of(file, compiled, is_new));
        opened.entry = launch_entry(opened.plan);
    } catch (const LaunchError& error) {
        if (file.saved) throw LaunchError(fmt::format("{}: {}", file.file.string(), error.what()));
        throw LaunchError(fmt::format("{}: no launch can be proposed: {}; write a launch file",
                                      file.in_folder(file.source).string(), error.what()));
    }
    opened.kernels = edit_of(std::move(compiled), file, source, math);
    return opened;
}

CompiledEntry open_launch(compute::Helpers& helpers, const LaunchFile& file, compute::Math math,
                          const std::stop_token& stop) {
    return compile_launch(helpers, file, read_launch_source(file), math, stop);
}

std::shared_ptr<const emulator::ScheduleFile> read_schedule(const LaunchFile& file) {
    if (file.schedule.empty()) return nullptr;
    const std::string path = file.in_folder(file.schedule).string();
    try {
        return std::make_shared<emulator::ScheduleFile>(
            emulator::ScheduleFile::parse(compiler::read_source_file(path), path));
    } catch (const std::exception& error) {
        throw LaunchError(fmt::format("{}: schedule: {}", file.file.string(), error.what()));
    }
}

SharedEntry launch_entry(const LaunchFile& file) {
    LaunchPlan plan = uncompiled_plan(file);
    if (file.built_in) plan.signatures = gallery_signatures(file);
    return launch_entry(std::make_shared<const LaunchPlan>(std::move(plan)));
}

}  // namespace warpscope::experiments
