// In place of app/ui/widgets/edition.cpp.
#include "ui/widgets/edition.h"

#include <emscripten.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

EM_JS(char*, page_text, (const char* what),
      { return stringToNewUTF8(page[UTF8ToString(what)]()); });

namespace warpscope::ui {
namespace {

using enum Command;
constexpr std::array missing{
    toggle_vsync,      save_window,    save_picture,        copy_picture,
    save_page,         save_trace,     open_file,           next_state,
    previous_state,    ask_recording,  toggle_recording,    toggle_picture_recording,
    discard_recording, show_book,      start_tour,          quit,
    save_kernel,       save_kernel_as, toggle_second_window};

}  // namespace

bool offers(Command command) {
    return std::ranges::find(missing, command) == missing.end();
}

bool offers_gpus() {
    return false;
}

std::string text_of_page(const char* what) {
    const std::unique_ptr<char, void (*)(void*)> text(page_text(what), std::free);
    return text.get();
}

std::string page_address() {
    return text_of_page("address");
}

}  // namespace warpscope::ui
