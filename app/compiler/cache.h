#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "compiler/nvrtc.h"

namespace warpscope::compiler {

/// Compiled texts in the user's cache folder, found again by everything that they depend on: text,
/// file, options and the compiler's version. Nothing that is wrong with the folder is an error:
/// then nothing is found or kept. Used from any thread, and by several processes at once.
class Cache {
  public:
    /// `limit`: bytes of the folder beyond which the entries that were used longest ago go.
    explicit Cache(std::filesystem::path folder = default_folder(),
                   std::uintmax_t limit = std::uintmax_t(64) << 20);

    std::optional<Compiled> find(const Request& request, std::string_view version) const noexcept;
    void keep(const Request& request, std::string_view version,
              const Compiled& compiled) const noexcept;

    /// $XDG_CACHE_HOME/warpscope/kernels, else ~/.cache/warpscope/kernels; empty where neither can
    /// be: then nothing is kept.
    static std::filesystem::path default_folder();

  private:
    std::filesystem::path folder_;
    std::uintmax_t limit_;
};

}  // namespace warpscope::compiler
