#include <fmt/format.h>

#include <filesystem>
#include <ostream>
#include <set>

#include "emulator/witness/schedule_file.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/open_launch.h"
#include "ui/edits/file_opener.h"
#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

using emulator::Finding;
using emulator::FindingKind;
using emulator::Step;
using emulator::Stepper;

/// An experiment with findings, a kernel of the gallery, or one of a PTX text of tests/races/ptx.
struct Racy {
    std::string name;  ///< for a PTX text its file, and the kernel that is launched: "grid:edges"
    std::vector<experiments::Assignment> settings;
    compute::RunSettings run{};
};

std::ostream& operator<<(std::ostream& out, const Racy& racy) {
    out << racy.name;
    for (const experiments::Assignment& one : racy.settings) out << " " << one.text;
    return out << " schedule " << int(racy.run.schedule) << " seed " << racy.run.seed;
}

class FindingWalk : public ViewFixture, public testing::WithParamInterface<Racy> {
  protected:
    // The stage uses the helpers.
    ~FindingWalk() override {
        view_.reset();
        stage_.reset();
    }
    void show_racy(const Racy& racy) {
        Stage::Start start;
        start.device_wish = "emulator";
        start.run = racy.run;
        start.assignments = racy.settings;
        if (experiments::in_gallery(racy.name))
            start.entry = experiments::launch_entry(experiments::gallery_file(racy.name));
        else
            start.experiment = racy.name.find(':') == racy.name.npos ? racy.name : "ripple";
        start.helpers = &helpers_;
        ViewFixture::show(start);
        if (const std::size_t colon = racy.name.find(':'); colon != racy.name.npos)
            open_ptx(racy.name.substr(0, colon), racy.name.substr(colon + 1));
        view_->options().bottom = 500;
        view_->options().dock_folded = false;
        frames(3);
    }
    /// As a capture has it: two blocks of 64 threads, which get a buffer of 1024 words.
    void open_ptx(const std::string& file, const std::string& kernel) {
        launches::LaunchFile launch = launches::parse_launch_file(fmt::format(
            R"({{"source": "{}.ptx", "buffers": {{"out": {{"shape": 1024, "fill": 0}}}},
                 "launches": [{{"kernel": "{}", "grid": 2, "block": 64,
                               "captured": [{{"bytes": "0000000000000000", "addresses":
                                             [{{"at": 0, "buffer": "out", "plus": 0}}]}}]}}]}})",
            file, kernel));
        launch.file = RACE_KERNELS "/walk.launch.json";
        stage_->open_launch(launch, experiments::read_launch_source(launch));
        finish_edits();
        ASSERT_EQ(stage_->shown().launch_error, "");
    }
    /// The step that runs next in the microscope.
    Step next_step() {
        const Stepper& stepper = view_->microscope().stepper();
        return stepper.history()[stepper.position()];
    }
    /// Turns the wheel over the list until it shows the row.
    void scroll_to(const std::string& row) {
        point(width / 2, height - 80);
        const auto is_shown = [&] {
            const Widget* widget = view_->widgets().find(row);
            return widget && widget->visible;
        };
        for (int notches = 0; notches < 50 && !is_shown(); ++notches) turn_wheel(-1);
    }
    /// Clicks the row while the picture runs on.
    void opens_its_thread(const Finding& finding, const std::string& row) {
        SCOPED_TRACE(row + ": " + finding.sentence.english());
        Microscope& microscope = view_->microscope();
        stage_->pause(false);
        frames(3);
        if (value("dock.findings") != "on") click("dock.findings");
        scroll_to(row);
        click(row);
        ASSERT_TRUE(microscope.ready()) << microscope.complaint();
        EXPECT_EQ(microscope.block(), finding.place().block);
        EXPECT_EQ(microscope.thread(), finding.place().thread);
        const Step next = next_step();
        EXPECT_EQ(next.warp, microscope.warp());
        EXPECT_TRUE(next.mask >> microscope.lane() & 1);
        EXPECT_EQ(microscope.stepper().kernel().own_line(next.pc), finding.place().own_line());
        if (finding.kind != FindingKind::race || !finding.byte) return;
        microscope.step();
        EXPECT_TRUE(has_accessed(*finding.byte));
    }
    /// Whether the picked lane has accessed the byte of shared memory with its warp's newest step.
    bool has_accessed(std::uint64_t byte) {
        const Microscope& microscope = view_->microscope();
        const auto access = microscope.stepper().shared_access(microscope.warp());
        if (!access || access->step + 1 != microscope.stepper().position()) return false;
        const std::uint64_t begin = access->addresses[microscope.lane()];
        return begin <= byte && byte < begin + access->bytes;
    }

  private:
    compute::Helpers helpers_{WARPSCOPE};
};

// The experiment runs on between the check and the click, so its frame has another schedule.
TEST_P(FindingWalk, EachRowOpensTheThreadThatItNamesBeforeItsAccess) {
    show_racy(GetParam());
    click("race");
    ASSERT_TRUE(stage_->checks().inspection) << stage_->shown().message.text;
    const std::vector<Finding> findings = stage_->checks().inspection->verdict.findings;
    ASSERT_FALSE(findings.empty());
    for (std::size_t i = 0; i < findings.size(); ++i) {
        const std::string row = fmt::format("finding.{}", i);
        opens_its_thread(findings[i], row);
        const std::vector<Finding>& others = findings[i].repaired_too;
        for (std::size_t k = 0; k < others.size(); ++k)
            opens_its_thread(others[k], fmt::format("{}.{}", row, k));
    }
}

// One barrier is missing in each kernel of the ripple: one row, with the races that it also
// repairs.
TEST_F(FindingWalk, OneMissingBarrierIsOneRow) {
    show_racy({"ripple", {{"size", "64"}, {"sync", "off"}}});
    const std::vector<Finding>& findings = stage_->checks().inspection->verdict.findings;
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].hazard, emulator::Hazard::read_after_write);
    ASSERT_FALSE(findings[0].repaired_too.empty());
    EXPECT_TRUE(findings[0].repaired_too[0].misread());
    // Forwards through the races, the repaired ones too.
    click("race");
    for (std::size_t k = 0; k < findings[0].repaired_too.size(); ++k)
        EXPECT_EQ(value(fmt::format("finding.0.{}", k)), findings[0].repaired_too[k].sentence);
    click("finding.0");
    Microscope& microscope = view_->microscope();
    microscope.restart();
    std::set<std::uint64_t> places;
    while (microscope.notice().empty() && places.size() < 100) {
        microscope.go_to_race(true);
        frames(1);
        places.insert(microscope.stepper().position());
    }
    EXPECT_GE(places.size(), 2U);
}

// The order that the search finds is the one that the microscope then steps through.
TEST_F(FindingWalk, ARightClickOpensTheOrderInWhichTheRaceSpoilsAResult) {
    show_racy({"ripple", {{"size", "64"}, {"sync", "off"}}});
    click("race");
    const Finding finding = stage_->checks().inspection->verdict.findings.at(0);
    click("finding.0", 1);
    Microscope& microscope = view_->microscope();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (microscope.searches() && std::chrono::steady_clock::now() < deadline) frames(1);
    frames(3);
    ASSERT_TRUE(microscope.ready()) << microscope.complaint();
    ASSERT_TRUE(microscope.choice().turns) << microscope.notice();
    EXPECT_TRUE(microscope.notice().starts_with("With 0 preemptions, warp "))
        << microscope.notice();
    EXPECT_EQ(microscope.block(), finding.place().block);
    EXPECT_EQ(microscope.thread(), finding.place().thread);
    // No turn is listed, so that each warp runs to its end.
    std::vector<int> warps;
    for (const Step& step : microscope.stepper().history())
        if (warps.empty() || warps.back() != step.warp) warps.push_back(step.warp);
    EXPECT_EQ(warps, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
    // The tab Order has it in words, and saves it.
    EXPECT_EQ(value("dock.order"), "on");
    EXPECT_EQ(value("order"), microscope.order_sentence());
    EXPECT_EQ(value("order.0"), "the warps run in their order, each until it waits or ends");
    set_language(Language::chinese);
    frames(2);
    const std::string said = value("order");
    EXPECT_EQ(value("order.0"), "线程束按编号依次运行，各自到等待或结束");
    set_language(Language::english);
    EXPECT_TRUE(said.starts_with("抢占 0 次时，线程束 0 先运行到 kernels/ripple.cu:")) << said;
    const auto saved =
        std::filesystem::current_path() / (microscope.choice().turns->kernel + ".schedule");
    std::filesystem::remove(saved);
    click("order.save");
    EXPECT_NE(stage_->message().text.find(saved.string()), std::string::npos)
        << stage_->message().text;
    const OpenedFile file = read_file(saved.string());
    std::filesystem::remove(saved);
    ASSERT_TRUE(file.order) << file.error;
    EXPECT_EQ(file.order->text(), microscope.choice().turns->text());
}

TEST_F(FindingWalk, TheBarriersThatAreNeededAreListedAndMarked) {
    show_racy({"ripple", {{"size", "64"}}});
    click("race");
    click("findings.needed");
    const std::string none = "(no such widget)";
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (value("finding.0") == none && std::chrono::steady_clock::now() < deadline) frames(1);
    EXPECT_NE(value("finding.0").find("% depend on it"), std::string::npos) << value("finding.0");
    Microscope& microscope = view_->microscope();
    const auto needed = microscope.needs().of(stage_->shown().edits);
    ASSERT_EQ(needed.size(), 1U);
    const int line = int(needed[0].finding.first.line);
    view_->options().editor = true;
    view_->options().bottom = 200;
    view_->editor().reveal("ripple", line - 1);
    frames(4);
    EXPECT_EQ(value(fmt::format("editor.barrier.{}", line)), "in");
    const std::string in_editor = value(fmt::format("editor.needed.{}", line));
    view_->options().editor = false;
    view_->options().bottom = 500;
    frames(2);
    click("finding.0");
    frames(3);
    ASSERT_TRUE(microscope.ready()) << microscope.complaint();
    ASSERT_EQ(microscope.needed().size(), 1U);
    const std::string mark = value(fmt::format("source.needed.{}", line));
    EXPECT_TRUE(mark.ends_with(" % depend on it")) << mark;
    EXPECT_EQ(in_editor, mark);
    // The click has chosen the barrier, and the picture is painted until the next one.
    EXPECT_NE(value("picture.needed").find(" % depend on it"), std::string::npos);
    EXPECT_TRUE(microscope.needs().is_chosen(0));
    click("dock.findings");
    click("finding.0");
    frames(2);
    EXPECT_FALSE(microscope.needs().is_chosen(0));
}

std::vector<Racy> racy_kernels() {
    using compute::Schedule;
    std::vector<Racy> all;
    for (const char* layout : {"txty", "tytx", "padded17", "padded", "bytes", "stamped"})
        all.push_back({"ripple", {{"size", "64"}, {"sync", "off"}, {"layout", layout}}});
    for (const std::uint64_t seed : {2, 3})
        all.push_back({"ripple", {{"size", "96"}, {"sync", "off"}}, {.seed = seed}});
    for (const char* kernel : {"no_first_barrier", "no_loop_barrier", "divergent"})
        for (const auto schedule : {Schedule::random, Schedule::reverse})
            all.push_back(
                {"dot", {{"n", "3000"}, {"kernel", kernel}}, {.schedule = schedule, .seed = 5}});
    all.push_back({"single_buffer", {}});
    all.push_back({"ripple", {{"size", "64"}, {"sync", "off"}, {"layout", "cluster"}}});
    // A warp hands over to another one by an mbarrier, at which one lane arrives for all.
    all.push_back({"hand_over", {{"width", "64"}, {"height", "64"}, {"every_lane", "0"}}});
    all.push_back({"pipeline_blur", {{"width", "256"}, {"height", "64"}, {"wait", "0"}}});
    for (const char* kernel :
         {"grid:next_block", "grid:atomics_and_a_read", "kernels:neighbour_no_syncwarp",
          "kernels:last_warp_in_step", "async:source_changed"})
        all.push_back({kernel, {}});
    return all;
}

INSTANTIATE_TEST_SUITE_P(RacyKernels, FindingWalk, testing::ValuesIn(racy_kernels()));

}  // namespace
}  // namespace warpscope::ui
