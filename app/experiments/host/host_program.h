#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::experiments {

/// A pointer that a launch passes and that leads to no memory of the device.
struct HostBadPointer {
    enum class Memory { freed, of_host, none };
    std::string variable{};    ///< of the device, that holds the pointer; empty: an argument has it
    std::size_t argument = 0;  ///< its index
    std::string name{};        ///< of the pointer in the source: "p.data"
    Memory memory = Memory::freed;
    std::string owner{};       ///< of memory of the host: "malloc()", "std::vector"
    int line = 0, launch = 0;  ///< of cudaFree() and of the launch; 0: in a header
    bool certain = true;       ///< false: it is so where a condition holds that is not known
    bool operator==(const HostBadPointer&) const = default;
};

/// An error that a host program certainly makes.
struct HostFault {
    std::string kernel{};  ///< empty: it is no launch
    int line = 0;          ///< 0: in a header
    std::string sentence{};
    bool is_refused = false;  ///< a call or a launch that CUDA refuses; else a kernel fails
};

/// A launch in the host program of a source: `kernel<<<grid, block, shared>>>(arguments)`, or a
/// call of cudaLaunchKernel(). The parts of a dim3 are separate. All texts name values of
/// HostProgram::values.
struct HostLaunch {
    std::string kernel;                  ///< without namespaces and the arguments of a template
    std::vector<std::string> templates;  ///< these arguments
    std::vector<std::string> grid, block;
    std::string shared;  ///< empty: none is given
    std::vector<std::string> arguments;
    bool repeats = false;  ///< it is in a loop, of which this is one pass
    std::vector<HostBadPointer> bad_pointers{};
    /// What was assumed of the program, as it is not known: "the case of switch (mode)".
    std::set<std::string> assumed{};
    bool operator==(const HostLaunch&) const = default;
};

/// An array that the host program allocates.
struct HostArray {
    std::string bytes{};  ///< of its allocation; empty: unknown
    /// An element, where `$i` is its index, or "memset ( b )": each byte is b. Empty: unknown.
    std::string fill{};
    /// The bytes from its beginning on that the program writes before a launch gets it: "0" of
    /// memory that cudaMalloc() makes. Empty: perhaps all.
    std::string written{};
};

/// A variable that the host program declares, or a member of one, "object$member": "float
/// *rows[4][N]" has the type float, one pointer, and the extents 4 and N. A std::vector has one
/// pointer, a std::array one extent.
struct HostVariable {
    std::string type{};
    std::vector<std::string> arguments{};  ///< of the template that the type is made of
    std::string container{};               ///< "vector": it has elements of the type
    std::size_t pointers = 0;
    bool is_reference = false;
    bool is_unset = false;  ///< a pointer to which no statement gives a value
    std::string owner{};    ///< of memory that only the host has: "std::vector"
    std::vector<std::string> extents{};
    std::vector<std::string> elements{};  ///< of an array: those that are given one by one
};

/// A texture or surface object, as its descriptions say when it is made. All texts name values of
/// HostProgram::values.
struct HostTexture {
    std::string array;                 ///< of its resource: a cudaArray or a pointer
    std::vector<std::string> extents;  ///< width, and height where it has two dimensions
    std::string format;                ///< the call of cudaCreateChannelDesc; empty: unknown
    /// The members of its cudaTextureDesc that the program sets: "filterMode", "addressMode$at1".
    /// "addressMode$at" stands for all elements.
    std::map<std::string, std::string, std::less<>> settings{};
};

/// `cdiv(a, b)`: a macro, or a function that only returns an expression.
struct HostFunction {
    std::vector<std::string> parameters;
    std::string value;
};

/// What a host program says of its launches. It is read once, from the beginning of main() to its
/// end: a loop is passed once, or pass by pass where it has few and its counter chooses what is
/// launched, a function is followed where it is called, and the branch of an `if`
/// or `switch` is taken whose condition is known. Without main(), its functions are read in their
/// order, with unknown parameters.
struct HostProgram {
    std::vector<HostLaunch> launches;
    /// What names mean: each assignment makes another name, "n", "n$2".
    std::map<std::string, std::string, std::less<>> values;
    std::map<std::string, HostArray, std::less<>> arrays;  ///< by the names of their pointers
    std::map<std::string, HostVariable, std::less<>> variables;
    std::map<std::string, HostFunction, std::less<>> functions;
    std::map<std::string, HostTexture, std::less<>> textures;  ///< by the names of their handles
    std::set<std::string, std::less<>> of_file;  ///< names that device code may use, too
    std::set<std::string>
        left_out;  ///< launches that are not read: "the other cases of switch (n)"
    std::vector<HostFault> faults;
    std::set<std::string> streams;  ///< in which it launches; "": the default stream

    /// The member "m$n" has the value of "d$n" where m is d, a copy of d, or its address.
    std::optional<std::string> value_of(std::string_view name) const;
};

/// `own`: where the text of the file itself begins, behind that of its headers.
HostProgram read_host_program(std::string_view source, std::size_t own = 0);

/// Objects that name each other would give members ever longer names.
inline constexpr std::size_t longest_name = 500;

/// The name behind all names that stand for each other: "d_op" where h_op has been copied from it.
std::string first_name(const HostProgram& program, std::string name);

/// An address in an array: "d_in + RADIUS" is 2 elements behind d_in.
struct HostPlace {
    std::string array;    ///< the name of its pointer; empty: a null pointer
    std::string offset;   ///< in elements of the pointers that it is added to; empty: 0
    std::string bytes{};  ///< the offset in bytes; empty: 0, or not known
};

/// The text of a member of an object, its `index`-th: "n" of a View that has the text "View {p,
/// n}", or that a name or a method stands for which returns this. Else it is "object$member".
std::string member_of(const HostProgram& program, const std::string& object, std::size_t index,
                      const std::string& member);
/// What an expression of pointers names, through casts and through names for other names. The array
/// need not be in `program.arrays`.
HostPlace place_of(const HostProgram& program, std::string_view text);
/// What the emulator, as a GPU, answers where a host program asks for this member of
/// cudaDeviceProp or this attribute of a device. nullopt: not known.
std::optional<std::string> device_limit(std::string_view name);
/// The name of the pointer or variable that the text begins with: "d_in". Empty: none.
std::string name_in(std::string_view text);
/// Whether it is "object$member". "n$2" is a name of a variable n.
bool is_member(std::string_view name);
/// The name as the source has it: "p.rows[2]" of "p$rows$at2", "n" of "n$2".
std::string source_name(std::string_view name);
/// The characters of the literal, or of the one that a variable has. nullopt: it is none.
std::optional<std::string> text_of(const HostProgram& program, std::string_view text);
/// Null: nothing is known of it.
const HostArray* find_array(const HostProgram& program, std::string_view name);

}  // namespace warpscope::experiments
