// nvcc links the CUDA runtime into a program, or into a library such as a module of Python, by
// default. Before the constructors of each, every function of the runtime gets a jump to our
// function with its name, so that NVIDIA's runtime never runs. The names are in the symbol table of
// the file; a stripped one has none.
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "programs/api/api.h"
#include "programs/runtime_api/runtime.h"

// The linker defines it: the beginning of this library.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start;

namespace warpscope::programs {

namespace {

/// The file of a program or library, mapped; empty if it cannot be read.
class ObjectFile {
  public:
    explicit ObjectFile(const char* name) {
        const int file = open(name, O_RDONLY | O_CLOEXEC);
        struct stat status {};
        if (file < 0) return;
        if (fstat(file, &status) == 0 && status.st_size > 0) {
            void* const at =
                mmap(nullptr, std::size_t(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
            if (at != MAP_FAILED)
                bytes_ = {static_cast<const char*>(at), std::size_t(status.st_size)};
        }
        close(file);
    }
    ~ObjectFile() {
        if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
    }
    ObjectFile(const ObjectFile&) = delete;
    ObjectFile& operator=(const ObjectFile&) = delete;

    std::span<const Elf64_Shdr> sections() const {
        if (bytes_.size() < sizeof(Elf64_Ehdr)) return {};
        const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(bytes_.data());
        const std::size_t end = header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr);
        if (!header.e_shoff || end > bytes_.size()) return {};
        return {reinterpret_cast<const Elf64_Shdr*>(bytes_.data() + header.e_shoff),
                header.e_shnum};
    }
    const char* at(std::size_t offset) const { return bytes_.data() + offset; }
    const Elf64_Shdr& names() const {
        return sections()[reinterpret_cast<const Elf64_Ehdr*>(bytes_.data())->e_shstrndx];
    }

  private:
    std::span<const char> bytes_;
};

constexpr std::size_t jump_bytes = 13;

void put_jump(std::uint64_t at, const void* target) {
    constexpr std::uint64_t page = 4096;
    unsigned char code[jump_bytes] = {0x49, 0xBB};  // mov $target, %r11
    std::memcpy(code + 2, &target, 8);
    code[10] = 0x41, code[11] = 0xFF, code[12] = 0xE3;  // jmp *%r11
    const std::uint64_t first = at & ~(page - 1), last = (at + jump_bytes - 1) & ~(page - 1);
    void* const pages = reinterpret_cast<void*>(first);
    const std::size_t bytes = last - first + page;
    if (mprotect(pages, bytes, PROT_READ | PROT_WRITE | PROT_EXEC)) return;
    std::memcpy(reinterpret_cast<void*>(at), code, jump_bytes);
    mprotect(pages, bytes, PROT_READ | PROT_EXEC);
}

bool is_of_runtime(std::string_view name) {
    // nvcc -rdc=true writes these into the program; they call __cudaRegisterFatBinary().
    if (name.starts_with("__cudaRegisterLinkedBinary")) return false;
    return (name.starts_with("cuda") && name.size() > 4 && std::isupper(name[4])) ||
           name.starts_with("__cudaRegister") || name == "__cudaUnregisterFatBinary" ||
           name.starts_with("__cudaLaunchKernel") || name == "__cudaInitModule" ||
           name == "__cudaGetKernel" || name == "__cudaPushCallConfiguration" ||
           name == "__cudaPopCallConfiguration";
}

const void* replacement(std::string_view name) {
    for (const std::string_view suffix : {"_ptsz", "_ptds"})
        if (name.ends_with(suffix))
            if (const void* known = find_api_function(name.substr(0, name.size() - suffix.size())))
                return with_per_thread_stream(known);
    const void* const known = find_api_function(name);
    return known ? known : missing_function(name);
}

/// A function of a file.
struct FileFunction {
    std::string_view name;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
};

std::vector<FileFunction> functions_of(const ObjectFile& file, const Elf64_Shdr& table) {
    std::vector<FileFunction> functions;
    const auto* const symbols = reinterpret_cast<const Elf64_Sym*>(file.at(table.sh_offset));
    const char* const names = file.at(file.sections()[table.sh_link].sh_offset);
    for (std::size_t i = 0; i < table.sh_size / sizeof *symbols; ++i)
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && symbols[i].st_shndx)
            functions.push_back(
                {names + symbols[i].st_name, symbols[i].st_value, symbols[i].st_size});
    return functions;
}

/// The version of the runtime in the program, by functions that only some versions have.
int version_of(const std::vector<FileFunction>& functions) {
    int version = 11000;
    for (const FileFunction& function : functions) {
        if (function.name == "cudaGetDeviceProperties_v2") return 12000;
        if (function.name == "__cudaGetKernel") version = 13000;
    }
    return version;
}

bool has_section(const ObjectFile& file, std::string_view name) {
    for (const Elf64_Shdr& section : file.sections())
        if (file.at(file.names().sh_offset + section.sh_name) == name) return true;
    return false;
}

bool is_this_library(std::uint64_t bias) {
    return bias == reinterpret_cast<std::uint64_t>(&__ehdr_start);
}

/// A program or library that was loaded. The program has no name.
struct LoadedObject {
    std::string name;
    std::uint64_t bias = 0;  ///< addresses in memory minus addresses in the file
    auto operator<=>(const LoadedObject&) const = default;
};

std::set<LoadedObject> loaded_objects() {
    std::set<LoadedObject> all;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* to) {
            static_cast<std::set<LoadedObject>*>(to)->insert({info->dlpi_name, info->dlpi_addr});
            return 0;
        },
        &all);
    return all;
}

bool links_runtime_dynamically() {
    return std::ranges::any_of(loaded_objects(), [](const LoadedObject& object) {
        return object.name.find("libcudart.so") != std::string::npos;
    });
}

/// The version of "libcudart.so.11.0": 11000. 0 for the program and other libraries.
int version_of_library(const std::string& name) {
    constexpr std::string_view runtime = "libcudart.so.";
    const std::size_t at = name.find(runtime);
    return at == name.npos ? 0 : std::atoi(name.c_str() + at + runtime.size()) * 1000;
}

void replace_static_runtime(const LoadedObject& object) {
    if (const int version = version_of_library(object.name)) set_runtime_version(version);
    const bool is_program = object.name.empty();
    const ObjectFile file(is_program ? "/proc/self/exe" : object.name.c_str());
    bool has_symbols = false;
    for (const Elf64_Shdr& section : file.sections()) {
        if (section.sh_type != SHT_SYMTAB) continue;
        has_symbols = true;
        const std::vector<FileFunction> functions = functions_of(file, section);
        const auto registers = [](const FileFunction& f) {
            return f.name == "__cudaRegisterFatBinary";
        };
        if (std::ranges::none_of(functions, registers)) return;
        set_runtime_version(version_of(functions));
        for (const FileFunction& function : functions)
            if (is_of_runtime(function.name) && function.bytes >= jump_bytes)
                put_jump(object.bias + function.address, replacement(function.name));
    }
    if (is_program && !has_symbols && has_section(file, ".nv_fatbin") &&
        !links_runtime_dynamically())
        std::fprintf(
            stderr,
            "warpscope: the program is stripped, so its CUDA runtime cannot be replaced: "
            "link it with -cudart shared (NVCC_APPEND_FLAGS=\"-cudart shared\"), or do not "
            "strip it\n");
}

void replace_in_new_objects() {
    static auto* const known = new std::set<LoadedObject>;
    std::set<LoadedObject> all = loaded_objects();
    for (const LoadedObject& object : all)
        if (!known->contains(object) && !is_this_library(object.bias))
            replace_static_runtime(object);
    *known = std::move(all);
}

/// The loader calls the function at r_brk when it has mapped libraries, before it calls their
/// constructors: it is there for debuggers, and does nothing.
void on_libraries() {
    if (_r_debug.r_state == r_debug::RT_CONSISTENT) replace_in_new_objects();
}

/// The constructors of this library come before those of all others (-z initfirst).
__attribute__((constructor)) void replace_static_runtimes() {
    replace_in_new_objects();
    constexpr std::uint64_t alignment_of_functions = 16;
    static_assert(jump_bytes <= alignment_of_functions);
    if (_r_debug.r_brk && _r_debug.r_brk % alignment_of_functions == 0)
        put_jump(_r_debug.r_brk, reinterpret_cast<const void*>(on_libraries));
}

}  // namespace
}  // namespace warpscope::programs
