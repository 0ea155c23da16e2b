#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/decode/module_loader.h"
#include "emulator/program/module.h"
#include "programs/images/fat_binary.h"
#include "programs/images/ptx_entries.h"
#include "programs/images/status.h"

namespace warpscope::programs {

class LoadedModule;

/// A kernel of a program: CUfunction, CUkernel, cudaFunction_t, cudaKernel_t.
class Function {
  public:
    Function(LoadedModule& owner, PtxEntry entry)
        : module(&owner), name(entry.name), entry_(std::move(entry)) {}

    LoadedModule* const module;
    const std::string name;

    /// The first call decodes it: a module may have thousands, of which a program uses a few. Null:
    /// it cannot be run, see problem().
    const emulator::Kernel* kernel();
    const std::string& problem() const { return problem_; }

    std::size_t static_shared_bytes() { return kernel() ? kernel()->shared_bytes : 0; }
    /// With the static ones, a block has 48 KiB, unless the program asks for more.
    std::size_t most_dynamic_shared_bytes();
    /// Of a block.
    std::uint32_t most_threads() { return kernel() ? kernel()->most_threads : 1024; }
    /// Throws CallError if a block cannot have so much shared memory.
    void set_most_dynamic_shared(int bytes);

  private:
    PtxEntry entry_;
    bool is_decoded_ = false;
    const emulator::Kernel* kernel_ = nullptr;
    std::string problem_;
    std::optional<std::size_t> most_dynamic_shared_bytes_;
};

/// Throws CallError for a launch that no GPU takes.
void check_shape(Function& function, const emulator::LaunchShape& shape);

/// The values of a launch by the driver API, a pointer for each parameter: `arguments`, or the
/// buffer that `extra` names.
inline std::vector<const void*> values_of(const emulator::Kernel& kernel, void** arguments,
                                          void** extra) {
    const char* buffer = nullptr;
    // CU_LAUNCH_PARAM_END is 0, CU_LAUNCH_PARAM_BUFFER_POINTER 1, CU_LAUNCH_PARAM_BUFFER_SIZE 2.
    for (void** e = extra; e && *e; e += 2)
        if (reinterpret_cast<std::uintptr_t>(*e) == 1) buffer = static_cast<const char*>(e[1]);
    std::vector<const void*> values;
    for (const emulator::Parameter& parameter : kernel.parameters)
        values.push_back(buffer ? buffer + parameter.offset : *arguments++);
    return values;
}

/// The kernels and variables of one image: CUmodule, CUlibrary.
class LoadedModule {
  public:
    /// Reads the newest image that has PTX, without its kernels. `name` is for error messages.
    /// Throws CallError if no image has PTX that can be read.
    LoadedModule(const std::vector<Image>& images, const std::string& name);
    LoadedModule(const LoadedModule&) = delete;
    LoadedModule& operator=(const LoadedModule&) = delete;

    Function* find(std::string_view name);  ///< null if there is none
    std::vector<std::unique_ptr<Function>>& functions() { return functions_; }
    const emulator::Module::GlobalVariable* find_variable(std::string_view name) const;
    const std::vector<emulator::Module::GlobalVariable>& variables() const {
        return loader_->module()->variables();
    }
    /// How many kernels were decoded.
    std::size_t decoded() const { return loader_->module()->kernels().size(); }
    /// Whether the host uses the variable too: __managed__.
    bool is_managed(const std::string& variable) const { return managed_.contains(variable); }
    bool has_managed() const { return !managed_.empty(); }
    /// The values that variables have now are those that reset_variables() gives them.
    void keep_variables();
    void reset_variables();
    /// The compute capability that the PTX was made for: 75.
    unsigned architecture() const { return architecture_; }
    const std::string& ptx() const { return ptx_; }
    /// The files that the line information names.
    const std::vector<std::string>& files() const { return loader_->module()->files(); }

  private:
    friend class Function;
    /// Throws emulator::Error.
    const emulator::Kernel* decode(const PtxEntry& entry);
    /// The text of a kernel, at its lines.
    std::string text_of(const PtxEntry& entry) const;

    std::string ptx_;
    unsigned architecture_ = 0;
    std::set<std::string, std::less<>> managed_;
    std::optional<emulator::ModuleLoader> loader_;
    std::vector<std::unique_ptr<Function>> functions_;
    std::vector<std::vector<std::byte>> first_values_;  ///< by variable; empty: zeros
};

/// The code of a program without optimization, which the app has where it compiles the program. The
/// checks look at it beside the code that runs: values that were never set are still in it, and
/// arrays that the compiler has removed.
class UnoptimizedCode {
  public:
    /// Reads the PTX files in a folder; empty: there are none.
    explicit UnoptimizedCode(const std::filesystem::path& folder);

    /// The kernel with this name in PTX; null: it is not known, or in several sources.
    const emulator::Kernel* find(const std::string& symbol);
    /// Lines that say which arrays in shared memory the compiler has removed from a module: where
    /// the folder had no files, by the sources that the line information names.
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
