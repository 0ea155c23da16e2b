#include "launches/files/ptx_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "compiler/host/declarations.h"
#include "compiler/host/host_code.h"
#include "compiler/nvrtc.h"
#include "compiler/source_file.h"
#include "emulator/program/error.h"
#include "emulator/program/module.h"
#include "emulator/program/source_line.h"
#include "emulator/ptx/effects.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::launches {
namespace {

using compiler::Type;
using SharedType = std::shared_ptr<const Type>;

SharedType unsigned_of(std::size_t bytes) {
    const char* const name = bytes == 1   ? "unsigned char"
                             : bytes == 2 ? "unsigned short"
                             : bytes == 4 ? "unsigned"
                                          : "unsigned long long";
    return compiler::number_of(Type::Kind::unsigned_integer, bytes, name);
}

/// What the numbers in memory probably are, by most of the kernel's arithmetic.
SharedType element_of(const emulator::Kernel& kernel) {
    const auto count = [&](const char* type) {
        return std::ranges::count_if(kernel.lines, [&](const emulator::InstructionInfo& line) {
            return line.text.find(type) != std::string::npos;
        });
    };
    const auto singles = count(".f32"), doubles = count(".f64");
    if (doubles > singles) return compiler::number_of(Type::Kind::floating, 8, "double");
    if (singles > 0) return compiler::number_of(Type::Kind::floating, 4, "float");
    return compiler::number_of(Type::Kind::signed_integer, 4, "int");
}

/// The name of a part of an argument, at this offset.
std::string part_name(std::size_t offset) {
    return fmt::format("byte{}", offset);
}

bool names_buffer(const LaunchFile& file, const std::optional<std::string>& text) {
    return text && file.find_buffer(text->substr(0, text->find_first_of(" +-")));
}

/// Makes the type of one parameter.
class ParameterType {
  public:
    ParameterType(const LaunchFile& file, std::string kernel, std::string parameter,
                  std::size_t index, SharedType element)
        : file_(file),
          kernel_(std::move(kernel)),
          parameter_(std::move(parameter)),
          index_(index),
          element_(std::move(element)) {}

    SharedType of(std::size_t bytes) const {
        if (bytes <= 8 && (bytes & (bytes - 1)) == 0) return word(0, bytes);
        Type whole{.kind = Type::Kind::structure,
                   .name = fmt::format("{} bytes", bytes),
                   .bytes = bytes,
                   .members = {}};
        for (std::size_t at = 0; at < bytes;) {
            std::size_t part = 8;
            while (part > bytes - at) part /= 2;
            whole.members.push_back({part_name(at), at, word(at, part)});
            at += part;
        }
        return std::make_shared<Type>(std::move(whole));
    }

  private:
    SharedType word(std::size_t offset, std::size_t bytes) const {
        const bool is_address =
            bytes == 8 && std::ranges::any_of(file_.launches, [&](auto& launch) {
                return launch.kernel == kernel_ && has_buffer(launch, offset);
            });
        return is_address ? compiler::pointer_to(element_) : unsigned_of(bytes);
    }

    bool has_buffer(const LaunchSpec& launch, std::size_t offset) const {
        if (index_ < launch.captured.size())
            return launch.captured[index_].addresses.contains(offset);
        for (const auto& [name, value] : launch.arguments) {
            if (name != parameter_) continue;
            if (offset == 0 && names_buffer(file_, value.text)) return true;
            for (const auto& [member, part] : value.members)
                if (member == part_name(offset) && names_buffer(file_, part.text)) return true;
        }
        return false;
    }

    const LaunchFile& file_;
    const std::string kernel_, parameter_;
    const std::size_t index_;
    const SharedType element_;
};

/// "param_2" for "_Z3dotPKfS0_Pf_param_2".
std::string parameter_name(const std::string& in_ptx) {
    const std::size_t at = in_ptx.rfind("param_");
    return at == std::string::npos ? in_ptx : in_ptx.substr(at);
}

/// Whether all memory of the launch file consists of elements of this size.
bool fit(const LaunchFile& file, std::size_t bytes) {
    return std::ranges::all_of(file.buffers, [&](const BufferSpec& buffer) {
        const auto* const content = std::get_if<std::filesystem::path>(&buffer.fill);
        std::error_code none;
        return !content || std::filesystem::file_size(file.in_folder(*content), none) % bytes == 0;
    });
}

}  // namespace

bool is_ptx(const LaunchFile& file) {
    return file.source.extension() == ".ptx";
}

PtxKernels kernels_of_ptx(const std::string& ptx, const LaunchFile& file) {
    std::shared_ptr<const emulator::Module> module;
    try {
        module = emulator::Module::parse(ptx, file.source.filename().string());
    } catch (const emulator::Error& error) {
        throw compiler::CompileError(error.what(), {{.text = error.what()}});
    }
    PtxKernels found;
    for (const auto& kernel : module->kernels()) {
        compiler::Signature signature{.name = emulator::kernel_name(kernel->name),
                                      .entry = kernel->name,
                                      .file = "",
                                      .parameters = {}};
        SharedType element = element_of(*kernel);
        if (!fit(file, element->bytes)) element = unsigned_of(1);
        for (std::size_t i = 0; i < kernel->parameters.size(); ++i) {
            const std::string name = parameter_name(kernel->parameters[i].name);
            const ParameterType type(file, signature.name, name, i, element);
            signature.parameters.push_back({name, type.of(kernel->parameters[i].size)});
        }
        found.signatures.push_back(std::move(signature));
    }
    for (const auto& variable : module->variables())
        found.variables.push_back({variable.name, variable.name,
                                   unsigned_of(variable.bytes % 8 == 0   ? 8
                                               : variable.bytes % 4 == 0 ? 4
                                                                         : 1)});
    return found;
}

std::filesystem::path folder_of_copies(const std::filesystem::path& source) {
    std::filesystem::path folder, found;
    for (const auto& part : source) {
        if (found.empty() && folder.filename() == "sources" && part != source.filename())
            found = folder / part;
        folder /= part;
    }
    return found;
}

bool has_other_source(const LaunchFile& file) {
    const std::string captured = folder_of_copies(file.source).filename();
    if (file.ptx.empty() || captured.empty()) return false;
    std::vector<std::filesystem::path> folders;
    for (const auto& folder : file.include) folders.push_back(file.in_folder(folder));
    try {
        const auto path = file.in_folder(file.source);
        return captured != compiler::fingerprint(compiler::own_files(
                               compiler::read_source_file(path), path, folders));
    } catch (const std::runtime_error& error) {
        throw LaunchError(fmt::format("source: {}", error.what()));
    }
}

std::optional<std::string> ptx_of_program(const LaunchFile& file, const std::string& source,
                                          const std::string& source_name) {
    if (file.ptx.empty() || has_other_source(file)) return {};
    std::string ptx;
    try {
        if (source != compiler::read_source_file(file.in_folder(file.source))) return {};
        ptx = compiler::read_source_file(file.in_folder(file.ptx));
    } catch (const std::runtime_error& error) {
        throw LaunchError(fmt::format("ptx: {}", error.what()));
    }
    // The program was compiled from a file in another folder.
    const std::string end = "/" + file.source.filename().string() + "\"";
    for (std::size_t at = 0; (at = ptx.find(end, at)) != std::string::npos;) {
        const std::size_t begin = ptx.rfind('"', at) + 1;
        ptx.replace(begin, at + end.size() - 1 - begin, source_name);
        at = begin + source_name.size();
    }
    return ptx;
}

bool has_kernel(const std::string& ptx, const std::string& entry) {
    return ptx.find(".entry " + entry + "(") != std::string::npos;
}

namespace {

using emulator::KernelSyntax;
using emulator::ModuleSyntax;
using emulator::Operand;

/// Calls visit(kernel or function) for all of a module.
template <class Visit>
void for_each_body(const ModuleSyntax& module, Visit visit) {
    for (const KernelSyntax& kernel : module.kernels) visit(kernel);
    for (const auto& [name, function] : module.functions) visit(function);
}

/// Where the module names each symbol first.
std::map<std::string, emulator::SourceLine> first_uses(const ModuleSyntax& module) {
    std::map<std::string, emulator::SourceLine> found;
    for_each_body(module, [&](const KernelSyntax& body) {
        for (const emulator::Statement& statement : body.statements)
            for (const Operand& operand : statement.operands) {
                const Operand& base = emulator::base_of(operand);
                if (base.kind == Operand::symbol) found.try_emplace(base.name, statement.source);
            }
    });
    return found;
}

std::set<std::string> shared_arrays(const ModuleSyntax& module) {
    std::set<std::string> names;
    const auto add = [&](const std::vector<emulator::Variable>& variables) {
        for (const emulator::Variable& variable : variables)
            if (variable.space == emulator::Space::shared) names.insert(variable.name);
    };
    add(module.variables);
    for_each_body(module, [&](const KernelSyntax& body) { add(body.variables); });
    return names;
}

compiler::Diagnostic removed_array(int line, const std::string& name) {
    return {line, 0, compiler::Severity::note,
            fmt::format("the compiler has removed the array {} in shared memory and its "
                        "accesses, since it knows the values or no result needs them: the "
                        "checks do not see them",
                        name)};
}

}  // namespace

std::vector<compiler::Diagnostic> removed_arrays(std::string_view optimized,
                                                 std::string_view unoptimized,
                                                 std::string_view source) {
    std::vector<compiler::Diagnostic> notes;
    try {
        const auto kept = first_uses(emulator::parse_ptx(optimized, ""));
        const ModuleSyntax written = emulator::parse_ptx(unoptimized, "");
        const auto uses = first_uses(written);
        for (const std::string& name : shared_arrays(written)) {
            const auto use = uses.find(name);
            if (use == uses.end() || kept.contains(name)) continue;
            // The compiler may split an array into "name_$_0", "name_$_1".
            const auto part = kept.lower_bound(name + "_$_");
            if (part != kept.end() && part->first.starts_with(name + "_$_")) continue;
            const auto [file, line] = std::pair(use->second.file, use->second.line);
            const bool is_here = file >= 0 && written.files[std::size_t(file)] == source;
            notes.push_back(removed_array(is_here ? line : 0, emulator::source_name(name)));
        }
    } catch (const emulator::Error&) {
        return {};  // the kernels do not run in the emulator, which then says why
    }
    return notes;
}

namespace {

/// Whether a symbol of C++ has the name, as _ZZ3dotPfE4tile has "dot" and "tile".
bool has_name(std::string_view ptx, const std::string& name) {
    return ptx.find(fmt::format("{}{}", name.size(), name)) != ptx.npos;
}

/// Visits the arrays in shared memory that a function declares, unless a directive decides whether
/// it does: visit(token of its name).
template <class Visit>
void for_each_shared_array(const compiler::TokenText& text, const compiler::Declaration& function,
                           Visit visit) {
    int conditions = 0;
    for (std::size_t i = function.begin; i < function.end; ++i) {
        if (text.is_directive(i))
            conditions +=
                int(text.text(i).starts_with("#if")) - int(text.text(i).starts_with("#endif"));
        if (conditions || !text.is(i, "__shared__") || text.is(i - 1, "extern")) continue;
        std::size_t behind = i + 1;
        while (behind < function.end && !text.is(behind, "[") && !text.is(behind, ";")) ++behind;
        if (text.is(behind, "[") && text.is_word(behind - 1)) visit(behind - 1);
    }
}

}  // namespace

std::vector<compiler::Diagnostic> arrays_not_in(std::string_view ptx, std::string_view source) {
    const compiler::TokenText text(source);
    std::vector<compiler::Diagnostic> notes;
    const auto is_device_word = [](std::string_view word) { return word == "__global__"; };
    for (const compiler::Declaration& function : compiler::declarations_of(text, is_device_word)) {
        if (function.kind != compiler::Declaration::Kind::function || !function.on_device) continue;
        const bool is_c = has_kernel(std::string(ptx), function.name);
        if (!is_c && !has_name(ptx, function.name)) continue;
        for_each_shared_array(text, function, [&](std::size_t name) {
            if (has_name(ptx, std::string(text.text(name)))) return;
            const auto line = std::count(
                source.begin(), source.begin() + std::ptrdiff_t(text.token(name).begin), '\n');
            notes.push_back(removed_array(int(line) + 1, std::string(text.text(name))));
        });
    }
    return notes;
}

}  // namespace warpscope::launches
