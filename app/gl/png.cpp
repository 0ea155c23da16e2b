#include "gl/png.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <system_error>

#include "files/regular_file.h"
#include "gl/error.h"

// libpng reports errors with longjmp, which runs no destructors. So a function that calls setjmp
// owns nothing that must be freed; its caller does.
namespace warpscope::gl {
namespace {

constexpr png_uint_32 largest_side = 1 << 15;
/// A file may announce chunks of gigabytes. The longest text that Warpscope saves is a kernel
/// source of 1 MiB.
constexpr png_alloc_size_t largest_chunk = 4 << 20;
constexpr png_uint_32 most_texts = 128;

struct Failure {
    char words[200] = "unknown error";
};

[[noreturn]] void on_error(png_structp png, png_const_charp words) {
    auto* failure = static_cast<Failure*>(png_get_error_ptr(png));
    std::strncpy(failure->words, words, sizeof failure->words - 1);
    png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

struct Writer {
    Failure failure;
    png_structp png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, &failure, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : nullptr;
    Writer() = default;
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    ~Writer() { png_destroy_write_struct(&png, &info); }
};

struct Reader {
    Failure failure;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &failure, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : nullptr;
    std::span<const std::uint8_t> rest;
    Reader() = default;
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
};

void append(png_structp png, png_bytep bytes, std::size_t count) {
    auto* file = static_cast<std::vector<std::uint8_t>*>(png_get_io_ptr(png));
    try {
        file->insert(file->end(), bytes, bytes + count);
    } catch (const std::bad_alloc&) {
        png_error(png, "out of memory");
    }
}

void take(png_structp png, png_bytep bytes, std::size_t count) {
    auto* rest = static_cast<std::span<const std::uint8_t>*>(png_get_io_ptr(png));
    if (count > rest->size()) png_error(png, "the file ends early");
    std::copy_n(rest->begin(), count, bytes);
    *rest = rest->subspan(count);
}

bool is_ascii(const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > 0; });
}

std::vector<png_text> text_chunks(const Metadata& metadata) {
    std::vector<png_text> chunks;
    for (const auto& [keyword, text] : metadata) {
        const bool printable = std::all_of(keyword.begin(), keyword.end(),
                                           [](char c) { return c >= ' ' && c <= '~'; });
        if (keyword.empty() || keyword.size() > 79 || !printable)
            throw Error(
                fmt::format("\"{}\" can't be a PNG keyword: 1 to 79 ASCII characters", keyword));
        if (text.find('\0') != std::string::npos)
            throw Error(fmt::format("the PNG text \"{}\" holds a zero byte", keyword));
        png_text chunk{};
        chunk.compression = is_ascii(text) ? PNG_TEXT_COMPRESSION_NONE : PNG_ITXT_COMPRESSION_NONE;
        chunk.key = const_cast<char*>(keyword.c_str());
        chunk.text = const_cast<char*>(text.c_str());
        chunks.push_back(chunk);
    }
    return chunks;
}

bool encode_into(Writer& writer, std::vector<std::uint8_t>& file, std::span<png_bytep> rows,
                 int width, std::span<const png_text> texts) {
    if (setjmp(png_jmpbuf(writer.png))) return false;
    png_set_write_fn(writer.png, &file, append, nullptr);
    png_set_user_limits(writer.png, largest_side, largest_side);
    png_set_IHDR(writer.png, writer.info, png_uint_32(width), png_uint_32(rows.size()), 8,
                 PNG_COLOR_TYPE_RGBA, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (!texts.empty()) png_set_text(writer.png, writer.info, texts.data(), int(texts.size()));
    png_write_info(writer.png, writer.info);
    png_write_image(writer.png, rows.data());
    png_write_end(writer.png, nullptr);
    return true;
}

/// Reads all chunks before the pixels.
bool read_beginning(Reader& reader) {
    if (setjmp(png_jmpbuf(reader.png))) return false;
    png_set_read_fn(reader.png, &reader.rest, take);
    png_set_user_limits(reader.png, largest_side, largest_side);
    png_set_benign_errors(reader.png, 0);  // else a chunk that is too large is a warning
    png_set_chunk_malloc_max(reader.png, largest_chunk);
    png_set_chunk_cache_max(reader.png, most_texts);
    png_read_info(reader.png, reader.info);
    return true;
}

bool start_decoding(Reader& reader, png_uint_32& width, png_uint_32& height) {
    if (setjmp(png_jmpbuf(reader.png))) return false;
    png_set_expand(reader.png);  // palette, small grey and tRNS to 8-bit channels
    png_set_strip_16(reader.png);
    png_set_gray_to_rgb(reader.png);
    png_set_add_alpha(reader.png, 0xff, PNG_FILLER_AFTER);
    png_set_interlace_handling(reader.png);
    png_read_update_info(reader.png, reader.info);
    width = png_get_image_width(reader.png, reader.info);
    height = png_get_image_height(reader.png, reader.info);
    if (png_get_rowbytes(reader.png, reader.info) != std::size_t(width) * 4)
        png_error(reader.png, "its pixels can't be converted to RGBA");
    return true;
}

bool finish_decoding(Reader& reader, std::span<png_bytep> rows) {
    if (setjmp(png_jmpbuf(reader.png))) return false;
    png_read_image(reader.png, rows.data());
    png_read_end(reader.png, reader.info);
    return true;
}

/// The text of a chunk; tEXt chunks are in Latin-1.
std::string utf8_of(const png_text& chunk) {
    const bool latin1 = chunk.compression < PNG_ITXT_COMPRESSION_NONE;
    std::string text;
    for (const char* c = chunk.text; *c; ++c) {
        const auto byte = static_cast<unsigned char>(*c);
        if (latin1 && byte >= 0x80) {
            text += char(0xc0 | (byte >> 6));
            text += char(0x80 | (byte & 0x3f));
        } else {
            text += *c;
        }
    }
    return text;
}

/// The texts that were read.
Metadata texts_of(const Reader& reader) {
    png_textp texts = nullptr;
    int count = 0;
    png_get_text(reader.png, reader.info, &texts, &count);
    Metadata metadata;
    for (const png_text& chunk : std::span(texts, std::size_t(count)))
        metadata.emplace_back(chunk.key, utf8_of(chunk));
    return metadata;
}

}  // namespace

std::vector<std::uint8_t> encode_png(int width, int height, std::span<const std::uint8_t> rgba,
                                     const Metadata& metadata) {
    if (width < 1 || height < 1 || rgba.size() != std::size_t(width) * std::size_t(height) * 4)
        throw Error(
            fmt::format("{} bytes can't be a {}x{} RGBA picture", rgba.size(), width, height));
    const std::vector<png_text> texts = text_chunks(metadata);
    std::vector<png_bytep> rows(static_cast<std::size_t>(height));
    for (std::size_t y = 0; y < rows.size(); ++y)
        rows[y] = const_cast<png_bytep>(&rgba[y * std::size_t(width) * 4]);
    std::vector<std::uint8_t> file;
    Writer writer;
    if (!writer.info) throw Error("libpng can't start: out of memory");
    if (!encode_into(writer, file, rows, width, texts)) throw Error(writer.failure.words);
    return file;
}

void write_png(const std::filesystem::path& path, int width, int height,
               std::span<const std::uint8_t> rgba, const Metadata& metadata) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        throw Error(fmt::format("can't write {}: it exists and is not a file", path.string()));
    std::vector<std::uint8_t> bytes;
    try {
        bytes = encode_png(width, height, rgba, metadata);
    } catch (const Error& error) {
        throw Error(fmt::format("can't write {}: {}", path.string(), error.what()));
    }
    try {
        files::write_whole_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    } catch (const std::system_error& error) {
        throw Error(fmt::format("can't write {}: {}; choose a folder where you may write",
                                path.string(), error.code().message()));
    }
}

Image decode_png(std::span<const std::uint8_t> bytes) {
    Reader reader;
    if (!reader.info) throw Error("libpng can't start: out of memory");
    reader.rest = bytes;
    png_uint_32 width = 0, height = 0;
    if (!read_beginning(reader) || !start_decoding(reader, width, height))
        throw Error(reader.failure.words);

    Image image{int(width), int(height), {}, {}};
    image.rgba.resize(std::size_t(width) * height * 4);
    std::vector<png_bytep> rows(height);
    for (std::size_t y = 0; y < height; ++y) rows[y] = &image.rgba[y * width * 4];
    if (!finish_decoding(reader, rows)) throw Error(reader.failure.words);

    image.metadata = texts_of(reader);
    return image;
}

Metadata read_png_metadata(std::span<const std::uint8_t> bytes) {
    Reader reader;
    if (!reader.info) throw Error("libpng can't start: out of memory");
    reader.rest = bytes;
    if (!read_beginning(reader)) throw Error(reader.failure.words);
    return texts_of(reader);
}

}  // namespace warpscope::gl
