#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iterator>
#include <memory>
#include <random>
#include <vector>

#include "fuzz.h"
#include "support/long_tests.h"

// Runs a fuzz target where the compiler has no libFuzzer. Its arguments are libFuzzer's:
//   TARGET [-runs=N] [-seed=N] FILE_OR_FOLDER...
// It runs every file, and then N mutations of these files, which depend on nothing but the seed. An
// input that ends the process stays in the file TARGET.input of the current folder.
namespace {

namespace fs = std::filesystem;

using Bytes = std::string;

constexpr std::size_t most_bytes = 8192;
/// Between the words of a text.
constexpr const char* separators = " \t\n,;:[]{}()\"=";

std::vector<Bytes> read_corpus(const std::vector<fs::path>& places) {
    std::vector<fs::path> files;
    for (const fs::path& place : places) {
        if (!fs::is_directory(place)) files.push_back(place);
        if (!fs::is_directory(place)) continue;
        for (const auto& entry : fs::directory_iterator(place)) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::vector<Bytes> corpus;
    for (const fs::path& file : files) {
        std::ifstream in(file, std::ios::binary);
        warpscope::tests::require(in.good(), "the files of the corpus can be read");
        corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    return corpus;
}

/// The file that holds the current input, also after the end of the process.
class LastInput {
  public:
    explicit LastInput(fs::path file)
        : file_(std::move(file)),
          fd_(::open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
        warpscope::tests::require(fd_ >= 0, "the current folder can be written");
    }
    void keep(const Bytes& input) {
        const bool written = ::pwrite(fd_, input.data(), input.size(), 0) == ssize_t(input.size());
        warpscope::tests::require(written && ::ftruncate(fd_, off_t(input.size())) == 0,
                                  "the input can be kept in a file");
    }
    void remove() {
        ::close(fd_);
        fs::remove(file_);
    }

  private:
    fs::path file_;
    int fd_;
};

/// Changes inputs at random places.
class Mutator {
  public:
    Mutator(std::uint64_t seed, const std::vector<Bytes>& corpus)
        : random_(seed), corpus_(corpus) {}

    Bytes next() {
        Bytes input = any_of_corpus();
        do change(input);
        while (below(2) == 0);
        if (input.size() > most_bytes) input.resize(most_bytes);
        return input;
    }

  private:
    std::size_t below(std::size_t count) { return std::size_t(random_() % count); }
    const Bytes& any_of_corpus() { return corpus_[below(corpus_.size())]; }

    /// A part of an input of the corpus: what is valid elsewhere.
    Bytes piece(std::size_t most) {
        const Bytes& other = any_of_corpus();
        return other.empty() ? Bytes() : other.substr(below(other.size()), 1 + below(most));
    }
    /// A line of the corpus, with its newline.
    Bytes line() {
        const Bytes& other = any_of_corpus();
        const std::size_t at = other.find('\n', below(other.size() + 1));
        if (at == Bytes::npos) return piece(16);
        return other.substr(at + 1, other.find('\n', at + 1) - at);
    }
    Bytes number() {
        static constexpr const char* texts[] = {
            "0",          "1",   "-1",    "32",  "255", "65536",      "2147483647",
            "4294967296", "1e9", "1e308", "nan", "inf", "0x7fffffff", "18446744073709551615"};
        return texts[below(std::size(texts))];
    }
    Bytes binary() {
        static constexpr std::uint64_t values[] = {0,     1,        127,        128,   255,
                                                   65535, 1U << 31, 0xFFFFFFFF, ~0ULL, 1ULL << 62};
        const std::uint64_t value = values[below(std::size(values))];
        Bytes bytes(sizeof value, '\0');
        std::memcpy(bytes.data(), &value, sizeof value);
        bytes.resize(std::size_t(1) << below(4));
        return bytes;
    }

    void change(Bytes& input) {
        const std::size_t at = below(input.size() + 1);
        const std::size_t rest = input.size() - at;
        switch (below(14)) {
            case 0:
                if (rest > 0) input[at] = char(input[at] ^ (1 << below(8)));
                return;
            case 1:
                if (rest > 0) input[at] = char(below(256));
                return;
            case 2:
                input.erase(at,
                            1 + below(std::max<std::size_t>(1, std::min<std::size_t>(rest, 40))));
                return;
            case 3:
                input.insert(at, piece(40));
                return;
            case 4:
                replace_from(input, at, piece(16));
                return;
            case 5:
                input.insert(line_begin(input, at), line());
                return;
            case 6: {
                const std::size_t begin = line_begin(input, at);
                input.erase(begin, input.find('\n', begin) - begin + 1);
                return;
            }
            case 7:
                replace_number(input, at);
                return;
            case 8:
                replace_from(input, at, binary());
                return;
            case 9:
                input.insert(at, Bytes(1 + below(32), char(below(256))));
                return;
            default:
                replace_word(input, at);
        }
    }
    static void replace_from(Bytes& input, std::size_t at, const Bytes& by) {
        input.replace(at, std::min(by.size(), input.size() - at), by);
    }
    static std::size_t line_begin(const Bytes& input, std::size_t at) {
        return at == 0 ? 0 : input.rfind('\n', at - 1) + 1;  // npos + 1 is 0
    }
    /// The letters, digits, dots and so on from `at`.
    static std::size_t word_end(const Bytes& input, std::size_t at) {
        const auto in_word = [](unsigned char c) {
            return std::isalnum(c) != 0 || std::string_view("_.%$-").find(char(c)) != Bytes::npos;
        };
        while (at < input.size() && in_word(static_cast<unsigned char>(input[at]))) ++at;
        return at;
    }
    void replace_word(Bytes& input, std::size_t at) {
        const Bytes& other = any_of_corpus();
        const std::size_t begin = other.find_first_not_of(separators, below(other.size() + 1));
        const std::size_t place = input.find_first_not_of(separators, at);
        if (begin == Bytes::npos || place == Bytes::npos) return;
        input.replace(place, word_end(input, place) - place, other, begin,
                      word_end(other, begin) - begin);
    }
    void replace_number(Bytes& input, std::size_t at) {
        constexpr std::string_view digits = "0123456789";
        const std::size_t begin = input.find_first_of(digits, at);
        if (begin == Bytes::npos) return;
        const std::size_t end = std::min(input.find_first_not_of(digits, begin), input.size());
        input.replace(begin, end - begin, number());
    }

    std::mt19937_64 random_;
    const std::vector<Bytes>& corpus_;
};

/// In memory of exactly its size, so that AddressSanitizer sees a read behind its end.
void run(const Bytes& input, LastInput& last) {
    last.keep(input);
    const auto bytes = std::make_unique<std::uint8_t[]>(input.size());
    std::copy(input.begin(), input.end(), bytes.get());
    LLVMFuzzerTestOneInput(bytes.get(), input.size());
}

/// More memory than any input may need is std::bad_alloc, which no target catches. Sanitizers need
/// more, so builds with them have no limit.
void limit_memory() {
#ifdef WARPSCOPE_LIMIT_MEMORY
    const rlimit limit{std::size_t(2) << 30, std::size_t(2) << 30};
    ::setrlimit(RLIMIT_DATA, &limit);
#endif
}

}  // namespace

int main(int argc, char** argv) {
    std::size_t runs = 0;
    std::uint64_t seed = 1;
    std::vector<fs::path> places;
    for (const char* const argument : std::vector<const char*>(argv + 1, argv + argc)) {
        if (std::strncmp(argument, "-runs=", 6) == 0)
            runs = std::strtoull(argument + 6, nullptr, 10) *
                   (warpscope::tests::long_tests() ? 10 : 1);
        else if (std::strncmp(argument, "-seed=", 6) == 0)
            seed = std::strtoull(argument + 6, nullptr, 10);
        else
            places.emplace_back(argument);
    }
    limit_memory();
    std::vector<Bytes> corpus = read_corpus(places);
    LastInput last(fs::path(argv[0]).filename().string() + ".input");
    for (const Bytes& input : corpus) run(input, last);
    const std::size_t files = corpus.size();
    corpus.emplace_back();
    Mutator mutator(seed, corpus);
    for (std::size_t i = 0; i < runs; ++i) run(mutator.next(), last);
    last.remove();
    std::printf("%zu files and %zu mutations run\n", files, runs);
    return 0;
}
