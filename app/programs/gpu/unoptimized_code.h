#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "programs/gpu/loaded_module.h"

namespace warpscope::programs {

/// The code of a program without optimization, which the app has where it compiles the program. The
/// checks look at it beside the code that runs: values that were never set are still in it, and
/// arrays that the compiler has removed.
class UnoptimizedCode {
  public:
    /// Reads the PTX files in a folder; empty: there are none.
    explicit UnoptimizedCode(const std::filesystem::path& folder);

    /// The kernel with this name in PTX; null: it is not known, or in several sources.
    const emulator::Kernel* find(const std::string& symbol) const;
    /// Lines that say which arrays in shared memory the compiler has removed from a module.
    std::vector<std::string> removed_from(LoadedModule& module) const;

  private:
    struct Source {
        std::string name;  ///< "my.cu", as the line information has it
        std::unique_ptr<LoadedModule> module;
    };
    std::vector<Source> sources_;
};

}  // namespace warpscope::programs
