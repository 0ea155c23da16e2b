#include "differential/both_ways.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "emulator/fast_paths/compiled/compiled_kernel.h"

namespace warpscope::tests {

using namespace emulator;

namespace {

constexpr unsigned most_pointers = 12;

bool is_float(const Parameter& parameter, std::string_view ptx) {
    return ptx.find(".param .f32 " + parameter.name) != std::string_view::npos;
}

/// PTX does not define the sign and the payload of a NaN that an instruction makes.
std::uint32_t without_payload(std::uint32_t word) {
    return (word & 0x7FFFFFFF) > 0x7F800000 ? 0x7FFFFFFF : word;
}

}  // namespace

RandomLaunch::RandomLaunch(const Kernel& kernel, std::string_view ptx, std::uint64_t seed)
    : random_(seed),
      variables_(kernel.module->variables()),
      memory_(words_of_buffer * most_pointers) {
    for (const Parameter& parameter : kernel.parameters) add_argument(parameter, ptx);
    memory_.resize(words_of_buffer * buffers_);
    first_ = memory_;
    for (const Module::GlobalVariable& variable : variables_)
        first_values_.emplace_back(variable.data, variable.data + variable.bytes);
    const Dim3 block = one_of<Dim3>({{256, 1, 1},
                                     {256, 1, 1},
                                     {16, 16, 1},
                                     {16, 16, 1},
                                     {128, 1, 1},
                                     {64, 1, 1},
                                     {100, 1, 1},
                                     {32, 8, 1},
                                     {33, 3, 1}});
    const Dim3 grid = one_of<Dim3>({{1, 1, 1}, {2, 2, 1}, {3, 1, 1}, {5, 1, 1}});
    shape = {grid, block, one_of({4096u, 8192u, 16384u, 16384u})};
}

RandomLaunch::~RandomLaunch() = default;

std::uint64_t RandomLaunch::add_buffer() {
    const std::size_t begin = words_of_buffer * buffers_++;
    if (buffers_ > most_pointers) throw std::length_error("the kernel has too many pointers");
    const unsigned kind = unsigned(random_() % 4);
    for (std::size_t k = 0; k < words_of_buffer; ++k) {
        const auto number = std::uint32_t(random_());
        memory_[begin + k] =
            kind == 0   ? 0
            : kind == 1 ? number % 256
                        : std::bit_cast<std::uint32_t>(float(std::int32_t(number)) / (1 << 24));
    }
    return reinterpret_cast<std::uint64_t>(memory_.data() + begin);
}

void RandomLaunch::add_argument(const Parameter& parameter, std::string_view ptx) {
    auto& bytes = arguments_.emplace_back(parameter.size);
    const auto put = [&](std::size_t at, auto value) {
        std::memcpy(bytes.data() + at, &value, std::min(sizeof(value), bytes.size() - at));
    };
    if (parameter.name == "dot_divergent_bounded_param_4")
        put(0, std::uint64_t(50));  // clocks
    else if (parameter.align == 8)
        // Of a structure, the first half is numbers.
        for (std::size_t at = 0; at < bytes.size(); at += 8)
            put(at, at + 8 <= bytes.size() / 2 ? random_() & 0x700000007 : add_buffer());
    else if (is_float(parameter, ptx) || parameter.size > 4)
        for (std::size_t at = 0; at < bytes.size(); at += 4) put(at, float(random_() % 1000) / 8);
    else
        put(0, one_of({0u, 1u, 2u, 5u, 16u, 31u, 33u, 64u, 100u, 129u, 250u}));
}

Outcome RandomLaunch::run(const Kernel& kernel, const LaunchSettings& settings,
                          const LaunchMethod& method) {
    Machine machine;
    std::ranges::copy(first_, memory_.begin());
    for (std::size_t k = 0; k < variables_.size(); ++k)
        std::ranges::copy(first_values_[k], variables_[k].data);
    if (!memory_.empty()) machine.memory().attach(memory_.data(), memory_.size() * 4);
    std::vector<const void*> pointers;
    for (const auto& argument : arguments_) pointers.push_back(argument.data());
    Outcome outcome;
    outcome.error = error_of([&] {
        outcome.statistics =
            machine.run(Machine::freeze(kernel, shape, pointers, settings), nullptr, method);
    });
    for (const std::uint32_t word : memory_) outcome.memory.push_back(without_payload(word));
    for (const Module::GlobalVariable& variable : variables_)
        for (std::size_t k = 0; k < variable.bytes; ++k)
            outcome.memory.push_back(std::uint32_t(variable.data[k]));
    if (!memory_.empty()) machine.memory().detach(memory_.data());
    return outcome;
}

FrozenLaunch RandomLaunch::frozen(const Kernel& kernel) const {
    std::vector<const void*> pointers;
    for (const auto& argument : arguments_) pointers.push_back(argument.data());
    return Machine::freeze(kernel, shape, pointers, {});
}

std::string RandomLaunch::text() const {
    std::string text =
        fmt::format("{}x{} blocks of {}x{} threads, {} bytes of shared memory", shape.grid.x,
                    shape.grid.y, shape.block.x, shape.block.y, shape.dynamic_shared_bytes);
    for (const auto& argument : arguments_)
        if (argument.size() == 4) {
            std::uint32_t value = 0;
            std::memcpy(&value, argument.data(), 4);
            text += fmt::format(", {}", value);
        }
    return text;
}

LaunchSettings settings_of_pair(unsigned pair, std::uint64_t seed) {
    constexpr Schedule schedules[] = {Schedule::random, Schedule::run_to_barrier,
                                      Schedule::reverse};
    constexpr BarrierPolicy policies[] = {BarrierPolicy::volta, BarrierPolicy::before_volta,
                                          BarrierPolicy::strict};
    LaunchSettings settings;
    settings.schedule = schedules[pair % 3];
    settings.barriers = policies[pair / 3];
    settings.seed = seed;
    settings.threads = 1;
    settings.instruction_budget = 300000;  // of loops that random arguments make long
    return settings;
}

unsigned expect_equal_launches(const std::shared_ptr<const Module>& module, const Kernel& kernel,
                               unsigned rounds) {
    const auto owner = std::make_shared<CompiledKernel>(installed_llvm(), module, kernel);
    const std::shared_ptr<const Kernel> compiled(owner, &owner->kernel());
    unsigned without_error = 0;
    for (unsigned round = 0; round < rounds; ++round)
        for (unsigned pair = 0; pair < 9; ++pair) {
            const std::uint64_t seed = round * 9 + pair + 1;
            RandomLaunch launch(kernel, module->text(), seed);
            const LaunchSettings settings = settings_of_pair(pair, seed);
            const Outcome interpreted = launch.run(kernel, settings);
            const Outcome outcome = launch.run(kernel, settings, {.code = compiled});
            without_error += interpreted.error.empty();
            if (interpreted == outcome) continue;
            ADD_FAILURE() << module->name() << ", " << kernel.name << ", pair " << pair << ", seed "
                          << seed << ", " << launch.text() << "\ninterpreted: " << interpreted
                          << "\ncompiled: " << outcome;
            return without_error;
        }
    return without_error;
}

namespace {

/// Whether the kernel reads the host's clock: two runs of it may execute different numbers of
/// instructions.
bool reads_clock(const std::string& ptx, const std::string& kernel) {
    const std::size_t begin = ptx.find(".entry " + kernel + "(");
    return ptx.substr(begin, ptx.find(".entry ", begin + 1) - begin).find("%globaltimer") !=
           std::string::npos;
}

}  // namespace

void expect_equal_kernels(const std::string& ptx, const std::string& name, unsigned rounds) {
    const auto module = Module::parse(ptx, name);
    ASSERT_FALSE(module->kernels().empty()) << name;
    for (const auto& kernel : module->kernels()) {
        if (reads_clock(ptx, kernel->name)) continue;
        const bool hangs = kernel->name.starts_with("hangs_");  // on purpose: with an error
        EXPECT_GE(expect_equal_launches(module, *kernel, rounds), hangs ? 0 : rounds)
            << name << ", " << kernel->name;
    }
}

std::vector<std::string> files_below(const std::string& folder, const std::string& extension) {
    std::vector<std::string> files;
    if (!std::filesystem::is_directory(folder)) return files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.path().extension() == extension) files.push_back(entry.path().string());
    std::ranges::sort(files);
    return files;
}

std::string contents_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace warpscope::tests
