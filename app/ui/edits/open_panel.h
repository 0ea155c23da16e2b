#pragma once

#include <future>
#include <optional>
#include <string>

#include "compute/libraries/installed_files.h"
#include "ui/documents/source_files.h"
#include "ui/edits/file_opener.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// A path that a person types in a popup: a field, which Tab completes, and below it the folders
/// and files that the path may become. Widgets: ID, "ID:0" and so on, and "ID.error".
class PathPicker {
  public:
    explicit PathPicker(std::string id) : id_(std::move(id)) {}

    /// Before the popup opens. `files`: those to list.
    void begin(std::string path, PathFiles files);
    const std::string& path() const { return path_; }
    /// Draws the field and the list, `height` high. True on Enter and on a double click of a file.
    bool draw(Ui& ui, float width, float height);
    /// Draws why the path was refused, or `otherwise`. The field has the keyboard again.
    void draw_error(Ui& ui, float width, std::string_view otherwise) const;
    void refuse(const std::string& why);
    /// A path was refused, and has not been changed since.
    bool refused() const { return !error_.empty(); }

  private:
    bool field(Ui& ui, float width);
    bool list(Ui& ui, ImVec2 size);
    void follow_folder();
    void go_up();
    void set(std::string path);

    std::string id_, path_, error_;
    PathFiles files_ = PathFiles::of_window;
    bool takes_focus_ = false;
    bool moves_cursor_ = false;  ///< to the end of a path that was not typed
    // Folders are read on a thread of their own.
    PathChoices choices_;                ///< of `listed_`, or of a path before it
    std::optional<std::string> listed_;  ///< nullopt: none was asked for
    std::future<PathChoices> listing_;
};

/// The popup in which a person chooses a file to open: recent ones, the galaxy that comes with
/// Warpscope, or any other. Beside the open editor, a source can also replace the text there.
class OpenPanel {
  public:
    OpenPanel(FileOpener& opener, ViewOptions& options) : opener_(opener), options_(options) {}

    void show() { asked_ = true; }
    /// Draws the popup over the window, while it is open. `edited`: the kernel file in the editor;
    /// empty: it is closed, or nothing can be edited.
    void draw(Ui& ui, const std::string& edited);

  private:
    void begin();
    bool recent(Ui& ui, float width);
    bool is_file();
    bool load(const std::string& edited);

    FileOpener& opener_;
    ViewOptions& options_;
    const std::string galaxy_ = compute::shared_file("galaxy_20k.tipsy");
    PathPicker picker_{"open.path"};
    bool asked_ = false;
};

}  // namespace warpscope::ui
