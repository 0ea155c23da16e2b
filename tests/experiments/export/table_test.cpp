#include "experiments/export/table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "experiments/export/page_and_trace.h"

namespace warpscope::experiments {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// The fields of a CSV text (RFC 4180).
Rows read_csv(std::string_view text) {
    Rows rows;
    std::vector<std::string> row(1);
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
            row.back() += text[++i];
        else if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            row.emplace_back();
        else if (c == '\n' && !quoted)
            rows.push_back(std::exchange(row, {""}));
        else if (c != '\r' || quoted)
            row.back() += c;
    }
    EXPECT_EQ(row, std::vector<std::string>{""}) << "the last line has an end";
    return rows;
}

const Table table{"T",
                  {"name", "value, exact"},
                  {{"plain", 0.1}, {"a \"b\", c\nd | é", -3.0}, {"", 123456789012.0}}};

TEST(TableTest, CsvIsReadBack) {
    EXPECT_EQ(read_csv(to_csv(table)), (Rows{{"name", "value, exact"},
                                             {"plain", "0.1"},
                                             {"a \"b\", c\nd | é", "-3"},
                                             {"", "123456789012"}}));
}

TEST(TableTest, JsonIsReadBackWithNumbers) {
    const auto json = nlohmann::json::parse(to_json(table));
    ASSERT_EQ(json.size(), 3);
    EXPECT_EQ(json[0]["value, exact"], 0.1);
    EXPECT_EQ(json[1]["name"], "a \"b\", c\nd | é");
    EXPECT_EQ(json[2]["value, exact"], 123456789012.0);
}

TEST(TableTest, MarkdownHasALineForEachRow) {
    EXPECT_EQ(to_markdown(table),
              "| name | value, exact |\n|---|---|\n| plain | 0.1 |\n"
              "| a \"b\", c d \\| é | -3 |\n|  | 123456789012 |\n");
}

TEST(TableTest, TheTablesHaveACellForEachColumn) {
    const Report report{{"wrong", "Wrong pixels", 44.5, "%", 0.0, Verdict::finding, "why"},
                        {"mean", "Mean", 2, "", {}, Verdict::none, ""}};
    emulator::KernelCounters kernel;
    kernel.kernel = "k";
    kernel.blocks = 4;
    kernel.barriers = 6;
    kernel.shared_loads.wavefronts = 40;
    kernel.shared_loads.least_wavefronts = 8;
    const Table counters = counters_table({kernel});
    for (const Table& one :
         {results_table(report), counters, timings_table({compute::KernelTiming{.name = "k"}}),
          comparison_table({"C", "B/s", "", "", {{}}}),
          comparison_table({"C", "B/s", "", "", {{.counts = Comparison::Counts{}}, {}}})})
        for (const auto& row : one.rows)
            EXPECT_EQ(row.size(), one.columns.size()) << one.title.english();
    EXPECT_EQ(to_csv(results_table(report)),
              "result,value,unit,expected,verdict,explanation\r\n"
              "Wrong pixels,44.5,%,0,finding,why\r\nMean,2,,,none,\r\n");
    EXPECT_EQ(counters.rows[0][3], Cell(1.5)) << "barriers of a block";
    EXPECT_EQ(counters.rows[0][8], Cell(8.0)) << "bank conflicts of a block";
}

TEST(TableTest, AHeatTableHasARowForNeighbouringWordsWithEqualCounts) {
    emulator::KernelHeat kernel;
    kernel.kernel = "k";
    emulator::HeatArray tile{.name = "tile", .shared = true, .begin = 0, .bytes = 64};
    tile.counts[0].add(0, 4, 2);  // reads of words 0 to 3
    tile.counts[1].add(2, 3, 1);  // writes of words 2 to 4
    kernel.arrays.push_back(std::move(tile));
    const Table without_races = heat_table(kernel, {});
    EXPECT_EQ(to_csv(without_races),
              "array,first word,words,reads,writes,atomics,conflicts\r\n"
              "tile,0,2,2,0,0,0\r\ntile,2,2,2,1,0,0\r\ntile,4,1,0,1,0,0\r\n");
    kernel.has_races = true;
    EXPECT_EQ(heat_table(kernel, {}).columns[6], "races");
}

TEST(TableTest, ARooflineTableHasTheRatesOfAKernelAndTheirSharesOfTheCeilings) {
    const compute::Ceilings ceilings{.bytes_per_second = 1e9, .flops_per_second = 4e9};
    // 2 ms: 1e6 flops are 0.5 Gflop/s, an eighth of the ceiling; 5e5 bytes are 0.25 GB/s, a
    // quarter.
    const std::vector<compute::KernelTiming> kernels{
        {.name = "both", .work = {.bytes = 2.5e8, .flops = 5e8}, .recent_ms = {1000}},
        {.name = "bytes", .work = {.bytes = 2.5e8}, .recent_ms = {1000}},
        {.name = "neither", .recent_ms = {1000}}};
    const Table table = roofline_table(kernels, ceilings);
    EXPECT_EQ(table.rows[0], (std::vector<Cell>{"both", 2.0, 5e8, 2.5e8, 0.125, 0.25}));
    EXPECT_EQ(table.rows[1], (std::vector<Cell>{"bytes", "", "", 2.5e8, "", 0.25}));
    EXPECT_EQ(table.rows[2], (std::vector<Cell>{"neither", "", "", "", "", ""}));
}

emulator::Finding race() {
    emulator::Finding finding;
    finding.hazard = emulator::Hazard::read_after_write;
    finding.kernel = "draw";
    finding.first = {"kernels/r.cu", 2, {1, 0, 0}, {0, 0, 0}};
    finding.second = emulator::ThreadAtLine{"kernels/r.cu", 4, {3, 0, 0}, {0, 0, 0}};
    finding.count = 256;
    finding.sentence = "Thread 3 reads <tile> too early.";
    return finding;
}

TEST(FindingLines, AreThoseOfCompilers) {
    EXPECT_EQ(finding_lines({race()}),
              "kernels/r.cu:4: error: race RAW: Thread 3 reads <tile> too early.\n");
    EXPECT_EQ(
        to_csv(findings_table({race()})),
        "place,severity,kind,kernel,count,thread,block,finding\r\n"
        "kernels/r.cu:4,error,race RAW,draw,256,\"(3,0,0)\",\"(0,0,0)\",Thread 3 reads <tile> "
        "too early.\r\n");
}

TEST(FindingLines, ListTheRacesThatOneBarrierRepairs) {
    emulator::Finding first = race(), other = race();
    other.sentence = "Thread 5 writes it too early.";
    other.second->line = 7;
    first.repaired_too = {other};
    EXPECT_EQ(finding_lines({first}),
              "kernels/r.cu:4: error: race RAW: Thread 3 reads <tile> too early.\n"
              "kernels/r.cu:7: note: repaired with it: Thread 5 writes it too early.\n");
    const Table table = findings_table({first});
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(table.rows[1][0], Cell("kernels/r.cu:7"));
}

TEST(Page, HoldsThePictureTheFindingsAndTheirLines) {
    const std::vector<emulator::Finding> findings{race()};
    const std::vector<std::uint8_t> png{'M', 'a', 'n', '!'};
    PageContents page;
    page.title = "Ripple & co";
    page.command = "warpscope --set a=<b>";
    page.png = png;
    page.findings = &findings;
    page.tables = {table, {"Empty", {"a"}, {}}};
    page.source = [](const std::string& file) -> std::string_view {
        return file == "kernels/r.cu" ? "one\ntwo\nthree\nfour < five\nsix\n" : "";
    };
    const std::string html = html_page(page);
    for (const char* part :
         {"<title>Ripple &amp; co</title>", "--set a=&lt;b&gt;",
          "src=\"data:image/png;base64,TWFuIQ==\"", "Thread 3 reads &lt;tile&gt; too early.",
          "<mark>    2  two</mark>", "    3  three\n", "<mark>    4  four &lt; five</mark>",
          "<td class=\"number\">1.23457e+11</td>", "256 times"})
        EXPECT_NE(html.find(part), std::string::npos) << part << "\n" << html;
    EXPECT_EQ(html.find("<h2>Empty"), std::string::npos);
    EXPECT_EQ(html.find("http"), std::string::npos) << "it needs no other file";
}

TEST(Base64, IsThatOfRfc4648) {
    const auto of = [](std::string_view text) {
        return base64({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    };
    EXPECT_EQ(of(""), "");
    EXPECT_EQ(of("f"), "Zg==");
    EXPECT_EQ(of("fo"), "Zm8=");
    EXPECT_EQ(of("foobar"), "Zm9vYmFy");
}

TEST(Trace, HasATrackForEachWarpAndAnEventForEachSpan) {
    using Activity = Timeline::Activity;
    const Timeline timeline{
        "block (3, 2)",
        "instructions",
        2,
        30,
        {{0, Activity::computing, 0, 10, "r.cu:3"}, {1, Activity::waiting, 4.5, 30, "r.cu:7"}}};
    const auto json = nlohmann::json::parse(to_trace(timeline));
    std::map<unsigned, std::string> tracks;
    std::vector<nlohmann::json> spans;
    for (const auto& event : json.at("traceEvents")) {
        if (event.at("ph") == "M" && event.at("name") == "thread_name")
            tracks[event.at("tid")] = event.at("args").at("name");
        if (event.at("ph") == "X") spans.push_back(event);
    }
    EXPECT_EQ(tracks, (std::map<unsigned, std::string>{{0, "warp 0"}, {1, "warp 1"}}));
    ASSERT_EQ(spans.size(), 2);
    EXPECT_EQ(spans[1].at("name"), "waiting");
    EXPECT_EQ(spans[1].at("ts"), 4.5);
    EXPECT_EQ(spans[1].at("dur"), 25.5);
    EXPECT_EQ(spans[1].at("tid"), 1);
    EXPECT_EQ(spans[1].at("args").at("line"), "r.cu:7");
}

}  // namespace
}  // namespace warpscope::experiments
