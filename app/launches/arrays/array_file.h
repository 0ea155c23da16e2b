#pragma once

#include <filesystem>
#include <string>

#include "launches/arrays/array.h"

namespace warpscope::launches {

/// Reads an array by the end of the file's name:
/// - `.npy`: type and shape as in the file (NumPy's format 1.0 to 3.0, C order, little-endian). A
///   last dimension of `expected.lanes` holds the lanes.
/// - `.png`: `shape` {height, width} of uchar4, red first.
/// - any other: raw numbers of the type `expected`, one dimension.
/// Throws LaunchError that names the file.
Array read_array(const std::filesystem::path& file, const ElementType& expected);

/// Returns the bytes of a `.npy` file, in which bfloat16 is float32, and of a CSV file: a line for
/// each index of the last dimension but one, numbers with commas between them.
std::string to_npy(const Array& array);
std::string to_csv(const Array& array);

}  // namespace warpscope::launches
