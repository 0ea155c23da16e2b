#include "launches/arrays/array_file.h"

#include <fmt/format.h>
#include <png.h>

#include <cstring>
#include <optional>
#include <stdexcept>

#include "files/regular_file.h"

namespace warpscope::launches {
namespace {

constexpr std::uint64_t largest_file = std::uint64_t(4) << 30;
constexpr std::string_view npy_magic = "\x93NUMPY";

std::string read_whole(const std::filesystem::path& path) {
    constexpr std::size_t part = std::size_t(1) << 20;
    files::RegularFile file(path);
    std::string text;
    for (std::string next = file.read(part); !next.empty(); next = file.read(part)) {
        text += next;
        if (text.size() > largest_file) throw LaunchError("it is larger than 4 GiB");
    }
    return text;
}

/// The text after "'key':" in the header of a .npy file, which is a literal of a Python dict.
std::string_view value_of(std::string_view header, std::string_view key) {
    const std::size_t at = header.find(fmt::format("'{}':", key));
    if (at == std::string_view::npos) throw LaunchError(fmt::format("its header has no '{}'", key));
    header.remove_prefix(at + key.size() + 3);
    header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
    return header;
}

ElementType npy_type(std::string_view descr) {
    // The word consists of the byte order, the kind, and the bytes of one number.
    const std::string word(descr.substr(0, descr.find('\'', 1)));
    ElementType type;
    if (word.size() == 4 && (word[1] == '<' || word[1] == '|')) {
        const char kind = word[2];
        type.bytes = unsigned(word[3] - '0');
        const bool fits = type.bytes == 1 || type.bytes == 2 || type.bytes == 4 || type.bytes == 8;
        type.kind = kind == 'f'   ? ElementKind::floating
                    : kind == 'i' ? ElementKind::signed_integer
                    : kind == 'u' ? ElementKind::unsigned_integer
                                  : ElementKind::boolean;
        const bool known = kind == 'f'   ? type.bytes >= 2
                           : kind == 'b' ? type.bytes == 1
                                         : kind == 'i' || kind == 'u';
        if (fits && known) return type;
    }
    throw LaunchError(fmt::format(
        "its numbers are {}': save bool, integers, float16, float32 or float64, little-endian",
        word));
}

std::vector<std::size_t> npy_shape(std::string_view text) {
    const std::size_t end = text.find(')');
    if (!text.starts_with('(') || end == std::string_view::npos)
        throw LaunchError("its header has no shape");
    std::vector<std::size_t> shape;
    std::optional<std::size_t> number;
    std::size_t product = 1;
    const auto close = [&] {
        if (!number) return;
        if (__builtin_mul_overflow(product, *number, &product) || product > largest_file)
            throw LaunchError("its shape is too large");
        shape.push_back(*number);
        number.reset();
    };
    for (const char c : text.substr(1, end - 1)) {
        if (c >= '0' && c <= '9') {
            number = number.value_or(0) * 10 + std::size_t(c - '0');
            if (*number > largest_file) throw LaunchError("its shape is too large");
        } else {
            close();
        }
    }
    close();
    return shape;
}

/// NumPy's description of the format: numpy.lib.format.
Array parse_npy(std::string_view content, const ElementType& expected) {
    if (!content.starts_with(npy_magic) || content.size() < 12)
        throw LaunchError("it is not a file of NumPy");
    const bool long_header = content[6] >= 2;  // the version
    std::size_t length = 0;
    for (int i = long_header ? 3 : 1; i >= 0; --i)
        length = length << 8 | static_cast<unsigned char>(content[std::size_t(8 + i)]);
    const std::size_t begin = long_header ? 12 : 10;
    if (length > content.size() - begin) throw LaunchError("it ends within its header");
    const std::string_view header = content.substr(begin, length);
    if (!value_of(header, "fortran_order").starts_with("False"))
        throw LaunchError("it is in Fortran order: save numpy.ascontiguousarray() of it");
    ElementType type = npy_type(value_of(header, "descr"));
    std::vector<std::size_t> shape = npy_shape(value_of(header, "shape"));
    if (expected.lanes > 1 && shape.size() > 1 && shape.back() == expected.lanes) {
        type.lanes = expected.lanes;
        shape.pop_back();
    }
    if (shape.empty()) shape.push_back(1);
    Array array(type, std::move(shape));
    const std::string_view data = content.substr(begin + length);
    if (data.size() != array.bytes.size())
        throw LaunchError(fmt::format("it has {} bytes of numbers, its shape needs {}", data.size(),
                                      array.bytes.size()));
    std::memcpy(array.bytes.data(), data.data(), data.size());
    return array;
}

Array parse_png(std::string_view content) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(&image, content.data(), content.size()))
        throw LaunchError(fmt::format("it is not a PNG file ({})", image.message));
    image.format = PNG_FORMAT_RGBA;
    Array array({ElementKind::unsigned_integer, 1, 4}, {image.height, image.width});
    const bool read = png_image_finish_read(&image, nullptr, array.bytes.data(), 0, nullptr) != 0;
    const std::string message = image.message;
    png_image_free(&image);
    if (!read) throw LaunchError(fmt::format("it is damaged ({})", message));
    return array;
}

Array parse_raw(std::string_view content, const ElementType& type) {
    if (content.empty() || content.size() % type.size() != 0)
        throw LaunchError(fmt::format("its {} bytes are no whole number of elements of type {}",
                                      content.size(), to_string(type)));
    Array array(type, {content.size() / type.size()});
    std::memcpy(array.bytes.data(), content.data(), content.size());
    return array;
}

}  // namespace

Array read_array(const std::filesystem::path& file, const ElementType& expected) {
    try {
        const std::string content = read_whole(file);
        if (file.extension() == ".npy") return parse_npy(content, expected);
        if (file.extension() == ".png") return parse_png(content);
        return parse_raw(content, expected);
    } catch (const std::runtime_error& error) {
        throw LaunchError(fmt::format("{}: {}", file.string(), error.what()));
    } catch (const LaunchError& error) {
        throw LaunchError(fmt::format("{}: {}", file.string(), error.what()));
    }
}

std::string to_npy(const Array& array) {
    if (array.type.kind == ElementKind::bfloat) return to_npy(converted(array, ElementType()));
    const char kind = array.type.kind == ElementKind::floating         ? 'f'
                      : array.type.kind == ElementKind::signed_integer ? 'i'
                      : array.type.kind == ElementKind::boolean        ? 'b'
                                                                       : 'u';
    std::vector<std::size_t> shape = array.shape;
    if (array.type.lanes > 1) shape.push_back(array.type.lanes);
    std::string header = fmt::format(
        "{{'descr': '{}{}{}', 'fortran_order': False, 'shape': ({},), }}",
        array.type.bytes == 1 ? '|' : '<', kind, array.type.bytes, fmt::join(shape, ", "));
    // The numbers begin at a multiple of 64 bytes.
    header.append(63 - (npy_magic.size() + 4 + header.size()) % 64, ' ');
    header += '\n';
    std::string text(npy_magic);
    text += '\x01';
    text += '\0';
    text += char(header.size() & 255);
    text += char(header.size() >> 8);
    text += header;
    text.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
    return text;
}

std::string to_csv(const Array& array) {
    const std::size_t last = array.shape.empty() ? 1 : array.shape.back();
    const std::size_t columns =
        (array.shape.size() < 2 ? 1 : std::max<std::size_t>(1, last)) * array.type.lanes;
    std::string text;
    for (std::size_t i = 0; i < array.numbers(); ++i) {
        // A float has fewer digits than the double of its value.
        const Number number = array.at(i);
        text += array.type.is_real() && array.type.bytes <= 4
                    ? fmt::format("{}", float(real(number)))
                    : to_string(number);
        text += (i + 1) % columns == 0 ? '\n' : ',';
    }
    return text;
}

}  // namespace warpscope::launches
