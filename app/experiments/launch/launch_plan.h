#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "compiler/signature.h"
#include "experiments/launch_files/launch_file.h"

namespace warpscope::experiments {

/// A number or an address within the bytes of an argument.
struct ArgumentPart {
    std::size_t offset = 0;
    ElementType type{};  ///< of a number
    /// A number, the index of a buffer in LaunchFile::buffers, or a null pointer.
    std::variant<Expression, std::size_t, std::nullptr_t> value;
};

struct BoundArgument {
    std::size_t bytes = 0;
    std::vector<ArgumentPart> parts;
};

/// A launch whose kernel and arguments are known.
struct BoundLaunch {
    LaunchSpec spec;
    std::string name;   ///< of the kernel in the source
    std::string entry;  ///< of the kernel in the PTX
    std::vector<BoundArgument> arguments;
};

/// A launch file with the types that the compiler gives the parameters of its kernels.
struct LaunchPlan {
    LaunchFile file;
    std::string kernel_file;         ///< the key of its source among a device's edits
    std::vector<ElementType> types;  ///< of the buffers
    std::vector<BoundLaunch> launches;
    /// Of each buffer that is a variable of the source: its name in the PTX. Else empty.
    std::vector<std::string> variables{};
    /// Of all kernels of the source. Empty: the source has not been compiled yet, so that types and
    /// arguments are unknown.
    std::vector<compiler::Signature> signatures{};
    /// Name expressions of the templates of kernels in the source: "reduce<float, 16>".
    std::vector<std::string> templates{};
    bool proposed = false;  ///< the launches were made for a source that came without any
};

/// The key of the launch file's source among a device's edits: "launch/saxpy" for saxpy.cu,
/// "gallery/life" for a kernel of the gallery.
std::string source_key(const LaunchFile& file);

/// The kernel that a launch file names so, or by its name in the PTX. Spaces and the suffixes of
/// integers do not matter: "f<256U, int>" is "f<256,int>". Null: there is none.
const compiler::Signature* find_signature(std::span<const compiler::Signature> signatures,
                                          const std::string& name);

/// The plan before the source is compiled.
LaunchPlan uncompiled_plan(const LaunchFile& file);

/// Throws LaunchError that names the field: a kernel that is not in the source, a parameter without
/// a value, a buffer of another type than the pointer that it is passed to, a buffer of a name that
/// several of the variables have.
LaunchPlan plan_launch(const LaunchFile& file, std::vector<compiler::Signature> signatures,
                       const std::vector<compiler::ModuleVariable>& variables = {});

}  // namespace warpscope::experiments
