#include <gtest/gtest.h>

#include <algorithm>

#include "compute/pick_device.h"
#include "experiments/ripple/ripple.h"
#include "experiments/settings.h"
#include "support/devices.h"

namespace warpscope::experiments {
namespace {

using tests::reading;
using tests::set;

constexpr int stamped_side = 256;

/// The ripple with stamped words: which reads are stale, and how a delay moves their number.
class StampedRipple : public tests::OnDevices {
  protected:
    void SetUp() override {
        tests::OnDevices::SetUp();
        if (IsSkipped()) return;
        ripple_.emplace(device());
        set(*ripple_,
            {{"size", std::to_string(stamped_side)}, {"layout", "stamped"}, {"sync", "off"}});
    }
    Ripple& ripple() { return *ripple_; }

    std::vector<Rgba> render() {
        const Size size = ripple().picture_size({});
        compute::Buffer<Rgba> pixels(device(), std::size_t(size.width) * size.height);
        ripple().render_into({pixels.pointer(), size});
        return pixels.download();
    }
    double stale() { return reading(ripple().report(), "stale_reads").value; }

  private:
    std::optional<Ripple> ripple_;
};
WARPSCOPE_ON_DEVICES(StampedRipple);

double painted(const std::vector<Rgba>& picture) {
    const auto magenta = [](Rgba p) { return p.r == 255 && p.g == 0 && p.b == 255; };
    return 100.0 * double(std::count_if(picture.begin(), picture.end(), magenta)) /
           double(picture.size());
}

TEST_P(StampedRipple, PaintsTheReadsThatItCounts) {
    set(ripple(), {{"view", "stale"}, {"delayed", "0-3"}, {"delay", "20000"}});
    const std::vector<Rgba> picture = render();
    const Report report = ripple().report();
    EXPECT_GT(painted(picture), 0);
    EXPECT_DOUBLE_EQ(reading(report, "stale_reads").value, painted(picture));
    EXPECT_GE(reading(report, "stale_reads").value, reading(report, "wrong_pixels").value)
        << "a wrong value can only come from a stale word";
    set(ripple(), {{"sync", "on"}});
    EXPECT_EQ(painted(render()), 0);
    EXPECT_EQ(stale(), 0);
    EXPECT_EQ(reading(ripple().report(), "stale_reads").verdict, Verdict::pass);
}

TEST_P(StampedRipple, CountsNoReadBeyondThePicture) {
    set(ripple(), {{"size", "500"}, {"view", "stale"}, {"delayed", "0"}, {"delay", "20000"}});
    const double seen = painted(render());
    EXPECT_DOUBLE_EQ(seen, stale());
}

// Warp w reads what warp 7 - w wrote, so of a pair at most the first reader's words are stale.
TEST_P(StampedRipple, AtMostHalfOfTheReadsAreStale) {
    for (int frame = 0; frame < 5; ++frame) {
        ripple().step();
        EXPECT_LE(stale(), 50.0);
    }
}

// The emulator's random schedule sometimes gives one warp nearly all of the delay.
TEST_P(StampedRipple, DelayedWritersMakeReadsStale) {
    set(ripple(), {{"delay", "20000"}, {"delayed", "0-3"}});
    EXPECT_GT(stale(), 49.0) << "warps 4 to 7 read before warps 0 to 3 write";
    set(ripple(), {{"delayed", "odd"}});
    EXPECT_GT(stale(), 49.0) << "even warps read before odd ones write";
    set(ripple(), {{"delayed", "0"}});
    EXPECT_GT(stale(), 12.4) << "warp 7 reads before warp 0 writes";
}

TEST_P(StampedRipple, DelayedReadersHideTheRaceAndTheReportSaysSo) {
    const double undelayed = stale();
    set(ripple(), {{"delay", "20000"}, {"delayed", "all"}, {"delay_before", "read"}});
    const Report report = ripple().report();
    const Reading& reads = reading(report, "stale_reads");
    if (GetParam() == "cuda") {
        EXPECT_LT(reads.value, 0.1);
    } else {
        EXPECT_LT(reads.value, undelayed / 2);
    }
    for (const char* name : {"stale_reads", "wrong_pixels"}) {
        const Reading& one = reading(report, name);
        EXPECT_EQ(one.verdict, one.value == 0 ? Verdict::unproven : Verdict::finding) << name;
    }
    EXPECT_EQ(reads.sentence.english().find("proves nothing") != std::string::npos,
              reads.value == 0);
}

TEST_P(StampedRipple, WithTheBarrierNoDelayMakesAReadStale) {
    set(ripple(), {{"sync", "on"}, {"delay", "20000"}});
    for (const char* warps : {"0", "0-3", "odd", "1-7", "all"})
        for (const char* before : {"write", "read"}) {
            set(ripple(), {{"delayed", warps}, {"delay_before", before}});
            EXPECT_EQ(stale(), 0) << warps << ' ' << before;
            EXPECT_EQ(reading(ripple().report(), "wrong_pixels").value, 0);
        }
}

TEST_P(StampedRipple, TheReportHasTheNewestLaunchesInOrder) {
    set(ripple(), {{"window", "4"}});
    std::vector<double> stale_reads, wrong_pixels;
    for (int frame = 0; frame < 6; ++frame) {
        ripple().step();
        render();
        const Report report = ripple().report();
        stale_reads.push_back(reading(report, "stale_reads").value);
        wrong_pixels.push_back(reading(report, "wrong_pixels").value);
    }
    const std::vector<double> newest(stale_reads.end() - 4, stale_reads.end());
    const Report report = ripple().report();
    EXPECT_EQ(reading(report, "stale_reads").recent, newest);
    EXPECT_EQ(reading(report, "wrong_pixels").recent,
              std::vector<double>(wrong_pixels.end() - 4, wrong_pixels.end()));
    EXPECT_EQ(reading(report, "stale_reads_min").value,
              *std::min_element(newest.begin(), newest.end()));
    EXPECT_EQ(reading(report, "stale_reads_max").value,
              *std::max_element(newest.begin(), newest.end()));
    set(ripple(), {{"delay", "100"}});
    EXPECT_EQ(reading(ripple().report(), "stale_reads").recent.size(), 1u)
        << "another delay starts the counts again";
}

TEST_P(StampedRipple, OtherTilesReportNoStaleReadsAndSaySo) {
    const std::vector<Rgba> picture = render();
    set(ripple(), {{"layout", "txty"}, {"view", "stale"}, {"sync", "on"}});
    EXPECT_EQ(painted(render()), 0);
    const Report report = ripple().report();
    EXPECT_EQ(find(report, "stale_reads"), nullptr);
    EXPECT_NE(reading(report, "wrong_pixels").sentence.english().find("Only the stamped tile"),
              std::string::npos);
}

TEST_P(StampedRipple, DelayParametersMatterForTheStampedTileOnly) {
    const auto matters = [&] {
        std::vector<std::string> ids;
        for (const Parameter* p : ripple().parameters().all())
            if (p->matters()) ids.push_back(p->id());
        return ids;
    };
    const std::vector<std::string> stamped = matters();
    EXPECT_EQ(std::count(stamped.begin(), stamped.end(), "delay"), 1);
    set(ripple(), {{"layout", "tytx"}, {"pattern", "ripple"}});
    EXPECT_EQ(matters(), (std::vector<std::string>{"pattern", "sync", "layout", "size", "speed",
                                                   "view", "window"}));
}

// --- the timeline of one block

double length(const Timeline& timeline, unsigned warp, Timeline::Activity activity) {
    double sum = 0;
    for (const Timeline::Span& span : timeline.spans)
        if (span.warp == warp && span.activity == activity) sum += span.end - span.begin;
    return sum;
}

TEST_P(StampedRipple, SevenWarpsWaitForTheDelayedWarp) {
    constexpr double delay = 20'000;
    // One block, alone on its multiprocessor, so that its warps take no time to get to the barrier;
    // the second launch finds the kernel's code in the cache.
    set(ripple(), {{"size", "16"}, {"sync", "on"}, {"delay", "20000"}, {"delayed", "0"}});
    render();
    render();
    const Timeline timeline = ripple().timeline().value();
    EXPECT_EQ(timeline.warps, 8u);
    EXPECT_GE(length(timeline, 0, Timeline::Activity::delayed), delay);
    EXPECT_LT(length(timeline, 0, Timeline::Activity::waiting), delay / 10);
    const bool emulator = GetParam() != "cuda";
    for (unsigned warp = 1; warp < 8; ++warp) {
        EXPECT_EQ(length(timeline, warp, Timeline::Activity::delayed), 0);
        // The emulator's random turns may give the late warp a long one before others came.
        EXPECT_GE(length(timeline, warp, Timeline::Activity::waiting),
                  delay * (emulator ? 0.5 : 0.9))
            << "warp " << warp;
        EXPECT_LT(length(timeline, warp, Timeline::Activity::waiting), delay * 1.5);
    }
}

TEST_P(StampedRipple, WithoutTheBarrierNoWarpWaits) {
    set(ripple(), {{"size", "16"}, {"delay", "20000"}, {"delayed", "0"}});
    render();
    render();
    const Timeline timeline = ripple().timeline().value();
    for (unsigned warp = 1; warp < 8; ++warp) {
        EXPECT_EQ(length(timeline, warp, Timeline::Activity::waiting), 0);
        double end = 0;
        for (const Timeline::Span& span : timeline.spans)
            if (span.warp == warp) end = std::max(end, span.end);
        if (GetParam() == "cuda") {
            EXPECT_LT(end, 20'000) << "warp " << warp << " ends before warp 0 writes";
        }
    }
}

TEST_P(StampedRipple, TimelinesAreOfTheBlockThatWasChosen) {
    const Timeline middle = ripple().timeline().value();
    EXPECT_EQ(middle.title.english().find("block (8, 8), SM "), 0u) << middle.title.english();
    EXPECT_NE(middle.title.english().find(device().info().name), std::string::npos);
    EXPECT_EQ(middle.unit, GetParam() != "cuda" ? "instructions" : "clocks");
    set(ripple(), {{"timed_block", "33"}});
    const Timeline chosen = ripple().timeline().value();
    EXPECT_EQ(chosen.title.english().find("block (1, 2), "), 0u) << chosen.title.english();
    if (GetParam() != "cuda") {
        EXPECT_NE(chosen.title.english().find("SM 4, "), std::string::npos)
            << "33 mod 29 virtual SMs";
    }
    set(ripple(), {{"size", "40"}});
    EXPECT_EQ(ripple().timeline().value().title.english().find("block (2, 2), "), 0u)
        << "the last one";
}

TEST_P(StampedRipple, SpansOfAWarpFollowEachOther) {
    set(ripple(), {{"sync", "on"}, {"delay", "300"}, {"delayed", "odd"}});
    for (const char* before : {"write", "read"}) {
        set(ripple(), {{"delay_before", before}});
        const Timeline timeline = ripple().timeline().value();
        double last = 0;
        for (unsigned warp = 0; warp < 8; ++warp) {
            std::optional<double> end;
            for (const Timeline::Span& span : timeline.spans) {
                if (span.warp != warp) continue;
                EXPECT_LE(span.begin, span.end);
                EXPECT_GE(span.begin, 0);
                EXPECT_EQ(span.begin, end.value_or(span.begin));
                end = span.end;
                EXPECT_EQ(span.line.empty(), span.activity != Timeline::Activity::waiting);
            }
            EXPECT_EQ(length(timeline, warp, Timeline::Activity::delayed) >= 300, warp % 2 == 1);
            last = std::max(last, end.value());
        }
        EXPECT_EQ(timeline.end, last);
    }
}

TEST_P(StampedRipple, OnlyTheStampedTileTakesTimes) {
    set(ripple(), {{"layout", "txty"}});
    EXPECT_FALSE(ripple().timeline());
}

// --- what is exact on the emulator

class RippleTurns : public testing::TestWithParam<compute::Schedule> {
  protected:
    static std::vector<Timeline> timelines(std::initializer_list<Assignment> settings) {
        const auto device = compute::pick_device("emulator");
        compute::RunSettings run;
        run.schedule = GetParam();
        device->set(run);
        Ripple ripple(*device);
        set(ripple, {{"size", "64"}, {"layout", "stamped"}});
        set(ripple, settings);
        std::vector<Timeline> all;
        for (int block = 0; block < 16; ++block) {
            set(ripple, {{"timed_block", std::to_string(block)}});
            all.push_back(ripple.timeline().value());
        }
        return all;
    }
};

TEST_P(RippleTurns, TheBarrierEndsWithItsLastArrival) {
    for (const Timeline& timeline : timelines({{"delay", "5000"}, {"delayed", "0"}})) {
        double last_arrival = 0, first_departure = 1e9;
        for (const Timeline::Span& span : timeline.spans) {
            if (span.activity != Timeline::Activity::waiting) continue;
            last_arrival = std::max(last_arrival, span.begin);
            first_departure = std::min(first_departure, span.end);
        }
        EXPECT_GT(first_departure, last_arrival);
        // Between the two: that clock's read, the barrier, and the turns of warps that go on first.
        EXPECT_LT(first_departure, last_arrival + 10);
        EXPECT_GE(last_arrival, 5000);
    }
}

// Reverse: warps 7 to 1 stand at the barrier before warp 0 begins; run-to-barrier: 0 to 6.
TEST(RippleTimeline, WarpsThatCameFirstWaitThroughTheWholeDelay) {
    for (const bool reverse : {false, true}) {
        const auto device = compute::pick_device("emulator");
        compute::RunSettings run;
        run.schedule = reverse ? compute::Schedule::reverse : compute::Schedule::run_to_barrier;
        device->set(run);
        Ripple ripple(*device);
        set(ripple, {{"size", "64"},
                     {"layout", "stamped"},
                     {"delayed", reverse ? "0" : "1-7"},
                     {"delay", "1000"}});
        const Timeline timeline = ripple.timeline().value();
        if (reverse) {
            const double last = length(timeline, 0, Timeline::Activity::delayed);
            EXPECT_GE(last, 1000);
            EXPECT_LT(last, 1020)
                << "a pass of the loop, the branch round it, and two reads of the clock";
            for (unsigned warp = 1; warp < 8; ++warp) {
                EXPECT_GE(length(timeline, warp, Timeline::Activity::waiting), 1000) << warp;
                EXPECT_LT(length(timeline, warp, Timeline::Activity::waiting), 2500) << warp;
            }
        } else {
            // Each begins when the one before has come to the barrier: seven delays, one by one.
            EXPECT_GE(length(timeline, 0, Timeline::Activity::waiting), 7000);
            EXPECT_LT(length(timeline, 0, Timeline::Activity::waiting), 8500);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Schedules, RippleTurns,
                         testing::Values(compute::Schedule::random,
                                         compute::Schedule::run_to_barrier,
                                         compute::Schedule::reverse));

}  // namespace
}  // namespace warpscope::experiments
