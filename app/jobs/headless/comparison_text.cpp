#include "jobs/headless/comparison_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/device/quantity.h"

namespace warpscope::jobs {
namespace {

using compute::count;
using compute::milliseconds;
using compute::multiple;
using compute::quantity;
using experiments::Comparison;
using experiments::Verdict;

/// fmt pads by code points, and every character here is one column wide.
std::string cell(double value, double first) {
    return fmt::format("{:>8} {:<7}", count(value), multiple(value, first));
}

std::string counts_of(const Comparison::Row& row, const Comparison::Counts& first) {
    if (!row.counts) return std::string(4 * 17, ' ');
    const Comparison::Counts& c = *row.counts;
    return fmt::format("{} {} {} {} ", cell(c.sectors, first.sectors),
                       cell(c.bank_passes, first.bank_passes), cell(c.barriers, first.barriers),
                       cell(c.instructions, first.instructions));
}

std::string ending(const Comparison::Row& row) {
    std::string text = fmt::format("error {:>7}", compute::relative_error(row.error));
    if (row.verdict != Verdict::none) text += fmt::format("  {:8}", to_string(row.verdict));
    return text;
}

std::string counted_rows(const Comparison& c, std::size_t width) {
    std::string text = fmt::format("  {:{}}  {:<16} {:<16} {:<16} instructions/{}\n", "", width,
                                   " sectors", " bank passes", " barriers", c.element);
    for (const Comparison::Row& row : c.rows)
        text += fmt::format("  {:{}}  {} {}  (emulated in {} ms)\n", row.label, width,
                            counts_of(row, *c.rows.front().counts), ending(row),
                            milliseconds(row.median_ms));
    return text + "  × the first row's. The emulator's time says nothing about a GPU.\n";
}

std::string timed_rows(const Comparison& c, std::size_t width) {
    std::string text;
    for (const Comparison::Row& row : c.rows)
        text += fmt::format("  {:{}}  {:>7} ms  {:>24} {:7}  {}\n", row.label, width,
                            milliseconds(row.median_ms), quantity(row.rate, c.rate_unit),
                            multiple(row.rate, c.rows.front().rate), ending(row));
    if (c.published_title.empty()) return text;
    text += "  published: " + c.published_title + ":\n";
    for (const Comparison::Row& row : c.rows)
        if (!row.published.empty())
            text += fmt::format("  {:{}}  {}\n", row.label, width, row.published);
    return text;
}

}  // namespace

std::string comparison_text(const Comparison& c) {
    std::size_t width = 0;
    for (const Comparison::Row& row : c.rows) width = std::max(width, row.label.size());
    const std::string rows = c.counted() ? counted_rows(c, width) : timed_rows(c, width);
    return "\n" + c.title + "\n" + rows + (c.scaling.empty() ? "" : "  " + c.scaling + "\n");
}

}  // namespace warpscope::jobs
