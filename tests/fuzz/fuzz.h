#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

/// A fuzz target: it must return for every input, and call require() for what must hold.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace warpscope::tests {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// Ends the process, as a crash does, if `holds` is false.
inline void require(bool holds, const char* sentence) {
    if (holds) return;
    std::fprintf(stderr, "fuzz: it does not hold that %s\n", sentence);
    std::abort();
}

/// A folder of this process, removed at its end.
class FuzzFolder {
  public:
    FuzzFolder() {
        // In memory where that is possible: disks wait when a file is replaced.
        const std::filesystem::path memory = "/dev/shm";
        const auto place =
            std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
        std::string name = place / "warpscope-fuzz-XXXXXX";
        require(::mkdtemp(name.data()) != nullptr, "a temporary folder can be made");
        path_ = name;
    }
    FuzzFolder(const FuzzFolder&) = delete;
    FuzzFolder& operator=(const FuzzFolder&) = delete;
    ~FuzzFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::filesystem::path& path() const { return path_; }

    std::filesystem::path write(const std::filesystem::path& name, std::string_view bytes) const {
        std::ofstream out(path_ / name, std::ios::binary | std::ios::trunc);
        out.write(bytes.data(), std::streamsize(bytes.size()));
        return path_ / name;
    }

  private:
    std::filesystem::path path_;
};

}  // namespace warpscope::tests
