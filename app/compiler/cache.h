#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "compiler/nvrtc.h"

namespace warpscope::compiler {

/// FNV-1a, 64 bits. It names files and detects damage, but no forgery.
constexpr std::uint64_t content_hash(std::string_view bytes) {
    std::uint64_t value = 0xcbf29ce484222325;
    for (const char byte : bytes) {
        value ^= static_cast<unsigned char>(byte);
        value *= 0x100000001b3;
    }
    return value;
}

/// Makes a folder accessible for this user alone, because programs run what its files hold. Throws
/// std::runtime_error.
void make_private(const std::filesystem::path& folder);

/// Compiled kernel sources in the user's cache folder. The key of an entry is everything that its
/// PTX depends on: source, headers, file name, names of kernels, options and the compiler's
/// version. If the folder can't be used, nothing is found or kept; that is not an error. Threads
/// and processes may share a folder.
class Cache {
  public:
    /// If the folder exceeds `limit` bytes, the least recently used entries are removed.
    explicit Cache(std::filesystem::path folder = default_folder(),
                   std::uintmax_t limit = std::uintmax_t(64) << 20);

    std::optional<Compiled> find(const Request& request, std::string_view version) const noexcept;
    void keep(const Request& request, std::string_view version,
              const Compiled& compiled) const noexcept;

    /// $XDG_CACHE_HOME/warpscope/kernels, or ~/.cache/warpscope/kernels without that variable.
    /// Empty if neither variable names an absolute path; nothing is kept then.
    static std::filesystem::path default_folder();

  private:
    std::filesystem::path folder_;
    std::uintmax_t limit_;
};

}  // namespace warpscope::compiler
