#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/program/access_form.h"
#include "emulator/program/instruction.h"
#include "emulator/program/launch.h"
#include "emulator/program/source_line.h"
#include "emulator/program/special_register.h"

namespace warpscope::emulator {

class Module;
struct KernelOrigin;  // emulator/lower/uniformity.h

/// Bytes of local memory that a thread has for the frames of recursive functions. A GPU has 1 KiB
/// unless the host asks for more.
inline constexpr std::uint32_t recursion_stack_bytes = 16 * 1024;

struct Parameter {
    std::string name;
    std::uint32_t size = 0;    ///< bytes
    std::uint32_t align = 1;   ///< bytes
    std::uint32_t offset = 0;  ///< bytes, in the packed arguments
};

/// What a user, an observer or an error message needs to know about an instruction.
struct InstructionInfo {
    std::string text;  ///< the PTX statement as written, without its semicolon
    SourceLine source;
    MemoryAccess access = MemoryAccess::none;
    Space space = Space::generic;
    MemoryOrder order = MemoryOrder::weak;  ///< memory order of an access, or of a fence
    Scope scope = Scope::device;            ///< scope of an order that is not weak
    /// The base from which the address of an access is computed: an index into Kernel::bases;
    /// negative where it is not known.
    std::int16_t base = -1;
    /// The instruction is an atomic that may leave memory unchanged (cas).
    bool compares = false;
    /// Width of one lane's access, or of a unit of an asynchronous copy, which is no access.
    std::uint8_t bytes = 0;
    std::uint8_t address_operand = 0;  ///< index into Instruction::operands
    bool pseudo = false;               // inserted by the decoder (a join); counts for nothing
    bool barrier = false;
    bool gathers = false;  ///< see Uniformity::gathers
    /// PTX statements of the kernel up to this one, in Kernel::statements. A cost point counts the
    /// last Instruction::cost of them.
    std::uint32_t statements = 0;
};

/// Where a PTX register is while the kernel runs.
struct RegisterInfo {
    std::string name;
    std::uint32_t slot = 0;  ///< byte offset, as in Instruction::operands
    std::uint8_t bits = 0;   ///< 1 (a predicate: a mask of 32 lanes), 16, 32 or 64
    bool is_float = false;
    std::uint32_t instance = 0;  ///< of the function whose register it is; 0: the kernel
};

/// A variable of a block's shared memory.
struct SharedVariable {
    std::string name;          ///< in the PTX
    std::uint32_t offset = 0;  ///< bytes
    std::uint32_t bytes = 0;   ///< 0: dynamic, all bytes from `offset` on
};

/// A base from which addresses are computed: an array in shared or local memory, in which they must
/// lie; or a variable or a parameter that is a pointer. All other pointers are one base.
struct AddressBase {
    enum Kind : std::uint8_t { shared, local, pointer, any_pointer };
    Kind kind = pointer;
    std::uint32_t offset = 0;  ///< bytes
    std::uint32_t bytes = 0;   ///< 0: not known, or dynamic
};

struct SpecialSlot {
    Special special;
    std::uint32_t slot;
};

struct Kernel {
    std::string name;
    std::vector<Parameter> parameters;
    std::uint32_t parameter_bytes = 0;
    /// Static shared memory; dynamic shared memory begins behind it.
    std::uint32_t shared_bytes = 0;
    std::vector<SharedVariable> shared_variables;  ///< in the order of their offsets
    /// What addresses are computed from. The shared variables come first, in their order.
    std::vector<AddressBase> bases;
    std::uint32_t local_bytes = 0;  ///< local memory of one thread
    /// The first bytes of local memory, which are zero when a block begins: all of them except the
    /// recursion stack, whose frames are written before they are read.
    std::uint32_t cleared_local_bytes = 0;
    std::vector<Instruction> code;
    /// The operands of products of matrices and of copies of tensors, which have more than an
    /// instruction holds: see matrix_product() and tensor_copy().
    std::vector<std::uint32_t> further_operands;
    std::vector<InstructionInfo> lines;  ///< one for each instruction of code
    std::vector<SourceLine> statements;  ///< all PTX statements in their order: each counts as one
    std::vector<RegisterInfo> registers;

    /// Bytes of a warp's register file: uniform slots, which include the constants and the packed
    /// arguments, then vector slots, 64-byte aligned.
    std::uint32_t register_bytes = 0;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> constants;  ///< slot, value
    std::uint32_t argument_slot = 0;
    std::vector<SpecialSlot> specials;
    std::vector<RegisterInfo> cleared;  ///< registers that may be read before they are written

    bool has_barrier = false;
    bool uses_shared = false;
    bool is_asynchronous = false;  ///< it has asynchronous copies, mbarriers or cluster barriers
    bool uses_cluster = false;     ///< it accesses other blocks of its cluster, or waits for them
    Dim3 cluster{};                ///< blocks of its clusters (.reqnctapercluster), if not one
    std::uint32_t most_threads = 1024;  ///< of a block (__launch_bounds__)
    bool has_mbarriers = false;
    bool has_bulk_copies = false;   ///< of the asynchronous proxy (PTX ISA 8.2, "Proxies")
    bool flush_subnormals = false;  ///< the kernel runs with the CPU's FTZ and DAZ bits set
    /// The kernel's atomics reveal the order of the blocks: they run one after the other.
    bool order_dependent = false;
    /// The kernel synchronises its grid (grid.sync() of Cooperative Groups), so that each launch is
    /// cooperative. Its strong accesses to memory that blocks share lie behind turnstiles.
    bool synchronises_grid = false;

    std::shared_ptr<const KernelOrigin> origin;  ///< what it was decoded from

    const Module* module = nullptr;

    std::uint32_t index_of(const Instruction* i) const { return std::uint32_t(i - code.data()); }
    std::string own_line(std::uint32_t index) const;  ///< the line of an instruction: "file.cu:12"
    /// Returns place_of() an instruction: "file.cu:12", "tile.h:14 (called at file.cu:12)".
    std::string where(std::uint32_t index) const;
};

/// A decoded PTX module. Its .global variables keep their values between launches, as on a GPU.
class Module : public std::enable_shared_from_this<Module> {
  public:
    /// Decodes a PTX text. Throws Error for anything that the emulator does not know: a directive,
    /// opcode, modifier, type or call. Its text names `name`, the PTX line and, if it is known, the
    /// CUDA line.
    static std::shared_ptr<const Module> parse(std::string_view ptx, std::string name);

    const Kernel* find(std::string_view kernel_name) const;  ///< nullptr if there is none
    const std::vector<std::unique_ptr<Kernel>>& kernels() const { return kernels_; }
    const std::string& name() const { return name_; }
    /// The PTX text that was decoded; SourceLine::ptx_line counts its lines from 1.
    const std::string& text() const { return text_; }
    const std::vector<std::string>& files() const { return files_; }

    /// The memory of a .global or .const variable. Its PTX address is its host address.
    struct GlobalVariable {
        std::string name;
        std::byte* data = nullptr;
        size_t bytes = 0;
        bool constant = false;
    };
    const std::vector<GlobalVariable>& variables() const { return variables_; }

  private:
    friend class ModuleLoader;
    std::string name_, text_;
    std::vector<std::string> files_;  // indexed by SourceLine::file
    std::vector<GlobalVariable> variables_;
    std::vector<std::unique_ptr<std::byte[]>> storage_;
    std::vector<std::unique_ptr<Kernel>> kernels_;
};

/// Where a statement of a kernel begins in the PTX text of its module; npos: its line does not have
/// it any more, because the text was changed.
std::size_t statement_begin(std::string_view text, const InstructionInfo& info);

}  // namespace warpscope::emulator
