#include "programs/images/fat_binary.h"

#include <elf.h>
#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "programs/images/line_table.h"
#include "programs/images/ptx_link.h"

// The format of fat binaries is not documented. This is what nvcc 11.8 to 13.0 write.

namespace warpscope::programs {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint32_t wrapper_magic = 0x466243B1, fat_binary_magic = 0xBA55ED50;
constexpr std::uint16_t ptx_kind = 1, elf_kind = 2;
constexpr std::uint64_t lz4_flag = 0x2000, zstd_flag = 0x8000;
/// Texts of this size are no kernels, and a damaged length must not take all memory.
constexpr std::uint64_t most_text_bytes = std::uint64_t(1) << 28;

struct Wrapper {
    std::uint32_t magic, version;
    const void* fat_binary;
    const void* const* others;  ///< version 2: a list with a null at its end (nvcc -rdc=true)
};
struct Header {
    std::uint32_t magic;
    std::uint16_t version, header_bytes;
    std::uint64_t bytes;  ///< behind the header
};
struct Entry {
    std::uint16_t kind, version;
    std::uint32_t header_bytes;
    std::uint64_t stored_bytes;  ///< with what fills it up to a multiple of 8
    std::uint32_t compressed_bytes, unused;
    std::uint16_t minor, major;
    std::uint32_t architecture, name_offset, name_bytes;
    std::uint64_t flags, unused_too, plain_bytes;
};

/// Reads a structure at the beginning of the bytes; nullopt if they are too few.
template <class T>
std::optional<T> read(Bytes bytes) {
    if (bytes.size() < sizeof(T)) return {};
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

/// Returns the plain bytes of an entry; nullopt if they are damaged.
std::optional<std::string> unpack(const Entry& entry, Bytes stored) {
    if (!(entry.flags & (lz4_flag | zstd_flag)))
        return std::string(reinterpret_cast<const char*>(stored.data()), stored.size());
    if (entry.compressed_bytes > stored.size() || entry.plain_bytes > most_text_bytes) return {};
    std::string plain(entry.plain_bytes, '\0');
    const auto* const packed = reinterpret_cast<const char*>(stored.data());
    const bool whole = entry.flags & lz4_flag
                           ? LZ4_decompress_safe(packed, plain.data(), int(entry.compressed_bytes),
                                                 int(plain.size())) == int(plain.size())
                           : ZSTD_decompress(plain.data(), plain.size(), packed,
                                             entry.compressed_bytes) == plain.size();
    if (!whole) return {};
    return plain;
}

Image read_entry(const Entry& entry, Bytes stored) {
    Image image{.architecture = entry.architecture};
    const auto plain = unpack(entry, stored);
    if (!plain)
        image.problem = "its kernels are compressed in a way that could not be read";
    else if (entry.kind == ptx_kind)
        image.ptx = plain->substr(0, plain->find('\0'));
    else if (entry.kind == elf_kind) {
        image.ptx = ptx_of_cubin(std::as_bytes(std::span(*plain)));
        image.of_machine_code = true;
    }
    return image;
}

/// Calls `visit` with each entry of a fat binary and its stored bytes. Returns false if the fat
/// binary is damaged.
template <class Visit>
bool for_each_entry(Bytes bytes, const Visit& visit) {
    const auto header = read<Header>(bytes);
    if (!header || header->magic != fat_binary_magic || header->header_bytes > bytes.size())
        return false;
    Bytes rest = bytes.subspan(header->header_bytes);
    if (header->bytes < rest.size()) rest = rest.first(header->bytes);
    while (const auto entry = read<Entry>(rest)) {
        if (entry->header_bytes < sizeof(Entry) || entry->header_bytes > rest.size() ||
            entry->stored_bytes > rest.size() - entry->header_bytes)
            return false;
        visit(*entry, rest.subspan(entry->header_bytes, entry->stored_bytes));
        rest = rest.subspan(entry->header_bytes + entry->stored_bytes);
    }
    return true;
}

/// The header says how long a fat binary in memory is.
Bytes bytes_at(const void* data) {
    Header header;
    std::memcpy(&header, data, sizeof header);
    return {static_cast<const std::byte*>(data), header.header_bytes + header.bytes};
}

bool is_linked(const Wrapper& wrapper) {
    return wrapper.version == 2 && wrapper.others;
}

/// The fat binaries of a wrapper: several where nvcc -rdc=true has linked them.
std::vector<const void*> fat_binaries_of(const Wrapper& wrapper) {
    if (!is_linked(wrapper)) return {wrapper.fat_binary};
    std::vector<const void*> all;
    for (const void* const* other = wrapper.others; *other; ++other) all.push_back(*other);
    return all;
}

Wrapper wrapper_at(const void* data) {
    Wrapper wrapper;
    std::memcpy(&wrapper, data, sizeof wrapper);
    return wrapper;
}

std::vector<Image> read_wrapper(const Wrapper& wrapper) {
    if (!is_linked(wrapper)) return read_fat_binary(bytes_at(wrapper.fat_binary));
    Image linked;
    std::vector<std::string> texts;
    for (const void* const one : fat_binaries_of(wrapper)) {
        const std::vector<Image> images = read_fat_binary(bytes_at(one));
        const Image* const image = newest_with_ptx(images);
        if (!image) return images;  // they say why
        // nvcc -rdc=true adds CUDA's device runtime to every program. The emulator has no dynamic
        // parallelism: a kernel that launches kernels is refused by the name of what it calls.
        if (image->ptx.find("__cuda_syscall_") != std::string::npos) continue;
        linked.architecture = std::max(linked.architecture, image->architecture);
        texts.push_back(image->ptx);
    }
    linked.ptx = link_ptx(texts);
    return {linked};
}

/// The section headers stand behind all else in nvcc's ELF files.
std::size_t elf_bytes(const void* data) {
    Elf64_Ehdr header;
    std::memcpy(&header, data, sizeof header);
    std::size_t end = header.e_shoff + std::size_t(header.e_shnum) * sizeof(Elf64_Shdr);
    return std::max(end, header.e_phoff + std::size_t(header.e_phnum) * sizeof(Elf64_Phdr));
}

}  // namespace

int newest_architecture_with_ptx(const void* data) {
    const Wrapper wrapper = wrapper_at(data);
    if (wrapper.magic != wrapper_magic) return 0;
    int newest = 0;
    for (const void* const one : fat_binaries_of(wrapper))
        for_each_entry(bytes_at(one), [&](const Entry& entry, Bytes) {
            if (entry.kind == ptx_kind) newest = std::max(newest, int(entry.architecture));
        });
    return newest;
}

const Image* newest_with_ptx(const std::vector<Image>& images) {
    const auto rank = [](const Image& image) {
        return std::tuple(!image.ptx.empty(), image.architecture, !image.of_machine_code);
    };
    const auto newest = std::ranges::max_element(images, {}, rank);
    return newest == images.end() || newest->ptx.empty() ? nullptr : &*newest;
}

std::vector<Image> read_fat_binary(Bytes bytes) {
    std::vector<Image> images;
    const bool whole = for_each_entry(bytes, [&](const Entry& entry, Bytes stored) {
        images.push_back(read_entry(entry, stored));
    });
    if (!whole) images.push_back({.problem = "its fat binary is damaged"});
    return images;
}

std::vector<Image> read_images(const void* data) {
    std::uint32_t magic;
    std::memcpy(&magic, data, sizeof magic);
    if (magic == wrapper_magic) return read_wrapper(wrapper_at(data));
    if (magic == fat_binary_magic) return read_fat_binary(bytes_at(data));
    if (!std::memcmp(data, ELFMAG, SELFMAG))
        return {{.ptx = ptx_of_cubin({static_cast<const std::byte*>(data), elf_bytes(data)})}};
    return {{.ptx = static_cast<const char*>(data)}};
}

namespace {

// Machine code that nvcc, NVRTC and ptxas make with -lineinfo or -G: an ELF file with the PTX that
// it was made of, in which the lines with .loc are empty, and with two tables of lines for the
// machine code. One has the lines of the PTX, the other one those of the source.
class ElfFile {
  public:
    explicit ElfFile(Bytes bytes) : bytes_(bytes) {
        const auto header = read<Elf64_Ehdr>(0);
        if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG)) return;
        for (std::size_t i = 0; i < header->e_shnum; ++i)
            if (const auto section = read<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr)))
                sections_.push_back(*section);
        if (header->e_shstrndx < sections_.size()) names_ = contents(sections_[header->e_shstrndx]);
    }

    const Elf64_Shdr* find(std::string_view name) const {
        const auto has_name = [&](const Elf64_Shdr& section) {
            return section.sh_name < names_.size() &&
                   text_at(names_.subspan(section.sh_name)) == name;
        };
        const auto found = std::ranges::find_if(sections_, has_name);
        return found == sections_.end() ? nullptr : &*found;
    }
    Bytes contents(const Elf64_Shdr& section) const {
        if (section.sh_offset > bytes_.size() ||
            section.sh_size > bytes_.size() - section.sh_offset)
            return {};
        return bytes_.subspan(section.sh_offset, section.sh_size);
    }
    Bytes contents(std::string_view name) const {
        const Elf64_Shdr* const section = find(name);
        return section ? contents(*section) : Bytes();
    }

    /// The rows of a table of lines.
    std::vector<LineRow> lines(const std::string& name) const {
        std::map<std::uint64_t, std::uint32_t> sections;
        if (const Elf64_Shdr* const relocations = find(".rel" + name)) {
            if (relocations->sh_link >= sections_.size()) return {};
            const Bytes symbols = contents(sections_[relocations->sh_link]),
                        all = contents(*relocations);
            for (std::size_t at = 0; at + sizeof(Elf64_Rel) <= all.size();
                 at += sizeof(Elf64_Rel)) {
                Elf64_Rel relocation;
                std::memcpy(&relocation, &all[at], sizeof relocation);
                const std::size_t symbol = ELF64_R_SYM(relocation.r_info) * sizeof(Elf64_Sym);
                if (symbol + sizeof(Elf64_Sym) > symbols.size()) continue;
                Elf64_Sym found;
                std::memcpy(&found, &symbols[symbol], sizeof found);
                sections[relocation.r_offset] = found.st_shndx;
            }
        }
        return read_line_table(contents(name), sections);
    }

  private:
    template <class T>
    std::optional<T> read(std::uint64_t at) const {
        if (at > bytes_.size() || sizeof(T) > bytes_.size() - at) return {};
        T value;
        std::memcpy(&value, bytes_.data() + at, sizeof value);
        return value;
    }
    static std::string_view text_at(Bytes bytes) {
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return text.substr(0, text.find('\0'));
    }

    Bytes bytes_, names_;
    std::vector<Elf64_Shdr> sections_;
};

/// The row of the source for each line of the PTX of which there is machine code.
std::map<int, LineRow> source_lines(const ElfFile& file) {
    const auto place = [](const LineRow& row) { return std::pair(row.section, row.address); };
    std::vector<LineRow> rows = file.lines(".debug_line");
    std::ranges::stable_sort(rows, {}, place);
    std::map<int, LineRow> found;
    for (const LineRow& ptx : file.lines(".nv_debug_line_sass")) {
        const auto behind = std::ranges::upper_bound(rows, place(ptx), {}, place);
        if (behind == rows.begin()) continue;
        const LineRow& row = *std::prev(behind);
        if (row.section == ptx.section && row.line > 0) found.try_emplace(ptx.line, row);
    }
    return found;
}

/// Writes .loc into the empty lines of the functions. Such a line is that of the instructions
/// behind it, up to the next one.
std::string with_lines(const std::string& ptx, const std::map<int, LineRow>& sources) {
    std::string text;
    std::map<std::string, int> files;
    int line = 0, depth = 0, empty_line = 0;  // 0: none waits
    std::size_t empty_at = 0;                 // in `text`
    for (std::size_t at = 0; at < ptx.size();) {
        const std::size_t end = std::min(ptx.find('\n', at), ptx.size());
        const std::string_view now = std::string_view(ptx).substr(at, end - at);
        at = end + 1;
        ++line;
        depth += int(std::ranges::count(now, '{')) - int(std::ranges::count(now, '}'));
        if (now.empty() && depth > 0) {
            empty_line = line;
            empty_at = text.size();
        }
        const auto source = sources.find(line);
        if (empty_line && source != sources.end()) {
            const auto number = files.try_emplace(source->second.file, int(files.size()) + 1);
            text.insert(empty_at,
                        fmt::format(".loc {} {} 0", number.first->second, source->second.line));
            empty_line = 0;
        }
        text.append(now).push_back('\n');
    }
    for (const auto& [name, number] : files) text += fmt::format(".file {} \"{}\"\n", number, name);
    return text;
}

}  // namespace

std::string ptx_of_cubin(Bytes bytes) {
    const ElfFile file(bytes);
    const Bytes text = file.contents(".nv_debug_ptx_txt");  // a zero byte ends each line
    std::string ptx(reinterpret_cast<const char*>(text.data()), text.size());
    std::ranges::replace(ptx, '\0', '\n');
    return ptx.empty() ? ptx : with_lines(ptx, source_lines(file));
}

}  // namespace warpscope::programs
