#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "emulator/observe/findings.h"
#include "emulator/observe/observer.h"

namespace warpscope::emulator {

/// Knows which flags threads have set and seen: words that one thread polls (is_polled()) and
/// another one writes. What a thread does before it sets a flag comes before what the other one
/// does after it has seen it, if a fence stands between the access and the flag on both sides.
///
/// A counter is such a word, too: an atomic operation raises it, and its old value tells a block
/// how many others have come, as it tells the last block of a grid.
///
/// A party is who sets and sees: a warp of a block, or a block, for whose threads one may poll.
class Flags {
  public:
    void begin_launch(const Kernel& kernel);
    /// False in most kernels, of which access() need not be told.
    bool are_polled() const { return !polls_.empty(); }
    /// As are_polled(), where parties are blocks: counters tell blocks of each other.
    bool are_used() const { return !polls_.empty() || !counters_.empty(); }
    /// Forgets what the parties have done.
    void clear();
    void join(const Flags& fork);
    void access(const Access& access, std::uint32_t party);

    /// Two accesses of a race, as indices into Kernel::code.
    struct Race {
        std::uint32_t first = 0, second = 0;
        std::uint32_t first_party = 0, second_party = 0;
    };
    /// Says which fences are missing where the first party has set a flag after its access and the
    /// second one has polled it before its own, or where the race is that of a flag: "the flag that
    /// is set at a.cu:7 and polled at a.cu:9 orders these two only with fences: __threadfence() is
    /// missing between a.cu:6 and a.cu:7". Sets Finding::barrier then. Or says that the scope of
    /// the flag is too small. "" where nothing is wrong with a flag. `scope`: that of the parties.
    files::Sentence missing_fences(Finding& finding, const Kernel& kernel, const Race& race,
                                   Scope scope) const;

  private:
    using Seen = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;  ///< party, pc, address

    struct Flag {
        std::uint32_t setter = 0, poll = 0;  ///< pcs; those of a counter are equal
    };
    /// The fences that a flag lacks.
    struct Lacks {
        bool release = false, acquire = false;
    };

    bool has_met(const Flag& flag, const Race& race) const;
    /// The first party sets the flag after its access, and the second one polls it before its own.
    bool leads_over(const Kernel& kernel, const Flag& flag, const Race& race) const;
    static files::Sentence words_of_scope(const Kernel& kernel, const Flag& flag, Scope scope);
    static Lacks lacks_of_flag(const Kernel& kernel, const Flag& flag, Scope scope);
    Lacks lacks_between(const Kernel& kernel, const Flag& flag, const Race& race,
                        Scope scope) const;
    files::Sentence missing_fences_of_counter(Finding& finding, const Kernel& kernel,
                                              const Race& race) const;
    static files::Sentence words_between(const Kernel& kernel, const Flag& flag, const Race& race,
                                         Lacks lacks, Scope scope);

    void find_counters(const Kernel& kernel);

    std::vector<std::uint32_t> polls_, setters_, counters_;  ///< pcs
    std::vector<bool> is_of_flag_;                           ///< by pc
    std::set<Seen> seen_;
};

}  // namespace warpscope::emulator
