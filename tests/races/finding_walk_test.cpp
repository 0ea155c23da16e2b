#include <set>
#include <string>

#include "emulator/stepper/finding_step.h"
#include "race_kernels.h"

namespace warpscope::tests {
namespace {

using emulator::Finding;
using emulator::FindingKind;
using emulator::Stepper;

/// Opens findings of one launch as the microscope does, in a block of its own.
class Walk {
  public:
    Walk(const emulator::Kernel& kernel, std::uint32_t threads,
         const emulator::LaunchSettings& settings) {
        void* out = machine_.memory().allocate(threads * 4);
        const void* arguments[] = {&out};
        stepper_.emplace(
            machine_,
            emulator::Machine::freeze(kernel, {{1, 1, 1}, {threads, 1, 1}, 0}, arguments, settings),
            0);
        stepper_->run();
    }

    /// The step that opens is one of the thread, at the line, and of the byte that the finding
    /// names.
    void expect_opens(const Finding& finding) {
        SCOPED_TRACE(finding.sentence.english());
        const emulator::ThreadAtLine& place = finding.place();
        const std::uint32_t warp = place.thread.x / 32, lane = place.thread.x % 32;
        const auto at = emulator::step_of(*stepper_, finding);
        ASSERT_TRUE(at);
        const emulator::Step step = stepper_->history()[*at];
        EXPECT_EQ(step.warp, warp);
        EXPECT_TRUE(step.mask >> lane & 1);
        const emulator::Kernel& kernel = stepper_->kernel();
        const auto& files = kernel.module->files();
        const auto& source = kernel.lines[step.pc].source;
        EXPECT_EQ(users_place(kernel.own_line(step.pc), header_lines(source, files)),
                  place.where());
        if (finding.kind != FindingKind::race || !finding.byte) return;
        stepper_->seek(*at + 1);
        const auto access = stepper_->shared_access(warp);
        ASSERT_TRUE(access);
        EXPECT_EQ(access->step, *at);
        EXPECT_LE(access->addresses[lane], *finding.byte);
        EXPECT_GT(access->addresses[lane] + access->bytes, *finding.byte);
    }

  private:
    emulator::Machine machine_;
    std::optional<Stepper> stepper_;
};

std::set<std::string> kernels_with_findings(const std::string& file, std::uint32_t threads) {
    const auto module =
        emulator::Module::parse(race_kernels(file + ".ptx"), "races/" + file + ".cu");
    std::set<std::string> found_in;
    for (const auto& kernel : module->kernels()) {
        if (kernel->parameters.size() != 1) continue;
        for (const emulator::LaunchSettings& settings : schedules(3)) {
            SCOPED_TRACE(testing::Message()
                         << kernel->name << ", schedule " << int(settings.schedule) << ", seed "
                         << settings.seed);
            const auto found = check_kernel(kernel->name, threads, settings, file);
            if (found.empty()) continue;
            found_in.insert(kernel->name);
            Walk walk(*kernel, threads, settings);
            for (const Finding& finding : found) {
                walk.expect_opens(finding);
                for (const Finding& other : finding.repaired_too) walk.expect_opens(other);
            }
        }
    }
    return found_in;
}

TEST(FindingWalk, EveryFindingOpensAtItsThreadItsLineAndItsByte) {
    EXPECT_GE(kernels_with_findings("kernels", 64).size(), 20U);
}

TEST(FindingWalk, AFindingOfAnOrderOpensAtItsThreadAndItsLine) {
    EXPECT_GE(kernels_with_findings("order", 64).size(), 5U);
}

}  // namespace
}  // namespace warpscope::tests
