#include "ui/commands/clipboard.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "experiments/export/page_and_trace.h"
#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

constexpr int ctrl = 2;

class TextClipboardTest : public ViewFixture {
  protected:
    std::string copied(Command command) {
        ImGui::SetClipboardText("");
        view_->ui().ask(command);
        frames(2);
        return ImGui::GetClipboardText();
    }
};

TEST(ValueUnder, IsThatOfTheSmallestWidget) {
    WidgetMap map;
    map.add({"panel", 0, 0, 100, 100, "all"});
    map.add({"number", 10, 10, 20, 10, "44.1 %"});
    map.add({"frame", 12, 12, 2, 2, ""});
    map.add({"hidden", 10, 10, 1, 1, "x", true, false});
    EXPECT_EQ(value_under(map, {13, 13})->id, "number");
    EXPECT_EQ(value_under(map, {50, 50})->id, "panel");
    EXPECT_EQ(value_under(map, {150, 50}), nullptr);
}

TEST_F(TextClipboardTest, TheValueUnderTheMouse) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    const Widget* const wrong = view_->widgets().find("result.wrong_pixels");
    ASSERT_NE(wrong, nullptr);
    const std::string percent = wrong->value;
    point(float(wrong->x + 3), float(wrong->y + 3));
    ImGui::SetClipboardText("");
    view_->press(0x43, ctrl);
    frames(2);
    EXPECT_EQ(std::string(ImGui::GetClipboardText()), percent);
    EXPECT_EQ(value("message"), "Copied " + percent + ".");
}

TEST_F(TextClipboardTest, TheFindingsHaveFileAndLine) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    const std::string text = copied(Command::copy_findings);
    EXPECT_NE(text.find("kernels/ripple.cu:54: error: race"), std::string::npos) << text;
}

TEST_F(TextClipboardTest, TheTableIsThatOfTheOpenTab) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    EXPECT_EQ(copied(Command::copy_csv).substr(0, 12), "result,value");
    view_->options().dock_folded = false;
    view_->options().dock = "findings";
    frames(2);
    const auto json = nlohmann::json::parse(copied(Command::copy_json));
    ASSERT_FALSE(json.empty());
    EXPECT_EQ(json[0].at("place"), "kernels/ripple.cu:54");
    view_->options().dock = "counters";
    frames(2);
    EXPECT_EQ(copied(Command::copy_markdown).substr(0, 10), "| kernel |");
}

TEST_F(TextClipboardTest,
       TheTableOfTheOccupancyIsForTheMultiprocessorAndTheRegistersThatWereChosen) {
    show("ripple", {{"size", "64"}});
    view_->options().dock_folded = false;
    view_->options().dock = "occupancy";
    view_->options().occupancy = {.compute_capability = 86, .registers = {{"ripple_txty", 48}}};
    frames(2);
    const auto json = nlohmann::json::parse(copied(Command::copy_json));
    const auto ripple = std::ranges::find_if(
        json, [](const auto& row) { return row.at("kernel") == "ripple_txty"; });
    ASSERT_NE(ripple, json.end());
    EXPECT_EQ(ripple->at("compute capability"), "8.6");
    EXPECT_EQ(ripple->at("threads"), 256);
    EXPECT_EQ(ripple->at("registers"), 48);
    // 48 registers of 256 threads are 12288 of 65536.
    EXPECT_EQ(ripple->at("blocks"), 5);
    EXPECT_EQ(ripple->at("warps"), 40);
    EXPECT_EQ(ripple->at("most warps"), 48);
    EXPECT_EQ(ripple->at("blocks by warps"), 6);
    EXPECT_TRUE(copied(Command::copy_csv).starts_with("kernel,compute capability,threads"));
    EXPECT_TRUE(copied(Command::copy_markdown).starts_with("| kernel | compute capability |"));
}

/// Those of the palette, by their ids.
TEST_F(TextClipboardTest, ThePaletteCopiesTheTablesThatStandBesideTheOpenTab) {
    show("ripple", {{"size", "64"}});
    stage_->compare();
    settle();
    view_->options().dock_folded = false;
    view_->options().dock = "timings";
    frames(2);
    TextClipboard clipboard(*stage_, view_->microscope(), view_->options());
    std::map<std::string, std::string> copied;
    for (const PaletteRow& row : clipboard.other_tables()) {
        row.action();
        copied[row.id] = ImGui::GetClipboardText();
    }
    EXPECT_EQ(copied.size(), 6);
    EXPECT_TRUE(copied["copy Results as CSV"].starts_with("result,value"));
    const auto json = nlohmann::json::parse(copied["copy Tile layouts, with the barrier as JSON"]);
    ASSERT_EQ(json.size(), stage_->comparison()->rows.size());
    EXPECT_EQ(json[0].at("shared passes"), 2048);
    EXPECT_EQ(json[0].at("barriers"), 16);
}

TEST_F(TextClipboardTest, TheTablesOfTheMicroscopeHaveWhatItsTabsShow) {
    show("ripple", {{"size", "64"}});
    view_->press('M', 0);
    settle();
    view_->microscope().to_end();
    settle();
    view_->options().dock_open = "banks";
    frames(2);
    const auto banks = nlohmann::json::parse(copied(Command::copy_json));
    ASSERT_EQ(banks.size(), 32) << "the read of the tile, by all lanes of the warp";
    for (const auto& lane : banks)
        EXPECT_EQ(lane.at("bank"), int(lane.at("byte of shared memory")) / 4 % 32);
    view_->options().dock_open = "registers";
    frames(2);
    const std::string registers = copied(Command::copy_csv);
    EXPECT_TRUE(registers.starts_with("register,value,step\r\n%")) << registers;
    view_->options().dock_open = "barriers";
    frames(2);
    settle();
    EXPECT_NE(copied(Command::copy_markdown).find("| volta | yes |"), std::string::npos);
}

/// The fields of a CSV text (RFC 4180).
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
    std::vector<std::vector<std::string>> rows{{""}};
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
            rows.back().back() += text[++i];
        else if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            rows.back().emplace_back();
        else if (c == '\n' && !quoted)
            rows.push_back({""});
        else if (c != '\r' || quoted)
            rows.back().back() += c;
    }
    rows.pop_back();  // behind the last line
    return rows;
}

TEST_F(TextClipboardTest, CsvAndJsonOfEveryTableAreReadBackAlike) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    for (const char* tab : {"results", "findings", "counters", "lines", "timings"}) {
        view_->options().dock_folded = tab == std::string("results");
        view_->options().dock = tab;
        frames(2);
        const auto rows = read_csv(copied(Command::copy_csv));
        const auto json = nlohmann::ordered_json::parse(copied(Command::copy_json));
        ASSERT_GT(json.size(), 0) << tab;
        ASSERT_EQ(rows.size(), json.size() + 1) << tab;
        for (std::size_t row = 0; row < json.size(); ++row) {
            ASSERT_EQ(json[row].size(), rows[0].size()) << tab;
            std::size_t column = 0;
            for (const auto& [name, value] : json[row].items()) {
                EXPECT_EQ(name, rows[0][column]);
                const std::string& field = rows[row + 1][column++];
                if (value.is_number())
                    EXPECT_EQ(value.get<double>(), std::stod(field)) << name;
                else
                    EXPECT_EQ(value.get<std::string>(), field) << name;
            }
        }
    }
}

TEST_F(TextClipboardTest, TheCommandLineMakesThePictureAgain) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    const std::string line = copied(Command::copy_command);
    EXPECT_EQ(line.find("warpscope --headless --experiment ripple"), 0) << line;
    EXPECT_NE(line.find("--set ripple.sync=off"), std::string::npos) << line;
}

TEST_F(TextClipboardTest, ThePageShowsTheLinesOfTheRace) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    const std::string page = page_of(*stage_, {});
    EXPECT_NE(page.find("<mark>   50  "), std::string::npos);
    EXPECT_NE(page.find("<mark>   54  "), std::string::npos);
    EXPECT_NE(page.find("<h2>Counters of a block</h2>"), std::string::npos);
}

TEST_F(TextClipboardTest, TheTraceHasEveryStepOfTheBlock) {
    show("ripple", {{"size", "64"}});
    EXPECT_FALSE(view_->timeline());
    view_->press('M', 0);
    settle();
    ASSERT_TRUE(view_->microscope().ready());
    const auto timeline = view_->timeline();
    ASSERT_TRUE(timeline);
    EXPECT_EQ(timeline->warps, 8);
    double steps = 0;
    bool waits = false;
    for (const auto& span : timeline->spans) {
        EXPECT_LT(span.begin, span.end);
        EXPECT_LE(span.end, timeline->end);
        if (span.activity == experiments::Timeline::Activity::waiting)
            waits = true;
        else
            steps += span.end - span.begin;
    }
    EXPECT_EQ(steps, timeline->end) << "each step belongs to one span";
    EXPECT_TRUE(waits);
    // The format of traces for Chrome and Perfetto: complete events ("X") on tracks that metadata
    // ("M") names; the events of a track do not overlap.
    const auto trace = nlohmann::json::parse(experiments::to_trace(*timeline));
    std::map<unsigned, std::string> tracks;
    std::map<unsigned, std::set<std::pair<double, double>>> spans;
    for (const auto& event : trace.at("traceEvents")) {
        const unsigned track = event.at("tid");
        EXPECT_EQ(event.at("pid"), 0);
        if (event.at("ph") == "M") {
            if (event.at("name") == "thread_name") tracks[track] = event.at("args").at("name");
            continue;
        }
        ASSERT_EQ(event.at("ph"), "X");
        ASSERT_TRUE(tracks.contains(track)) << track;
        EXPECT_FALSE(event.at("name").get<std::string>().empty());
        const double begin = event.at("ts"), lasts = event.at("dur");
        EXPECT_GT(lasts, 0);
        EXPECT_TRUE(spans[track].insert({begin, begin + lasts}).second);
    }
    EXPECT_EQ(tracks.size(), 8);
    EXPECT_EQ(spans.size(), 8);
    for (const auto& [track, all] : spans) {
        double end = 0;
        for (const auto& [from, to] : all) {
            EXPECT_GE(from, end) << track;
            end = to;
        }
        EXPECT_LE(end, timeline->end);
    }
}

}  // namespace
}  // namespace warpscope::ui
