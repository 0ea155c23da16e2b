#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "experiments/launch/launch_plan.h"
#include "ui/language/language.h"
#include "ui/stage/stage.h"

namespace warpscope::ui {

/// The launch file on show as a person edits it. Each field has a place as in the messages of
/// LaunchError: "launches[0].grid". A text that can't be used stays in its field until it is
/// mended.
class LaunchForm {
  public:
    /// Puts the text of a field into the file; throws LaunchError.
    using Set = std::function<void(launches::LaunchFile&, const std::string& text)>;

    explicit LaunchForm(Stage& stage) : stage_(stage) {}

    /// Takes over the launch file on show where another one is.
    void follow();
    const launches::LaunchFile& file() const { return file_; }
    /// Null: no launch file is on show.
    const std::shared_ptr<const experiments::LaunchPlan>& plan() const { return plan_; }

    /// What stands in a field: the text that can't be used, or `current`.
    std::string text(const std::string& place, const std::string& current) const;
    /// Why a field's text, or the value that it led to, can't be used; empty: it can.
    std::string error(const std::string& place) const;
    /// The first error of all fields, with its place; empty: there is none.
    std::string error() const;

    void set(const std::string& place, const std::string& text, const Set& set);
    /// Shows the file with a change that no field makes: a row that is added or removed.
    void change(const std::string& place, const std::function<void(launches::LaunchFile&)>& change);
    /// Takes back the last change of the form, and makes it again; says which, or that there is
    /// none. Another launch file begins without changes.
    void undo() { go(undo_, redo_, tr("undo"), tr("Undone")); }
    void redo() { go(redo_, undo_, tr("redo"), tr("Redone")); }
    bool can_undo() const { return !undo_.empty(); }
    bool can_redo() const { return !redo_.empty(); }
    /// The field that redo() (`forward`) or undo() would change; empty: none.
    std::string change_ahead(bool forward) const {
        const FormStates& states = forward ? redo_ : undo_;
        return states.empty() ? "" : states.back().place;
    }
    /// Writes the file with the numbers, buffer and view that are chosen, and says so. That of a
    /// kernel of the gallery goes to the current folder, with its source.
    void save();

  private:
    struct Wrong {
        std::string text, error;
    };
    /// The form before a change, or after one that was taken back.
    struct FormState {
        std::string place;  ///< of the change
        launches::LaunchFile file;
        std::map<std::string, Wrong> wrong;
        std::vector<experiments::Assignment> values;  ///< of the parameters that it changed, too
    };
    using FormStates = std::deque<FormState>;  ///< the newest last
    static constexpr std::size_t most_states = 100;

    void show(launches::LaunchFile file);
    FormState state_at(const std::string& place) const;
    void keep(FormState before);
    void save_from_gallery();
    void go(FormStates& from, FormStates& to, const char* verb, const char* done);

    Stage& stage_;
    std::shared_ptr<const experiments::LaunchPlan> plan_;
    launches::LaunchFile file_;
    std::map<std::string, Wrong> wrong_;  ///< by place
    FormStates undo_, redo_;
};

/// "(n + 255) / 256, min(m, 8)"
std::string to_text(const std::vector<launches::Expression>& expressions);
/// Splits at the commas outside of parentheses. Throws LaunchError for more than `most`.
std::vector<launches::Expression> parse_list(const std::string& text, std::size_t most);

}  // namespace warpscope::ui
