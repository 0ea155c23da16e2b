#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpscope::experiments {

/// An unknown parameter or a value that it can't take; says which values it takes.
struct ParameterError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// A new value for one parameter.
struct Assignment {
    std::string id;    ///< "sync"
    std::string text;  ///< "off"
};

/// By experiment id: {"ripple", {{"sync", "off"}, {"size", "512"}}}. Of several assignments to one
/// parameter, the last one counts.
using Assignments = std::map<std::string, std::vector<Assignment>>;

/// Why a value does not show what it promises, and the assignment that helps.
struct Remark {
    std::string sentence;  ///< "Only the stamped tile detects stale reads."
    std::string action;    ///< the words of a button: "Use the stamped tile"
    Assignment remedy;
};

class ParameterSet;

/// One setting of an experiment. It is declared once: the panel's widget, `--set`, `--list`, the
/// JSON and the PNG metadata all read this declaration. Values travel as text: `parse()` accepts
/// every text that `text()` returns.
class Parameter {
  public:
    /// Adds itself to `owner`. Both belong to one experiment and are destroyed together.
    Parameter(ParameterSet& owner, std::string id, std::string label, std::string help);
    Parameter(const Parameter&) = delete;
    Parameter& operator=(const Parameter&) = delete;
    virtual ~Parameter() = default;

    const std::string& id() const { return id_; }        ///< "sync"; `--set ripple.sync=off`
    const std::string& label() const { return label_; }  ///< "__syncthreads()"
    const std::string& help() const { return help_; }    ///< a sentence for tooltip and --list

    /// The value has an effect only while `condition` is true. At other times the value is kept,
    /// and the panel greys the parameter out.
    void only_when(std::function<bool()> condition) { matters_ = std::move(condition); }
    bool matters() const { return !matters_ || matters_(); }
    /// A value has an effect only together with this value of another parameter, so whoever
    /// chooses one in the window chooses the other as well. The condition of only_when() does not
    /// grey it out.
    void comes_with(Assignment other) { comes_with_ = std::move(other); }
    const std::optional<Assignment>& comes_with() const { return comes_with_; }
    /// A remark about the current value, where there is one.
    void remark_when(std::function<std::optional<Remark>()> remark) { remark_ = std::move(remark); }
    std::optional<Remark> remark() const { return remark_ ? remark_() : std::nullopt; }
    /// A sentence about what the current value brings, for the panel; it may be empty.
    void explain_with(std::function<std::string()> note) { note_ = std::move(note); }
    std::string note() const { return note_ && matters() ? note_() : std::string(); }
    /// The value changes only how the state is shown or judged. The experiment's own kernel does
    /// not receive it.
    void only_shows() { is_view_ = true; }
    bool is_view() const { return is_view_; }

    virtual std::string type() const = 0;   ///< "toggle", "choice", "integer", "real", "text"
    virtual std::string range() const = 0;  ///< "on|off", "16..4096", "any text"
    virtual std::string text() const = 0;
    virtual std::string default_text() const = 0;
    /// Throws ParameterError and keeps the old value if `text` is not a legal value.
    virtual void parse(std::string_view text) = 0;
    bool is_default() const { return text() == default_text(); }

  private:
    std::string id_, label_, help_;
    std::function<bool()> matters_;
    std::optional<Assignment> comes_with_;
    std::function<std::optional<Remark>()> remark_;
    std::function<std::string()> note_;
    bool is_view_ = false;
};

class Toggle : public Parameter {
  public:
    Toggle(ParameterSet& owner, std::string id, std::string label, std::string help, bool initial);
    operator bool() const { return get_ ? get_() : value_; }
    /// The toggle has no value of its own: it is on while get() is true, and a change calls set().
    void stands_for(std::function<bool()> get, std::function<void(bool)> set) {
        get_ = std::move(get);
        set_ = std::move(set);
    }
    std::string type() const override { return "toggle"; }
    std::string range() const override { return "on|off"; }
    std::string text() const override { return *this ? "on" : "off"; }
    std::string default_text() const override { return initial_ ? "on" : "off"; }
    void parse(std::string_view text) override;  ///< on, off (also true, false, 1, 0)

  private:
    bool initial_, value_;
    std::function<bool()> get_;
    std::function<void(bool)> set_;
};

/// One of several words.
class Choice : public Parameter {
  public:
    struct Word {
        std::string id;     ///< "no_first_barrier"
        std::string label;  ///< "without the first barrier"
    };
    Choice(ParameterSet& owner, std::string id, std::string label, std::string help,
           std::vector<Word> words, std::size_t initial = 0);
    std::size_t index() const { return index_; }
    const std::vector<Word>& words() const { return words_; }
    std::string type() const override { return "choice"; }
    std::string range() const override;
    std::string text() const override { return words_[index_].id; }
    std::string default_text() const override { return words_[initial_].id; }
    void parse(std::string_view text) override;

  private:
    std::vector<Word> words_;
    std::size_t initial_, index_;
};

/// A choice whose value is an enum. The enumerators are in the order of the words.
template <class Enum>
class ChoiceOf : public Choice {
  public:
    using Choice::Choice;
    operator Enum() const { return Enum(index()); }
};

class Integer : public Parameter {
  public:
    Integer(ParameterSet& owner, std::string id, std::string label, std::string help,
            std::int64_t initial, std::int64_t low, std::int64_t high);
    operator std::int64_t() const { return value_; }
    std::int64_t low() const { return low_; }
    std::int64_t high() const { return high_; }
    /// The lowest value has a word instead of a number, such as "centre".
    void name_lowest(std::string word) { lowest_ = std::move(word); }
    /// The value as text(): its number or, for the lowest, its word.
    std::string text_of(std::int64_t value) const;
    std::string type() const override { return "integer"; }
    std::string range() const override;
    std::string text() const override;
    std::string default_text() const override;
    void parse(std::string_view text) override;

  private:
    std::int64_t initial_, low_, high_, value_;
    std::string lowest_;  ///< empty: the lowest value has no word
};

class Real : public Parameter {
  public:
    Real(ParameterSet& owner, std::string id, std::string label, std::string help, double initial,
         double low, double high, std::string unit = "");
    operator double() const { return value_; }
    double low() const { return low_; }
    double high() const { return high_; }
    const std::string& unit() const { return unit_; }
    std::string type() const override { return "real"; }
    std::string range() const override;
    std::string text() const override;  ///< shortest text that reads back as the same double
    std::string default_text() const override;
    void parse(std::string_view text) override;  ///< finite numbers only
    /// Throws ParameterError and keeps the old value if `value` is outside of low() to high().
    void set(double value);

  private:
    double initial_, low_, high_, value_;
    std::string unit_;
};

/// A path or other text without rules; empty by default.
class Text : public Parameter {
  public:
    Text(ParameterSet& owner, std::string id, std::string label, std::string help);
    const std::string& value() const { return value_; }
    std::string type() const override { return "text"; }
    std::string range() const override { return "any text"; }
    std::string text() const override { return value_; }
    std::string default_text() const override { return {}; }
    void parse(std::string_view text) override { value_ = text; }

  private:
    std::string value_;
};

/// Parameters that stand together in the panel, below a title.
struct ParameterGroup {
    std::string title;  ///< "Picture"
    std::vector<Parameter*> parameters;
    /// Whether any of them has an effect.
    bool matters() const;
};

/// The parameters of one experiment in the order of their declaration. Each experiment derives a
/// class whose members are its parameters. Making one needs no device.
class ParameterSet {
  public:
    ParameterSet() = default;
    ParameterSet(const ParameterSet&) = delete;
    ParameterSet& operator=(const ParameterSet&) = delete;
    virtual ~ParameterSet() = default;

    const std::vector<Parameter*>& all() const { return all_; }
    /// In the order of the panel. Every parameter is in one group.
    const std::vector<ParameterGroup>& groups() const { return groups_; }
    /// Throws ParameterError that lists the known ids and suggests the one nearest to `id`.
    Parameter& find(std::string_view id) const;
    /// Parses one value after the other. Throws ParameterError at the first one that is not legal.
    void parse(std::span<const Assignment> assignments);
    /// "id=text" of each parameter that matters and is not only a view. If this list has not
    /// changed, neither has the experiment's launch.
    std::vector<std::string> of_launch() const;
    /// The file of the kernel that the experiment is about, with these values: "ripple" for
    /// kernels/ripple.cu. A user may edit it, so other code must not rely on its results.
    virtual std::string kernel_file() const { return {}; }
    /// Thread instructions that a frame with these values executes: an estimate that is right
    /// within 30 % for built-in kernels. 0: not known.
    virtual double work() const { return 0; }

    /// The toggle that switches the barriers of kernel_file(); null: there is none.
    virtual const Toggle* barrier_switch() const { return nullptr; }
    /// Whether the kernel executes the barriers of kernel_file() that stand after `if (NAME)`.
    virtual bool has_barrier_if(std::string_view name) const { return (void)name, true; }

  protected:
    void group(std::string title, std::vector<Parameter*> parameters) {
        groups_.push_back({std::move(title), std::move(parameters)});
    }

  private:
    friend class Parameter;
    std::vector<Parameter*> all_;
    std::vector<ParameterGroup> groups_;
};

}  // namespace warpscope::experiments
