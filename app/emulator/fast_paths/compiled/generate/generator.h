#pragma once

#include "emulator/fast_paths/compiled/generate/accesses.h"
#include "emulator/fast_paths/compiled/generate/addresses.h"
#include "emulator/fast_paths/compiled/generate/slots.h"

namespace warpscope::emulator {

/// Writes what computes: arithmetic, logic and shuffles. Uniform results and masks are computed in
/// the segment's scalar part, vectors group by group.
class Computations {
  public:
    Computations(FunctionContext& context, Slots& slots, bool has_fma)
        : context_(context),
          ir_(context.ir),
          slots_(slots),
          arithmetics_{ir_, has_fma, context.kernel().flush_subnormals} {}

    /// `active`: the mask of the lanes that compute, where some skip; null: all of them do.
    void compute(const Unit& unit, LlvmValue active = nullptr);
    /// Ends the segment before the shuffle.
    void shuffle(const Unit& unit);

  private:
    void compute_mask(const Unit& unit);
    void compute_scalar(const Unit& unit);
    void compute_lanes(const Unit& unit, LlvmValue active);
    LlvmValue source(const Instruction& i, unsigned k, unsigned g);

    FunctionContext& context_;
    Ir& ir_;
    Slots& slots_;
    const Arithmetics arithmetics_;
};

/// Writes a part of a kernel's plan as a function of LLVM IR, which has the type of a Handler. The
/// interpreter calls it at an entry of the part: for a warp of 32 active lanes, or for any active
/// lanes, as the plan's mode says. The function keeps registers in variables or in the register
/// file, and counts the turn down as the interpreter does, instruction for instruction. It returns
/// where the turn ends, where another part follows, and where the interpreter must run an
/// instruction: then the registers that are live lie in the register file, and that instruction's
/// handler has run.
class Generator {
  public:
    /// `lanes` (4, 8 or 16): those of the CPU's vectors of 32-bit elements. `code`: where the
    /// compiled kernel's instructions will lie. `reports`: see CompiledForm.
    Generator(Ir& ir, const CompilationPlan& plan, const Part& part, const Instruction* code,
              unsigned lanes, bool has_fma, bool reports);
    void write();

  private:
    void write_unit(std::uint32_t u);
    void leave(std::uint32_t u);
    void end_at_cost_point(std::uint32_t u);
    void branch(std::uint32_t u);
    void skip_arithmetic(std::uint32_t u, LlvmValue taken);
    void end_part();

    FunctionContext context_;
    Ir& ir_;
    const Part part_;
    Slots slots_;
    TurnCounter turn_;
    Exits exits_;
    Addresses addresses_;
    Accesses accesses_;
    Computations computations_;
};

struct LateCode;

/// Writes the rest of a function that goes to late code, or to the kernel's own handlers.
void write_call_of(LateCode& late, const FunctionContext& context);

}  // namespace warpscope::emulator
