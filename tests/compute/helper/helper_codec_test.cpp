#include "compute/helper/helper_codec.h"

#include <gtest/gtest.h>

#include <string>

namespace warpscope::compute {
namespace {

/// What the other process reads.
WireReader sent(WireWriter& writer) {
    return WireReader(std::string(writer.frame().substr(sizeof(std::uint32_t))));
}

TEST(HelperCodec, ALaunchShapeArrivesAsItWasSent) {
    WireWriter writer(HelperRequest::launch);
    put(writer, LaunchShape{{2, 3, 4}, {5, 6, 7}, 800, true});
    WireReader reader = sent(writer);
    const LaunchShape found = shape(reader);
    EXPECT_EQ(found.grid.count(), 24U);
    EXPECT_EQ(found.block.z, 7U);
    EXPECT_EQ(found.dynamic_shared_bytes, 800U);
    EXPECT_TRUE(found.cooperative);
    EXPECT_NO_THROW(reader.end());
}

TEST(HelperCodec, ATextureArrivesAsItWasSent) {
    emulator::Texture texture;
    texture.memory = 0x123456789ABC;
    texture.width = 30;
    texture.height = 20;
    texture.pitch = 128;
    texture.channels = 4;
    texture.bytes = 1;
    texture.numbers = emulator::Texture::Numbers::signed_;
    texture.slices_are = emulator::Texture::Slices::faces;
    texture.linear = texture.normalized_numbers = texture.read_by_index = true;
    texture.address = {emulator::TextureAddress::mirror, emulator::TextureAddress::wrap};
    WireWriter writer(HelperRequest::make_texture);
    put(writer, texture);
    WireReader reader = sent(writer);
    const emulator::Texture found = compute::texture(reader);
    EXPECT_EQ(found.end(), texture.end());
    EXPECT_EQ(found.height, 20U);
    EXPECT_EQ(found.numbers, emulator::Texture::Numbers::signed_);
    EXPECT_EQ(found.slices_are, emulator::Texture::Slices::faces);
    EXPECT_TRUE(found.linear);
    EXPECT_TRUE(found.normalized_numbers);
    EXPECT_TRUE(found.read_by_index);
    EXPECT_FALSE(found.normalized_coordinates);
    EXPECT_EQ(found.address, texture.address);
    EXPECT_NO_THROW(reader.end());
}

TEST(HelperCodec, AnUnknownKindOfTextureIsRefused) {
    emulator::Texture texture;
    texture.address[1] = emulator::TextureAddress(9);
    WireWriter writer(HelperRequest::make_texture);
    put(writer, texture);
    WireReader reader = sent(writer);
    EXPECT_THROW(compute::texture(reader), WireError);
}

}  // namespace
}  // namespace warpscope::compute
