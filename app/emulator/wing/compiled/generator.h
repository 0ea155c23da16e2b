#pragma once

#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "emulator/wing/compiled/plan.h"
#include "emulator/wing/llvm/ir.h"

namespace warpscope::emulator {

struct LateCode;
struct Moved;

/// Writes a part of a kernel's plan as a function of LLVM IR, which has the type of a Handler. The
/// interpreter calls it at an entry of the part: for a warp of 32 active lanes, or for any active
/// lanes, as the plan's mode says. The function keeps registers in variables or in the register
/// file, as SlotVariable::place says, and counts the turn down as the interpreter does, instruction
/// for instruction. It returns where the turn ends, where another part follows, and where the
/// interpreter must run an instruction: then the registers that are live lie in the register file,
/// and that instruction's handler has run.
///
/// A vector register has a variable for each group of `lanes` lanes. The instructions between two
/// checkpoints are written group by group, so that few values are live at a time.
class Generator {
  public:
    static constexpr const char* function_name = "run";

    /// `lanes` (4, 8 or 16): those of the CPU's vectors of 32-bit elements. `code`: where the
    /// compiled kernel's instructions will lie. `reports`: see CompiledForm.
    Generator(Ir& ir, const Plan& plan, const Part& part, const Instruction* code, unsigned lanes,
              bool has_fma, bool reports);

    void write();
    /// Writes a function that goes to code which may be compiled later, or to the kernel's own
    /// handlers.
    void write_call_of(LateCode& late);

  private:
    using Value = LlvmValue;
    using Lanes = std::vector<Value>;  ///< by group
    /// From a tight loop, or from outside of them (0), to a unit.
    using Way = std::pair<std::uint32_t, std::uint32_t>;

    // generator.cpp: the function
    void begin_function();
    void declare_variables();
    void go_to(Value handler);
    void write_unit(std::uint32_t u);
    void leave(std::uint32_t u);
    LlvmBlock leader(std::uint32_t u);
    LlvmBlock way_to(std::uint32_t u);
    LlvmBlock begin_in_loop(std::uint32_t u);
    LlvmBlock pause_before(std::uint32_t u);
    LlvmBlock interpret(std::uint32_t u);
    void fill(std::uint32_t operand);
    void fill(std::uint32_t operand, unsigned g);
    void spill(std::uint32_t operand);
    void spill(std::uint32_t operand, unsigned g, Value value);
    Value instruction_address(std::uint32_t u) const;

    // generate_entries.cpp
    void write_entries();
    void add_entry(Value choice, std::uint32_t u, LlvmBlock block) const;
    LlvmBlock fill_before(std::uint32_t u);
    Value entry_number();
    Value entry_of_instruction() const;
    void run_original();

    // generate_exits.cpp
    void write_ways();
    void write_exits();
    void write_exit(const Way& way);
    void end_turn(Warp::Outcome outcome);
    void wait_at_barrier(std::uint32_t u);
    void run_handler(std::uint32_t u);
    void store_left();
    void write_ends();
    bool is_in_part(std::uint32_t u) const { return u >= part_.begin && u < part_.end; }
    LlvmBlock way_to_part_of(std::uint32_t u);
    void end_part();
    void write_ways_to_parts();

    // generator.cpp: segments, that is, what lies between two checkpoints
    void begin_segment(LlvmBlock block);
    void close_segment();
    void in_scalar_part() const { ir_.go_on_in(scalar_part_); }
    void in_group(unsigned g);
    void leave_group(unsigned g) { groups_[g] = ir_.here(); }

    // generate_values.cpp: operands
    LlvmType type_of(Type type, unsigned lanes) const;
    Value constant(std::uint64_t value, Type type, unsigned lanes) const;
    LlvmType variable_type(std::uint32_t operand) const;
    Value slot(std::uint32_t operand, unsigned g) const;
    bool is_in_slot(std::uint32_t operand) const;
    Value variable(std::uint32_t operand, unsigned g);
    Lanes variables(std::uint32_t operand);
    void set_variable(std::uint32_t operand, unsigned g, Value value);
    Value scalar(std::uint32_t operand, Type type);
    Value lanes(std::uint32_t operand, Type type, unsigned g);
    Value source(const Instruction& i, unsigned k, unsigned g);
    Value mask(std::uint32_t predicate);
    Value condition(const Instruction& i);
    Value running() const;
    Value lanes_of_mask(Value mask, unsigned g) const;
    void set_mask_where(Value active, std::uint32_t predicate, Value mask);
    Lanes& lanes_of_predicate(std::uint32_t predicate);
    void set_scalar(std::uint32_t operand, Value value);
    void set_lanes(std::uint32_t operand, Value value, unsigned g);
    void set_mask(std::uint32_t predicate, Value mask);
    Value combined(const Lanes& predicate) const;

    // generate_units.cpp
    void compute(const Unit& unit);
    void compute_mask(const Unit& unit);
    void compute_scalar(const Unit& unit);
    void compute_lanes(const Unit& unit);
    void shuffle(const Unit& unit);
    void branch(std::uint32_t u);
    void skip_arithmetic(std::uint32_t u, Value taken);
    void checkpoint(std::uint32_t u);
    Value count(std::uint32_t u);
    void count_execution(std::uint32_t u);
    void add_to_count(std::uint32_t u, std::size_t member, Value number);
    Value number_of_lanes(Value mask) const;

    // generate_memory.cpp
    void access(std::uint32_t u);
    void begin_guarded(std::uint32_t u);
    Value uniform_address(const Instruction& i);
    void load_uniform(std::uint32_t u);
    void access_lanes(std::uint32_t u);
    void access_consecutive(std::uint32_t u, const Lanes& addresses, Value a, Value b);
    Value base_of(const Unit& unit) const;
    void move_consecutive(const Unit& unit, Value base, const std::vector<Value>& halves);
    Lanes stored(const Unit& unit, unsigned g);
    /// `first`, `second`: the addresses of lanes 0 and 16, where the lanes of each half of the warp
    /// access bytes that follow each other. All without the immediate operand.
    void report(std::uint32_t u, const Lanes& addresses, Value first = nullptr,
                Value second = nullptr);
    void report_broadcast(std::uint32_t u, Value address, LlvmBlock done);
    void follow_model(std::uint32_t u, Value first, Value second, LlvmBlock done);
    void report_access(std::uint32_t u, const Lanes& addresses, Value consecutive_lanes,
                       LlvmBlock done);
    void end_where_asked(std::uint32_t u, Value ends, LlvmBlock done);

    // generate_scattered.cpp
    void access_scattered(std::uint32_t u, const Lanes& addresses);
    void require_lanes(std::uint32_t u, const Lanes& addresses);
    Value are_in_shared(unsigned bytes, std::int64_t low, std::int64_t high,
                        const Lanes& addresses) const;
    Value are_among(Value size, unsigned bytes, Value from, const Lanes& addresses) const;
    Value host_places(Value base, Value addresses) const;
    Value gathered(const Moved& moved, Value places, Value active) const;
    void scatter(const Moved& moved, Value values, Value places, Value active) const;
    void move_scattered(const Unit& unit);
    struct Pairs {
        Value found;     ///< i1: the addresses are pairs
        Value in_order;  ///< i1: the first half warp accesses the lower word of each pair
        Value begin;     ///< the lowest address of the first pair
        Value step;      ///< from one pair to the next
    };
    bool may_have_pairs() const;
    bool may_access_pairs(const Unit& unit) const;
    Pairs find_pairs(const Lanes& addresses) const;
    void move_pairs(const Unit& unit, Value base, const Pairs& pairs);

    // generate_addresses.cpp
    Value numbers_in_half(unsigned g, unsigned factor, unsigned bits) const;
    Lanes steps(unsigned bytes, LlvmType type) const;
    Value first_of_half(const Lanes& addresses, unsigned half) const;
    Value are_at(const Lanes& offsets, const Lanes& addresses) const;
    Value are_consecutive(const Unit& unit, const Lanes& addresses) const;
    Value are_consecutive_in_shared(unsigned bytes, std::int64_t low, std::int64_t high,
                                    const Lanes& addresses) const;
    void require(Value condition, std::uint32_t u);
    void count_places();
    Value is_place(Value address, unsigned bytes, Value places) const;
    Value places(unsigned bytes) const;
    Value room_for(Value places, std::int64_t low, std::int64_t high, unsigned bytes) const;
    Value has_places(const LoadGroup& group);
    void check_lanes(const LoadGroup& group);
    void require_place(std::uint32_t u, Value address, unsigned bytes);
    void require_range(std::uint32_t u, Value low, Value high);
    Value range_of(const Instruction& i) const;

    Ir& ir_;
    const Plan& plan_;
    const Part part_;
    const Kernel& kernel_;
    const Instruction* code_;
    unsigned width_, group_count_;
    bool reports_;
    const bool may_have_pairs_;
    Arithmetics arithmetics_;

    LlvmValue warp_ = nullptr, instruction_ = nullptr;  // the function's parameters
    LlvmValue registers_ = nullptr, block_ = nullptr, shared_ = nullptr, shared_bytes_ = nullptr;
    std::array<Value, 3> places_ = {}, first_places_ = {};
    LlvmValue observed_ = nullptr;                 // a ReportedBlock; null: nothing is reported
    LlvmValue wanted_ = nullptr;                   // events; null: nothing is reported
    LlvmValue executions_ = nullptr;               // null: nothing is reported
    LlvmValue left_ = nullptr, pauses_ = nullptr;  // variables
    LlvmValue are_consecutive_ = nullptr, are_in_shared_ = nullptr;  // variables of check_lanes()
    // Variables of the exits: the instruction that is next, its handler, Warp::outcome.
    LlvmValue next_ = nullptr, handler_ = nullptr, outcome_ = nullptr;
    LlvmBlock ends_turn_ = nullptr, announces_ = nullptr, runs_handler_ = nullptr;
    LlvmValue addresses_ = nullptr;                        // a variable: 32 addresses
    std::map<std::uint32_t, std::vector<Value>> storage_;  ///< by operand: variables, by group
    /// Variables of what lies in slots, by group, that hold their values since the last leader.
    std::set<std::pair<std::uint32_t, unsigned>> loaded_;
    std::uint32_t loop_ = 0;  ///< the tight loop that is written; see Plan::loop()
    std::map<std::uint32_t, LlvmBlock> leaders_, begins_in_loops_;
    std::map<Way, LlvmBlock> ways_, ways_to_parts_, pauses_before_, interprets_;

    LlvmBlock scalar_part_ = nullptr;
    std::vector<LlvmBlock> group_begins_, groups_;
    std::map<std::uint32_t, Lanes> predicates_;  ///< of the segment
    std::set<std::uint32_t> changed_predicates_;
    /// Mask of the lanes that run; null: all. Variables have no meaning in the other lanes, whose
    /// values lie in the register file only.
    LlvmValue running_ = nullptr;
    LlvmValue idle_lanes_ = nullptr;  ///< number of the others, where something is reported
    LlvmValue active_ = nullptr;  ///< mask of the lanes that compute, where some skip; null: all
};

}  // namespace warpscope::emulator
