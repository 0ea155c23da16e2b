#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "emulator/decode/decode_kernel.h"
#include "emulator/program/module.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

/// Makes a module from a PTX text: parses it, places its variables, puts functions into the kernels
/// that call them, and decodes the kernels. It can add kernels of which the text had none, one by
/// one. Its functions throw what Module::parse() throws.
class ModuleLoader {
  public:
    ModuleLoader(std::string_view ptx, const std::string& name);

    std::shared_ptr<const Module> module() const { return module_; }
    /// The text that Module::text() returns, where that of the constructor was a part of it.
    void set_text(std::string text) { module_->text_ = std::move(text); }
    /// Tells that other kernels may call the functions whose addresses the kernels in `ptx` take.
    void point(std::string_view ptx);
    /// Decodes the kernels in `ptx`, which use the variables and functions of the module.
    void add(std::string_view ptx);

  private:
    void find_functions();
    void decode_kernels();
    void place(const Variable& v);
    void set_addresses(const Variable& v) const;
    void add_shared_variables(KernelSyntax& kernel) const;

    ModuleSyntax syntax_;
    std::shared_ptr<Module> module_;
    Symbols symbols_;
    std::uint64_t bytes_ = 0;  ///< of the module's variables
};

}  // namespace warpscope::emulator
