#include "ui/window/gui.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace warpscope::ui {
namespace {

using Kind = InputEvent::Kind;

InputEvent move(float x, float y) {
    return {.kind = Kind::move, .x = x, .y = y};
}
InputEvent button(int code, bool down) {
    return {.kind = Kind::button, .code = code, .down = down};
}
InputEvent key(int code, bool down, bool repeats = false) {
    return {.kind = Kind::key, .code = code, .down = down, .repeats = repeats};
}
InputEvent character(unsigned c) {
    return {.kind = Kind::character, .character = c};
}

/// The number of events in each frame until the queue is empty.
std::vector<std::size_t> frames(InputQueue& queue) {
    std::vector<std::size_t> sizes;
    while (!queue.empty()) sizes.push_back(queue.take().size());
    return sizes;
}
using Sizes = std::vector<std::size_t>;

TEST(InputQueueTest, AClickBetweenTwoFramesIsSeenAsPressedAndThenAsReleased) {
    InputQueue queue;
    queue.push(move(10, 20));
    queue.push(button(0, true));
    queue.push(button(0, false));
    queue.push(move(300, 400));
    const auto first = queue.take();
    ASSERT_EQ(first.size(), 2U);
    EXPECT_EQ(first[0].x, 10);
    EXPECT_TRUE(first[1].down);
    const auto second = queue.take();
    ASSERT_EQ(second.size(), 1U);
    EXPECT_FALSE(second[0].down);
    const auto third = queue.take();
    ASSERT_EQ(third.size(), 1U);
    EXPECT_EQ(third[0].x, 300);
    EXPECT_TRUE(queue.empty());
}

TEST(InputQueueTest, SixteenBackspacesTakeThirtyTwoFrames) {
    InputQueue queue;
    for (int i = 0; i < 16; ++i) {
        queue.push(key(GLFW_KEY_BACKSPACE, true));
        queue.push(key(GLFW_KEY_BACKSPACE, false));
    }
    EXPECT_EQ(frames(queue), Sizes(32, 1));
}

TEST(InputQueueTest, TypedTextTakesOneFrameUntilALetterComesTwice) {
    InputQueue queue;
    for (const char c : std::string("abcb")) {
        queue.push(key(GLFW_KEY_A + c - 'a', true));
        queue.push(character(unsigned(c)));
        queue.push(key(GLFW_KEY_A + c - 'a', false));
    }
    // Each key's release waits, since the frame has seen the key go down.
    EXPECT_EQ(frames(queue), (Sizes{2, 3, 3, 3, 1}));
}

/// The characters of a key that is pressed and then repeats twice, without Ctrl meanwhile.
std::size_t written(InputEvent pressed) {
    InputQueue queue;
    queue.push(pressed);
    queue.push(key(GLFW_KEY_LEFT_CONTROL, false));
    for (int i = 0; i < 2; ++i) {
        queue.push(key(GLFW_KEY_O, true, true));
        queue.push(character('o'));
    }
    std::size_t count = 0;
    while (!queue.empty())
        for (const InputEvent& event : queue.take()) count += event.kind == Kind::character;
    return count;
}

TEST(InputQueueTest, AHeldShortcutWritesNothing) {
    InputEvent pressed = key(GLFW_KEY_O, true);
    EXPECT_EQ(written(pressed), 2U);
    pressed.modifiers = GLFW_MOD_CONTROL;
    EXPECT_EQ(written(pressed), 0U) << "Ctrl was released first";
    pressed.modifiers = GLFW_MOD_SHIFT;
    EXPECT_EQ(written(pressed), 2U);
    pressed.writes = false;
    EXPECT_EQ(written(pressed), 0U) << "the key has opened the text";
}

TEST(InputQueueTest, AKeyIsSeenWithTheModifierThatWasDown) {
    InputQueue queue;
    queue.push(key(GLFW_KEY_LEFT_CONTROL, true));
    queue.push(key(GLFW_KEY_A, true));
    queue.push(key(GLFW_KEY_LEFT_CONTROL, false));
    queue.push(key(GLFW_KEY_A, false));
    EXPECT_EQ(frames(queue), (Sizes{2, 2})) << "the frame of A's press has Ctrl down";
}

TEST(InputQueueTest, EnterWaitsForTheTextBeforeIt) {
    InputQueue queue;
    queue.push(character('1'));
    queue.push(character('2'));
    queue.push(key(GLFW_KEY_ENTER, true));
    queue.push(character('3'));
    EXPECT_EQ(frames(queue), (Sizes{2, 1, 1}));
}

TEST(InputQueueTest, MovesWithoutAButtonBetweenThemBecomeOne) {
    InputQueue queue;
    for (int i = 0; i < 1000; ++i) queue.push(move(float(i), 0));
    const auto taken = queue.take();
    ASSERT_EQ(taken.size(), 1U);
    EXPECT_EQ(taken[0].x, 999);
}

TEST(InputQueueTest, TheWheelTurnsWhereTheMouseWas) {
    InputQueue queue;
    queue.push(move(1, 1));
    queue.push({.kind = Kind::wheel, .y = 1});
    queue.push({.kind = Kind::wheel, .y = 1});
    queue.push(move(2, 2));
    EXPECT_EQ(frames(queue), (Sizes{3, 1}));
}

TEST(InputQueueTest, AHeldKeyRepeatsWithinAFrame) {
    InputQueue queue;
    queue.push(key(GLFW_KEY_N, true));
    queue.push(key(GLFW_KEY_N, true, true));
    queue.push(key(GLFW_KEY_N, true, true));
    EXPECT_EQ(frames(queue), Sizes{3});
}

TEST(InputQueueTest, LosingTheKeyboardReleasesWhatIsDown) {
    InputQueue queue;
    queue.push(key(GLFW_KEY_LEFT_CONTROL, true));
    queue.push(button(1, true));
    queue.push(key(GLFW_KEY_S, true));
    queue.push(key(GLFW_KEY_S, false));
    queue.release_all();
    std::vector<InputEvent> all;
    while (!queue.empty())
        for (const InputEvent& event : queue.take()) all.push_back(event);
    ASSERT_EQ(all.size(), 6U);
    EXPECT_EQ(all[4].code, GLFW_KEY_LEFT_CONTROL);
    EXPECT_FALSE(all[4].down);
    EXPECT_EQ(all[5].kind, Kind::button);
    EXPECT_FALSE(all[5].down);
    queue.release_all();
    EXPECT_TRUE(queue.empty());
}

/// Whatever happens between frames, every press is seen at its place, in order.
TEST(InputQueueTest, NoneOfTwoThousandRandomPressesIsLostOrMisplaced) {
    std::mt19937 random(7);
    InputQueue queue;
    std::vector<std::pair<float, float>> pressed, seen;
    float x = 0, y = 0, at_x = 0, at_y = 0;
    bool down[3] = {};
    while (seen.size() < 2000) {
        for (unsigned events = random() % 40; events > 0 && pressed.size() < 2000; --events) {
            const int b = int(random() % 3);
            if (down[b] || random() % 2 == 0) {
                down[b] = !down[b];
                queue.push(button(b, down[b]));
                if (down[b]) pressed.emplace_back(x, y);
            } else {
                x = float(random() % 1600);
                y = float(random() % 900);
                queue.push(move(x, y));
            }
        }
        for (const InputEvent& event : queue.take()) {
            if (event.kind == Kind::move) at_x = event.x, at_y = event.y;
            if (event.kind == Kind::button && event.down) seen.emplace_back(at_x, at_y);
        }
    }
    EXPECT_EQ(seen, pressed);
}

}  // namespace
}  // namespace warpscope::ui
