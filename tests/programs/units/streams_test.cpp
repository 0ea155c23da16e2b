#include <gtest/gtest.h>

#include <deque>
#include <set>
#include <string>
#include <utility>

#include "programs/gpu/streams.h"
#include "programs/images/status.h"

namespace warpscope::programs {
namespace {

constexpr unsigned non_blocking = 1;

// Writes down the order in which work runs.
struct Order {
    std::string ran;
    std::function<void()> step(char name) {
        return [this, name] { ran += name; };
    }
};

TEST(Streams, WorkWaitsUntilTheHostDoes) {
    Streams streams(1);
    Order order;
    Stream* stream = streams.create(0, 0);
    streams.add(*stream, order.step('a'));
    EXPECT_EQ(order.ran, "");
    streams.finish(*stream);
    EXPECT_EQ(order.ran, "a");
}

TEST(Streams, TheWorkOfAStreamStaysInItsOrder) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Streams streams(seed);
        Order order;
        Stream* stream = streams.create(0, 0);
        for (const char name : {'a', 'b', 'c', 'd'}) streams.add(*stream, order.step(name));
        streams.run_until_idle();
        EXPECT_EQ(order.ran, "abcd");
    }
}

// Two streams with two pieces of work each have 4! / (2! 2!) = 6 orders.
TEST(Streams, SeedsGiveAllOrdersOfTwoStreams) {
    std::set<std::string> orders;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Streams streams(seed);
        Order order;
        Stream *first = streams.create(0, 0), *second = streams.create(0, 0);
        for (const char name : {'a', 'b'}) streams.add(*first, order.step(name));
        for (const char name : {'x', 'y'}) streams.add(*second, order.step(name));
        streams.run_until_idle();
        orders.insert(order.ran);
    }
    EXPECT_EQ(orders, (std::set<std::string>{"abxy", "axby", "axyb", "xaby", "xayb", "xyab"}));
}

TEST(Streams, TheLegacyStreamWaitsForBlockingStreamsAndTheyForIt) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Streams streams(seed);
        Order order;
        Stream *first = streams.create(0, 0), *second = streams.create(0, 0);
        streams.add(*first, order.step('a'));
        streams.add(streams.legacy(), order.step('l'));
        streams.add(*second, order.step('b'));
        streams.run_until_idle();
        EXPECT_EQ(order.ran, "alb");
    }
}

TEST(Streams, ANonBlockingStreamDoesNotWaitForTheLegacyStream) {
    std::set<std::string> orders;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Streams streams(seed);
        Order order;
        Stream* stream = streams.create(non_blocking, 0);
        streams.add(streams.legacy(), order.step('l'));
        streams.add(*stream, order.step('a'));
        streams.run_until_idle();
        orders.insert(order.ran);
    }
    EXPECT_EQ(orders, (std::set<std::string>{"la", "al"}));
}

TEST(Streams, AnEventOrdersTwoStreams) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Streams streams(seed);
        Order order;
        Stream *first = streams.create(0, 0), *second = streams.create(0, 0);
        Event* event = streams.create_event(true);
        streams.add(*first, order.step('a'));
        streams.record(event, *first);
        streams.wait(*second, event);
        streams.add(*second, order.step('b'));
        streams.run_until_idle();
        EXPECT_EQ(order.ran, "ab");
    }
}

TEST(Streams, AQuestionAnswersNotReadyAndGetsOn) {
    Streams streams(1);
    Order order;
    Stream* stream = streams.create(0, 0);
    streams.add(*stream, order.step('a'));
    const WorkId last = streams.add(*stream, order.step('b'));
    int asked = 0;
    while (true) {
        try {
            streams.query(last);
            break;
        } catch (const CallError& error) {
            EXPECT_EQ(error.status, Status::not_ready);
            ++asked;
        }
    }
    EXPECT_EQ(asked, 2);
    EXPECT_EQ(order.ran, "ab");
}

TEST(Streams, AGraphRunsWhatWasCapturedInTwoStreams) {
    Streams streams(1);
    Order order;
    Stream *first = streams.create(0, 0), *second = streams.create(0, 0);
    Event* fork = streams.create_event(false);
    streams.begin_capture(*first);
    streams.add(*first, order.step('a'));
    streams.record(fork, *first);
    streams.wait(*second, fork);
    streams.add(*second, order.step('b'));
    Graph* graph = streams.end_capture(*first);
    streams.run_until_idle();
    EXPECT_EQ(order.ran, "");
    Graph* executable = streams.copy_of(graph);
    streams.destroy(graph);
    streams.destroy(fork);
    streams.launch(executable, *first);
    streams.launch(executable, *first);
    streams.run_until_idle();
    EXPECT_EQ(order.ran, "abab");
    streams.add(*second, order.step('c'));  // the capture of the second stream has ended too
    streams.run_until_idle();
    EXPECT_EQ(order.ran, "ababc");
}

TEST(Streams, WrongHandlesAreRefused) {
    Streams streams(1);
    Event* event = streams.create_event(true);
    streams.destroy(event);
    EXPECT_THROW(streams.checked(event), CallError);
    EXPECT_THROW(streams.begin_capture(streams.legacy()), CallError);
    EXPECT_THROW(streams.end_capture(*streams.create(0, 0)), CallError);
    Stream* gone = streams.create(0, 0);
    streams.destroy(gone);
    EXPECT_FALSE(streams.has(gone));
}

TEST(Streams, TheWorkOfADestroyedStreamRuns) {
    Streams streams(1);
    Order order;
    Stream* stream = streams.create(0, 0);
    streams.add(*stream, order.step('a'));
    streams.destroy(stream);
    streams.run_until_idle();
    EXPECT_EQ(order.ran, "a");
}

TEST(Streams, TimesOfEventsNeedBothToHaveHappened) {
    Streams streams(1);
    Event *start = streams.create_event(true), *stop = streams.create_event(true);
    EXPECT_THROW(streams.milliseconds(start, stop), CallError);
    streams.record(start, streams.legacy());
    streams.record(stop, streams.legacy());
    EXPECT_THROW(streams.milliseconds(start, stop), CallError);
    streams.finish(stop);
    EXPECT_GE(streams.milliseconds(start, stop), 0);
}

// a, then b; c when it likes: 3 orders.
TEST(Streams, SeedsGiveAllOrdersThatAGraphAllows) {
    std::set<std::string> orders;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Streams streams(seed);
        Order order;
        Graph* graph = streams.create_graph();
        GraphNode* b = graph->add(NodeKind::host, {});
        GraphNode* a = graph->add(NodeKind::host, {});
        graph->add(NodeKind::host, {})->steps = {order.step('c')};
        a->steps = {order.step('a')};
        b->steps = {order.step('b')};
        b->after = {a};
        Stream* stream = streams.create(0, 0);
        streams.launch(graph, *stream);
        streams.finish(*stream);
        orders.insert(order.ran);
    }
    EXPECT_EQ(orders, (std::set<std::string>{"abc", "acb", "cab"}));
}

TEST(Streams, ACaptureRemembersWhatAnEventHasWaitedFor) {
    Streams streams(1);
    Order order;
    Stream *first = streams.create(0, 0), *second = streams.create(0, 0);
    Event* event = streams.create_event(true);
    streams.begin_capture(*first);
    streams.add(*first, order.step('a'));
    streams.record(event, *first);
    streams.add(*first, order.step('b'));
    streams.wait(*second, event);
    streams.add(*second, order.step('c'));
    const Graph& graph = *streams.end_capture(*first);
    ASSERT_EQ(graph.nodes().size(), 3u);
    const GraphNode* a = graph.nodes()[0].get();
    EXPECT_EQ(graph.nodes()[1]->after, std::vector<GraphNode*>{const_cast<GraphNode*>(a)});
    EXPECT_EQ(graph.nodes()[2]->after, std::vector<GraphNode*>{const_cast<GraphNode*>(a)});
}

TEST(Streams, AnExecutableGraphTakesOverTheWorkOfOneWithEqualNodes) {
    Streams streams(1);
    Order order;
    Graph *graph = streams.create_graph(), *other = streams.create_graph();
    graph->add(NodeKind::host, {})->steps = {order.step('a')};
    Graph* executable = streams.copy_of(graph);
    GraphNode* node = other->add(NodeKind::host, {});
    node->steps = {order.step('z')};
    EXPECT_TRUE(executable->update(*other));
    other->add(NodeKind::host, std::vector<GraphNode*>{node});
    EXPECT_FALSE(executable->update(*other));
    Stream* stream = streams.create(0, 0);
    streams.launch(executable, *stream);
    streams.launch(graph, *stream);
    streams.finish(*stream);
    EXPECT_EQ(order.ran, "za");
}

// Another process cannot wait for work that has not run.
TEST(Streams, AnEventOfSeveralProcessesIsDoneWhenItIsRecorded) {
    Streams streams(1);
    Order order;
    Stream* stream = streams.create(0, 0);
    streams.add(*stream, order.step('a'));
    streams.record(streams.create_event(false, true), *stream);
    EXPECT_EQ(order.ran, "a");
}

// Functions of the program that are started, and return when somebody waits for them.
struct HostFunctions {
    std::deque<std::pair<WorkId, GraphStep>> started;
    std::set<WorkId> returned;
    void call_next() {
        started.front().second();
        returned.insert(started.front().first);
        started.pop_front();
    }
    Streams::Hooks hooks() {
        Streams::Hooks hooks;
        hooks.start_host_call = [this](WorkId id, GraphStep call) {
            started.emplace_back(id, std::move(call));
        };
        hooks.has_returned = [this](WorkId id) { return returned.contains(id); };
        hooks.wait_for_return = [this](WorkId id) {
            while (!returned.contains(id)) call_next();
        };
        return hooks;
    }
};

// Stream one has a, then a function, then b; stream two has x and y.
TEST(Streams, WhatAFunctionOfTheProgramWaitsForRunsFirstWhoeverRunsIt) {
    std::set<std::string> orders;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto ran = [&](bool has_thread) {
            HostFunctions functions;
            Streams streams(seed, functions.hooks());
            Order order;
            Stream *one = streams.create(non_blocking, 0), *two = streams.create(non_blocking, 0);
            streams.add(*two, order.step('x'));
            streams.add(*one, order.step('a'));
            streams.add(*one, {order.step('-'), {}, true}, NodeKind::host);
            streams.add(*one, order.step('b'));
            if (has_thread) {
                while (streams.run_one_for_host_call()) {
                }
                EXPECT_EQ(order.ran, "a");
                EXPECT_EQ(functions.started.size(), 1u);
                functions.call_next();
            }
            streams.add(*two, order.step('y'));
            streams.run_until_idle();
            EXPECT_TRUE(streams.is_idle());
            EXPECT_LT(order.ran.find('-'), order.ran.find('b'));
            std::erase(order.ran, '-');
            return order.ran;
        };
        EXPECT_EQ(ran(true), ran(false));
        orders.insert(ran(true));
    }
    // Until the host has to wait for the function, what comes behind it does not run.
    EXPECT_EQ(orders, (std::set<std::string>{"axyb"}));
}

TEST(Streams, WorkThatNeedsNoFunctionDoesNotWaitForIt) {
    HostFunctions functions;
    Streams streams(1, functions.hooks());
    Order order;
    Stream *one = streams.create(non_blocking, 0), *two = streams.create(non_blocking, 0);
    streams.add(*one, {order.step('-'), {}, true}, NodeKind::host);
    streams.add(*two, order.step('x'));
    streams.finish(*two);
    EXPECT_EQ(order.ran, "x");
    EXPECT_EQ(functions.started.size(), 1u);
    EXPECT_THROW(streams.query(one->last), CallError);
    functions.call_next();
    EXPECT_THROW(streams.query(one->last), CallError);  // this notices that it has returned
    EXPECT_NO_THROW(streams.query(one->last));
}

}  // namespace
}  // namespace warpscope::programs
