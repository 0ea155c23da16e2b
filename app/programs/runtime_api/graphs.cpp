// Source: CUDA Runtime API and CUDA Driver API, "Graph Management"; "Stream Management": captures.
#include <algorithm>

#include "programs/runtime_api/runtime.h"

using namespace warpscope::programs;

namespace {

using NodeHandle = GraphNode*;

struct Edge {  // cudaGraphEdgeData
    unsigned char bytes[8];
};

/// CUDA 12 has functions with these names that lack the data of edges.
void demand_edges() {
    demand(runtime_version() >= 13000, Status::not_supported,
           "this function of CUDA 12 is not supported: build the program with CUDA 13");
}

/// Writes as many as there is room for, and how many there are; without a list, only their number.
void write_nodes(const std::vector<GraphNode*>& nodes, NodeHandle* to, std::size_t* count) {
    if (to) std::copy_n(nodes.begin(), std::min(*count, nodes.size()), to);
    *count = nodes.size();
}

std::vector<GraphNode*> nodes_of(const Graph& graph) {
    std::vector<GraphNode*> nodes;
    for (const auto& node : graph.nodes()) nodes.push_back(node.get());
    return nodes;
}

std::vector<GraphNode*> dependents_of(const GraphNode* node) {
    std::vector<GraphNode*> found = nodes_of(*node->graph);
    std::erase_if(found, [&](const GraphNode* other) {
        return std::ranges::find(other->after, node) == other->after.end();
    });
    return found;
}

void change_edges(const NodeHandle* from, const NodeHandle* to, std::size_t count, bool add) {
    demand_edges();
    for (std::size_t i = 0; i < count; ++i) {
        demand(from[i] && to[i] && from[i]->graph == to[i]->graph, Status::invalid_value,
               "the nodes are in different graphs");
        std::erase(to[i]->after, from[i]);
        if (add) to[i]->after.push_back(from[i]);
    }
}

struct UpdateResult {  // cudaGraphExecUpdateResultInfo
    int result;
    NodeHandle node, from;
};

void update(Graph& executable, const Graph& graph, UpdateResult* result) {
    constexpr int succeeded = 0, topology_changed = 2;
    const bool is_done = executable.update(graph);
    if (result) *result = {is_done ? succeeded : topology_changed, nullptr, nullptr};
    demand(is_done, Status::graph_update_failed, "the graphs have different nodes");
}

void end_capture(Gpu& gpu, Stream& stream, Graph** graph) {
    Graph* const ended = gpu.streams().end_capture(stream);
    if (graph) *graph = ended;
}

/// What cudaStreamGetCaptureInfo() writes; each but the status may be null.
struct CaptureInfo {
    int* status;
    unsigned long long* id;
    Graph** graph;
    const NodeHandle** after;
    const Edge** edges;
    std::size_t* count;
};

void write_info(const Stream& stream, const CaptureInfo& to) {
    demand_edges();
    *to.status = stream.capture != nullptr;
    if (to.id) *to.id = reinterpret_cast<std::uintptr_t>(stream.capture.get());
    if (to.graph) *to.graph = stream.capture.get();
    if (to.after) *to.after = stream.captured_after.data();
    if (to.edges) *to.edges = nullptr;
    if (to.count) *to.count = stream.captured_after.size();
}

void change_capture(Stream& stream, const NodeHandle* after, std::size_t count, unsigned flags) {
    constexpr unsigned replace = 1;  // cudaStreamSetCaptureDependencies
    demand_edges();
    demand(stream.capture != nullptr, Status::illegal_state, "the stream is not being captured");
    if (flags & replace) stream.captured_after.clear();
    stream.captured_after.insert(stream.captured_after.end(), after, after + count);
}

std::vector<GraphNode*> roots_of(const Graph& graph) {
    std::vector<GraphNode*> roots = nodes_of(graph);
    std::erase_if(roots, [](const GraphNode* node) { return !node->after.empty(); });
    return roots;
}

/// No edge has data: writes zeros, and the nodes.
void write_nodes(const std::vector<GraphNode*>& nodes, NodeHandle* to, Edge* edges,
                 std::size_t* count) {
    demand_edges();
    if (edges) std::fill_n(edges, *count, Edge{});
    write_nodes(nodes, to, count);
}

void write_edges(const Graph& graph, NodeHandle* from, NodeHandle* to, Edge* edges,
                 std::size_t* count) {
    std::vector<GraphNode*> begins, ends;
    for (GraphNode* node : nodes_of(graph))
        for (GraphNode* before : node->after) {
            begins.push_back(before);
            ends.push_back(node);
        }
    std::size_t room = *count;
    write_nodes(begins, from, edges, &room);
    write_nodes(ends, to, count);
}

Graph& checked(Graph* graph) {
    return gpu().streams().checked(graph);
}

Graph* instantiated(Gpu& gpu, Graph* graph) {
    Graph* const executable = gpu.streams().copy_of(graph);
    try {
        executable->steps([](std::size_t) { return std::size_t(0); });  // throws for a circle
    } catch (const CallError&) {
        gpu.streams().destroy(executable);
        throw;
    }
    return executable;
}

}  // namespace

WARPSCOPE_BOTH(cudaStreamBeginCapture, cuStreamBeginCapture, _v2, (StreamHandle stream, int),
               gpu.streams().begin_capture(stream_of(stream)))
WARPSCOPE_BOTH(cudaStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph, ,
               (StreamHandle stream, Graph* graph, const NodeHandle* after, const Edge*,
                std::size_t count, int),
               gpu.streams().begin_capture(stream_of(stream), graph, {after, count}))
WARPSCOPE_BOTH(cudaStreamEndCapture, cuStreamEndCapture, , (StreamHandle stream, Graph** graph),
               end_capture(gpu, stream_of(stream), graph))
WARPSCOPE_BOTH(cudaStreamIsCapturing, cuStreamIsCapturing, , (StreamHandle stream, int* capturing),
               *capturing = stream_of(stream).capture != nullptr)
WARPSCOPE_BOTH(cudaStreamGetCaptureInfo, cuStreamGetCaptureInfo, _v3,
               (StreamHandle stream, int* status, unsigned long long* id, Graph** graph,
                const NodeHandle** after, const Edge** edges, std::size_t* count),
               write_info(stream_of(stream), {status, id, graph, after, edges, count}))
WARPSCOPE_BOTH(cudaStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies, _v2,
               (StreamHandle stream, NodeHandle* after, const Edge*, std::size_t count,
                unsigned flags),
               change_capture(stream_of(stream), after, count, flags))

WARPSCOPE_BOTH(cudaGraphCreate, cuGraphCreate, , (Graph * *graph, unsigned),
               *graph = gpu.streams().create_graph())
WARPSCOPE_BOTH(cudaGraphClone, cuGraphClone, , (Graph * *clone, Graph* graph),
               *clone = gpu.streams().copy_of(graph))
WARPSCOPE_BOTH(cudaGraphDestroy, cuGraphDestroy, , (Graph * graph), gpu.streams().destroy(graph))
WARPSCOPE_BOTH(cudaGraphExecDestroy, cuGraphExecDestroy, , (Graph * graph),
               gpu.streams().destroy(graph))
WARPSCOPE_BOTH(cudaGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, ,
               (Graph * *executable, Graph* graph, unsigned long long),
               *executable = instantiated(gpu, graph))
WARPSCOPE_BOTH(cudaGraphInstantiateWithParams, cuGraphInstantiateWithParams, ,
               (Graph * *executable, Graph* graph, void*), *executable = instantiated(gpu, graph))
// In CUDA 11 a node and a text for errors follow.
WARPSCOPE_DRIVER(cuGraphInstantiate, cuGraphInstantiate_v2, Graph** executable, Graph* graph) {
    return driver_call(__func__, [&](Gpu& gpu) { *executable = instantiated(gpu, graph); });
}
WARPSCOPE_RUNTIME(cudaGraphInstantiate, Graph** executable, Graph* graph, unsigned long long) {
    return runtime_call(__func__, [&](Gpu& gpu) { *executable = instantiated(gpu, graph); });
}
WARPSCOPE_BOTH(cudaGraphLaunch, cuGraphLaunch, , (Graph * executable, StreamHandle stream),
               gpu.streams().launch(executable, stream_of(stream)))
WARPSCOPE_BOTH(cudaGraphUpload, cuGraphUpload, , (Graph * executable, StreamHandle),
               checked(executable))
WARPSCOPE_BOTH(cudaGraphExecUpdate, cuGraphExecUpdate, _v2,
               (Graph * executable, Graph* graph, UpdateResult* result),
               update(checked(executable), checked(graph), result))

WARPSCOPE_BOTH(cudaGraphGetNodes, cuGraphGetNodes, ,
               (Graph * graph, NodeHandle* nodes, std::size_t* count),
               write_nodes(nodes_of(checked(graph)), nodes, count))
WARPSCOPE_BOTH(cudaGraphGetRootNodes, cuGraphGetRootNodes, ,
               (Graph * graph, NodeHandle* nodes, std::size_t* count),
               write_nodes(roots_of(checked(graph)), nodes, count))
WARPSCOPE_BOTH(cudaGraphGetEdges, cuGraphGetEdges, _v2,
               (Graph * graph, NodeHandle* from, NodeHandle* to, Edge* edges, std::size_t* count),
               write_edges(checked(graph), from, to, edges, count))
WARPSCOPE_BOTH(cudaGraphNodeGetDependencies, cuGraphNodeGetDependencies, _v2,
               (NodeHandle node, NodeHandle* to, Edge* edges, std::size_t* count),
               write_nodes(node->after, to, edges, count))
WARPSCOPE_BOTH(cudaGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes, _v2,
               (NodeHandle node, NodeHandle* to, Edge* edges, std::size_t* count),
               write_nodes(dependents_of(node), to, edges, count))
WARPSCOPE_BOTH(cudaGraphNodeGetType, cuGraphNodeGetType, , (NodeHandle node, NodeKind* kind),
               *kind = node->kind)
WARPSCOPE_BOTH(cudaGraphNodeFindInClone, cuGraphNodeFindInClone, ,
               (NodeHandle * found, NodeHandle node, Graph* clone),
               *found = checked(clone).copy_of(node))
WARPSCOPE_BOTH(cudaGraphDestroyNode, cuGraphDestroyNode, , (NodeHandle node),
               node->graph->remove(node))
WARPSCOPE_BOTH(cudaGraphAddDependencies, cuGraphAddDependencies, _v2,
               (Graph*, const NodeHandle* from, const NodeHandle* to, const Edge*,
                std::size_t count),
               change_edges(from, to, count, true))
WARPSCOPE_BOTH(cudaGraphRemoveDependencies, cuGraphRemoveDependencies, _v2,
               (Graph*, const NodeHandle* from, const NodeHandle* to, const Edge*,
                std::size_t count),
               change_edges(from, to, count, false))
WARPSCOPE_BOTH(cudaGraphNodeSetEnabled, cuGraphNodeSetEnabled, ,
               (Graph * executable, NodeHandle node, unsigned is_enabled),
               checked(executable).copy_of(node)->is_enabled = is_enabled != 0)
WARPSCOPE_BOTH(cudaGraphNodeGetEnabled, cuGraphNodeGetEnabled, ,
               (Graph * executable, NodeHandle node, unsigned* is_enabled),
               *is_enabled = checked(executable).copy_of(node)->is_enabled)
