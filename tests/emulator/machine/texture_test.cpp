#include <bit>
#include <cmath>
#include <string>

#include "emulator/launcher.h"
#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {
namespace {

using TexelNumbers = Texture::Numbers;

// Elements in memory that a texture describes.
template <typename T>
struct Image {
    Image(std::vector<T> values, std::uint32_t width, std::uint32_t height = 0)
        : elements(std::move(values)) {
        texture.memory = std::uint64_t(elements.data());
        texture.width = width;
        texture.height = height;
        texture.pitch = width * sizeof(T);
        texture.bytes = sizeof(T);
    }
    std::vector<T> elements;
    Texture texture;
};

Texture::Texel sample(const Texture& t, float x, float y, float z = 0) {
    return t.texel_of(t.reads_at(x, y, z));
}

Texture::Texel fetch(const Texture& t, std::int64_t x, std::int64_t y, std::int64_t z = 0) {
    return t.texel_of(t.reads_of_index(x, y, z));
}

float first(const Texture::Texel& texel) {
    return std::bit_cast<float>(texel[0]);
}

// 10, 20, 30, 40
Image<float> four() {
    return {{10, 20, 30, 40}, 4};
}

TEST(Textures, TheNearestElementIsThatOfTheWholePart) {
    const Image image = four();
    EXPECT_EQ(first(sample(image.texture, 0, 0)), 10);
    EXPECT_EQ(first(sample(image.texture, 1.99f, 0)), 20);
    EXPECT_EQ(first(sample(image.texture, 2.0f, 0)), 30);
    EXPECT_EQ(first(sample(image.texture, -3, 0)), 10);
    EXPECT_EQ(first(sample(image.texture, 99, 0)), 40);
}

TEST(Textures, NormalizedCoordinatesGoFrom0To1) {
    Image image = four();
    image.texture.normalized_coordinates = true;
    EXPECT_EQ(first(sample(image.texture, 0.24f, 0)), 10);
    EXPECT_EQ(first(sample(image.texture, 0.25f, 0)), 20);
    EXPECT_EQ(first(sample(image.texture, 1.0f, 0)), 40);
}

TEST(Textures, AddressModesContinueAnImage) {
    Image image = four();
    image.texture.normalized_coordinates = true;
    const auto at = [&](TextureAddress mode, float x) {
        image.texture.address[0] = mode;
        return first(sample(image.texture, x, 0));
    };
    // 1.3 * 4 = 5.2: element 5.
    EXPECT_EQ(at(TextureAddress::wrap, 1.3f), 20);
    EXPECT_EQ(at(TextureAddress::mirror, 1.3f), 30);
    EXPECT_EQ(at(TextureAddress::clamp, 1.3f), 40);
    EXPECT_EQ(at(TextureAddress::border, 1.3f), 0);
    // -0.1 * 4 = -0.4: element -1.
    EXPECT_EQ(at(TextureAddress::wrap, -0.1f), 40);
    EXPECT_EQ(at(TextureAddress::mirror, -0.1f), 10);
    EXPECT_EQ(at(TextureAddress::border, -0.1f), 0);
}

TEST(Textures, WrapWithoutNormalizedCoordinatesIsClamp) {
    Image image = four();
    image.texture.address[0] = TextureAddress::wrap;
    EXPECT_EQ(first(sample(image.texture, 5.2f, 0)), 40);
}

TEST(Textures, LinearFilteringInterpolatesBetweenCentres) {
    Image image = four();
    image.texture.linear = true;
    EXPECT_EQ(first(sample(image.texture, 0.5f, 0)), 10);  // a centre
    EXPECT_EQ(first(sample(image.texture, 1.0f, 0)), 15);  // half way
    EXPECT_EQ(first(sample(image.texture, 1.75f, 0)), 22.5f);
    EXPECT_EQ(first(sample(image.texture, 0, 0)), 10);  // clamped on the left
    image.texture.address[0] = TextureAddress::border;
    EXPECT_EQ(first(sample(image.texture, 0, 0)), 5);  // half of the border's 0
}

// A weight has 8 bits behind the point: 0.3 becomes 77 / 256, since 0.3 * 256 = 76.8.
TEST(Textures, WeightsHaveEightBits) {
    Image<float> image({0, 256}, 2);
    image.texture.linear = true;
    EXPECT_EQ(first(sample(image.texture, 0.8f, 0)), 77);
}

// 1 2
// 3 4
TEST(Textures, TwoDimensionsAreFilteredInBoth) {
    Image<float> image({1, 2, 3, 4}, 2, 2);
    EXPECT_EQ(first(sample(image.texture, 1.5f, 0.5f)), 2);
    EXPECT_EQ(first(sample(image.texture, 0.5f, 1.5f)), 3);
    image.texture.linear = true;
    EXPECT_EQ(first(sample(image.texture, 1, 1)), 2.5f);
    EXPECT_EQ(first(sample(image.texture, 1, 0.5f)), 1.5f);
    // 0.75 of the left column, 0.25 of the right one; in the middle of both rows.
    EXPECT_EQ(first(sample(image.texture, 0.75f, 1)), 2.25f);
}

TEST(Textures, IntegersKeepTheirSignAndMayBecomeFloats) {
    Image<std::uint8_t> image({0, 51, 128, 255}, 4);
    image.texture.numbers = TexelNumbers::unsigned_;
    EXPECT_EQ(fetch(image.texture, 2, 0)[0], 128u);
    image.texture.numbers = TexelNumbers::signed_;
    EXPECT_EQ(fetch(image.texture, 2, 0)[0], std::uint32_t(-128));
    image.texture.normalized_numbers = true;
    EXPECT_EQ(first(fetch(image.texture, 2, 0)), -1);
    EXPECT_EQ(first(fetch(image.texture, 3, 0)), -1.0f / 127);
    image.texture.numbers = TexelNumbers::unsigned_;
    EXPECT_EQ(first(fetch(image.texture, 1, 0)), 0.2f);
    EXPECT_EQ(first(fetch(image.texture, 3, 0)), 1);
}

TEST(Textures, HalfFloatsBecomeFloats) {
    // 1, -2, the smallest number 2^-24, and infinity
    Image<std::uint16_t> image({0x3C00, 0xC000, 0x0001, 0x7C00}, 4);
    EXPECT_EQ(first(fetch(image.texture, 0, 0)), 1);
    EXPECT_EQ(first(fetch(image.texture, 1, 0)), -2);
    EXPECT_EQ(first(fetch(image.texture, 2, 0)), 0x1p-24f);
    EXPECT_TRUE(std::isinf(first(fetch(image.texture, 3, 0))));
}

TEST(Textures, ElementsHaveUpToFourNumbers) {
    Image<std::uint8_t> image({1, 2, 3, 4, 5, 6, 7, 8}, 2);
    image.texture.numbers = TexelNumbers::unsigned_;
    image.texture.channels = 4;
    EXPECT_EQ(fetch(image.texture, 1, 0), (Texture::Texel{5, 6, 7, 8}));
    EXPECT_EQ(fetch(image.texture, 2, 0), (Texture::Texel{0, 0, 0, 0}));
}

// A kernel that gets the handle in n, with 0 to 3 in a texture or surface of 2 x 2 words.
class ImageKernel {
  public:
    explicit ImageKernel(const std::string& body) : runner_(kernel_text(body)) {
        Memory& memory = runner_.machine.memory();
        words_ = static_cast<std::uint32_t*>(memory.allocate(64));
        for (std::uint32_t k = 0; k < 4; ++k) words_[k] = k;
        image_ = {.memory = std::uint64_t(words_),
                  .width = 2,
                  .height = 2,
                  .pitch = 8,
                  .numbers = TexelNumbers::unsigned_};
    }
    std::vector<std::uint32_t> run() {
        return runner_.run(one_block(32),
                           std::uint32_t(runner_.machine.memory().textures().add(image_)));
    }
    const std::uint32_t* words() const { return words_; }
    Texture& image() { return image_; }

  private:
    Runner runner_;
    std::uint32_t* words_;
    Texture image_;
};

// x = tid & 1, y = tid >> 1, of 4 threads: element 2 * y + x.
const std::string place =
    "cvt.u64.u32 %rd2, %r0; and.b32 %r2, %r1, 1; shr.u32 %r3, %r1, 1; and.b32 %r3, %r3, 1;"
    "cvt.rn.f32.u32 %f1, %r2; cvt.rn.f32.u32 %f2, %r3; shl.b32 %r8, %r2, 2;";

TEST(ImageKernels, FetchATexture) {
    ImageKernel k(place +
                  "tex.2d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%rd2, {%f1, %f2}];"
                  "st.global.u32 [%rd1], %r4;");
    const auto out = k.run();
    EXPECT_EQ(std::vector<std::uint32_t>(out.begin(), out.begin() + 5),
              (std::vector<std::uint32_t>{0, 1, 2, 3, 0}));
}

// The results may be the registers of the coordinates.
TEST(ImageKernels, ReadCoordinatesBeforeTheyWriteResults) {
    ImageKernel k(place +
                  "tex.2d.v4.u32.s32 {%r3, %r2, %r6, %r7}, [%rd2, {%r2, %r3}];"
                  "st.global.u32 [%rd1], %r3;");
    EXPECT_EQ(k.run()[3], 3u);
}

TEST(ImageKernels, FetchForSomeLanesOnly) {
    ImageKernel k(place +
                  "setp.lt.u32 %p1, %r1, 2; mov.u32 %r4, 9;"
                  "@%p1 tex.2d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%rd2, {%f1, %f2}];"
                  "st.global.u32 [%rd1], %r4;");
    const auto out = k.run();
    EXPECT_EQ(out[1], 1u);
    EXPECT_EQ(out[3], 9u);
}

// Each element is doubled and increased, by the lowest four threads.
TEST(ImageKernels, LoadAndStoreASurface) {
    ImageKernel k(place +
                  "setp.gt.u32 %p1, %r1, 3; @%p1 bra END;"
                  "suld.b.2d.b32.trap {%r4}, [%rd2, {%r8, %r3}]; mad.lo.u32 %r4, %r4, 2, 5;"
                  "sust.b.2d.b32.trap [%rd2, {%r8, %r3}], {%r4}; END:");
    k.run();
    EXPECT_EQ(std::vector<std::uint32_t>(k.words(), k.words() + 5),
              (std::vector<std::uint32_t>{5, 7, 9, 11, 0}));
}

TEST(ImageKernels, OutsideOfASurfaceTheModeSaysWhatHappens) {
    const std::string far = "cvt.u64.u32 %rd2, %r0; mov.u32 %r8, 8; mov.u32 %r3, -1;";
    ImageKernel zero(far +
                     "suld.b.2d.b32.zero {%r4}, [%rd2, {%r8, %r3}]; add.u32 %r4, %r4, 7;"
                     "st.global.u32 [%rd1], %r4;");
    EXPECT_EQ(zero.run()[0], 7u);
    ImageKernel clamp(far +
                      "suld.b.2d.b32.clamp {%r4}, [%rd2, {%r8, %r3}];"
                      "st.global.u32 [%rd1], %r4;");
    EXPECT_EQ(clamp.run()[0], 1u);
    ImageKernel trap(far + "sust.b.2d.b32.trap [%rd2, {%r8, %r3}], {%r1};");
    expect_contains(error_of([&] { trap.run(); }),
                    "byte 8 of row -1 lies outside of the surface, which has 2 rows of 8 bytes");
}

TEST(Textures, ThoseThatNoMemoryCanHoldAreRefused) {
    const auto error = [](std::uint64_t memory, std::uint32_t height, std::uint64_t pitch) {
        Textures textures;
        return error_of([&] {
            textures.add({.memory = memory, .width = 2, .height = height, .pitch = pitch});
        });
    };
    EXPECT_EQ(error(0x1000, 3, 8), "");
    expect_contains(error(0x1000, 3, 7), "the rows of a texture overlap");
    expect_contains(error(0x1000, 3, 0x8000'0000'0000'0000), "a texture is too large");
    expect_contains(error(0xFFFF'FFFF'FFFF'FFF0, 3, 8), "a texture is too large");
}

TEST(ImageKernels, AnUnknownHandleIsNamed) {
    Runner r(kernel_text(
        "cvt.u64.u32 %rd2, %r0; tex.1d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%rd2, {%r1}];"));
    expect_contains(error_of([&] { r.run(one_block(32), 77); }),
                    "there is no texture or surface object 0x4d");
}

// Three slices of 2 x 1 elements: 0 10, 20 30, 40 50.
TEST(Textures, ThreeDimensionsAreFilteredInAll) {
    Image<float> image({0, 10, 20, 30, 40, 50}, 2, 1);
    image.texture.depth = 3;
    EXPECT_EQ(first(sample(image.texture, 1.5f, 0.5f, 2.5f)), 50);
    EXPECT_EQ(first(sample(image.texture, 0.5f, 0.5f, 9)), 40);  // clamped
    EXPECT_EQ(first(fetch(image.texture, 1, 0, 1)), 30);
    EXPECT_EQ(first(fetch(image.texture, 1, 0, 3)), 0);
    image.texture.linear = true;
    // Between all of 0, 10, 20, 30; and 0.75 of the slice 1 with 0.25 of the slice 2, at the left.
    EXPECT_EQ(first(sample(image.texture, 1, 0.5f, 1)), 15);
    EXPECT_EQ(first(sample(image.texture, 0.5f, 0.5f, 1.75f)), 25);
    image.texture.normalized_coordinates = true;
    image.texture.address[2] = TextureAddress::wrap;
    image.texture.linear = false;
    // 1.5 of 3 slices is 4.5: slice 4, which is slice 1.
    EXPECT_EQ(first(sample(image.texture, 0, 0, 1.5f)), 20);
}

TEST(Textures, ALayerIsATextureOfItsOwn) {
    Image<float> image({0, 10, 20, 30, 40, 50}, 2, 1);
    image.texture.depth = 3;
    EXPECT_EQ(first(sample(image.texture.slice(1), 1.5f, 0.5f)), 30);
    EXPECT_EQ(first(sample(image.texture.slice(9), 1.5f, 0.5f)), 50);
}

// Slices of one row: x = tid & 1, z = tid >> 1.
TEST(ImageKernels, ReachTheSlicesOfAnImage) {
    const auto results = [](const std::string& access) {
        ImageKernel k(place + access + "st.global.u32 [%rd1], %r4;");
        k.image().height = 1;
        k.image().depth = 2;
        const auto out = k.run();
        return std::vector<std::uint32_t>(out.begin(), out.begin() + 4);
    };
    const std::vector<std::uint32_t> all{0, 1, 2, 3};
    EXPECT_EQ(results("mov.f32 %f3, 0f00000000; tex.3d.v4.u32.f32 {%r4, %r5, %r6, %r7}, "
                      "[%rd2, {%f1, %f3, %f2, %f3}];"),
              all);
    EXPECT_EQ(results("mov.u32 %r5, 0; tex.3d.v4.u32.s32 {%r4, %r5, %r6, %r7}, "
                      "[%rd2, {%r2, %r5, %r3, %r5}];"),
              all);
    EXPECT_EQ(results("mov.f32 %f3, 0f00000000; tex.a2d.v4.u32.f32 {%r4, %r5, %r6, %r7}, "
                      "[%rd2, {%r3, %f1, %f3, %f3}];"),
              all);
    EXPECT_EQ(results("tex.a1d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%rd2, {%r3, %f1}];"), all);
    EXPECT_EQ(results("mov.u32 %r5, 0; suld.b.3d.b32.trap {%r4}, [%rd2, {%r8, %r5, %r3, %r5}];"),
              all);
    EXPECT_EQ(results("mov.u32 %r5, 0; suld.b.a2d.b32.trap {%r4}, [%rd2, {%r3, %r8, %r5, %r5}];"),
              all);
}

TEST(ImageKernels, OtherGeometriesAreRefused) {
    expect_contains(
        load_error(kernel_text("tex.acube.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%rd2, {%r1, %f1, %f1, "
                               "%f1}];")),
        "acube");
}

// Compiled code calls the handler.
TEST(ImageKernels, RunInCompiledCodeToo) {
    const auto module = Module::parse(
        kernel_text(place + "tex.2d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%rd2, {%f1, %f2}];"
                            "add.u32 %r4, %r4, %r2; st.global.u32 [%rd1], %r4;"),
        "test");
    Launcher launcher;
    Memory& memory = launcher.machine().memory();
    auto* words = static_cast<std::uint32_t*>(memory.allocate(16));
    for (std::uint32_t k = 0; k < 4; ++k) words[k] = 10 * k;
    const auto handle = std::uint32_t(memory.textures().add({.memory = std::uint64_t(words),
                                                             .width = 2,
                                                             .height = 2,
                                                             .pitch = 8,
                                                             .numbers = TexelNumbers::unsigned_}));
    void* out = memory.allocate(128);
    const void* arguments[] = {&out, &handle};
    const FrozenLaunch launch =
        Machine::freeze(*module->kernels().front(), one_block(32), arguments, {});
    for (const bool waits : {false, true}) {
        launcher.run(launch, nullptr, launcher.choose(launch, nullptr, waits));
        EXPECT_EQ(static_cast<std::uint32_t*>(out)[3], 31u);
        EXPECT_EQ(static_cast<std::uint32_t*>(out)[2], 20u);
    }
}

}  // namespace
}  // namespace warpscope::emulator
