// The functions of the driver that the recorder stands in front of. Source: CUDA Driver API,
// "Module Management", "Library Management", "Execution Control", "Driver Entry Point Access".
// The launches of graphs. Source: CUDA Driver API, "Graph Management". A launch of which a kernel
// is recorded runs a copy of the graph once for each node, with all other nodes disabled, in an
// order that the graph allows: so the memory before and after each kernel is known.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "programs/recorder/recorder.h"

using namespace warpscope::programs;

namespace {

struct LaunchConfiguration {  // CUlaunchConfig
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
    Handle stream;
    const void* attributes;
    unsigned count;
};

/// Tells the recorder of what the driver has made of data.
template <class Load>
Status load(Handle* made, const void* data, bool is_library, Load load) {
    const Status status = load();
    if (status == Status::success) recorder().on_load(*made, data, is_library);
    return status;
}
template <class Get>
Status alias(Handle* made, Handle from, Get get) {
    const Status status = get();
    if (status == Status::success) recorder().on_alias(*made, from);
    return status;
}
template <class Get>
Status get_function(Handle* made, Handle module, const char* name, Get get) {
    const Status status = get();
    if (status == Status::success) recorder().on_function(*made, module, name);
    return status;
}

/// The name of the symbol that a program gets for a function, with its version.
std::string symbol_of(const std::string& function, int version, unsigned long long flags) {
    constexpr unsigned long long per_thread = 2;
    if (function == "cuGetProcAddress")
        return version >= 12000 ? "cuGetProcAddress_v2" : "cuGetProcAddress";
    if (function == "cuGraphInstantiate" && version >= 12000) return "cuGraphInstantiateWithFlags";
    if (function == "cuGraphExecKernelNodeSetParams" && version >= 12000) return function + "_v2";
    if (function == "cuGraphExecUpdate" && version >= 12000) return function + "_v2";
    const bool has_twin = function.starts_with("cuLaunch") || function == "cuGraphLaunch" ||
                          function == "cuGraphInstantiateWithParams";
    return has_twin && flags & per_thread ? function + "_ptsz" : function;
}

}  // namespace

WARPSCOPE_RECORDED(cuModuleLoadData, Handle* module, const void* data) {
    WARPSCOPE_FIND_REAL(cuModuleLoadData);
    return load(module, data, false, [&] { return real_cuModuleLoadData(module, data); });
}
WARPSCOPE_RECORDED(cuModuleLoadDataEx, Handle* module, const void* data, unsigned count,
                   int* options, void** values) {
    WARPSCOPE_FIND_REAL(cuModuleLoadDataEx);
    return load(module, data, false,
                [&] { return real_cuModuleLoadDataEx(module, data, count, options, values); });
}
WARPSCOPE_RECORDED(cuModuleLoadFatBinary, Handle* module, const void* data) {
    WARPSCOPE_FIND_REAL(cuModuleLoadFatBinary);
    return load(module, data, false, [&] { return real_cuModuleLoadFatBinary(module, data); });
}
WARPSCOPE_RECORDED(cuLibraryLoadData, Handle* library, const void* data, int* options,
                   void** values, unsigned count, int* library_options, void** library_values,
                   unsigned library_count) {
    WARPSCOPE_FIND_REAL(cuLibraryLoadData);
    return load(library, data, true, [&] {
        return real_cuLibraryLoadData(library, data, options, values, count, library_options,
                                      library_values, library_count);
    });
}
WARPSCOPE_RECORDED(cuLibraryGetModule, Handle* module, Handle library) {
    WARPSCOPE_FIND_REAL(cuLibraryGetModule);
    return alias(module, library, [&] { return real_cuLibraryGetModule(module, library); });
}
WARPSCOPE_RECORDED(cuKernelGetFunction, Handle* function, Handle kernel) {
    WARPSCOPE_FIND_REAL(cuKernelGetFunction);
    return alias(function, kernel, [&] { return real_cuKernelGetFunction(function, kernel); });
}
WARPSCOPE_RECORDED(cuModuleGetFunction, Handle* function, Handle module, const char* name) {
    WARPSCOPE_FIND_REAL(cuModuleGetFunction);
    return get_function(function, module, name,
                        [&] { return real_cuModuleGetFunction(function, module, name); });
}
WARPSCOPE_RECORDED(cuLibraryGetKernel, Handle* kernel, Handle library, const char* name) {
    WARPSCOPE_FIND_REAL(cuLibraryGetKernel);
    return get_function(kernel, library, name,
                        [&] { return real_cuLibraryGetKernel(kernel, library, name); });
}

// Each launch has a twin for the default stream of a thread.
#define WARPSCOPE_LAUNCH(symbol)                                                                   \
    WARPSCOPE_RECORDED(symbol, Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, \
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,      \
                       Handle stream, void** arguments, void** extra) {                            \
        WARPSCOPE_FIND_REAL(symbol);                                                               \
        return recorder().run(                                                                     \
            function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared}, stream,     \
            arguments, extra, [&] {                                                                \
                return real_##symbol(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,  \
                                     shared, stream, arguments, extra);                            \
            });                                                                                    \
    }
#define WARPSCOPE_LAUNCH_EX(symbol)                                                               \
    WARPSCOPE_RECORDED(symbol, const LaunchConfiguration* c, Handle function, void** arguments,   \
                       void** extra) {                                                            \
        WARPSCOPE_FIND_REAL(symbol);                                                              \
        return recorder().run(                                                                    \
            function,                                                                             \
            {{c->grid_x, c->grid_y, c->grid_z}, {c->block_x, c->block_y, c->block_z}, c->shared}, \
            c->stream, arguments, extra,                                                          \
            [&] { return real_##symbol(c, function, arguments, extra); });                        \
    }
#define WARPSCOPE_COOPERATIVE_LAUNCH(symbol)                                                       \
    WARPSCOPE_RECORDED(symbol, Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, \
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,      \
                       Handle stream, void** arguments) {                                          \
        WARPSCOPE_FIND_REAL(symbol);                                                               \
        return recorder().run(                                                                     \
            function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, true},       \
            stream, arguments, nullptr, [&] {                                                      \
                return real_##symbol(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,  \
                                     shared, stream, arguments);                                   \
            });                                                                                    \
    }
WARPSCOPE_LAUNCH(cuLaunchKernel)
WARPSCOPE_LAUNCH(cuLaunchKernel_ptsz)
WARPSCOPE_LAUNCH_EX(cuLaunchKernelEx)
WARPSCOPE_LAUNCH_EX(cuLaunchKernelEx_ptsz)
WARPSCOPE_COOPERATIVE_LAUNCH(cuLaunchCooperativeKernel)
WARPSCOPE_COOPERATIVE_LAUNCH(cuLaunchCooperativeKernel_ptsz)

WARPSCOPE_RECORDED(cuGetProcAddress_v2, const char* name, void** function, int version,
                   unsigned long long flags, int* result) {
    WARPSCOPE_FIND_REAL(cuGetProcAddress_v2);
    const Status status = real_cuGetProcAddress_v2(name, function, version, flags, result);
    if (status == Status::success && *function)
        *function = recorded(symbol_of(name, version, flags).c_str(), *function);
    return status;
}
WARPSCOPE_RECORDED(cuGetProcAddress, const char* name, void** function, int version,
                   unsigned long long flags) {
    WARPSCOPE_FIND_REAL(cuGetProcAddress);
    const Status status = real_cuGetProcAddress(name, function, version, flags);
    if (status == Status::success && *function)
        *function = recorded(symbol_of(name, version, flags).c_str(), *function);
    return status;
}

namespace {

struct KernelParameters {  // CUDA_KERNEL_NODE_PARAMS_v2
    Handle function;
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
    void** arguments;
    void** extra;
    Handle kernel;  ///< of a library; or null
    Handle context;
};

enum NodeType { kernel_node, copy_node, fill_node, empty_node = 5 };  // CUgraphNodeType

template <class... Parameters>
void call(const char* symbol, Parameters... parameters) {
    using Function = Status (*)(Parameters...);
    const auto function = reinterpret_cast<Function>(driver_function(symbol));
    demand(function != nullptr, Status::not_supported, "the driver is too old");
    const Status status = function(parameters...);
    demand(status == Status::success, status, symbol);
}

struct Node {
    Handle handle = nullptr;
    int type = empty_node;
    KernelParameters kernel{};
};

/// The nodes of a graph, each behind those that it depends on. Throws CallError for a graph that
/// cannot run node by node.
std::vector<Node> nodes_of(Handle graph) {
    std::size_t count = 0;
    call("cuGraphGetNodes", graph, static_cast<Handle*>(nullptr), &count);
    std::vector<Handle> rest(count);
    call("cuGraphGetNodes", graph, rest.data(), &count);
    std::vector<Node> nodes;
    const auto is_done = [&](Handle handle) {
        return std::ranges::find(nodes, handle, &Node::handle) != nodes.end();
    };
    while (!rest.empty()) {
        const auto next = std::ranges::find_if(rest, [&](Handle handle) {
            std::size_t number = 0;
            call("cuGraphNodeGetDependencies", handle, static_cast<Handle*>(nullptr), &number);
            std::vector<Handle> before(number);
            if (number) call("cuGraphNodeGetDependencies", handle, before.data(), &number);
            return std::ranges::all_of(before, is_done);
        });
        demand(next != rest.end(), Status::invalid_value, "its graph has a circle");
        Node node{.handle = *next};
        call("cuGraphNodeGetType", node.handle, &node.type);
        demand(node.type <= fill_node || node.type == empty_node, Status::not_supported,
               "its graph has nodes that are no kernels, copies or fills");
        if (node.type == kernel_node)
            call("cuGraphKernelNodeGetParams_v2", node.handle, &node.kernel);
        nodes.push_back(node);
        rest.erase(next);
    }
    return nodes;
}

/// A graph that the program has instantiated.
struct Graph {
    Handle copy = nullptr;        ///< of the graph, as it was then
    Handle executable = nullptr;  ///< of the copy; made for the first launch that is recorded
    std::vector<Node> nodes;
    std::string problem;  ///< why it cannot run node by node
};

/// Destroys what the recorder has made of a graph.
void destroy(const Graph& graph) {
    try {
        if (graph.executable) call("cuGraphExecDestroy", graph.executable);
        if (graph.copy) call("cuGraphDestroy", graph.copy);
    } catch (const CallError&) {
        // The copy stays until the program ends.
    }
}

std::mutex graphs_mutex;
/// By the executable graph of the program.
std::map<Handle, Graph>& graphs() {
    static auto* const all = new std::map<Handle, Graph>;
    return *all;
}

template <class Instantiate>
Status instantiate(Handle* made, Handle graph, Instantiate instantiate) {
    Graph known;
    try {
        call("cuGraphClone", &known.copy, graph);
        known.nodes = nodes_of(known.copy);
    } catch (const CallError& error) {
        known.problem = error.what();
    }
    const Status status = instantiate();
    const std::scoped_lock lock(graphs_mutex);
    if (status == Status::success)
        graphs()[*made] = std::move(known);
    else
        destroy(known);
    return status;
}

/// The program changes an executable graph, and the copy would not.
void on_change(Handle executable) {
    const std::scoped_lock lock(graphs_mutex);
    if (const auto found = graphs().find(executable); found != graphs().end())
        found->second.problem = "its graph was changed after it was instantiated";
}

/// The handle by which the program launches it: the driver gives a function for each kernel.
Handle function_of(const Node& node) {
    return node.kernel.kernel ? node.kernel.kernel : node.kernel.function;
}

/// Whether the next launch of the graph runs node by node. A graph whose copy cannot be made runs
/// as the program made it, and the report says why its launches are not recorded.
bool runs_by_nodes(Graph& graph) {
    std::vector<Handle> kernels;
    for (const Node& node : graph.nodes)
        if (node.type == kernel_node) kernels.push_back(function_of(node));
    if (!recorder().wants_any(kernels, graph.problem)) return false;
    if (graph.executable) return true;
    try {
        call("cuGraphInstantiateWithFlags", &graph.executable, graph.copy, 0ULL);
        return true;
    } catch (const CallError& error) {
        graph.problem = error.what();
        return recorder().wants_any(kernels, graph.problem);
    }
}

template <class Launch>
Status launch(Handle executable, Handle stream, Launch launch) {
    const std::scoped_lock lock(graphs_mutex);
    const auto found = graphs().find(executable);
    if (found == graphs().end() || Recorder::becomes_node(stream)) return launch(executable);
    Graph& graph = found->second;
    if (!runs_by_nodes(graph)) return launch(executable);
    try {
        for (const Node& now : graph.nodes) {
            if (now.type == empty_node) continue;
            for (const Node& node : graph.nodes)
                if (node.type != empty_node)
                    call("cuGraphNodeSetEnabled", graph.executable, node.handle,
                         unsigned(node.handle == now.handle));
            const KernelParameters& k = now.kernel;
            const Status status = now.type != kernel_node
                                      ? launch(graph.executable)
                                      : recorder().run(function_of(now),
                                                       {{k.grid_x, k.grid_y, k.grid_z},
                                                        {k.block_x, k.block_y, k.block_z},
                                                        k.shared},
                                                       stream, k.arguments, k.extra,
                                                       [&] { return launch(graph.executable); });
            if (status != Status::success) return status;
        }
    } catch (const CallError& error) {
        return error.status;
    }
    return Status::success;
}

}  // namespace

WARPSCOPE_RECORDED(cuGraphInstantiateWithFlags, Handle* made, Handle graph,
                   unsigned long long flags) {
    WARPSCOPE_FIND_REAL(cuGraphInstantiateWithFlags);
    return instantiate(made, graph,
                       [&] { return real_cuGraphInstantiateWithFlags(made, graph, flags); });
}
WARPSCOPE_RECORDED(cuGraphInstantiateWithParams, Handle* made, Handle graph, void* parameters) {
    WARPSCOPE_FIND_REAL(cuGraphInstantiateWithParams);
    return instantiate(made, graph,
                       [&] { return real_cuGraphInstantiateWithParams(made, graph, parameters); });
}
WARPSCOPE_RECORDED(cuGraphInstantiateWithParams_ptsz, Handle* made, Handle graph,
                   void* parameters) {
    WARPSCOPE_FIND_REAL(cuGraphInstantiateWithParams_ptsz);
    return instantiate(made, graph, [&] {
        return real_cuGraphInstantiateWithParams_ptsz(made, graph, parameters);
    });
}
WARPSCOPE_RECORDED(cuGraphLaunch, Handle executable, Handle stream) {
    WARPSCOPE_FIND_REAL(cuGraphLaunch);
    return launch(executable, stream, [&](Handle e) { return real_cuGraphLaunch(e, stream); });
}
WARPSCOPE_RECORDED(cuGraphLaunch_ptsz, Handle executable, Handle stream) {
    WARPSCOPE_FIND_REAL(cuGraphLaunch_ptsz);
    return launch(executable, stream, [&](Handle e) { return real_cuGraphLaunch_ptsz(e, stream); });
}
WARPSCOPE_RECORDED(cuGraphExecDestroy, Handle executable) {
    WARPSCOPE_FIND_REAL(cuGraphExecDestroy);
    const std::scoped_lock lock(graphs_mutex);
    if (const auto known = graphs().extract(executable)) destroy(known.mapped());
    return real_cuGraphExecDestroy(executable);
}

// The changes that a program can make to an executable graph: three words reach all of them.
#define WARPSCOPE_CHANGE(symbol)                                                             \
    WARPSCOPE_RECORDED(symbol, Handle executable, void* second, void* third, void* fourth) { \
        WARPSCOPE_FIND_REAL(symbol);                                                         \
        on_change(executable);                                                               \
        return real_##symbol(executable, second, third, fourth);                             \
    }
WARPSCOPE_CHANGE(cuGraphExecUpdate)
WARPSCOPE_CHANGE(cuGraphExecUpdate_v2)
WARPSCOPE_CHANGE(cuGraphExecNodeSetParams)
WARPSCOPE_CHANGE(cuGraphExecKernelNodeSetParams)
WARPSCOPE_CHANGE(cuGraphExecKernelNodeSetParams_v2)
WARPSCOPE_CHANGE(cuGraphExecMemcpyNodeSetParams)
WARPSCOPE_CHANGE(cuGraphExecMemsetNodeSetParams)
WARPSCOPE_CHANGE(cuGraphExecHostNodeSetParams)
WARPSCOPE_CHANGE(cuGraphExecChildGraphNodeSetParams)
WARPSCOPE_CHANGE(cuGraphNodeSetEnabled)
