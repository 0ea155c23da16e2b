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

namespace warpscope::emulator {

class Module;

/// Bytes of local memory that a thread has for the frames of recursive functions. A GPU has 1 KiB
/// unless the host asks for more.
inline constexpr std::uint32_t recursion_stack_bytes = 16 * 1024;

struct Parameter {
    std::string name;
    std::uint32_t size = 0;    // bytes
    std::uint32_t align = 1;   // bytes
    std::uint32_t offset = 0;  // in the packed argument block
};

// Where an instruction comes from. `file` indexes Module::files(), -1 where the PTX has no .loc.
struct SourceLine {
    std::int32_t file = -1;
    std::int32_t line = 0;
    std::int32_t ptx_line = 0;
};

// The cold half of an instruction: what a person, an observer or an error message needs.
struct InstructionInfo {
    std::string text;  // the PTX statement as written, without its semicolon
    SourceLine source;
    MemoryAccess access = MemoryAccess::none;
    Space space = Space::generic;
    std::uint8_t bytes = 0;            // of one lane's access
    std::uint8_t address_operand = 0;  // index into Instruction::operands
    bool pseudo = false;               // inserted by the decoder (a join); counts for nothing
    bool barrier = false;
};

// Where a PTX register lives while the kernel runs.
struct RegisterInfo {
    std::string name;
    std::uint32_t slot = 0;  // as in Instruction::operands
    std::uint8_t bits = 0;   // 1 (predicate, a 32-lane mask), 16, 32 or 64
    bool is_float = false;
};

// Registers that the machine fills in; lane-varying ones are vectors.
enum class Special : std::uint8_t {
    none,
    tid_x,
    tid_y,
    tid_z,
    laneid,
    lanemask_eq,
    lanemask_le,
    lanemask_lt,
    lanemask_ge,
    lanemask_gt,
    ntid_x,
    ntid_y,
    ntid_z,
    ctaid_x,
    ctaid_y,
    ctaid_z,
    nctaid_x,
    nctaid_y,
    nctaid_z,
    warpid,
    nwarpid,
    smid,
    nsmid,
    dynamic_smem_size,
    total_smem_size
};

struct SpecialSlot {
    Special special;
    std::uint32_t slot;
};

struct Kernel {
    std::string name;
    std::vector<Parameter> parameters;
    std::uint32_t parameter_bytes = 0;
    std::uint32_t shared_bytes = 0;  // static; dynamic shared memory begins after it
    std::uint32_t local_bytes = 0;   // of one thread
    // The first of them, which every block finds zero: all but the stack of functions that call
    // themselves, who write before they read.
    std::uint32_t cleared_local_bytes = 0;
    std::vector<Instruction> code;
    std::vector<InstructionInfo> lines;  // one for each instruction of code
    std::vector<RegisterInfo> registers;

    // Register file of one warp, in bytes: uniform slots, among them constants and the packed
    // arguments, then vectors, 64-byte aligned.
    std::uint32_t register_bytes = 0;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> constants;  // slot, value
    std::uint32_t argument_slot = 0;
    std::vector<SpecialSlot> specials;
    std::vector<RegisterInfo> cleared;  // those that may be read before they are written

    bool has_barrier = false;
    bool uses_shared = false;
    bool flush_subnormals = false;  // runs with the CPU's FTZ and DAZ bits set
    bool order_dependent = false;   // blocks may not run at once: its atomics tell their order

    const Module* module = nullptr;

    std::uint32_t index_of(const Instruction* i) const { return std::uint32_t(i - code.data()); }
    // "file.cu:12", or "PTX line 34" where the PTX carries no line information.
    std::string where(std::uint32_t index) const;
};

// A PTX module, decoded. Module-scope .global variables are part of the module and keep their
// values between launches, as they do on a GPU.
class Module {
  public:
    // Throws Error naming `name`, the PTX line and, where known, the source line for anything that
    // the emulator does not know: directive, opcode, modifier, type, call.
    static std::shared_ptr<const Module> parse(std::string_view ptx, std::string name);

    const Kernel* find(std::string_view kernel_name) const;  // nullptr when there is none
    const std::vector<std::unique_ptr<Kernel>>& kernels() const { return kernels_; }
    const std::string& name() const { return name_; }
    // The PTX as given; SourceLine::ptx_line counts its lines from 1.
    const std::string& text() const { return text_; }
    const std::vector<std::string>& files() const { return files_; }

    // Memory of .global and .const variables; addresses are host addresses.
    struct Range {
        std::string name;
        std::byte* data = nullptr;
        size_t bytes = 0;
        bool constant = false;
    };
    const std::vector<Range>& variables() const { return variables_; }

  private:
    friend class ModuleLoader;
    std::string name_, text_;
    std::vector<std::string> files_;  // by the index that SourceLine::file holds
    std::vector<Range> variables_;
    std::vector<std::unique_ptr<std::byte[]>> storage_;
    std::vector<std::unique_ptr<Kernel>> kernels_;
};

}  // namespace warpscope::emulator
