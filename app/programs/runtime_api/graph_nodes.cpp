// Source: CUDA Runtime API and CUDA Driver API, "Graph Management": the nodes of a graph. What a
// node does is what the call that its parameters describe would add to a stream.
#include "programs/driver_api/driver.h"
#include "programs/runtime_api/arrays.h"
#include "programs/runtime_api/runtime.h"

using namespace warpscope::programs;

namespace {

using NodeHandle = GraphNode*;

struct KernelParameters {  // cudaKernelNodeParams, CUDA_KERNEL_NODE_PARAMS
    const void* function;
    Dim grid, block;
    unsigned shared;
    void** arguments;
    void** extra;
};
struct FillParameters {  // cudaMemsetParams, CUDA_MEMSET_NODE_PARAMS
    Address to;
    std::size_t pitch;
    unsigned value, element_bytes;
    std::size_t width, height;
};
struct HostParameters {  // cudaHostNodeParams, CUDA_HOST_NODE_PARAMS
    HostFunction function;
    void* data;
};
struct CopyParameters {  // cudaMemcpyNodeParams
    int flags, reserved[3];
    Copy3d copy;
};
struct DriverCopyParameters {  // CUDA_MEMCPY_NODE_PARAMS
    int flags, reserved;
    void* context;
    Copy3dParameters copy;
};
struct AllocationParameters {  // cudaMemAllocNodeParams, CUDA_MEM_ALLOC_NODE_PARAMS
    char pool[88];
    const void* access;
    std::size_t access_count, bytes;
    Address address;
};
struct ConditionParameters {  // cudaConditionalNodeParams
    Address handle;
    ConditionKind kind;
    unsigned size;
    Graph** bodies;
};
struct NodeParameters {  // cudaGraphNodeParams, CUgraphNodeParams
    NodeKind kind;
    int reserved[3];
    union {
        long long size[29];
        KernelParameters kernel;
        CopyParameters copy;
        DriverCopyParameters driver_copy;
        FillParameters fill;
        HostParameters host;
        Graph* graph;
        Event* event;
        AllocationParameters allocation;
        Address address;
        ConditionParameters condition;
    };
};

/// A pointer for each argument, which may be in one buffer.
std::vector<void*> arguments_of(const KernelParameters& p) {
    std::vector<void*> arguments;
    if (const auto* const kernel = function_of(p.function).kernel())
        for (const void* const value : values_of(*kernel, p.arguments, p.extra))
            arguments.push_back(const_cast<void*>(value));
    return arguments;
}

void add(Gpu& gpu, Stream& stream, const KernelParameters& p) {
    std::vector<void*> arguments = arguments_of(p);
    launch(gpu, p.function, p.grid, p.block, arguments.data(), p.shared, stream);
}
void add(Gpu& gpu, Stream& stream, const FillParameters& p) {
    gpu.fill({p.to, p.pitch}, p.value, p.element_bytes, p.width, p.height, stream, Return::at_once);
}
void add(Gpu& gpu, Stream& stream, const HostParameters& p) {
    gpu.call_host(stream, [p] { p.function(p.data); });
}
void add(Gpu& gpu, Stream& stream, const Copy3d& p) {
    copy_3d(gpu, p, stream, Return::at_once);
}
void add(Gpu& gpu, Stream& stream, const Copy3dParameters& p) {
    copy_3d(gpu, p, stream, Return::at_once);
}

template <class Parameters>
GraphSteps steps_of(Gpu& gpu, const Parameters& parameters) {
    return Streams::captured([&](Stream& stream) { add(gpu, stream, parameters); });
}

template <class Parameters>
std::shared_ptr<const Parameters> kept(const Parameters& p) {
    return std::make_shared<const Parameters>(p);
}
/// Copies the values of the arguments, which the program may change.
std::shared_ptr<const KernelParameters> kept(const KernelParameters& p) {
    struct Kept {
        KernelParameters parameters;
        std::vector<std::vector<char>> values;
        std::vector<void*> arguments;
    };
    const auto all = std::make_shared<Kept>(Kept{p, {}, arguments_of(p)});
    for (std::size_t i = 0; i < all->arguments.size(); ++i) {
        const char* const value = static_cast<const char*>(all->arguments[i]);
        const std::size_t bytes = function_of(p.function).kernel()->parameters[i].size;
        all->values.emplace_back(value, value + bytes);
        all->arguments[i] = all->values.back().data();
    }
    all->parameters.arguments = all->arguments.data();
    all->parameters.extra = nullptr;
    return {all, &all->parameters};
}

template <class Parameters>
void describe(Gpu& gpu, GraphNode& node, const Parameters& parameters) {
    node.steps = steps_of(gpu, parameters);
    node.parameters = kept(parameters);
}

template <class Parameters>
const Parameters& parameters_of(const GraphNode& node) {
    const auto* const kept = std::any_cast<std::shared_ptr<const Parameters>>(&node.parameters);
    demand(kept, Status::not_supported,
           "only nodes that were described have parameters, and those of the other API are others");
    return **kept;
}

/// What the functions that add a node have in common.
struct PlaceInGraph {
    NodeHandle* node;
    Graph* graph;
    const NodeHandle* after;
    std::size_t count;

    GraphNode& add(Gpu& gpu, NodeKind kind, GraphSteps steps = {}) const {
        *node = gpu.streams().checked(graph).add(kind, {after, count});
        (*node)->steps = std::move(steps);
        return **node;
    }
    template <class Parameters>
    void describe(Gpu& gpu, NodeKind kind, const Parameters& parameters) const {
        add(gpu, kind, steps_of(gpu, parameters)).parameters = kept(parameters);
    }
};

void add_event(Gpu& gpu, const PlaceInGraph& place, NodeKind kind, Event* event) {
    gpu.streams().checked(event);
    GraphNode& node = place.add(gpu, kind);
    node.event = event;
    if (kind == NodeKind::record_event) node.steps = {gpu.streams().time_of(event)};
}

void add_graph(Gpu& gpu, const PlaceInGraph& place, Graph* child) {
    const Graph& graph = gpu.streams().checked(child);
    gpu.streams().add_body(place.add(gpu, NodeKind::graph), &graph);
}

Graph* child_of(const GraphNode& node) {
    demand(node.kind == NodeKind::graph, Status::invalid_value, "the node has no graph");
    return node.bodies[0].get();
}

void add_allocation(Gpu& gpu, const PlaceInGraph& place, AllocationParameters& p) {
    place.add(gpu, NodeKind::allocate, Streams::captured([&](Stream& stream) {
                  p.address = gpu.allocate_in(stream, p.bytes);
              }));
}

void add_free(Gpu& gpu, const PlaceInGraph& place, Address address) {
    place.add(gpu, NodeKind::free,
              Streams::captured([&](Stream& stream) { gpu.free_in(stream, address); }));
}

void add_condition(Gpu& gpu, const PlaceInGraph& place, ConditionParameters& p) {
    demand(gpu.find(p.handle).has_value(), Status::invalid_value, "the condition does not exist");
    GraphNode& node = place.add(gpu, NodeKind::conditional);
    node.condition = reinterpret_cast<const std::uint32_t*>(p.handle);
    node.condition_kind = p.kind;
    auto* const bodies = new Graph*[p.size];  // the program keeps the list
    for (unsigned i = 0; i < p.size; ++i) bodies[i] = gpu.streams().add_body(node, nullptr);
    p.bodies = bodies;
}

void add_any(Gpu& gpu, const PlaceInGraph& place, NodeParameters& p, bool by_driver) {
    const auto add = [&](const auto& parameters) { place.describe(gpu, p.kind, parameters); };
    switch (p.kind) {
        case NodeKind::kernel:
            return add(p.kernel);
        case NodeKind::copy:
            return by_driver ? add(p.driver_copy.copy) : add(p.copy.copy);
        case NodeKind::fill:
            return add(p.fill);
        case NodeKind::host:
            return add(p.host);
        case NodeKind::graph:
            return add_graph(gpu, place, p.graph);
        case NodeKind::empty:
            place.add(gpu, p.kind);
            return;
        case NodeKind::wait_event:
        case NodeKind::record_event:
            return add_event(gpu, place, p.kind, p.event);
        case NodeKind::allocate:
            return add_allocation(gpu, place, p.allocation);
        case NodeKind::free:
            return add_free(gpu, place, p.address);
        case NodeKind::conditional:
            return add_condition(gpu, place, p.condition);
    }
    throw CallError(Status::not_supported, "nodes of this kind are not supported");
}

Copy3d copy_1d(void* to, const void* from, std::size_t bytes, int kind) {
    const auto side = [&](const void* pointer) {
        return PitchedPointer{const_cast<void*>(pointer), bytes, bytes, 1};
    };
    return {nullptr, {}, side(from), nullptr, {}, side(to), {bytes, 1, 1}, kind};
}

}  // namespace

#define WARPSCOPE_PLACE NodeHandle *node, Graph *graph, const NodeHandle *after, std::size_t count
#define WARPSCOPE_PLACED (PlaceInGraph{node, graph, after, count})

// The functions that add a node, read and change it, and change its copy in an executable graph.
#define WARPSCOPE_NODE(api, call, prefix, version, name, Parameters, kind_of, ...)               \
    api(prefix##GraphAdd##name##Node, prefix##GraphAdd##name##Node##version, WARPSCOPE_PLACE,    \
        const Parameters* p __VA_ARGS__) {                                                       \
        return call(__func__, [&](Gpu& gpu) { WARPSCOPE_PLACED.describe(gpu, kind_of, *p); });   \
    }                                                                                            \
    api(prefix##Graph##name##NodeGetParams, prefix##Graph##name##NodeGetParams##version,         \
        NodeHandle node, Parameters* p) {                                                        \
        return call(__func__, [&](Gpu&) { *p = parameters_of<Parameters>(*node); });             \
    }                                                                                            \
    api(prefix##Graph##name##NodeSetParams, prefix##Graph##name##NodeSetParams##version,         \
        NodeHandle node, const Parameters* p) {                                                  \
        return call(__func__, [&](Gpu& gpu) { describe(gpu, *node, *p); });                      \
    }                                                                                            \
    api(prefix##GraphExec##name##NodeSetParams, prefix##GraphExec##name##NodeSetParams##version, \
        Graph* executable, NodeHandle node, const Parameters* p __VA_ARGS__) {                   \
        return call(__func__, [&](Gpu& gpu) {                                                    \
            describe(gpu, *gpu.streams().checked(executable).copy_of(node), *p);                 \
        });                                                                                      \
    }
#define WARPSCOPE_RUNTIME_OF(name, symbol, ...) WARPSCOPE_RUNTIME(name, __VA_ARGS__)
#define WARPSCOPE_RUNTIME_NODE(name, Parameters, kind) \
    WARPSCOPE_NODE(WARPSCOPE_RUNTIME_OF, runtime_call, cuda, , name, Parameters, kind)

WARPSCOPE_RUNTIME_NODE(Kernel, KernelParameters, NodeKind::kernel)
WARPSCOPE_RUNTIME_NODE(Memcpy, Copy3d, NodeKind::copy)
WARPSCOPE_RUNTIME_NODE(Memset, FillParameters, NodeKind::fill)
WARPSCOPE_RUNTIME_NODE(Host, HostParameters, NodeKind::host)
// Programs of CUDA 11 call the first ones, whose parameters end before what only CUDA 12 has.
WARPSCOPE_NODE(WARPSCOPE_DRIVER, driver_call, cu, , Kernel, KernelParameters, NodeKind::kernel)
WARPSCOPE_NODE(WARPSCOPE_DRIVER, driver_call, cu, _v2, Kernel, KernelParameters, NodeKind::kernel)
WARPSCOPE_NODE(WARPSCOPE_DRIVER, driver_call, cu, , Memcpy, Copy3dParameters, NodeKind::copy, ,
               void*)
WARPSCOPE_NODE(WARPSCOPE_DRIVER, driver_call, cu, , Memset, FillParameters, NodeKind::fill, , void*)
WARPSCOPE_NODE(WARPSCOPE_DRIVER, driver_call, cu, , Host, HostParameters, NodeKind::host)

WARPSCOPE_RUNTIME(cudaGraphAddMemcpyNode1D, WARPSCOPE_PLACE, void* to, const void* from,
                  std::size_t bytes, int kind) {
    return runtime_call(__func__, [&](Gpu& gpu) {
        WARPSCOPE_PLACED.add(gpu, NodeKind::copy, steps_of(gpu, copy_1d(to, from, bytes, kind)));
    });
}
WARPSCOPE_RUNTIME(cudaGraphExecMemcpyNodeSetParams1D, Graph* executable, NodeHandle node, void* to,
                  const void* from, std::size_t bytes, int kind) {
    return runtime_call(__func__, [&](Gpu& gpu) {
        gpu.streams().checked(executable).copy_of(node)->steps =
            steps_of(gpu, copy_1d(to, from, bytes, kind));
    });
}
WARPSCOPE_BOTH(cudaGraphAddEmptyNode, cuGraphAddEmptyNode, , (WARPSCOPE_PLACE),
               WARPSCOPE_PLACED.add(gpu, NodeKind::empty))
WARPSCOPE_BOTH(cudaGraphAddChildGraphNode, cuGraphAddChildGraphNode, ,
               (WARPSCOPE_PLACE, Graph* child), add_graph(gpu, WARPSCOPE_PLACED, child))
WARPSCOPE_BOTH(cudaGraphChildGraphNodeGetGraph, cuGraphChildGraphNodeGetGraph, ,
               (NodeHandle node, Graph** child), *child = child_of(*node))
WARPSCOPE_BOTH(cudaGraphAddEventRecordNode, cuGraphAddEventRecordNode, ,
               (WARPSCOPE_PLACE, Event* event),
               add_event(gpu, WARPSCOPE_PLACED, NodeKind::record_event, event))
WARPSCOPE_BOTH(cudaGraphAddEventWaitNode, cuGraphAddEventWaitNode, ,
               (WARPSCOPE_PLACE, Event* event),
               add_event(gpu, WARPSCOPE_PLACED, NodeKind::wait_event, event))
WARPSCOPE_BOTH(cudaGraphAddMemAllocNode, cuGraphAddMemAllocNode, ,
               (WARPSCOPE_PLACE, AllocationParameters* p),
               add_allocation(gpu, WARPSCOPE_PLACED, *p))
WARPSCOPE_BOTH(cudaGraphAddMemFreeNode, cuGraphAddMemFreeNode, , (WARPSCOPE_PLACE, Address address),
               add_free(gpu, WARPSCOPE_PLACED, address))
WARPSCOPE_RUNTIME(cudaGraphAddNode, NodeHandle* node, Graph* graph, const NodeHandle* after,
                  const void*, std::size_t count, NodeParameters* p) {
    return runtime_call(__func__, [&](Gpu& gpu) { add_any(gpu, WARPSCOPE_PLACED, *p, false); });
}
WARPSCOPE_DRIVER(cuGraphAddNode, cuGraphAddNode_v2, NodeHandle* node, Graph* graph,
                 const NodeHandle* after, const void*, std::size_t count, NodeParameters* p) {
    return driver_call(__func__, [&](Gpu& gpu) { add_any(gpu, WARPSCOPE_PLACED, *p, true); });
}
WARPSCOPE_RUNTIME(cudaGraphConditionalHandleCreate, Address* handle, Graph* graph,
                  unsigned at_launch, unsigned flags) {
    return runtime_call(__func__, [&](Gpu& gpu) {
        *handle = gpu.add_condition(gpu.streams().checked(graph), at_launch, flags & 1);
    });
}

// Memory that graphs allocate stays theirs until they free it: there is nothing to trim.
WARPSCOPE_BOTH(cudaDeviceGraphMemTrim, cuDeviceGraphMemTrim, , (int), )
WARPSCOPE_BOTH(cudaDeviceGetGraphMemAttribute, cuDeviceGetGraphMemAttribute, ,
               (int, int, std::uint64_t* bytes), *bytes = gpu.bytes_of_graphs())
