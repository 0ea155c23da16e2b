#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpscope::compiler {

struct Type;

struct Member {
    std::string name;        ///< a base class has the name of its type
    std::size_t offset = 0;  ///< in bytes, from the beginning of the structure
    std::shared_ptr<const Type> type;
};

/// A type of CUDA C++. Top-level const and volatile are left out.
struct Type {
    enum class Kind {
        boolean,
        character,  ///< char; signed char and unsigned char are integers of one byte
        signed_integer,
        unsigned_integer,
        floating,   ///< also __half and __nv_bfloat16
        pointer,    ///< also a reference
        structure,  ///< also a class or union
        array,
        enumeration,
        function,
        bit_field,
        other,  ///< void and so on: no values can be given
    };
    Kind kind = Kind::other;
    std::string name;       ///< the name in the source: "const real*", "half2", "Params"
    std::string canonical;  ///< the name without typedefs: "const float*", "__half2", "Params"
    std::size_t bytes = 0;  ///< 0: unknown, where no kernel reads what a pointer points to
    /// The members of a structure; none where a pointer in a structure points to the structure.
    std::vector<Member> members;
    /// What a pointer points to, an element of an array, or the number in whose bytes a bit-field
    /// is. Null: void.
    std::shared_ptr<const Type> target;
    bool target_is_const = false;
    std::size_t count = 0;      ///< elements of an array, or bits of a bit-field
    std::size_t first_bit = 0;  ///< the lowest bit of a bit-field in its bytes
    std::vector<std::pair<std::string, std::uint64_t>> names{};  ///< of an enumeration, with values
};

/// A number, and a pointer, of which no source has told.
std::shared_ptr<const Type> number_of(Type::Kind kind, std::size_t bytes, std::string name);
std::shared_ptr<const Type> pointer_to(std::shared_ptr<const Type> target);

struct KernelParameter {
    std::string name;  ///< may be empty
    std::shared_ptr<const Type> type;
};

/// How a kernel reads its textures and surfaces.
struct ImageUse {
    int dimensions = 0;  ///< 1 or 2
    std::string number;  ///< "float", "unsigned char": one of several types that it may have
    unsigned lanes = 1;  ///< numbers of an element of a surface
    bool operator==(const ImageUse&) const = default;
};

/// What the code of a kernel shows about its launch. Functions that it calls are left out: those of
/// cooperative groups read threadIdx.y in every kernel.
struct LaunchTraits {
    /// 2 where the code reads threadIdx.y or threadIdx.z, and where it reads blockIdx.y or
    /// blockIdx.z.
    int block_dimensions = 1, grid_dimensions = 1;
    /// Bytes of an element of the array in dynamic shared memory; 0: the code uses none.
    std::size_t dynamic_shared = 0;
    bool reads_block_index = true;   ///< false: every block does what the first one does
    bool synchronises_grid = false;  ///< grid.sync() of Cooperative Groups
    /// nullopt: the kernel reads its textures, or its surfaces, in different ways, or as layers, a
    /// volume or a cube, or not at all.
    std::optional<ImageUse> texture{}, surface{};
};

struct Signature {
    std::string name;   ///< "saxpy", "reduce<256, float>", "lib::sum"; a name expression of NVRTC
    std::string entry;  ///< its name in the PTX
    std::string file;   ///< the name in the line information; empty: unknown
    int line = 0;       ///< from 1; 0: unknown
    std::vector<KernelParameter> parameters;
    LaunchTraits traits{};
};

/// A __device__ or __constant__ variable.
struct ModuleVariable {
    std::string name;   ///< without namespaces: "taps"
    std::string entry;  ///< its name in the PTX
    std::shared_ptr<const Type> type;
    bool is_for_host = false;  ///< __constant__ without an initializer: the host fills it
};

/// The signature of every entry of a PTX text, in the order of the lines of the source, from the
/// debug information that Request::debug_info asks for. Throws DebugInfoError if that is missing or
/// damaged.
std::vector<Signature> read_signatures(std::string_view ptx_with_debug_info);
/// The variables of a module, in the order of their names in the PTX. Throws as read_signatures()
/// does.
std::vector<ModuleVariable> read_variables(std::string_view ptx_with_debug_info);
/// The names of the .global variables of any PTX text that a kernel may change: those that a
/// statement or an initial value names. A header declares thousands that nothing uses.
std::vector<std::string> changing_variables(std::string_view ptx);

}  // namespace warpscope::compiler
