#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "emulator/warp/textures.h"
#include "launches/arrays/array.h"
#include "launches/arrays/expression.h"

namespace warpscope::launches {

/// Seeded random numbers: evenly from [low, high), or normal with this mean and deviation.
struct RandomFill {
    enum class Distribution { uniform, normal };
    Distribution distribution = Distribution::uniform;
    double first = 0, second = 1;  ///< low and high, or mean and deviation
    std::uint64_t seed = 1;
};

/// The numbers of a buffer before a frame. An expression may use the scalars, the index `i` of the
/// element, its position `x` in the last dimension, `y` in the last but one, `z` in the one before,
/// its `lane`, and names of buffers, which are their addresses in bytes.
using Fill = std::variant<Expression, RandomFill, std::filesystem::path>;

/// An array in device memory.
struct BufferSpec {
    std::string name;
    std::optional<ElementType> type;  ///< none: that of the pointer that the buffer is passed to
    std::vector<Expression> shape;    ///< none: that of the file that fills it
    Fill fill = Expression("0");
    /// The buffer, perhaps this one, whose numbers after a frame this one holds when the next frame
    /// begins. Empty: `fill` fills it before each frame.
    std::string keep{};
    std::uint64_t address = 0;  ///< in the program whose launch was captured; 0: not known
};

/// The value of a kernel's parameter: an expression of the scalars, the name of a buffer and an
/// offset in elements, the name of a function, null for a null pointer, or values for the members
/// of a struct or the elements of an array.
struct ArgumentSpec {
    /// An expression, a buffer as in "x" and "x + 2", or the name of a function; none: null.
    std::optional<std::string> text;
    std::vector<std::pair<std::string, ArgumentSpec>> members{};  ///< not empty: a struct
    std::vector<ArgumentSpec> elements{};                         ///< not empty: an array
};

/// The bytes of an argument in a launch that a program has made.
struct CapturedArgument {
    std::vector<std::byte> bytes;
    /// The addresses among the bytes: at this offset stands the address of the buffer plus so many
    /// bytes.
    struct Address {
        std::string buffer;
        std::size_t bytes = 0;
    };
    std::map<std::size_t, Address> addresses{};
};

struct LaunchSpec {
    std::string kernel;                   ///< "saxpy", "reduce<256>"
    std::vector<Expression> grid, block;  ///< one to three
    Expression shared{"0"};               ///< bytes of dynamic shared memory
    bool cooperative = false;             ///< its blocks run together
    std::vector<Expression> cluster{};    ///< blocks of a cluster: one to three, or empty
    Expression repeat{"1"};  ///< the launch is made so often, `iteration` counts from 0
    /// By parameter. One that is not named takes the scalar or the buffer of its name.
    std::vector<std::pair<std::string, ArgumentSpec>> arguments;
    /// The arguments of a launch that a program has made, in the order of the parameters. They
    /// become `arguments` when the source is compiled and the types are known.
    std::vector<CapturedArgument> captured{};
};

/// A texture or surface object of a launch file: how kernels read a buffer by a handle.
struct TextureSpec {
    std::string name, buffer;
    bool linear = false;
    bool normalized_coordinates = false, normalized_numbers = false;
    std::array<emulator::TextureAddress, 3> address{emulator::TextureAddress::clamp,
                                                    emulator::TextureAddress::clamp,
                                                    emulator::TextureAddress::clamp};
    /// What the first dimension of the buffer counts; nullopt: nothing but elements.
    std::optional<emulator::Texture::Slices> slices{};
    bool operator==(const TextureSpec&) const = default;
};

/// What a buffer must hold after a frame.
struct Expectation {
    std::string buffer;
    std::variant<Fill, std::string> equals;  ///< numbers, or the name of another buffer
    double absolute = 0, relative = 0;       ///< |a - b| <= absolute + relative * |b|
};

enum class BufferView { automatic, colors, grey, map, plot, histogram };
/// Returns the view of a word. Throws LaunchError that lists the words.
BufferView parse_buffer_view(std::string_view word);

/// How kernels of a source file are launched: the content of a NAME.launch.json, which
/// docs/launch.md describes.
struct LaunchFile {
    std::filesystem::path source;  ///< CUDA C++ or PTX; relative to the launch file
    /// The PTX that a program has run. It runs as long as the source is what it was compiled from.
    std::filesystem::path ptx{};
    std::vector<std::filesystem::path> include{};  ///< folders of headers
    /// Macros as by -D of nvcc; an empty value is that of a macro that is only defined.
    std::vector<std::pair<std::string, std::string>> defines{};
    unsigned target = 0;  ///< compiler::Request::target
    /// A schedule file, likewise: the order in which the emulator runs warps. Empty: there is none.
    std::filesystem::path schedule{};
    /// A number can be changed in the window; a text is an expression of the scalars before it.
    std::vector<std::pair<std::string, std::variant<Number, Expression>>> scalars;
    std::vector<BufferSpec> buffers;
    std::vector<TextureSpec> textures{};
    std::vector<LaunchSpec> launches;
    std::vector<Expectation> expect;
    std::string show;  ///< the buffer that is shown at first; empty: the last one
    BufferView view = BufferView::automatic;
    bool marks = true;  ///< elements that differ from what is expected are red
    std::vector<std::pair<std::string, std::filesystem::path>> save;  ///< buffers to .npy or .csv
    std::filesystem::path file{};  ///< the launch file; paths in it are relative to its folder
    bool saved = true;             ///< `file` has this content
    bool built_in = false;         ///< a launch file of the gallery, perhaps changed
    /// A program's launch was captured: what the file expects is what that launch has left.
    bool of_program = false;

    std::filesystem::path in_folder(const std::filesystem::path& path) const {
        return file.parent_path() / path;
    }

    const BufferSpec* find_buffer(std::string_view name) const;
    const TextureSpec* find_texture(std::string_view name) const;
    /// Returns the index of a buffer in `buffers`. Throws LaunchError if there is none of this
    /// name.
    std::size_t index_of(std::string_view buffer) const;
};

/// Throw LaunchError unless a buffer, or a scalar, can have this name.
void check_buffer_name(std::string_view name);
void check_scalar_name(std::string_view name);

/// A fill as a person writes it in one line: an expression, "uniform(0, 1)", "normal(0, 1, seed 2)"
/// or "file(x.npy)"; and back.
std::string fill_text(const Fill& fill);
/// Throws LaunchError.
Fill parse_fill_text(std::string_view text);

/// Whether the value of the expression depends on one of these names, perhaps through scalars.
bool depends_on(const LaunchFile& file, const Expression& expression,
                std::span<const std::string> names);
/// Whether it depends on the frame: on `frame` or `time`.
bool depends_on_frame(const LaunchFile& file, const Expression& expression);

/// Calls `work`. A LaunchError that it throws gets the field before its message.
template <class F>
auto at_field(const std::string& field, F work) {
    try {
        return work();
    } catch (const LaunchError& error) {
        throw LaunchError(field + ": " + error.what());
    }
}

/// Throws LaunchError that names the file and the field.
LaunchFile read_launch_file(const std::filesystem::path& file);
/// `text` is JSON. Throws LaunchError that names the field, such as "launches[0].grid".
LaunchFile parse_launch_file(std::string_view text);
/// parse_launch_file() reads the text back as an equal launch file.
std::string to_json_text(const LaunchFile& launch);

}  // namespace warpscope::launches
