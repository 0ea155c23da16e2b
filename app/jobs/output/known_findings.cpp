#include "jobs/output/known_findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/source_file.h"
#include "files/regular_file.h"
#include "files/text.h"
#include "jobs/output/files_and_terminal.h"
#include "jobs/output/json.h"

namespace warpscope::jobs {

namespace fs = std::filesystem;

namespace {

using emulator::CheckChoice;
using emulator::FindingKind;
using emulator::Severity;
using files::trimmed;

constexpr const char* baseline_format = "warpscope baseline 1";
constexpr std::string_view marker = "warpscope:", verb = "allow";
constexpr auto last_kind = FindingKind::needed;

/// A set of FindingKind.
using Kinds = std::uint32_t;

constexpr Kinds bit(FindingKind kind) {
    return Kinds(1) << unsigned(kind);
}

/// The kinds that checks look for.
Kinds kinds_of(const CheckChoice& checks) {
    using enum FindingKind;
    Kinds kinds = bit(failure);
    if (checks.race) kinds |= bit(race) | bit(uninitialized);
    if (checks.barrier) kinds |= bit(barrier) | bit(members);
    if (checks.memory)
        kinds |= bit(memory) | bit(uninitialized) | bit(undefined) | bit(call) | bit(unread);
    if (checks.leaks) kinds |= bit(leak);
    if (checks.needed) kinds |= bit(needed);
    return kinds;
}

/// "race, memory"; "*" stands for all. 0: a word is no kind.
Kinds read_kinds(std::string_view words) {
    Kinds kinds = 0;
    while (true) {
        const std::string_view word = trimmed(words.substr(0, words.find(',')));
        Kinds now = word == "*" ? ~Kinds(0) : 0;
        for (unsigned k = 0; k <= unsigned(last_kind); ++k)
            if (word == to_string(FindingKind(k))) now = bit(FindingKind(k));
        if (now == 0) return 0;
        kinds |= now;
        if (words.find(',') == words.npos) return kinds;
        words.remove_prefix(words.find(',') + 1);
    }
}

/// '*' stands for any characters and '?' for one. All others, also brackets, for themselves.
bool matches(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0, star = pattern.npos, from = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            from = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p, ++t;
        } else if (star != pattern.npos) {
            p = star + 1;
            t = ++from;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == pattern.npos;
}

/// The code of a line, with single blanks and without the comment behind it.
std::string code_of(std::string_view line) {
    line = trimmed(line.substr(0, std::min(line.find("//"), line.find("/*"))));
    std::string code;
    for (const char c : line) {
        const bool blank = c == ' ' || c == '\t' || c == '\r';
        if (!blank || code.back() != ' ') code += blank ? ' ' : c;
    }
    return visible(code);
}

using Line = std::pair<std::string, int>;  ///< a file and a line
using Texts = std::vector<std::string>;

/// The user's lines of an access: that in which it stands, and those of its callers.
std::vector<Line> users_lines(const emulator::ThreadAtLine& at) {
    std::vector<Line> lines;
    for (const emulator::HeaderLine& header : at.inlined)
        if (!header.toolkit) lines.emplace_back(header.file, header.line);
    lines.emplace_back(at.file, at.line);
    return lines;
}

/// What a baseline knows of a finding, without those that the same change repairs.
struct KnownFinding {
    FindingKind kind{};
    std::string kernel;
    std::vector<Texts> lines;  ///< of each access; in the order of the alphabet
    Severity severity{};
    auto operator<=>(const KnownFinding&) const = default;

    std::string name() const {
        Texts accesses;
        for (const Texts& texts : lines)
            if (!texts.empty() && (accesses.empty() || accesses.back() != texts.front()))
                accesses.push_back(texts.front());
        return fmt::format("{}: {}", to_string(kind), fmt::join(accesses, " and "));
    }
    std::string json() const {
        return Json{{"kind", to_string(kind)},
                    {"severity", to_string(severity)},
                    {"kernel", kernel},
                    {"lines", lines}}
            .dump();
    }
};

struct Suppression {
    std::string where{};  ///< "known.supp:4"
    std::string reason{};
    Kinds kinds = 0;
    Line at{};                          ///< the line that a comment is about
    Texts kernels{}, lines{}, files{};  ///< patterns of a file, which all must match
    bool is_used = false;

    bool in_source() const { return at.second > 0; }
    bool fits(const KnownFinding& finding, const std::vector<Line>& places) const {
        if (!(kinds & bit(finding.kind))) return false;
        if (in_source()) return std::ranges::find(places, at) != places.end();
        Texts texts, names;
        for (const Texts& access : finding.lines)
            texts.insert(texts.end(), access.begin(), access.end());
        for (const Line& line : places) names.push_back("/" + line.first);
        const auto fit = [](const Texts& patterns, const Texts& all, const char* before = "") {
            return std::ranges::all_of(patterns, [&](const std::string& pattern) {
                return std::ranges::any_of(
                    all, [&](auto& one) { return matches(before + pattern, one); });
            });
        };
        return fit(kernels, {finding.kernel}) && fit(lines, texts) && fit(files, names, "*/");
    }
};

/// Findings and `Sources::files` may name one file in two ways.
std::string path_of(const std::string& file) {
    std::error_code error;
    const fs::path path = fs::canonical(file, error);
    return error ? file : path.string();
}

/// The lines of sources, and the comments in them that allow findings.
class SourceLines {
  public:
    SourceLines(const Sources& sources, std::vector<Suppression>& suppressions)
        : sources_(sources), suppressions_(suppressions) {}

    /// Where the line is not known, its place.
    std::string text(const Line& line) {
        const Texts& lines = read(line.first);
        if (line.second >= 1 && std::size_t(line.second) <= lines.size())
            return code_of(lines[std::size_t(line.second) - 1]);
        return visible(emulator::ThreadAtLine{line.first, line.second, {}, {}}.own_line());
    }
    const Texts& read(const std::string& file) {
        const auto [at, is_new] = files_.try_emplace(path_of(file));
        if (!is_new) return at->second;
        const std::string text = text_of(file);
        for (std::string_view rest = text; !rest.empty();)
            at->second.emplace_back(files::take_line(rest));
        for (std::size_t k = 0; k < at->second.size(); ++k) add_comment(file, at->second, k);
        return at->second;
    }

    Texts unreadable;  ///< comments, a sentence for each

  private:
    std::string text_of(const std::string& file) const {
        const std::string_view text = sources_.text ? sources_.text(file) : "";
        try {
            return text.empty() && !file.empty() ? compiler::read_source_file(file)
                                                 : std::string(text);
        } catch (const std::runtime_error&) {
            return "";  // the finding keeps its place
        }
    }
    void add_comment(const std::string& file, const Texts& lines, std::size_t k) {
        const std::string_view line = lines[k];
        const std::size_t at = line.find(marker);
        if (at == line.npos) return;
        const std::string_view before = trimmed(line.substr(0, at));
        std::string_view words = trimmed(line.substr(at + marker.size()));
        if (!(before.ends_with("//") || before.ends_with("/*")) || !words.starts_with(verb)) return;
        words = words.substr(verb.size(), words.find("*/") - verb.size());
        const std::size_t colon = std::min(words.find(':'), words.size());
        Suppression one{.where = fmt::format("{}:{}", file, k + 1),
                        .kinds = read_kinds(words.substr(0, colon))};
        one.reason = visible(trimmed(words.substr(std::min(colon + 1, words.size()))));
        if (!one.kinds || one.reason.empty()) {
            unreadable.push_back(one.where + ": write // warpscope: allow KIND: REASON");
            return;
        }
        // A comment that has a line for itself is about the next line with code.
        while (k + 1 < lines.size() && code_of(lines[k]).empty()) ++k;
        one.at = {path_of(file), int(k) + 1};
        suppressions_.push_back(std::move(one));
    }

    const Sources& sources_;
    std::vector<Suppression>& suppressions_;
    std::map<std::string, Texts> files_;  ///< by their paths
};

std::string read_known(std::string_view option, const fs::path& file) {
    constexpr std::size_t most = std::size_t(64) << 20;
    try {
        return files::RegularFile(file).read(most);
    } catch (const std::runtime_error& error) {
        throw UsageError(fmt::format("{} {}: {}", option, file.string(), error.what()));
    }
}

/// Takes a line of a group. Returns what is wrong with it, or "".
std::string_view take_line_of(Suppression& one, std::string_view line) {
    if (one.reason.empty()) {
        one.reason = visible(line);
        return "";
    }
    if (one.kinds == 0) {
        one.kinds = read_kinds(line);
        return one.kinds ? "" : "write a kind of finding below the reason, such as race";
    }
    for (auto [word, patterns] : {std::pair{std::string_view("kernel:"), &Suppression::kernels},
                                  {"line:", &Suppression::lines},
                                  {"file:", &Suppression::files}}) {
        if (!line.starts_with(word)) continue;
        (one.*patterns).emplace_back(trimmed(line.substr(word.size())));
        return (one.*patterns).back().empty() ? "the pattern is empty" : "";
    }
    return "write kernel:, line: or file: and a pattern, or }";
}

/// As valgrind has them: groups in braces, with a reason, kinds and conditions, a line for each.
std::vector<Suppression> read_suppressions(const fs::path& file) {
    const std::string text = read_known("--suppressions", file);
    std::vector<Suppression> all;
    bool is_open = false;
    int number = 1;
    std::string_view wrong;
    for (std::string_view rest = text; !rest.empty() && wrong.empty(); ++number) {
        const std::string_view line = trimmed(files::take_line(rest));
        if (line.empty() || line.starts_with('#')) continue;
        if (!is_open) {
            wrong = line == "{" ? "" : "write {";
            all.push_back({.where = fmt::format("{}:{}", file.string(), number)});
            is_open = true;
        } else if (line != "}") {
            wrong = take_line_of(all.back(), line);
        } else {
            is_open = false;
            if (all.back().kernels.empty() && all.back().lines.empty() && all.back().files.empty())
                wrong = "a suppression needs a reason, a kind, and kernel:, line: or file:";
        }
    }
    if (wrong.empty() && is_open) wrong = "the last } is missing";
    if (!wrong.empty())
        throw UsageError(
            fmt::format("--suppressions {}: line {}: {}", file.string(), number - 1, wrong));
    return all;
}

template <typename Word>
Word read_word(const Json& json, Word last) {
    const std::string word = json.get<std::string>();
    for (unsigned k = 0; k <= unsigned(last); ++k)
        if (word == to_string(Word(k))) return Word(k);
    throw std::runtime_error("there is no such word");
}

std::multiset<KnownFinding> read_baseline(const fs::path& file) {
    const Json json = Json::parse(read_known("--baseline", file), nullptr, false);
    std::multiset<KnownFinding> all;
    try {
        if (json.at("format") != baseline_format) throw std::runtime_error("it has another format");
        for (const Json& one : json.at("findings"))
            all.insert({read_word(one.at("kind"), last_kind), one.at("kernel").get<std::string>(),
                        one.at("lines").get<std::vector<Texts>>(),
                        read_word(one.at("severity"), Severity::error)});
        return all;
    } catch (const std::exception&) {
        throw UsageError(fmt::format(
            "--baseline {}: this is no baseline, or it is damaged; --write-baseline makes one",
            file.string()));
    }
}

class Reviewer {
  public:
    Reviewer(const FindingFiles& files, const Sources& sources)
        : files_(files), source_(sources, suppressions_) {
        if (!files.baseline.empty()) known_ = read_baseline(files.baseline);
        if (!files.suppressions.empty()) suppressions_ = read_suppressions(files.suppressions);
        for (const std::string& file : sources.files) source_.read(file);
    }

    Review review(const emulator::Finding& finding) {
        Review whole = judged(finding);
        Texts parts{whole.name}, open;
        if (whole.standing == Standing::fresh) open.push_back(whole.name);
        for (const emulator::Finding& other : finding.repaired_too) {
            if (other.severity == Severity::note) continue;  // it does no harm
            const Review part = judged(other);
            parts.push_back(part.name);
            if (part.standing == Standing::fresh) open.push_back(part.name);
            whole.standing = std::min(whole.standing, part.standing);
        }
        if (open.size() < parts.size()) whole.open = std::move(open);
        if (whole.standing != Standing::suppressed) whole.reason.clear();
        return whole;
    }

    /// Sorted, with a line for each finding, so that changes of the file are small.
    std::string baseline() const {
        return fmt::format("{{\"format\": \"{}\", \"findings\": [\n{}\n]}}\n", baseline_format,
                           fmt::join(written_, ",\n"));
    }

    Texts unmatched(Kinds looked_for) const {
        Texts sentences = source_.unreadable;
        for (const Suppression& one : suppressions_)
            if (!one.is_used && (one.kinds & looked_for))
                sentences.push_back(fmt::format("{} matches nothing: {}", one.where, one.reason));
        for (const KnownFinding& one : known_)
            if (bit(one.kind) & looked_for)
                sentences.push_back(fmt::format("{} matches nothing: {}, in {}",
                                                files_.baseline.string(), one.name(), one.kernel));
        sentences.erase(std::unique(sentences.begin(), sentences.end()), sentences.end());
        return sentences;
    }

  private:
    /// Without what the same change repairs.
    Review judged(const emulator::Finding& finding) {
        KnownFinding one{finding.kind, visible(finding.kernel), {}, finding.severity};
        std::vector<Line> places;
        for (const emulator::ThreadAtLine* at :
             {&finding.first, finding.second ? &*finding.second : nullptr}) {
            if (!at) continue;
            Texts& texts = one.lines.emplace_back();
            for (const Line& line : users_lines(*at)) {
                texts.push_back(source_.text(line));
                places.emplace_back(path_of(line.first), line.second);
            }
        }
        std::ranges::sort(one.lines);  // an order of the warps may turn them round
        std::ranges::sort(places);
        // Processes of a program find one thing several times.
        const auto [at, is_new] = seen_.try_emplace({one, places});
        return is_new ? at->second = judged(std::move(one), places) : at->second;
    }

    Review judged(KnownFinding one, const std::vector<Line>& places) {
        Review review{.name = one.name()};
        const std::string json = one.json();
        if (take_known(one)) review.standing = Standing::known;
        const auto by = std::ranges::find_if(
            suppressions_, [&](const Suppression& each) { return each.fits(one, places); });
        if (by != suppressions_.end()) {
            by->is_used = true;
            review.standing = Standing::suppressed;
            review.reason = by->reason;
            review.in_source = by->in_source();
        } else {
            written_.insert(json);
        }
        return review;
    }

    /// Whether the baseline has one that is as severe, or else a worse one; it is taken once.
    bool take_known(KnownFinding one) {
        if (files_.baseline.empty()) return !files_.write_baseline.empty();
        for (unsigned k = unsigned(one.severity); k <= unsigned(Severity::error); ++k) {
            one.severity = Severity(k);
            if (const auto at = known_.find(one); at != known_.end()) {
                known_.erase(at);
                return true;
            }
        }
        return false;
    }

    const FindingFiles& files_;
    std::vector<Suppression> suppressions_;
    SourceLines source_;
    std::multiset<KnownFinding> known_;  ///< what no finding has taken yet
    std::map<std::pair<KnownFinding, std::vector<Line>>, Review> seen_;
    std::multiset<std::string> written_;
};

}  // namespace

std::size_t Known::count(Standing standing) const {
    return std::size_t(std::ranges::count(reviews, standing, &Review::standing));
}

Known review(const emulator::Verdict& verdict, const CheckChoice& checks, const FindingFiles& files,
             const Sources& sources) {
    Reviewer reviewer(files, sources);
    Known known{.has_baseline = !files.baseline.empty()};
    for (const emulator::Finding& finding : verdict.findings)
        known.reviews.push_back(reviewer.review(finding));
    known.unmatched = reviewer.unmatched(kinds_of(checks));
    known.baseline = reviewer.baseline();
    return known;
}

}  // namespace warpscope::jobs
