#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/signature.h"
#include "emulator/stepper/recent_registers.h"
#include "emulator/stepper/stepper.h"
#include "emulator/warp/memory.h"
#include "jobs/debugger/lane_expression.h"

namespace warpscope::jobs {

using TypePointer = std::shared_ptr<const compiler::Type>;

/// Something that a lane has: a register, a variable, an element of an array, a group of these.
struct Value {
    std::string name{};
    std::string text{};                ///< of what has no type
    TypePointer type{};                ///< null: a register, or a group
    const std::byte* bytes = nullptr;  ///< null: nothing is there
    /// A word of memory that can be watched: where its bytes are.
    std::optional<emulator::Space> space{};
    std::uint64_t address = 0;                             ///< of the bytes, in that space
    std::vector<Value> members{};                          ///< of a group
    std::shared_ptr<const std::vector<std::byte>> kept{};  ///< bytes that lie nowhere else
};

/// The types that the debug information of a source gives to the names of a kernel.
struct KernelTypes {
    std::vector<compiler::KernelParameter> parameters{};
    std::vector<compiler::VariableType> variables{};
};

/// What the lanes of a stepped block have.
class LaneValues {
  public:
    /// All of them must outlive this object.
    LaneValues(const emulator::Stepper& stepper, const emulator::Memory& memory, KernelTypes types);

    /// Registers in the order in which the lane has written them, newest first, with the line.
    std::vector<Value> registers(std::uint32_t warp, unsigned lane) const;
    std::vector<Value> shared() const;     ///< the arrays in shared memory
    std::vector<Value> arguments() const;  ///< of the kernel
    std::vector<Value> builtins(std::uint32_t warp, unsigned lane) const;

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
    Value at(const ValuePath& path, std::uint32_t warp, unsigned lane) const;
    launches::Number number(const LaneExpression& expression, std::uint32_t warp,
                            unsigned lane) const;
    /// What an expression names, or its number.
    Value evaluated(const std::string& expression, std::uint32_t warp, unsigned lane) const;

  private:
    Value part(const Value& value, std::size_t index) const;
    Value of_memory(std::string name, const TypePointer& type, emulator::Space space,
                    std::uint64_t address) const;
    Value named(const std::string& name, std::uint32_t warp, unsigned lane) const;
    std::string preview(const Value& value) const;
    TypePointer type_of_array(const emulator::SharedVariable& variable, std::size_t index) const;

    const emulator::Stepper& stepper_;
    const emulator::Memory& memory_;
    KernelTypes types_;
    emulator::RegisterWrites writes_;
    std::vector<TypePointer> shared_types_;
    std::vector<TypePointer> argument_types_;
};

}  // namespace warpscope::jobs
