#include "experiments/framework/experiment.h"

#include <gtest/gtest.h>

#include "experiments/live.h"
#include "experiments/settings.h"

namespace warpscope::experiments {
namespace {

using tests::reading;
using tests::set;

/// An experiment on an emulator. These files of kernels/ are edited: they have no barriers.
class WithoutBarriers {
  public:
    WithoutBarriers(const std::string& id, const std::vector<std::string>& files)
        : device_(compute::make_emulated_device("")) {
        compute::KernelEdits edits;
        for (const std::string& file : files) {
            compute::KernelEdit edit;
            edit.file = file;
            edit.source = "// no barrier here";
            edit.ptx = tests::ptx_without(file, "bar.sync");
            edits[file] = std::make_shared<const compute::KernelEdit>(std::move(edit));
        }
        device_->set_edits(std::move(edits));
        experiment_ = find_experiment(id).make(*device_);
    }
    Experiment& operator*() { return *experiment_; }
    Experiment* operator->() { return experiment_.get(); }

  private:
    std::unique_ptr<compute::EmulatedDevice> device_;
    std::unique_ptr<Experiment> experiment_;
};

const std::vector<std::string> ripple_files{"ripple", "ripple_layouts", "ripple_stamped"};

TEST(EditedRipple, PixelsUnlikeTheBuiltInKernelsAreAFinding) {
    WithoutBarriers ripple("ripple", ripple_files);
    for (const char* layout : {"txty", "tytx", "padded", "stamped"}) {
        set(*ripple, {{"size", "256"}, {"layout", layout}, {"sync", "on"}});
        const Report report = ripple->report();
        const Reading& wrong = reading(report, "wrong_pixels");
        EXPECT_GT(wrong.value, 10) << layout;
        EXPECT_EQ(wrong.verdict, Verdict::finding);
        EXPECT_EQ(wrong.label, "Pixels unlike built-in");
        EXPECT_FALSE(has_failure(report));
    }
    const Reading stale = reading(ripple->report(), "stale_reads");
    EXPECT_GT(stale.value, 10) << "the edited kernel counts its own stale reads";
    EXPECT_EQ(stale.verdict, Verdict::finding);
}

TEST(EditedRipple, RacyPictureDoesNotDependOnEarlierPictures) {
    const auto third = [](int drawn_before) {
        WithoutBarriers ripple("ripple", ripple_files);
        set(*ripple, {{"size", "128"}, {"pattern", "ripple"}});
        for (int frame = 0; frame < 3; ++frame) {
            if (frame < drawn_before) tests::Live::picture_of(*ripple);
            ripple->step();
        }
        return tests::Live::picture_of(*ripple);
    };
    const std::vector<Rgba> once = third(0), again = third(3);
    EXPECT_EQ(std::memcmp(once.data(), again.data(), once.size() * sizeof(Rgba)), 0);
}

TEST(EditedRipple, SplitViewShowsTheEditInBothHalves) {
    WithoutBarriers ripple("ripple", ripple_files);
    const auto torn = [](const std::vector<Rgba>& a, const std::vector<Rgba>& b, bool left) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < a.size(); ++i)
            count += (i % 128 < 64) == left && std::memcmp(&a[i], &b[i], sizeof(Rgba)) != 0;
        return count;
    };
    tests::Live shipped("ripple", {{"size", "128"}});
    const std::vector<Rgba> right = shipped.picture();
    for (const char* sync : {"on", "off"}) {
        set(*ripple, {{"size", "128"}, {"sync", sync}, {"view", "split"}});
        const std::vector<Rgba> split = tests::Live::picture_of(*ripple);
        EXPECT_GT(torn(split, right, true), 0u) << sync;
        EXPECT_GT(torn(split, right, false), 0u)
            << "the edit has no barrier in its other kernel either";
    }
}

TEST(EditedRipple, ALayoutWhoseFileIsNotEditedStillHasAVerdict) {
    WithoutBarriers ripple("ripple", {"ripple_layouts"});
    for (const auto& [layout, verdict] : {std::pair{"txty", Verdict::pass},
                                          {"padded", Verdict::finding},
                                          {"stamped", Verdict::pass}}) {
        set(*ripple, {{"size", "128"}, {"layout", layout}});
        EXPECT_EQ(reading(ripple->report(), "wrong_pixels").verdict, verdict) << layout;
    }
}

TEST(EditedRipple, ComparisonOfLayoutsHasNoVerdicts) {
    WithoutBarriers ripple("ripple", ripple_files);
    set(*ripple, {{"size", "128"}});
    const Comparison comparison = ripple->compare().value();
    ASSERT_EQ(comparison.rows.size(), 7u);
    for (const Comparison::Row& row : comparison.rows) {
        if (row.id == "cluster") {  // its file is not edited
            EXPECT_EQ(row.verdict, Verdict::pass);
            continue;
        }
        EXPECT_GT(row.error, 0) << row.id;
        EXPECT_EQ(row.verdict, Verdict::none) << row.id;
    }
}

TEST(EditedRipple, TimesOfTheEditAndOfTheBuiltInKernelAreSeparate) {
    WithoutBarriers ripple("ripple", ripple_files);
    set(*ripple, {{"size", "64"}});
    tests::Live::picture_of(*ripple);
    const compute::KernelTiming* own = ripple->device().timings().find("ripple_txty");
    ASSERT_NE(own, nullptr);
    EXPECT_EQ(own->launches, 1u);
    EXPECT_NE(ripple->device().timings().find("built-in ripple_txty"), nullptr);
}

TEST(EditedSum, AWrongSumIsAFinding) {
    for (const auto& [id, file] : {std::pair{"dot", "dot"}, std::pair{"reduction", "reduce"}}) {
        WithoutBarriers sum(id, {file});
        const Reading error = reading(sum->report(), "relative_error");
        EXPECT_GT(error.value, 1e-5) << id;
        EXPECT_EQ(error.verdict, Verdict::finding) << id;
        ASSERT_NE(sum->tree(), nullptr);
        EXPECT_EQ(sum->tree()->rows.size(), 9U) << id << ": the stores and 8 passes of 256 threads";
    }
}

}  // namespace
}  // namespace warpscope::experiments
