#include "jobs/output/known_findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
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

/// "race, memory"; "*" stands for all. Nullopt: a word is no kind.
std::optional<Kinds> read_kinds(std::string_view words) {
    Kinds kinds = 0;
    while (true) {
        const std::string_view word = trimmed(words.substr(0, words.find(',')));
        Kinds now = word == "*" ? ~Kinds(0) : 0;
        for (unsigned k = 0; k <= unsigned(last_kind); ++k)
            if (word == to_string(FindingKind(k))) now = bit(FindingKind(k));
        if (now == 0) return {};
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

/// What a baseline knows of a finding.
struct Key {
    FindingKind kind{};
    std::string kernel;
    std::vector<Texts> lines;  ///< of each access; in order of the alphabet
    auto operator<=>(const Key&) const = default;
};

std::string name_of(const Key& key) {
    Texts accesses;
    for (const Texts& texts : key.lines)
        if (!texts.empty() && (accesses.empty() || accesses.back() != texts.front()))
            accesses.push_back(texts.front());
    return fmt::format("{}: {}", to_string(key.kind), fmt::join(accesses, " and "));
}

struct Suppression {
    std::string where;  ///< "known.supp:4"
    std::string reason;
    Kinds kinds = 0;
    bool in_source = false;
    Texts kernels{}, lines{}, files{};  ///< patterns, which all must match
    bool is_used = false;
};

/// A finding without those that the same change repairs.
struct Spot {
    Key key;
    std::vector<Line> lines;
    Severity severity{};
    /// Whether each pattern fits to one of the texts.
    static bool fit(const Texts& patterns, const Texts& texts) {
        return std::ranges::all_of(patterns, [&](const std::string& pattern) {
            return std::ranges::any_of(
                texts, [&](const std::string& text) { return matches(pattern, text); });
        });
    }
    bool is_of(const Suppression& one) const {
        Texts texts, files;
        for (const Texts& access : key.lines)
            texts.insert(texts.end(), access.begin(), access.end());
        for (const Line& line : lines) files.push_back(line.first);
        return (one.kinds & bit(key.kind)) && fit(one.kernels, {key.kernel}) &&
               fit(one.lines, texts) && fit(one.files, files);
    }
};

/// The lines of sources, and the comments in them that allow findings.
class SourceLines {
  public:
    explicit SourceLines(const Sources& sources) : sources_(sources) {}

    /// Where the line is not known, its place.
    std::string text(const Line& line) {
        const std::vector<std::string>& lines = lines_of(line.first);
        if (line.second >= 1 && std::size_t(line.second) <= lines.size())
            return code_of(lines[std::size_t(line.second) - 1]);
        return visible(emulator::ThreadAtLine{line.first, line.second, {}, {}}.own_line());
    }
    Suppression* comment(const Line& line, FindingKind kind) {
        lines_of(line.first);
        for (auto [at, end] = comments_.equal_range({path_of(line.first), line.second}); at != end;
             ++at)
            if (at->second.kinds & bit(kind)) return &at->second;
        return nullptr;
    }
    void read(const std::string& file) { lines_of(file); }
    const std::multimap<Line, Suppression>& comments() const { return comments_; }
    const std::vector<std::string>& unreadable() const { return unreadable_; }

  private:
    /// Findings and `Sources::files` may name one file in two ways.
    const std::string& path_of(const std::string& file) {
        const auto [at, is_new] = paths_.try_emplace(file, file);
        if (!is_new) return at->second;
        std::error_code error;
        const fs::path path = fs::canonical(file, error);
        if (!error) at->second = path.string();
        return at->second;
    }
    std::string read_text(const std::string& file) const {
        if (sources_.text) {
            if (const std::string_view text = sources_.text(file); !text.empty())
                return std::string(text);
        }
        try {
            return file.empty() ? "" : compiler::read_source_file(file);
        } catch (const std::runtime_error&) {
            return "";  // the finding keeps its place
        }
    }
    const std::vector<std::string>& lines_of(const std::string& file) {
        const std::string& path = path_of(file);
        const auto [at, is_new] = files_.try_emplace(path);
        std::vector<std::string>& lines = at->second;
        if (!is_new) return lines;
        const std::string text = read_text(file);
        for (std::string_view rest = text; !rest.empty();)
            lines.emplace_back(files::take_line(rest));
        for (std::size_t k = 0; k < lines.size(); ++k) add_comment(file, path, lines, k);
        return lines;
    }
    void add_comment(const std::string& file, const std::string& path,
                     const std::vector<std::string>& lines, std::size_t k) {
        const std::string_view line = lines[k];
        const std::size_t at = line.find(marker);
        if (at == line.npos) return;
        const std::string_view before = trimmed(line.substr(0, at));
        if (!before.ends_with("//") && !before.ends_with("/*")) return;
        std::string_view words = trimmed(line.substr(at + marker.size()));
        if (!words.starts_with(verb)) return;
        words = words.substr(verb.size(), words.find("*/") - verb.size());
        const std::size_t colon = std::min(words.find(':'), words.size());
        const auto kinds = read_kinds(words.substr(0, colon));
        const std::string reason =
            visible(trimmed(words.substr(std::min(colon + 1, words.size()))));
        const std::string where = fmt::format("{}:{}", file, k + 1);
        if (!kinds || reason.empty()) {
            unreadable_.push_back(where + ": write // warpscope: allow KIND: REASON");
            return;
        }
        // A comment that has a line for itself is about the next line with code.
        std::size_t about = k;
        while (about + 1 < lines.size() && code_of(lines[about]).empty()) ++about;
        comments_.emplace(Line{path, int(about) + 1}, Suppression{where, reason, *kinds, true});
    }

    const Sources& sources_;
    std::map<std::string, std::string> paths_;
    std::map<std::string, std::vector<std::string>> files_;  ///< by their paths
    std::multimap<Line, Suppression> comments_;              ///< by the line that they are about
    std::vector<std::string> unreadable_;
};

[[noreturn]] void refuse_line(std::string_view option, const fs::path& file, std::string_view why) {
    throw UsageError(fmt::format("{} {}: {}", option, file.string(), why));
}

std::string read_known(std::string_view option, const fs::path& file) {
    constexpr std::size_t most = std::size_t(64) << 20;
    try {
        return files::RegularFile(file).read(most);
    } catch (const std::runtime_error& error) {
        refuse_line(option, file, error.what());
    }
}

/// A line in a group of a file of suppressions.
void take_condition(Suppression& one, std::string_view line, const fs::path& file, int number) {
    const auto fail = [&](std::string_view why) {
        refuse_line("--suppressions", file, fmt::format("line {}: {}", number, why));
    };
    if (one.reason.empty()) {
        one.reason = visible(line);
        return;
    }
    if (one.kinds == 0) {
        const auto kinds = read_kinds(line);
        if (!kinds) fail("write a kind of finding below the reason, such as race");
        one.kinds = *kinds;
        return;
    }
    for (auto [word, patterns] : {std::pair{"kernel:", &Suppression::kernels},
                                  {"line:", &Suppression::lines},
                                  {"file:", &Suppression::files}}) {
        if (!line.starts_with(word)) continue;
        const std::string pattern(trimmed(line.substr(std::string_view(word).size())));
        if (pattern.empty()) fail("the pattern is empty");
        (one.*patterns).push_back(pattern);
        return;
    }
    fail("write kernel:, line: or file: and a pattern, or }");
}

/// As valgrind has them: groups in braces, with a reason, kinds and conditions, a line for each.
std::vector<Suppression> read_suppressions(const fs::path& file) {
    const std::string text = read_known("--suppressions", file);
    std::vector<Suppression> all;
    bool is_open = false;
    int number = 0;
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view line = trimmed(files::take_line(rest));
        ++number;
        if (line.empty() || line.starts_with('#')) continue;
        if (!is_open && line == "{") {
            all.push_back({fmt::format("{}:{}", file.string(), number), {}});
            is_open = true;
        } else if (is_open && line == "}") {
            const Suppression& one = all.back();
            if (one.kernels.empty() && one.lines.empty() && one.files.empty())
                refuse_line(
                    "--suppressions", file,
                    fmt::format("line {}: a suppression needs a reason, a kind, and kernel:, "
                                "line: or file:",
                                number));
            is_open = false;
        } else if (is_open) {
            take_condition(all.back(), line, file, number);
        } else {
            refuse_line("--suppressions", file, fmt::format("line {}: write {{", number));
        }
    }
    if (is_open) refuse_line("--suppressions", file, "its last } is missing");
    return all;
}

/// A finding of a baseline.
struct KnownEntry {
    Severity severity{};
    bool is_used = false;
};
using KnownEntries = std::multimap<Key, KnownEntry>;

template <typename Word>
Word read_word(const Json& json, Word last) {
    const std::string word = json.get<std::string>();
    for (unsigned k = 0; k <= unsigned(last); ++k)
        if (word == to_string(Word(k))) return Word(k);
    throw UsageError("");
}

KnownEntries read_baseline(const fs::path& file) {
    const Json json = Json::parse(read_known("--baseline", file), nullptr, false);
    if (!json.is_object() || json.value("format", Json()) != baseline_format)
        refuse_line("--baseline", file,
                    "this is no baseline of Warpscope; --write-baseline makes one");
    KnownEntries entries;
    try {
        for (const Json& one : json.at("findings"))
            entries.emplace(
                Key{read_word(one.at("kind"), last_kind), one.at("kernel").get<std::string>(),
                    one.at("lines").get<std::vector<Texts>>()},
                KnownEntry{read_word(one.at("severity"), Severity::error)});
    } catch (const std::exception&) {
        refuse_line("--baseline", file, fmt::format("finding {} is damaged", entries.size() + 1));
    }
    return entries;
}

class Reviewer {
  public:
    Reviewer(const FindingFiles& files, const Sources& sources) : files_(files), source_(sources) {
        for (const std::string& file : sources.files) source_.read(file);
        if (!files.baseline.empty()) entries_ = read_baseline(files.baseline);
        if (!files.suppressions.empty()) suppressions_ = read_suppressions(files.suppressions);
    }

    Review review(const emulator::Finding& finding) {
        Review whole = judged(finding);
        if (whole.standing == Standing::fresh) whole.open.push_back(0);
        std::size_t parts = 1;
        for (std::size_t k = 0; k < finding.repaired_too.size(); ++k) {
            if (finding.repaired_too[k].severity == Severity::note) continue;  // it does no harm
            ++parts;
            const Review part = judged(finding.repaired_too[k]);
            if (part.standing == Standing::fresh) whole.open.push_back(k + 1);
            whole.standing = std::min(whole.standing, part.standing);
        }
        if (whole.open.size() == parts) whole.open.clear();  // nothing is known
        if (whole.standing != Standing::suppressed) whole.reason.clear();
        return whole;
    }

    std::string baseline() const {
        Texts lines;  // sorted, and one for each finding, so that changes of the file are small
        for (const Json& one : written_) lines.push_back(one.dump());
        std::ranges::sort(lines);
        return fmt::format("{{\"format\": \"{}\", \"findings\": [\n{}\n]}}\n", baseline_format,
                           fmt::join(lines, ",\n"));
    }

    std::vector<std::string> unmatched(Kinds looked_for) const {
        std::vector<std::string> sentences = source_.unreadable();
        const auto add = [&](const Suppression& one) {
            if (!one.is_used && (one.kinds & looked_for))
                sentences.push_back(fmt::format("{} matches nothing: {}", one.where, one.reason));
        };
        for (const auto& [line, one] : source_.comments()) add(one);
        std::ranges::for_each(suppressions_, add);
        for (const auto& [key, entry] : entries_)
            if (!entry.is_used && (bit(key.kind) & looked_for))
                sentences.push_back(fmt::format("{} matches nothing: {}, in {}",
                                                files_.baseline.string(), name_of(key),
                                                key.kernel));
        sentences.erase(std::unique(sentences.begin(), sentences.end()), sentences.end());
        return sentences;
    }

  private:
    Spot spot_of(const emulator::Finding& finding) {
        Spot spot{{finding.kind, visible(finding.kernel), {}}, {}, finding.severity};
        for (const emulator::ThreadAtLine* at :
             {&finding.first, finding.second ? &*finding.second : nullptr}) {
            if (!at) continue;
            Texts& texts = spot.key.lines.emplace_back();
            for (const Line& line : users_lines(*at)) {
                texts.push_back(source_.text(line));
                spot.lines.push_back(line);
            }
        }
        std::ranges::sort(spot.key.lines);  // an order of the warps may turn them round
        std::ranges::sort(spot.lines);
        return spot;
    }

    /// Without what the same change repairs.
    Review judged(const emulator::Finding& finding) {
        const Spot spot = spot_of(finding);
        // Processes of a program find one thing several times.
        const auto [at, is_new] = seen_.try_emplace({spot.key, spot.lines, spot.severity});
        if (!is_new) return at->second;
        Review& review = at->second;
        review.name = name_of(spot.key);
        if (Suppression* const one = suppression_of(spot)) {
            one->is_used = true;
            review.standing = Standing::suppressed;
            review.reason = one->reason;
            review.in_source = one->in_source;
            take_known(spot);
            return review;
        }
        written_.push_back({{"kind", to_string(spot.key.kind)},
                            {"severity", to_string(spot.severity)},
                            {"kernel", spot.key.kernel},
                            {"lines", spot.key.lines}});
        if (take_known(spot)) review.standing = Standing::known;
        return review;
    }

    Suppression* suppression_of(const Spot& spot) {
        for (const Line& line : spot.lines)
            if (Suppression* const one = source_.comment(line, spot.key.kind)) return one;
        const auto one = std::ranges::find_if(
            suppressions_, [&](const Suppression& each) { return spot.is_of(each); });
        return one == suppressions_.end() ? nullptr : &*one;
    }

    /// Whether the baseline knows it; a finding of the baseline is taken once.
    bool take_known(const Spot& spot) {
        if (files_.baseline.empty()) return !files_.write_baseline.empty();
        KnownEntry* least = nullptr;  // the others may be needed for worse findings
        for (auto [at, end] = entries_.equal_range(spot.key); at != end; ++at) {
            KnownEntry& one = at->second;
            if (one.is_used || one.severity < spot.severity) continue;
            if (!least || one.severity < least->severity) least = &one;
        }
        if (least) least->is_used = true;
        return least != nullptr;
    }

    const FindingFiles& files_;
    SourceLines source_;
    KnownEntries entries_;
    std::vector<Suppression> suppressions_;
    std::map<std::tuple<Key, std::vector<Line>, Severity>, Review> seen_;
    std::vector<Json> written_;
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
