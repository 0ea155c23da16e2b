#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

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

/// Writes a new file and renames it, so that `file` always holds all of its old bytes or all of its
/// new ones. A symbolic link stays, and the file that it names is replaced. Permissions of a
/// replaced file stay. Throws std::system_error that names the file; then there is no new
/// one.
void write_whole_file(const std::filesystem::path& file, std::string_view bytes);

/// Throws std::system_error where write_whole_file() could not make its new file. Changes nothing.
void check_whole_file(const std::filesystem::path& file);

}  // namespace warpscope::files
