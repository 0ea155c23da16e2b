#include "emulator/launcher.h"

#include <algorithm>
#include <atomic>
#include <map>

#include "emulator/machine/together/launch_together.h"
#include "emulator/program/error.h"
#if WARPSCOPE_FAST_PATHS
#include "emulator/fast_paths/alike/alike_events.h"
#include "emulator/fast_paths/alike/warp_independence.h"
#include "emulator/fast_paths/compiled/kernel_versions.h"
#endif

namespace warpscope::emulator {

namespace {

std::atomic<Execution> chosen_execution = Execution::automatic;

/// How many blocks of a launch show how long it will take, and from which time on it is worth
/// compiling its kernel before the rest.
constexpr std::uint64_t first_blocks = 64;
constexpr std::chrono::milliseconds worth_compiling_first{200};

}  // namespace

#if WARPSCOPE_FAST_PATHS
/// Chooses how launches run: see Launcher, whose functions these are. It knows all that makes the
/// emulator fast.
class LaunchChooser {
  public:
    void set(const FastPaths& paths) { paths_ = paths; }
    LaunchMethod choose(const FrozenLaunch& launch, const Memory& memory, Observer* observer,
                        Execution execution, bool waits_for_compiler);
    /// The interpreter has run a launch of the kernel for this time.
    void add_cost(const Kernel& kernel, bool observed, std::chrono::nanoseconds time);

    static bool can_compile();
    static std::string compiler_problem() { return KernelCompiler::shared()->problem(); }
    static std::shared_ptr<void> keep_compiler() { return KernelCompiler::shared(); }
    static bool is_compiling() { return KernelCompiler::shared()->is_compiling(); }
    static void end_compiler() { KernelCompiler::shared()->end(); }
    static void compile(const Kernel& kernel);

  private:
    /// The compiled forms of a kernel.
    struct Forms {
        std::shared_ptr<KernelVersions> silent, reporting;
    };
    KernelVersions& versions_of(const Kernel& kernel, bool observed);

    FastPaths paths_;
    WarpIndependence independence_;
    const std::shared_ptr<KernelCompiler> compiler_ = KernelCompiler::shared();
    std::map<const Kernel*, Forms> forms_;
};

KernelVersions& LaunchChooser::versions_of(const Kernel& kernel, bool observed) {
    Forms& forms = forms_[&kernel];
    auto& versions = observed ? forms.reporting : forms.silent;
    if (!versions)
        versions = std::make_shared<KernelVersions>(
            *compiler_, kernel.module->shared_from_this(), kernel,
            observed ? CompiledForm::reports_accesses : CompiledForm::silent);
    return *versions;
}

LaunchMethod LaunchChooser::choose(const FrozenLaunch& launch, const Memory& memory,
                                   Observer* observer, Execution execution,
                                   bool waits_for_compiler) {
    const Kernel& kernel = *launch.kernel;
    LaunchMethod method;
    if (ClusterLaunch::is_needed(kernel, launch.launch)) return method;
    // Turns may end at any instruction.
    if (launch.settings.schedule == Schedule::manual) return method;
    // No model knows asynchronous copies.
    if (observer && kernel.is_asynchronous) return method;
    const bool wants_instructions = observer && observer->wants_instructions(kernel);
    if (paths_.compiled && !wants_instructions) {
        KernelVersions& versions = versions_of(kernel, observer);
        const bool waits = waits_for_compiler && execution == Execution::automatic;
        method.code = waits ? versions.choose_compiled() : versions.choose(execution);
    }
    // Blocks that take turns cannot follow a model, which is one block's at a time.
    if (observer && launch.launch.cooperative) {
        if (method.code) method.make_events = alike_events(kernel, false, false);
        return method;
    }
    bool independent_warps = false;
    if (launch.settings.schedule == Schedule::random && paths_.proof) {
        const Obstacles& obstacles = independence_.obstacles(launch, memory);
        independent_warps = obstacles.warps.empty();
        if (independent_warps && !wants_instructions) method.schedule = Schedule::run_to_barrier;
        if (obstacles.blocks.empty() && paths_.blocks) method.dealing = BlockDealing::as_they_come;
    }
    if (observer) method.make_events = alike_events(kernel, independent_warps, paths_.model);
    return method;
}

void LaunchChooser::add_cost(const Kernel& kernel, bool observed, std::chrono::nanoseconds time) {
    if (paths_.compiled) versions_of(kernel, observed).add_cost(time);
}

bool LaunchChooser::can_compile() {
    try {
        Llvm::load();
        return true;
    } catch (const Error&) {
        return false;
    }
}

void LaunchChooser::compile(const Kernel& kernel) {
    static const auto llvm = Llvm::load();
    const CompiledKernel compiled(llvm, kernel.module->shared_from_this(), kernel,
                                  CompiledForm::silent, InstructionSet::host,
                                  ForSomeLanes::when_asked);
}
#else
/// The emulator is built without the folder fast_paths: each launch runs in the plain way.
class LaunchChooser {
  public:
    static constexpr const char* absent = "the emulator is built without a compiler of kernels";

    void set(const FastPaths&) {}
    LaunchMethod choose(const FrozenLaunch&, const Memory&, Observer*, Execution execution, bool) {
        if (execution == Execution::compiled) throw Error(absent);
        return {};
    }
    void add_cost(const Kernel&, bool, std::chrono::nanoseconds) {}
    static bool can_compile() { return false; }
    static std::string compiler_problem() { return absent; }
    static std::shared_ptr<void> keep_compiler() { return nullptr; }
    static bool is_compiling() { return false; }
    static void end_compiler() {}
    static void compile(const Kernel&) { throw Error(absent); }
};
#endif

Launcher::Launcher(unsigned virtual_sms)
    : machine_(virtual_sms), chooser_(std::make_unique<LaunchChooser>()) {}
Launcher::~Launcher() = default;

void Launcher::set(const FastPaths& paths) {
    chooser_->set(paths);
}

LaunchMethod Launcher::choose(const FrozenLaunch& launch, Observer* observer,
                              bool waits_for_compiler) {
    return chooser_->choose(launch, machine_.memory(), observer, execution(), waits_for_compiler);
}

Statistics Launcher::run(const FrozenLaunch& launch, Observer* observer,
                         const LaunchMethod& method) {
    using Clock = std::chrono::steady_clock;
    if (method.code || execution() != Execution::automatic)
        return machine_.run(launch, observer, method);
    const auto start = Clock::now();
    Statistics statistics;
    FrozenLaunch rest = launch;
    LaunchMethod method_of_rest = method;
    const std::uint64_t blocks = std::min(launch.settings.blocks, launch.launch.grid.count());
    if (!observer && !blocks_run_together(launch) && blocks > 2 * first_blocks) {
        rest.settings.blocks = first_blocks;
        statistics = machine_.run(rest, observer, method);
        rest.settings.first_block += first_blocks;
        rest.settings.blocks = blocks - first_blocks;
        const auto expected = (Clock::now() - start) * (blocks / first_blocks);
        if (expected > worth_compiling_first) method_of_rest = choose(launch, observer, true);
    }
    statistics += machine_.run(rest, observer, method_of_rest);
    if (!method_of_rest.code) chooser_->add_cost(*launch.kernel, observer, Clock::now() - start);
    return statistics;
}

void Launcher::set_execution(Execution execution) {
    chosen_execution = execution;
}
Execution Launcher::execution() {
    return chosen_execution;
}
bool Launcher::can_compile() {
    return LaunchChooser::can_compile();
}
std::string Launcher::compiler_problem() {
    return LaunchChooser::compiler_problem();
}
std::shared_ptr<void> Launcher::keep_compiler() {
    return LaunchChooser::keep_compiler();
}
bool Launcher::is_compiling() {
    return LaunchChooser::is_compiling();
}
void Launcher::end_compiler() {
    LaunchChooser::end_compiler();
}
void Launcher::compile(const Kernel& kernel) {
    LaunchChooser::compile(kernel);
}

}  // namespace warpscope::emulator
