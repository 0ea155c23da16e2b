#include "experiments/launch_files/propose_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "experiments/launch_files/host_values.h"

namespace warpscope::experiments {
namespace {

using compiler::KernelParameter;
using compiler::MemoryUse;
using compiler::Type;

/// Elements of a buffer, in one dimension and in each of two.
constexpr std::int64_t line = 4096, side = 64;
/// A larger number of the host program is not taken over: it may be a size, and the first picture
/// should come soon.
constexpr double largest_number = 4096;

bool is_integer(const Type& type) {
    return type.bytes > 1 &&
           (type.kind == Type::Kind::signed_integer || type.kind == Type::Kind::unsigned_integer);
}

std::vector<Expression> expressions(std::initializer_list<std::string> texts) {
    std::vector<Expression> made;
    for (const std::string& text : texts) made.emplace_back(text);
    return made;
}

class Proposal {
  public:
    Proposal(LaunchFile file, const compiler::Signature& kernel)
        : file_(std::move(file)), kernel_(kernel), first_scalar_(file_.scalars.size()) {
        if (kernel.host) host_.emplace(*kernel.host);
    }

    LaunchFile made() {
        name_sizes();
        for (std::size_t p = 0; p < kernel_.parameters.size(); ++p) {
            const KernelParameter& parameter = kernel_.parameters[p];
            if (parameter.type->kind == Type::Kind::pointer)
                add_buffer(parameter.name, *parameter.type, use_of(p));
            else
                add(parameter.name, *parameter.type);
        }
        for (const KernelParameter& parameter : kernel_.parameters)
            if (parameter.type->kind == Type::Kind::structure)
                arguments_.emplace_back(parameter.name, members(parameter.name, *parameter.type));
        follow_host();
        LaunchSpec launch{
            .kernel = kernel_.name, .grid = {}, .block = block(), .arguments = arguments_};
        launch.grid = grid(launch.block);
        launch.shared = shared(launch.block);
        file_.launches.push_back(std::move(launch));
        return std::move(file_);
    }

    void add_variable(const compiler::ModuleVariable& variable) {
        if (file_.find_buffer(variable.name)) return;
        BufferSpec buffer{.name = variable.name, .type = {}, .shape = {}};
        const Type* type = variable.type.get();
        for (; type && type->kind == Type::Kind::array; type = type->target.get())
            buffer.shape.push_back(Expression(std::to_string(type->count)));
        if (!type || buffer.shape.size() > 4) return;
        if (buffer.shape.empty()) buffer.shape = expressions({"1"});
        buffer.fill = numbers_of(*type);
        file_.buffers.push_back(std::move(buffer));
    }

  private:
    static Fill numbers_of(const Type& type) {
        if (type.kind == Type::Kind::floating) return RandomFill{};
        return Expression("i % 100");
    }

    bool square_blocks() const { return kernel_.traits.block_dimensions > 1; }
    /// The buffers have rows.
    bool two() const {
        return sizes_.size() >= 2 || square_blocks() || kernel_.traits.grid_dimensions > 1;
    }
    const std::string& width() const { return sizes_[0]; }
    const std::string& height() const { return sizes_[sizes_.size() > 1 ? 1 : 0]; }

    /// A name that has a meaning in expressions, such as `iteration`, is not that of a size. Nor is
    /// an integer that the host program computes from its constants, where there are others.
    void name_sizes() {
        std::vector<std::size_t> integers;
        for (std::size_t p = 0; p < kernel_.parameters.size(); ++p) {
            const KernelParameter& parameter = kernel_.parameters[p];
            if (!is_integer(*parameter.type) || parameter.name == "frame") continue;
            const std::string own = own_name(parameter.name);
            if (host_) host_->is_scalar(p, own);
            if (own == parameter.name)
                integers.push_back(p);
            else
                add_scalar(own, std::int64_t(1));
        }
        const auto is_computed = [&](std::size_t p) { return host_ && host_->argument(p); };
        const bool all = std::ranges::all_of(integers, is_computed);
        for (const std::size_t p : integers)
            if (all || !is_computed(p)) sizes_.push_back(kernel_.parameters[p].name);
        if (sizes_.empty()) sizes_.push_back("n");
        for (const std::size_t p : integers)
            add_scalar(kernel_.parameters[p].name, two() ? side : line);
        add_scalar(sizes_[0], two() ? side : line);
    }

    /// The scalar of a number: one whose name has a meaning in expressions gets another.
    std::string own_name(const std::string& name) {
        if (name == "time" || name == "frame") return name;
        try {
            check_scalar_name(name);
            return name;
        } catch (const LaunchError&) {
            const std::string own = "value_of_" + name;
            arguments_.emplace_back(name, ArgumentSpec{.text = own});
            return own;
        }
    }

    /// Leaves out a name that has a value already, such as `time`.
    void add_scalar(const std::string& name, const Number& value) {
        const bool known = name == "time" || name == "frame" || file_.find_buffer(name) ||
                           std::ranges::any_of(file_.scalars, [&](const auto& scalar) {
                               return scalar.first == name;
                           });
        if (!known) file_.scalars.emplace_back(name, value);
    }

    /// Gives the scalars of this launch the values that the host program gives them, where it says
    /// so: numbers first, since an expression may use only scalars before it.
    void follow_host() {
        if (!host_) return;
        for (const bool numbers : {true, false})
            for (std::size_t p = 0; p < kernel_.parameters.size(); ++p)
                if (const auto value = host_->argument(p);
                    value && value->names().empty() == numbers)
                    set_scalar(scalar_of(kernel_.parameters[p].name), *value);
    }

    std::string scalar_of(const std::string& parameter) const {
        for (const auto& [name, value] : arguments_)
            if (name == parameter && value.text) return *value.text;
        return parameter;
    }

    void set_scalar(const std::string& name, const Expression& value) {
        const auto named = [&](const std::string& wanted) {
            return std::find_if(file_.scalars.begin() + std::ptrdiff_t(first_scalar_),
                                file_.scalars.end(),
                                [&](const auto& scalar) { return scalar.first == wanted; });
        };
        const auto found = named(name);
        if (found == file_.scalars.end()) return;
        if (value.names().empty()) {
            const Number number = value.value(Names());
            if (std::abs(real(number)) <= largest_number) found->second = number;
            return;
        }
        const auto is_number = [&](const std::string& used) {
            const auto scalar = named(used);
            return used != name && scalar != file_.scalars.end() &&
                   std::holds_alternative<Number>(scalar->second);
        };
        if (used_.contains(name) || !std::ranges::all_of(value.names(), is_number)) return;
        used_.insert(value.names().begin(), value.names().end());
        file_.scalars.erase(found);
        file_.scalars.emplace_back(name, value);
    }

    std::vector<Expression> block() const {
        if (host_)
            if (auto known = host_->expressions(kernel_.host->block)) return *known;
        return square_blocks() ? expressions({"16", "16"}) : expressions({"256"});
    }

    std::vector<Expression> grid(const std::vector<Expression>& block) const {
        if (host_)
            if (auto known = host_->expressions(kernel_.host->grid)) return *known;
        const auto blocks = [&](const std::string& elements, std::size_t d) {
            const std::string threads = d < block.size() ? block[d].text() : "1";
            const bool number = threads.find_first_not_of("0123456789") == std::string::npos;
            if (number && threads.size() < 5)
                return fmt::format("({} + {}) / {}", elements, std::stoi(threads) - 1, threads);
            return fmt::format("({} + ({}) - 1) / ({})", elements, threads, threads);
        };
        if (square_blocks()) return expressions({blocks(width(), 0), blocks(height(), 1)});
        if (kernel_.traits.grid_dimensions > 1) return expressions({blocks(width(), 0), height()});
        return expressions({blocks(two() ? width() + " * " + height() : width(), 0)});
    }

    /// An element for each thread of a block, or what the host program says.
    Expression shared(const std::vector<Expression>& block) const {
        if (host_ && !kernel_.host->shared.empty())
            if (auto known = host_->expression(kernel_.host->shared)) return *known;
        const std::size_t bytes = kernel_.traits.dynamic_shared;
        if (bytes == 0) return Expression("0");
        std::string threads;
        for (const Expression& size : block) {
            const bool number = size.text().find_first_not_of("0123456789") == std::string::npos;
            threads += (number ? size.text() : "(" + size.text() + ")") + " * ";
        }
        return Expression(threads + std::to_string(bytes));
    }

    void add(const std::string& name, const Type& type) {
        if (type.kind == Type::Kind::pointer) return add_buffer(name, type, use_by_const(type));
        if (type.kind == Type::Kind::structure || is_integer(type)) return;
        if (type.kind == Type::Kind::floating)
            add_scalar(own_name(name), 1.0);
        else
            add_scalar(own_name(name), std::int64_t(1));
    }

    static MemoryUse use_by_const(const Type& type) {
        return {.reads = type.target_is_const, .writes = !type.target_is_const};
    }

    MemoryUse use_of(std::size_t parameter) const {
        const Type& type = *kernel_.parameters[parameter].type;
        const auto& known = kernel_.traits.memory;
        return known.empty() ? use_by_const(type) : known[parameter];
    }

    /// Whether the kernel changes the numbers that it reads.
    bool is_in_place() const {
        for (std::size_t p = 0; p < kernel_.parameters.size(); ++p)
            if (kernel_.parameters[p].type->kind == Type::Kind::pointer && use_of(p).reads &&
                !use_of(p).writes)
                return false;
        return true;
    }

    /// What is read gets numbers; what is read and written gets them where all numbers are, and is
    /// a sum that begins with 0 otherwise. The last buffer that is written is shown.
    void add_buffer(const std::string& name, const Type& type, const MemoryUse& use) {
        if (file_.find_buffer(name)) return;
        BufferSpec buffer{.name = name, .type = {}, .shape = {}};
        buffer.shape = two() ? expressions({height(), width()}) : expressions({width()});
        buffer.fill = type.target ? numbers_of(*type.target) : numbers_of({});
        if (!use.reads || (use.writes && !is_in_place())) buffer.fill = Expression("0");
        if (use.writes) file_.show = name;
        if (!type.target || type.target->bytes == 0) buffer.type = ElementType{};
        file_.buffers.push_back(std::move(buffer));
    }

    ArgumentSpec members(const std::string& name, const Type& type) {
        ArgumentSpec argument;
        for (const compiler::Member& member : type.members) {
            // A union gets one of its members.
            if (member.offset == 0 && &member != type.members.data()) break;
            const std::string own = name + "_" + member.name;
            if (member.type->kind == Type::Kind::structure) {
                argument.members.emplace_back(member.name, members(own, *member.type));
                continue;
            }
            if (is_integer(*member.type))
                add_scalar(own, two() ? side : line);
            else
                add(own, *member.type);
            argument.members.emplace_back(member.name, ArgumentSpec{.text = own});
        }
        return argument;
    }

    LaunchFile file_;
    const compiler::Signature& kernel_;
    std::size_t first_scalar_;        ///< in file_, of this launch
    std::set<std::string> used_;      ///< by the expressions of other scalars
    std::optional<HostValues> host_;  ///< at the kernel's launch in the host program
    std::vector<std::string> sizes_;  ///< the scalars that give the shape of the buffers
    std::vector<std::pair<std::string, ArgumentSpec>> arguments_;
};

}  // namespace

LaunchFile file_without_launches(const LaunchFile& file) {
    LaunchFile made;
    made.source = file.source;
    made.include = file.include;
    made.file = file.file;
    made.saved = false;
    made.built_in = file.built_in;
    return made;
}

LaunchFile propose_launch(LaunchFile file, const compiler::Signature& kernel,
                          const std::vector<compiler::ModuleVariable>& variables) {
    Proposal proposal(std::move(file), kernel);
    for (const compiler::ModuleVariable& variable : variables)
        if (variable.is_for_host) proposal.add_variable(variable);
    return proposal.made();
}

LaunchFile replace_launch(LaunchFile file, std::size_t index, const compiler::Signature& kernel,
                          std::span<const std::string> variables) {
    if (file.launches.size() > 1) {
        file = propose_launch(std::move(file), kernel);
        file.launches[index] = std::move(file.launches.back());
        file.launches.pop_back();
        return file;
    }
    LaunchFile anew = file_without_launches(file);
    for (BufferSpec& buffer : file.buffers)
        if (std::ranges::find(variables, buffer.name) != variables.end())
            anew.buffers.push_back(std::move(buffer));
    return propose_launch(std::move(anew), kernel);
}

}  // namespace warpscope::experiments
