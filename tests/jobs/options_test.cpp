#include "options.h"

#include <gtest/gtest.h>

#include "jobs/output/files_and_terminal.h"

namespace warpscope {
namespace {

Options parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "warpscope");
    return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

std::string complaint(std::vector<const char*> arguments) {
    try {
        parse(std::move(arguments));
    } catch (const jobs::UsageError& e) {
        return e.what();
    }
    return "no complaint";
}

std::string answer(const char* argument) {
    try {
        parse({argument});
    } catch (const Answer& a) {
        return a.text;
    }
    return "no answer";
}

TEST(Options, NoArgumentsOpenTheWindow) {
    const Options o = parse({});
    EXPECT_EQ(o.mode, Mode::window);
    EXPECT_EQ(o.device, "auto");
    EXPECT_EQ(o.experiment, "");
    EXPECT_FALSE(o.size);
    EXPECT_FALSE(o.vsync);
    EXPECT_FALSE(o.run_given);
}

TEST(Options, AProcessThatAnswersRequestsHasNoOtherOptions) {
    EXPECT_EQ(parse({"--serve"}).mode, Mode::serve);
    EXPECT_EQ(parse({"--mcp"}).mode, Mode::mcp);
    EXPECT_EQ(parse({"--dap"}).mode, Mode::debugger);
    EXPECT_EQ(parse({"--dap"}).dap_port, std::nullopt);
    EXPECT_EQ(parse({"--dap=4711"}).dap_port, 4711U);
    EXPECT_EQ(complaint({"--dap", "--seed", "2"}),
              "--dap: leave out the other options; each request has its own");
    EXPECT_NE(complaint({"--dap=port"}), "");
    EXPECT_EQ(complaint({"--serve", "--seed", "2"}),
              "--serve: leave out the other options; each request has its own");
}

TEST(Options, TheChecksOfAProgramWatchASampleOrAllBlocks) {
    EXPECT_FALSE(parse({"--check", "race", "--", "app"}).all_blocks);
    EXPECT_FALSE(parse({"--check", "race", "--blocks", "sample", "--", "app"}).all_blocks);
    EXPECT_TRUE(parse({"--check", "race", "--blocks", "all", "--", "app"}).all_blocks);
    EXPECT_EQ(complaint({"--check", "race", "--blocks", "9", "--", "app"}),
              "--blocks 9: write sample or all");
    const std::string wanted = "--blocks: add --check race,barrier,memory and -- PROGRAM";
    EXPECT_EQ(complaint({"--blocks", "all", "--", "app"}), wanted);
    EXPECT_EQ(complaint({"--check", "race", "--experiment", "dot", "--blocks", "all"}), wanted);
}

TEST(Options, APictureMayHaveNoExtensionOrPngInAnyCase) {
    for (const char* name : {"a.png", "a.PNG", "picture", "a.b/picture"}) {
        const Options o = parse({"--headless", "--experiment", "dot", "--screenshot", name});
        EXPECT_EQ(o.headless.screenshot, name);
    }
}

TEST(Options, ForceAndResetSettingsAreOffUnlessGiven) {
    EXPECT_FALSE(parse({}).reset_settings);
    EXPECT_TRUE(parse({"--reset-settings"}).reset_settings);
    EXPECT_FALSE(parse({"--headless", "--experiment", "dot"}).headless.force);
    EXPECT_TRUE(parse({"--headless", "--experiment", "dot", "--force"}).headless.force);
}

TEST(Options, EveryHeadlessOptionIsStored) {
    const Options o = parse(
        {"--headless", "--experiment",   "ripple",         "--set",       "ripple.sync=off",
         "--set",      "ripple.size=64", "--frames",       "12",          "--size",
         "640x480",    "--screenshot",   "a.png",          "--view-only", "--json",
         "-",          "--compare",      "--device",       "emulator",    "--math",
         "fast",       "--schedule",     "run-to-barrier", "--seed",      "18446744073709551615"});
    EXPECT_EQ(o.mode, Mode::headless);
    EXPECT_EQ(o.experiment, "ripple");
    const auto sets = o.assignments.at("ripple");
    ASSERT_EQ(sets.size(), 2u);
    EXPECT_EQ(sets[0].id, "sync");
    EXPECT_EQ(sets[0].text, "off");
    EXPECT_EQ(sets[1].id, "size");
    EXPECT_EQ(sets[1].text, "64");
    EXPECT_EQ(o.headless.frames, 12u);
    EXPECT_EQ(o.size, (experiments::Size{640, 480}));
    EXPECT_EQ(o.headless.screenshot, "a.png");
    EXPECT_TRUE(o.headless.view_only);
    EXPECT_EQ(o.json, "-");
    EXPECT_TRUE(o.headless.compare);
    EXPECT_EQ(o.device, "emulator");
    EXPECT_EQ(o.run.math, compute::Math::fast);
    EXPECT_EQ(o.run.schedule, compute::Schedule::run_to_barrier);
    EXPECT_EQ(o.run.seed, UINT64_MAX);
    EXPECT_EQ(o.run.barriers, compute::BarrierPolicy::volta);
    EXPECT_TRUE(o.run_given);
}

TEST(Options, CheckImpliesHeadless) {
    const Options o = parse({"--check", "memory,race", "--experiment", "dot", "--frames", "2"});
    EXPECT_EQ(o.mode, Mode::headless);
    EXPECT_EQ(o.headless.checks.words(), (std::vector<std::string>{"race", "memory"}));
    EXPECT_FALSE(o.headless.checks.barrier);
    EXPECT_TRUE(
        parse({"--headless", "--check", "barrier", "--experiment", "dot"}).headless.checks.barrier);
    EXPECT_FALSE(parse({"--headless", "--experiment", "dot"}).headless.checks.has_checks());
}

TEST(Options, CountersImplyHeadless) {
    const Options o = parse({"--counters", "--experiment", "dot", "--check", "race"});
    EXPECT_EQ(o.mode, Mode::headless);
    EXPECT_TRUE(o.headless.counters);
    EXPECT_TRUE(o.headless.checks.race);
    EXPECT_FALSE(parse({"--headless", "--experiment", "dot"}).headless.counters);
    EXPECT_FALSE(o.headless.lines);
}

TEST(Options, LinesNameAFigureOfTheCounters) {
    const Options o = parse({"--counters", "--lines", "conflicts", "--experiment", "ripple"});
    EXPECT_EQ(o.headless.lines, experiments::LineFigure::conflicts);
}

TEST(Options, HeatNamesAFigureOfTheWords) {
    const Options o = parse({"--counters", "--heat", "conflicts", "--experiment", "ripple"});
    EXPECT_EQ(o.headless.heat, emulator::HeatFigure::conflicts);
    EXPECT_FALSE(parse({"--counters", "--experiment", "ripple"}).headless.heat);
    const Options races =
        parse({"--counters", "--check", "race", "--heat", "races", "--experiment", "ripple"});
    EXPECT_EQ(races.headless.heat, emulator::HeatFigure::races);
}

TEST(Options, BarriersOptionSetsThePolicy) {
    EXPECT_EQ(parse({"--barriers", "before-volta"}).run.barriers,
              compute::BarrierPolicy::before_volta);
    EXPECT_EQ(parse({"--barriers", "strict"}).run.barriers, compute::BarrierPolicy::strict);
    EXPECT_TRUE(parse({"--barriers", "volta"}).run_given);
}

TEST(Options, SetSplitsItsArgumentAtTheFirstEqualsSign) {
    const Options o = parse({"--set", "nbody.file=a=b.c", "--set=ripple.sync=on"});
    EXPECT_EQ(o.assignments.at("nbody").at(0).id, "file");
    EXPECT_EQ(o.assignments.at("nbody").at(0).text, "a=b.c");
    EXPECT_EQ(o.assignments.at("ripple").at(0).text, "on");
}

TEST(Options, BodiesOptionComesBeforeEverySet) {
    const Options o = parse({"--set", "nbody.start=disk", "--bodies", "stars.csv"});
    EXPECT_EQ(o.experiment, "nbody");
    const auto sets = o.assignments.at("nbody");
    ASSERT_EQ(sets.size(), 3u);
    EXPECT_EQ(sets[0].id + "=" + sets[0].text, "start=file");
    EXPECT_EQ(sets[1].id + "=" + sets[1].text, "file=stars.csv");
    EXPECT_EQ(sets[2].id + "=" + sets[2].text, "start=disk");
}

TEST(Options, TheScalarsOfALaunchFileAreNotKnownYet) {
    const Options o = parse({"--launch", "a.cu", "--set", "launch.any=7"});
    EXPECT_EQ(o.experiment, "launch");
    EXPECT_EQ(o.assignments.at("launch").at(0).id, "any");
    EXPECT_EQ(complaint({"--launch", "a.cu", "--set", "ripple.size=64"}),
              "--set ripple.size=64: with --launch, write launch.SCALAR=VALUE, e.g. launch.n=1000");
    // Without a file: the first kernel of the gallery, whose scalars are known.
    EXPECT_EQ(parse({"--headless", "--set", "launch.width=64"}).experiment, "launch");
    EXPECT_NE(complaint({"--headless", "--set", "launch.any=7"}).find("unknown parameter"),
              std::string::npos);
}

TEST(Options, WithoutExperimentTheFirstSetChoosesIt) {
    EXPECT_EQ(parse({"--headless", "--set", "dot.n=5"}).experiment, "dot");
}

TEST(Options, WindowOptionsAreStored) {
    const Options o = parse({"--vsync", "off", "--widget-map", "w.json", "--size", "16384x1"});
    EXPECT_EQ(o.vsync, false);
    EXPECT_EQ(o.widget_map, "w.json");
    EXPECT_EQ(parse({"--microscope", "12,7@214"}).microscope, "12,7@214");
    EXPECT_EQ(o.size, (experiments::Size{16384, 1}));
}

TEST(Options, WindowAndHeadlessTakeKernelFiles) {
    const Options window =
        parse({"--experiment", "ripple", "--kernel-source", "a.cu", "--kernels", "dir"});
    EXPECT_EQ(window.mode, Mode::window);
    EXPECT_EQ(window.kernel_source, "a.cu");
    EXPECT_EQ(window.kernels, "dir");
    EXPECT_EQ(complaint({"--headless", "--kernel-source", "a.cu"}),
              "--kernel-source: add --experiment NAME, or run a kernel of your own with --launch "
              "FILE.cu");
    EXPECT_EQ(parse({"--check", "race", "--kernel-source", "a.cu", "--set", "dot.n=5"}).experiment,
              "dot");
    EXPECT_EQ(parse({"--kernels", "dir"}).experiment, "");
}

TEST(Options, OfAProgramThatIsAskedWhyAllLaunchesAreCapturedUnlessAFolderIsNamed) {
    const Options asked =
        parse({"--why", "y[3]", "--launches", "2-4", "--kernel", "k", "--", "./app"});
    EXPECT_EQ(asked.mode, Mode::program);
    EXPECT_FALSE(asked.program_window);
    EXPECT_EQ(asked.headless.why_launches, "2-4");
    EXPECT_EQ(asked.headless.why_kernel, "k");
    EXPECT_EQ(asked.capture.launches + asked.capture.kernel, "");
    const Options kept =
        parse({"--why", "y[3]", "--launches", "2-4", "--capture", "to", "--", "./app"});
    EXPECT_EQ(kept.capture.launches, "2-4");
    EXPECT_EQ(kept.headless.why_launches, "");
}

TEST(Options, HelpIsGroupedAndHasExamples) {
    const std::string help = answer("--help");
    for (const char* part :
         {"--headless", "--set", "--schedule", "Examples:", "With --headless", "The device"}) {
        EXPECT_NE(help.find(part), std::string::npos) << part;
    }
    EXPECT_EQ(answer("-h"), help);
}

TEST(Options, VersionIsOneLine) {
    const std::string version = answer("--version");
    EXPECT_EQ(version.rfind("warpscope ", 0), 0u);
    EXPECT_EQ(version.find('\n'), version.size() - 1);
}

struct Bad {
    std::vector<const char*> arguments;
    const char* names;  ///< text that the message must contain: the bad argument
    const char* fix;    ///< text that the message must contain: the fix
};

TEST(Options, MessagesNameTheBadArgumentAndTheFix) {
    const Bad table[] = {
        {{"--frobnicate"}, "--frobnicate", "--help"},
        {{"ripple"}, "ripple", "--help"},
        {{"--experiment", "rippel"}, "rippel", "ripple"},
        {{"--experiment"}, "--experiment: a value must follow", "--help"},
        {{"--set", "sync=off"}, "sync=off", "EXPERIMENT.PARAMETER=VALUE"},
        {{"--set", "ripple.sync"}, "ripple.sync", "EXPERIMENT.PARAMETER=VALUE"},
        {{"--set", ".sync=off"}, ".sync=off", "EXPERIMENT.PARAMETER=VALUE"},
        {{"--set", "ripple.=off"}, "ripple.=off", "EXPERIMENT.PARAMETER=VALUE"},
        {{"--set", "riple.sync=off"}, "riple", "ripple"},
        {{"--headless", "--experiment", "ripple", "--frames", "-1"}, "--frames -1", "whole number"},
        {{"--headless", "--experiment", "ripple", "--frames", "3.5"}, "3.5", "whole number"},
        {{"--headless", "--experiment", "ripple", "--frames", "1000000001"}, "--frames", "from 0"},
        {{"--size", "1280"}, "--size 1280", "WIDTHxHEIGHT"},
        {{"--size", "0x10"}, "--size 0x10", "WIDTHxHEIGHT"},
        {{"--size", "16385x10"}, "--size 16385x10", "WIDTHxHEIGHT"},
        {{"--size", "10x10x10"}, "--size 10x10x10", "WIDTHxHEIGHT"},
        {{"--math", "exact"}, "--math exact", "precise, fast"},
        {{"--check", "barrier", "--experiment", "dot", "--witness"}, "--witness", "--check race"},
        {{"--check", "needed", "--", "./app"}, "--check needed", "--capture"},
        {{"--witness", "--check", "race", "--", "./app"}, "--witness", "--capture"},
        {{"--why", "first", "--experiment", "ripple"}, "--why", "--headless"},
        {{"--kernel", "k", "--", "./app"}, "--kernel", "--why NAME[INDEX]"},
        {{"--schedule", "fifo"}, "--schedule fifo", "random, run-to-barrier, reverse"},
        {{"--barriers", "pascal"}, "--barriers pascal", "volta, before-volta, strict"},
        {{"--seed", "18446744073709551616"}, "--seed", "18446744073709551615"},
        {{"--vsync", "maybe"}, "--vsync maybe", "on, off"},
        {{"--headless"}, "--headless", "--experiment"},
        {{"--headless", "--list"}, "--list", "one of them"},
        {{"--check", "race", "--list"}, "--check", "one of them"},
        {{"--check", "race"}, "--check", "--experiment"},
        {{"--counters", "--list"}, "--counters", "one of them"},
        {{"--counters"}, "--counters", "--experiment"},
        {{"--lines", "sectors", "--experiment", "dot"}, "--lines", "add --counters"},
        {{"--lines", "sectors", "--check", "race", "--experiment", "dot"},
         "--lines",
         "add --counters"},
        {{"--counters", "--lines", "speed"}, "--lines speed", "instructions, divergence"},
        {{"--heat", "reads", "--experiment", "dot"}, "--heat", "add --counters"},
        {{"--counters", "--heat", "warmth"},
         "--heat warmth",
         "reads, writes, atomics, races, conflicts"},
        {{"--counters", "--heat", "races", "--experiment", "dot"},
         "--heat races",
         "add --check race"},
        {{"--counters", "--heat", "races", "--check", "barrier", "--experiment", "dot"},
         "--heat races",
         "add --check race"},
        {{"--check", "rcae"}, "--check rcae", "race, barrier, memory"},
        {{"--check", "race,memroy"}, "memroy", "race, barrier, memory"},
        {{"--check", "race,"}, "--check", "race, barrier, memory"},
        {{"--check", "leaks"}, "--check leaks", "-- ./app"},
        {{"--frames", "3"}, "--frames", "--headless"},
        {{"--screenshot", "a.png"}, "--screenshot", "--headless"},
        {{"--json", "-"}, "--json", "--headless"},
        {{"--headless", "--experiment", "ripple", "--vsync", "on"}, "--vsync", "drop it"},
        {{"--headless", "--experiment", "ripple", "--view-only"}, "--view-only", "--screenshot"},
        {{"--headless", "--experiment", "ripple", "--screenshot", "x.jpg"},
         "--screenshot x.jpg",
         "ends in .png"},
        {{"--force"}, "--force", "--headless"},
        {{"--headless", "--experiment", "ripple", "--reset-settings"},
         "--reset-settings",
         "drop it"},
        {{"--microscope", ""}, "--microscope", "name a block"},
        {{"--headless", "--experiment", "ripple", "--microscope", "1"},
         "--microscope",
         "--screenshot"},
        {{"--headless", "--experiment", "ripple", "--json", ""}, "--json", "name a file"},
        {{"--bodies", ""}, "--bodies", "name a file"},
        {{"--kernel-source", ""}, "--kernel-source", "name a file"},
        {{"--headless", "--kernels", "dir"}, "--headless needs", "--experiment NAME"},
        {{"--check", "race"}, "--check needs", "--experiment NAME"},
        {{"--headless", "--experiment", "dot", "--sarif", "a.sarif"}, "--sarif", "--check"},
        {{"--headless", "--experiment", "dot", "--baseline", "a"}, "--baseline", "--check"},
        {{"--check", "race", "--experiment", "dot", "--junit", ""}, "--junit", "name a file"},
        {{"--check", "race", "--print-environment", "--suppressions", "a"},
         "--suppressions",
         "leave it out"},
        {{"--headless", "--experiment", "dot", "--fail-on", "error"}, "--fail-on", "--check"},
        {{"--check", "race", "--experiment", "dot", "--fail-on", "note"}, "--fail-on", "warning"},
        {{"--check", "race", "--experiment", "dot", "--sarif", ""}, "--sarif", "name a file"},
        {{"--counters"}, "--counters needs", "--experiment NAME"},
        {{"--list", "--kernel-source", "a.cu"}, "--kernel-source", "--headless"},
        {{"--headless", "--experiment", "ripple", "--set", "dot.n=5"}, "dot.n", "--experiment dot"},
        {{"--headless", "--experiment", "ripple", "--bodies", "x"}, "nbody", "--experiment nbody"},
        {{"--experiment", "ripple", "--experiment", "dot"}, "--experiment: give it once", "--help"},
    };
    for (const Bad& bad : table) {
        const std::string text = complaint(bad.arguments);
        EXPECT_NE(text.find(bad.names), std::string::npos) << text << " lacks " << bad.names;
        EXPECT_NE(text.find(bad.fix), std::string::npos) << text << " lacks " << bad.fix;
        EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace warpscope
