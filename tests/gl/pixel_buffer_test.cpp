#include "gl/pixel_buffer.h"

#include <glad/gl.h>
#include <gtest/gtest.h>

#include "compute/pick_device.h"
#include "gl/context.h"
#include "gl/error.h"
#include "gl/texture.h"
#include "host_device.h"
#include "pixels.h"

namespace warpscope::gl {
namespace {

using compute::DeviceKind;

/// The last one has more than 8 MiB, so that software OpenGL gets it in bands.
const std::vector<std::pair<int, int>> sizes{{1, 1},     {17, 3},      {3, 17},
                                             {640, 401}, {1024, 1024}, {1999, 1201}};

/// Writes numbered pixels as a kernel does and expects them in the texture.
void expect_round_trip(compute::Device& device, PixelBuffer& pixels) {
    const auto expected = numbered_pixels(pixels.width(), pixels.height());
    pixels.write(
        [&](std::uint64_t address) { device.upload(address, expected.data(), expected.size()); });
    EXPECT_TRUE(pixels.read_pixels() == expected) << pixels.width() << "x" << pixels.height();
}

class PixelBufferTest : public testing::TestWithParam<DeviceKind> {
  protected:
    OffscreenContext context_;
    HostDevice device_{GetParam()};
};

// OpenGL can't share memory with a CUDA device that does not exist, so the path is staged.
INSTANTIATE_TEST_SUITE_P(Kinds, PixelBufferTest,
                         testing::Values(DeviceKind::emulator, DeviceKind::cuda),
                         [](const auto& info) {
                             return info.param == DeviceKind::cuda ? "staged" : "mapped";
                         });

TEST_P(PixelBufferTest, EveryPixelReachesTheTextureTopRowFirst) {
    for (const auto& [width, height] : sizes) {
        PixelBuffer pixels(device_, width, height);
        ASSERT_NE(pixels.path(), PixelBuffer::Path::interop);
        expect_round_trip(device_, pixels);
    }
}

TEST_P(PixelBufferTest, TheNextFrameReplacesTheLastFrame) {
    PixelBuffer pixels(device_, 33, 9);
    expect_round_trip(device_, pixels);
    pixels.write([&](std::uint64_t address) { device_.fill(address, 0x5a, pixels.bytes()); });
    EXPECT_EQ(pixels.read_pixels(), std::vector<std::uint8_t>(33 * 9 * 4, 0x5a));
}

TEST_P(PixelBufferTest, AFailedFrameKeepsTheLastPictureAndTheBufferUsable) {
    PixelBuffer pixels(device_, 8, 8);
    expect_round_trip(device_, pixels);
    EXPECT_THROW(pixels.write([](std::uint64_t) { throw compute::DeviceError("a bad kernel"); }),
                 compute::DeviceError);
    EXPECT_TRUE(device_.attached.empty());
    EXPECT_EQ(pixels.read_pixels(), numbered_pixels(8, 8));

    EXPECT_THROW(pixels.write([&](std::uint64_t) { device_.fails = true; }), compute::DeviceError);
    EXPECT_TRUE(device_.attached.empty());
    EXPECT_EQ(pixels.read_pixels(), numbered_pixels(8, 8));
    device_.fails = false;
    expect_round_trip(device_, pixels);
    EXPECT_EQ(glGetError(), GLenum(GL_NO_ERROR));
}

TEST_P(PixelBufferTest, MapDropsAFrameThatWasNotUnmapped) {
    PixelBuffer pixels(device_, 5, 5);
    pixels.map();
    expect_round_trip(device_, pixels);
    EXPECT_EQ(glGetError(), GLenum(GL_NO_ERROR));
}

TEST_P(PixelBufferTest, TheDestructorReleasesEverything) {
    { PixelBuffer{device_, 16, 16}.map(); }
    EXPECT_TRUE(device_.attached.empty());
    EXPECT_TRUE(device_.allocated.empty());
    EXPECT_EQ(glGetError(), GLenum(GL_NO_ERROR));
}

TEST_P(PixelBufferTest, RefusesInvalidSizes) {
    EXPECT_THROW(PixelBuffer(device_, 0, 4), Error);
    EXPECT_THROW(PixelBuffer(device_, 4, -1), Error);
    EXPECT_THROW(PixelBuffer(device_, 1 << 20, 4), Error);
    EXPECT_EQ(glGetError(), GLenum(GL_NO_ERROR));
}

TEST(PixelBufferPaths, HaveAReasonThatIsASentence) {
    OffscreenContext context;
    if (!gl_info().software) GTEST_SKIP() << "OpenGL runs on a GPU here";
    HostDevice emulator(DeviceKind::emulator);
    HostDevice gpu(DeviceKind::cuda);
    PixelBuffer mapped(emulator, 4, 4);
    PixelBuffer staged(gpu, 4, 4);
    EXPECT_EQ(to_string(mapped.path()), "mapped");
    EXPECT_EQ(to_string(staged.path()), "staged");
    EXPECT_EQ(staged.reason().find("OpenGL runs on llvmpipe"), 0U) << staged.reason();
    EXPECT_NE(staged.reason().find("copied through the host."), std::string::npos);
    EXPECT_NE(mapped.reason(), staged.reason());
    EXPECT_EQ(gpu.allocated.size(), 1U);
    EXPECT_EQ(emulator.allocated.size(), 0U);
}

TEST(PixelBufferPaths, ADeviceInAHelperProcessUsesTheStagedPath) {
    OffscreenContext context;
    for (const DeviceKind kind : {DeviceKind::cuda, DeviceKind::emulator}) {
        HostDevice in_helper(kind, true);
        PixelBuffer pixels(in_helper, 7, 5);
        EXPECT_EQ(pixels.path(), PixelBuffer::Path::staged);
        EXPECT_EQ(pixels.reason().find("Edits run in a helper process"), 0U);
        expect_round_trip(in_helper, pixels);
        EXPECT_TRUE(in_helper.attached.empty());
    }
}

TEST(PixelBufferOnTheEmulator, EveryPixelReachesTheTextureTopRowFirst) {
    const auto device = compute::pick_device("emulator");
    OffscreenContext context;
    for (const auto& [width, height] : sizes) {
        PixelBuffer pixels(*device, width, height);
        ASSERT_EQ(pixels.path(), PixelBuffer::Path::mapped);
        expect_round_trip(*device, pixels);
    }
}

/// A CUDA device and an OpenGL context on one GPU; skipped if there is none.
class GpuInterop : public testing::Test {
  protected:
    void SetUp() override {
        try {
            device_ = compute::pick_device("cuda");
        } catch (const compute::DeviceError& error) {
            GTEST_SKIP() << error.what();
        }
        context_ = std::make_unique<OffscreenContext>(device_->info().ordinal);
        const std::string wanted = "CUDA device " + std::to_string(device_->info().ordinal);
        if (context_->where().find(wanted) == std::string::npos) {
            GTEST_SKIP() << "no EGL for " << wanted << ": OpenGL runs on " << context_->where();
        }
    }

    std::unique_ptr<compute::Device> device_;
    std::unique_ptr<OffscreenContext> context_;
};

TEST_F(GpuInterop, CudaWritesTheBufferThatOpenGLDraws) {
    EXPECT_FALSE(gl_info().software);
    for (const auto& [width, height] : sizes) {
        PixelBuffer pixels(*device_, width, height);
        ASSERT_EQ(pixels.path(), PixelBuffer::Path::interop) << pixels.reason();
        expect_round_trip(*device_, pixels);
    }
}

TEST_F(GpuInterop, EveryFrameArrives) {
    PixelBuffer pixels(*device_, 256, 256);
    for (int frame = 0; frame < 50; ++frame) {
        pixels.write([&](std::uint64_t address) {
            device_->fill(address, std::uint8_t(frame), pixels.bytes());
        });
        const auto read = pixels.read_pixels();
        ASSERT_EQ(std::count(read.begin(), read.end(), std::uint8_t(frame)), 256 * 256 * 4);
    }
}

TEST_F(GpuInterop, AFailedFrameLeavesTheBufferUsable) {
    PixelBuffer pixels(*device_, 64, 64);
    EXPECT_THROW(pixels.write([](std::uint64_t) { throw compute::DeviceError("a bad kernel"); }),
                 compute::DeviceError);
    expect_round_trip(*device_, pixels);
}

}  // namespace
}  // namespace warpscope::gl
