// In place of app/ui/widgets/edition.cpp.
#include "ui/widgets/edition.h"

#include <emscripten.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

EM_JS(char*, page_address_text, (), { return stringToNewUTF8(page.address()); });

namespace warpscope::ui {
namespace {

constexpr std::array missing{
    Command::toggle_editor,
    Command::toggle_vsync,
    Command::save_window,
    Command::save_picture,
    Command::copy_picture,
    Command::save_page,
    Command::save_trace,
    Command::open_file,
    Command::next_state,
    Command::previous_state,
    Command::ask_recording,
    Command::toggle_recording,
    Command::toggle_picture_recording,
    Command::toggle_lessons,
    Command::discard_recording,
    Command::show_book,
    Command::start_tour,
    Command::toggle_second_window,
    Command::quit,
    Command::undo,
    Command::redo,
    Command::save_kernel,
    Command::save_kernel_as,
};

}  // namespace

bool offers(Command command) {
    return std::ranges::find(missing, command) == missing.end();
}

bool offers_gpus() {
    return false;
}

std::string page_address() {
    const std::unique_ptr<char, void (*)(void*)> text(page_address_text(), std::free);
    return text.get();
}

}  // namespace warpscope::ui
