#pragma once

#include <future>
#include <optional>
#include <string>

#include "ui/documents/kernel_file_choice.h"
#include "ui/widgets/ui.h"

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

}  // namespace warpscope::ui
