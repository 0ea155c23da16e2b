#include "launches/files/textures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

namespace warpscope::launches {

namespace {

using emulator::Texture;
using emulator::TextureAddress;

// By TextureAddress; by whether it is linear; by whether it is normalized.
constexpr std::array<std::string_view, 4> address_words{"wrap", "clamp", "mirror", "border"};
constexpr std::array<std::string_view, 2> filter_words{"point", "linear"};
constexpr std::array<std::string_view, 2> number_words{"elements", "normalized"};
// By Texture::Slices.
constexpr std::array<std::string_view, 3> slice_words{"volume", "layers", "faces"};

std::size_t word_of(const JsonField& field, std::span<const std::string_view> words) {
    const auto found = std::ranges::find(words, field.text());
    if (found == words.end()) field.fail(fmt::format("write one of: {}", fmt::join(words, ", ")));
    return std::size_t(found - words.begin());
}

}  // namespace

TextureSpec parse_texture(const std::string& name, const JsonField& field) {
    field.expect_object({"buffer", "filter", "address", "coordinates", "read", "slices"});
    TextureSpec texture{.name = name, .buffer = field.at("buffer").text()};
    if (field.has("filter")) texture.linear = word_of(field.at("filter"), filter_words) == 1;
    if (field.has("coordinates"))
        texture.normalized_coordinates = word_of(field.at("coordinates"), number_words) == 1;
    if (field.has("read"))
        texture.normalized_numbers = word_of(field.at("read"), number_words) == 1;
    if (field.has("slices"))
        texture.slices = Texture::Slices(word_of(field.at("slices"), slice_words));
    if (!field.has("address")) return texture;
    const JsonField modes = field.at("address");
    if (!modes.json().is_array()) {
        texture.address.fill(TextureAddress(word_of(modes, address_words)));
        return texture;
    }
    std::size_t count = 0;
    modes.each_element([&](const JsonField& mode) {
        if (count >= texture.address.size())
            modes.fail("write one to three modes: for x, for y and for z");
        texture.address[count++] = TextureAddress(word_of(mode, address_words));
    });
    return texture;
}

JsonField::Json texture_json(const TextureSpec& texture) {
    JsonField::Json json{{"buffer", texture.buffer}};
    if (texture.linear) json["filter"] = "linear";
    const auto word = [](TextureAddress mode) {
        return std::string(address_words[std::size_t(mode)]);
    };
    const auto [x, y, z] = texture.address;
    if (x != y || y != z)
        json["address"] = z == TextureAddress::clamp ? JsonField::Json{word(x), word(y)}
                                                     : JsonField::Json{word(x), word(y), word(z)};
    else if (x != TextureAddress::clamp)
        json["address"] = word(x);
    if (texture.normalized_coordinates) json["coordinates"] = "normalized";
    if (texture.normalized_numbers) json["read"] = "normalized";
    if (texture.slices) json["slices"] = slice_words[std::size_t(*texture.slices)];
    return json;
}

bool reads_by_index(std::string_view ptx) {
    constexpr std::string_view opcode = "tex.1d.";
    for (std::size_t at = ptx.find(opcode); at != ptx.npos; at = ptx.find(opcode, at + 1))
        if (ptx.substr(at, ptx.find_first_of(" \t", at) - at).ends_with(".s32")) return true;
    return false;
}

Texture texture_of(const TextureSpec& spec, const ElementType& type,
                   const std::vector<std::size_t>& shape, std::uint64_t address) {
    const auto fail = [&](const std::string& why) {
        throw LaunchError(fmt::format("textures.{}.buffer: {}", spec.name, why));
    };
    const bool is_float = type.kind == ElementKind::floating;
    const bool is_integer =
        type.kind == ElementKind::signed_integer || type.kind == ElementKind::unsigned_integer;
    if ((!is_float && !is_integer) || type.bytes > 4 || type.lanes == 3)
        fail(
            fmt::format("{} holds {}: a texture has elements of 1, 2 or 4 integers of at most 32 "
                        "bits, half or float",
                        spec.buffer, to_string(type)));
    const auto slices = spec.slices ? *spec.slices : Texture::Slices::of_volume;
    const bool has_slices = spec.slices || shape.size() == 3;
    const bool has_rows = shape.size() == (has_slices ? 3 : 2);
    if (shape.empty() || shape.size() > 3 || (has_slices && shape.size() < 2) ||
        (has_slices && !has_rows && slices != Texture::Slices::layers))
        fail(
            fmt::format("{} has {} dimensions: a texture has one to three, and \"slices\" are the "
                        "first of three, or \"layers\" of two",
                        spec.buffer, shape.size()));
    if (slices == Texture::Slices::faces && (shape[0] != 6 || shape[1] != shape[2]))
        fail(fmt::format("{}: the faces of a cube are 6 squares", spec.buffer));
    if (spec.normalized_numbers && is_integer && type.bytes == 4)
        fail(fmt::format("{} holds {}: only integers of 8 and 16 bits can be read as normalized",
                         spec.buffer, to_string(type)));
    Texture texture;
    texture.memory = address;
    texture.width = std::uint32_t(shape.back());
    texture.height = has_rows ? std::uint32_t(shape[shape.size() - 2]) : 0;
    texture.depth = has_slices ? std::uint32_t(shape[0]) : 0;
    texture.slices_are = slices;
    texture.pitch = shape.back() * type.size();
    texture.channels = type.lanes;
    texture.bytes = type.bytes;
    texture.numbers = is_float                                   ? Texture::Numbers::float_
                      : type.kind == ElementKind::signed_integer ? Texture::Numbers::signed_
                                                                 : Texture::Numbers::unsigned_;
    texture.linear = spec.linear;
    texture.normalized_coordinates = spec.normalized_coordinates;
    texture.normalized_numbers = spec.normalized_numbers && !is_float;
    std::ranges::copy(spec.address, texture.address.begin());
    return texture;
}

}  // namespace warpscope::launches
