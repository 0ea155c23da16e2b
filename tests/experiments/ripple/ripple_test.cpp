#include "experiments/ripple/ripple.h"

#include <gtest/gtest.h>

#include "compute/pick_device.h"
#include "experiments/settings.h"
#include "support/devices.h"

namespace warpscope::experiments {
namespace {

using tests::reading;
using tests::set;

constexpr std::size_t side = 512;

bool same(Rgba a, Rgba b) {
    return a.r == b.r && a.g == b.g && a.b == b.b && a.a == b.a;
}

std::vector<Rgba> render(Experiment& experiment) {
    const Size size = experiment.picture_size({640, 480});
    compute::Buffer<Rgba> pixels(experiment.device(), std::size_t(size.width) * size.height);
    experiment.render_into({pixels.pointer(), size});
    return pixels.download();
}

std::size_t differing(const std::vector<Rgba>& a, const std::vector<Rgba>& b) {
    EXPECT_EQ(a.size(), b.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) count += !same(a[i], b[i]);
    return count;
}

double percent(std::size_t count) {
    return 100.0 * double(count) / double(side * side);
}

class RippleExperiment : public tests::OnDevices {
  protected:
    Ripple& ripple() {
        if (!ripple_) {
            ripple_.emplace(device());
            set(*ripple_, {{"size", std::to_string(side)}});
        }
        return *ripple_;
    }

  private:
    std::optional<Ripple> ripple_;
};
WARPSCOPE_ON_DEVICES(RippleExperiment);

const std::vector<std::string> all_layouts{"txty",  "tytx",    "padded17", "padded",
                                           "bytes", "stamped", "cluster"};

TEST_P(RippleExperiment, WithTheBarrierNoPixelIsWrong) {
    for (const std::string& layout : all_layouts) {
        set(ripple(), {{"layout", layout}});
        render(ripple());
        const Report report = ripple().report();
        EXPECT_EQ(reading(report, "wrong_pixels").value, 0) << layout;
        EXPECT_EQ(reading(report, "wrong_pixels").verdict, Verdict::pass);
        EXPECT_EQ(reading(report, "wrong_pixels").unit, "%");
        EXPECT_EQ(find(report, "stale_reads") != nullptr, layout == "stamped");
    }
}

TEST_P(RippleExperiment, WithoutTheBarrierAllWrongPixelsOfThePictureAreCounted) {
    const std::vector<Rgba> right = render(ripple());
    for (const std::string& layout : all_layouts) {
        set(ripple(), {{"sync", "off"}, {"layout", layout}});
        const std::size_t wrong = differing(render(ripple()), right);
        const Report report = ripple().report();
        EXPECT_GT(wrong, 0u) << layout;
        EXPECT_DOUBLE_EQ(reading(report, "wrong_pixels").value, percent(wrong)) << layout;
        EXPECT_EQ(reading(report, "wrong_pixels").verdict, Verdict::finding);
        EXPECT_FALSE(has_failure(report));
    }
    set(ripple(), {{"layout", "stamped"}});
    render(ripple());
    const Report report = ripple().report();
    EXPECT_GE(reading(report, "stale_reads").value, reading(report, "wrong_pixels").value);
}

TEST_P(RippleExperiment, ReportsBeforeAnythingWasRendered) {
    EXPECT_EQ(reading(ripple().report(), "wrong_pixels").value, 0);
    set(ripple(), {{"sync", "off"}});
    const Report report = ripple().report();
    EXPECT_GT(reading(report, "wrong_pixels").value, 0);
    EXPECT_EQ(reading(report, "wrong_pixels_min").value, reading(report, "wrong_pixels_max").value);
}

TEST_P(RippleExperiment, TheWindowHoldsTheNewestLaunches) {
    set(ripple(), {{"sync", "off"}, {"window", "3"}});
    std::vector<double> shares;
    for (int frame = 0; frame < 5; ++frame) {
        ripple().step();
        render(ripple());
        shares.push_back(reading(ripple().report(), "wrong_pixels").value);
    }
    const Report report = ripple().report();
    std::sort(shares.begin() + 2, shares.end());
    EXPECT_EQ(reading(report, "wrong_pixels_min").value, shares[2]);
    EXPECT_EQ(reading(report, "wrong_pixels_median").value, shares[3]);
    EXPECT_EQ(reading(report, "wrong_pixels_max").value, shares[4]);
    set(ripple(), {{"sync", "on"}});
    EXPECT_EQ(reading(ripple().report(), "wrong_pixels_max").value, 0) << "old counts are dropped";
}

TEST_P(RippleExperiment, TheOverlayPaintsTheWrongPixelsAndNoOthers) {
    set(ripple(), {{"sync", "off"}, {"view", "wrong"}});
    std::size_t magenta = 0;
    for (const Rgba pixel : render(ripple())) magenta += same(pixel, {255, 0, 255, 255});
    EXPECT_GT(magenta, 0u);
    EXPECT_DOUBLE_EQ(reading(ripple().report(), "wrong_pixels").value, percent(magenta));
}

TEST_P(RippleExperiment, TheSplitShowsBothHalvesWhateverTheToggleSays) {
    const std::vector<Rgba> right = render(ripple());
    for (const char* sync : {"on", "off"}) {
        set(ripple(), {{"sync", sync}, {"view", "split"}});
        const std::vector<Rgba> split = render(ripple());
        std::size_t wrong_left = 0, wrong_right = 0;
        for (std::size_t i = 0; i < split.size(); ++i)
            (i % side < side / 2 ? wrong_left : wrong_right) += !same(split[i], right[i]);
        EXPECT_GT(wrong_left, 0u) << sync;
        EXPECT_EQ(wrong_right, 0u) << sync;
        // The verdict is that of the half without the barrier, over its whole picture.
        const Reading judged = reading(ripple().report(), "wrong_pixels");
        EXPECT_GT(judged.value, 0) << sync;
        EXPECT_EQ(judged.verdict, Verdict::finding) << sync;
        EXPECT_EQ(judged.label, "Wrong pixels without the barrier");
    }
}

TEST_P(RippleExperiment, RingsMoveWithTheirSpeedAndSpheresStand) {
    const std::vector<Rgba> spheres = render(ripple());
    ripple().step();
    EXPECT_EQ(differing(render(ripple()), spheres), 0u);
    set(ripple(), {{"pattern", "ripple"}});
    const std::vector<Rgba> rings = render(ripple());
    ripple().step();
    EXPECT_GT(differing(render(ripple()), rings), side * side / 10);
    EXPECT_FALSE(ripple().changed_since_reset());
    set(ripple(), {{"speed", "0"}});
    EXPECT_TRUE(ripple().changed_since_reset());
    const std::vector<Rgba> standing = render(ripple());
    ripple().step();
    EXPECT_EQ(differing(render(ripple()), standing), 0u);
}

TEST_P(RippleExperiment, AnySizeInRangeWorksAndOthersAreRefused) {
    for (const int size : {16, 17, 31, 100}) {
        set(ripple(), {{"size", std::to_string(size)}});
        EXPECT_EQ(render(ripple()).size(), std::size_t(size * size));
        EXPECT_EQ(reading(ripple().report(), "wrong_pixels").value, 0);
    }
    EXPECT_THROW(set(ripple(), {{"sync", "off"}, {"size", "8"}}), ParameterError);
    EXPECT_THROW(set(ripple(), {{"size", "4097"}}), ParameterError);
    EXPECT_EQ(ripple().parameters().find("sync").text(), "on");
    EXPECT_EQ(render(ripple()).size(), 10000u);
}

TEST_P(RippleExperiment, ComparesTheLayouts) {
    const Comparison comparison = ripple().compare().value();
    ASSERT_EQ(comparison.rows.size(), all_layouts.size());
    for (const Comparison::Row& row : comparison.rows) {
        EXPECT_EQ(row.error, 0) << row.id;
        EXPECT_EQ(row.verdict, Verdict::pass) << row.id;
        EXPECT_GT(row.median_ms, 0) << row.id;
        EXPECT_NO_THROW(set(ripple(), {{"layout", row.id}}));
    }
    EXPECT_EQ(reading(ripple().report(), "wrong_pixels").value, 0);
}

// On the emulator, seed, frame and parameters determine the picture.
class RacyPicture : public testing::Test {
  protected:
    static std::vector<Rgba> of(std::uint64_t seed, int frame, bool render_all) {
        const auto device = compute::pick_device("emulator");
        compute::RunSettings settings;
        settings.seed = seed;
        device->set(settings);
        Ripple ripple(*device);
        set(ripple, {{"size", "256"}, {"pattern", "ripple"}, {"sync", "off"}});
        for (int i = 0; i < frame; ++i) {
            if (render_all) render(ripple);
            ripple.step();
        }
        return render(ripple);
    }
};

TEST_F(RacyPicture, EqualSeedAndFrameGiveEqualPictures) {
    const std::vector<Rgba> picture = of(7, 3, false);
    EXPECT_EQ(differing(of(7, 3, false), picture), 0u);
    EXPECT_EQ(differing(of(7, 3, true), picture), 0u);
    EXPECT_GT(differing(of(8, 3, false), picture), 0u);
}

TEST(RippleSentence, NamesTheBarriersLine) {
    const auto device = compute::pick_device("emulator");
    Ripple ripple(*device);
    for (const auto& [layout, file] : {std::pair<std::string, std::string>{"txty", "ripple.cu"},
                                       {"padded", "ripple_layouts.cu"},
                                       {"stamped", "ripple_stamped.cu"},
                                       {"cluster", "ripple_cluster.cu"}}) {
        set(ripple, {{"size", "64"}, {"sync", "off"}, {"layout", layout}});
        EXPECT_EQ(ripple.kernel_file() + ".cu", file);
        const std::string sentence = reading(ripple.report(), "wrong_pixels").sentence;
        const std::size_t place = sentence.find(" " + file + ":");
        ASSERT_NE(place, std::string::npos) << sentence;
        const int line = std::stoi(sentence.substr(place + file.size() + 2));
        const char* barrier =
            layout == "cluster" ? "if (barrier) cluster_sync();" : "__syncthreads();";
        EXPECT_NE(tests::source_line(file, line).find(barrier), std::string::npos)
            << file << ':' << line;
    }
}

}  // namespace
}  // namespace warpscope::experiments
