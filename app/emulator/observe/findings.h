#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/program/launch.h"
#include "emulator/program/source_line.h"
#include "files/sentence.h"

namespace warpscope::emulator {

enum class FindingKind : std::uint8_t {
    race,           ///< two accesses of a word of memory that nothing orders
    uninitialized,  ///< a read of memory that was never written
    barrier,        ///< a barrier that not every thread reaches
    memory,         ///< an access outside of allocated memory, or a misaligned one
    members,        ///< a warp-wide instruction whose member mask is wrong
    undefined,      ///< a value that was never set decides a result
    call,           ///< a call of a program that CUDA refuses
    leak,           ///< an object that a program has made and never destroyed
    unread,         ///< an error for which a program never asked
    failure,        ///< a launch that an error or a limit has ended
    needed          ///< a barrier, fence or wait, and what depends on it: advice
};
/// A note does no harm, and is no reason to fail.
enum class Severity : std::uint8_t { note, warning, error };
/// The kinds of the two accesses of a race: the later one after the earlier one.
enum class Hazard : std::uint8_t { none, read_after_write, write_after_read, write_after_write };

/// Whether the two accesses of a race came in the order of the program. `unknown`: a loop leads
/// from each to the other without a barrier.
enum class AccessOrder : std::uint8_t { unknown, as_written, reversed };

/// What orders two accesses: a barrier, by the threads that wait for each other at it; or else the
/// end of a launch, or words of memory that are released and acquired.
enum class BarrierScope : std::uint8_t { warp, block, cluster, grid, launch, words };

/// A thread and the source line that it executes.
struct ThreadAtLine {
    std::string file;  ///< the kernel's file; empty if the PTX carries no line information
    /// Line of the file, or of the PTX text if `file` is empty; 0 in code of the host whose `file`
    /// is an address in the program: "app+0x12f4".
    int line = 0;
    Dim3 thread, block;
    /// The lines of headers from which the code was inlined into `line`: first the one in which it
    /// stands, then its caller, and so on.
    std::vector<HeaderLine> inlined{};

    std::string own_line() const;  ///< "kernels/ripple.cu:76", "PTX line 34"
    /// users_place(): "tile.h:14 (called at mine.cu:9)". Findings with equal places are one.
    std::string where() const;
    /// Returns full_place(), which names a header of the toolkit too.
    std::string where_in_full() const;
};

/// Returns the lines between which something is missing, for two places: the lines of the outermost
/// calls that differ. Both texts are equal if the places are.
std::pair<std::string, std::string> lines_between(const ThreadAtLine& a, const ThreadAtLine& b);

/// The shortest order of the warps of a block in which a race spoils a result, in words.
struct WitnessWords {
    files::Sentence sentence;  ///< what comes too early and what goes wrong; or why there is none
    std::optional<unsigned> preemptions{};  ///< nullopt: no order is known
    std::vector<files::Sentence> turns{};   ///< the order as a list
    std::string schedule{};                 ///< the text of its schedule file; empty: none
};

/// How often a GPU computes a wrong result: as it runs by itself, and where one side of a race is
/// made to wait.
struct Provocation {
    files::Sentence sentence;    ///< the counts in words, or why there are none
    unsigned launches = 0;       ///< of each kind; 0: none was run
    unsigned wrong = 0;          ///< as the GPU runs by itself
    unsigned wrong_delayed = 0;  ///< with the wait
};

/// One entry in a check's result: what was found at one source line or pair of lines, how often,
/// and one example.
struct Finding {
    FindingKind kind = FindingKind::race;
    Severity severity = Severity::error;
    Hazard hazard = Hazard::none;
    AccessOrder order = AccessOrder::unknown;  ///< the order of the two accesses of a race
    std::string kernel;
    /// Code of the host, in the function that `kernel` names, and not of a kernel.
    bool by_host = false;
    /// For a race, the earlier access; between blocks, that of the lower block.
    ThreadAtLine first;
    std::optional<ThreadAtLine> second;  ///< for a race, the other access
    std::optional<std::uint64_t> byte;   ///< offset into the block's shared memory
    /// The number of accesses of single lanes; for a race between blocks, of words; for a barrier,
    /// of threads that do not reach it.
    std::uint64_t count = 0;
    files::Sentence sentence;  ///< the example: threads, lines, the cause
    /// Lines of the kernel's file between which a barrier is missing, or what stands for one, in
    /// the order of the program; not from < to where a loop leads from one to the other.
    struct BarrierPlace {
        int from = 0, to = 0;
        BarrierScope scope = BarrierScope::block;
    };
    std::optional<BarrierPlace> barrier;
    /// The threads of a race change a word at one time, so that changes are lost.
    bool needs_atomic = false;
    std::vector<Finding> repaired_too{};       ///< by the same change: see by_repair()
    std::optional<WitnessWords> witness{};     ///< nullopt: none was looked for
    std::optional<Provocation> provocation{};  ///< nullopt: no GPU was asked

    /// Returns true for a race in which a read came before or after a write that the program orders
    /// the other way: the read got the wrong value.
    bool misread() const {
        return kind == FindingKind::race && order == AccessOrder::reversed &&
               hazard != Hazard::write_after_write;
    }
    /// The place to look at: the read of a race, if there is one, otherwise the later access.
    const ThreadAtLine& place() const {
        return second && hazard != Hazard::write_after_read ? *second : first;
    }
};

std::string_view to_string(FindingKind kind);  ///< "race"
/// The words before Finding::repaired_too: "This barrier also repairs:".
files::Sentence words_of_repair(const Finding& finding);
/// What a finding of this kind counts: "hazard".
std::string_view counted_noun(FindingKind kind);
std::string_view to_string(Severity severity);  ///< "warning"
std::string_view to_string(Hazard hazard);      ///< "RAW", "WAR", "WAW"; "" for none
std::size_t count_of(const std::vector<Finding>& findings, Severity severity);
/// Returns the findings of several checks as one list, the most harmful first: errors before
/// warnings, and these before notes; among them reads that got a wrong value, then reads of memory
/// that nothing wrote, then races in which a read may have come too early, then other races, then
/// the other kinds; otherwise in the given order.
std::vector<Finding> merged(const std::vector<std::vector<Finding>>& lists);

}  // namespace warpscope::emulator
