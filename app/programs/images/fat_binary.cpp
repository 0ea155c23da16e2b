#include "programs/images/fat_binary.h"

#include <elf.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <tuple>

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

}  // namespace warpscope::programs
