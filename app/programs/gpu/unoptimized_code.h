#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "programs/gpu/loaded_module.h"
#include "programs/images/ptx_entries.h"

namespace warpscope::programs {

/// The code of a program without optimization, which the app has where it compiles the program. The
/// checks look at it beside the code that runs: values that were never set are still in it, and
/// arrays that the compiler has removed.
class UnoptimizedCode {
  public:
    /// Reads the PTX files in a folder; empty: there are none.
    explicit UnoptimizedCode(const std::filesystem::path& folder);

    /// The kernel with this name in PTX; null: it is not known, or in several sources.
    const emulator::Kernel* find(const std::string& symbol);
    /// Lines that say which arrays in shared memory the compiler has removed from a module.
    std::vector<std::string> removed_from(LoadedModule& module) const;

  private:
    struct Source {
        std::string ptx;
        std::vector<PtxEntry> entries;
        std::string name;  ///< "/home/ann/my.cu", as the line information has it
    };
    std::vector<Source> sources_;
    /// Each kernel that was asked for is in a module of its own.
    std::map<std::string, std::shared_ptr<const emulator::Module>> modules_;
};

}  // namespace warpscope::programs
