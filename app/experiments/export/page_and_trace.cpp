#include "experiments/export/page_and_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "files/text.h"

namespace warpscope::experiments {
namespace {

constexpr std::string_view style = R"(<style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
img { max-width: 100%; image-rendering: pixelated; display: block; margin: 1rem 0 }
table { border-collapse: collapse; margin: 1rem 0; font-size: 14px; display: block; overflow-x: auto }
td, th { border: 1px solid #8888; padding: .25rem .6rem; text-align: left; vertical-align: top }
td.number { text-align: right; font-variant-numeric: tabular-nums }
pre { border: 1px solid #8888; padding: .6rem; overflow-x: auto; font-size: 14px; line-height: 1.4 }
mark { background: #e5484d55; color: inherit }
.error { border-left: 4px solid #e5484d } .warning { border-left: 4px solid #e8ac4a }
.note { border-left: 4px solid #888 }
article { padding-left: 1rem; margin: 1.2rem 0 }
</style>
)";

/// The lines around the marked ones, with their numbers.
std::string excerpt(std::string_view source, const std::vector<int>& marked) {
    constexpr int around = 3;
    const auto [first, last] = std::minmax_element(marked.begin(), marked.end());
    std::string text;
    int line = 1;
    for (std::string_view rest = source; !rest.empty(); ++line) {
        const std::string_view words = files::take_line(rest);
        if (line < *first - around || line > *last + around) continue;
        const bool marks = std::ranges::count(marked, line) > 0;
        text += fmt::format("{}{:5}  {}{}\n", marks ? "<mark>" : "", line, escaped(words),
                            marks ? "</mark>" : "");
    }
    return text.empty() ? "" : fmt::format("<pre>{}</pre>\n", text);
}

std::string finding_article(const PageContents& page, const emulator::Finding& finding) {
    const emulator::ThreadAtLine& place = finding.place();
    std::string html =
        fmt::format("<article class=\"{}\">\n<strong>{}</strong> {}, {} times\n<p>{}</p>\n",
                    to_string(finding.severity), escaped(place.where()), to_string(finding.kind),
                    finding.count, escaped(finding.sentence.english()));
    for (const emulator::Finding& other : finding.repaired_too)
        html += fmt::format("<p>Repaired with it: {}</p>\n", escaped(other.sentence.english()));
    std::vector<int> lines{place.line};
    for (const emulator::ThreadAtLine* other :
         {&finding.first, finding.second ? &*finding.second : nullptr})
        if (other && other->file == place.file) lines.push_back(other->line);
    // Lines that are far apart would make a long excerpt; the place to look at is enough.
    const auto [first, last] = std::minmax_element(lines.begin(), lines.end());
    if (*last - *first > 20) lines = {place.line};
    if (page.source) html += excerpt(page.source(place.file), lines);
    return html + "</article>\n";
}

std::string table_html(const Table& table) {
    if (table.rows.empty()) return {};
    std::string html = fmt::format("<h2>{}</h2>\n<table>\n<tr>", escaped(table.title.english()));
    for (const std::string& column : table.columns)
        html += fmt::format("<th>{}</th>", escaped(column));
    html += "</tr>\n";
    for (const auto& row : table.rows) {
        html += "<tr>";
        for (const Cell& cell : row) {
            const auto* number = std::get_if<double>(&cell);
            html += number ? fmt::format("<td class=\"number\">{:.6g}</td>", *number)
                           : fmt::format("<td>{}</td>", escaped(text_of(cell)));
        }
        html += "</tr>\n";
    }
    return html + "</table>\n";
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        if (c == '<')
            safe += "&lt;";
        else if (c == '>')
            safe += "&gt;";
        else if (c == '&')
            safe += "&amp;";
        else if (c == '"')
            safe += "&quot;";
        else
            safe += c;
    }
    return safe;
}

std::string base64(std::span<const std::uint8_t> bytes) {
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < left ? bytes[i + k] : 0);
        for (std::size_t k = 0; k < 4; ++k)
            text += k <= left ? digits[group >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

std::string html_page(const PageContents& page) {
    std::string html = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{0}</title>\n{1}</head>\n"
        "<body>\n<h1>{0}</h1>\n<pre>{2}</pre>\n",
        escaped(page.title), style, escaped(page.command));
    if (!page.png.empty())
        html += fmt::format("<img alt=\"the picture\" src=\"data:image/png;base64,{}\">\n",
                            base64(page.png));
    if (page.findings) {
        html += "<h2>Findings</h2>\n";
        if (page.findings->empty()) html += "<p>The checks found nothing.</p>\n";
        for (const emulator::Finding& one : *page.findings) html += finding_article(page, one);
    }
    for (const Table& table : page.tables) html += table_html(table);
    return html + "</body>\n</html>\n";
}

std::string to_trace(const Timeline& timeline) {
    using Json = nlohmann::ordered_json;
    Json events = Json::array();
    const auto name = [&](const char* what, unsigned warp, const std::string& words) {
        events.push_back(
            {{"name", what}, {"ph", "M"}, {"pid", 0}, {"tid", warp}, {"args", {{"name", words}}}});
    };
    name("process_name", 0, timeline.title);
    for (unsigned warp = 0; warp < timeline.warps; ++warp)
        name("thread_name", warp, fmt::format("warp {}", warp));
    for (const Timeline::Span& span : timeline.spans)
        events.push_back({{"name", to_string(span.activity)},
                          {"cat", "warp"},
                          {"ph", "X"},
                          {"ts", span.begin},
                          {"dur", span.end - span.begin},
                          {"pid", 0},
                          {"tid", span.warp},
                          {"args", {{"line", span.line}}}});
    const Json json{{"traceEvents", events}, {"otherData", {{"unit", timeline.unit}}}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace warpscope::experiments
