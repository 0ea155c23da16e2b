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
    const LaunchShape found = get<LaunchShape>(reader);
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
    const auto found = get<emulator::Texture>(reader);
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
    EXPECT_THROW(get<emulator::Texture>(reader), WireError);
}

TEST(HelperCodec, ACompiledSourceArrivesAsItWasSent) {
    const compiler::Compiled sent_one{"\xff not UTF-8",
                                      {{3, 7, compiler::Severity::warning, "\xff is unused"}, {}}};
    WireWriter writer(HelperAnswer::done);
    put(writer, sent_one);
    WireReader reader = sent(writer);
    EXPECT_EQ(compiled(reader), sent_one);
    EXPECT_NO_THROW(reader.end());
}

/// Whether a text in CBOR is refused as the one value of a frame.
bool is_refused(const std::string& cbor) {
    WireWriter writer(HelperAnswer::done);
    WireReader reader = sent(writer.text(cbor));
    try {
        get<std::uint64_t>(reader);
        return false;
    } catch (const WireError&) {
        return true;
    }
}

TEST(HelperCodec, OtherValuesThanExpectedAreRefused) {
    EXPECT_FALSE(is_refused("\x81\x07"));
    EXPECT_TRUE(is_refused(""));
    EXPECT_TRUE(is_refused("\x07"));
    EXPECT_TRUE(is_refused("\x82\x07\x07"));
    EXPECT_TRUE(is_refused("\x81\x07\x07"));
    EXPECT_TRUE(is_refused("\x81\x61x"));
    EXPECT_TRUE(is_refused("\x81\x19\x07"));
    EXPECT_TRUE(is_refused("\x9b\xff\xff\xff\xff\xff\xff\xff\xff"));
    EXPECT_TRUE(is_refused("\xbb\x80" + std::string(7, '\0') + "\x07"));
}

TEST(HelperCodec, ValuesThatWouldUseUpTheStackAreRefused) {
    for (const char nested : {'\x81', '\x9f', '\xa1', '\xbf', '\x7f', '\x5f', '\xc0', '\xd8'}) {
        EXPECT_TRUE(is_refused(std::string(std::size_t(8) << 20, nested)));
        EXPECT_TRUE(is_refused("\x81" + std::string(std::size_t(8) << 20, nested)));
    }
}

}  // namespace
}  // namespace warpscope::compute
