#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/judge.h"

namespace warpscope::jobs {

/// Files that say which findings are known or allowed, and files that receive what was found.
struct FindingFiles {
    std::filesystem::path baseline{}, suppressions{};          ///< are read; empty: none
    std::filesystem::path write_baseline{}, sarif{}, junit{};  ///< are written; empty: none
};

/// `fresh`: neither known nor suppressed.
enum class Standing : std::uint8_t { fresh, known, suppressed };

/// Where a finding stands.
struct Review {
    Standing standing = Standing::fresh;
    std::string reason{};    ///< of its suppression
    bool in_source = false;  ///< the suppression is a comment
    /// "race: tile[i] = x; and y = tile[j];": does not change with the number of a line
    std::string name{};
    /// The names of those that are fresh, where one change repairs others too.
    std::vector<std::string> open{};
};

/// Says which findings of a verdict the baseline knows, and which are suppressed.
struct Known {
    std::vector<Review> reviews{};  ///< of each finding; empty: nothing is known
    /// What has matched no finding, a sentence for each, and comments that can't be read.
    std::vector<std::string> unmatched{};
    bool has_baseline = false;  ///< fresh findings are those that the baseline lacks
    std::string baseline{};     ///< the text of a baseline with what is not suppressed

    Review of(std::size_t finding) const {
        return finding < reviews.size() ? reviews[finding] : Review{};
    }
    std::size_t count(Standing standing) const;
};

/// The sources whose lines findings name.
struct Sources {
    /// The text of a file that is not on the disk, or differs there; may return an empty text.
    std::function<std::string_view(const std::string& file)> text{};
    /// Files whose comments are to match something. Those of files with findings are, too.
    std::vector<std::string> files{};
};

/// Says which findings are known by the baseline, and which are suppressed: by the file of
/// suppressions, or by a comment at one of their lines. All findings that decide an exit status go
/// through it.
///
/// A finding is known by its kind, its kernel and the text of its source lines. A baseline that has
/// it once knows one place with these texts, at most as severe. Where one change repairs several
/// findings, each of them must be known or suppressed. Without FindingFiles::baseline, all that is
/// written to FindingFiles::write_baseline is known. Throws UsageError for a file that can't be
/// read.
Known review(const emulator::Verdict& verdict, const emulator::CheckChoice& checks,
             const FindingFiles& files, const Sources& sources);

}  // namespace warpscope::jobs
