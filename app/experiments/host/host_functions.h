#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/host/host_calls.h"

namespace warpscope::experiments {

/// Knows the functions and classes of a host program, and follows calls of them.
class HostFunctions : public HostCalls {
  protected:
    struct Body {
        std::size_t begin, open, end;         ///< of the function, of its "{", and behind its "}"
        std::vector<std::string> parameters;  ///< and template parameters
        std::vector<std::string> templates;
        std::vector<std::string> defaults{};      ///< of the parameters
        std::vector<std::size_t> declarations{};  ///< the first tokens of the parameters
        bool is_lambda = false;                   ///< it knows the names around it
    };
    using Bodies = std::multimap<std::string, Body, std::less<>>;

    HostFunctions(std::string_view source, int own) : HostCalls(source, own) {}
    virtual ~HostFunctions() = default;

    /// Reads statements: the tokens [begin, end).
    virtual void walk(std::size_t begin, std::size_t end) = 0;

    void read_declarations();
    /// Where a function of the source is called whose statements matter: the token after the call.
    std::optional<std::size_t> follow_call(std::size_t i);
    /// "name = [&](…) {…}": the token behind it. It is read where it is called.
    std::optional<std::size_t> read_lambda(std::size_t i);
    /// Where objects of a class are declared: reads its constructor.
    void construct(std::size_t i);
    /// Reads "{…}", and the destructors of its objects. Returns what the function returns whose
    /// body this is.
    std::string walk_block(std::size_t open, std::size_t end, const Body* function = nullptr);

    Bodies bodies_;

  private:
    /// Calls that are followed within each other: a program may call itself.
    static constexpr int deepest_call = 8;

    struct Class {
        std::string name;
        std::vector<std::string> templates;
        std::vector<std::string> members;         ///< their names
        std::vector<std::size_t> declarations{};  ///< the first token of each
        Bodies methods{};
    };
    struct Object {
        const Class* type = nullptr;
        Scope scope;  ///< of its methods
    };
    using Texts = std::vector<std::string>;

    std::optional<std::size_t> body_of(std::size_t begin, std::size_t end) const;
    Body read_function(std::size_t begin, std::size_t open, std::size_t end) const;
    Texts parameters_of(const Body& body) const;
    Texts template_names(std::size_t& begin, std::size_t open) const;
    Texts names_of(const Texts& declarations) const;
    void read_class(const std::string& name, std::size_t begin, std::size_t end);
    std::size_t read_member(Class& type, std::size_t begin, std::size_t end) const;

    const Body* find_body(const Bodies& bodies, std::string_view name, std::size_t given) const;
    bool matters(const Body& body) const;
    void leave(const Body& body, const Scope& before);
    void pass(const Texts& names, const Texts& values);
    /// Reads a body with these arguments in scope_, and returns what it returns.
    std::string run(const Body& body, Texts given);
    std::string returned(const Body& body) const;
    HostVariable result_of(const Body& body) const;
    /// How a function gets an argument.
    struct Passing {
        bool by_reference = false, by_pointer = false, is_const = false;
        bool is_named = false;  ///< the parameter has a name behind its type
    };
    Passing passing_of(const Body& body, std::size_t parameter) const;
    /// What a call has changed: a word of the caller, and its value; empty: it is not known.
    using Changes = std::vector<std::pair<std::string, std::string>>;
    Changes changes_of(const Body& body, std::span<const TokenRange> arguments) const;
    void take_over(const Scope& file_before, const Changes& changes);
    bool is_changed_in(const Body& body, std::string_view word) const;
    void set_by_reference(const Body& body, std::span<const TokenRange> arguments);
    void set_result(std::size_t call, const std::string& result, const HostVariable& returned);
    bool set_members(const Class& type, const std::string& object, std::string_view list);
    const Object* find_object(std::string name) const;
    std::optional<std::size_t> follow_method(std::size_t i);
    void build(const Class& type, const std::string& object, const Texts& templates,
               const Texts& given);
    bool build_member(std::size_t declaration, std::size_t name, const std::string& object,
                      const Texts& given);
    void initialize(const Class& type, const Body& constructor);

    void destroy(const std::string& object, std::string_view word, TokenRange block);
    void destroy_parameters(const Body& body, const Texts& given);
    bool may_be_moved(std::string_view word, TokenRange block) const;

    struct Local {
        std::string word, object;
    };
    std::vector<Local> locals_;  ///< objects of the blocks that are read
    std::map<std::string, Class, std::less<>> classes_;
    std::map<std::string, Object, std::less<>> objects_;
    int depth_ = 0;
};

}  // namespace warpscope::experiments
