#include "programs/gpu/unoptimized_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "emulator/program/error.h"
#include "files/regular_file.h"
#include "launches/files/removed_arrays.h"
#include "programs/images/device_functions.h"

namespace warpscope::programs {

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

std::vector<std::string> UnoptimizedCode::removed_from(LoadedModule& module) const {
    std::vector<std::string> lines;
    for (const Source& source : sources_) {
        const auto has = [&](const PtxEntry& entry) { return module.find(entry.name); };
        if (std::ranges::none_of(source.entries, has)) continue;
        for (const compiler::Diagnostic& note :
             launches::removed_arrays(module.ptx(), source.ptx, source.name))
            lines.push_back(note.line ? fmt::format("{}:{}: {}", source.name, note.line, note.text)
                                      : fmt::format("{}: {}", source.name, note.text));
    }
    return lines;
}

}  // namespace warpscope::programs
