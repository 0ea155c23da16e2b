#include "compiler/signature.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/debug_scopes.h"
#include "compiler/dwarf.h"
#include "real_nvrtc.h"

namespace warpscope::compiler {
namespace {

using Kind = Type::Kind;

/// "signed int 4", "pointer float* 8 -> floating float 4".
std::string text_of(const Type& type) {
    static constexpr const char* words[] = {"bool",     "char",     "signed",    "unsigned",
                                            "floating", "pointer",  "struct",    "array",
                                            "enum",     "function", "bit_field", "other"};
    std::string text = fmt::format("{} {} {}", words[int(type.kind)], type.name, type.bytes);
    if (type.canonical != type.name) text += fmt::format(" = {}", type.canonical);
    if (type.kind == Kind::array) text += fmt::format(" x{}", type.count);
    if (type.kind == Kind::bit_field) text += fmt::format(" from bit {}", type.first_bit);
    if (type.kind == Kind::pointer || type.kind == Kind::array)
        text += fmt::format(" -> {}{}", type.target_is_const ? "const " : "",
                            type.target ? text_of(*type.target) : "void");
    if (type.members.empty()) return text;
    text += " {";
    for (const Member& member : type.members)
        text += fmt::format(" {}@{}: {};", member.name, member.offset, text_of(*member.type));
    return text + " }";
}

class Signatures : public RealNvrtc {
  public:
    std::vector<Signature> of(const std::string& source, std::vector<std::string> names = {}) {
        Request request{"kernels/mine.cu", source};
        request.debug_info = true;
        request.names = std::move(names);
        return read_signatures(nvrtc_->compile(request).ptx);
    }
    /// Of a kernel with one parameter.
    std::string type_in(const std::string& declarations, const std::string& parameter) {
        const auto found =
            of(declarations + "\nextern \"C\" __global__ void k(" + parameter + ") {}");
        if (found.size() != 1 || found[0].parameters.size() != 1) return "not one parameter";
        EXPECT_EQ(found[0].parameters[0].name, "p");
        return text_of(*found[0].parameters[0].type);
    }
};

TEST_F(Signatures, VariablesHaveTheirNamesAndTypes) {
    Request request{"kernels/mine.cu", R"(
__constant__ float taps[5];
__constant__ int preset = 7;
__device__ unsigned counts[2][4];
__device__ int unused;
namespace lib { __constant__ int3 offset; }
extern "C" __global__ void k(float* out) {
    int preset_of_host = preset;
    { float counts = 3; out[1] = counts; }
    out[0] = taps[threadIdx.x] + preset_of_host + lib::offset.x + atomicAdd(&counts[1][2], 1u);
})"};
    request.debug_info = true;
    std::vector<std::string> found;
    for (const ModuleVariable& v : read_variables(nvrtc_->compile(request).ptx))
        found.push_back(fmt::format("{} {}: {}{}", v.name, v.entry, text_of(*v.type),
                                    v.is_for_host ? ", for the host" : ""));
    EXPECT_EQ(found, (std::vector<std::string>{
                         "offset _ZN3lib6offsetE: struct int3 12 { x@0: signed int 4; y@4: signed "
                         "int 4; z@8: signed int 4; }, for the host",
                         "counts counts: array unsigned int[2][4] 32 x2 -> array unsigned int[4] "
                         "16 x4 -> unsigned unsigned int 4",
                         "preset preset: signed int 4",
                         "taps taps: array float[5] 20 x5 -> floating float 4, for the host",
                         "unused unused: signed int 4"}));
}

TEST_F(Signatures, LocalVariablesHaveScopesAndPlaces) {
    Request request{"kernels/mine.cu", R"(
__device__ __noinline__ int twice(int v) { int r = 2 * v; return r; }
__device__ int outside;
enum Kind { plain, scaled = 7 };
extern "C" __global__ void k(int* to, int n) {
    int sum = n;
    for (int i = 0; i < n; ++i) {
        float part[2] = {1.0f * i, 2};
        sum += int(part[n & 1]);
    }
    Kind kind = sum > 5 ? scaled : plain;
    to[0] = twice(sum) + kind;
})"};
    request.debug_info = true;
    const std::string ptx = nvrtc_->compile(request).ptx;
    std::map<std::string, DebugVariable> found;
    for (const DebugVariable& one : read_scopes(ptx).variables) found[one.name] = one;
    for (const char* name : {"v", "r", "to", "n", "sum", "i", "part", "kind"}) {
        ASSERT_TRUE(found.contains(name)) << name;
        ASSERT_FALSE(found[name].places.empty()) << name;
        EXPECT_LT(found[name].low, found[name].high) << name;
    }
    EXPECT_TRUE(found["part"].places[0].name.starts_with("__local_depot"));
    EXPECT_EQ(found["part"].type->name, "float[2]");
    EXPECT_EQ(found["r"].places[0].name.substr(0, 2), "%r");
    EXPECT_TRUE(found["sum"].is_known_at(found["i"].low));
    EXPECT_FALSE(found["i"].is_known_at(found["sum"].low));
    EXPECT_LE(found["r"].high, found["sum"].low);
    EXPECT_EQ(found["outside"].high, 0u);
    using Names = std::vector<std::pair<std::string, std::uint64_t>>;
    EXPECT_EQ(found["kind"].type->names, (Names{{"plain", 0}, {"scaled", 7}}));
}

TEST_F(Signatures, TheCodeSaysWhichIndicesAndWhichSharedMemoryItUses) {
    const auto traits = [&](const std::string& source) {
        std::vector<std::string> found;
        for (const Signature& one : of(source))
            found.push_back(fmt::format("{} {} {} {}", one.name, one.traits.block_dimensions,
                                        one.traits.grid_dimensions, one.traits.dynamic_shared));
        return found;
    };
    EXPECT_EQ(traits(R"(
extern __shared__ double tile[];
__global__ void in_x(int* p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void in_y(int* p) { __shared__ int own[4]; own[0] = 1; p[threadIdx.y] = own[0]; }
__global__ void in_blocks_of_z(int* p) { p[blockIdx.z] = 1; }
__global__ void dynamic(double* p) { tile[threadIdx.x] = 1; p[0] = tile[0]; }
)"),
              (std::vector<std::string>{"in_x 1 1 0", "in_y 2 1 0", "in_blocks_of_z 1 2 0",
                                        "dynamic 1 1 8"}));
    EXPECT_EQ(traits(R"(
__global__ void local(float* p) { extern __shared__ float s[]; s[threadIdx.x] = 1; p[0] = s[0]; }
template <int n> __global__ void of_template(short* p) {
    extern __shared__ short s16[];
    s16[threadIdx.x] = n;
    p[0] = s16[1];
}
template __global__ void of_template<3>(short*);
)"),
              (std::vector<std::string>{"local 1 1 4", "of_template<3> 1 1 2"}));
    EXPECT_EQ(traits(R"(
__device__ __noinline__ int row() { return threadIdx.y; }
__global__ void calling(int* p) { p[row()] = 1; }
)"),
              std::vector<std::string>{"calling 1 1 0"});
}

TEST_F(Signatures, TheIndicesThatHeadersOfTheToolkitReadAreNotTheKernels) {
    Request request{"kernels/mine.cu",
                    "#include \"mine.h\"\n__global__ void k(int* p) { p[row()] = 1; }"};
    request.debug_info = true;
    request.headers.push_back(
        {"mine.h", "__device__ __forceinline__ int row() { return threadIdx.y; }"});
    std::string ptx = nvrtc_->compile(request).ptx;
    EXPECT_EQ(read_signatures(ptx).at(0).traits.block_dimensions, 2);
    const std::string name = header_in_ptx("mine.h");
    ptx.replace(ptx.find("\"" + name), name.size() + 1, "\"cuda/mine.h");
    EXPECT_EQ(read_signatures(ptx).at(0).traits.block_dimensions, 1);
}

TEST_F(Signatures, ScalarsHaveTheirKindAndSize) {
    EXPECT_EQ(type_in("", "bool p"), "bool bool 1");
    EXPECT_EQ(type_in("", "char p"), "char char 1");
    EXPECT_EQ(type_in("", "signed char p"), "signed signed char 1");
    EXPECT_EQ(type_in("", "unsigned char p"), "unsigned unsigned char 1");
    EXPECT_EQ(type_in("", "short p"), "signed short 2");
    EXPECT_EQ(type_in("", "const unsigned p"), "unsigned unsigned int 4");
    EXPECT_EQ(type_in("", "long p"), "signed long 8");
    EXPECT_EQ(type_in("", "unsigned long long p"), "unsigned unsigned long long 8");
    EXPECT_EQ(type_in("", "size_t p"), "unsigned size_t 8 = unsigned long");
    EXPECT_EQ(type_in("", "float p"), "floating float 4");
    EXPECT_EQ(type_in("typedef double real;", "volatile real p"), "floating real 8 = double");
    EXPECT_EQ(type_in("enum Mode { fast, slow };", "Mode p"), "enum Mode 4");
    EXPECT_EQ(type_in("namespace a { enum class Tiny : unsigned char { x }; }", "a::Tiny p"),
              "enum a::Tiny 1");
}

TEST_F(Signatures, PointersHaveTheirTarget) {
    EXPECT_EQ(type_in("", "float* __restrict__ p"), "pointer float* 8 -> floating float 4");
    EXPECT_EQ(type_in("", "const float* __restrict__ const p"),
              "pointer const float* 8 -> const floating float 4");
    EXPECT_EQ(type_in("", "void* p"), "pointer void* 8 -> void");
    EXPECT_EQ(type_in("", "const void* p"), "pointer const void* 8 -> const void");
    EXPECT_EQ(type_in("", "volatile int* p"), "pointer volatile int* 8 -> signed int 4");
    EXPECT_EQ(type_in("", "int** p"), "pointer int** 8 -> pointer int* 8 -> signed int 4");
    EXPECT_EQ(type_in("", "int* const* p"),
              "pointer int* const* 8 -> const pointer int* 8 -> signed int 4");
    EXPECT_EQ(type_in("", "float& p"), "pointer float& 8 -> floating float 4");
    EXPECT_EQ(type_in("", "float p[8]"), "pointer float* 8 -> floating float 4");
    EXPECT_EQ(type_in("", "float p[][8]"),
              "pointer float (*)[8] 8 -> array float[8] 32 x8 -> floating float 4");
    EXPECT_EQ(type_in("using f = int (*)(float, const char*);", "f p"),
              "pointer f 8 = int (*)(float, const char*) -> function int (float, const char*) 0");
}

TEST_F(Signatures, StructuresHaveTheirMembersAtTheirOffsets) {
    EXPECT_EQ(
        type_in("", "float4 p"),
        "struct float4 16 { x@0: floating float 4; y@4: floating float 4; z@8: floating float "
        "4; w@12: floating float 4; }");
    EXPECT_EQ(
        type_in("struct P { char a; double b; int c[2][3]; struct { short s; } in; bool* d; };",
                "P p"),
        "struct P 56 { a@0: char char 1; b@8: floating double 8; c@16: array int[2][3] 24 x2 "
        "-> array int[3] 12 x3 -> signed int 4; in@40: struct P::(unnamed) 2 { s@0: signed "
        "short 2; }; d@48: pointer bool* 8 -> bool bool 1; }");
    EXPECT_EQ(type_in("union U { int i; float f[2]; };", "U p"),
              "struct U 8 { i@0: signed int 4; f@0: array float[2] 8 x2 -> floating float 4; }");
    EXPECT_EQ(
        type_in("struct B { int b; }; struct D : B { int lo : 3; int hi : 5; char c; };", "D p"),
        "struct D 8 { B@0: struct B 4 { b@0: signed int 4; }; lo@4: bit_field int : 3 4 from bit "
        "0; hi@4: "
        "bit_field int : 5 4 from bit 3; c@5: char char 1; }");
    EXPECT_EQ(type_in("struct E {};", "E p"), "struct E 1");
    if (is_of_cuda_11()) return;
    EXPECT_EQ(type_in("template<class T, int N> struct Vec { T v[N]; };", "Vec<Vec<int, 2>, 3> p"),
              "struct Vec<Vec<int, 2>, 3> 24 { v@0: array Vec<int, 2>[3] 24 x3 -> struct Vec<int, "
              "2> 8 { v@0: array int[2] 8 x2 -> signed int 4; }; }");
}

TEST_F(Signatures, AStructureThatPointsToItselfEnds) {
    const auto found =
        of("struct Node { int value; Node* next; };\n"
           "__global__ void k(const Node* p, Node* unused) { *p->next = *unused; }\n");
    EXPECT_EQ(text_of(*found.at(0).parameters.at(0).type),
              "pointer const Node* 8 -> const struct Node 16 { value@0: signed int 4; next@8: "
              "pointer Node* 8 -> struct Node 16; }");
}

TEST_F(Signatures, HalfNumbersAreFloating) {
    try {
        EXPECT_EQ(type_in("#include <cuda_fp16.h>", "half p"), "floating half 2 = __half");
        EXPECT_EQ(
            type_in("#include <cuda_fp16.h>", "half2* p"),
            "pointer half2* 8 = __half2* -> struct half2 4 = __half2 { x@0: floating __half 2; "
            "y@2: floating __half 2; }");
        EXPECT_EQ(type_in("#include <cuda_bf16.h>", "__nv_bfloat16 p"), "floating __nv_bfloat16 2");
    } catch (const CompileError& error) {
        GTEST_SKIP() << error.what();
    }
}

TEST_F(Signatures, EveryEntryIsThereInTheOrderOfTheSource) {
    const auto found =
        of("__device__ int twice(int a) { return 2 * a; }\n"
           "template <int N, class T> __global__ void scale(T* x, int n) { x[n] *= N; }\n"
           "__global__ void later(int a);\n"
           "namespace lib { namespace { __global__ void hidden(float* x) { x[0] = 1; } } }\n"
           "__global__ void nothing() {}\n"
           "__global__ void later(int b) { twice(b); }\n"
           "namespace lib { __global__ void\n"
           "  last(float a, char b) {} }\n",
           {"scale<4, float>", "lib::hidden"});
    std::vector<std::string> names;
    for (const Signature& one : found)
        names.push_back(
            fmt::format("{} {}:{} {}", one.name, one.file, one.line, one.parameters.size()));
    EXPECT_EQ(names, (std::vector<std::string>{
                         "scale<4, float> kernels/mine.cu:2 2", "lib::hidden kernels/mine.cu:4 1",
                         "nothing kernels/mine.cu:5 0", "later kernels/mine.cu:6 1",
                         "lib::last kernels/mine.cu:8 2"}));
    EXPECT_EQ(found[0].entry, "_Z5scaleILi4EfEvPT0_i");
    EXPECT_EQ(found[0].parameters[0].type->name, "float*");
    EXPECT_EQ(found[3].parameters[0].name, "b");
    EXPECT_EQ(found[4].entry, "_ZN3lib4lastEfc");
}

TEST_F(Signatures, ATemplateIsCompiledByItsNameExpression) {
    const std::string source = "template <int N> __global__ void scale(int* x) { *x *= N; }\n";
    Request request{"kernels/mine.cu", source};
    request.names = {"scale<3>", "scale<2 + 2>"};
    const Compiled compiled = nvrtc_->compile(request);
    for (const char* entry : {".entry _Z5scaleILi3EEvPi(", ".entry _Z5scaleILi4EEvPi("})
        EXPECT_NE(compiled.ptx.find(entry), std::string::npos) << entry;
    request.names = {"scale<nothing>"};
    try {
        nvrtc_->compile(request);
        FAIL() << "it compiles";
    } catch (const CompileError& error) {
        EXPECT_NE(std::string(error.what()).find("identifier \"nothing\" is undefined"),
                  std::string::npos)
            << error.what();
    }
}

std::string complaint(const std::string& ptx) {
    try {
        read_signatures(ptx);
    } catch (const DebugInfoError& error) {
        return error.what();
    }
    return "";
}

TEST(BadDebugInformation, IsOneClearError) {
    const std::string begin = "the debug information of the PTX can't be read: ";
    const std::string entry = ".visible .entry k(\n.param .u32 k_param_0\n)\n{ ret; }\n";
    const std::string abbreviations =
        ".section .debug_abbrev\n{\n.b8 1,46,1,3,8,0,0,2,5,0,73,19,0,0,0\n}\n";
    const auto info = [&](const std::string& bytes, const std::string& size) {
        return entry + abbreviations + ".section .debug_info\n{\n.b32 " + size +
               "\n.b8 2,0\n.b32 .debug_abbrev\n.b8 8\n" + bytes + "\n}\n";
    };
    EXPECT_EQ(complaint(""), "");
    EXPECT_EQ(complaint(entry), begin + "it has nothing about k");
    EXPECT_EQ(complaint(info(".b8 1,107,0,0", "11")),
              begin + "it has 0 parameters of k, the PTX has 1");
    EXPECT_EQ(complaint(info(".b8 1,107,0,0", "12")), begin + "it ends too early");
    EXPECT_EQ(complaint(info(".b8 1,107", "9")), begin + "a text has no end");
    EXPECT_EQ(complaint(info(".b8 3", "8")), begin + "an abbreviation is missing");
    EXPECT_EQ(complaint(info(".b8 1,107,0,2\n.b32 7\n.b8 0", "16")), begin + "a type is missing");
    // The parameter is its own type.
    EXPECT_EQ(complaint(info(".b8 1,107,0,2\n.b32 14\n.b8 0", "16")), "");
    EXPECT_EQ(complaint(entry + ".section .debug_info\n{\n.b8 1"),
              begin + "a section of the PTX has no \"}\"");
    EXPECT_EQ(complaint(entry + ".section .debug_info\n{\n1\n}"),
              begin + "a section of the PTX has no list of numbers");
}

}  // namespace
}  // namespace warpscope::compiler
