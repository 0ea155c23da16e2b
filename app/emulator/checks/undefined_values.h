#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "emulator/observe/finding_log.h"
#include "emulator/observe/observer.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

/// Where an instruction accesses the local memory of a thread; nothing where it accesses other
/// memory.
std::optional<std::uint64_t> local_address(const Warp& warp, unsigned lane, std::uint32_t pc);

/// Finds values that nothing has set and that decide a result: a register or a byte of local memory
/// is read before the thread has written it, and what is computed of it reaches a branch, an
/// address, or a store to global memory. Copies and computations only pass the undefined value on,
/// because compilers move them to paths on which nobody uses the result.
///
/// It sees what the compiler has left of it: of a variable that is never set, the compiler may have
/// made any constant. Values that go through shared or global memory, or to another lane, count as
/// defined. A store of a vector is undefined where all elements are.
///
/// Or, from `Source::outsiders`, it finds what is undefined because a shuffle has read a lane that
/// takes no part in it. These values are followed from lane to lane, and a store to shared memory
/// is a use, too.
class UndefinedValues {
  public:
    enum class Source : std::uint8_t { unset, outsiders };
    /// What a thread does with an undefined value.
    enum class Use : std::uint8_t { stores, branches, addresses, updates };

    explicit UndefinedValues(Source source) : source_(source) {}

    /// Whether a kernel reads a register before it writes it, on some path, or has local memory; or
    /// has shuffles whose member mask need not name all lanes. Only of these kernels the
    /// instructions are needed.
    static bool are_possible(const Kernel& kernel, Source source);

    void begin_launch(const Kernel& kernel, const LaunchShape& launch);
    void begin_block(std::uint32_t block);
    /// Among blocks that run together, this one executes the next instructions.
    void on_block_turn(std::uint32_t block);
    /// The lanes of `mask` execute the instruction next. What they do with undefined values is
    /// added to the log.
    void follow(const Warp& warp, std::uint32_t mask, std::uint32_t pc, FindingLog& log);

  private:
    using Lanes = std::uint32_t;  ///< a mask

    /// A shuffle by which a lane has read an outsider.
    struct Origin {
        std::uint32_t pc = 0, lane = 0, outsider = 0;
        std::uint32_t members = 0;  ///< the mask of the lane
    };

    /// What a block knows.
    struct BlockState {
        std::vector<Lanes> registers;  ///< undefined lanes, by warp and register
        std::vector<bool> local;       ///< undefined, by thread and byte of local memory
        std::vector<Origin> origins;   ///< by thread, the newest
    };

    /// The registers that an instruction reads and writes.
    struct RegisterUse {
        const Statement* statement = nullptr;             ///< null: inserted by the decoder
        std::vector<std::int32_t> sources, destinations;  ///< registers; no guard among them
    };

    static RegisterUse use_of(const Statement& statement);
    Lanes& undefined(std::int32_t reg) { return state_.registers[warp_begin_ + std::size_t(reg)]; }
    Lanes undefined_of(const Operand& operand);
    Lanes result_of(const RegisterUse& use, const Warp& warp);
    Lanes predicate(const Operand& operand, const Warp& warp) const;
    Lanes logic(const RegisterUse& use, const Warp& warp, bool decides);
    /// What is undefined of the result of an exchange between lanes.
    Lanes exchanged(const RegisterUse& use, const Warp& warp, Lanes mask, std::uint32_t pc);
    Finding finding(Lanes lanes, const Warp& warp, std::uint32_t pc, Use does) const;
    void load(const RegisterUse& use, const Warp& warp, Lanes mask, std::uint32_t pc);
    void store(const RegisterUse& use, const Warp& warp, Lanes mask, std::uint32_t pc);
    /// Where a lane accesses local memory, in BlockState::local; nothing where it accesses other
    /// memory.
    std::optional<std::size_t> local_place(const Warp& warp, unsigned lane, std::uint32_t pc) const;
    /// The lanes do with an undefined value what `does` says. The operand counts as defined then.
    void report(const Operand& operand, Lanes lanes, const Warp& warp, std::uint32_t pc, Use does);
    void define(const Operand& operand, Lanes lanes);

    Source source_;
    FindingLog* log_ = nullptr;  ///< while an instruction is followed
    ObservedLaunch launch_;
    bool is_on_ = false;
    std::uint32_t block_ = 0;
    std::vector<RegisterUse> uses_;     ///< by pc
    std::vector<std::uint32_t> slots_;  ///< by register
    std::vector<bool> is_predicate_;    ///< by register
    std::size_t warp_begin_ = 0;        ///< of the warp that executes, in BlockState::registers
    BlockState state_;                  ///< of block_
    std::map<std::uint32_t, BlockState> of_others_;  ///< by block that runs together with block_
};

}  // namespace warpscope::emulator
