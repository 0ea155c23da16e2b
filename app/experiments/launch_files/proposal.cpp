#include "experiments/launch_files/proposal.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace warpscope::experiments {
namespace {

using compiler::KernelParameter;
using compiler::Type;

/// Elements of a buffer, in one dimension and in each of two.
constexpr std::int64_t line = 4096, side = 64;
/// Numbers of the host program above these become smaller: in one dimension and in each of two.
constexpr std::int64_t long_line = 4096, long_side = 512;

bool is_integer(const Type& type) {
    return type.bytes > 1 &&
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

void Proposal::guess(const std::string& what) {
    if (std::ranges::find(guesses_, what) == guesses_.end()) guesses_.push_back(what);
}

void Proposal::add_launch(const ProposedKernel& launch) {
    kernel_ = launch.kernel;
    host_ = launch.host;
    sizes_.clear();
    arguments_.clear();
    guesses_.clear();
    const auto& parameters = kernel_->parameters;
    for (const KernelParameter& parameter : parameters)
        for (const Type* type = parameter.type.get(); type; type = type->target.get())
            if (type->bytes > 0) values_.has_type(type->name, type->bytes);
    name_sizes();
    for (std::size_t p = 0; p < parameters.size(); ++p)
        if (is_pointer(parameters[p])) add_buffer(p);
    for (std::size_t p = 0; p < parameters.size(); ++p) {
        const Type::Kind kind = parameters[p].type->kind;
        if (kind != Type::Kind::pointer && kind != Type::Kind::structure &&
            !is_integer(*parameters[p].type))
            add_number(p);
    }
    for (const KernelParameter& parameter : parameters)
        if (parameter.type->kind == Type::Kind::structure)
            arguments_.emplace_back(parameter.name, members(parameter.name, *parameter.type));
    LaunchSpec spec{.kernel = kernel_->name, .grid = {}, .block = block(), .arguments = arguments_};
    spec.grid = grid(spec.block);
    spec.shared = shared(spec.block);
    file().launches.push_back(std::move(spec));
    made_.guesses.push_back(std::move(guesses_));
}

std::optional<std::string> Proposal::host_text(std::size_t parameter) const {
    if (!host_ || parameter >= host_->arguments.size()) return std::nullopt;
    return host_->arguments[parameter];
}

/// Gives integers their values, and names those that are sizes of buffers. A name that has a
/// meaning in the fills of buffers is not that of a size. Nor is an integer that the host program
/// computes from its constants, where there are others.
void Proposal::name_sizes() {
    static const std::set<std::string> indices{"i", "x", "y", "z", "lane", "frame"};
    std::vector<std::size_t> integers;
    for (std::size_t p = 0; p < kernel_->parameters.size(); ++p) {
        const KernelParameter& parameter = kernel_->parameters[p];
        if (!is_integer(*parameter.type) || indices.contains(parameter.name)) continue;
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
    // Buffers without a known size have `n` elements.
    const bool has_buffers = std::ranges::any_of(kernel_->parameters, [](const auto& parameter) {
        return parameter.type->kind == Type::Kind::structure || is_pointer(parameter);
    });
    if (!host_ || (integers.empty() && has_buffers)) {
        const bool needed = !host_ || std::ranges::any_of(host_->arguments, [&](const auto& text) {
            const HostArray* const array = find_array(program_, place_of(program_, text).array);
            return !array || array->bytes.empty();
        });
        if (needed && !find_scalar(sizes_[0])) add_scalar(sizes_[0], two() ? side : line);
    }
}

/// The scalar of a number: one whose name has a meaning in expressions gets another.
std::string Proposal::own_name(const std::string& name) {
    if (name == "time" || name == "frame") return name;
    try {
        check_scalar_name(name);
        if (!file().find_buffer(name)) return name;
    } catch (const LaunchError&) {
        // It gets another name.
    }
    return "value_of_" + name;
}

const std::variant<Number, Expression>* Proposal::find_scalar(const std::string& name) const {
    const auto found = std::ranges::find_if(
        file().scalars, [&](const auto& scalar) { return scalar.first == name; });
    return found == file().scalars.end() ? nullptr : &found->second;
}

/// Leaves out a name that has a value already, such as `time`.
void Proposal::add_scalar(const std::string& name, std::variant<Number, Expression> value) {
    if (name == "time" || name == "frame" || find_scalar(name)) return;
    file().scalars.emplace_back(name, std::move(value));
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
    if (const auto text = host_text(p)) return add_number(parameter, *text);
    if (find_scalar(parameter.name)) return;
    add_guess(parameter.name, *parameter.type);
}

void Proposal::add_guess(const std::string& name, const Type& type) {
    static const std::set<std::string> indices{"i", "x", "y", "z", "lane", "frame"};
    const std::string own = own_name(name);
    if (own != name) arguments_.emplace_back(name, ArgumentSpec{.text = own});
    if (name != "time" && name != "frame") guess(own);
    if (type.kind == Type::Kind::floating) return add_scalar(own, 1.0);
    const bool is_size = is_integer(type) && own == name && !indices.contains(name);
    add_scalar(own, is_size ? two() ? side : line : 1);
}

/// A number of the host program. One that stands behind a name there becomes a scalar, on which
/// other values may depend; one that is computed is a scalar too, or an argument where another
/// launch has given the scalar of its name another value.
void Proposal::add_number(const KernelParameter& parameter, const std::string& text) {
    const std::string last = values_.last_name(text);
    const auto value = values_.expression(text);
    const bool is_number = value && value->names().empty();
    if (!last.empty() && (is_number || !value)) return add_leaf(parameter, text);
    const std::string own = own_name(parameter.name);
    if (!value) {
        if (!find_scalar(own)) return add_guess(parameter.name, *parameter.type);
        guess(own);
    } else if (value->text() != own) {
        const auto* const known = find_scalar(own);
        const bool is_same = known && std::holds_alternative<Number>(*known) && is_number &&
                             std::get<Number>(*known) == value->value(Names());
        if (known && !is_same) {
            arguments_.emplace_back(parameter.name, ArgumentSpec{.text = value->text()});
            return;
        }
        if (is_number)
            add_scalar(own, value->value(Names()));
        else
            add_scalar(own, *value);
    }
    if (own != parameter.name) arguments_.emplace_back(parameter.name, ArgumentSpec{.text = own});
}

void Proposal::add_leaf(const KernelParameter& parameter, const std::string& text) {
    const auto number = values_.number(text);
    std::string own = own_name(parameter.name);
    if (const auto* const known = find_scalar(own)) {
        const auto* const is = std::get_if<Number>(known);
        if (!number || !is || *is != *number) own = "value_of_" + values_.last_name(text);
        own.erase(std::remove(own.begin(), own.end(), '$'), own.end());
    }
    if (!number) {
        guess(own);
        const bool real = parameter.type->kind == Type::Kind::floating;
        add_scalar(own, real ? Number(1.0) : Number(two() ? side : line));
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
        const auto next = program_.values.find(name);
        if (next == program_.values.end()) break;
        name = next->second;
    }
    if (own != parameter.name) arguments_.emplace_back(parameter.name, ArgumentSpec{.text = own});
}

Proposal::Texts Proposal::block() {
    if (host_) {
        if (auto known = values_.expressions(host_->block)) return *known;
    }
    guess("the block");
    return square_blocks() ? expressions({"16", "16"}) : expressions({"256"});
}

Proposal::Texts Proposal::grid(const Texts& block) {
    if (host_)
        if (auto known = values_.expressions(host_->grid)) return *known;
    guess("the grid");
    if (!kernel_->traits.reads_block_index) return expressions({"1"});
    if (!find_scalar(width())) add_scalar(width(), two() ? side : line);
    if (!find_scalar(height())) add_scalar(height(), two() ? side : line);
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

void Proposal::add(const std::string& name, const Type& type) {
    if (type.kind == Type::Kind::pointer)
        return add_buffer(name, type,
                          {.reads = type.target_is_const, .writes = !type.target_is_const});
    if (type.kind == Type::Kind::structure || is_integer(type)) return;
    add_guess(name, type);
}

ArgumentSpec Proposal::members(const std::string& name, const Type& type) {
    ArgumentSpec argument;
    for (const compiler::Member& member : type.members) {
        // A union gets one of its members.
        if (member.offset == 0 && &member != type.members.data()) break;
        const std::string own = name + "_" + member.name;
        if (member.type->kind == Type::Kind::structure) {
            argument.members.emplace_back(member.name, members(own, *member.type));
            continue;
        }
        if (is_integer(*member.type)) {
            add_scalar(own, two() ? side : line);
            guess(own);
        } else {
            add(own, *member.type);
        }
        argument.members.emplace_back(member.name, ArgumentSpec{.text = own});
    }
    return argument;
}

ProposedLaunches Proposal::made(const std::set<std::string>& device_words) {
    reduce(device_words);
    return std::move(made_);
}

/// Whether all threads and buffers above the limit depend on one of these scalars.
bool Proposal::is_reducible(const std::set<std::string>& scalars) const {
    const std::vector<std::string> names(scalars.begin(), scalars.end());
    const Names known = numbers();
    const auto is_large = [&](const Texts& sizes) {
        double product = 1;
        for (const Expression& size : sizes) product *= real(size.value(known));
        const bool depends = std::ranges::any_of(
            sizes, [&](const Expression& size) { return depends_on(file(), size, names); });
        return product > double(long_line) && !depends;
    };
    try {
        for (const BufferSpec& buffer : file().buffers)
            if (is_large(buffer.shape)) return false;
        for (const LaunchSpec& launch : file().launches) {
            Texts threads = launch.grid;
            threads.insert(threads.end(), launch.block.begin(), launch.block.end());
            if (is_large(threads)) return false;
        }
    } catch (const LaunchError&) {
        return false;
    }
    return true;
}

void Proposal::reduce(const std::set<std::string>& device_words) {
    const bool squares = std::ranges::any_of(
        file().launches, [](const LaunchSpec& launch) { return launch.block.size() > 1; });
    const std::int64_t limit = squares ? long_side : long_line;
    std::set<std::string> large;
    for (const auto& [name, value] : file().scalars) {
        const auto* const number = std::get_if<Number>(&value);
        const auto* const integer = number ? std::get_if<std::int64_t>(number) : nullptr;
        const auto origin = origins_.find(name);
        if (!integer || *integer <= limit || origin == origins_.end()) continue;
        const bool on_device = std::ranges::any_of(origin->second, [&](const std::string& name) {
            const std::string word = name.substr(0, name.find('$'));
            return program_.of_file.contains(name) && device_words.contains(word);
        });
        if (!on_device) large.insert(name);
    }
    if (large.empty() || !is_reducible(large)) return;
    std::int64_t step = limit / 4;  // a multiple of most blocks
    const Names known = numbers();
    for (const LaunchSpec& launch : file().launches)
        if (const std::int64_t block = std::int64_t(real(launch.block[0].value(known)));
            block > 0 && step % block != 0)
            step = std::min(limit, std::lcm(block, std::int64_t(32)));
    for (auto& [name, value] : file().scalars) {
        if (!large.contains(name)) continue;
        const std::int64_t was = std::get<std::int64_t>(std::get<Number>(value));
        const std::int64_t whole = limit / step * step;
        const std::int64_t smaller = was % step == 0 ? whole : whole - step + was % step;
        value = Number(smaller);
        made_.reduced.push_back(
            fmt::format("{} is {}, the host program has {}", name, smaller, was));
    }
}

}  // namespace warpscope::experiments
