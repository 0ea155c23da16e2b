#include "experiments/export/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compute/ceilings.h"
#include "experiments/measure/kernel_figures.h"

namespace warpscope::experiments {
namespace {

using emulator::Finding;

/// "race RAW", "barrier".
std::string kind_of(const Finding& finding) {
    const std::string_view hazard = to_string(finding.hazard);
    return fmt::format("{}{}{}", to_string(finding.kind), hazard.empty() ? "" : " ", hazard);
}

/// Calls `write` for each cell of a row, with `between` between two.
template <class Cells, class Write>
std::string joined(const Cells& cells, std::string_view between, Write&& write) {
    std::string line;
    for (const auto& cell : cells) {
        if (!line.empty() || &cell != &cells.front()) line += between;
        line += write(cell);
    }
    return line;
}

std::string markdown_cell(const Cell& cell) {
    std::string text;
    for (const char c : text_of(cell)) {
        if (c == '|') text += '\\';
        text += c == '\n' ? ' ' : c;
    }
    return text;
}

}  // namespace

Table results_table(const Report& report) {
    Table table{"Results", {"result", "value", "unit", "expected", "verdict", "explanation"}, {}};
    for (const Reading& one : report)
        table.rows.push_back({one.label, one.value, one.unit,
                              one.expected ? Cell(*one.expected) : Cell(""),
                              std::string(to_string(one.verdict)), one.sentence});
    return table;
}

Table findings_table(const std::vector<Finding>& findings) {
    Table table{"Findings",
                {"place", "severity", "kind", "kernel", "count", "thread", "block", "finding"},
                {}};
    for (const Finding& one : findings) {
        const emulator::ThreadAtLine& place = one.place();
        table.rows.push_back({place.where(), std::string(to_string(one.severity)), kind_of(one),
                              one.kernel, double(one.count), name_of(place.thread),
                              name_of(place.block), one.sentence});
        for (auto& row : findings_table(one.repaired_too).rows)
            table.rows.push_back(std::move(row));
    }
    return table;
}

Table counters_table(const std::vector<emulator::KernelCounters>& kernels) {
    Table table{files::sentence("Counters of a block"),
                {"kernel", "blocks", "warp instructions", "barriers", "separations",
                 "global sectors", "least sectors", "shared passes", "bank conflicts"},
                {}};
    for (const emulator::KernelCounters& one : kernels) {
        const auto a_block = [&](std::uint64_t number) {
            return Cell(double(number) / double(std::max<std::uint64_t>(one.blocks, 1)));
        };
        const emulator::MemoryCounts global = one.global(), shared = one.shared();
        table.rows.push_back({one.kernel, double(one.blocks), a_block(one.warp_instructions),
                              a_block(one.barriers), a_block(one.separations),
                              a_block(global.sectors), a_block(global.least_sectors),
                              a_block(shared.wavefronts), a_block(shared.conflicts())});
    }
    return table;
}

Table lines_table(
    const emulator::KernelCounters& kernel, LineFigure first,
    const std::function<std::string_view(const std::string& file, int line)>& text_of) {
    Table table{files::sentence("Lines of {}", kernel.kernel), {"file", "line"}, {}};
    for (const auto& word : compute::words_of<LineFigure>) table.columns.emplace_back(word.name);
    table.columns.emplace_back("source");
    for (const emulator::LineCounters* line : sorted_lines(kernel, first)) {
        std::vector<Cell> row{line->file.empty() ? "PTX" : line->file, double(line->line)};
        for (const auto& word : compute::words_of<LineFigure>)
            row.emplace_back(double(figure_of(*line, word.value)));
        row.emplace_back(std::string(text_of(line->file, line->line)));
        table.rows.push_back(std::move(row));
    }
    return table;
}

Table heat_table(const emulator::KernelHeat& kernel, const compute::KernelEdits& edits) {
    Table table{files::sentence("Heat of {}", kernel.kernel), {"array", "first word", "words"}, {}};
    const auto figures = heat_words(kernel);
    for (const auto& figure : figures) table.columns.emplace_back(figure.name);
    for (const emulator::HeatArray& array : kernel.arrays) {
        const std::string name = heat_name(kernel, array, edits);
        for (const HeatRun& run : heat_runs(array)) {
            std::vector<Cell> row{name, double(run.first), double(run.words)};
            for (const auto& figure : figures) row.emplace_back(double(run.count(figure.value)));
            table.rows.push_back(std::move(row));
        }
    }
    return table;
}

Table timings_table(const std::vector<compute::KernelTiming>& kernels) {
    Table table{"Timings", {"kernel", "launches", "median ms", "p99 ms", "bytes/s"}, {}};
    for (const compute::KernelTiming& one : kernels)
        table.rows.push_back({one.name, double(one.launches), double(one.median_ms()),
                              double(one.p99_ms()), one.bytes_per_second()});
    return table;
}

Table occupancy_table(const std::vector<compute::KernelTiming>& kernels,
                      const compute::OccupancyWish& wish, int of_device) {
    const compute::SmLimits& sm = wish.sm(of_device);
    Table table{"Occupancy",
                {"kernel", "compute capability", "threads", "bytes of shared memory", "registers",
                 "blocks", "warps", "most warps", "blocks by warps", "blocks by SM",
                 "blocks by registers", "blocks by shared memory"},
                {}};
    for (const compute::KernelTiming& one : kernels) {
        const compute::BlockNeeds needs = wish.needs(one);
        const compute::Occupancy found = compute::occupancy(sm, needs);
        const auto known = [](std::optional<unsigned> number) {
            return number ? Cell(double(*number)) : Cell("");
        };
        std::vector<Cell> row{one.name,
                              std::string(sm.name),
                              double(needs.threads),
                              double(needs.shared_bytes),
                              known(needs.registers),
                              double(found.blocks),
                              double(found.warps),
                              double(sm.warps)};
        for (const auto& room : found.room) row.push_back(known(room));
        table.rows.push_back(std::move(row));
    }
    return table;
}

Table roofline_table(const std::vector<compute::KernelTiming>& kernels,
                     const compute::Ceilings& ceilings) {
    Table table{"Roofline",
                {"kernel", "flops/byte", "flops/s", "bytes/s", "share of the FP32 rate",
                 "share of the copy bandwidth"},
                {}};
    for (const compute::KernelTiming& one : kernels) {
        const double flops = one.flops_per_second(), bytes = one.bytes_per_second();
        const compute::CeilingShares shares = compute::shares_of(one, ceilings);
        const auto counted = [](bool is_counted, double number) {
            return is_counted ? Cell(number) : Cell("");
        };
        table.rows.push_back(
            {one.name, counted(flops > 0 && bytes > 0, one.work.flops / one.work.bytes),
             counted(flops > 0, flops), counted(bytes > 0, bytes),
             counted(flops > 0, shares.of_fp32), counted(bytes > 0, shares.of_bandwidth)});
    }
    return table;
}

Table comparison_table(const Comparison& comparison) {
    Table table{
        comparison.title, {"kernel", "median ms", comparison.rate_unit, "error", "verdict"}, {}};
    if (comparison.counted())
        for (const char* column : {"global sectors", "shared passes", "barriers", "instructions"})
            table.columns.emplace_back(column);
    for (const Comparison::Row& one : comparison.rows) {
        std::vector<Cell> row{one.label, one.median_ms, one.rate, one.error,
                              std::string(to_string(one.verdict))};
        if (const auto counts = one.counts.value_or(Comparison::Counts()); comparison.counted())
            row.insert(row.end(),
                       {counts.sectors, counts.bank_passes, counts.barriers, counts.instructions});
        table.rows.push_back(std::move(row));
    }
    return table;
}

std::string text_of(const Cell& cell) {
    if (const auto* text = std::get_if<std::string>(&cell)) return *text;
    return fmt::format("{}", std::get<double>(cell));
}

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

std::string to_csv(const Table& table) {
    std::string text = joined(table.columns, ",", csv_field) + "\r\n";
    for (const auto& row : table.rows)
        text +=
            joined(row, ",", [](const Cell& cell) { return csv_field(text_of(cell)); }) + "\r\n";
    return text;
}

std::string to_json(const Table& table) {
    using Json = nlohmann::ordered_json;
    Json json = Json::array();
    for (const auto& row : table.rows) {
        Json object = Json::object();
        for (std::size_t i = 0; i < row.size(); ++i)
            std::visit([&](const auto& value) { object[table.columns[i]] = value; }, row[i]);
        json.push_back(std::move(object));
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_markdown(const Table& table) {
    std::string text = "| " + joined(table.columns, " | ", [](const auto& c) { return c; }) +
                       " |\n|" + joined(table.columns, "|", [](const auto&) { return "---"; }) +
                       "|\n";
    for (const auto& row : table.rows) text += "| " + joined(row, " | ", markdown_cell) + " |\n";
    return text;
}

std::string finding_lines(const std::vector<Finding>& findings) {
    std::string text;
    for (const Finding& one : findings) {
        text += fmt::format("{}: {}: {}: {}\n", one.place().where(), to_string(one.severity),
                            kind_of(one), one.sentence);
        for (const Finding& other : one.repaired_too)
            text += fmt::format("{}: note: repaired with it: {}\n", other.place().where(),
                                other.sentence);
    }
    return text;
}

}  // namespace warpscope::experiments
