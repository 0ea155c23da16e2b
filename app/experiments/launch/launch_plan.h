#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "compiler/signature.h"
#include "files/sentence.h"
#include "launches/files/launch_file.h"

namespace warpscope::experiments {

/// A texture of the launch file, as an argument: its index in LaunchFile::textures.
struct TextureArgument {
    std::size_t index = 0;
    bool is_surface = false;
    auto operator<=>(const TextureArgument&) const = default;
};

/// A number or an address within the bytes of an argument.
struct ArgumentPart {
    std::size_t offset = 0;
    launches::ElementType type{};  ///< of a number
    /// A number, the index of a buffer in LaunchFile::buffers, a null pointer, the variable of the
    /// PTX that holds the address of a function, or a texture.
    std::variant<launches::Expression, std::size_t, std::nullptr_t, std::string, TextureArgument>
        value;
    launches::Expression shift{"0"};  ///< of an address in a buffer, in elements
    std::size_t shift_bytes = 0;      ///< of one of these elements
    /// Of a bit-field in the bytes of the number; 0 bits: it is none.
    std::size_t bits = 0, first_bit = 0;
};

struct BoundArgument {
    std::size_t bytes = 0;
    std::vector<ArgumentPart> parts;
};

/// A launch whose kernel and arguments are known.
struct BoundLaunch {
    launches::LaunchSpec spec;
    std::string name;   ///< of the kernel in the source
    std::string entry;  ///< of the kernel in the PTX
    bool cooperative = false;
    std::vector<BoundArgument> arguments;
};

std::vector<TextureArgument> textures_of(const BoundLaunch& launch);

/// A launch file with the types that the compiler gives the parameters of its kernels.
struct LaunchPlan {
    launches::LaunchFile file;
    std::string kernel_file;                   ///< the key of its source among a device's edits
    std::vector<launches::ElementType> types;  ///< of the buffers
    /// By buffer: how many numbers a struct has, the last dimension; 0: it holds no structs.
    std::vector<std::size_t> rows{};
    std::vector<BoundLaunch> launches;
    /// By buffer: the name in the PTX of the variable of the source that it is; empty: it is none.
    std::vector<std::string> variables{};
    /// The signatures of all kernels of the source. Empty: the source has not been compiled yet, so
    /// that types and arguments are unknown.
    std::vector<compiler::Signature> signatures{};
    /// Name expressions of the templates of kernels in the source: "reduce<float, 16>".
    std::vector<std::string> templates{};
    /// What was guessed of the only launch, which was proposed for a source that came without any:
    /// "n", "the grid". Empty: the launches are those of a launch file.
    std::vector<files::Sentence> guesses{};
    bool is_proposed() const { return !guesses.empty(); }
};

/// A buffer is kept, or something in the file depends on the number of the frame.
bool frames_differ(const LaunchPlan& plan);

/// The variable that holds the address of a function: "warpscope_address_of_twice".
std::string address_variable(const std::string& function);

/// The key of the launch file's source among a device's edits: "launch/saxpy" for saxpy.cu,
/// "gallery/life" for a kernel of the gallery.
std::string source_key(const launches::LaunchFile& file);

/// The kernel that a launch file names so, or by its name in the PTX. Spaces and the suffixes of
/// integers do not matter: "f<256U, int>" is "f<256,int>". Null: there is none.
const compiler::Signature* find_signature(std::span<const compiler::Signature> signatures,
                                          const std::string& name);

/// The plan before the source is compiled.
LaunchPlan uncompiled_plan(const launches::LaunchFile& file);

/// Throws LaunchError that names the field: a kernel that is not in the source, a parameter without
/// a value, a buffer of another type than the pointer that it is passed to, a buffer of a name that
/// several of the variables have.
LaunchPlan plan_launch(const launches::LaunchFile& file,
                       std::vector<compiler::Signature> signatures,
                       const std::vector<compiler::ModuleVariable>& variables = {});

}  // namespace warpscope::experiments
