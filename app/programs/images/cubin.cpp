// Machine code that nvcc, NVRTC and ptxas make with -lineinfo or -G: an ELF file with the PTX that
// it was made of, in which the lines with .loc are empty, and with two tables of lines for the
// machine code. One has the lines of the PTX, the other one those of the source.
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include "programs/images/fat_binary.h"
#include "programs/images/line_table.h"

namespace warpscope::programs {

namespace {

using Bytes = std::span<const std::byte>;

class ElfFile {
  public:
    explicit ElfFile(Bytes bytes) : bytes_(bytes) {
        const auto header = read<Elf64_Ehdr>(0);
        if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG)) return;
        for (std::size_t i = 0; i < header->e_shnum; ++i)
            if (const auto section = read<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr)))
                sections_.push_back(*section);
        if (header->e_shstrndx < sections_.size()) names_ = contents(sections_[header->e_shstrndx]);
    }

    const Elf64_Shdr* find(std::string_view name) const {
        const auto has_name = [&](const Elf64_Shdr& section) {
            return section.sh_name < names_.size() &&
                   text_at(names_.subspan(section.sh_name)) == name;
        };
        const auto found = std::ranges::find_if(sections_, has_name);
        return found == sections_.end() ? nullptr : &*found;
    }
    Bytes contents(const Elf64_Shdr& section) const {
        if (section.sh_offset > bytes_.size() ||
            section.sh_size > bytes_.size() - section.sh_offset)
            return {};
        return bytes_.subspan(section.sh_offset, section.sh_size);
    }
    Bytes contents(std::string_view name) const {
        const Elf64_Shdr* const section = find(name);
        return section ? contents(*section) : Bytes();
    }

    /// The rows of a table of lines.
    std::vector<LineRow> lines(const std::string& name) const {
        std::map<std::uint64_t, std::uint32_t> sections;
        if (const Elf64_Shdr* const relocations = find(".rel" + name)) {
            if (relocations->sh_link >= sections_.size()) return {};
            const Bytes symbols = contents(sections_[relocations->sh_link]),
                        all = contents(*relocations);
            for (std::size_t at = 0; at + sizeof(Elf64_Rel) <= all.size();
                 at += sizeof(Elf64_Rel)) {
                Elf64_Rel relocation;
                std::memcpy(&relocation, &all[at], sizeof relocation);
                const std::size_t symbol = ELF64_R_SYM(relocation.r_info) * sizeof(Elf64_Sym);
                if (symbol + sizeof(Elf64_Sym) > symbols.size()) continue;
                Elf64_Sym found;
                std::memcpy(&found, &symbols[symbol], sizeof found);
                sections[relocation.r_offset] = found.st_shndx;
            }
        }
        return read_line_table(contents(name), sections);
    }

  private:
    template <class T>
    std::optional<T> read(std::uint64_t at) const {
        if (at > bytes_.size() || sizeof(T) > bytes_.size() - at) return {};
        T value;
        std::memcpy(&value, bytes_.data() + at, sizeof value);
        return value;
    }
    static std::string_view text_at(Bytes bytes) {
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return text.substr(0, text.find('\0'));
    }

    Bytes bytes_, names_;
    std::vector<Elf64_Shdr> sections_;
};

/// The row of the source for each line of the PTX of which there is machine code.
std::map<int, LineRow> source_lines(const ElfFile& file) {
    const auto place = [](const LineRow& row) { return std::pair(row.section, row.address); };
    std::vector<LineRow> rows = file.lines(".debug_line");
    std::ranges::stable_sort(rows, {}, place);
    std::map<int, LineRow> found;
    for (const LineRow& ptx : file.lines(".nv_debug_line_sass")) {
        const auto behind = std::ranges::upper_bound(rows, place(ptx), {}, place);
        if (behind == rows.begin()) continue;
        const LineRow& row = *std::prev(behind);
        if (row.section == ptx.section && row.line > 0) found.try_emplace(ptx.line, row);
    }
    return found;
}

/// Writes .loc into the empty lines of the functions. Such a line is that of the instructions
/// behind it, up to the next one.
std::string with_lines(const std::string& ptx, const std::map<int, LineRow>& sources) {
    std::string text;
    std::map<std::string, int> files;
    int line = 0, depth = 0, empty_line = 0;  // 0: none waits
    std::size_t empty_at = 0;                 // in `text`
    for (std::size_t at = 0; at < ptx.size();) {
        const std::size_t end = std::min(ptx.find('\n', at), ptx.size());
        const std::string_view now = std::string_view(ptx).substr(at, end - at);
        at = end + 1;
        ++line;
        depth += int(std::ranges::count(now, '{')) - int(std::ranges::count(now, '}'));
        if (now.empty() && depth > 0) {
            empty_line = line;
            empty_at = text.size();
        }
        const auto source = sources.find(line);
        if (empty_line && source != sources.end()) {
            const auto number = files.try_emplace(source->second.file, int(files.size()) + 1);
            text.insert(empty_at,
                        fmt::format(".loc {} {} 0", number.first->second, source->second.line));
            empty_line = 0;
        }
        text.append(now).push_back('\n');
    }
    for (const auto& [name, number] : files) text += fmt::format(".file {} \"{}\"\n", number, name);
    return text;
}

}  // namespace

std::string ptx_of_cubin(Bytes bytes) {
    const ElfFile file(bytes);
    const Bytes text = file.contents(".nv_debug_ptx_txt");  // a zero byte ends each line
    std::string ptx(reinterpret_cast<const char*>(text.data()), text.size());
    std::ranges::replace(ptx, '\0', '\n');
    return ptx.empty() ? ptx : with_lines(ptx, source_lines(file));
}

}  // namespace warpscope::programs
