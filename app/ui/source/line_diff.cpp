#include "ui/source/line_diff.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace warpscope::ui {
namespace {

using Words = std::string_view;

std::vector<Words> split(Words text) {
    std::vector<Words> lines;
    for (std::size_t at = 0;;) {
        const std::size_t end = text.find('\n', at);
        lines.push_back(text.substr(at, end == Words::npos ? end : end - at));
        if (end == Words::npos) return lines;
        at = end + 1;
    }
}

/// Numbers the lines of both texts; equal lines get equal numbers.
class Names {
  public:
    std::vector<int> of(const std::vector<Words>& lines) {
        std::vector<int> list;
        list.reserve(lines.size());
        for (const Words line : lines)
            list.push_back(names_.try_emplace(line, int(names_.size())).first->second);
        return list;
    }

  private:
    std::unordered_map<Words, int> names_;
};

using Rows = std::vector<int>;

/// A difference with more removed and added lines than this is of no use to a person.
constexpr int most_edits = 500;

/// furthest[d][k + d]: the number of rows of `a` before the end of the furthest path with d edits
/// on the diagonal k = (rows of a) - (rows of b). Empty: the texts need too many edits.
std::vector<Rows> furthest_paths(const Rows& a, const Rows& b) {
    std::vector<Rows> furthest;
    const int n = int(a.size()), m = int(b.size());
    for (int d = 0; d <= std::min(n + m, most_edits); ++d) {
        Rows reach(std::size_t(2 * d + 1), 0);
        const auto last = [&](int k) {
            const int at = k + d - 1;
            return at < 0 || at > 2 * (d - 1) ? -1 : furthest.back()[std::size_t(at)];
        };
        for (int k = -d; k <= d; k += 2) {
            int x = d == 0 ? 0 : std::max(last(k + 1), last(k - 1) + 1);
            while (x < n && x - k < m && x - k >= 0 && a[std::size_t(x)] == b[std::size_t(x - k)])
                ++x;
            reach[std::size_t(k + d)] = x;
            if (x < n || x - k < m) continue;
            furthest.push_back(std::move(reach));
            return furthest;
        }
        furthest.push_back(std::move(reach));
    }
    return {};
}

/// One edit: row `before` is removed, or row `after` is inserted before it.
struct Edit {
    int before = 0, after = 0;
    bool removes = false;
};

/// Follows the path back from its end.
std::vector<Edit> edits(const std::vector<Rows>& furthest, int n, int m) {
    std::vector<Edit> list;
    int x = n, k = n - m;
    for (int d = int(furthest.size()) - 1; d > 0; --d) {
        const Rows& last = furthest[std::size_t(d) - 1];
        const auto reach = [&](int diagonal) {
            const int at = diagonal + d - 1;
            return at < 0 || at > 2 * (d - 1) ? -1 : last[std::size_t(at)];
        };
        const bool removes = reach(k - 1) + 1 > reach(k + 1);
        k += removes ? -1 : 1;
        x = reach(k);
        list.push_back({x, x - k, removes});
    }
    std::reverse(list.begin(), list.end());
    return list;
}

std::vector<Hunk> middle(const Rows& a, const Rows& b, int offset) {
    if (a.empty() && b.empty()) return {};
    const auto furthest = a.empty() || b.empty() ? std::vector<Rows>() : furthest_paths(a, b);
    if (furthest.empty()) return {{offset, int(a.size()), offset, int(b.size())}};
    std::vector<Hunk> hunks;
    for (const Edit& edit : edits(furthest, int(a.size()), int(b.size()))) {
        const int before = edit.before + offset, after = edit.after + offset;
        const bool joins = !hunks.empty() && hunks.back().before + hunks.back().removed == before &&
                           hunks.back().after + hunks.back().added == after;
        if (!joins) hunks.push_back({before, 0, after, 0});
        ++(edit.removes ? hunks.back().removed : hunks.back().added);
    }
    return hunks;
}

std::vector<Hunk> diff(const std::vector<Words>& a, const std::vector<Words>& b) {
    const std::size_t shorter = std::min(a.size(), b.size());
    std::size_t head = 0, tail = 0;
    while (head < shorter && a[head] == b[head]) ++head;
    while (tail < shorter - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
    const auto part = [&](const std::vector<Words>& lines) {
        return std::vector<Words>(lines.begin() + std::ptrdiff_t(head),
                                  lines.end() - std::ptrdiff_t(tail));
    };
    Names names;
    const Rows from = names.of(part(a)), to = names.of(part(b));
    return middle(from, to, int(head));
}

}  // namespace

std::vector<Hunk> diff_lines(std::string_view before, std::string_view after) {
    if (before == after) return {};
    return diff(split(before), split(after));
}

std::optional<int> moved_row(const std::vector<Hunk>& hunks, int row) {
    int shift = 0;
    for (const Hunk& hunk : hunks) {
        if (row < hunk.before) break;
        const int inside = row - hunk.before;
        if (inside >= hunk.removed) {
            shift = hunk.after + hunk.added - hunk.before - hunk.removed;
            continue;
        }
        if (hunk.added == 0) return std::nullopt;
        return hunk.after + std::min(inside, hunk.added - 1);
    }
    return row + shift;
}

std::vector<DiffLine> show_diff(std::string_view before, std::string_view after, int context) {
    using Kind = DiffLine::Kind;
    if (before == after) return {};
    const std::vector<Words> a = split(before), b = split(after);
    std::vector<DiffLine> list;
    const auto same = [&](int from, int to, int shift) {
        for (int row = from; row < to; ++row)
            list.push_back({Kind::same, row + 1, row + shift + 1, a[std::size_t(row)], 0});
    };
    const auto hunks = diff(a, b);
    int done = 0, shift = 0;
    const auto gap_to = [&](int next, bool last) {
        const int lead = done == 0 ? 0 : context, trail = last ? 0 : context;
        const int skipped = next - done - lead - trail;
        if (skipped <= 1) return same(done, next, shift);  // a gap is as high as a line
        same(done, done + lead, shift);
        list.push_back({Kind::gap, 0, 0, {}, skipped});
        same(next - trail, next, shift);
    };
    for (const Hunk& hunk : hunks) {
        gap_to(hunk.before, false);
        for (int i = 0; i < hunk.removed; ++i)
            list.push_back(
                {Kind::removed, hunk.before + i + 1, 0, a[std::size_t(hunk.before + i)], 0});
        for (int i = 0; i < hunk.added; ++i)
            list.push_back({Kind::added, 0, hunk.after + i + 1, b[std::size_t(hunk.after + i)], 0});
        done = hunk.before + hunk.removed;
        shift = hunk.after + hunk.added - done;
    }
    gap_to(int(a.size()), true);
    return list;
}

}  // namespace warpscope::ui
