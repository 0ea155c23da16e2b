#include "programs/gpu/unoptimized_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "files/regular_file.h"
#include "launches/files/removed_arrays.h"

namespace warpscope::programs {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t largest_ptx = std::size_t(1) << 28;

/// The file whose stem is that of the PTX.
std::string source_of(const LoadedModule& module, const fs::path& ptx) {
    for (const std::string& file : module.files())
        if (fs::path(file).stem() == ptx.stem()) return file;
    return {};
}

}  // namespace

UnoptimizedCode::UnoptimizedCode(const fs::path& folder) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (entry.path().extension() != ".ptx") continue;
        try {
            Image image{.ptx = files::RegularFile(entry.path()).read(largest_ptx), .problem = {}};
            auto module = std::make_unique<LoadedModule>(std::vector{std::move(image)},
                                                         entry.path().string());
            std::string name = source_of(*module, entry.path());
            sources_.push_back({std::move(name), std::move(module)});
        } catch (const std::runtime_error&) {
            // It may use what the emulator does not know, and the optimized code does not.
        }
    }
}

const emulator::Kernel* UnoptimizedCode::find(const std::string& symbol) const {
    const emulator::Kernel* found = nullptr;
    for (const Source& source : sources_)
        if (const Function* function = source.module->find(symbol)) {
            if (found) return nullptr;
            found = function->kernel;
        }
    return found;
}

std::vector<std::string> UnoptimizedCode::removed_from(LoadedModule& module) const {
    std::vector<std::string> lines;
    for (const Source& source : sources_) {
        const auto has = [&](const auto& function) { return module.find(function->name); };
        if (std::ranges::none_of(source.module->functions(), has)) continue;
        for (const compiler::Diagnostic& note :
             launches::removed_arrays(module.ptx(), source.module->ptx(), source.name))
            lines.push_back(note.line ? fmt::format("{}:{}: {}", source.name, note.line, note.text)
                                      : fmt::format("{}: {}", source.name, note.text));
    }
    return lines;
}

}  // namespace warpscope::programs
