#include "emulator/warp/textures.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "support/devices.h"

// Textures and surfaces of buffers, in the emulator and on a GPU.
namespace warpscope::compute {
namespace {

using emulator::Texture;
using emulator::TextureAddress;
using Floats = DevicePointer<float>;

/// A kernel whose thread i fetches at x = at[3 * i], y = at[3 * i + 1] and z = at[3 * i + 2], which
/// are in %f1 to %f3 and as integers in %r1 to %r3, and stores %f4 in out[i].
std::string sampling(const std::string& fetch) {
    return ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry sample(.param .u64 "
           "p_out, .param .u64 p_at, .param .u64 p_image)\n{\n.reg .b32 %r<8>;\n.reg .f32 %f<8>;\n"
           ".reg .b64 %d<8>;\nld.param.u64 %d1, [p_out];\nld.param.u64 %d2, [p_at];\nld.param.u64 "
           "%d0, [p_image];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %d3, %r0, 4;\nadd.s64 %d1, %d1, "
           "%d3;\nmul.wide.u32 %d3, %r0, 12;\nadd.s64 %d2, %d2, %d3;\nld.global.f32 %f1, [%d2];\n"
           "ld.global.f32 %f2, [%d2+4];\nld.global.f32 %f3, [%d2+8];\ncvt.rni.s32.f32 %r1, %f1;\n"
           "cvt.rni.s32.f32 %r2, %f2;\ncvt.rni.s32.f32 %r3, %f3;\n" +
           fetch + "\nst.global.f32 [%d1], %f4;\nret;\n}\n";
}

const std::string results = ".v4.f32.f32 {%f4, %f5, %f6, %f7}, ";
const std::string fetch_line = "tex.1d" + results + "[%d0, {%f1}];";
const std::string fetch_plane = "tex.2d" + results + "[%d0, {%f1, %f2}];";
const std::string fetch_volume = "tex.3d" + results + "[%d0, {%f1, %f2, %f3, %f3}];";
const std::string fetch_planes = "tex.a2d" + results + "[%d0, {%r3, %f1, %f2, %f2}];";
const std::string fetch_lines = "tex.a1d" + results + "[%d0, {%r3, %f1}];";
const std::string fetch_cube = "tex.cube" + results + "[%d0, {%f1, %f2, %f3, %f3}];";
const std::string fetch_index = "tex.1d.v4.f32.s32 {%f4, %f5, %f6, %f7}, [%d0, {%r1}];";

struct Place {
    float x, y = 0, z = 0;
};

class TexturesOnDevices : public tests::OnDevices {
  protected:
    template <typename T>
    static Texture shape_of(const Buffer<T>& elements, unsigned width, unsigned height = 0,
                            unsigned depth = 0) {
        Texture t;
        t.memory = elements.pointer().address;
        t.width = width;
        t.height = height;
        t.depth = depth;
        t.pitch = width * sizeof(T);
        t.bytes = sizeof(T);
        return t;
    }
    std::vector<float> fetched(const Texture& texture, const std::string& fetch,
                               const std::vector<Place>& places) {
        std::vector<float> at;
        for (const Place& p : places) at.insert(at.end(), {p.x, p.y, p.z});
        const Buffer<float> coordinates(device(), at), out(device(), places.size());
        const auto kernel =
            device().kernel_from_ptx<Floats, Floats, std::uint64_t>(sampling(fetch), "sample");
        const TextureHandle handle = device().make_texture(texture, false);
        device().load_texture(handle);
        device().launch(kernel, {{1, 1, 1}, {unsigned(places.size()), 1, 1}}, {}, out.pointer(),
                        coordinates.pointer(), handle.number);
        const std::vector<float> result = out.download();
        device().release_texture(handle);
        return result;
    }
};
WARPSCOPE_ON_DEVICES(TexturesOnDevices);

// The rows are those that an H100 gives for 0, 256, 512, 1024 at the coordinates -1.05, -0.95, ….
TEST_P(TexturesOnDevices, AddressModesContinueALine) {
    const Buffer<float> elements(device(), std::vector<float>{0, 256, 512, 1024});
    Texture t = shape_of(elements, 4);
    t.normalized_coordinates = true;
    std::vector<Place> places;
    for (int k = 0; k < 24; ++k) places.push_back({-1.05f + 0.1f * float(k)});
    const auto row = [&](TextureAddress mode, bool linear) {
        t.address[0] = mode;
        t.linear = linear;
        std::vector<int> whole;
        for (const float x : fetched(t, fetch_line, places)) whole.push_back(int(x));
        return whole;
    };
    using Row = std::vector<int>;
    EXPECT_EQ(row(TextureAddress::wrap, false),
              (Row{1024, 0,   0,   256, 256, 256, 512,  512,  1024, 1024, 1024, 0,
                   0,    256, 256, 256, 512, 512, 1024, 1024, 1024, 0,    0,    256}));
    EXPECT_EQ(row(TextureAddress::wrap, true),
              (Row{716, 308, 26,  128, 230, 333, 435, 564, 768, 972, 716, 308,
                   26,  128, 230, 333, 435, 564, 768, 972, 716, 308, 26,  128}));
    EXPECT_EQ(row(TextureAddress::mirror, false),
              (Row{1024, 1024, 1024, 512, 512, 512, 256,  256,  0,    0,    0,    0,
                   0,    256,  256,  256, 512, 512, 1024, 1024, 1024, 1024, 1024, 512}));
    EXPECT_EQ(row(TextureAddress::mirror, true),
              (Row{1024, 1024, 972, 768, 564, 435, 333, 230, 128,  26,   0,   0,
                   26,   128,  230, 333, 435, 564, 768, 972, 1024, 1024, 972, 768}));
    EXPECT_EQ(row(TextureAddress::border, true),
              (Row{0,  0,   0,   0,   0,   0,   0,   0,   0,   0,   0, 0,
                   26, 128, 230, 333, 435, 564, 768, 972, 716, 308, 0, 0}));
    EXPECT_EQ(row(TextureAddress::clamp, true),
              (Row{0,  0,   0,   0,   0,   0,   0,   0,   0,    0,    0,    0,
                   26, 128, 230, 333, 435, 564, 768, 972, 1024, 1024, 1024, 1024}));
}

// 1 2
// 3 4
TEST_P(TexturesOnDevices, APlaneIsFilteredInBothDirections) {
    const Buffer<float> elements(device(), std::vector<float>{1, 2, 3, 4});
    Texture t = shape_of(elements, 2, 2);
    const std::vector<Place> places{{1.5f, 0.5f}, {0.5f, 1.5f}, {1, 1}, {0.75f, 1}};
    EXPECT_EQ(fetched(t, fetch_plane, places), (std::vector<float>{2, 3, 4, 3}));
    t.linear = true;
    EXPECT_EQ(fetched(t, fetch_plane, places), (std::vector<float>{2, 3, 2.5f, 2.25f}));
}

// Three slices of 2 x 1 elements.
TEST_P(TexturesOnDevices, AVolumeIsFilteredThroughItsSlices) {
    const Buffer<float> elements(device(), std::vector<float>{0, 10, 20, 30, 40, 50});
    Texture t = shape_of(elements, 2, 1, 3);
    EXPECT_EQ(fetched(t, fetch_volume, {{1.5f, 0.5f, 2.5f}, {0.5f, 0.5f, 9}}),
              (std::vector<float>{50, 40}));
    t.linear = true;
    EXPECT_EQ(fetched(t, fetch_volume, {{1, 0.5f, 1}, {0.5f, 0.5f, 1.75f}}),
              (std::vector<float>{15, 25}));
}

TEST_P(TexturesOnDevices, LayersAreNotFilteredTogether) {
    const Buffer<float> elements(device(), std::vector<float>{0, 10, 20, 30, 40, 50});
    Texture planes = shape_of(elements, 2, 1, 3), lines = shape_of(elements, 2, 0, 3);
    for (Texture* t : {&planes, &lines}) {
        t->slices_are = Texture::Slices::layers;
        t->linear = true;
    }
    const std::vector<Place> places{{0.5f, 0.5f, 0}, {1, 0.5f, 1}, {1.5f, 0.5f, 2}, {1, 0.5f, 9}};
    EXPECT_EQ(fetched(planes, fetch_planes, places), (std::vector<float>{0, 25, 50, 45}));
    EXPECT_EQ(fetched(lines, fetch_lines, places), (std::vector<float>{0, 25, 50, 45}));
}

// Face f has 10 f + 0, 1 in its first row and 10 f + 2, 3 in its second one. s and t are -z and -y
// on the face x = 1, z and -y on x = -1, x and z on y = 1, x and -z on y = -1, x and -y on z = 1,
// -x and -y on z = -1. s < 0 is the first column, t < 0 the first row.
TEST_P(TexturesOnDevices, ADirectionPointsToAFaceOfACube) {
    std::vector<float> faces;
    for (int face = 0; face < 6; ++face)
        for (int k = 0; k < 4; ++k) faces.push_back(float(10 * face + k));
    const Buffer<float> elements(device(), faces);
    Texture t = shape_of(elements, 2, 2, 6);
    t.slices_are = Texture::Slices::faces;
    EXPECT_EQ(fetched(t, fetch_cube,
                      {{1, 0.5f, 0.5f},
                       {-2, 0.5f, 0.5f},
                       {-0.5f, 1, 0.5f},
                       {0.5f, -1, 0.5f},
                       {0.5f, -0.5f, 1},
                       {0.5f, -0.5f, -1}}),
              (std::vector<float>{0, 11, 22, 31, 43, 52}));
}

TEST_P(TexturesOnDevices, AnIndexOutsideReadsZero) {
    const Buffer<float> elements(device(), std::vector<float>{5, 6, 7});
    Texture t = shape_of(elements, 3);
    t.read_by_index = true;
    EXPECT_EQ(fetched(t, fetch_index, {{0}, {2}, {3}, {-1}}), (std::vector<float>{5, 7, 0, 0}));
}

// Longer than an array of a GPU.
TEST_P(TexturesOnDevices, ALongLineIsReadByIndex) {
    std::vector<float> numbers(200'000);
    for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = float(k);
    const Buffer<float> elements(device(), numbers);
    EXPECT_EQ(fetched(shape_of(elements, 200'000), fetch_index, {{0}, {199'999}, {200'000}}),
              (std::vector<float>{0, 199'999, 0}));
}

TEST_P(TexturesOnDevices, BytesBecomeFloats) {
    const Buffer<std::uint8_t> elements(device(), std::vector<std::uint8_t>{0, 51, 128, 255});
    Texture t = shape_of(elements, 4);
    t.numbers = Texture::Numbers::unsigned_;
    t.normalized_numbers = true;
    EXPECT_EQ(fetched(t, fetch_line, {{0.5f}, {1.5f}, {3.5f}}), (std::vector<float>{0, 0.2f, 1}));
    t.numbers = Texture::Numbers::signed_;
    EXPECT_EQ(fetched(t, fetch_line, {{2.5f}, {3.5f}}), (std::vector<float>{-1, -1.0f / 127}));
}

// Thread i doubles word i of a row of four and adds 5; the mode `zero` leaves out the others.
TEST_P(TexturesOnDevices, ASurfaceIsReadAndWritten) {
    const Buffer<std::uint32_t> words(device(), std::vector<std::uint32_t>{0, 1, 2, 3});
    Texture t = shape_of(words, 4);
    t.numbers = Texture::Numbers::unsigned_;
    const auto kernel = device().kernel_from_ptx<std::uint64_t>(
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry twice(.param .u64 image)\n"
        "{\n.reg .b32 %r<4>;\n.reg .b64 %d<1>;\nld.param.u64 %d0, [image];\nmov.u32 %r0, %tid.x;\n"
        "shl.b32 %r1, %r0, 2;\nsuld.b.1d.b32.zero {%r2}, [%d0, {%r1}];\nmad.lo.u32 %r2, %r2, 2, 5;"
        "\nsust.b.1d.b32.zero [%d0, {%r1}], {%r2};\nret;\n}\n",
        "twice");
    const TextureHandle handle = device().make_texture(t, true);
    device().load_texture(handle);
    device().launch(kernel, {{1, 1, 1}, {8, 1, 1}}, {}, handle.number);
    device().store_surface(handle);
    EXPECT_EQ(words.download(), (std::vector<std::uint32_t>{5, 7, 9, 11}));
    device().release_texture(handle);
}

}  // namespace
}  // namespace warpscope::compute
