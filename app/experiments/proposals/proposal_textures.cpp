#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "compiler/host/declarations.h"
#include "experiments/launch_files/element_types.h"
#include "experiments/proposals/proposal.h"

// The textures and surfaces of a proposed launch.
namespace warpscope::experiments {
namespace {

using compiler::TokenText;
using compiler::Type;
using emulator::TextureAddress;

/// The elements that a call of cudaCreateChannelDesc describes: by the type in "<uchar4>()", or by
/// the bits in "(8, 8, 8, 8, cudaChannelFormatKindUnsigned)". nullopt: it is another call.
std::optional<ElementType> elements_of(const HostValues& values, const std::string& format) {
    const TokenText tokens(format);
    std::vector<std::string> parts(1);
    const bool is_template = tokens.is(1, "<");
    if (!tokens.is(0, "cudaCreateChannelDesc") || (!is_template && !tokens.is(1, "(")))
        return std::nullopt;
    for (std::size_t t = 2; t < tokens.size() && !tokens.is(t, ">") && !tokens.is(t, ")"); ++t) {
        if (tokens.is(t, ","))
            parts.emplace_back();
        else
            parts.back() += (parts.back().empty() ? "" : " ") + std::string(tokens.text(t));
    }
    try {
        if (is_template) return parse_element_type(parts[0]);
        if (parts.size() != 5) return std::nullopt;
        const bool is_real = parts[4].ends_with("Float"), is_signed = parts[4].ends_with("Signed");
        ElementType type{is_real     ? ElementKind::floating
                         : is_signed ? ElementKind::signed_integer
                                     : ElementKind::unsigned_integer};
        type.lanes = 0;
        for (std::size_t lane = 0; lane < 4; ++lane) {
            const auto bits = values.number(parts[lane]);
            if (!bits) return std::nullopt;
            if (lane == 0) type.bytes = unsigned(whole(*bits) / 8);
            type.lanes += unsigned(whole(*bits) > 0);
        }
        return type;
    } catch (const LaunchError&) {
        return std::nullopt;
    }
}

/// The type that an array of these elements has in device code.
std::shared_ptr<const Type> type_of(const ElementType& element) {
    ElementType one = element;
    one.lanes = 1;
    Type number{.kind = element.is_real() ? Type::Kind::floating
                        : element.kind == ElementKind::unsigned_integer
                            ? Type::Kind::unsigned_integer
                            : Type::Kind::signed_integer,
                .name = to_string(one)};
    number.canonical = number.name;
    number.bytes = one.bytes;
    if (element.lanes == 1) return std::make_shared<const Type>(number);
    Type vector{.kind = Type::Kind::structure, .name = to_string(element)};
    vector.canonical = vector.name;
    vector.bytes = element.size();
    const auto member = std::make_shared<const Type>(number);
    for (std::size_t lane = 0; lane < element.lanes; ++lane)
        vector.members.push_back({std::string(1, "xyzw"[lane]), lane * one.bytes, member});
    return std::make_shared<const Type>(vector);
}

/// "b" of "a = b", and the one of "c ? a : b" that a known condition chooses.
std::string chosen_of(const HostValues& values, std::string text) {
    if (const std::size_t sign = text.rfind(" = "); sign != text.npos) text.erase(0, sign + 3);
    const std::size_t question = text.find(" ? "), colon = text.find(" : ");
    if (question == text.npos || colon == text.npos || colon < question) return text;
    const auto condition = values.number(text.substr(0, question));
    if (!condition) return text;
    return real(*condition) != 0 ? text.substr(question + 3, colon - question - 3)
                                 : text.substr(colon + 3);
}

/// Reads the settings of a cudaTextureDesc, which the program has set to 0 before. False: one of
/// them is not known.
bool read_settings(const HostValues& values, const HostTexture& host, TextureSpec& texture) {
    const auto find = [&](const std::string& name) {
        auto found = host.settings.find(name);
        const std::size_t at = name.find("$at");
        if (found == host.settings.end() && at != name.npos)
            found = host.settings.find(name.substr(0, at + 3));
        return found == host.settings.end() ? std::string("0") : found->second;
    };
    bool known = true;
    const auto choose = [&](const std::string& name,
                            std::initializer_list<std::string_view> words) {
        const std::string text = chosen_of(values, find(name));
        for (std::size_t k = 0; k < words.size(); ++k)
            if (text == std::data(words)[k] || text == "cuda" + std::string(std::data(words)[k]))
                return k;
        const auto number = values.number(text);
        const bool is_one = number && real(*number) >= 0 && real(*number) < double(words.size());
        known = known && is_one;
        return is_one ? std::size_t(real(*number)) : std::size_t(0);
    };
    texture.linear = choose("filterMode", {"FilterModePoint", "FilterModeLinear"}) == 1;
    texture.normalized_numbers =
        choose("readMode", {"ReadModeElementType", "ReadModeNormalizedFloat"}) == 1;
    texture.normalized_coordinates = choose("normalizedCoords", {"false", "true"}) == 1;
    for (std::size_t d = 0; d < texture.address.size(); ++d) {
        const auto mode = TextureAddress(choose(
            "addressMode$at" + std::to_string(d),
            {"AddressModeWrap", "AddressModeClamp", "AddressModeMirror", "AddressModeBorder"}));
        // CUDA Runtime API, cudaTextureDesc::addressMode: these two need normalized coordinates.
        const bool repeats = mode == TextureAddress::wrap || mode == TextureAddress::mirror;
        texture.address[d] =
            repeats && !texture.normalized_coordinates ? TextureAddress::clamp : mode;
    }
    for (const auto& [name, text] : host.settings)  // those of mipmaps do not matter here
        known = known && name != "sRGB" && name != "borderColor$at" && name != "borderColor$at0";
    return known;
}

}  // namespace

void Proposal::add_texture(std::size_t p) {
    const std::string& name = kernel_->parameters[p].name;
    if (add_host_texture(p)) return;
    const auto& uses = kernel_->traits.images;
    if (p >= uses.size() || !uses[p]) return;  // the plan says that a texture is missing
    const compiler::ImageUse& use = *uses[p];
    const std::string texels = free_name(name + "_texels");
    const TextureSpec* const other = file().find_texture(name);
    guess("the texture " + name, other ? other->buffer : texels);
    if (other) return;
    BufferSpec buffer{.name = texels, .type = parse_element_type(use.number), .shape = {}};
    buffer.type->lanes = use.lanes;
    buffer.shape = guessed_shape(texels);
    if (use.dimensions == 1 && buffer.shape.size() == 2) buffer.shape.erase(buffer.shape.begin());
    buffer.fill = use.number == "float" ? Fill(RandomFill{}) : Expression("i % 100");
    file().buffers.push_back(std::move(buffer));
    file().textures.push_back({.name = name, .buffer = texels});
}

/// The texture or surface that the host program describes, with a buffer of its array. False: its
/// array or its elements are not known.
bool Proposal::add_host_texture(std::size_t p) {
    const std::string& name = kernel_->parameters[p].name;
    const auto text = host_text(p);
    const auto host =
        text ? program_.textures.find(first_name(program_, *text)) : program_.textures.end();
    if (host == program_.textures.end() || host->second.array.empty()) return false;
    const auto element = elements_of(values_, host->second.format);
    if (!element) return false;
    auto extents = values_.expressions(host->second.extents);
    if (!host->second.extents.empty() && !extents) return false;
    TextureSpec texture{.name = name};
    const bool known = read_settings(values_, host->second, texture);
    Type pointer{.kind = Type::Kind::pointer};
    pointer.target = type_of(*element);
    Texts shape;
    if (extents) shape.assign(extents->rbegin(), extents->rend());
    texture.buffer = buffer_of(place_of(program_, host->second.array), name + "_texels", pointer,
                               use_of(p), shape);
    BufferSpec& buffer = file().buffers[file().index_of(texture.buffer)];
    if (!buffer.type) buffer.type = element;
    if (!known) guess("the texture " + name, texture.buffer);
    if (use_of(p).writes) file().show = texture.buffer;
    if (use_of(p).writes) written_.insert(texture.buffer);
    // A kernel before may have another texture by this name.
    while (file().find_texture(texture.name) && *file().find_texture(texture.name) != texture)
        texture.name += "_";
    if (texture.name != name) arguments_.emplace_back(name, ArgumentSpec{.text = texture.name});
    if (!file().find_texture(texture.name)) file().textures.push_back(std::move(texture));
    return true;
}

}  // namespace warpscope::experiments
