#pragma once

#include <string>

#include "ui/widgets/key_table.h"

namespace warpscope::ui {

// What differs between the app and the edition for browsers, which has a file of its own in the
// place of edition.cpp.

/// Whether this edition has a command. A page has no files, no compiler and no recordings.
bool offers(Command command);

/// Whether kernels may run elsewhere than in the emulator.
bool offers_gpus();

/// The address of the page, to which the text of a link is added; empty: there is no page.
std::string page_address();

}  // namespace warpscope::ui
