#include "programs/gpu/loaded_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string_view>

#include "emulator/program/error.h"
#include "files/regular_file.h"
#include "launches/files/ptx_source.h"
#include "programs/gpu/device_attributes.h"
#include "programs/images/ptx_entries.h"
#include "programs/images/ptx_link.h"
#include "programs/report/program_report.h"

namespace warpscope::programs {
namespace {

const Image& runnable_one(const std::vector<Image>& images) {
    if (const Image* newest = newest_with_ptx(images)) return *newest;
    std::string problem =
        "it holds machine code only, and the emulator runs PTX: build it with nvcc's default, or "
        "with -gencode arch=compute_75,code=compute_75";
    for (const Image& image : images)
        if (!image.problem.empty()) problem = image.problem;
    throw CallError(Status::no_binary_for_gpu, problem);
}

/// The names in ".global .attribute(.managed) .align 4 .u32 name[2] = {…};".
std::set<std::string, std::less<>> managed_variables(const std::string& ptx) {
    std::set<std::string, std::less<>> names;
    constexpr std::string_view attribute = ".attribute(.managed)";
    for (std::size_t at = ptx.find(attribute); at != ptx.npos; at = ptx.find(attribute, at + 1)) {
        const std::size_t end = ptx.find_first_of("[=;", at);
        std::string_view words = std::string_view(ptx).substr(at, end - at);
        words = words.substr(0, words.find_last_not_of(" \t\n") + 1);
        names.emplace(words.substr(words.find_last_of(" \t\n") + 1));
    }
    return names;
}

}  // namespace

LoadedModule::LoadedModule(const std::vector<Image>& images, const std::string& name)
    : ptx_(with_device_functions(with_names_of_toolkit(runnable_one(images).ptx))),
      architecture_(target_of(ptx_)),
      managed_(managed_variables(ptx_)) {
    const std::vector<PtxEntry> entries = entries_of(ptx_);
    for (const PtxEntry& entry : entries)
        functions_.push_back(std::make_unique<Function>(*this, entry));
    try {
        loader_.emplace(without(ptx_, entries), name);
    } catch (const emulator::Error& error) {
        throw CallError(Status::invalid_ptx, error.what());
    }
    loader_->set_text(ptx_);
    // A kernel may call by a pointer what another one has stored.
    if (ptx_.find(".callprototype") == ptx_.npos && ptx_.find(".calltargets") == ptx_.npos) return;
    for (const PtxEntry& entry : entries) try {
            loader_->point(text_of(entry));
        } catch (const emulator::Error&) {
            // The kernel cannot run.
        }
}

std::string LoadedModule::text_of(const PtxEntry& entry) const {
    const std::string_view ptx = ptx_;
    const auto lines = std::ranges::count(ptx.substr(0, entry.begin), '\n');
    return std::string(std::size_t(lines), '\n')
        .append(ptx.substr(entry.begin, entry.end - entry.begin));
}

const emulator::Kernel* LoadedModule::decode(const PtxEntry& entry) {
    loader_->add(text_of(entry));
    return loader_->module()->kernels().back().get();
}

const emulator::Kernel* Function::kernel() {
    if (is_decoded_) return kernel_;
    is_decoded_ = true;
    try {
        kernel_ = module->decode(entry_);
    } catch (const emulator::Error& error) {
        problem_ = error.what();
        // The PTX ISA of 8.0 is that of most programs, so what is newer may be for this GPU only.
        if (module->architecture() > 80)
            problem_ +=
                "; if the program compiles its kernels at run time, "
                "WARPSCOPE_COMPUTE_CAPABILITY=8.0 has it compile them for an older GPU";
    }
    return kernel_;
}

std::size_t Function::most_dynamic_shared_bytes() {
    constexpr std::size_t of_block = static_shared_limit;
    return most_dynamic_shared_bytes_.value_or(of_block -
                                               std::min(of_block, static_shared_bytes()));
}

void Function::set_most_dynamic_shared(int bytes) {
    demand(bytes >= 0 && bytes + int(static_shared_bytes()) <= shared_limit, Status::invalid_value,
           "more shared memory than a block can have");
    most_dynamic_shared_bytes_ = std::size_t(bytes);
}

void check_shape(Function& function, const emulator::LaunchShape& shape) {
    constexpr std::uint32_t most_blocks_x = 0x7fffffff, most_blocks_yz = 65535;
    const emulator::Dim3 &g = shape.grid, &b = shape.block;
    if (!g.count() || g.x > most_blocks_x || g.y > most_blocks_yz || g.z > most_blocks_yz)
        throw CallError(Status::invalid_value, "the grid is too large or empty");
    if (const auto most = function.most_threads(); !b.count() || b.count() > most || b.z > 64)
        throw CallError(Status::invalid_value, fmt::format("a block has 1 to {} threads", most));
    if (shape.dynamic_shared_bytes > function.most_dynamic_shared_bytes())
        throw CallError(
            Status::invalid_value,
            fmt::format(
                "too much dynamic shared memory: {} bytes, and with {} static bytes a block "
                "has at most {}; cudaFuncSetAttribute() with "
                "cudaFuncAttributeMaxDynamicSharedMemorySize allows more",
                shape.dynamic_shared_bytes, function.static_shared_bytes(),
                function.most_dynamic_shared_bytes()));
}

void LoadedModule::keep_variables() {
    first_values_.clear();
    for (const auto& variable : variables()) {
        const std::span values(variable.data, variable.bytes);
        const bool is_zero =
            std::ranges::all_of(values, [](std::byte b) { return b == std::byte{}; });
        auto& kept = first_values_.emplace_back();
        if (!is_zero) kept.assign(values.begin(), values.end());
    }
}

void LoadedModule::reset_variables() {
    for (std::size_t i = 0; i < first_values_.size(); ++i) {
        const auto& variable = variables()[i];
        std::fill_n(variable.data, variable.bytes, std::byte{});
        std::ranges::copy(first_values_[i], variable.data);
    }
}

Function* LoadedModule::find(std::string_view name) {
    for (const auto& function : functions_)
        if (function->name == name) return function.get();
    return nullptr;
}

const emulator::Module::GlobalVariable* LoadedModule::find_variable(std::string_view name) const {
    for (const emulator::Module::GlobalVariable& variable : variables())
        if (variable.name == name) return &variable;
    return nullptr;
}

namespace fs = std::filesystem;

namespace {

constexpr std::size_t largest_ptx = std::size_t(1) << 28;

/// The source among the files of the line information, ".file 1 "/home/ann/my.cu"", by its stem.
std::string source_in(const std::string& ptx, const std::string& stem) {
    const std::size_t end = ptx.find("/" + stem + ".cu\"");
    if (end == ptx.npos) return {};
    const std::size_t begin = ptx.rfind('"', end) + 1;
    return ptx.substr(begin, ptx.find('"', end) - begin);
}

std::shared_ptr<const emulator::Module> module_of(const std::string& ptx,
                                                  std::vector<PtxEntry> entries,
                                                  const std::string& symbol) {
    std::erase_if(entries, [&](const PtxEntry& entry) { return entry.name == symbol; });
    try {
        return emulator::Module::parse(without(ptx, entries), "the program");
    } catch (const emulator::Error&) {
        return nullptr;  // it uses what the emulator does not know, and the optimized code does not
    }
}

}  // namespace

UnoptimizedCode::UnoptimizedCode(const fs::path& folder) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (entry.path().extension() != ".ptx") continue;
        try {
            const std::string ptx = with_device_functions(
                with_names_of_toolkit(files::RegularFile(entry.path()).read(largest_ptx)));
            sources_.push_back({ptx, entries_of(ptx), source_in(ptx, entry.path().stem())});
        } catch (const std::runtime_error&) {
            // Without the file, the checks look at what runs.
        }
    }
}

const emulator::Kernel* UnoptimizedCode::find(const std::string& symbol) {
    const auto [at, is_new] = modules_.try_emplace(symbol);
    if (is_new) {
        const auto has = [&](const Source& source) {
            return std::ranges::find(source.entries, symbol, &PtxEntry::name) !=
                   source.entries.end();
        };
        if (std::ranges::count_if(sources_, has) == 1) {
            const Source& source = *std::ranges::find_if(sources_, has);
            at->second = module_of(source.ptx, source.entries, symbol);
        }
    }
    return at->second ? at->second->find(symbol) : nullptr;
}

namespace {

std::string line_of(const std::string& source, const compiler::Diagnostic& note) {
    return note.line ? fmt::format("{}:{}: {}", source, note.line, note.text)
                     : fmt::format("{}: {}", source, note.text);
}

std::vector<std::string> removed_by_sources(const LoadedModule& module) {
    std::vector<std::string> lines;
    for (const std::string& file : module.files()) {
        if (!file.starts_with('/') || is_of_system(file)) continue;
        try {
            const std::string source = files::RegularFile(file).read(largest_ptx);
            for (const auto& note : launches::arrays_not_in(module.ptx(), source))
                lines.push_back(line_of(file, note));
        } catch (const std::runtime_error&) {
            // The program was compiled elsewhere.
        }
    }
    return lines;
}

}  // namespace

std::vector<std::string> UnoptimizedCode::removed_from(LoadedModule& module) const {
    if (sources_.empty()) return removed_by_sources(module);
    std::vector<std::string> lines;
    for (const Source& source : sources_) {
        const auto has = [&](const PtxEntry& entry) { return module.find(entry.name); };
        if (std::ranges::none_of(source.entries, has)) continue;
        for (const compiler::Diagnostic& note :
             launches::removed_arrays(module.ptx(), source.ptx, source.name))
            lines.push_back(line_of(source.name, note));
    }
    return lines;
}

}  // namespace warpscope::programs
