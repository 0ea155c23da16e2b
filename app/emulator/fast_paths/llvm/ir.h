#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/fast_paths/llvm/llvm.h"

namespace warpscope::emulator {

/// Writes LLVM IR. An operation takes scalars, or vectors of one length: the operands' type
/// decides. Comparisons give i1, or a vector of i1.
class Ir {
  public:
    using Attributes = std::vector<std::pair<std::string, std::string>>;

    /// `attributes`: each function of the module gets them.
    Ir(std::shared_ptr<const Llvm> llvm, const char* module_name, Attributes attributes);
    ~Ir();
    Ir(const Ir&) = delete;
    Ir& operator=(const Ir&) = delete;

    const Llvm& llvm() const { return *llvm_; }
    const std::shared_ptr<const Llvm>& shared_llvm() const { return llvm_; }
    LlvmModule module() const { return module_; }
    /// The module, for an execution engine that owns it from now on.
    LlvmModule release() { return std::exchange(module_, nullptr); }

    // Types. `lanes` 0 is a scalar.
    LlvmType integer(unsigned bits, unsigned lanes = 0) const;
    LlvmType f32(unsigned lanes = 0) const { return of_lanes(f32_, lanes); }
    LlvmType f64(unsigned lanes = 0) const { return of_lanes(f64_, lanes); }
    LlvmType nothing() const { return llvm_->VoidTypeInContext(context_); }
    LlvmType pointer(unsigned lanes = 0) const { return of_lanes(pointer_, lanes); }

    // Constants of the type of `like`, in every lane.
    LlvmValue number(LlvmType like, std::uint64_t value) const;
    LlvmValue real(LlvmType like, double value) const;
    LlvmValue integer_of(unsigned bits, std::uint64_t value) const;
    LlvmValue address(const void* host) const;
    LlvmValue zero(LlvmType type) const { return llvm_->ConstNull(type); }
    LlvmValue lanes_of(std::span<const std::uint64_t> values, unsigned bits) const;
    /// Loads a vector of constants from memory. LLVM would follow the bits of a vector that it
    /// knows through chains of operations, which takes it long. Only shifts become faster code by
    /// that.
    LlvmValue in_memory(LlvmValue constants);

    // Arithmetic
    enum Binary : int {
        add = 8,
        fadd = 9,
        sub = 10,
        fsub = 11,
        mul = 12,
        fmul = 13,
        fdiv = 16,
        shl = 20,
        lshr = 21,
        ashr = 22,
        and_ = 23,
        or_ = 24,
        xor_ = 25
    };
    enum Cast : int {
        trunc = 30,
        zext = 31,
        sext = 32,
        fptosi = 34,
        uitofp = 35,
        sitofp = 36,
        fptrunc = 37,
        fpext = 38,
        ptrtoint = 39,
        inttoptr = 40,
        bitcast = 41
    };
    enum Order : int { eq = 32, ne, ugt, uge, ult, ule, sgt, sge, slt, sle };
    enum FloatOrder : int {
        foeq = 1,
        fogt,
        foge,
        folt,
        fole,
        fone,
        ford,
        funo,
        fueq,
        fugt,
        fuge,
        fult,
        fule,
        fune
    };
    LlvmValue op(Binary operation, LlvmValue a, LlvmValue b) const;
    LlvmValue op(Binary operation, LlvmValue a, std::uint64_t b) const;
    LlvmValue cast(Cast conversion, LlvmValue a, LlvmType to) const;
    LlvmValue compare(Order order, LlvmValue a, LlvmValue b) const;
    LlvmValue compare_with(Order order, LlvmValue a, std::uint64_t b) const;
    LlvmValue compare(FloatOrder order, LlvmValue a, LlvmValue b) const;
    LlvmValue compare_with(FloatOrder order, LlvmValue a, double b) const;
    LlvmValue select(LlvmValue condition, LlvmValue a, LlvmValue b) const;
    LlvmValue fneg(LlvmValue a) const { return llvm_->BuildFNeg(builder_, a, ""); }
    LlvmValue not_(LlvmValue a) const;
    /// Gives i1: the i1 is true, or all lanes of the vector of i1 are.
    LlvmValue all(LlvmValue lanes) const;
    /// Calls llvm.NAME; its name ends with the overloaded types, or else with the result's type.
    LlvmValue intrinsic(std::string_view name, LlvmType result,
                        std::initializer_list<LlvmValue> arguments,
                        std::initializer_list<LlvmType> overloads = {}) const;
    LlvmValue call(LlvmValue function, LlvmType result,
                   std::initializer_list<LlvmValue> arguments) const;
    /// Calls a function of the module that leaves all registers as they are, so that a call that is
    /// seldom executed does not make the code around it longer. Its result has the type of its
    /// argument. The first call writes the function: `write` gives its result.
    LlvmValue call_rarely(std::string_view name, LlvmValue argument,
                          const std::function<LlvmValue(LlvmValue)>& write);
    /// Calls a host function at a constant address.
    LlvmValue call(const void* function, LlvmType result,
                   std::initializer_list<LlvmValue> arguments) const {
        return call(address(function), result, arguments);
    }

    // Vectors
    unsigned lanes_of(LlvmType type) const;
    LlvmValue splat(LlvmValue scalar, unsigned lanes) const;
    LlvmValue lane(LlvmValue vector, unsigned index) const;
    LlvmValue with_lane(LlvmValue vector, unsigned index, LlvmValue scalar) const;
    LlvmValue shuffle(LlvmValue a, LlvmValue b, std::span<const int> lanes) const;
    /// Joins vectors of one length, a power of two of them.
    LlvmValue joined(std::vector<LlvmValue> parts) const;
    /// Takes lanes [first, first + count).
    LlvmValue part(LlvmValue vector, unsigned first, unsigned count) const;

    // Memory
    LlvmValue variable(LlvmType type) const { return llvm_->BuildAlloca(builder_, type, ""); }
    LlvmValue load(LlvmType type, LlvmValue from, unsigned align = 0) const;
    /// Loads with acquire order: what another thread wrote before the value is visible, too.
    LlvmValue load_acquired(LlvmType type, LlvmValue from) const;
    void store(LlvmValue value, LlvmValue to, unsigned align = 0) const;
    LlvmValue at(LlvmValue pointer, std::uint64_t bytes) const;
    LlvmValue at(LlvmValue pointer, LlvmValue bytes) const;

    // Control flow
    LlvmValue function(const char* name, LlvmType result,
                       std::initializer_list<LlvmType> parameters);
    LlvmBlock block(const char* name = "") const;
    LlvmBlock here() const { return llvm_->GetInsertBlock(builder_); }
    void go_on_in(LlvmBlock block) const { llvm_->PositionBuilderAtEnd(builder_, block); }
    void jump(LlvmBlock to) const { llvm_->BuildBr(builder_, to); }
    void branch(LlvmValue condition, LlvmBlock yes, LlvmBlock no) const {
        llvm_->BuildCondBr(builder_, condition, yes, no);
    }
    /// A branch that is nearly always taken.
    void likely(LlvmValue condition, LlvmBlock yes, LlvmBlock no) const;
    LlvmValue phi(LlvmType type,
                  std::initializer_list<std::pair<LlvmValue, LlvmBlock>> values) const;
    void give(LlvmValue result) const { llvm_->BuildRet(builder_, result); }
    LlvmBuilder builder() const { return builder_; }

  private:
    LlvmType of_lanes(LlvmType scalar, unsigned lanes) const;
    std::string suffix(LlvmType type) const;
    LlvmValue branch_weights(unsigned yes, unsigned no) const;
    void leave_registers(LlvmValue function) const;
    void set_attribute(LlvmValue function, std::string_view name, std::string_view value) const;
    std::shared_ptr<const Llvm> llvm_;
    const Attributes attributes_;
    LlvmContext context_;
    LlvmModule module_;
    LlvmBuilder builder_;
    LlvmType f32_, f64_, pointer_;
    unsigned profile_kind_;     ///< of metadata: how often a branch is taken
    LlvmValue likely_weights_;  ///< metadata of that kind
    LlvmValue function_ = nullptr;
    std::map<LlvmValue, LlvmValue> globals_;  ///< by their values
};

}  // namespace warpscope::emulator
