#include <iterator>

#include "compiler/cache.h"
#include "fuzz.h"

// A file in the cache of compiled kernels. The first byte of the input says how the rest becomes
// the file, so that damage is not all that is found: '+' puts the key that is looked for and a
// checksum in front of it, '#' a checksum.
namespace {

using namespace warpscope;

/// FNV-1a as 16 hexadecimal digits: the first bytes of a kept image.
std::string checksum(std::string_view bytes) {
    std::uint64_t value = 0xcbf29ce484222325;
    for (const char byte : bytes) {
        value ^= static_cast<unsigned char>(byte);
        value *= 0x100000001b3;
    }
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
    return digits;
}

/// A cache with one kept image.
struct KeptImage {
    tests::FuzzFolder folder;
    compiler::Cache cache{folder.path()};
    compiler::Request request{"kernels/k.cu", "__global__ void k() {}"};
    std::filesystem::path name;
    std::string key;  ///< the bytes between checksum and PTX

    KeptImage() {
        cache.keep(request, "13.0", {"the PTX", {}});
        for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
            name = entry.path().filename();
        std::ifstream file(folder.path() / name, std::ios::binary);
        const std::string bytes(std::istreambuf_iterator<char>(file), {});
        const std::size_t end = bytes.find("7:the PTX");
        tests::require(end != std::string::npos, "a kept image has its PTX after its length");
        key = bytes.substr(16, end - 16);
    }
    std::string file_of(std::string_view input) const {
        const std::string rest(input.substr(1));
        if (input[0] == '+') return checksum(key + rest) + key + rest;
        return input[0] == '#' ? checksum(rest) + rest : rest;
    }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const KeptImage kept;
    if (size == 0) return 0;
    kept.folder.write(kept.name, kept.file_of(tests::text_of(data, size)));
    const auto found = kept.cache.find(kept.request, "13.0");
    if (found) {
        tests::require(found->ptx.size() <= size, "an image is not larger than its file");
        kept.cache.keep(kept.request, "13.0", *found);
        const auto again = kept.cache.find(kept.request, "13.0");
        tests::require(again && *again == *found, "an image is found as it was kept");
    }
    return 0;
}
