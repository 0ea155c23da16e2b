#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "launches/files/launch_file.h"
#include "launches/files/launch_json.h"

namespace warpscope::launches {

/// Throws LaunchError that names the field.
TextureSpec parse_texture(const std::string& name, const JsonField& field);
/// parse_texture() reads it back.
JsonField::Json texture_json(const TextureSpec& texture);

/// Whether kernels of the PTX read textures of one dimension by index, as tex1Dfetch() does.
bool reads_by_index(std::string_view ptx);
/// The texture of a buffer at an address. Throws LaunchError for elements or dimensions that
/// textures do not have.
emulator::Texture texture_of(const TextureSpec& spec, const ElementType& type,
                             const std::vector<std::size_t>& shape, std::uint64_t address);

}  // namespace warpscope::launches
