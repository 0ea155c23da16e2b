#include <fmt/format.h>

#include <cmath>

#include "experiments/framework/frame_cost.h"
#include "ui/editor/editor_parts.h"
#include "ui/language/language.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

void say(const EditorFrame& frame, const char* id, ImU32 colour, const std::string& words) {
    paragraph(frame.ui.fonts.small, colour, words);
    record(frame.ui, id, words);
}

}  // namespace

bool offers_download(const EditorFrame& frame) {
    return frame.stage.compiler_missing() && frame.download.has_script() &&
           (frame.download.runs() || CompilerDownload::can_run());
}

void draw_editor_download(const EditorFrame& frame) {
    CompilerDownload& download = frame.download;
    if (!frame.stage.compiler_missing() || !download.has_script()) return;
    if (download.runs()) {
        ImGui::AlignTextToFramePadding();
        const std::string took = experiments::duration_words(std::ceil(download.seconds()));
        say(frame, "editor.downloading", colour::text, tr("Downloading NVRTC · {} so far", took));
        ImGui::SameLine(0, frame.ui.px(10));
        if (flat_button(frame.ui, "editor.download.cancel", tr("Cancel")))
            frame.ui.later([&download] { download.cancel(); });
        tooltip(frame.ui, tr("End the download (Esc). Nothing of it stays on the disk."));
    } else if (offers_download(frame)) {
        if (flat_button(frame.ui, "editor.download", tr("Download NVRTC (96 MB)"), true))
            frame.ui.later([&download] { download.start(); });
        tooltip(frame.ui, tr("Download one version with a fixed checksum from PyPI, with pip, into "
                             "~/.local/share/warpscope. Kernels can be edited when it is there."));
    } else {
        say(frame, "editor.download.needs", colour::dim,
            tr("To download NVRTC here, install the packages python3 and python3-pip."));
    }
    if (!download.error().empty())
        say(frame, "editor.download.error", colour::bad, download.error());
}

}  // namespace warpscope::ui
