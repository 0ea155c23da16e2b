#include "ui/language/language.h"
#include "ui/language/made_forms.h"

namespace warpscope::ui {
namespace {

constexpr const char* forms_of_checks[] = {
    // Of an order in which a race spoils a result.
    tr_later("With 1 preemption, {}: {}"),
    tr_later("With {} preemptions, {}: {}"),
    tr_later("{} runs to {} before {} has passed {}"),
    tr_later("the copy that {} starts at {} lands {}"),
    tr_later("{}, and so does 1 more"),
    tr_later("{}, and so do {} more"),
    tr_later("{} (load)"),
    tr_later("{} (store)"),
    tr_later("{} (atomic)"),
    tr_later("the launch fails: {}"),
    tr_later("the block fails: {}"),
    tr_later("then {} is {} instead of {}, which is expected."),
    tr_later("then {} is {} instead of {}, and 1 more word differs from what is expected."),
    tr_later("then {} is {} instead of {}, and {} more words differ from what is expected."),
    tr_later("then {} is {} instead of {}, and 1 more word differs from {}."),
    tr_later("then {} is {} instead of {}, and {} more words differ from {}."),
    tr_later("then {} is {} instead of {} of {}."),
    tr_later("the order in which all warps advance together, access by access"),
    tr_later("the order in which each warp runs until it waits or ends"),
    tr_later("That order does not give the expected result either."),
    // Its turns, one a line.
    tr_later("after 1 barrier: {}"),
    tr_later("after {} barriers: {}"),
    tr_later("{}, for the {}st time"),
    tr_later("{}, for the {}nd time"),
    tr_later("{}, for the {}rd time"),
    tr_later("{}, for the {}th time"),
    tr_later("{}, access {}"),
    tr_later("{} runs until it waits or ends"),
    tr_later("{} runs until it is before {}"),
    tr_later("copy {} of {} lands {}"),
    tr_later("as late as it may"),
    tr_later("at the end of the turn"),
    tr_later("at the end of its turn"),
    tr_later("all copies land at once"),
    tr_later("all other copies land at once"),
    tr_later("the warps run in their order, each until it waits or ends"),
    tr_later("then the next warps in their order, each until it waits or ends"),
    // Of orders in which none does.
    tr_later("No order was searched: {}."),
    tr_later("the run was stopped"),
    tr_later("the first frame does not launch this kernel"),
    tr_later("the two accesses are those of two clusters"),
    tr_later("Both threads are of one warp, and only warps are reordered."),
    tr_later("The orders without a preemption are too many: in {} turns no result differed."),
    tr_later("The orders of the warps of blocks {} without a preemption are too many: in {} turns "
             "no result differed."),
    tr_later("All {} with at most {} give one result."),
    tr_later("All {} with at most {} give one result where they end."),
    tr_later("All {} with at most {} give the expected result."),
    tr_later("All {} with at most {} give the expected result where they end."),
    tr_later("All {} with at most {} leave the words that are expected as they are."),
    tr_later("All {} with at most {} leave the words that are expected as they are where they "
             "end."),
    tr_later("{} and copies that do not land at once"),
    tr_later("{} preemptions"),
    tr_later("{} preemption"),
    tr_later("{} orders of the warps of blocks {}"),
    tr_later("orders of the warps of blocks {}"),
    tr_later("{} orders"),
    tr_later("orders"),
    tr_later("In each of them 1 expected word is wrong."),
    tr_later("In each of them {} expected words are wrong."),
    tr_later("Orders with {} were not all run."),
    tr_later("In the emulator the accesses of each thread stay in order, and an atomic operation "
             "is atomic for all threads: no order shows what a missing fence, or a scope that is "
             "too small, does on a GPU."),
    tr_later("kernel {}: at most {} warps can take turns in a chosen order, and {} blocks of {} "
             "warps have {}"),
    tr_later("kernel {}: the clusters of a cooperative launch can't take listed turns"),
    tr_later("kernel {}: the other {} blocks, which run before those whose orders are searched, do "
             "not end within {} s"),
    // Of the race check: the threads and places of a sentence.
    tr_later("Thread {} of block {} (warp {})"),
    tr_later("Thread {} of block {} (lane {} of warp {})"),
    tr_later("thread {} of the same warp"),
    tr_later("thread {} of warp {}"),
    tr_later("byte {} of shared memory"),
    tr_later("byte {} of the shared memory of block {}"),
    tr_later("byte {} of an allocation of {} bytes"),
    tr_later("byte {} of the variable {}"),
    // Races within a block.
    tr_later("{} read {} at {} before {} wrote it at {}: {}."),
    tr_later("{} read {} at {} before {} wrote it atomically at {}: {}."),
    tr_later("{} reads atomically {} at {} after {} had overwritten it at {}: {}."),
    tr_later("{} reads {} at {} after {} had overwritten it at {}: {}."),
    tr_later("{} reads atomically {} at {} after {} wrote it at {}: {}."),
    tr_later("{} reads {} at {} after {} wrote it at {}: {}."),
    tr_later("{} overwrites atomically {} at {} after {} read it at {}: {}."),
    tr_later("{} overwrites {} at {} after {} read it at {}: {}."),
    tr_later("{} overwrites atomically {} at {} after {} wrote it at {}: {}."),
    tr_later("{} overwrites {} at {} after {} wrote it at {}, with the same value: {}."),
    tr_later("{} overwrites {} at {} after {} wrote it at {}: {}."),
    tr_later("{} and {} store one value to {} in one instruction, at {}."),
    tr_later("It is the value that remains; one store would do."),
    tr_later("{} and {} store different values to {} in one instruction, at {}."),
    tr_later("Either value may remain, and no barrier can order the two stores."),
    tr_later(
        "{} reads {} at {} while an asynchronous copy copies to it, which {} started at {}: {}."),
    tr_later("{} overwrites {} at {} while an asynchronous copy copies to it, which {} started at "
             "{}: {}."),
    tr_later("{} overwrites {} at {} while an asynchronous copy copies from it, which {} started "
             "at {}: {}."),
    tr_later("{} starts a bulk copy at {} that uses {}, which {} wrote at {}: fence.proxy.async is "
             "missing between the two, so the copy may use what was there before."),
    tr_later("{} starts a bulk copy at {} that overwrites {}, which {} wrote at {}: "
             "fence.proxy.async is missing between the two, so either value may remain."),
    tr_later("Thread {} of block {} reads byte {} of shared memory at {} before any thread of its "
             "block has written it."),
    tr_later("The value is undefined."),
    tr_later("Block {} ends while the bulk copy that thread {} started at {} may still read byte "
             "{} of its shared memory: the thread must wait with cp.async.bulk.wait_group or "
             "cp.async.bulk.wait_group.read before it ends."),
    // Advice on a race: the barrier, wait or atomic operation that is missing.
    tr_later("This barrier also repairs:"),
    tr_later("The atomic operation also repairs:"),
    tr_later("The second launch also repairs:"),
    tr_later("The release and acquire also repair:"),
    tr_later("a second launch (or grid.sync() in a cooperative one)"),
    tr_later("{} is missing between {} and {}, and before the next pass of their loop"),
    tr_later("{} is missing between one pass of this line and the next"),
    tr_later("{} is missing between what this line reads and what it writes"),
    tr_later("{} is missing between {} and {}"),
    tr_later("{} is missing between {} and {}, and between {} and {}"),
    tr_later("the flag that is set at {} and polled at {} orders these two only with fences: {}"),
    tr_later(
        "the flag that is set at {} and polled at {} has the scope of a {}, so it orders nothing "
        "for threads outside of it: use cuda::thread_scope_device"),
    tr_later("a flag orders nothing without fences: {} must stand before it is set, and behind the "
             "loop that polls it"),
    tr_later("a volatile store or an atomic operation must set the flag"),
    tr_later("or use cuda::atomic_ref with release and acquire"),
    tr_later("no barrier can order what threads do at one line at one time: let one thread do it, "
             "give each thread a word of its own, or use an atomic operation"),
    tr_later("each of them changes the value that it has read, and all changes but one are lost: "
             "use an atomic operation, such as atomicAdd()"),
    tr_later(
        "the value that a thread reads decides whether it overwrites the word, so the value of "
        "another thread may be lost: use an atomic operation, such as atomicMax() or atomicCAS()"),
    tr_later("no barrier, and no release and acquire of one word, orders these accesses"),
    tr_later("the extern arrays {} are one memory, which begins at one address; let the second "
             "array begin behind the first one"),
    tr_later("the reading thread must wait for the phase of the mbarrier at byte {} of shared "
             "memory that counts the copy"),
    tr_later("the thread must wait with cp.async.bulk.wait_group first"),
    tr_later("the thread that started it must wait with cp.async.bulk.wait_group, and a barrier "
             "must follow"),
    tr_later("the thread must wait for its copy first, with __pipeline_wait_prior() or "
             "cp.async.wait_group behind a commit"),
    tr_later("the thread that started it must wait for it, with __pipeline_wait_prior() or "
             "cp.async.wait_group behind a commit, and a barrier must follow; or an mbarrier must "
             "count the copy"),
    // Races between blocks.
    tr_later("Thread {} of block {} writes {} at {}, and thread {} of block {} writes it at {}, "
             "with the same value: {}."),
    tr_later(
        "Thread {} of block {} writes {} at {}, and thread {} of block {} writes it at {}: {}."),
    tr_later(
        "Thread {} of block {} writes {} at {}, and thread {} of block {} reads it at {}: {}."),
    tr_later(
        "Thread {} of block {} reads {} at {}, and thread {} of block {} writes it at {}: {}."),
    tr_later("blocks run in any order, and nothing orders these two: {}"),
    tr_later("blocks run in any order, and nothing orders these two"),
    tr_later(
        "blocks run in any order, and no release and acquire of one word orders these two: {}"),
    tr_later("blocks run in any order, and no release and acquire of one word orders these two"),
    tr_later("the __syncthreads() between them is for the threads of one block"),
    tr_later(
        "a fence of block scope, such as __threadfence_block(), orders nothing between blocks"),
    tr_later("a fence of cluster scope orders nothing between clusters"),
    tr_later("the atomic operation at {} has the scope of a block, so it is not atomic for threads "
             "of other blocks"),
    tr_later("the atomic operation at {} has the scope of a cluster, so it is not atomic for "
             "threads of other clusters"),
    tr_later("no barrier of the cluster orders these two: {}"),
    tr_later("Thread {} of block {} reads {} at {}, and nothing makes that block wait before it "
             "ends: its shared memory may be gone."),
    tr_later("Thread {} of block {} writes {} at {}, and nothing makes that block wait before it "
             "ends: its shared memory may be gone."),
    tr_later("A barrier of the cluster, such as cluster.sync(), must stand behind the access, for "
             "both blocks."),
    // Barriers and member masks.
    tr_later("Divergent threads in warp {} of block {}: thread {} arrives at the barrier at {} "
             "without thread {} and {} more threads of its warp, which took another branch."),
    tr_later("All threads of a warp must arrive at a barrier together."),
    tr_later("Divergent threads in block {}: the barrier at {}, where thread {} waits, completes "
             "without {} threads of the block."),
    tr_later("They have exited, and a barrier does not wait for exited threads."),
    tr_later("{} names lane {} in its member mask {} at {}, but that lane has the mask {}."),
    tr_later("All lanes that a mask names must have this mask."),
    tr_later("{} executes the instruction at {} with the member mask {}, which does not name its "
             "own lane."),
    tr_later("The result is undefined."),
    tr_later("kernel {}, {}: block {}: lanes {} of warp {} arrive at the barrier without lanes {} "
             "of their warp ({}); all threads of a warp must arrive at a barrier together"),
    tr_later("{} are at {}"),
    tr_later("{} wait at {}"),
    tr_later("kernel {}: deadlock in block {}, its threads wait for each other: {}"),
    tr_later(
        "A GPU may go on without lanes that a mask names and that do not come: then the results "
        "of the instruction are undefined"),
    tr_later("warp {} lanes {} at the barrier {} (barrier {})"),
    tr_later("warps {} lanes {} at the barrier {} (barrier {})"),
    tr_later("warp {} lanes {} before {}, blocked by the waiting lanes of this warp"),
    tr_later("warps {} lanes {} before {}, blocked by the waiting lanes of this warp"),
    tr_later("warp {} lanes {} at the warp-wide instruction {}, for lanes {}"),
    tr_later("Thread {} of block {} (lane {} of warp {}) reads the value of lane {} at {}, but "
             "that lane does not execute the shuffle."),
    tr_later("Thread {} of block {} (lane {} of warp {}) reads the value of lane {} at {}, but "
             "that lane is not in the member mask {}."),
    tr_later(
        "The result is undefined, and thread {} stores an undefined value to global memory at {}."),
    tr_later("The result is undefined, and thread {} stores what is computed of it at {}."),
    tr_later("The result is undefined, and thread {} branches by an undefined value at {}."),
    // Memory.
    tr_later("Thread {} of block {} reads {} bytes of global memory at {} that were never written, "
             "at byte {} of an allocation of {} bytes."),
    tr_later("Thread {} of block {} reads {} bytes of the array {} in shared memory at {}, {} of "
             "its {} bytes: the array {} lies there."),
    tr_later("Thread {} of block {} reads {} bytes of the array {} in shared memory at {}, {} of "
             "its {} bytes."),
    tr_later("Thread {} of block {} writes {} bytes of the array {} in shared memory at {}, {} of "
             "its {} bytes: the array {} lies there."),
    tr_later("Thread {} of block {} writes {} bytes of the array {} in shared memory at {}, {} of "
             "its {} bytes."),
    tr_later("at byte {}"),
    tr_later("{} bytes before the beginning"),
    tr_later("Thread {} of block {} reads {} bytes at {}, {} of a local array that has at most {} "
             "bytes: another local array lies there."),
    tr_later("Thread {} of block {} writes {} bytes at {}, {} of a local array that has at most {} "
             "bytes: another local array lies there."),
    tr_later("Thread {} of block {} reads an element of {} at {} that another array has "
             "overwritten, in byte {} of shared memory: {}."),
    tr_later("Thread {} of block {} stores an undefined value to global memory at {}."),
    tr_later("Thread {} of block {} branches by an undefined value at {}."),
    tr_later("Thread {} of block {} uses an undefined value as an address at {}."),
    tr_later("It has never set this value, or the variable or the element of a local array from "
             "which it is computed."),
    // What depends on a barrier.
    tr_later("{} expected words"),
    tr_later("{} expected word"),
    tr_later("{} % depend on it: without it, {} of {} written by {} differ in at least one of {} "
             "orders."),
    tr_later("It is needed: without it the launch fails: {}"),
    tr_later("It is needed, although no result shows it: without it, {} stay as they are in {} "
             "orders of {}, but there are {}."),
    tr_later("Nothing needed it for this input: without it, {} stay as they are in {} orders of "
             "{}, and there is no race."),
    tr_later("{} (in the emulator the accesses of a thread stay in order, so no result can show a "
             "missing fence)"),
    tr_later("{} words"),
    tr_later("{} word"),
    tr_later("{} hazards"),
    tr_later("the only block"),
    tr_later("all {} blocks"),
    tr_later("the first of {} blocks"),
    tr_later("the first {} of {} blocks"),
    // Why a value is wrong.
    tr_later("{}, expected {}: {}"),
    tr_later("{}, the program's launch left {}: {}"),
    tr_later("no thread of this launch has written it"),
    tr_later("No thread of this launch has written {}."),
    tr_later("{} is right: {}"),
    tr_later("The capture does not say which of the two is right: the program's launch had an "
             "order of its own."),
    tr_later("pixel ({}, {})"),
    tr_later("red {}"),
    tr_later("green {}"),
    tr_later("blue {}"),
    tr_later("thread {} read before {} wrote"),
    tr_later("thread {} read after {} wrote"),
    tr_later("thread {} updated before {} wrote"),
    tr_later("thread {} updated after {} wrote"),
    tr_later("thread {} read before the copy of {} landed"),
    tr_later("thread {} read after the copy of {} landed"),
    tr_later("thread {} read what {} never wrote"),
    tr_later("thread {} stored it last at {}, in the right run at {}"),
    tr_later("thread {} stored it last, not {}"),
    tr_later("nobody stored it last, not {}"),
    tr_later("thread {} took another way to {}"),
    tr_later("Thread {} of warp {} read {} at {} before thread {} of warp {} wrote it ({})."),
    tr_later("Thread {} of warp {} read {} at {} after thread {} of warp {} wrote it ({})."),
    tr_later("Thread {} of warp {} read {} at {} before the copy that thread {} of warp {} had "
             "started ({}) landed."),
    tr_later("Thread {} of warp {} read {} at {} after the copy that thread {} of warp {} had "
             "started ({}) landed."),
    tr_later("Thread {} of warp {} read {} at {} although thread {} of warp {} never wrote it in "
             "this order ({})."),
    tr_later("Thread {} of warp {} read {} at {}."),
    tr_later("thread {} read what the block had not written"),
    tr_later("The order of the warps is not the reason."),
    tr_later("none of {} other orders of the warps gives the right value: the order is not the "
             "reason"),
    tr_later("None of {} other orders of the warps gives the right value: the order is not the "
             "reason."),
    tr_later("the same instructions compute it in the right run, from values that differ"),
    tr_later("The same instructions compute it in the right run, from values that differ."),
    tr_later("the block takes more than {} steps"),
    tr_later("The block takes more than {} steps."),
    tr_later("the block itself leaves the right value: another block has changed it"),
    tr_later("The block itself leaves the right value: another block has changed it."),
    tr_later("word {} of shared memory, which the block had not written"),
    tr_later("word {} of shared memory"),
    tr_later("global memory"),
    tr_later("It got what was there before this block."),
    tr_later("It got what thread {} of warp {} had written ({})."),
    tr_later("Thread {} stored it last, not thread {} ({})."),
    tr_later("Thread {} of warp {} executes {} with operands that come from other instructions "
             "than in the right run."),
    // The instructions behind it, and the run that is right.
    tr_later("… and {} more, back to the inputs of the kernel"),
    tr_later("all warps advance together, access by access"),
    tr_later("each warp runs until it waits or ends, the lowest first"),
    tr_later("each warp runs until it waits or ends, the highest first"),
    tr_later("the turns are random, with seed {}"),
    // Where a run of the microscope has stopped.
    tr_later("Warp {}, lane {}, reaches {} with {}."),
    tr_later("Warp {}, lane {}, reaches {}."),
    tr_later("Warp {} reaches {}."),
    tr_later("Warp {} reads {}, {}."),
    tr_later("Warp {} writes {}, {}."),
    tr_later("Warp {} changes {}, {}."),
    // Parts of these, behind the sentences that begin with them.
    tr_later("warp {} lane {}  {}"),
    tr_later("warp {} of block {}"),
    tr_later("warp {}"),
    tr_later("address {}"),
    tr_later("global word {}"),
    tr_later("word {}"),
};

}  // namespace

std::span<const char* const> check_forms() {
    return forms_of_checks;
}

}  // namespace warpscope::ui
