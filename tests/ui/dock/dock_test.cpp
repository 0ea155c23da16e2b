#include <fmt/format.h>

#include <algorithm>

#include "compute/device/kernel_files.h"
#include "experiments/framework/cuda_source.h"
#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

class DockTest : public ViewFixture {
  protected:
    void open(unsigned x, unsigned y) {
        view_->microscope().open(stage_->launch(), {x, y, 0});
        settle();
    }
    /// The source line that the picked warp is about to execute; 0: another warp is next.
    int line_of_next_step() {
        const Microscope& microscope = view_->microscope();
        const emulator::Stepper& stepper = microscope.stepper();
        const emulator::Step next = stepper.history()[stepper.position()];
        return next.warp == microscope.warp() ? stepper.kernel().lines[next.pc].source.line : 0;
    }
    /// {first, count} of the part of a timeline that is on show: "12+50".
    std::pair<double, double> range(const std::string& id) {
        const std::string words = value(id);
        return {std::stod(words), std::stod(words.substr(words.find('+') + 1))};
    }
    /// `error`: of the place and the length, in the unit of the timeline.
    void expect_zoom_and_pan(const std::string& strip, double whole, double error) {
        const Widget at = *view_->widgets().find(strip);
        const std::string part = strip + ".zoom";
        EXPECT_EQ(range(part), std::pair(0.0, whole));
        const float x = float(at.x) + float(at.w) / 4, y = float(at.y + at.h / 2);
        point(x, y);
        turn_wheel(3);
        EXPECT_NEAR(range(part).second, 0.512 * whole, error) << "three times 0.8";
        EXPECT_NEAR(range(part).first, 0.25 * 0.488 * whole, error) << "a quarter stays there";
        hold(1, true);
        point(x - float(at.w) / 8, y);
        hold(1, false);
        EXPECT_NEAR(range(part).second, 0.512 * whole, error);
        EXPECT_NEAR(range(part).first, (0.25 * 0.488 + 0.512 / 8) * whole, error);
        press(x, y);
        press(x, y);
        EXPECT_EQ(range(part), std::pair(0.0, whole)) << "a double click shows all";
    }
};

/// The number of the first line of kernels/`file`.cu that holds `words`.
int line_of(const std::string& file, std::string_view words) {
    const std::string_view source = compute::kernel_source("kernels/" + file + ".cu");
    const std::string_view before = source.substr(0, source.find(words));
    return 1 + int(std::count(before.begin(), before.end(), '\n'));
}

using Assignments = std::vector<experiments::Assignment>;
const Assignments small_ripple{{"size", "64"}};
const Assignments racy_ripple{{"size", "64"}, {"sync", "off"}};

TEST_F(DockTest, TheRaceChipComesFromTheChecks) {
    show("ripple", racy_ripple);
    EXPECT_EQ(value("race"), "Race: 256 hazards a block");
    set("sync", "on");
    EXPECT_EQ(value("race"), "No race found");
}

TEST_F(DockTest, TabsAreRemembered) {
    show("ripple", small_ripple);
    click("dock.fold");
    EXPECT_EQ(value("dock.timings"), "on");
    click("dock.counters");
    EXPECT_EQ(value("dock.counters"), "on");
    EXPECT_EQ(view_->options().dock, "counters");
    // The open microscope has tabs of its own.
    EXPECT_EQ(view_->widgets().find("dock.banks"), nullptr);
    open(1, 1);
    EXPECT_EQ(value("dock.timeline"), "on");
    click("dock.banks");
    EXPECT_EQ(view_->options().dock_open, "banks");
    view_->microscope().close();
    frames(2);
    EXPECT_EQ(value("dock.counters"), "on");
}

TEST_F(DockTest, FindingsNameBothLinesAndOpenTheThread) {
    show("ripple", racy_ripple);
    click("race");
    EXPECT_EQ(value("dock.findings"), "on");
    EXPECT_EQ(value("findings.summary"),
              "256 hazards a block in all 16 blocks of ripple_txty_nosync: pairs of accesses to "
              "one word that nothing orders.");
    const std::string sentence = value("finding.0");
    const int write = line_of("ripple", "tile[threadIdx.x][threadIdx.y] =");
    const int read = line_of("ripple", "= tile[side - 1 - threadIdx.x]");
    for (const int line : {write, read})
        EXPECT_NE(sentence.find(fmt::format("kernels/ripple.cu:{}", line)), std::string::npos)
            << sentence;
    // The barrier also repairs the race in which a read got the wrong value.
    const emulator::Finding finding =
        stage_->checks().inspection->verdict.findings.at(0).repaired_too.at(0);
    click("finding.0.0");
    ASSERT_TRUE(view_->microscope().ready());
    ASSERT_TRUE(finding.second.has_value());
    EXPECT_TRUE(finding.misread());
    EXPECT_EQ(finding.first.line, read);
    EXPECT_EQ(view_->microscope().block().x, finding.first.block.x);
    EXPECT_EQ(view_->microscope().thread().x, finding.first.thread.x);
    EXPECT_EQ(view_->microscope().thread().y, finding.first.thread.y);
    // It stands before the read, and the other thread has not written the word yet.
    EXPECT_EQ(line_of_next_step(), read);
    const auto writer = std::int32_t(finding.second->thread.x + 16 * finding.second->thread.y);
    const std::size_t word = *finding.byte / 4;
    EXPECT_NE(view_->microscope().stepper().words()[word].writer, writer);
    const int stale = std::stoi(value("tile.stale"));
    view_->microscope().step();
    frames(2);
    EXPECT_GT(std::stoi(value("tile.stale")), stale) << "the read itself is marked";
    view_->microscope().to_end();
    EXPECT_EQ(view_->microscope().stepper().words()[word].writer, writer);
}

TEST_F(DockTest, AFindingOpensTheFrameThatWasCheckedUntilAFrameIsComputed) {
    show("ripple", racy_ripple);
    click("race");
    for (int i = 0; i < 5; ++i) {
        stage_->step_once();
        frames();
    }
    ASSERT_EQ(stage_->frame(), 5U);
    const emulator::Finding finding =
        stage_->checks().inspection->verdict.findings.at(0).repaired_too.at(0);
    click("finding.0.0");
    Microscope& microscope = view_->microscope();
    ASSERT_TRUE(microscope.ready());
    EXPECT_EQ(value("microscope.frame"), "0");
    EXPECT_EQ(microscope.thread(), finding.first.thread);
    frames(3);
    EXPECT_EQ(microscope.frame(), 0U) << "it stays while nothing changes";
    stage_->step_once();
    frames(3);
    EXPECT_EQ(microscope.frame(), 6U);
}

// The line is executed in each pass of the loop, by each of the block's threads.
TEST_F(DockTest, AFindingInALoopOpensInThePassThatReadsItsWord) {
    show("dot", {{"n", "3000"}, {"kernel", "no_loop_barrier"}});
    click("race");
    const std::vector<emulator::Finding>& findings = stage_->checks().inspection->verdict.findings;
    // One barrier repairs the reads that come too late, and those that may have come too early.
    ASSERT_EQ(findings.size(), 1U);
    std::string row = "finding.0";
    emulator::Finding finding = findings[0];
    if (finding.hazard != emulator::Hazard::write_after_read) {
        finding = findings[0].repaired_too.at(0);
        row = "finding.0.0";
    }
    ASSERT_EQ(finding.hazard, emulator::Hazard::write_after_read);
    click(row);
    const Microscope& microscope = view_->microscope();
    EXPECT_EQ(line_of_next_step(), finding.first.line);
    EXPECT_EQ(microscope.thread().x, finding.first.thread.x);
    view_->microscope().step();
    const auto access = microscope.stepper().shared_access(microscope.warp());
    ASSERT_TRUE(access);
    EXPECT_EQ(access->kind, emulator::MemoryAccess::load);
    EXPECT_EQ(access->addresses[microscope.lane()], *finding.byte);
}

TEST_F(DockTest, CheckingCanBeSwitchedOff) {
    show("ripple", small_ripple);
    click("dock.findings");
    click("findings.automatic");
    EXPECT_FALSE(view_->options().inspect);
    set("sync", "off");
    EXPECT_EQ(value("race"), "Wrong pixels: 47.7 %") << "not checked, but seen";
    click("findings.check");
    settle();
    EXPECT_EQ(value("race"), "Race: 256 hazards a block");
}

// A block of 64x64 pixels' 16: 8 warps write the tile and read it, once each; [tx][ty] in [16][16]
// takes 8 passes for each.
TEST_F(DockTest, CountersOfKernelsAreListedTogether) {
    show("ripple", small_ripple);
    click("dock.counters");
    set("layout", "tytx");
    EXPECT_EQ(value("counter.ripple_txty"), "off");
    EXPECT_EQ(value("counter.ripple_txty.barriers"), "16");
    EXPECT_EQ(value("counter.ripple_txty.shared"), "256");
    EXPECT_EQ(value("counter.ripple_txty.conflict"), "8");
    EXPECT_EQ(value("counter.ripple_txty.passes"), "2048");
    EXPECT_EQ(value("counter.ripple_txty.sectors"), "512");
    EXPECT_EQ(value("counter.ripple_txty.efficiency"), "1.000");
    EXPECT_EQ(value("counter.ripple_tytx"), "on");
    EXPECT_EQ(value("counter.ripple_tytx.conflict"), "1");
    EXPECT_EQ(value("counter.ripple_tytx.passes"), "256");
}

// The 16 blocks' 8 warps write the tile and read it, in 8 passes each.
TEST_F(DockTest, LinesAreSortedByTheChosenFigureAndShownBesideTheSource) {
    show("ripple", small_ripple);
    click("dock.lines");
    EXPECT_EQ(value("lines.kernel"), "ripple_txty");
    EXPECT_EQ(value("lines.by.instructions"), "on");
    const int write = line_of("ripple", "tile[threadIdx.x][threadIdx.y] =");
    const int read = line_of("ripple", "= tile[side - 1 - threadIdx.x]");
    const int store = line_of("ripple", "pixels[y * width + x] =");
    const auto row = [](int line) { return fmt::format("line.{}", line); };
    click("lines.by.conflicts");
    EXPECT_EQ(value("lines.by.instructions"), "off");
    EXPECT_EQ(value(row(write) + ".wavefronts"), "1024");
    EXPECT_EQ(value(row(write) + ".conflicts"), "896");
    EXPECT_EQ(value(row(read) + ".conflicts"), "896");
    const auto top = [&](int line) { return view_->widgets().find(row(line))->y; };
    EXPECT_LT(top(write), top(read)) << "lines with one figure keep the order of the source";
    const float first = top(write);
    click("lines.by.sectors");
    EXPECT_EQ(value(row(store) + ".sectors"), "512");
    EXPECT_EQ(value(row(store) + ".conflicts"), "0");
    EXPECT_EQ(top(store), first) << "the line with the most sectors is the first one";

    EXPECT_FALSE(view_->options().editor);
    click(row(store));
    EXPECT_TRUE(view_->options().editor);
    EXPECT_EQ(value(fmt::format("editor.figure.{}", store)), "512");
    EXPECT_EQ(view_->widgets().find(fmt::format("editor.figure.{}", write)), nullptr);
    click("lines.by.wavefronts");
    EXPECT_EQ(value(fmt::format("editor.figure.{}", write)), "1024");
    // The source has no figures where the dock has no lines.
    click("dock.timings");
    EXPECT_EQ(view_->widgets().find(fmt::format("editor.figure.{}", write)), nullptr);
}

// 256 threads and a tile of 1024 bytes: 8 blocks of 8 warps on an SM of 9.0. 128 registers a thread
// are 4096 a warp: 4 warps in each of 4 partitions.
TEST_F(DockTest, OccupancyNamesWhatLimitsIt) {
    show("ripple", small_ripple);
    click("dock.occupancy");
    EXPECT_EQ(value("occupancy.kernel"), "ripple_txty");
    EXPECT_EQ(value("occupancy.sm"), "9.0");
    EXPECT_EQ(value("occupancy.registers"), "unknown");
    EXPECT_EQ(value("occupancy.sentence"),
              "8 blocks, 64 of 64 warps of an SM (100 %). Limited by: warps of an SM.");
    EXPECT_EQ(value("occupancy.shared").substr(0, 24), "64 64 64 64 64 64 64 56 ")
        << "blocks of 0, 4, … 28 KiB";
    type("occupancy.registers", "128");
    EXPECT_EQ(value("occupancy.sentence"),
              "2 blocks, 16 of 64 warps of an SM (25 %). Limited by: registers.");
    const std::string curve = value("occupancy.curve");
    EXPECT_EQ(curve.substr(0, 12), "16 16 15 16 ") << "blocks of 1, 2, 3 and 4 warps";
    click("occupancy.sm");
    click("occupancy.sm:7.5");
    EXPECT_EQ(value("occupancy.sentence"),
              "2 blocks, 16 of 32 warps of an SM (50 %). Limited by: registers.");
}

TEST_F(DockTest, TimingsOfAKernelThatNoLongerRunsAreDimmed) {
    show("ripple", small_ripple);
    click("dock.timings");
    EXPECT_EQ(value("timing.ripple_txty.runs"), "on");
    set("layout", "tytx");
    EXPECT_EQ(value("timing.ripple_tytx.runs"), "on");
    EXPECT_EQ(value("timing.ripple_txty.runs"), "off");
    EXPECT_EQ(value("timing.compare.runs"), "on");
    set("layout", "txty");
    EXPECT_EQ(value("timing.ripple_txty.runs"), "on");
    // The line of the folded dock has only what runs.
    click("dock.timings");
    EXPECT_NE(view_->widgets().find("timing.ripple_txty"), nullptr);
    EXPECT_EQ(view_->widgets().find("timing.ripple_tytx"), nullptr);
}

TEST_F(DockTest, ATooltipDoesNotCoverThePanelThatItsTabHasOpened) {
    show("ripple", small_ripple);
    click("dock.timings");
    const Widget tab = *view_->widgets().find("dock.counters");
    point(float(tab.x + tab.w / 2), float(tab.y + tab.h / 2));
    frames(60);
    EXPECT_NE(value("tooltip").find("bank conflicts"), std::string::npos);
    click("dock.counters");
    frames(60);
    EXPECT_EQ(view_->widgets().find("tooltip"), nullptr);
    point(5, 5);
    frames(2);
    point(float(tab.x + tab.w / 2), float(tab.y + tab.h / 2));
    frames(60);
    EXPECT_NE(view_->widgets().find("tooltip"), nullptr) << "the mouse came back";
}

TEST_F(DockTest, DraggingInTheTimelineMovesTheStep) {
    show("ripple", small_ripple);
    open(1, 2);
    EXPECT_EQ(value("timeline"), "0");
    click("timeline");
    const std::uint64_t steps = view_->microscope().known_steps();
    EXPECT_NEAR(double(view_->microscope().stepper().position()), double(steps) / 2,
                double(steps) / 50);
    EXPECT_EQ(value("timeline"), std::to_string(view_->microscope().stepper().position()));
}

TEST_F(DockTest, TheMouseZoomsTheTimelineOfABlockAndMovesAlongIt) {
    show("ripple", small_ripple);
    open(1, 2);
    expect_zoom_and_pan("timeline", double(view_->microscope().known_steps()), 2);
}

TEST_F(DockTest, TheMouseZoomsAMeasuredTimelineAndMovesAlongIt) {
    Stage::Start start;
    start.device_wish = "emulator";
    start.experiment = "ripple";
    start.assignments = small_ripple;
    // Two seconds pass whenever somebody reads the time, so that the timeline of each frame is read
    // at once.
    start.clock = [now = std::make_shared<std::chrono::steady_clock::time_point>()] {
        return *now += std::chrono::seconds(2);
    };
    show(start);
    set("layout", "stamped");
    stage_->step_once();
    settle();
    click("dock.timeline");
    const double whole = range("timeline.measured.zoom").second;
    expect_zoom_and_pan("timeline.measured", whole, whole / 500);
}

TEST_F(DockTest, ATimedKernelHasATimelineWithoutTheMicroscope) {
    show("ripple", small_ripple);
    EXPECT_EQ(view_->widgets().find("dock.timeline"), nullptr);
    set("layout", "stamped");
    stage_->step_once();
    settle();
    click("dock.timeline");
    EXPECT_NE(value("timeline.measured").find("instructions"), std::string::npos);
}

TEST_F(DockTest, BanksShowTheNewestAccess) {
    show("ripple", small_ripple);
    open(1, 2);
    click("dock.banks");
    EXPECT_EQ(value("banks.none"), "Warp 0 has not accessed shared memory yet.");
    view_->microscope().to_end();
    frames(2);
    EXPECT_EQ(value("banks"), "8-way conflict: 8 passes where 1 would be enough");
    set("layout", "padded");
    view_->microscope().to_end();
    frames(2);
    EXPECT_EQ(value("banks"), "No conflict: 1 pass");
}

TEST_F(DockTest, TheTileFillsAndItsRowsCanBeChosen) {
    show("ripple", racy_ripple);
    open(1, 2);
    EXPECT_EQ(value("tile"), "256 words, 16 a row, 0 written, 0 hazards");
    view_->microscope().to_end();
    frames(2);
    EXPECT_EQ(value("tile"), "256 words, 16 a row, 256 written, 256 hazards");
    click("tile.by:writer");
    EXPECT_EQ(value("tile.by"), "writer");
    click("tile.row");
    click("tile.row:32");
    EXPECT_EQ(value("tile"), "256 words, 32 a row, 256 written, 256 hazards");
    // Its cells are tile[tx][ty]: the upper left one is thread (0, 0)'s, the second thread (0,
    // 1)'s.
    const Widget tile = *view_->widgets().find("tile");
    const double cell = tile.w / 32;
    press(float(tile.x + 2.5 * cell), float(tile.y + cell / 2));
    EXPECT_EQ(view_->microscope().thread().x, 0U);
    EXPECT_EQ(view_->microscope().thread().y, 2U);
}

// The barrier inside the divergent `if`: threads that have left no longer count, but to the letter
// of PTX a warp that comes without all its lanes is an error.
TEST_F(DockTest, EveryBarrierPolicyIsTriedAndExplained) {
    show("dot", {{"kernel", "divergent"}});
    EXPECT_EQ(value("race"), "Barrier not reached by all");
    click("dock.barriers");
    settle();
    EXPECT_EQ(value("policy.volta"), "finishes");
    EXPECT_EQ(value("policy.before-volta"), "finishes");
    EXPECT_EQ(value("policy.strict"), "can't go on");
    const int line =
        experiments::barrier_lines(compute::kernel_source("kernels/dot.cu"), "dot_divergent").at(1);
    EXPECT_NE(value("policy.strict.sentence").find(fmt::format("dot.cu:{}", line)),
              std::string::npos)
        << value("policy.strict.sentence");
    EXPECT_EQ(value("policy.device"), "measured");
    EXPECT_NE(value("policy.device.sentence").find("Threads that continue: "), std::string::npos);
}

TEST_F(DockTest, AKernelWithoutSkippedBarriersHasNoDeviceRow) {
    show("ripple", small_ripple);
    click("dock.barriers");
    settle();
    EXPECT_EQ(value("policy.strict"), "finishes");
    EXPECT_EQ(view_->widgets().find("policy.device"), nullptr);
}

TEST_F(DockTest, SpreadOfTheNewestLaunchesIsShown) {
    show("ripple", racy_ripple);
    stage_->pause(false);
    frames(3);
    stage_->pause(true);
    frames(2);
    EXPECT_NE(value("result.wrong_pixels.recent").find("launches"), std::string::npos);
}

}  // namespace
}  // namespace warpscope::ui
