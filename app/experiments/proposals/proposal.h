#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "experiments/host/host_values.h"
#include "experiments/proposals/propose_launch.h"

namespace warpscope::experiments {

/// Makes the launches of ProposedLaunches, one after the other.
class Proposal {
  public:
    /// `written`: arrays into which launches write that are not made here. `mixed`: arrays whose
    /// pointers have several types, which become buffers of bytes.
    Proposal(LaunchFile file, const HostProgram& program, std::set<std::string> written = {},
             std::set<std::string> mixed = {})
        : program_(program),
          values_(program),
          written_elsewhere_(std::move(written)),
          mixed_(std::move(mixed)),
          made_{std::move(file), {}, {}, {}, {}, {}} {
        values_.is_scalar("$i", "i");
    }

    void add_variable(const compiler::ModuleVariable& variable);
    /// The variable is a pointer to a function.
    void add_function(const compiler::ModuleVariable& variable) {
        functions_.insert(variable.name);
    }
    void add_launch(const ProposedKernel& launch);
    ProposedLaunches made(const std::set<std::string>& device_words);
    /// The arrays whose pointers have types of different sizes, or integers and real numbers.
    std::set<std::string> mixed() const;

  private:
    using Type = compiler::Type;
    using Texts = std::vector<Expression>;

    LaunchFile& file() { return made_.file; }
    const LaunchFile& file() const { return made_.file; }
    /// `of`: the scalar or the buffer that `what` is a part of, if it is of one.
    void guess(const std::string& what, const std::string& of = "");
    void repeat_guesses(const LaunchSpec& launch);
    void use_unknown(const std::set<std::string>& numbers, const compiler::MemoryUse& use);
    void use_numbers(const std::string& buffer, const compiler::MemoryUse& use);
    void pass_numbers();
    void find_bad_pointers();
    std::string fault_of(const HostBadPointer& bad) const;
    static std::string assumption_of(const HostBadPointer& bad);
    std::optional<Expression> written_elements(const HostPlace& place, std::size_t element) const;

    // Numbers
    void name_sizes();
    void add_number(std::size_t parameter);
    std::string number_text(const compiler::KernelParameter& parameter, const std::string& text);
    std::string leaf(const compiler::KernelParameter& parameter, const std::string& text);
    std::string guessed_number(const compiler::KernelParameter& parameter);
    void name_members(const std::string& name, const Type& type, const std::string& object);
    std::optional<std::string> object_of(std::size_t parameter) const;
    std::string own_name(const std::string& name);
    void add_scalar(const std::string& name, std::variant<Number, Expression> value);
    void add_size(const std::string& name) { add_scalar(name, guessed_size()); }
    Number guessed_size() const;
    const std::variant<Number, Expression>* find_scalar(const std::string& name) const;
    Names numbers() const;
    std::optional<std::string> host_text(std::size_t parameter) const;

    // Buffers
    void add_buffer(std::size_t parameter);
    ArgumentSpec pointer(const compiler::KernelParameter& parameter,
                         const std::optional<std::string>& text, const compiler::MemoryUse& use);
    void add_buffer(const std::string& name, const Type& type, const compiler::MemoryUse& use);
    std::string buffer_of(const HostPlace& place, const std::string& parameter, const Type& type,
                          const compiler::MemoryUse& use, const Texts& shape = {});
    std::optional<Expression> address_in(const HostPlace& place, const std::string& name,
                                         const Type& type);
    std::optional<Fill> words_of(const Type& type, const std::string& object, BufferSpec& buffer);
    bool add_words(const Type& type, std::size_t offset, const std::string& text,
                   std::map<std::size_t, std::string>& words);
    void add_texture(std::size_t parameter);
    bool add_host_texture(std::size_t parameter);
    Fill guessed_numbers(const BufferSpec& buffer, const Type& pointer,
                         const compiler::MemoryUse& use);
    Fill addresses_of_rows(const BufferSpec& buffer, const Type& element);
    static Fill numbers_of(const Type& type);
    static std::string kind_of(const Type* target);
    bool is_changed_by_others(const std::string& array, const std::string& key) const;
    std::string key_of(const std::string& array, const Type* target);
    std::string free_name(std::string name) const;
    bool is_empty(const Expression& elements) const;
    Texts shape_of(const Expression& elements) const;
    Texts guessed_shape(const std::string& buffer);
    Fill fill_of(const std::string& text, const Type& type, bool& known) const;
    compiler::MemoryUse use_of(std::size_t parameter) const;
    bool is_in_place() const;
    bool begins_with_0(const compiler::MemoryUse& use) const;

    ArgumentSpec members(const std::string& name, const Type& type,
                         const std::optional<std::string>& object);
    ArgumentSpec elements(const std::string& name, const Type& type,
                          const std::optional<std::string>& text);
    ArgumentSpec member(const std::string& name, const std::shared_ptr<const Type>& type,
                        const std::optional<std::string>& text);
    Texts block();
    void limit_guess(const std::string& scalar);
    Texts grid(const Texts& block);
    Expression shared(const Texts& block);
    void reduce(const std::set<std::string>& device_words);
    bool keep_overflows(const Names& before, const Names& now);
    bool is_reducible(const std::set<std::string>& scalars) const;

    bool square_blocks() const { return kernel_->traits.block_dimensions > 1; }
    /// The buffers have rows.
    bool two() const {
        return sizes_.size() >= 2 || square_blocks() || kernel_->traits.grid_dimensions > 1;
    }
    const std::string& width() const { return sizes_[0]; }
    const std::string& height() const { return sizes_[sizes_.size() > 1 ? 1 : 0]; }

    const HostProgram& program_;
    HostValues values_;
    std::set<std::string> written_elsewhere_, mixed_;
    std::set<std::string> overwritten_;  ///< numbers that a kernel before only writes
    ProposedLaunches made_;
    std::map<std::string, std::vector<Type>> views_;  ///< of arrays: what pointers point to
    std::map<std::string, std::string> buffers_;      ///< by array of the host program and its type
    std::map<std::string, std::set<std::string>> origins_;  ///< of scalars: names of the program
    std::set<std::string> written_;                         ///< buffers, by launches before
    std::map<std::string, std::set<std::string>> guessed_;  ///< by scalar or buffer
    /// By buffer: the guesses on which its numbers depend, its own or those of another buffer.
    std::map<std::string, std::set<std::string>> unknown_;
    /// By the name in the PTX of a variable of the module: the numbers that are not known.
    std::map<std::string, std::set<std::string>> unknown_variables_;

    std::map<std::string, const compiler::ModuleVariable*> variables_;  ///< by name
    std::set<std::string> functions_;   ///< variables of the module that are pointers to functions
    std::vector<bool> takes_any_grid_;  ///< by launch

    // The launch that is made:
    const compiler::Signature* kernel_ = nullptr;
    const HostLaunch* host_ = nullptr;
    std::vector<std::string> sizes_;  ///< the scalars that give the shape of the buffers
    std::vector<std::pair<std::string, ArgumentSpec>> arguments_;
    std::vector<std::string> guesses_;
    std::set<std::string> chosen_;                ///< numbers on which only results depend
    std::set<std::string> read_, changed_;        ///< buffers of the kernel
    compiler::MemoryUse members_use_;             ///< of all pointers in a structure
    std::map<std::string, std::string> members_;  ///< arguments of integers in structures
};

}  // namespace warpscope::experiments
