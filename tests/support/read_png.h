#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "gl/error.h"
#include "gl/png.h"

namespace warpscope::tests {

/// Reads a PNG file. Throws gl::Error with the path of the file.
inline gl::Image read_png(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw gl::Error("can't read " + path.string() + ": " + std::strerror(errno));
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    try {
        return gl::decode_png({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    } catch (const gl::Error& error) {
        throw gl::Error("can't read " + path.string() + ": " + error.what());
    }
}

}  // namespace warpscope::tests
