#include "launches/files/capture_archive.h"

#include <fmt/format.h>
#include <unistd.h>
#include <unzip.h>
#include <zip.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/cache.h"
#include "emulator/warp/splitmix64.h"
#include "launches/arrays/expression.h"
#include "launches/files/program_capture.h"

namespace warpscope::launches {

namespace {

namespace fs = std::filesystem;

/// What a capture may have at most; the library in a program ends captures at this size too. In a
/// page, which has 32-bit addresses, it is less.
constexpr std::uint64_t most_bytes = std::uint64_t(sizeof(void*) < 8 ? 1 : 4) << 30,
                        most_files = 1 << 20;

using Unpacker = std::unique_ptr<void, int (*)(unzFile)>;

[[noreturn]] void fail(const fs::path& file, const std::string& what) {
    throw LaunchError(fmt::format("{}: {}", file.string(), what));
}

/// A file in an archive.
struct Member {
    std::string name;
    std::uint64_t bytes = 0, checksum = 0;
};

/// "program.json", "memory/12.bin" and "sources/12/src/a.cu" are names in a capture. Others could
/// lie outside of its folder.
bool is_name_in_capture(std::string_view name) {
    std::vector<std::string_view> parts;
    for (std::string_view rest = name;;) {
        const std::size_t slash = rest.find('/');
        parts.push_back(rest.substr(0, slash));
        if (slash == rest.npos) break;
        rest.remove_prefix(slash + 1);
    }
    const bool is_plain = std::ranges::none_of(parts, [](std::string_view part) {
        return part.empty() || part == "." || part == ".." ||
               part.find_first_of(std::string_view("\\\0", 2)) != part.npos;
    });
    const bool has_depth = parts.size() == 1 || (parts.size() == 2 && parts[0] == "memory") ||
                           (parts.size() > 2 && parts[0] == "sources");
    return is_plain && has_depth;
}

/// The file that the unpacker is at.
Member member_at(unzFile from, const fs::path& archive) {
    unz_file_info64 info{};
    char name[4096];
    if (unzGetCurrentFileInfo64(from, &info, name, sizeof name, nullptr, 0, nullptr, 0) ||
        info.size_filename >= sizeof name)
        fail(archive, "its list of files is damaged");
    return {{name, info.size_filename}, info.uncompressed_size, info.crc};
}

std::vector<Member> members_of(unzFile from, const fs::path& archive) {
    std::vector<Member> members;
    std::uint64_t bytes = 0;
    for (int at = unzGoToFirstFile(from); at != UNZ_END_OF_LIST_OF_FILE;
         at = unzGoToNextFile(from)) {
        if (at || members.size() == most_files) fail(archive, "its list of files is damaged");
        Member member = member_at(from, archive);
        if (member.name.ends_with('/')) continue;  // a folder, which its files name too
        if (!is_name_in_capture(member.name))
            fail(archive, fmt::format("{} is no name in a capture", member.name));
        if (member.bytes > most_bytes - bytes)
            fail(archive, fmt::format("it unpacks to more than {} GiB", most_bytes >> 30));
        bytes += member.bytes;
        members.push_back(std::move(member));
    }
    if (std::ranges::find(members, "program.json", &Member::name) == members.end())
        fail(archive, "it is no capture of a program: it holds no program.json");
    return members;
}

/// Unpacks the file that the unpacker is at.
void unpack(unzFile from, const Member& member, const fs::path& to, const fs::path& archive) {
    bool is_whole = unzOpenCurrentFile(from) == UNZ_OK;
    std::ofstream out(to, std::ios::binary);
    std::vector<char> part(1 << 16);
    for (std::uint64_t rest = member.bytes; is_whole && rest > 0;) {
        const int read = unzReadCurrentFile(from, part.data(),
                                            unsigned(std::min<std::uint64_t>(part.size(), rest)));
        is_whole = read > 0;
        if (!is_whole) break;
        out.write(part.data(), read);
        rest -= std::uint64_t(read);
    }
    // unzCloseCurrentFile() compares the checksum.
    if (unzCloseCurrentFile(from) != UNZ_OK || !is_whole)
        fail(archive, fmt::format("{} is damaged", member.name));
    out.close();
    if (!out) fail(to, "it cannot be written");
}

void unpack_all(unzFile from, const fs::path& folder, const fs::path& archive) {
    fs::create_directories(folder / "memory");
    for (int at = unzGoToFirstFile(from); at == UNZ_OK; at = unzGoToNextFile(from)) {
        const Member member = member_at(from, archive);
        if (member.name.ends_with('/')) continue;
        const fs::path to = folder / member.name;
        fs::create_directories(to.parent_path());
        unpack(from, member, to, archive);
    }
}

void pack(zipFile to, const fs::path& file, const std::string& name) {
    std::ifstream from(file, std::ios::binary);
    constexpr std::uintmax_t most_of_small_file = 0xffffffff;
    const bool is_large = fs::file_size(file) >= most_of_small_file;
    const zip_fileinfo no_date{};
    bool is_written =
        zipOpenNewFileInZip64(to, name.c_str(), &no_date, nullptr, 0, nullptr, 0, nullptr,
                              Z_DEFLATED, Z_DEFAULT_COMPRESSION, is_large) == ZIP_OK;
    for (std::vector<char> part(1 << 16); is_written && from;) {
        from.read(part.data(), std::streamsize(part.size()));
        is_written = zipWriteInFileInZip(to, part.data(), unsigned(from.gcount())) == ZIP_OK;
    }
    if (zipCloseFileInZip(to) != ZIP_OK || !is_written || !from.eof())
        fail(file, "it cannot be packed");
}

/// A folder for an archive with these files.
fs::path folder_for(const std::vector<Member>& members) {
    const fs::path cache = compiler::Cache::default_folder().parent_path();
    std::uint64_t hash = members.size();
    const auto add = [&](std::uint64_t word) { hash = emulator::splitmix64(hash ^ word); };
    for (const Member& member : members) {
        for (const char c : member.name) add(std::uint64_t(static_cast<unsigned char>(c)));
        add(member.bytes);
        add(member.checksum);
    }
    return (cache.empty() ? fs::temp_directory_path() / "warpscope" : cache) / "captures" /
           fmt::format("{:016x}", hash);
}

}  // namespace

void write_archive(const fs::path& folder, const fs::path& archive) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file()) files.push_back(entry.path());
    std::ranges::sort(files);
    const fs::path unfinished = archive.string() + ".part";
    const zipFile to = zipOpen64(unfinished.c_str(), APPEND_STATUS_CREATE);
    if (!to) fail(archive, "it cannot be written");
    try {
        for (const fs::path& file : files)
            pack(to, file, fs::relative(file, folder).generic_string());
    } catch (...) {
        zipClose(to, nullptr);
        fs::remove(unfinished);
        throw;
    }
    if (zipClose(to, nullptr) != ZIP_OK) {
        fs::remove(unfinished);
        fail(archive, "it cannot be written");
    }
    fs::rename(unfinished, archive);
}

fs::path unpacked(const fs::path& archive) {
    const Unpacker from(unzOpen64(archive.c_str()), unzClose);
    if (!from)
        fail(archive, fs::exists(archive) ? "it is no archive of a capture" : "it is not there");
    const fs::path folder = folder_for(members_of(from.get(), archive));
    if (read_capture(folder)) return folder;
    const fs::path unfinished = fmt::format("{}.{}", folder.string(), ::getpid());
    std::error_code ignored;
    try {
        unpack_all(from.get(), unfinished, archive);
        fs::remove_all(folder);
        fs::rename(unfinished, folder);
    } catch (const fs::filesystem_error& error) {
        fs::remove_all(unfinished, ignored);
        fail(archive, error.what());
    } catch (const LaunchError&) {
        fs::remove_all(unfinished, ignored);
        throw;
    }
    if (!read_capture(folder)) fail(archive, "its program.json is no list of launches");
    return folder;
}

}  // namespace warpscope::launches
