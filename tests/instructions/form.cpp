#include "instructions/form.h"

#include <fmt/format.h>

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <random>
#include <sstream>

#include "emulator/launcher.h"
#include "instructions/bfloat_reference.h"
#include "instructions/edge_values.h"
#include "instructions/half_reference.h"
#include "support/long_tests.h"

namespace warpscope::tests {
namespace {

using Types = std::vector<std::string>;

constexpr std::uint64_t untouched = 23130;  // what frame.ptx leaves in %d
constexpr unsigned blocks = 64;

std::vector<std::string> words(std::string_view text) {
    std::istringstream stream{std::string(text)};
    std::vector<std::string> found;
    for (std::string word; stream >> word;) found.push_back(word);
    return found;
}

void replace(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
        text.replace(at, from.size(), to);
}

bool is_signed(std::string_view type) {
    return type[0] == 's';
}
bool is_real(std::string_view type) {
    return type[0] == 'f' || type.starts_with("bf");
}

std::uint64_t cut(std::uint64_t bits, int width) {
    return width == 64 ? bits : bits & ((std::uint64_t(1) << width) - 1);
}

Int as_int(std::string_view type, std::uint64_t bits) {
    const int shift = 64 - width(type);
    if (is_signed(type)) return std::int64_t(bits << shift) >> shift;
    return Int(cut(bits, width(type)));
}

std::uint64_t real_bits(std::string_view type, double value) {
    if (type == "f16") return half_bits(value);
    if (type == "bf16") return bfloat_bits(value);
    return type == "f32" ? std::bit_cast<std::uint32_t>(float(value))
                         : std::bit_cast<std::uint64_t>(value);
}

/// T and W in a signature: "u32 W T" for T = s16 is u32, s32, s16.
Types signature_of(const Form& form, std::string_view type) {
    Types types = words(form.signature);
    for (std::string& t : types) {
        if (t == "T") t = type;
        if (t == "W") t = fmt::format("{}{}", type[0], 2 * width(type));
    }
    return types;
}

std::string instruction_of(const Form& form, std::string_view type) {
    std::string ptx = form.ptx;
    replace(ptx, ".T", fmt::format(".{}", type));
    return ptx;
}

std::vector<Row> rows_for(const Types& types) {
    std::mt19937_64 random(4711);
    std::array<std::vector<std::uint64_t>, 3> edges{std::vector<std::uint64_t>{0}, {0}, {0}};
    std::size_t product = 1;
    for (std::size_t i = 1; i < types.size(); ++i) {
        edges[i - 1] = edge_values(types[i]);
        product *= edges[i - 1].size();
    }
    std::vector<Row> rows;
    constexpr std::size_t sample = 1500, noise = 300;
    for (std::size_t i = 0; i < std::min(product, sample); ++i) {
        std::size_t index = product <= sample ? i : random() % product;
        Row row{};
        for (std::size_t k = 0; k < 3; ++k) {
            row[k] = edges[k][index % edges[k].size()];
            index /= edges[k].size();
        }
        rows.push_back(row);
    }
    for (std::size_t i = 0; i < noise; ++i) rows.push_back({random(), random(), random()});
    for (Row& row : rows)
        for (std::size_t k = 0; k < 3; ++k)
            row[k] = k + 1 < types.size() ? cut(row[k], width(types[k + 1])) : 0;
    return rows;
}

/// One kernel of a row's module: which operands are uniform, and which lanes take part.
struct Variant {
    std::string name;
    unsigned uniform = 0;  // bit k: operand k
    bool partial = false;
};

std::string kernel_of(const Form& form, std::string_view type, const Variant& variant) {
    const std::string_view frame = ptx_file("frame.ptx");
    const Types types = signature_of(form, type);
    std::string text(frame);
    for (std::size_t k = 0; k < 3; ++k) {
        const char letter = char('A' + k);
        const int bits = k + 1 < types.size() ? width(types[k + 1]) : 32;
        replace(text, fmt::format("TYPE_{}", letter), fmt::format("b{}", bits));
        replace(text, fmt::format("INDEX_{}", letter), variant.uniform >> k & 1 ? "%u" : "%i");
    }
    replace(text, "TYPE_D", fmt::format("b{}", width(types[0])));
    replace(text, "BRANCH", variant.name == "branch" ? "@!%in bra SKIP;" : "");
    replace(text, "INSTRUCTION",
            (variant.name == "guard" ? "@%in " : "") + instruction_of(form, type));
    replace(text, "NAME", variant.name);
    return text;
}

std::vector<Variant> variants_of(const Form& form, std::size_t operands) {
    std::vector<Variant> variants;
    for (unsigned mask = 0; mask < 1u << operands; ++mask)
        variants.push_back({fmt::format("uniform{}", mask), mask});
    variants.push_back({"branch", 0, true});
    if (form.ptx.find(';') == form.ptx.rfind(';')) variants.push_back({"guard", 2, true});
    return variants;
}

/// The variants of a row's type that a test runs. To compile a kernel takes a tenth of a second:
/// compiled, the variants take turns from type to type; `./run test long` runs all.
std::vector<Variant> sample_of(const std::vector<Variant>& variants, std::size_t number) {
    const auto execution = emulator::Launcher::execution();
    if (execution != emulator::Execution::compiled || long_tests()) return variants;
    return {variants[number % variants.size()]};
}

std::string module_of(const Form& form, std::string_view type, const std::vector<Variant>& variants,
                      std::string_view target) {
    std::string text = fmt::format(".version 8.0\n.target {}\n.address_size 64\n", target);
    for (const Variant& variant : variants) text += kernel_of(form, type, variant);
    return text;
}

std::vector<std::uint64_t> run(compute::Device& device, const std::string& module,
                               const Variant& variant, const std::vector<Row>& rows) {
    const auto kernel =
        device.kernel_from_ptx<compute::DevicePointer<Row>, compute::DevicePointer<std::uint64_t>,
                               std::uint32_t>(module, variant.name);
    const compute::Buffer<Row> in(device, rows);
    compute::Buffer<std::uint64_t> out(device, blocks * 32);
    out.fill(0);
    device.launch(kernel, {{blocks, 1, 1}, {32, 1, 1}}, {}, in.pointer(), out.pointer(),
                  std::uint32_t(rows.size()));
    return out.download();
}

/// Why `got` is wrong; empty if it is right.
std::optional<std::string> fault(const Form& form, const std::string& type, std::uint64_t expected,
                                 std::uint64_t got, double a) {
    if (form.tolerance) {
        const double want = std::bit_cast<double>(expected), have = as_real(type, got);
        const bool same = std::isnan(want)   ? std::isnan(have)
                          : std::isinf(want) ? have == want
                          : want == 0 && have == 0
                              ? std::signbit(want) == std::signbit(have)
                              : std::abs(have - want) <= form.tolerance(want, a);
        if (same) return std::nullopt;
        return fmt::format("expected {:.9g}, got {:.9g}", want, have);
    }
    expected = cut(expected, width(type));
    if (expected == got) return std::nullopt;
    if (type.ends_with("x2")) {
        const std::string half = type.substr(0, type.size() - 2);
        const auto low = fault(form, half, expected & 0xffff, got & 0xffff, a);
        return low ? low : fault(form, half, expected >> 16, got >> 16, a);
    }
    if (is_real(type)) {
        if (std::isnan(as_real(type, expected)) && std::isnan(as_real(type, got)))
            return std::nullopt;
        return fmt::format("expected {:#x} ({:.9g}), got {:#x} ({:.9g})", expected,
                           as_real(type, expected), got, as_real(type, got));
    }
    return fmt::format("expected {:#x}, got {:#x}", expected, got);
}

/// Whether the results of a launch are right. Reports the first wrong lane and their number.
bool compare(const Form& form, const std::string& text, const Types& types, const Variant& variant,
             const std::vector<Row>& rows, const std::vector<std::uint64_t>& got) {
    const Reference reference = form.reference(types);
    std::size_t wrong = 0;
    std::string first;
    for (std::size_t i = 0; i < got.size(); ++i) {
        Row row;
        for (std::size_t k = 0; k < 3; ++k)
            row[k] = rows[(variant.uniform >> k & 1 ? i / 32 * 37 : i) % rows.size()][k];
        const bool takes_part = !variant.partial || i % 32 % 3 == 1;
        std::optional<std::string> why;
        if (takes_part) {
            const auto expected = reference(row[0], row[1], row[2]);
            const double a = types.size() > 1 ? as_real(types[1], row[0]) : 0;
            if (expected) why = fault(form, types[0], *expected, got[i], a);
        } else if (got[i] != untouched) {
            why = fmt::format("a lane that takes no part has {:#x}", got[i]);
        }
        if (why && wrong++ == 0)
            first = fmt::format("lane {} with a={:#x} b={:#x} c={:#x}: {}", i, row[0], row[1],
                                row[2], *why);
    }
    EXPECT_EQ(wrong, 0u) << text << " (" << variant.name << "): " << first;
    return wrong == 0;
}

}  // namespace

int width(std::string_view type) {
    if (type.ends_with("x2")) return 32;
    if (type.starts_with("bf")) return 16;
    return std::stoi(std::string(type.substr(1)));
}

double as_real(std::string_view type, std::uint64_t bits) {
    if (type == "f16") return half_value(bits);
    if (type == "bf16") return bfloat_value(bits);
    if (type == "f32") return std::bit_cast<float>(std::uint32_t(bits));
    if (type == "f64") return std::bit_cast<double>(bits);
    return double(as_int(type, bits));
}

bool executes(const compute::Device& device, int capability) {
    const compute::DeviceInfo& info = device.info();
    return info.kind != compute::DeviceKind::cuda || info.compute_capability >= capability;
}

bool record_forms(const std::string& ptx) {
    testing::Test::RecordProperty("forms", ptx);
    return std::getenv("WARPSCOPE_ONLY_FORMS") != nullptr;
}

void check(compute::Device& device, const std::vector<Form>& table, std::string_view target) {
    std::string forms;
    for (const Form& form : table)
        for (const std::string& type : words(form.types)) forms += instruction_of(form, type);
    if (record_forms(forms)) return;
    std::size_t number = 0;
    for (const Form& form : table)
        for (const std::string& type : words(form.types)) {
            const Types types = signature_of(form, type);
            const std::vector<Row> rows = rows_for(types);
            const std::vector<Variant> variants =
                sample_of(variants_of(form, types.size() - 1), number++);
            const std::string module = module_of(form, type, variants, target);
            try {
                for (const Variant& variant : variants)
                    if (!compare(form, instruction_of(form, type), types, variant, rows,
                                 run(device, module, variant, rows)))
                        break;
            } catch (const std::exception& error) {
                ADD_FAILURE() << instruction_of(form, type) << ": " << error.what();
            }
        }
}

void check_warps(compute::Device& device, const std::vector<WarpForm>& table,
                 std::string_view target) {
    std::string forms;
    for (const WarpForm& row : table) forms += row.ptx;
    if (record_forms(forms)) return;
    for (const WarpForm& row : table) {
        const Form form{row.ptx, "b32", row.signature, nullptr};
        const Variant variant{row.every_third_lane ? "branch" : "uniform0", 0,
                              row.every_third_lane};
        std::vector<Row> rows = rows_for(signature_of(form, "b32"));
        rows.resize(rows.size() / 32 * 32);  // whole warps
        try {
            const auto got = run(device, module_of(form, "b32", {variant}, target), variant, rows);
            for (std::size_t i = 0; i < got.size(); ++i) {
                const std::span warp(rows.data() + i / 32 * 32 % rows.size(), 32);
                const bool takes_part = !row.every_third_lane || i % 32 % 3 == 1;
                const std::uint64_t expected =
                    takes_part ? row.reference(i % 32, warp) & 0xffffffff : untouched;
                EXPECT_EQ(got[i], expected) << row.ptx << ": lane " << i % 32 << " of warp "
                                            << i / 32 << " with b=" << warp[i % 32][1];
                if (got[i] != expected) break;
            }
        } catch (const std::exception& error) {
            ADD_FAILURE() << row.ptx << ": " << error.what();
        }
    }
}

std::function<Reference(const Types&)> ints(
    std::function<std::optional<Int>(Int a, Int b, Int c)> f) {
    return ints_of_width([f](int, Int a, Int b, Int c) { return f(a, b, c); });
}

std::function<Reference(const Types&)> ints_of_width(
    std::function<std::optional<Int>(int bits, Int a, Int b, Int c)> f) {
    return [f](const Types& types) -> Reference {
        return [f, types](std::uint64_t a, std::uint64_t b,
                          std::uint64_t c) -> std::optional<std::uint64_t> {
            const auto operand = [&](std::size_t k, std::uint64_t bits) {
                return k < types.size() ? as_int(types[k], bits) : 0;
            };
            const auto result = f(width(types[1]), operand(1, a), operand(2, b), operand(3, c));
            if (!result) return std::nullopt;
            return std::uint64_t(*result);
        };
    };
}

std::function<Reference(const Types&)> reals(
    std::function<double(double a, double b, double c)> f) {
    return [f](const Types& types) -> Reference {
        return [f, types](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
            const auto operand = [&](std::size_t k, std::uint64_t bits) {
                return k < types.size() ? as_real(types[k], bits) : 0;
            };
            return real_bits(types[0], f(operand(1, a), operand(2, b), operand(3, c)));
        };
    };
}

std::function<Reference(const Types&)> flushed(
    std::function<double(double a, double b, double c)> f) {
    const auto flush = [](double x) { return std::abs(x) < FLT_MIN ? std::copysign(0.0, x) : x; };
    return [f, flush](const Types& types) -> Reference {
        return [f, flush, types](std::uint64_t a, std::uint64_t b,
                                 std::uint64_t c) -> std::optional<std::uint64_t> {
            const auto operand = [&](std::size_t k, std::uint64_t bits) {
                if (k >= types.size()) return 0.0;
                const double value = as_real(types[k], bits);
                return types[k] == "f32" ? flush(value) : value;
            };
            const double exact = f(operand(1, a), operand(2, b), operand(3, c));
            if (types[0] != "f32") return real_bits(types[0], exact);
            // The ISA does not say whether a result counts as subnormal before or after rounding.
            if (std::abs(exact) < FLT_MIN && std::abs(float(exact)) == FLT_MIN) return std::nullopt;
            return real_bits("f32", flush(float(exact)));
        };
    };
}

std::function<Reference(const Types&)> bits(
    std::function<std::optional<std::uint64_t>(std::uint64_t a, std::uint64_t b, std::uint64_t c)>
        f) {
    return [f](const Types&) -> Reference { return f; };
}

std::function<Reference(const Types&)> close_to(std::function<double(double a, double b)> f) {
    return [f](const Types& types) -> Reference {
        return [f, types](std::uint64_t a, std::uint64_t b, std::uint64_t) {
            const double second = types.size() > 2 ? as_real(types[2], b) : 0;
            double exact = f(as_real(types[1], a), second);
            if (types[0] == "f32" && std::isinf(float(exact))) exact = float(exact);
            return std::bit_cast<std::uint64_t>(exact);
        };
    };
}

}  // namespace warpscope::tests
