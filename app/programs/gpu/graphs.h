#pragma once

#include <any>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace warpscope::programs {

class Graph;
struct Event;

/// CUgraphNodeType, cudaGraphNodeType.
enum class NodeKind : int {
    kernel = 0,
    copy = 1,
    fill = 2,
    host = 3,
    graph = 4,
    empty = 5,
    wait_event = 6,
    record_event = 7,
    allocate = 10,
    free = 11,
    conditional = 13,
};

/// Memory that work may access: `bytes` bytes from the address on; 0: the allocation that contains
/// it, and those that addresses in it lead to.
struct Reached {
    std::uint64_t address = 0;
    std::size_t bytes = 0;
    bool only_reads = false;
};
using Reach = std::vector<Reached>;

/// Work in one piece.
struct GraphStep {
    template <std::invocable Run>
    GraphStep(Run to_run, std::function<void(Reach&)> reached = {}, bool calls = false)
        : run(std::move(to_run)), reach(std::move(reached)), calls_host(calls) {}
    void operator()() const { run(); }

    std::function<void()> run;
    std::function<void(Reach&)> reach;  ///< adds the memory that it may access; empty: none
    bool calls_host = false;            ///< it calls a function of the program
};
using GraphSteps = std::vector<GraphStep>;
void add_reach(const GraphSteps& steps, Reach& to);

/// CUgraphConditionalHandle is the address of the value, to which kernels write.
struct Condition {
    std::uint32_t value = 0, at_launch = 0;
    bool is_set_at_launch = false;
};
enum class ConditionKind : int { if_, while_, switch_ };  // cudaGraphConditionalNodeType

/// CUgraphNode: work of a graph that begins when other nodes have ended.
struct GraphNode {
    NodeKind kind = NodeKind::empty;
    std::uint64_t id = 0;  ///< its copies in clones and executable graphs have the same one
    Graph* graph = nullptr;
    std::vector<GraphNode*> after;
    GraphSteps steps;
    std::vector<std::shared_ptr<Graph>> bodies;  ///< of a child graph or a condition
    const std::uint32_t* condition = nullptr;    ///< which bodies run
    ConditionKind condition_kind = ConditionKind::if_;
    Event* event = nullptr;  ///< that it records or waits for
    std::any parameters;     ///< a std::shared_ptr to what has described it; empty: it was captured
    bool is_enabled = true;
};

/// CUgraph, CUgraphExec: work that was captured or described in place of being run.
class Graph {
  public:
    /// Chooses a number below its argument.
    using Choice = std::function<std::size_t(std::size_t)>;

    Graph() = default;
    Graph(const Graph& other);
    Graph& operator=(const Graph&) = delete;

    /// Throws CallError if a node of `after` is in another graph.
    GraphNode* add(NodeKind kind, std::span<GraphNode* const> after);
    const std::vector<std::unique_ptr<GraphNode>>& nodes() const { return nodes_; }
    /// The copy of a node of the graph that this one was made of. Throws CallError.
    GraphNode* copy_of(const GraphNode* node) const;
    void remove(const GraphNode* node);
    /// Takes over the work of a graph with the same nodes; false if they differ.
    bool update(const Graph& other);

    /// All work, in an order that the dependencies allow and `choice` chooses. Throws CallError if
    /// nodes wait for each other.
    GraphSteps steps(const Choice& choice) const;
    /// Does what must have happened when the launch of the graph returns: allocations.
    void allocate() const;

    std::vector<std::shared_ptr<Condition>> conditions;

  private:
    std::vector<std::unique_ptr<GraphNode>> nodes_;  ///< in the order of their creation
};

}  // namespace warpscope::programs
