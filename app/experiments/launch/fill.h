#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "launches/files/launch_file.h"

namespace warpscope::experiments {

/// The most bytes of one buffer.
inline constexpr std::size_t largest_buffer = std::size_t(4) << 30;

/// The sizes of a shape; each is 1 or more. Throws LaunchError that names `field`, also where an
/// element type of `element_bytes` would need more than largest_buffer.
std::vector<std::size_t> sizes(const std::vector<launches::Expression>& shape,
                               const launches::Names& scalars, std::size_t element_bytes,
                               const std::string& field);

/// An array of the type and of the shape filled as `fill` says; files are relative to `folder`.
/// Without a shape that of the file. Random numbers depend on the seed alone: Box-Muller over
/// splitmix64, equal on every machine up to the last bits of the math library. Throws LaunchError
/// that begins with `field`.
launches::Array filled(const launches::Fill& fill, const launches::ElementType& type,
                       const std::optional<std::vector<std::size_t>>& shape,
                       const launches::Names& scalars, const std::filesystem::path& folder,
                       const std::string& field);

}  // namespace warpscope::experiments
