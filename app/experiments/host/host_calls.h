#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/host/declarations.h"
#include "experiments/host/host_program.h"

namespace warpscope::experiments {

/// Reads single statements of a host program: assignments, calls of the CUDA runtime, launches.
/// What it reads is in program_, by the names that scope_ gives the words of the source.
class HostCalls {
  public:
    /// What stands between the commas of a text.
    static std::vector<std::string> split(std::string_view list) {
        const HostCalls reader(list);
        return reader.plain_parts(0, reader.text_.size());
    }

  protected:
    /// The name in HostProgram that a word of the source has now.
    using Scope = std::map<std::string, std::string, std::less<>>;
    using TokenRange = std::pair<std::size_t, std::size_t>;  ///< of tokens

    explicit HostCalls(std::string_view source, int own = 0)
        : text_(source), source_(source), own_(own) {}

    bool is_launch(std::size_t i) const { return i > 0 && (is_three(i, "<") || is_launch_call(i)); }
    bool is_launch_call(std::size_t i) const {
        return text_.is(i + 1, "(") &&
               (text_.is(i, "cudaLaunchKernel") || text_.is(i, "cudaLaunchCooperativeKernel"));
    }
    bool is_known_call(std::size_t i) const;
    /// Begins a function: only names of the file are known.
    void enter_file();
    const Scope& file_scope() const { return file_scope_; }

    void read_macro(std::string_view directive);
    /// All "name = value" of the tokens.
    void read_values(std::size_t begin, std::size_t end);
    /// What begins at this word.
    void read_value(std::size_t i);
    void read_call(std::size_t i);
    /// A function that is not followed may write into the arrays that it gets.
    void pass_to_unknown(std::size_t i);
    /// "auto& x : v": the loop may write into v.
    void read_range_loop(std::size_t begin, std::size_t end);
    void read_launch(std::size_t i);

    /// The tokens with the names of scope_, and as they stand there.
    std::string words(std::size_t begin, std::size_t end) const;
    std::string plain_words(std::size_t begin, std::size_t end) const;
    /// The name of what begins at this word: "p$n" of "p.n" and "p->n", "p$rows$at2$n" of
    /// "p.rows[2].n". `i` becomes its last token.
    std::string member_at(std::size_t& i, std::size_t end) const;
    /// "$at2" where "[2]" stands behind this token, or else empty.
    std::string element_behind(std::size_t i) const;
    /// What stands between the commas, as words() and as plain_words() return it.
    std::vector<std::string> parts(std::size_t begin, std::size_t end) const;
    std::vector<std::string> plain_parts(std::size_t begin, std::size_t end) const;
    /// The token after the ">" of a "<".
    std::size_t after_angles(std::size_t open, std::size_t end) const;

    std::vector<TokenRange> ranges(std::size_t begin, std::size_t end) const;
    std::size_t end_of_value(std::size_t i) const;
    /// "n = …", "n += …", "n++", "++n"
    bool changes(std::size_t i) const;
    std::string next_name(const std::string& word) const;  ///< that made() would make
    /// Calls `found` with the token of each name that a declaration has, and its variable.
    void for_declarators(
        std::size_t i,
        const std::function<void(std::size_t name, const HostVariable& variable)>& found) const;
    /// The parameter of a function whose declaration begins at this token is a variable.
    void declare_parameter(std::size_t i);
    /// The word gets another meaning until the end of the block.
    void shadow(const std::string& word);
    void end_shadows(std::size_t first);

    std::string name_now(std::string_view word) const;
    /// Empty behind the last token.
    std::string_view at(std::size_t i) const {
        return i < text_.size() ? text_.text(i) : std::string_view();
    }
    void assign(const std::string& word, std::string value);
    /// Returns the sizes of a grid or a block, which `text` gives as the name of a dim3, as dim3(…)
    /// or as a number.
    std::vector<std::string> sizes(const std::string& text) const;
    /// The variable of this name is a dim3.
    void set_dimensions(const std::string& name, std::vector<std::string> sizes);
    std::string made(const std::string& word);
    /// The word has a value that is not known.
    void forget(const std::string& word) { (void)made(word); }
    /// Numbers that code which is not followed may change: "n" of "&n", where `by_reference` also
    /// of "n".
    void forget_argument(TokenRange argument, bool by_reference);
    void forget_number(const std::string& word);
    void forget_members(const std::string& word);  ///< of an object
    /// "in >> n >> m"
    void forget_read(std::size_t i);
    /// The word gets a value that depends on the one that it has.
    void change(const std::string& word, std::string value);

    compiler::TokenText text_;
    HostProgram program_;
    Scope scope_;
    /// Adds those arguments of a template that follow from the types of a call's arguments.
    /// `names`: of its parameters; `parameters`: of the function, "const T * in".
    void deduce_templates(const std::vector<std::string>& names,
                          const std::vector<std::string>& parameters,
                          const std::vector<std::string>& arguments,
                          std::vector<std::string>& templates) const;
    /// The template parameters of each kernel, and its parameters.
    struct KernelTemplate {
        std::vector<std::string> names, parameters;
    };
    std::map<std::string, KernelTemplate, std::less<>> kernel_templates_;
    std::vector<std::string> loops_;  ///< the counters of the loops around a statement
    bool is_counter(const std::string& word) const {
        return std::ranges::find(loops_, name_now(word)) != loops_.end();
    }
    std::vector<std::string> changed_;  ///< words and members, in the loops around a statement
    /// Words that the blocks which are read declare, and what they have meant before.
    std::vector<std::pair<std::string, std::string>> shadowed_;

    /// Memory that cudaFree() has freed, by the names of its pointers.
    struct Freed {
        int line = 0;
        bool certain = true;
    };
    std::map<std::string, Freed, std::less<>> freed_;
    int depth_of_loops_ = 0;
    int depth_of_doubt_ = 0;                        ///< of statements that the program may skip
    std::set<std::string, std::less<>> uncertain_;  ///< names that such statements give a value
    /// Words that write into none of the arrays that they name.
    std::set<std::size_t> harmless_;
    void is_harmless(std::size_t begin, std::size_t end) {
        for (; begin < end; ++begin) harmless_.insert(begin);
    }
    /// The program may write into the arrays that these words name.
    void touch(std::size_t begin, std::size_t end);
    void touch_array(const std::string& name) { touched_.insert(name); }
    /// Forgets which bytes of an array are written, where other code may write them, too.
    void forget_written();
    TokenRange lambda_{0,
                       0};  ///< the last one that stands where it is passed: nobody calls it here
    /// The member has another value from now on. What was said of it until now, also `value`, is
    /// said of another name.
    void retire(const std::string& name, std::string* value = nullptr);
    void set_member(const std::string& name, std::string value);
    std::string assumed_;  ///< what is assumed of the statements that are read
    std::map<std::string, std::string, std::less<>> assumed_of_;  ///< and of these names
    std::set<std::string, std::less<>> methods_;                  ///< values: what they return now

  private:
    /// The most tokens of a launch or a value, and the most launches of a program.
    static constexpr std::size_t longest = 1000, most_launches = 64;

    bool is_three(std::size_t i, const char* sign) const;
    void declare(std::size_t i);
    void declare_function_pointer(std::size_t open);
    struct Declared;
    std::optional<Declared> read_type(std::size_t i) const;
    std::size_t read_declarator(std::size_t i, HostVariable& variable) const;
    void fill_container(std::size_t i, const std::string& name);
    void call_member(std::size_t i);
    void set_size(const std::string& name, const std::string& size, const std::string& value);
    void read_dimensions(std::size_t i);
    bool read_member_value(std::size_t i);
    bool change_member(const std::string& name, std::size_t sign);
    void read_element(const std::string& name, std::size_t open);
    /// The counters of loops in an index, in terms of the element `i`: "i", "i / 64". Empty: the
    /// index is none of the loops.
    std::vector<std::pair<std::string, std::string>> counters_in(const std::string& index) const;
    std::optional<std::size_t> kernel_before(std::size_t i) const;
    std::string element_before(std::size_t i) const;
    void set_kernel(HostLaunch& launch, std::size_t kernel, std::size_t open) const;
    void name_kernel(HostLaunch& launch, std::string pointer) const;
    void read_launch_call(std::size_t i);
    void add_launch(HostLaunch launch, std::size_t i);
    void add_stream(const std::string& stream);
    std::string template_argument(std::string text) const;
    std::string class_of_temporary(const std::string& text) const;
    std::string type_of(const std::string& argument, std::size_t stars, int depth = 4) const;

    std::string fill_of(const std::vector<std::string>& elements) const;
    std::string letters_of(const std::string& text) const;
    std::string own_name(const std::string& name, int depth = 0) const;
    void allocate(const std::string& pointer, const std::string& bytes);
    std::string array_of(const std::string& pointer) const;
    void free_array(std::size_t i, const std::string& pointer);
    bool write(std::size_t i, const std::string& pointer, const std::string& bytes);
    void check_size(std::size_t i, const HostPlace& place, const std::string& bytes);
    void add_fault(std::size_t i, const std::string& kernel, std::string sentence);
    bool shares_host_memory() const;
    std::string owner_of(const std::string& array) const;
    std::optional<HostBadPointer> bad_pointer(const std::string& pointer) const;
    void note_bad_pointers(HostLaunch& launch, std::size_t i) const;
    void note_shared(const HostLaunch& launch, std::size_t i);
    void note_assumed(HostLaunch& launch) const;
    std::vector<std::string> arrays_in(std::string object) const;
    int line_of(std::size_t i) const;
    std::string free_name(const std::string& name) const;
    void rename(const std::string& name, const std::string& to);
    void fill(const std::string& pointer, const std::string& value);
    void copy(const std::string& to, const std::string& from);
    bool read_texture_call(std::string_view call, const std::vector<std::string>& given);
    HostTexture texture_of(const std::string& resource, const std::string& description) const;

    std::string_view source_;
    int own_;  ///< lines before the text of the file: those of its headers
    std::set<std::string, std::less<>> touched_;  ///< arrays that it may have written
    std::set<std::string, std::less<>> symbols_;  ///< variables of the device that are copied to
    std::set<std::string, std::less<>> swapped_;  ///< pointers, in a loop
    std::map<std::string, std::set<std::string>, std::less<>> copies_;  ///< of objects: their names
    int retired_ = 0;
    Scope file_scope_;
    bool in_file_ = true;
    bool shares_host_memory_ = false;
    std::map<std::string, int, std::less<>> made_;  ///< names of each word
    std::map<std::string, std::vector<std::string>, std::less<>> dimensions_;  ///< of each dim3
    std::set<std::string, std::less<>> launched_;  ///< arrays: what fills them later is for later
};

}  // namespace warpscope::experiments
