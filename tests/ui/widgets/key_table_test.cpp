#include "ui/widgets/key_table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include "experiments/framework/experiment.h"

namespace warpscope::ui {
namespace {

// GLFW's numbers of the keys that the tests press.
constexpr int key_1 = '1', key_6 = '6', key_7 = '7', key_b = 'B', key_slash = '/', key_f12 = 301,
              key_right = 262;
constexpr int shift = 1, control = 2, caps_lock = 16;

Command command_of(KeyScope scope, int key, int modifiers = 0) {
    const Shortcut* shortcut = find_shortcut(scope, key, modifiers);
    EXPECT_NE(shortcut, nullptr) << key;
    return shortcut ? shortcut->command : Command::quit;
}

TEST(KeyTable, FindsTheCommandOfAKeyInItsScope) {
    EXPECT_EQ(command_of(KeyScope::general, key_right), Command::step_frame);
    EXPECT_EQ(command_of(KeyScope::general, 'T'), Command::toggle_tile);
    EXPECT_EQ(command_of(KeyScope::microscope, key_right), Command::step_instruction);
    EXPECT_EQ(find_shortcut(KeyScope::editor, key_right, 0), nullptr);
}

TEST(KeyTable, ShiftChoosesTheOtherCommandOrIsIgnored) {
    EXPECT_EQ(command_of(KeyScope::general, key_f12), Command::save_window);
    EXPECT_EQ(command_of(KeyScope::general, key_f12, shift), Command::save_picture);
    EXPECT_EQ(command_of(KeyScope::microscope, key_b, shift | caps_lock),
              Command::step_barrier_back);
    EXPECT_EQ(command_of(KeyScope::general, 'R', shift), Command::reset);
    EXPECT_EQ(command_of(KeyScope::general, key_slash, shift), Command::toggle_keys);
    EXPECT_EQ(find_shortcut(KeyScope::general, key_slash, 0), nullptr);
}

TEST(KeyTable, ControlIsNeverIgnored) {
    EXPECT_EQ(find_shortcut(KeyScope::general, 'R', control), nullptr);
    EXPECT_EQ(find_shortcut(KeyScope::general, 'Q', 0), nullptr);
    EXPECT_EQ(command_of(KeyScope::editor, 'Z', control | shift), Command::redo);
}

TEST(KeyTable, EveryExperimentHasANumberKeyAndNoOtherNumberHas) {
    EXPECT_EQ(experiments::registry().size(), std::size_t(key_6 - key_1 + 1));
    for (int key = key_1; key <= key_6; ++key)
        EXPECT_EQ(command_of(KeyScope::general, key), Command::select_experiment);
    EXPECT_EQ(find_shortcut(KeyScope::general, key_7, 0), nullptr);
}

TEST(KeyTable, NoKeyHasTwoMeaningsInOneScope) {
    std::set<std::tuple<KeyScope, int, int>> seen;
    for (const KeyRow& row : key_table())
        for (const Shortcut& one : row.shortcuts) {
            if (one.key == 0) continue;
            EXPECT_TRUE(seen.insert({row.scope, one.key, one.modifiers}).second) << one.name;
        }
}

TEST(KeyTable, TooltipsNameTheKeys) {
    EXPECT_EQ(with_key("Show all keys", Command::toggle_keys), "Show all keys (? or H or F1).");
    EXPECT_EQ(with_key("Save", Command::save_picture), "Save (Shift+F12).");
}

TEST(KeyTable, EachCommandSaysWhatItAloneDoes) {
    std::set<std::string_view> said;
    std::set<Command> commands;
    for (const KeyRow& row : key_table()) {
        std::set<Command> of_row;
        for (const Shortcut& one : row.shortcuts) of_row.insert(one.command);
        for (const Shortcut& one : row.shortcuts) {
            if (!commands.insert(one.command).second) continue;
            EXPECT_EQ(one.does.empty(), of_row.size() == 1) << row.does;
            EXPECT_TRUE(said.insert(one.does.empty() ? row.does : one.does).second) << row.does;
        }
    }
    EXPECT_EQ(keys_of(Command::larger), "Ctrl++");
    EXPECT_EQ(keys_of(Command::start_tour), "");
    EXPECT_EQ(with_key("Take the tour", Command::start_tour), "Take the tour.");
}

/// The rows of a scope as docs/keys.md has them: "| `H` `F1` | show or hide this list |".
std::string page_rows(KeyScope scope) {
    std::string rows;
    for (const KeyRow& row : key_table()) {
        if (row.scope != scope || row.keys().empty()) continue;
        std::string keys = row.other.empty() ? "" : "`" + std::string(row.other) + "`";
        for (const Shortcut& one : row.shortcuts)
            if (*one.name) keys += (keys.empty() ? "`" : " `") + std::string(one.name) + "`";
        rows += "| " + keys + " | " + std::string(row.does) + " |\n";
    }
    return rows;
}

TEST(KeyTable, ThePageOfKeysListsTheKeysOfTheTable) {
    const auto page = std::filesystem::path(README).replace_filename("docs/keys.md");
    std::ifstream file(page);
    ASSERT_TRUE(file) << page;
    std::stringstream text;
    text << file.rdbuf();
    for (const KeyScope scope :
         {KeyScope::general, KeyScope::microscope, KeyScope::editor, KeyScope::presentation}) {
        const std::string rows = page_rows(scope);
        EXPECT_NE(text.str().find("|---|---|\n" + rows + "\n"), std::string::npos) << rows;
    }
}

}  // namespace
}  // namespace warpscope::ui
