#include "experiments/proposals/proposal.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/launch_files/element_types.h"

namespace warpscope::experiments {
namespace {

using compiler::KernelParameter;
using compiler::Type;

/// Elements of a buffer, in one dimension and in each of two.
constexpr std::int64_t line = 4096, side = 64;

/// Whether a name has a meaning in the fills of buffers.
bool is_index(std::string_view name) {
    constexpr std::string_view indices[]{"i", "x", "y", "z", "lane", "frame"};
    return std::ranges::find(indices, name) != std::end(indices);
}

bool is_integer(const Type& type) {
    return type.bytes > 1 && !is_image(type) &&
           (type.kind == Type::Kind::signed_integer || type.kind == Type::Kind::unsigned_integer);
}

bool is_pointer(const KernelParameter& parameter) {
    return parameter.type->kind == Type::Kind::pointer;
}

std::vector<Expression> expressions(std::initializer_list<std::string> texts) {
    std::vector<Expression> made;
    for (const std::string& text : texts) made.emplace_back(text);
    return made;
}

}  // namespace

void Proposal::add_launch(const ProposedKernel& launch) {
    kernel_ = launch.kernel;
    host_ = launch.host;
    sizes_.clear();
    arguments_.clear();
    guesses_.clear();
    chosen_.clear();
    members_.clear();
    read_.clear();
    changed_.clear();
    if (launch.guesses_template) guess("the arguments of the template");
    for (const std::string& assumed : host_ ? host_->assumed : std::set<std::string>())
        guess(assumed);
    const auto& parameters = kernel_->parameters;
    for (const KernelParameter& parameter : parameters)
        for (const Type* type = parameter.type.get(); type; type = type->target.get())
            if (type->bytes > 0) values_.has_type(type->name, type->bytes);
    name_sizes();
    for (std::size_t p = 0; p < parameters.size(); ++p)
        if (is_pointer(parameters[p])) add_buffer(p);
    for (std::size_t p = 0; p < parameters.size(); ++p)
        if (is_image(*parameters[p].type)) add_texture(p);
    for (std::size_t p = 0; p < parameters.size(); ++p) {
        const Type::Kind kind = parameters[p].type->kind;
        if (kind != Type::Kind::pointer && kind != Type::Kind::structure &&
            !is_integer(*parameters[p].type) && !is_image(*parameters[p].type))
            add_number(p);
    }
    for (std::size_t p = 0; p < parameters.size(); ++p) {
        if (parameters[p].type->kind != Type::Kind::structure) continue;
        members_use_ = use_of(p);
        arguments_.emplace_back(parameters[p].name,
                                members(parameters[p].name, *parameters[p].type, object_of(p)));
    }
    LaunchSpec spec{.kernel = kernel_->name, .grid = {}, .block = block(), .arguments = arguments_};
    spec.grid = grid(spec.block);
    spec.shared = shared(spec.block);
    for (const auto& [entry, use] : kernel_->traits.variables)
        if (const auto unknown = unknown_variables_.find(entry);
            unknown != unknown_variables_.end())
            use_unknown(unknown->second, use);
    find_bad_pointers();
    repeat_guesses(spec);
    pass_numbers();
    file().launches.push_back(std::move(spec));
    for (const std::string& guess : guesses_) chosen_.erase(guess);
    made_.guesses.push_back(std::move(guesses_));
    made_.chosen.push_back(std::move(chosen_));
    takes_any_grid_.push_back(kernel_->traits.reads_grid_size);
}

std::optional<std::string> Proposal::host_text(std::size_t parameter) const {
    if (!host_ || parameter >= host_->arguments.size()) return std::nullopt;
    return host_->arguments[parameter];
}

/// Gives integers their values, and names those that are sizes of buffers. A name that has a
/// meaning in the fills of buffers is not that of a size. Nor is an integer that the host program
/// computes from its constants, where there are others.
void Proposal::name_sizes() {
    std::vector<std::size_t> integers;
    for (std::size_t p = 0; p < kernel_->parameters.size(); ++p) {
        const KernelParameter& parameter = kernel_->parameters[p];
        if (!is_integer(*parameter.type) || is_index(parameter.name)) continue;
        if (own_name(parameter.name) == parameter.name) integers.push_back(p);
    }
    const auto is_computed = [&](std::size_t p) {
        const auto text = host_text(p);
        return text && values_.last_name(*text).empty() && values_.expression(*text).has_value();
    };
    const bool all = std::ranges::all_of(integers, is_computed);
    for (const std::size_t p : integers)
        if (all || !is_computed(p)) sizes_.push_back(kernel_->parameters[p].name);
    if (sizes_.empty()) sizes_.emplace_back("n");
    for (std::size_t p = 0; p < kernel_->parameters.size(); ++p)
        if (is_integer(*kernel_->parameters[p].type)) add_number(p);
    for (std::size_t p = 0; p < kernel_->parameters.size(); ++p)
        if (const auto object = object_of(p))
            name_members(kernel_->parameters[p].name, *kernel_->parameters[p].type, *object);
}

/// The object of the host program that is passed to a structure.
std::optional<std::string> Proposal::object_of(std::size_t parameter) const {
    const auto text = host_text(parameter);
    const bool is_structure = kernel_->parameters[parameter].type->kind == Type::Kind::structure;
    const bool is_known = text && (text->find(' ') == std::string::npos ||
                                   !member_of(program_, *text, 0, "").ends_with('$'));
    return is_known && is_structure ? text : std::nullopt;
}

/// Buffers may depend on the integers of a structure.
void Proposal::name_members(const std::string& name, const Type& type, const std::string& object) {
    for (const compiler::Member& member : type.members) {
        const auto index = std::size_t(&member - type.members.data());
        const std::string own = name + "_" + member.name;
        const std::string text = member_of(program_, object, index, member.name);
        if (member.type->kind == Type::Kind::structure) name_members(own, *member.type, text);
        if (is_integer(*member.type)) members_[own] = number_text({own, member.type}, text);
    }
}

/// The scalar of a number: one whose name has a meaning in expressions gets another.
std::string Proposal::own_name(const std::string& name) {
    try {
        check_scalar_name(name);
        if (!file().find_buffer(name)) return name;
    } catch (const LaunchError&) {
        // The value gets another name.
    }
    return "value_of_" + name;
}

const std::variant<Number, Expression>* Proposal::find_scalar(const std::string& name) const {
    const auto found = std::ranges::find_if(
        file().scalars, [&](const auto& scalar) { return scalar.first == name; });
    return found == file().scalars.end() ? nullptr : &found->second;
}

/// Leaves out a name that has a value already.
void Proposal::add_scalar(const std::string& name, std::variant<Number, Expression> value) {
    if (!find_scalar(name)) file().scalars.emplace_back(name, std::move(value));
}

/// The number of elements that nobody says: in one dimension, or in each of two.
Number Proposal::guessed_size() const {
    return two() ? side : line;
}

Names Proposal::numbers() const {
    Names names;
    for (const auto& [name, value] : file().scalars) {
        try {
            const auto* number = std::get_if<Number>(&value);
            names[name] = number ? *number : std::get<Expression>(value).value(names);
        } catch (const LaunchError&) {
            // What depends on it has no value either.
        }
    }
    return names;
}

void Proposal::add_number(std::size_t p) {
    const KernelParameter& parameter = kernel_->parameters[p];
    const auto text = host_text(p);
    const std::string own = text                          ? number_text(parameter, *text)
                            : find_scalar(parameter.name) ? parameter.name
                                                          : guessed_number(parameter);
    if (own != parameter.name) arguments_.emplace_back(parameter.name, ArgumentSpec{.text = own});
}

/// The scalar of a number that is not known.
std::string Proposal::guessed_number(const KernelParameter& parameter) {
    const std::string& name = parameter.name;
    const Type& type = *parameter.type;
    if (name == "time" || name == "frame") {  // which a launch file has
        guess(name);
        return name;
    }
    const std::string own = own_name(name);
    guess(own, own);
    const bool is_size = is_integer(type) && own == name && !is_index(name);
    if (type.kind == Type::Kind::floating)
        add_scalar(own, 1.0);
    else
        add_scalar(own, is_size ? guessed_size() : Number(std::int64_t(1)));
    return own;
}

/// A number of the host program, as the text of an argument. One that stands behind a name there
/// becomes a scalar, on which other values may depend; one that is computed is a scalar too, or an
/// expression where another launch has given the scalar of its name another value.
std::string Proposal::number_text(const KernelParameter& parameter, const std::string& text) {
    const std::string last = values_.last_name(text);
    const auto value = values_.expression(text);
    const bool is_number = value && value->names().empty();
    if (!last.empty() && (is_number || !value)) return leaf(parameter, text);
    const std::string own = own_name(parameter.name);
    if (!value) {
        if (!find_scalar(own)) return guessed_number(parameter);
        guess(own, own);
    } else if (value->text() != own) {
        const auto* const known = find_scalar(own);
        const bool is_same = known && std::holds_alternative<Number>(*known) && is_number &&
                             std::get<Number>(*known) == value->value(Names());
        if (known && !is_same) return value->text();
        if (is_number)
            add_scalar(own, value->value(Names()));
        else
            add_scalar(own, *value);
    }
    return own;
}

std::string Proposal::leaf(const KernelParameter& parameter, const std::string& text) {
    const auto number = values_.number(text);
    std::string own = own_name(parameter.name);
    if (const auto* const known = find_scalar(own)) {
        const auto* const is = std::get_if<Number>(known);
        if (!number || !is || *is != *number) own = "value_of_" + values_.last_name(text);
        own.erase(std::remove(own.begin(), own.end(), '$'), own.end());
    }
    if (!number) {
        guess(own, own);
        const bool real = parameter.type->kind == Type::Kind::floating;
        add_scalar(own, real ? Number(1.0) : guessed_size());
    } else {
        add_scalar(own, *number);
    }
    // All names that stand for the number are the scalar.
    std::string name = text;
    for (int depth = 0; depth < 12; ++depth) {
        while (name.ends_with(' ')) name.pop_back();
        if (values_.last_name(name).empty()) break;
        values_.is_scalar(name, own);
        origins_[own].insert(name);
        const auto next = program_.value_of(name);
        if (!next) break;
        name = *next;
    }
    return own;
}

/// A number that was guessed and that the block has is one that a block can have.
void Proposal::limit_guess(const std::string& scalar) {
    if (std::ranges::find(guesses_, scalar) == guesses_.end()) return;
    for (auto& [name, value] : file().scalars)
        if (name == scalar) value = Number(square_blocks() ? std::int64_t(16) : std::int64_t(256));
}

Proposal::Texts Proposal::block() {
    if (host_) {
        auto known = values_.expressions(host_->block);
        for (std::size_t d = 0; known && d < known->size(); ++d) limit_guess((*known)[d].text());
        if (known) return *known;
    }
    guess("the block");
    return square_blocks() ? expressions({"16", "16"}) : expressions({"256"});
}

Proposal::Texts Proposal::grid(const Texts& block) {
    if (host_)
        if (auto known = values_.expressions(host_->grid)) return *known;
    guess("the grid");
    if (!kernel_->traits.reads_block_index) return expressions({"1"});
    add_size(width());
    add_size(height());
    const auto blocks = [&](const std::string& elements, std::size_t d) {
        const std::string threads = d < block.size() ? block[d].text() : "1";
        const bool number = threads.find_first_not_of("0123456789") == std::string::npos;
        if (number && threads.size() < 5)
            return fmt::format("({} + {}) / {}", elements, std::stoi(threads) - 1, threads);
        return fmt::format("({} + ({}) - 1) / ({})", elements, threads, threads);
    };
    if (square_blocks()) return expressions({blocks(width(), 0), blocks(height(), 1)});
    if (kernel_->traits.grid_dimensions > 1) return expressions({blocks(width(), 0), height()});
    return expressions({blocks(two() ? width() + " * " + height() : width(), 0)});
}

/// An element for each thread of a block, or what the host program says.
Expression Proposal::shared(const Texts& block) {
    if (host_ && !host_->shared.empty())
        if (auto known = values_.expression(host_->shared)) return *known;
    const std::size_t bytes = kernel_->traits.dynamic_shared;
    if (bytes == 0 || (host_ && host_->shared.empty())) return Expression("0");
    guess("the shared memory");
    std::string threads;
    for (const Expression& size : block) {
        const bool number = size.text().find_first_not_of("0123456789") == std::string::npos;
        threads += (number ? size.text() : "(" + size.text() + ")") + " * ";
    }
    return Expression(threads + std::to_string(bytes));
}

ProposedLaunches Proposal::made(const std::set<std::string>& device_words) {
    reduce(device_words);
    made_.faults.insert(made_.faults.end(), program_.faults.begin(), program_.faults.end());
    if (program_.streams.size() > 1)
        made_.remarks.push_back(
            "streams: the launches run one after the other here, so that an order that is missing "
            "between two streams is not found. `warpscope --check race -- PROGRAM` runs the "
            "program "
            "with its streams");
    return std::move(made_);
}

}  // namespace warpscope::experiments
