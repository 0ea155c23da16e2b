#include "experiments/launch/gallery.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>

#include "compute/device/kernel_files.h"
#include "compute/pick_device.h"
#include "emulator/program/module.h"
#include "experiments/gallery/gallery_reference.h"
#include "experiments/launch/launch.h"
#include "experiments/live.h"
#include "experiments/settings.h"
#include "support/devices.h"

namespace warpscope::experiments {
namespace {

using Picture = std::vector<Rgba>;
using Mouse = tests::GalleryFrame::Mouse;
using tests::gallery_reference;
using tests::Live;

std::uint32_t word(Rgba p) {
    return std::bit_cast<std::uint32_t>(p);
}

std::size_t differing(const Picture& a, const Picture& b) {
    EXPECT_EQ(a.size(), b.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) count += word(a[i]) != word(b[i]);
    return count;
}

/// A kernel of the gallery on a device.
class Page {
  public:
    Page(compute::Device& device, const std::string& name, Size size, Mouse mouse = {20, 12, 0})
        : experiment_(tests::entry_of(name)->make(device)), size_(size) {
        tests::set(*experiment_, {{"width", std::to_string(size.width)},
                                  {"height", std::to_string(size.height)}});
        experiment_->point({mouse.x, mouse.y, mouse.z > 0});
    }
    Experiment& operator*() { return *experiment_; }
    Picture draw() {
        const compute::Buffer<Rgba> pixels(experiment_->device(),
                                           std::size_t(size_.width * size_.height));
        experiment_->render_into({pixels.pointer(), size_});
        return pixels.download();
    }
    Picture draw(int frame) {
        while (experiment_->frame() < std::uint64_t(frame)) experiment_->step();
        return draw();
    }

  private:
    std::unique_ptr<Experiment> experiment_;
    Size size_;
};

const std::vector<std::string> exact{
    "transpose",     "transpose_padded", "blur",           "shuffle",   "double_buffer",
    "pipeline_blur", "hand_over",        "matrix_product", "histogram", "life"};

class Gallery : public tests::OnDevices {};
WARPSCOPE_ON_DEVICES(Gallery);

TEST_P(Gallery, DrawsTheReferenceToThePixel) {
    for (const compute::Math math : {compute::Math::precise, compute::Math::fast}) {
        device().set({.math = math});
        for (const Size size : {Size{16, 16}, Size{17, 33}, Size{131, 70}, Size{300, 20}})
            for (const Mouse mouse : {Mouse{60, 21, 1}, Mouse{-70.5f, 1e4f, 0}})
                for (const std::string& name : exact) {
                    Page page(device(), name, size, mouse);
                    Picture before(std::size_t(size.width * size.height), Rgba{});
                    for (std::uint64_t frame = 0; frame < 3; ++frame) {
                        const Picture picture = page.draw(int(frame));
                        EXPECT_EQ(differing(picture,
                                            gallery_reference(name, {size, frame, mouse, before})),
                                  0u)
                            << name << ' ' << size.width << 'x' << size.height << " frame "
                            << frame;
                        before = picture;
                    }
                }
    }
}

TEST_P(Gallery, TheDoubleBufferIsWhole) {
    Page page(device(), "double_buffer", {64, 48});
    page.draw(121);
    const Reading wrong = tests::reading((*page).report(), "expect_0");
    EXPECT_EQ(wrong.value, 0);
    EXPECT_EQ(wrong.verdict, Verdict::pass);
}

TEST_P(Gallery, TheSingleBufferIsTorn) {
    Page page(device(), "single_buffer", {160, 160});
    page.draw(2);
    const Reading wrong = tests::reading((*page).report(), "expect_0");
    // On a GPU the warps may by chance run in an order that gives the right picture.
    if (device().info().kind == compute::DeviceKind::emulator) {
        EXPECT_GT(wrong.value, 0);
    }
    EXPECT_EQ(wrong.verdict, wrong.value > 0 ? Verdict::fail : Verdict::pass);
}

TEST(GalleryPicture, cuda_EqualsTheEmulatorsIfItIsExact) {
    if (compute::device_choices().size() <= 2) GTEST_SKIP() << "no GPU";
    const auto gpu = compute::pick_device("cuda"), emulator = compute::pick_device("emulator");
    for (const std::string& name : exact) {
        Page there(*gpu, name, {230, 140}), here(*emulator, name, {230, 140});
        for (const int frame : {0, 1, 60, 200})
            EXPECT_EQ(differing(there.draw(frame), here.draw(frame)), 0u)
                << name << " frame " << frame;
    }
}

/// On the emulator, with facts that need no reference.
class GalleryFacts : public testing::Test {
  protected:
    Page page(const std::string& name, Size size, Mouse mouse = {20, 12, 0}) {
        return Page(*device_, name, size, mouse);
    }

  private:
    std::unique_ptr<compute::Device> device_ = compute::pick_device("emulator");
};

TEST_F(GalleryFacts, TheTransposedPictureIsSymmetric) {
    constexpr int side = 96;
    const Picture picture = page("transpose", {side, side}).draw(7);
    for (int y = 0; y < side; ++y)
        for (int x = 0; x < y; ++x)
            ASSERT_EQ(word(picture[std::size_t(y * side + x)]),
                      word(picture[std::size_t(x * side + y)]));
    std::set<std::uint32_t> colours;
    for (const Rgba p : picture) colours.insert(word(p));
    EXPECT_GT(colours.size(), 100u);
}

TEST_F(GalleryFacts, TheLastStripHasTheNumbersOfTheFirstInOrder) {
    const Size size{256, 256};
    const Picture picture = page("shuffle", size).draw();
    const auto strip = [&](int block_row) {
        std::vector<int> numbers;
        for (int i = 0; i < 32; ++i)
            numbers.push_back(picture[std::size_t(block_row * 16 * 256 + i * 8)].r);
        return numbers;
    };
    std::vector<int> first = strip(0);
    const std::vector<int> last = strip(15);
    EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
    EXPECT_TRUE(std::is_sorted(last.begin(), last.end()));
    std::sort(first.begin(), first.end());
    EXPECT_EQ(first, last);
}

// 128 rows: a bar is as many pixels high as its bin has samples, of 32 x 32 in all, and at most
// 128.
TEST_F(GalleryFacts, TheBarsCountEverySampleOnce) {
    const Size size{256, 128};
    const Picture picture = page("histogram", size, {400, 64, 0}).draw(5);
    int samples = 0;
    for (int bin = 0; bin < 64; ++bin)
        for (int y = 0; y < 128; ++y) samples += picture[std::size_t(y * 256 + bin * 4)].r == 255;
    EXPECT_EQ(samples, 32 * 32);
}

TEST_F(GalleryFacts, ABlinkerOfLifeHasPeriodTwo) {
    constexpr int side = 20;
    Page life = page("life", {side, side});
    Snapshot snapshot = (*life).snapshot();
    launches::Array before(launches::parse_element_type("unsigned"), {side, side});
    const auto at = [](int x, int y) { return std::size_t(y * side + x); };
    for (std::size_t i = 0; i < side * side; ++i) before.set(i, std::int64_t(0xff000000));
    // Across the edge: it is a torus.
    for (const int x : {19, 0, 1}) before.set(at(x, 5), std::int64_t(0xffffffff));
    snapshot.state = LaunchBuffers::Kept{{"before", before}};
    (*life).resume(snapshot);
    const auto cells = [](const Picture& picture) {
        std::set<std::size_t> alive;
        for (std::size_t i = 0; i < picture.size(); ++i)
            if (picture[i].g == 255) alive.insert(i);
        return alive;
    };
    const std::set<std::size_t> upright{at(0, 4), at(0, 5), at(0, 6)};
    const std::set<std::size_t> lying{at(19, 5), at(0, 5), at(1, 5)};
    EXPECT_EQ(cells(life.draw(0)), upright);
    EXPECT_EQ(cells(life.draw(1)), lying);
    EXPECT_EQ(cells(life.draw(2)), upright);
}

TEST_F(GalleryFacts, EveryBarrierOfThePtxIsAtABarrierOfTheSource) {
    for (const GalleryKernel& shown : gallery()) {
        const std::string file = "gallery/" + std::string(shown.name);
        const auto module =
            emulator::Module::parse(compute::kernel_ptx(file, compute::Math::precise), "");
        const emulator::Kernel* kernel =
            module->find(gallery_file(shown.name).launches.back().kernel);
        ASSERT_NE(kernel, nullptr) << file;
        std::istringstream source{std::string(compute::kernel_source("kernels/" + file + ".cu"))};
        std::vector<std::string> lines;
        for (std::string line; std::getline(source, line);) lines.push_back(line);
        for (const emulator::InstructionInfo& info : kernel->lines)
            if (info.barrier) {
                EXPECT_EQ(module->files().at(std::size_t(info.source.file)),
                          "kernels/" + file + ".cu");
                const std::string& line = lines.at(std::size_t(info.source.line) - 1);
                EXPECT_TRUE(line.find("__syncthreads();") != line.npos ||
                            line.find("cuda::make_pipeline(") != line.npos)
                    << file << ": " << line;
            }
    }
}

TEST(GalleryState, TheMouseLeavesATraceOnlyWhereAFrameReadsTheOneBefore) {
    Live life("life", {{"width", "64"}, {"height", "64"}});
    life.experiment().point({12, 12, true});
    EXPECT_TRUE(life.experiment().changed_since_reset());
    Live blur("blur", {{"width", "64"}, {"height", "64"}});
    blur.experiment().point({12, 12, true});
    EXPECT_FALSE(blur.experiment().changed_since_reset());
}

TEST(GalleryState, AStateOfAnotherSizeIsNotLoaded) {
    Live from("life", {{"width", "64"}, {"height", "32"}});
    Live to("life", {{"width", "48"}, {"height", "32"}});
    Snapshot snapshot = to.experiment().snapshot();
    snapshot.state = from.experiment().snapshot().state;
    to.experiment().reset();
    const Picture reset = to.picture();
    snapshot.frame = 0;
    to.experiment().resume(snapshot);
    EXPECT_EQ(differing(to.picture(), reset), 0U);
}

TEST(GalleryState, RereadingAPausedFrameDrawsItAgain) {
    Live live("life", {{"width", "64"}, {"height", "64"}});
    const Picture once = live.picture();
    live.experiment().point({30, 30, true});
    EXPECT_GT(differing(live.picture(), once), 0U);
    live.experiment().point({384, 256, false});
    EXPECT_EQ(differing(live.picture(), once), 0U);
}

TEST(GalleryFiles, AreTheLaunchFilesOfTheirKernels) {
    for (const GalleryKernel& kernel : gallery()) {
        SCOPED_TRACE(kernel.name);
        const launches::LaunchFile file = gallery_file(kernel.name);
        EXPECT_EQ(file.source, std::string(kernel.name) + ".cu");
        EXPECT_EQ(source_key(file), "gallery/" + std::string(kernel.name));
        EXPECT_FALSE(read_launch_source(file).empty());
        EXPECT_EQ(to_json_text(find_launch_file(kernel.name)),
                  std::string(compute::kernel_source("kernels/gallery/" + std::string(kernel.name) +
                                                     ".launch.json")))
            << "the app would save it like this";
    }
    EXPECT_THROW(gallery_file("lif"), launches::LaunchError);
}

}  // namespace
}  // namespace warpscope::experiments
