#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/signature.h"
#include "emulator/stepper/recent_registers.h"
#include "emulator/stepper/stepper.h"
#include "emulator/warp/memory.h"
#include "launches/lanes/call_stack.h"
#include "launches/lanes/lane_expression.h"

namespace warpscope::launches {

using TypePointer = std::shared_ptr<const compiler::Type>;

/// A lane, and the function in which names are looked up; null: the lane has ended.
struct LaneView {
    std::uint32_t warp = 0;
    unsigned lane = 0;
    const LaneFrame* frame = nullptr;
};

/// Something that a lane has: a register, a variable, an element of an array, a group of these.
struct LaneValue {
    std::string name{};
    std::string text{};                  ///< of what has no type
    TypePointer type{};                  ///< null: a register, or a group
    const std::byte* bytes = nullptr;    ///< null: nothing is there
    std::uint64_t address = 0;           ///< generic, of the bytes; 0: they have none
    std::span<const std::byte> local{};  ///< local memory of the lane, where pointers may lead
    std::vector<LaneValue> members{};    ///< of a group
    std::shared_ptr<const std::vector<std::byte>> kept{};  ///< bytes that lie nowhere else
};

/// The types that the debug information of a source gives to the names of a kernel.
struct KernelTypes {
    std::vector<compiler::KernelParameter> parameters{};
    compiler::DebugScopes scopes{};
};

/// Reads the types in the PTX of a kernel. `debug_ptx`: its source compiled with debug information;
/// empty: the PTX of the kernel itself may have some. `signatures`: those of the source; empty:
/// they are read from the PTX.
KernelTypes read_types(const emulator::Kernel& kernel, std::string debug_ptx,
                       std::vector<compiler::Signature> signatures);

/// What the lanes of a stepped block have.
class LaneValues {
  public:
    /// All of them must outlive this object.
    LaneValues(const emulator::Stepper& stepper, const emulator::Memory& memory, KernelTypes types);

    /// The functions in whose bodies an instruction is: see call_stack().
    const std::vector<LaneFrame>& frames(std::uint32_t pc) const;
    /// The instruction at which a lane is; nullopt: it has ended.
    std::optional<std::uint32_t> pc_of(std::uint32_t warp, unsigned lane) const;
    /// The functions in which a lane is; none: it has ended.
    std::span<const LaneFrame> frames_of(std::uint32_t warp, unsigned lane) const;
    /// A lane, which looks names up in one of these functions.
    LaneView view(std::uint32_t warp, unsigned lane, std::size_t frame = 0) const;

    /// The variables and parameters of a function, those of inner scopes first.
    std::vector<LaneValue> locals(const LaneView& at) const;
    /// Registers in the order in which the lane has written them, newest first, with the line.
    std::vector<LaneValue> registers(const LaneView& at) const;
    std::vector<LaneValue> shared(const LaneView& at) const;     ///< the arrays in shared memory
    std::vector<LaneValue> globals(const LaneView& at) const;    ///< the variables of the module
    std::vector<LaneValue> arguments(const LaneView& at) const;  ///< of the kernel
    std::vector<LaneValue> builtins(const LaneView& at) const;

    /// How many parts a value has, and those in [first, first + count).
    std::size_t parts(const LaneValue& value) const;
    std::vector<LaneValue> parts(const LaneValue& value, std::size_t first,
                                 std::size_t count) const;
    /// Whether the parts are counted: those of an array and of a buffer.
    static bool is_indexed(const LaneValue& value);
    std::string text(const LaneValue& value) const;
    static std::string type_name(const LaneValue& value);
    /// Throws LaunchError for what is no number.
    static Number number(const LaneValue& value);

    /// Throws LaunchError where the lane has nothing of this name.
    LaneValue at(const ValuePath& path, const LaneView& at) const;
    Number number(const LaneExpression& expression, const LaneView& at) const;
    /// Whether a condition is not 0 in a lane. Throws LaunchError where it has no value.
    bool holds(const LaneExpression& condition, std::uint32_t warp, unsigned lane) const;
    /// Throws LaunchError if a function has nothing of a name in the expression.
    void check_names(const LaneExpression& expression, const LaneFrame& frame) const;
    /// What an expression names, or its number.
    LaneValue evaluated(const std::string& expression, const LaneView& at) const;
    /// A word of shared or global memory, which can be watched.
    static bool can_be_watched(const LaneValue& value);

  private:
    LaneValue part(const LaneValue& value, std::size_t index) const;
    std::span<const std::byte> local_memory(const LaneView& at) const;
    std::span<const std::byte> memory_at(std::uint64_t address,
                                         std::span<const std::byte> local) const;
    LaneValue of_memory(std::string name, const TypePointer& type, std::uint64_t address,
                        std::span<const std::byte> local) const;
    LaneValue of_arguments(std::string name, const TypePointer& type, std::uint64_t offset,
                           std::span<const std::byte> local) const;
    const emulator::RegisterInfo* register_of(const std::string& name, const LaneView& at) const;
    LaneValue referred(const LaneValue& value) const;
    std::optional<LaneValue> local(const compiler::DebugVariable& variable,
                                   const LaneView& at) const;
    LaneValue named(const std::string& name, const LaneView& at) const;
    std::string preview(const LaneValue& value) const;
    TypePointer type_of_array(const emulator::SharedVariable& variable, std::size_t index) const;

    const emulator::Stepper& stepper_;
    const emulator::Memory& memory_;
    KernelTypes types_;
    emulator::RegisterWrites writes_;
    std::map<std::string, std::uint64_t> globals_;  ///< where the variables of the module are
    mutable std::map<std::uint32_t, std::vector<LaneFrame>> frames_;  ///< by instruction
    std::vector<TypePointer> shared_types_;
    std::vector<TypePointer> argument_types_;
};

}  // namespace warpscope::launches
