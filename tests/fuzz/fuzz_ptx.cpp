#include <memory>
#include <vector>

#include "emulator/checks/barrier_check.h"
#include "emulator/checks/memory_check.h"
#include "emulator/checks/race_detector.h"
#include "emulator/machine/machine.h"
#include "emulator/machine/observer_list.h"
#include "emulator/program/error.h"
#include "fuzz.h"

// A PTX text is loaded, and each of its kernels runs one block, without and with the checks. Every
// failure is an emulator::Error.
namespace {

using namespace warpscope::emulator;

/// Enough to leave a short loop, and little enough for a long one.
constexpr std::uint64_t instruction_budget = 4000;
constexpr std::size_t buffer_bytes = 4096;

/// Pointers for parameters of 8 bytes, small numbers for all others.
class Arguments {
  public:
    Arguments(const Kernel& kernel, void* buffer) {
        for (const Parameter& parameter : kernel.parameters) {
            auto& value = values_.emplace_back(parameter.size);
            if (parameter.size == sizeof(buffer))
                std::copy_n(reinterpret_cast<const std::byte*>(&buffer), sizeof(buffer),
                            value.begin());
            else if (!value.empty())
                value[0] = std::byte(40);
        }
        for (const auto& value : values_) pointers_.push_back(value.data());
    }
    std::span<const void* const> get() const { return pointers_; }

  private:
    std::vector<std::vector<std::byte>> values_;
    std::vector<const void*> pointers_;
};

void launch(const Kernel& kernel, Observer* observer) {
    Machine machine(1);
    void* const buffer = machine.memory().allocate(buffer_bytes);
    const Arguments arguments(kernel, buffer);
    Options options;
    options.instruction_budget = instruction_budget;
    options.threads = 1;
    if (observer) observer->on_allocate(reinterpret_cast<std::uint64_t>(buffer), buffer_bytes);
    machine.run(kernel, {{1, 1, 1}, {64, 1, 1}, 256}, arguments.get(), options, observer);
}

template <class Action>
void with_errors(const Action& action) {
    try {
        action();
    } catch (const Error& error) {
        warpscope::tests::require(*error.what() != '\0', "an error has a text");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    with_errors([&] {
        const auto module = Module::parse(warpscope::tests::text_of(data, size), "fuzz");
        for (const auto& kernel : module->kernels()) {
            with_errors([&] { launch(*kernel, nullptr); });
            RaceDetector races;
            BarrierCheck barriers;
            MemoryCheck memory;
            ObserverList all;
            all.add(races);
            all.add(barriers);
            all.add(memory);
            with_errors([&] { launch(*kernel, &all); });
        }
    });
    return 0;
}
