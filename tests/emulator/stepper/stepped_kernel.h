#pragma once

#include <string>
#include <string_view>

#include "emulator/ptx_fixture.h"
#include "emulator/stepper/stepper.h"

namespace warpscope::emulator {

/// 64 words of shared memory, for a kernel with lines of a source.
inline constexpr const char* words_with_lines =
    ".file 1 \"kernels/s.cu\"\n.shared .align 4 .b8 cell[256];";

/// A frozen launch of a kernel of kernel_text(), with `out` of 1024 words.
class SteppedKernel {
  public:
    SteppedKernel(const std::string& ptx, LaunchShape launch,
                  LaunchSettings settings = {.schedule = Schedule::run_to_barrier},
                  std::uint32_t n = 0, unsigned sms = 1)
        : machine(sms), module_(Module::parse(ptx, "test")) {
        out = static_cast<std::uint32_t*>(machine.memory().allocate(1024 * sizeof(std::uint32_t)));
        const void* arguments[] = {&out, &n};
        frozen = Machine::freeze(kernel(), launch, arguments, settings);
    }
    const Kernel& kernel() const { return *module_->kernels().front(); }
    /// Index of the first instruction whose text begins with `text`.
    std::uint32_t pc(std::string_view text) const {
        for (std::uint32_t k = 0; k < kernel().lines.size(); ++k)
            if (!kernel().lines[k].pseudo && kernel().lines[k].text.find(text) == 0) return k;
        throw Error("no instruction " + std::string(text));
    }
    const RegisterInfo& reg(std::string_view name) const {
        for (const RegisterInfo& r : kernel().registers)
            if (r.name == name) return r;
        throw Error("no register " + std::string(name));
    }

    Machine machine;
    std::uint32_t* out = nullptr;
    FrozenLaunch frozen;

  private:
    std::shared_ptr<const Module> module_;
};

}  // namespace warpscope::emulator
