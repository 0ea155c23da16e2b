#include <cstring>

#include "fuzz.h"
#include "gl/png.h"
#include "ui/edits/file_opener.h"

// A PNG that is dropped on the window. Its checksums are put right first, since all other pictures
// are refused at once.
namespace {

using namespace warpscope;

/// CRC-32 of a chunk's type and data (PNG specification, annex D).
std::uint32_t crc(std::string_view bytes) {
    std::uint32_t value = 0xffffffff;
    for (const char byte : bytes) {
        value ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0xedb88320 : 0);
    }
    return ~value;
}

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = at; i < at + 4; ++i)
        number = number << 8 | static_cast<unsigned char>(bytes[i]);
    return number;
}

/// A chunk is a length, a type of 4 bytes, that much data, and a checksum.
std::string with_checksums(std::string png) {
    constexpr std::size_t around = 12, signature = 8;
    for (std::size_t at = signature; at + around <= png.size();) {
        const std::size_t length = number_at(png, at);
        if (length > png.size() - at - around) break;
        const std::uint32_t sum = crc(std::string_view(png).substr(at + 4, 4 + length));
        for (int i = 0; i < 4; ++i)
            png[at + 8 + length + std::size_t(i)] = char(sum >> (24 - 8 * i));
        at += around + length;
    }
    return png;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const tests::FuzzFolder folder;
    const std::string png = with_checksums(std::string(tests::text_of(data, size)));
    const ui::OpenedFile file = ui::read_file(folder.write("picture.png", png).string());
    tests::require(file.error.empty() == (file.entry != nullptr),
                   "a picture has an experiment or an error");
    if (file.entry) ui::run_settings(file.metadata, {});
    return 0;
}
