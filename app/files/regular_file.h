#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace warpscope::files {

/// A regular file, open for reading. Pipes, devices and folders are refused: reading them may wait
/// for ever or never end.
///
/// The constructor and read() throw std::runtime_error with the reason alone, such as "it is a
/// folder". The caller names the file.
class RegularFile {
  public:
    enum class Links { followed, refused };  ///< what to do with symbolic links

    explicit RegularFile(const std::filesystem::path& file, Links links = Links::followed);
    ~RegularFile();
    RegularFile(const RegularFile&) = delete;
    RegularFile& operator=(const RegularFile&) = delete;

    /// Reads the next bytes of the file, at most `most`. Returns fewer only at its end.
    std::string read(std::size_t most);

  private:
    int descriptor_;
};

}  // namespace warpscope::files
