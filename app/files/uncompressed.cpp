#include "files/uncompressed.h"

#include <zstd.h>

#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

namespace warpscope::files {
namespace {

std::string uncompress(std::string_view compressed) {
    const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                            &ZSTD_freeDStream);
    ZSTD_inBuffer in{compressed.data(), compressed.size(), 0};
    std::string text;
    for (std::size_t left = 1; left != 0;) {
        const std::size_t begin = text.size();
        text.resize(begin + ZSTD_DStreamOutSize());
        ZSTD_outBuffer out{text.data() + begin, text.size() - begin, 0};
        left = ZSTD_decompressStream(stream.get(), &out, &in);
        if (ZSTD_isError(left) || (out.pos == 0 && left != 0))
            throw std::logic_error("a text that is built in can't be read");
        text.resize(begin + out.pos);
    }
    return text;
}

}  // namespace

std::string_view uncompressed(std::string_view built_in) {
    const bool is_compressed =
        ZSTD_getFrameContentSize(built_in.data(), built_in.size()) != ZSTD_CONTENTSIZE_ERROR;
    if (!is_compressed) return built_in;
    static std::mutex mutex;
    static std::map<const char*, std::string> texts;
    const std::lock_guard lock(mutex);
    std::string& text = texts[built_in.data()];
    if (text.empty()) text = uncompress(built_in);
    return text;
}

}  // namespace warpscope::files
