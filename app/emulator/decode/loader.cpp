#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "emulator/decode/kernel_state.h"
#include "emulator/lower/calls.h"
#include "emulator/program/error.h"
#include "emulator/program/module.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

// Makes a module from a PTX text: parses it, places its variables, puts functions into the kernels
// that call them, and decodes the kernels.
class ModuleLoader {
  public:
    ModuleLoader(std::string_view ptx, const std::string& name) : syntax_(parse_ptx(ptx, name)) {
        module_->text_ = ptx;
    }

    std::shared_ptr<const Module> load() {
        module_->name_ = syntax_.name;
        module_->files_ = syntax_.files;
        for (const Variable& v : syntax_.variables)
            if (v.space != Space::shared) place(v);
        for (const std::string& name : pointed_functions(syntax_))
            symbols_[name] = {Space::generic, function_address(syntax_, name)};
        for (const Variable& v : syntax_.variables) set_addresses(v);
        for (KernelSyntax& kernel : syntax_.kernels) {
            expand_calls(kernel, syntax_);
            add_shared_variables(kernel);
            module_->kernels_.push_back(decode_kernel(*module_, symbols_, std::move(kernel)));
        }
        return module_;
    }

  private:
    void place(const Variable& v) {
        constexpr std::size_t most = 512 << 20;
        const std::size_t align = std::max<std::size_t>(64, v.align),
                          whole = (v.bytes + align - 1) / align * align;
        bytes_ += v.bytes;
        if (bytes_ > most)
            throw Error(fmt::format("{}: with '{}' the module's variables have more than {} MiB",
                                    syntax_.name, v.name, most >> 20));
        auto storage = std::make_unique<std::byte[]>(whole + align);
        const auto raw = std::uint64_t(storage.get());
        auto* data = reinterpret_cast<std::byte*>((raw + align - 1) / align * align);
        std::copy(v.initial.begin(), v.initial.end(), data);
        module_->variables_.push_back(
            {v.name, data, std::size_t(v.bytes), v.space == Space::constant});
        module_->storage_.push_back(std::move(storage));
        symbols_[v.name] = {v.space, std::uint64_t(data)};
    }

    void set_addresses(const Variable& v) const {
        for (const Variable::Address& a : v.addresses) {
            const auto found = symbols_.find(a.name);
            if (found == symbols_.end() || v.space == Space::shared)
                throw Error(
                    fmt::format("{}: '{}' is initialised with the address of '{}', which "
                                "is not known",
                                syntax_.name, v.name, a.name));
            const std::uint64_t value = found->second.address + std::uint64_t(a.offset);
            std::memcpy(reinterpret_cast<std::byte*>(symbols_.at(v.name).address) + a.at, &value,
                        sizeof(value));
        }
    }

    // A shared variable of the module takes up shared memory of the kernels that name it.
    void add_shared_variables(KernelSyntax& kernel) const {
        std::set<std::string> named;
        for (const Statement& s : kernel.statements)
            for (const Operand& o : s.operands) {
                if (o.kind == Operand::symbol) named.insert(o.name);
                for (const Operand& e : o.elements)
                    if (e.kind == Operand::symbol) named.insert(e.name);
            }
        for (const Variable& v : syntax_.variables)
            if (v.space == Space::shared && named.contains(v.name)) kernel.variables.push_back(v);
    }

    ModuleSyntax syntax_;
    std::shared_ptr<Module> module_ = std::make_shared<Module>();
    Symbols symbols_;
    std::uint64_t bytes_ = 0;  // bytes of the module's variables
};

std::shared_ptr<const Module> Module::parse(std::string_view ptx, std::string name) {
    return ModuleLoader(ptx, name).load();
}

}  // namespace warpscope::emulator
