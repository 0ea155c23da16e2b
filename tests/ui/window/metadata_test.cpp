#include "experiments/framework/metadata.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "gl/context.h"
#include "ui/fake_experiment.h"
#include "ui/window/screenshot.h"

namespace warpscope::ui {
namespace {

using experiments::Assignment;

std::string entry_of(const experiments::Metadata& list, const std::string& key) {
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const auto& item) { return item.first == key; });
    return found == list.end() ? "(none)" : found->second;
}

void set(FakeExperiment& experiment, const std::string& id, const std::string& text) {
    const Assignment one{id, text};
    experiment.set({&one, 1});
}

TEST(MetadataTest, HoldsEveryParameterAndACommandWithTheChangedOnes) {
    FakeDevice device;
    device.set({compute::Math::fast, compute::Schedule::run_to_barrier, 7});
    FakeExperiment experiment(device);
    set(experiment, "sync", "off");
    set(experiment, "file", "my stars' file.csv");
    experiment.step();
    experiment.step();
    const auto list = experiments::describe(experiment, fake_entry(), {800, 600}, true);
    EXPECT_EQ(entry_of(list, "fake.sync"), "off");
    EXPECT_EQ(entry_of(list, "fake.bodies"), "4096");
    EXPECT_EQ(entry_of(list, "seed"), "7");
    EXPECT_EQ(entry_of(list, "barriers"), "volta");
    EXPECT_EQ(entry_of(list, "frame"), "2");
    EXPECT_EQ(entry_of(list, "command"),
              "warpscope --headless --experiment fake --device emulator --math fast "
              "--schedule run-to-barrier --seed 7 --set fake.sync=off "
              "--set 'fake.file=my stars'\\'' file.csv' --frames 2 --size 800x600 --view-only "
              "--screenshot picture.png");
}

TEST(MetadataTest, TheCommandNamesABarrierPolicyThatIsNotTheDefault) {
    FakeDevice device;
    device.set({.barriers = compute::BarrierPolicy::before_volta});
    FakeExperiment experiment(device);
    const auto list = experiments::describe(experiment, fake_entry(), {64, 64}, false);
    EXPECT_NE(entry_of(list, "command").find(" --seed 1 --barriers before-volta --frames 0"),
              std::string::npos);
}

TEST(MetadataTest, AMicroscopeThatNoCommandOpensIsNotReproducible) {
    const gl::OffscreenContext context;
    const Stage stage(fake_live_experiment());
    const auto of = [&](const std::optional<MicroscopePlace>& place, bool elsewhere) {
        return describe_window(stage, {64, 64}, place, elsewhere);
    };
    EXPECT_EQ(entry_of(of({}, false), "reproducible").substr(0, 3), "yes");
    const auto there = of(MicroscopePlace{{2, 1, 0}, 17}, false);
    EXPECT_TRUE(entry_of(there, "command").ends_with(" --microscope 2,1@17"));
    EXPECT_EQ(entry_of(there, "reproducible").substr(0, 3), "yes");
    EXPECT_EQ(entry_of(of({}, true), "reproducible").substr(0, 3), "no:");
}

TEST(MetadataTest, SaysWhetherThePictureIsReproducible) {
    const auto said = [](compute::DeviceKind kind, bool sync, bool change) {
        FakeDevice device(kind);
        FakeExperiment experiment(device);
        if (!sync) set(experiment, "sync", "off");
        experiment.step();
        if (change) set(experiment, "level", "99");
        return entry_of(experiments::describe(experiment, fake_entry(), {64, 64}, false),
                        "reproducible");
    };
    using enum compute::DeviceKind;
    EXPECT_TRUE(said(emulator, true, false).starts_with("yes"));
    EXPECT_TRUE(said(emulator, false, false).starts_with("yes"));  // the seed decides the race
    EXPECT_TRUE(said(emulator, true, true).starts_with("no"));
    EXPECT_TRUE(said(cuda, true, false).starts_with("yes"));
    EXPECT_TRUE(said(cuda, false, false).starts_with("no: the kernel races"));
}

/// "from" by file: where its edited text was read; empty: it was typed.
experiments::Metadata of_edited(const std::vector<std::pair<std::string, std::string>>& from,
                                compute::DeviceKind kind = compute::DeviceKind::emulator) {
    FakeDevice device(kind);
    compute::KernelEdits edits;
    for (const auto& [file, path] : from)
        edits[file] = std::make_shared<compute::KernelEdit>(
            compute::KernelEdit{.file = file, .source = "text of " + file, .from = path});
    device.set_edits(edits);
    FakeExperiment experiment(device);
    return experiments::describe(experiment, fake_entry(), {64, 64}, false);
}

TEST(MetadataTest, AnEditedKernelIsNotReproducibleByACommand) {
    for (const auto& from : std::vector<std::vector<std::pair<std::string, std::string>>>{
             {{"ripple", ""}},
             {{"ripple", "mine.cu"}, {"splat", ""}},
             {{"ripple", "a/ripple.cu"}, {"splat", "b/splat.cu"}},
             {{"splat", "a/other.cu"}}}) {
        const auto list = of_edited(from);
        EXPECT_TRUE(entry_of(list, "reproducible").starts_with("no: the kernel was edited"));
        EXPECT_EQ(entry_of(list, "command").find("--kernel"), std::string::npos);
        const std::string file = from[0].first;
        EXPECT_EQ(entry_of(list, "kernels/" + file + ".cu"), "text of " + file);
    }
}

TEST(MetadataTest, AKernelFromAFileIsNamedInTheCommand) {
    const auto one = of_edited({{"ripple", "my ripple.cu"}});
    EXPECT_NE(entry_of(one, "command").find(" --kernel-source 'my ripple.cu' "), std::string::npos);
    EXPECT_TRUE(
        entry_of(one, "reproducible").starts_with("yes: the command makes an equal picture"));
    EXPECT_TRUE(entry_of(one, "reproducible")
                    .ends_with("if the kernel's file still has the text in this file"));
    EXPECT_TRUE(entry_of(of_edited({{"ripple", "a.cu"}}, compute::DeviceKind::cuda), "reproducible")
                    .ends_with("still has the text in this file"));
    const auto folder = of_edited({{"ripple", "my/ripple.cu"}, {"splat", "my/splat.cu"}});
    EXPECT_NE(entry_of(folder, "command").find(" --kernels my/ "), std::string::npos);
    EXPECT_TRUE(entry_of(folder, "reproducible").starts_with("yes"));
    EXPECT_EQ(entry_of(folder, "kernels/splat.cu"), "text of splat");
    EXPECT_EQ(entry_of(of_edited({}), "kernels/ripple.cu"), "(none)");
}

TEST(ShellWordTest, QuotesCharactersThatTheShellInterprets) {
    EXPECT_EQ(experiments::shell_word("ripple.sync=off"), "ripple.sync=off");
    EXPECT_EQ(experiments::shell_word("a b"), "'a b'");
    EXPECT_EQ(experiments::shell_word("$(x)"), "'$(x)'");
    EXPECT_EQ(experiments::shell_word(""), "''");
}

}  // namespace
}  // namespace warpscope::ui
