#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::tests::memory_model {

enum class Kind : std::uint8_t { load, store, add, exchange, compare, reduce, fence };
enum class Order : std::uint8_t { weak, volatile_, relaxed, acquire, release, acq_rel, sc };
enum class Scope : std::uint8_t { cta, gpu, sys };

/// A memory operation, or a fence.
struct Operation {
    Kind kind = Kind::fence;
    Order order = Order::weak;
    Scope scope = Scope::gpu;
    unsigned thread = 0;
    unsigned location = 0;
    int result = -1;             ///< the register of what it reads
    std::uint32_t compared = 0;  ///< an atom.cas stores where it reads this value
    std::uint32_t value = 0;     ///< that it stores or adds
    int stored = -1;             ///< the register that it stores in place of `value`
    struct If {
        int register_ = 0;
        std::uint32_t value = 0;
    };
    std::optional<If> condition;           ///< else it is not executed
    std::optional<std::uint32_t> awaited;  ///< it is repeated until it reads this value

    bool waits() const { return awaited.has_value(); }
    bool is_fence() const { return kind == Kind::fence; }
    bool is_atomic() const { return !is_fence() && kind != Kind::load && kind != Kind::store; }
    /// True also for an atomic reduction, which "conceptually performs a strong read".
    bool reads() const { return kind == Kind::load || is_atomic(); }
    bool may_write() const { return kind == Kind::store || is_atomic(); }
    bool is_strong() const { return order != Order::weak; }
    bool acquires() const {
        return order == Order::acquire || order == Order::acq_rel || order == Order::sc;
    }
    /// What it stores where it reads `read`, if anything. `operand`: `value`, or
    /// that of the register.
    std::optional<std::uint32_t> written(std::uint32_t read, std::uint32_t operand) const {
        if (!may_write() || (kind == Kind::compare && read != compared)) return {};
        return kind == Kind::add || kind == Kind::reduce ? read + operand : operand;
    }
    bool releases() const {
        return order == Order::release || order == Order::acq_rel || order == Order::sc;
    }
};

/// A small program. Its words and registers are zero at first.
struct Program {
    std::vector<Operation> operations;   ///< of all threads, in program order
    std::vector<unsigned> blocks;        ///< by thread
    std::vector<std::string> locations;  ///< names
    std::vector<std::string> text;       ///< of each operation, in PTX, without its condition
    unsigned registers = 0;
    std::string space;  ///< state space of the words
};

/// Reads a program: `st x 1; fence.sc.gpu; st.relaxed.gpu f 1 | r0 = ld.acquire.gpu f; if r0 == 1
/// st x 2`. Threads are parted by |, and operations by ;. They are written as in PTX, without state
/// space and type. `until 1 r0 = ld.acquire.gpu f` repeats the load until it reads 1. `r0 =
/// atom.relaxed.gpu.cas x 0 1` stores 1 where it reads 0. `blocks`: those of the threads; empty:
/// each thread has a block of its own.
Program program_of(std::string_view text, std::vector<unsigned> blocks = {},
                   std::string space = ".global");

}  // namespace warpscope::tests::memory_model
