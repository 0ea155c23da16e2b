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
#include "jobs/debugger/call_stack.h"
#include "jobs/debugger/lane_expression.h"

namespace warpscope::jobs {

using TypePointer = std::shared_ptr<const compiler::Type>;

/// A lane, and the function in which names are looked up; null: the lane has ended.
struct LaneView {
    std::uint32_t warp = 0;
    unsigned lane = 0;
    const Frame* frame = nullptr;
};

/// Something that a lane has: a register, a variable, an element of an array, a group of these.
struct Value {
    std::string name{};
    std::string text{};                  ///< of what has no type
    TypePointer type{};                  ///< null: a register, or a group
    const std::byte* bytes = nullptr;    ///< null: nothing is there
    std::uint64_t address = 0;           ///< generic, of the bytes; 0: they have none
    std::span<const std::byte> local{};  ///< local memory of the lane, where pointers may lead
    std::vector<Value> members{};        ///< of a group
    std::shared_ptr<const std::vector<std::byte>> kept{};  ///< bytes that lie nowhere else
};

/// The types that the debug information of a source gives to the names of a kernel.
struct KernelTypes {
    std::vector<compiler::KernelParameter> parameters{};
    compiler::DebugScopes scopes{};
};

/// What the lanes of a stepped block have.
class LaneValues {
  public:
    /// All of them must outlive this object.
    LaneValues(const emulator::Stepper& stepper, const emulator::Memory& memory, KernelTypes types);

    /// The functions in whose bodies an instruction is: see call_stack().
    const std::vector<Frame>& frames(std::uint32_t pc) const;

    /// The variables and parameters of a function, those of inner scopes first.
    std::vector<Value> locals(const LaneView& at) const;
    /// Registers in the order in which the lane has written them, newest first, with the line.
    std::vector<Value> registers(const LaneView& at) const;
    std::vector<Value> shared(const LaneView& at) const;     ///< the arrays in shared memory
    std::vector<Value> globals(const LaneView& at) const;    ///< the variables of the module
    std::vector<Value> arguments(const LaneView& at) const;  ///< of the kernel
    std::vector<Value> builtins(const LaneView& at) const;

    /// How many parts a value has, and those in [first, first + count).
    std::size_t parts(const Value& value) const;
    std::vector<Value> parts(const Value& value, std::size_t first, std::size_t count) const;
    /// Whether the parts are counted: those of an array and of a buffer.
    static bool is_indexed(const Value& value);
    std::string text(const Value& value) const;
    static std::string type_name(const Value& value);
    /// Throws LaunchError for what is no number.
    static launches::Number number(const Value& value);

    /// Throws LaunchError where the lane has nothing of this name.
    Value at(const ValuePath& path, const LaneView& at) const;
    launches::Number number(const LaneExpression& expression, const LaneView& at) const;
    /// What an expression names, or its number.
    Value evaluated(const std::string& expression, const LaneView& at) const;
    /// A word of shared or global memory, which can be watched.
    static bool can_be_watched(const Value& value);

  private:
    Value part(const Value& value, std::size_t index) const;
    std::span<const std::byte> local_memory(const LaneView& at) const;
    std::span<const std::byte> memory_at(std::uint64_t address,
                                         std::span<const std::byte> local) const;
    Value of_memory(std::string name, const TypePointer& type, std::uint64_t address,
                    std::span<const std::byte> local) const;
    Value of_arguments(std::string name, const TypePointer& type, std::uint64_t offset,
                       std::span<const std::byte> local) const;
    const emulator::RegisterInfo* register_of(const std::string& name, const LaneView& at) const;
    Value referred(const Value& value) const;
    std::optional<Value> local(const compiler::DebugVariable& variable, const LaneView& at) const;
    Value named(const std::string& name, const LaneView& at) const;
    std::string preview(const Value& value) const;
    TypePointer type_of_array(const emulator::SharedVariable& variable, std::size_t index) const;

    const emulator::Stepper& stepper_;
    const emulator::Memory& memory_;
    KernelTypes types_;
    emulator::RegisterWrites writes_;
    std::map<std::string, std::uint64_t> globals_;  ///< where the variables of the module are
    mutable std::map<std::uint32_t, std::vector<Frame>> frames_;  ///< by instruction
    std::vector<TypePointer> shared_types_;
    std::vector<TypePointer> argument_types_;
};

}  // namespace warpscope::jobs
