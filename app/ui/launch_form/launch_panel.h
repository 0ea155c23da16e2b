#pragma once

#include <string>
#include <vector>

#include "ui/launch_form/launch_form.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The form of a launch file: its launches with their arguments, its scalars and its buffers. A
/// field takes effect when Enter or a click elsewhere leaves it.
class LaunchPanel {
  public:
    explicit LaunchPanel(Stage& stage) : stage_(stage), form_(stage) {}
    void draw(Ui& ui);
    /// The form is on show and was used last: undo and redo are about it.
    bool has_focus() const { return focused_in_ == ImGui::GetFrameCount(); }
    void undo() { form_.undo(); }
    void redo() { form_.redo(); }
    std::string change_ahead(bool forward) const { return form_.change_ahead(forward); }

  private:
    /// A column of a table: its title, its width in logical pixels and what its fields take.
    struct Column {
        const char* title;
        float width;
        const char* help;
    };

    static constexpr float gap = 6;  ///< between the fields of a row, in logical pixels

    void head(Ui& ui);
    void undo_buttons(Ui& ui);
    void column_titles(Ui& ui, const std::vector<Column>& columns);
    void cell(Ui& ui, const std::string& place, const std::string& current, float width,
              const std::string& help, const LaunchForm::Set& set, const std::string& hint = {});
    void launches(Ui& ui);
    void kernel_cell(Ui& ui, std::size_t index);
    void launch_row(Ui& ui, std::size_t index);
    void arguments(Ui& ui, std::size_t index);
    void target(Ui& ui);
    void scalars(Ui& ui);
    void propose_values(const launches::LaunchFile& file);
    void set_scalar(launches::LaunchFile& file, const std::string& name, const std::string& text);
    void buffers(Ui& ui);
    void buffer_row(Ui& ui, std::size_t index);
    void expectation(Ui& ui, const std::string& buffer);
    void add_launch(Ui& ui);
    void guesses(Ui& ui);
    std::vector<std::string> kernels() const;

    Stage& stage_;
    LaunchForm form_;
    bool all_arguments_ = false;  ///< also those that have the name of their scalar or buffer
    int focused_in_ = -1;  ///< the newest frame in which the form was drawn and had the focus
};

}  // namespace warpscope::ui
