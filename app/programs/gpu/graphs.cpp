#include "programs/gpu/graphs.h"

#include <algorithm>
#include <unordered_map>

#include "programs/images/status.h"

namespace warpscope::programs {

namespace {

std::uint64_t newest_id = 0;

void run(const GraphSteps& steps) {
    for (const GraphStep& step : steps) step();
}

/// One step that runs the bodies which the condition chooses when it runs.
GraphStep conditional(const GraphNode& node, std::vector<GraphSteps> all) {
    const auto bodies = std::make_shared<const std::vector<GraphSteps>>(std::move(all));
    const auto run_chosen = [kind = node.condition_kind, value = node.condition, bodies] {
        switch (kind) {
            case ConditionKind::if_:
                if (*value)
                    run(bodies->at(0));
                else if (bodies->size() > 1)
                    run(bodies->at(1));
                break;
            case ConditionKind::while_:
                while (*value) run(bodies->at(0));
                break;
            case ConditionKind::switch_:
                if (*value < bodies->size()) run(bodies->at(*value));
                break;
        }
    };
    const auto reach = [bodies](Reach& all) {
        for (const GraphSteps& steps : *bodies) add_reach(steps, all);
    };
    return {run_chosen, reach};
}

void append(GraphSteps& to, GraphSteps more) {
    for (GraphStep& step : more) to.push_back(std::move(step));
}

}  // namespace

void add_reach(const GraphSteps& steps, Reach& to) {
    for (const GraphStep& step : steps)
        if (step.reach) step.reach(to);
}

Graph::Graph(const Graph& other) : conditions(other.conditions) {
    std::unordered_map<const GraphNode*, GraphNode*> copies;
    for (const auto& node : other.nodes_) {
        auto& copy = nodes_.emplace_back(std::make_unique<GraphNode>(*node));
        copy->graph = this;
        for (auto& body : copy->bodies) body = std::make_shared<Graph>(*body);
        copies[node.get()] = copy.get();
    }
    for (const auto& copy : nodes_)
        for (GraphNode*& before : copy->after) before = copies.at(before);
}

GraphNode* Graph::add(NodeKind kind, std::span<GraphNode* const> after) {
    for (const GraphNode* node : after)
        demand(node && node->graph == this, Status::invalid_value,
               "a dependency is no node of the graph");
    auto& node = nodes_.emplace_back(std::make_unique<GraphNode>());
    node->kind = kind;
    node->id = ++newest_id;
    node->graph = this;
    node->after.assign(after.begin(), after.end());
    return node.get();
}

GraphNode* Graph::copy_of(const GraphNode* node) const {
    const auto found = std::ranges::find_if(
        nodes_, [&](const auto& mine) { return node && mine->id == node->id; });
    demand(found != nodes_.end(), Status::invalid_value, "the node has no copy in the graph");
    return found->get();
}

void Graph::remove(const GraphNode* node) {
    for (const auto& other : nodes_) std::erase(other->after, node);
    std::erase_if(nodes_, [&](const auto& mine) { return mine.get() == node; });
}

bool Graph::update(const Graph& other) {
    const auto place = [](const Graph& graph, const GraphNode* node) {
        return std::ranges::find_if(graph.nodes_, [&](const auto& n) { return n.get() == node; }) -
               graph.nodes_.begin();
    };
    if (nodes_.size() != other.nodes_.size()) return false;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const GraphNode &mine = *nodes_[i], &its = *other.nodes_[i];
        if (mine.kind != its.kind || mine.after.size() != its.after.size()) return false;
        for (std::size_t k = 0; k < mine.after.size(); ++k)
            if (place(*this, mine.after[k]) != place(other, its.after[k])) return false;
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        nodes_[i]->steps = other.nodes_[i]->steps;
        nodes_[i]->bodies.clear();
        for (const auto& body : other.nodes_[i]->bodies)
            nodes_[i]->bodies.push_back(std::make_shared<Graph>(*body));
    }
    return true;
}

GraphSteps Graph::steps(const Choice& choice) const {
    GraphSteps all;
    for (const auto& condition : conditions)
        if (condition->is_set_at_launch)
            all.push_back([condition] { condition->value = condition->at_launch; });
    std::unordered_map<const GraphNode*, std::size_t> waits;
    std::unordered_map<const GraphNode*, std::vector<const GraphNode*>> next;
    std::vector<const GraphNode*> ready;
    for (const auto& node : nodes_) {
        waits[node.get()] = node->after.size();
        for (const GraphNode* before : node->after) next[before].push_back(node.get());
        if (node->after.empty()) ready.push_back(node.get());
    }
    std::size_t count = 0;
    while (!ready.empty()) {
        const auto at = ready.begin() + std::ptrdiff_t(choice(ready.size()));
        const GraphNode& node = **at;
        ready.erase(at);
        ++count;
        std::vector<GraphSteps> bodies;
        for (const auto& body : node.bodies) bodies.push_back(body->steps(choice));
        if (node.is_enabled && node.kind == NodeKind::conditional)
            all.push_back(conditional(node, std::move(bodies)));
        else if (node.is_enabled) {
            append(all, node.steps);
            for (GraphSteps& body : bodies) append(all, std::move(body));
        }
        for (const GraphNode* later : next[&node])
            if (--waits[later] == 0) ready.push_back(later);
    }
    demand(count == nodes_.size(), Status::invalid_value, "nodes of the graph wait for each other");
    return all;
}

void Graph::allocate() const {
    for (const auto& node : nodes_) {
        if (node->kind == NodeKind::allocate) run(node->steps);
        for (const auto& body : node->bodies) body->allocate();
    }
}

}  // namespace warpscope::programs
