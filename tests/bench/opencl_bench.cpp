// Measures PoCL with the kernels of opencl_kernels.cl: warpscope_opencl ripple|nbody|dot THREADS.
// Checks the results, then prints one line of JSON with the median times of a launch. --bench
// starts this program, because the app itself does without OpenCL.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void check(cl_int status, const std::string& call) {
    if (status != CL_SUCCESS)
        throw std::runtime_error(call + ": OpenCL error " + std::to_string(status));
}

/// The CPU as a device of PoCL. Objects of OpenCL live until the program ends.
struct Pocl {
    cl_device_id device{};
    cl_context context{};
    cl_command_queue queue{};
    std::string version;  ///< "3.1+debian"
};

using Query = std::function<cl_int(std::size_t bytes, void* value, std::size_t* needed)>;

std::string text_of(const Query& query) {
    std::size_t bytes = 0;
    check(query(0, nullptr, &bytes), "information about PoCL");
    std::string text(bytes, '\0');
    check(query(bytes, text.data(), nullptr), "information about PoCL");
    return text.c_str();  // without the null at the end
}

cl_platform_id find_platform() {
    cl_uint count = 0;
    std::array<cl_platform_id, 16> platforms{};
    if (clGetPlatformIDs(platforms.size(), platforms.data(), &count) != CL_SUCCESS) count = 0;
    for (cl_uint i = 0; i < std::min<cl_uint>(count, platforms.size()); ++i) {
        const std::string name = text_of([&](std::size_t bytes, void* value, std::size_t* needed) {
            return clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, bytes, value, needed);
        });
        if (name == "Portable Computing Language") return platforms[i];
    }
    throw std::runtime_error("PoCL is not installed: install pocl-opencl-icd");
}

Pocl open_pocl(cl_uint threads) {
    Pocl pocl;
    check(clGetDeviceIDs(find_platform(), CL_DEVICE_TYPE_CPU, 1, &pocl.device, nullptr),
          "clGetDeviceIDs");
    pocl.version = text_of([&](std::size_t bytes, void* value, std::size_t* needed) {
        return clGetDeviceInfo(pocl.device, CL_DRIVER_VERSION, bytes, value, needed);
    });
    cl_uint units = 0;
    check(clGetDeviceInfo(pocl.device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units, nullptr),
          "CL_DEVICE_MAX_COMPUTE_UNITS");
    if (units != threads)
        throw std::runtime_error("PoCL uses " + std::to_string(units) + " threads instead of " +
                                 std::to_string(threads));
    cl_int status = 0;
    pocl.context = clCreateContext(nullptr, 1, &pocl.device, nullptr, nullptr, &status);
    check(status, "clCreateContext");
    pocl.queue = clCreateCommandQueue(pocl.context, pocl.device, 0, &status);
    check(status, "clCreateCommandQueue");
    return pocl;
}

template <class T>
cl_mem make_buffer(const Pocl& pocl, std::vector<T> values) {
    cl_int status = 0;
    cl_mem const buffer = clCreateBuffer(pocl.context, CL_MEM_COPY_HOST_PTR,
                                         values.size() * sizeof(T), values.data(), &status);
    check(status, "clCreateBuffer");
    return buffer;
}

/// The contents of a buffer, which is then filled with other values.
template <class T>
std::vector<T> take(const Pocl& pocl, cl_mem buffer, std::size_t count) {
    std::vector<T> values(count);
    const std::size_t bytes = count * sizeof(T);
    check(clEnqueueReadBuffer(pocl.queue, buffer, CL_TRUE, 0, bytes, values.data(), 0, nullptr,
                              nullptr),
          "clEnqueueReadBuffer");
    const std::uint8_t unlikely = 0xa5;
    check(clEnqueueFillBuffer(pocl.queue, buffer, &unlikely, 1, 0, bytes, 0, nullptr, nullptr),
          "clEnqueueFillBuffer");
    return values;
}

/// One kernel with its launch configuration.
struct Case {
    const char* kernel;
    std::array<std::size_t, 2> global, local;
    std::function<void(cl_kernel)> set_arguments;
    std::function<void()> check_results;  ///< throws if those of the newest launch are wrong
};

template <class... Values>
void set_arguments(cl_kernel kernel, const Values&... values) {
    cl_uint index = 0;
    (check(clSetKernelArg(kernel, index++, sizeof(values), &values), "clSetKernelArg"), ...);
}

void require(bool right, const char* what) {
    if (!right) throw std::runtime_error(std::string("PoCL computes wrongly: ") + what);
}

/// The spheres, each tile turned by 180 degrees. A shade may differ by one from that of the exact
/// cosine.
Case ripple(const Pocl& pocl) {
    constexpr std::size_t size = 1024, side = 16;
    cl_mem const pixels = make_buffer(pocl, std::vector<cl_uint>(size * size));
    const auto arguments = [=](cl_kernel kernel) {
        set_arguments(kernel, pixels, cl_int(size), cl_int(size), cl_float(0), cl_int(0));
    };
    const auto right = [=] {
        const auto shade = [](std::size_t place) {
            return std::sin(double(place ^ (side - 1)) * M_PI / 64) + 1;
        };
        const auto drawn = take<cl_uint>(pocl, pixels, size * size);
        for (std::size_t i = 0; i < drawn.size(); ++i) {
            const double wanted = 255.0 / 4 * shade(i % size) * shade(i / size);
            const bool green = (drawn[i] & 0xffff00ff) == 0xff000000;
            require(green && std::abs(int(drawn[i] >> 8 & 255) - int(wanted)) <= 1, "a pixel");
        }
    };
    return {"ripple", {size, size}, {side, side}, arguments, right};
}

/// Bodies at rest in a cube, so that a step's velocity is its acceleration times dt.
std::vector<cl_float4> make_bodies(std::size_t n) {
    std::uint32_t state = 1;
    const auto coordinate = [&] {
        state = state * 1664525 + 1013904223;
        return float(state >> 8) / float(1 << 23) - 1;
    };
    std::vector<cl_float4> bodies(n);
    for (cl_float4& body : bodies) {
        for (int axis = 0; axis < 3; ++axis) body.s[axis] = coordinate();
        body.s[3] = (1.5F + coordinate()) / float(n);
    }
    return bodies;
}

using Vector = std::array<double, 3>;

/// Forces by the definition in kernels/nbody.cu, in double precision.
std::vector<Vector> accelerations(const std::vector<cl_float4>& bodies, double eps) {
    std::vector<Vector> all(bodies.size(), Vector{});
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        for (const cl_float4& other : bodies) {
            Vector r{};
            double squares = eps * eps;
            for (std::size_t axis = 0; axis < 3; ++axis) {
                r[axis] = double(other.s[axis]) - double(bodies[i].s[axis]);
                squares += r[axis] * r[axis];
            }
            const double s = double(other.s[3]) / (squares * std::sqrt(squares));
            for (std::size_t axis = 0; axis < 3; ++axis) all[i][axis] += r[axis] * s;
        }
    }
    return all;
}

Case nbody(const Pocl& pocl) {
    constexpr std::size_t n = 4096, threads = 256;
    constexpr float dt = 1e-3F, eps = 0.05F;
    const std::vector<cl_float4> bodies = make_bodies(n), none(n, cl_float4{});
    cl_mem const old_position = make_buffer(pocl, bodies), old_velocity = make_buffer(pocl, none);
    cl_mem const position = make_buffer(pocl, none), velocity = make_buffer(pocl, none);
    const auto arguments = [=](cl_kernel kernel) {
        set_arguments(kernel, position, velocity, old_position, old_velocity, cl_int(n), cl_int(0),
                      dt, eps);
        check(clSetKernelArg(kernel, 8, threads * sizeof(cl_float4), nullptr), "clSetKernelArg");
    };
    const auto right = [=, wanted = accelerations(bodies, double(eps))] {
        const auto moved = take<cl_float4>(pocl, position, n);
        const auto speed = take<cl_float4>(pocl, velocity, n);
        for (std::size_t i = 0; i < n; ++i) {
            const Vector& a = wanted[i];
            const double bound = 1e-3 * std::hypot(a[0], a[1], a[2]) + 1e-6;
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const double v = double(speed[i].s[axis]), dv = a[axis] * double(dt);
                require(std::abs(v - dv) <= bound * double(dt), "a velocity");
                const double x = double(bodies[i].s[axis]) + v * double(dt);
                require(std::abs(double(moved[i].s[axis]) - x) <= 1e-6, "a position");
            }
        }
    };
    return {"nbody", {n, 1}, {threads, 1}, arguments, right};
}

/// The vectors of the experiment: element i is i in the one and 2 i in the other.
Case dot(const Pocl& pocl) {
    constexpr std::size_t n = 1 << 20, threads = 256, blocks = 32;
    std::vector<cl_float> a(n), b(n);
    double exact = 0;  // all partial sums are integers below 2^63, rounded to 53 bits
    for (std::size_t i = 0; i < n; ++i) {
        a[i] = float(i);
        b[i] = 2 * float(i);
        exact += 2 * double(i) * double(i);
    }
    cl_mem const first = make_buffer(pocl, a), second = make_buffer(pocl, b);
    cl_mem const partial = make_buffer(pocl, std::vector<cl_float>(blocks));
    const auto arguments = [=](cl_kernel kernel) {
        set_arguments(kernel, first, second, partial, cl_uint(n));
    };
    const auto right = [=] {
        double sum = 0;
        for (const float part : take<cl_float>(pocl, partial, blocks)) sum += double(part);
        require(std::abs(sum - exact) <= 1e-5 * exact, "a dot product");
    };
    return {"dot_product", {blocks * threads, 1}, {threads, 1}, arguments, right};
}

cl_kernel build(const Pocl& pocl, const Case& tried, const char* options) {
    std::ifstream file(WARPSCOPE_OPENCL_KERNELS);
    const std::string source(std::istreambuf_iterator<char>(file), {});
    const char* text = source.c_str();
    cl_int status = 0;
    cl_program const program = clCreateProgramWithSource(pocl.context, 1, &text, nullptr, &status);
    check(status, "clCreateProgramWithSource");
    if (clBuildProgram(program, 1, &pocl.device, options, nullptr, nullptr) != CL_SUCCESS)
        throw std::runtime_error(text_of([&](std::size_t bytes, void* value, std::size_t* needed) {
            return clGetProgramBuildInfo(program, pocl.device, CL_PROGRAM_BUILD_LOG, bytes, value,
                                         needed);
        }));
    cl_kernel const kernel = clCreateKernel(program, tried.kernel, &status);
    check(status, "clCreateKernel");
    tried.set_arguments(kernel);
    return kernel;
}

double launch_ms(const Pocl& pocl, const Case& tried, cl_kernel kernel) {
    const auto start = std::chrono::steady_clock::now();
    check(clEnqueueNDRangeKernel(pocl.queue, kernel, 2, nullptr, tried.global.data(),
                                 tried.local.data(), 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    check(clFinish(pocl.queue), "clFinish");
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

double median_ms(const Pocl& pocl, const Case& tried, const char* options) {
    constexpr int warm_ups = 4, measured = 15;
    cl_kernel const kernel = build(pocl, tried, options);
    launch_ms(pocl, tried, kernel);
    tried.check_results();
    std::array<double, measured> times{};
    for (int i = -warm_ups; i < measured; ++i) {
        const double ms = launch_ms(pocl, tried, kernel);
        if (i >= 0) times[std::size_t(i)] = ms;
    }
    std::nth_element(times.begin(), times.begin() + measured / 2, times.end());
    return times[measured / 2];
}

/// Where PoCL writes compiled kernels, in place of a folder in the home folder.
class CacheFolder {
  public:
    CacheFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "warpscope-XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error(name + " can't be made");
        path_ = name;
    }
    CacheFolder(const CacheFolder&) = delete;
    CacheFolder& operator=(const CacheFolder&) = delete;
    ~CacheFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const char* path() const { return path_.c_str(); }

  private:
    std::string path_;
};

void measure(const std::string& name, const char* threads) {
    const CacheFolder cache;
    setenv("POCL_CACHE_DIR", cache.path(), 1);
    setenv("POCL_MAX_PTHREAD_COUNT", threads, 1);
    const Pocl pocl = open_pocl(cl_uint(std::atoi(threads)));
    const Case tried = name == "ripple"  ? ripple(pocl)
                       : name == "nbody" ? nbody(pocl)
                       : name == "dot"   ? dot(pocl)
                                         : throw std::runtime_error("no kernel " + name);
    const double default_ms = median_ms(pocl, tried, "");
    const double relaxed_ms = median_ms(pocl, tried, "-cl-fast-relaxed-math");
    const nlohmann::ordered_json line = {
        {"version", pocl.version}, {"default_ms", default_ms}, {"relaxed_ms", relaxed_ms}};
    std::puts(line.dump().c_str());
}

}  // namespace

int main(int count, char** arguments) {
    try {
        if (count != 3) throw std::runtime_error("give a kernel and the number of threads");
        measure(arguments[1], arguments[2]);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "warpscope_opencl: %s\n", error.what());
        return 1;
    }
}
