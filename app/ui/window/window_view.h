#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "compute/libraries/installed_files.h"
#include "ui/bars/button_bars.h"
#include "ui/bars/messages.h"
#include "ui/bars/record_panel.h"
#include "ui/commands/clipboard.h"
#include "ui/commands/command_palette.h"
#include "ui/commands/overlays.h"
#include "ui/dock/dock.h"
#include "ui/editor/editor_panel.h"
#include "ui/edits/compiler_download.h"
#include "ui/edits/file_opener.h"
#include "ui/edits/open_panel.h"
#include "ui/edits/program_opener.h"
#include "ui/edits/quit_question.h"
#include "ui/lessons/lessons_and_tour.h"
#include "ui/microscope/microscope_bar.h"
#include "ui/microscope/source_panel.h"
#include "ui/microscope/warps_panel.h"
#include "ui/microscope_tile/tile_panel.h"
#include "ui/parameters/controls_panel.h"
#include "ui/picture/picture_panel.h"
#include "ui/results/results_panel.h"
#include "ui/results/tree_panel.h"
#include "ui/window/layout.h"
#include "ui/window/screenshot.h"

namespace warpscope::ui {

/// A file that a person asked for.
enum class Shot {
    none,
    window,
    picture,
    copy,  ///< the picture, to the clipboard
    page,  ///< the picture in a page of HTML
    trace  ///< the timeline of the warps, as a trace
};

/// Everything that one window (or one screenshot of it) shows: the panels, where they are, and what
/// they share. It is made and drawn while its ImGui context is current.
class WindowView {
  public:
    /// `scale` and `raster` are those of Ui. The stage outlives the view. `fetch_compiler` is the
    /// script that CompilerDownload runs.
    WindowView(Stage& stage, const ViewOptions& options, float scale, float raster,
               std::string fetch_compiler = compute::shared_file("fetch_compiler"));
    WindowView(const WindowView&) = delete;
    WindowView& operator=(const WindowView&) = delete;

    /// Called once a frame, before draw(): lays out the panels in a window of `size` layout units.
    void place(ImVec2 size);
    /// Draws everything into the current ImGui frame.
    void draw(ImVec2 size);
    /// Draws the picture alone.
    void draw_picture_alone(ImVec2 size);
    /// Called once a frame, before place(): carries out the requests of panels and keys, which may
    /// make the experiment anew. Returns true if there were any.
    bool run_requests();

    /// Tells the view that a key went down; the numbers are GLFW's.
    void press(int key, int modifiers);
    void open_microscope(const MicroscopePlace& place);
    /// Opens a file that was dropped on the window.
    void open_file(const std::string& path) { opener_.open(path); }

    /// Framebuffer pixels of the picture's area.
    experiments::Size picture_size() const;
    /// True if something moves without the experiment, so that another frame must be drawn.
    bool moves() const {
        return microscope_.playing() || microscope_.waits() || microscope_.searches() ||
               stage_.checks().busy || controls_.busy() || opener_.busy() ||
               program_opener_.busy() || nvcc_download_.runs() || record_.counts() ||
               lessons_.busy() || (options_.marks && marks_.moves());
    }
    Shot take_shot() { return std::exchange(shot_, Shot::none); }
    Shot shot() const { return shot_; }
    bool asked_to_quit() const { return asked_to_quit_; }
    /// Whether the window may close now. Otherwise asks what is to become of unsaved edits.
    bool may_close();
    /// What a person wants to be recorded.
    Recorded records() const { return options_.records; }
    void stop_recording() { options_.records = Recorded::none; }
    /// The recording that was stopped is not to be kept.
    bool take_discarded() { return std::exchange(discards_, false); }

    Ui& ui() { return ui_; }
    const WidgetMap& widgets() const { return ui_.widgets; }
    const Layout& layout() const { return layout_; }
    ViewOptions& options() { return options_; }
    Microscope& microscope() { return microscope_; }
    EditorPanel& editor() { return editor_; }
    MessageLine& message() { return message_; }
    Dock& dock() { return dock_; }
    /// The timeline on show: of the microscope's block, or as a kernel has measured it; nullopt:
    /// there is none.
    std::optional<experiments::Timeline> timeline();
    CompilerDownload& download() { return download_; }
    LessonBook& lessons() { return lessons_; }
    /// Has launches of a program compiled by these helpers.
    void follow_programs(compute::Helpers* helpers) {
        microscope_.reasons().follow_captures(helpers);
        controls_.checks().check_with(helpers);
    }
    Tour& tour() { return tour_; }
    /// Changes the language of the window, or says which font is missing.
    void speak(Language wished);
    /// A popup, the list of keys or the list of words lies over the panels.
    bool is_covered() const;
    /// How much larger than usual everything is to be drawn in a window of this height in logical
    /// pixels.
    float enlargement(float height) const;

  private:
    bool editor_shows() const { return options_.editor && !microscope_.is_open(); }
    void begin_experiment();
    void say_notice();
    void follow(CompilerDownload& download, const std::function<void()>& done);
    void splitters();
    void draw_panels();
    void draw_canvas();
    void draw_side_panel();
    void draw_controls(ImU32 background);
    void draw_results(ImU32 background);
    void draw_open_microscope();
    void draw_presentation();
    void draw_overlays();
    std::vector<PaletteRow> palette_rows();
    void add_commands(std::vector<PaletteRow>& rows, KeyScope scope);
    std::string change_of(Command command);
    void carry_out(Command command);
    bool carry_out_general(Command command);
    bool carry_out_in_microscope(Command command);
    bool carry_out_of_view(Command command);
    void resize(int direction);
    void draw_at(int percent);
    void maximize_pointed();
    void toggle_recording(Recorded what);
    void follow_keyboard();
    bool indents() const;
    void close_topmost();
    void close_in_microscope();
    void turn(std::string_view id);
    void select(int experiment);
    void toggle_microscope();
    void toggle_editor();

    Stage& stage_;
    ViewOptions options_;
    Ui ui_;
    Microscope microscope_;
    DeviceFacts facts_;
    Layout layout_;
    KeyList keys_;
    TopBar top_bar_{stage_, options_, keys_, [this](Language wished) { speak(wished); }};
    ControlsPanel controls_{stage_, options_};
    PicturePanel picture_{stage_, microscope_, options_};
    TreePanel tree_{stage_, microscope_.needs()};
    TransportPanel transport_{stage_, microscope_, picture_.canvas(), options_};
    ResultsPanel results_{stage_, microscope_};
    CompilerDownload download_;
    EditorPanel editor_{stage_, options_, download_, microscope_.needs()};
    MicroscopeBar microscope_bar_{stage_, microscope_};
    SourcePanel source_{stage_, microscope_};
    WarpsPanel warps_{microscope_};
    TilePanel tile_{microscope_};
    Dock dock_{stage_, microscope_, facts_, options_, editor_};
    MessageLine message_{stage_};
    RecordPanel record_{options_};
    QuitQuestion quit_{stage_};
    CompilerDownload nvcc_download_;
    ProgramOpener program_opener_{stage_, options_, nvcc_download_};
    WorkChip work_chip_{stage_, microscope_, program_opener_};
    FileOpener opener_{stage_, options_, screenshot_folder()};
    OpenPanel open_panel_{opener_, options_};
    LessonBook lessons_{stage_, options_, microscope_, opener_};
    LessonPanel lesson_panel_{lessons_};
    Tour tour_;
    CommandPalette palette_;
    TextClipboard text_clipboard_{stage_, microscope_, options_};
    Caption caption_{stage_};
    WordList words_;
    SpeakerMarks marks_;
    /// Whether the editor was open before an experiment that opens it; nullopt: none is on show.
    std::optional<bool> editor_elsewhere_;
    bool by_keyboard_ = false;  ///< Tab has given a widget the focus; Esc or a click takes it away
    int tabs_ = 0;              ///< Tab (1) or Shift+Tab (-1) was pressed since the newest frame
    std::string shown_;         ///< id of the experiment that the picture's view belongs to
    std::string noticed_;       ///< the microscope's newest notice
    Shot shot_ = Shot::none;
    bool asked_to_quit_ = false, discards_ = false;
};

}  // namespace warpscope::ui
