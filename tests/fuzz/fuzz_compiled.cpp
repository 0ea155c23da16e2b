#include <array>
#include <memory>
#include <string>
#include <vector>

#include "emulator/fast_paths/compiled/compiled_kernel.h"
#include "emulator/machine/machine.h"
#include "fuzz_launch.h"

// A PTX text is loaded, and each of its kernels runs a block interpreted and compiled: memory,
// counts and the text of the error are equal. Without libLLVM nothing runs.
namespace {

using namespace warpscope::emulator;
using namespace warpscope::tests;

constexpr LaunchShape shape{{1, 1, 1}, {64, 1, 1}, 256};

std::shared_ptr<const Llvm> installed_llvm() {
    try {
        return Llvm::load();
    } catch (const Error&) {
        return nullptr;
    }
}

struct Outcome {
    std::string error;
    std::array<std::uint64_t, 3> counts{};
    std::vector<std::vector<std::byte>> memory;
    bool operator==(const Outcome&) const = default;
};

/// One machine and one buffer for all runs, so that a kernel sees the same addresses in each.
class Runs {
  public:
    explicit Runs(const Kernel& kernel)
        : kernel_(kernel), buffer_(buffer_bytes), arguments_(kernel, buffer_.data()) {
        machine_.memory().attach(buffer_.data(), buffer_.size());
        for (const Module::GlobalVariable& variable : kernel.module->variables())
            first_values_.emplace_back(variable.data, variable.data + variable.bytes);
    }

    /// `compiled` may be null.
    Outcome run(std::shared_ptr<const Kernel> compiled, std::uint64_t budget, Schedule schedule) {
        restore();
        LaunchSettings settings;
        settings.instruction_budget = budget;
        settings.schedule = schedule;
        settings.threads = 1;
        Outcome outcome;
        try {
            const Statistics s =
                machine_.run(Machine::freeze(kernel_, shape, arguments_.get(), settings), nullptr,
                             {.code = std::move(compiled)});
            outcome.counts = {s.warp_instructions, s.thread_instructions, s.barriers};
        } catch (const Error& error) {
            outcome.error = error.what();
        }
        outcome.memory.push_back(buffer_);
        for (const Module::GlobalVariable& variable : kernel_.module->variables())
            outcome.memory.emplace_back(variable.data, variable.data + variable.bytes);
        return outcome;
    }

  private:
    void restore() {
        std::ranges::fill(buffer_, std::byte(0));
        std::ranges::fill(machine_.shared_memory(0, 0), std::byte(0));
        std::size_t next = 0;
        for (const Module::GlobalVariable& variable : kernel_.module->variables())
            std::ranges::copy(first_values_[next++], variable.data);
    }

    Machine machine_{1};
    const Kernel& kernel_;
    std::vector<std::byte> buffer_;
    Arguments arguments_;
    std::vector<std::vector<std::byte>> first_values_;  ///< of the module's variables
};

void compare(const std::shared_ptr<const Llvm>& llvm, const std::shared_ptr<const Module>& module,
             const Kernel& kernel) {
    // Memory of the recursion stack that is read before it is written has any value.
    if (kernel.local_bytes > kernel.cleared_local_bytes) return;
    const auto owner = std::make_shared<CompiledKernel>(llvm, module, kernel);
    const std::shared_ptr<const Kernel> compiled(owner, &owner->kernel());
    Runs runs(kernel);
    for (const Schedule schedule : {Schedule::random, Schedule::run_to_barrier, Schedule::reverse})
        for (const std::uint64_t budget : {instruction_budget, std::uint64_t(37)}) {
            const Outcome interpreted = runs.run(nullptr, budget, schedule);
            const Outcome outcome = runs.run(compiled, budget, schedule);
            // A kernel that stores addresses of local memory may do so differently each time.
            if (interpreted != runs.run(nullptr, budget, schedule)) continue;
            if (interpreted.error != outcome.error)
                std::fprintf(stderr, "interpreted: %s\ncompiled: %s\n", interpreted.error.c_str(),
                             outcome.error.c_str());
            require(interpreted.error == outcome.error, "both forms end with one error");
            require(interpreted.counts == outcome.counts, "both forms count alike");
            require(interpreted.memory == outcome.memory, "both forms write alike");
        }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto llvm = installed_llvm();
    if (!llvm) return 0;
    with_errors([&] {
        const auto module = Module::parse(text_of(data, size), "fuzz");
        for (const auto& kernel : module->kernels())
            with_errors([&] { compare(llvm, module, *kernel); });
    });
    return 0;
}
