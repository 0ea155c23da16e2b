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
#include <variant>
#include <vector>

#include "files/sentence.h"

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

/// A legal value: of a toggle, of a choice (the index of its word), of an integer, of a real number
/// or of a text.
using Value = std::variant<bool, std::size_t, std::int64_t, double, std::string>;

/// A new value for the parameter that stands at `place` in its set.
struct NewValue {
    std::size_t place;
    Value value;
};

/// Why a value does not show what it promises, and the assignment that helps.
struct Remark {
    std::string sentence;  ///< "Only the stamped tile detects stale reads."
    std::string action;    ///< the words of a button: "Use the stamped tile"
    Assignment remedy;
};

class ParameterSet;
struct LaunchParameters;

/// One setting of an experiment. It is declared once: the panel's widget, `--set`, `--list`, the
/// JSON and the PNG metadata all read this declaration. `read()` accepts every text that `text()`
/// returns.
class Parameter {
  public:
    /// Adds itself to `owner`. Both belong to one experiment and are destroyed together.
    Parameter(ParameterSet& owner, std::string id, std::string label, std::string help,
              Value initial);
    Parameter(const Parameter&) = delete;
    Parameter& operator=(const Parameter&) = delete;
    virtual ~Parameter() = default;

    std::size_t place() const { return place_; }         ///< in ParameterSet::all()
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
    void explain_with(std::function<files::Sentence()> note) { note_ = std::move(note); }
    files::Sentence note() const { return note_ && matters() ? note_() : files::Sentence(); }
    /// The value changes only how the state is shown or judged. The experiment's own kernel does
    /// not receive it.
    void only_shows() { is_view_ = true; }
    bool is_view() const { return is_view_; }

    virtual std::string type() const = 0;   ///< "toggle", "choice", "integer", "real", "text"
    virtual std::string range() const = 0;  ///< "on|off", "16..4096", "any text"
    /// Throws ParameterError if `text` is not a legal value.
    virtual Value read(std::string_view text) const = 0;
    /// A text from which read() makes this value, one that it has made before.
    virtual std::string text_of(const Value& value) const = 0;

    virtual const Value& get() const { return value_; }
    /// Takes a value that read() has returned, here or of a parameter with this declaration.
    virtual void take(Value value) { value_ = std::move(value); }
    /// Throws ParameterError and keeps the old value if `text` is not a legal value.
    void parse(std::string_view text) { take(read(text)); }
    std::string text() const { return text_of(get()); }
    std::string default_text() const { return text_of(initial_); }
    bool is_default() const { return get() == initial_; }

  private:
    std::size_t place_;
    std::string id_, label_, help_;
    Value initial_, value_;
    std::function<bool()> matters_;
    std::optional<Assignment> comes_with_;
    std::function<std::optional<Remark>()> remark_;
    std::function<files::Sentence()> note_;
    bool is_view_ = false;
};

class Toggle : public Parameter {
  public:
    Toggle(ParameterSet& owner, std::string id, std::string label, std::string help, bool initial)
        : Parameter(owner, std::move(id), std::move(label), std::move(help), initial) {}
    operator bool() const { return std::get<bool>(get()); }
    /// The toggle has no value of its own: it is on while is_on() is true, and a change calls
    /// turn().
    void stands_for(std::function<bool()> is_on, std::function<void(bool)> turn) {
        is_on_ = std::move(is_on);
        turn_ = std::move(turn);
    }
    const Value& get() const override;
    void take(Value value) override;
    std::string type() const override { return "toggle"; }
    std::string range() const override { return "on|off"; }
    Value read(std::string_view text) const override;  ///< on, off (also true, false, 1, 0)
    std::string text_of(const Value& value) const override {
        return std::get<bool>(value) ? "on" : "off";
    }

  private:
    std::function<bool()> is_on_;
    std::function<void(bool)> turn_;
};

/// One of several words.
class Choice : public Parameter {
  public:
    struct Word {
        std::string id;     ///< "no_first_barrier"
        std::string label;  ///< "without the first barrier"
    };
    Choice(ParameterSet& owner, std::string id, std::string label, std::string help,
           std::vector<Word> words, std::size_t initial = 0)
        : Parameter(owner, std::move(id), std::move(label), std::move(help), initial),
          words_(std::move(words)) {}
    std::size_t index() const { return std::get<std::size_t>(get()); }
    const std::vector<Word>& words() const { return words_; }
    std::string type() const override { return "choice"; }
    std::string range() const override;
    Value read(std::string_view text) const override;
    std::string text_of(const Value& value) const override {
        return words_[std::get<std::size_t>(value)].id;
    }

  private:
    std::vector<Word> words_;
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
            std::int64_t initial, std::int64_t low, std::int64_t high)
        : Parameter(owner, std::move(id), std::move(label), std::move(help), initial),
          low_(low),
          high_(high) {}
    operator std::int64_t() const { return std::get<std::int64_t>(get()); }
    std::int64_t low() const { return low_; }
    std::int64_t high() const { return high_; }
    /// The lowest value has a word instead of a number, such as "centre".
    void name_lowest(std::string word) { lowest_ = std::move(word); }
    std::string type() const override { return "integer"; }
    std::string range() const override;
    Value read(std::string_view text) const override;
    std::string text_of(const Value& value) const override;  ///< for the lowest: its word

  private:
    std::int64_t low_, high_;
    std::string lowest_;  ///< empty: the lowest value has no word
};

class Real : public Parameter {
  public:
    Real(ParameterSet& owner, std::string id, std::string label, std::string help, double initial,
         double low, double high, std::string unit = "")
        : Parameter(owner, std::move(id), std::move(label), std::move(help), initial),
          low_(low),
          high_(high),
          unit_(std::move(unit)) {}
    operator double() const { return std::get<double>(get()); }
    double low() const { return low_; }
    double high() const { return high_; }
    const std::string& unit() const { return unit_; }
    std::string type() const override { return "real"; }
    std::string range() const override;
    Value read(std::string_view text) const override;  ///< finite numbers only
    /// The shortest text that reads back as this double.
    std::string text_of(const Value& value) const override;
    /// Throws ParameterError and keeps the old value if `value` is outside of low() to high().
    void set(double value);

  private:
    double low_, high_;
    std::string unit_;
};

/// A path or other text without rules; empty by default.
class Text : public Parameter {
  public:
    Text(ParameterSet& owner, std::string id, std::string label, std::string help)
        : Parameter(owner, std::move(id), std::move(label), std::move(help), std::string()) {}
    const std::string& value() const { return std::get<std::string>(get()); }
    std::string type() const override { return "text"; }
    std::string range() const override { return "any text"; }
    Value read(std::string_view text) const override { return std::string(text); }
    std::string text_of(const Value& value) const override { return std::get<std::string>(value); }
};

/// Parameters that stand together in the panel, below a title.
struct ParameterGroup {
    std::string title;  ///< "Picture"
    std::vector<Parameter*> parameters;
    /// How else they are changed; the panel folds such a group at first. Empty: they are not.
    std::string otherwise{};
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
    /// Throws ParameterError at the first value that is not legal.
    std::vector<NewValue> read(std::span<const Assignment> assignments) const;
    /// Takes the values and returns those before, of the parameters in this order.
    std::vector<NewValue> replace(std::span<const NewValue> values) const;
    /// read() and replace().
    void parse(std::span<const Assignment> assignments) { replace(read(assignments)); }
    std::vector<Assignment> assignments(std::span<const NewValue> values) const;
    /// The values of all parameters, or of those alone that differ from their defaults.
    std::vector<Assignment> assignments(bool all) const;
    /// Every value, in the order of all().
    std::vector<Value> values() const;
    /// "id=text" of each parameter that matters and is not only a view. If this list has not
    /// changed, neither has the experiment's launch.
    std::vector<std::string> of_launch() const;
    /// The file of the kernel that the experiment is about, with these values: "ripple" for
    /// kernels/ripple.cu. A user may edit it, so other code must not rely on its results.
    virtual std::string kernel_file() const { return {}; }
    /// Thread instructions that a frame with these values executes: an estimate that is right
    /// within 30 % for built-in kernels. 0: not known.
    virtual double work() const { return 0; }
    /// Seconds in which the host makes the inputs that these values need, on a usual machine.
    virtual double seconds_of_inputs() const { return 0; }

    /// These, as those of a launch file; null: they are not.
    virtual const LaunchParameters* of_launch_file() const { return nullptr; }
    /// The toggle that switches the barriers of kernel_file(); null: there is none.
    virtual const Toggle* barrier_switch() const { return nullptr; }
    /// Whether the kernel executes the barriers of kernel_file() that stand after `if (NAME)`.
    virtual bool has_barrier_if(std::string_view name) const { return (void)name, true; }

  protected:
    void group(std::string title, std::vector<Parameter*> parameters, std::string otherwise = "") {
        groups_.push_back({std::move(title), std::move(parameters), std::move(otherwise)});
    }

  private:
    friend class Parameter;
    std::vector<Parameter*> all_;
    std::vector<ParameterGroup> groups_;
};

}  // namespace warpscope::experiments
