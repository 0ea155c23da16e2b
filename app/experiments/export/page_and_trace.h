#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/export/table.h"
#include "experiments/framework/report.h"

namespace warpscope::experiments {

/// What an HTML page says of a run.
struct PageContents {
    std::string title;
    std::string command;                  ///< makes the picture again
    std::span<const std::uint8_t> png{};  ///< the picture; empty: there is none
    const std::vector<emulator::Finding>* findings = nullptr;  ///< null: nothing was checked
    std::vector<Table> tables;                                 ///< those without rows are left out
    /// The text of a kernel file, "kernels/ripple.cu"; empty: it is not known.
    std::function<std::string_view(const std::string& file)> source;
};

/// A page of HTML that needs no other file: picture, findings with their source lines, tables.
std::string html_page(const PageContents& contents);

/// The text with "&lt;" for "<", and so on, for HTML and XML.
std::string escaped(std::string_view text);

std::string base64(std::span<const std::uint8_t> bytes);

/// A timeline as JSON in the Trace Event Format, which Perfetto and Chrome open: a track for each
/// warp. One unit of the timeline (an instruction, a clock) is a microsecond there.
std::string to_trace(const Timeline& timeline);

}  // namespace warpscope::experiments
