#include "compute/device/ptx_text.h"
#include "emulator/checks/barrier_check.h"
#include "emulator/checks/memory_check.h"
#include "emulator/machine/machine.h"
#include "emulator/observe/observer_list.h"
#include "emulator/program/error.h"
#include "emulator/races/race_detector.h"
#include "emulator/stepper/stepper.h"
#include "fuzz_launch.h"

// A PTX text is loaded, and each of its kernels runs one block: without the checks, with them, and
// step by step. Every failure is an emulator::Error. Two readers of PTX that load nothing see the
// text too.
namespace {

using namespace warpscope::emulator;
using namespace warpscope::tests;

/// A machine with a buffer, and what a launch on it needs.
struct Setup {
    Machine machine{1};
    void* buffer = machine.memory().allocate(buffer_bytes);
    LaunchShape shape{{1, 1, 1}, {64, 1, 1}, 256};
    LaunchSettings settings;
    Arguments arguments;

    explicit Setup(const Kernel& kernel) : arguments(kernel, buffer) {
        settings.instruction_budget = instruction_budget;
        settings.threads = 1;
    }
    std::string contents() const { return {static_cast<const char*>(buffer), buffer_bytes}; }
};

void run(const Kernel& kernel) {
    Setup setup(kernel);
    setup.machine.run(kernel, setup.shape, setup.arguments.get(), setup.settings);
}

void run_checked(const Kernel& kernel) {
    Setup setup(kernel);
    RaceDetector races;
    BarrierCheck barriers;
    MemoryCheck memory;
    ObserverList all;
    all.add(races);
    all.add(barriers);
    all.add(memory);
    all.on_allocate(reinterpret_cast<std::uint64_t>(setup.buffer), buffer_bytes);
    setup.machine.run(kernel, setup.shape, setup.arguments.get(), setup.settings, &all);
}

/// To the end of the block, back to its start, and to its end again.
void step(const Kernel& kernel) {
    Setup setup(kernel);
    const std::string before = setup.contents();
    Stepper stepper(setup.machine,
                    Machine::freeze(kernel, setup.shape, setup.arguments.get(), setup.settings), 0);
    stepper.run(instruction_budget);
    const std::uint64_t last = stepper.position();
    const Stepper::End end = stepper.end();
    const std::string error = stepper.error(), after = setup.contents();
    stepper.findings();
    stepper.seek(0);
    require(setup.contents() == before, "a step back restores memory");
    stepper.seek(last);
    require(stepper.end() == end && stepper.error() == error, "a repeated block ends alike");
    require(setup.contents() == after, "a repeated block writes alike");
}

/// Calls the functions that read a text without loading it. Comments in it may mislead them.
void read_entry(std::string_view ptx, std::string_view kernel) {
    warpscope::compute::ptx_parameter_bytes(ptx, kernel);
    warpscope::compute::ptx_of_kernel(ptx, kernel);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view ptx = text_of(data, size);
    read_entry(ptx, "k");
    with_errors([&] {
        const auto module = Module::parse(ptx, "fuzz");
        for (const auto& kernel : module->kernels()) {
            read_entry(ptx, kernel->name);
            with_errors([&] { run(*kernel); });
            with_errors([&] { run_checked(*kernel); });
            with_errors([&] { step(*kernel); });
        }
    });
    return 0;
}
