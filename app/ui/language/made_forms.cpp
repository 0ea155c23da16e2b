#include <vector>

#include "ui/language/language.h"

namespace warpscope::ui {
namespace {

/// Those of findings, of orders of warps, and of reasons.
constexpr const char* forms_of_checks[] = {
    // Of an order in which a race spoils a result.
    tr_later("Threads that continue"),
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
    tr_later("{} reads old values, and runs until it waits or ends"),
    tr_later("{} reads old values, and runs until it is before {}"),
    tr_later("{} runs until it waits or ends"),
    tr_later("{} runs until it is before {}"),
    tr_later("{} reads at {} what the word held before {} stored to it at {}, as it may, since "
             "nothing orders the two"),
    tr_later("thread {} reads {}, as it may: nothing orders the write of {} before it"),
    tr_later("warp {} reads older values, as it may: nothing orders the newest writes before it"),
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
    tr_later("Older values that loads may get change nothing."),
    tr_later("Older values that loads may get were tried, not all of them."),
    tr_later("No order shows what a load does that a GPU executes later than it stands, and what "
             "an atomic operation does whose scope is too small."),
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
    tr_later("byte {} of an allocation of {} bytes, allocated at {}"),
    tr_later("byte {} of the variable {}"),
    tr_later("Threads of block {} wait at two barriers, which count as one: thread {} at {}, and "
             "thread {} at {}."),
    tr_later("PTX lets them, but the CUDA Programming Guide asks that all threads of a block take "
             "one __syncthreads() together."),
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
    tr_later("The kernel chooses between it and another value, so it may drop it."),
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
    tr_later("the counter at {} orders these two only with fences: {}"),
    tr_later(
        "the flag that is set at {} and polled at {} has the scope of a {}, so it orders nothing "
        "for threads outside of it: use cuda::thread_scope_device"),
    tr_later("a flag orders nothing without fences: {} must stand before it is set, and behind the "
             "loop that polls it"),
    tr_later("a volatile store or an atomic operation must set the flag"),
    tr_later("or use cuda::atomic_ref with release and acquire"),
    tr_later("no barrier can order what threads do at one line at one time: let one thread do it, "
             "give each thread a word of its own, or use an atomic operation"),
    tr_later(
        "threads may leave the loop around these lines after different numbers of passes, so no {} "
        "may stand in it: give each thread words of its own"),
    tr_later("what is read is a guess that atomicCAS() checks, so an old value does no harm"),
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
    tr_later("The work of {} writes {}, and the host reads it at {} without a wait for that work: "
             "{} is missing before {}."),
    tr_later("The work of {} writes {}, and the host writes it at {} without a wait for that work: "
             "{} is missing before {}."),
    tr_later("The work of {} reads {}, and the host writes it at {} without a wait for that work: "
             "{} is missing before {}."),
    tr_later("cudaStreamSynchronize(), cudaEventSynchronize() or cudaDeviceSynchronize()"),
    tr_later("blocks run in any order, and nothing orders these two"),
    tr_later(
        "blocks run in any order, and no release and acquire of one word orders these two: {}"),
    tr_later("blocks run in any order, and no release and acquire of one word orders these two"),
    tr_later("but what is read goes into a word that the other block looks at before it writes, so "
             "the read comes first"),
    tr_later("but the value that is written was there before"),
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
    tr_later("Thread {} of block {} reads {} bytes of global memory at {} of which some were never "
             "written, at byte {} of an allocation of {} bytes."),
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
    tr_later("{}: no right value is known"),
    tr_later("{} is {}, as the program's launch left it."),
    tr_later("No right value is known."),
    tr_later("{}: launch {}, {}, {}, block {}, thread {} and {} more"),
    tr_later("{}: launch {}, {}, {}, block {}, thread {}"),
    tr_later("{}: the host, between launch {} and launch {}"),
    tr_later("{}: the host or a launch that was not captured, between launch {} and launch {}"),
    tr_later(
        "{}: no captured launch; it was there before launch {}, the first that got this memory"),
    tr_later("{}: no captured launch; it was there before launch {}"),
    tr_later("{}: launch {}, {}, which changed it, but not when it ran again"),
    tr_later("{}: not known: launch {}, {}, cannot be run again: {}"),
    tr_later("… and more"),
    tr_later("… ask launch {} to go on"),
    tr_later("… its block takes more steps than are followed"),
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

constexpr const char* before_the_checks[] = {
    // Labels and titles.
    tr_later("Counters of a block"),
    tr_later("Lines of {}"),
    tr_later("Heat of {}"),
    tr_later("Median of the last {}"),
    tr_later("Minimum of the last {}"),
    tr_later("Maximum of the last {}"),
    tr_later("{}: Median of the last {}"),
    tr_later("{}: Minimum of the last {}"),
    tr_later("{}: Maximum of the last {}"),
    tr_later("Numbers of {} that differ"),
    tr_later("centre"),
    tr_later("Pixels of {} that differ"),
    tr_later("Smallest number of {}"),
    tr_later("Largest number of {}"),
    tr_later("Mean of {}"),
    tr_later("Pixels of {}"),
    tr_later("Pixels"),
    tr_later("no NVIDIA driver is installed"),
    tr_later("Infinite numbers of {}"),
    tr_later("NaN (not a number) in {}"),
    tr_later("Rank {}, which moves {} of the bodies"),
    tr_later("{} on one rank"),
    tr_later("barrier {}, {}"),
    tr_later("stores, {}"),
    tr_later("pass {}, {}"),
    tr_later("block ({}, {}), SM {}, {}"),
    tr_later("The kernels of {}, with the buffers and expectations of its launch file."),
    tr_later("it was asked for"),
    tr_later("SIMT emulator"),
    tr_later("interop"),
    tr_later("staged"),
    tr_later("mapped"),
    // Of results.
    tr_later("{} of the pixels were read before their thread had written them; {} orders the reads "
             "after the writes."),
    tr_later("__syncthreads() at {}"),
    tr_later("cluster_sync() at {}"),
    tr_later("No pixel is wrong this time."),
    tr_later("That proves nothing: without {} nothing orders the reads after the writes."),
    tr_later("Other timing gives another picture."),
    tr_later("The edited kernel draws each pixel as the built-in kernel with its barrier does."),
    tr_later("{} of the edited kernel's pixels differ from those of the built-in kernel with its "
             "barrier."),
    tr_later("This may be intended; see the race check."),
    tr_later("Wrong pixels without the barrier"),
    tr_later("Pixels unlike built-in"),
    tr_later("A second run with the barrier gives equal pixels."),
    tr_later("{} of the pixels differ between two runs with the barrier: the device or this "
             "program is broken."),
    tr_later("Every word was read with the stamp of its own block and launch."),
    tr_later("Words were read with the stamp of another block or launch, although there is a "
             "barrier: the device or this program is broken."),
    tr_later("No read was stale this time."),
    tr_later("{} pixels were read from words with the stamp of another block or launch."),
    tr_later("Some of these words hold the right value by chance, so fewer pixels are wrong."),
    tr_later(
        "The pictures differ, although all waits are there: the device or this program is broken."),
    tr_later("All pixels are those of the kernel that waits for each tile."),
    tr_later("Threads read tiles before their copies had landed, or while the next copy came."),
    tr_later("That proves nothing: the copies may land at any other moment."),
    tr_later("The race check tells."),
    tr_later("{} tiles of {} bytes, in {} blocks."),
    tr_later("The bytes that are read and written in the time of the kernel."),
    tr_later("Below 1, the copies overlap with the filter."),
    tr_later(
        "In {} of {} launches the result was wrong by more than float rounding explains ({})."),
    tr_later("{}, {} of {} launches gave a wrong sum: not every thread reaches the barrier at {}."),
    tr_later("{} of {} launches gave a wrong sum: without __syncthreads() at {} the tree adds sums "
             "that other warps have not stored yet."),
    tr_later("No launch gave a wrong sum this time."),
    tr_later("Under Volta rules the kernel finishes, {}."),
    tr_later("Under the rules before Volta the kernel finishes, {}."),
    tr_later("Under strict PTX rules the kernel finishes, {}."),
    tr_later("On {} the kernel finishes, {}."),
    tr_later("with the right sum"),
    tr_later("with a wrong sum"),
    tr_later("Under Volta rules"),
    tr_later("Under the rules before Volta"),
    tr_later("Under strict PTX rules"),
    tr_later("The threads that skip the barrier at {} continue for a limited time."),
    tr_later("The barrier at {} does not wait for threads that have ended."),
    tr_later("CUDA by Example says that the kernel hangs."),
    tr_later("{}, thread 0 spent {} clocks at its {} barriers."),
    tr_later("Threads that skip a barrier end at once."),
    tr_later("Threads that skip a barrier continued for {} clocks."),
    tr_later("The barrier did not wait for them."),
    tr_later("A barrier waits for every warp that has not ended."),
    tr_later("A barrier waits for every thread that has not ended."),
    tr_later("Wrong of {} launches"),
    tr_later("Relative to the sum of the magnitudes."),
    tr_later("Float rounding explains up to {}."),
    tr_later("Change of the total momentum since frame {}, divided by the sum of all |m v|."),
    tr_later("One step from frame {} compared with double precision, for {}: error {} (limit {}); "
             "the largest error of one body is {} of the forces on it (limit {})."),
    tr_later("all {} bodies"),
    tr_later("{} of {} bodies (choose check \"all\" for every body)"),
    tr_later(
        "That proves nothing: without the wait nothing orders the copies of a tile and its reads."),
    tr_later("Without the wait, threads read bodies that the copies have not brought yet."),
    tr_later("That proves nothing: without __syncthreads() at {} nothing orders the loads of a "
             "tile and its reads."),
    tr_later("Without __syncthreads() at {} warps load the next bodies over those that other warps "
             "still read."),
    tr_later(
        "Without __syncthreads() at {} warps read bodies that other warps have not loaded yet."),
    tr_later("Change of the total energy from frame {} to frame {}, relative to its magnitude."),
    tr_later("The steps are too large for these bodies."),
    tr_later("Smaller steps or more softening reduce it."),
    tr_later("Estimated from {} of {} bodies, evenly spaced, and from all heavy ones (choose check "
             "\"all\" for every body)."),
    tr_later("Sectors of global memory that the loop over the bodies reads, for each interaction."),
    tr_later("Emulated time of {}: the median of the newest launches."),
    tr_later("GPU time of {}: the median of the newest launches."),
    tr_later("It computes {} ms, the exchange takes {} ms, and it waits {} ms for other ranks."),
    tr_later("All {} numbers are as expected, bit for bit."),
    tr_later("All {} numbers are as expected; the largest difference is {}."),
    tr_later("{} of {} numbers differ."),
    tr_later("{} of {} pixels differ. The first is {}."),
    tr_later("The first is {} = {}, expected {}; the largest difference is {}."),
    tr_later("{} of type {}, {}."),
    tr_later("{} of block 0, kernel {}, as the emulator runs it"),
    tr_later("{} of block 0, kernel {}, as the emulator runs it, by pass; red reads race"),
    tr_later("{} of block 0, kernel {}, as the emulator runs it, {}, by pass; red reads race"),
    tr_later("{} of block 0, kernel {}, as the emulator runs it, {}"),
    tr_later("Warp sums"),
};

constexpr const char* behind_the_checks[] = {
    // Of proposed launches.
    tr_later("the arguments of the template"),
    tr_later("the block"),
    tr_later("the function {}"),
    tr_later("the grid"),
    tr_later("the numbers of {}"),
    tr_later("the shared memory"),
    tr_later("the size of {}"),
    tr_later("the texture {}"),
    // Kinds of findings, counts of them, and devices.
    tr_later("uninitialized"),
    tr_later("memory"),
    tr_later("undefined"),
    tr_later("call"),
    tr_later("leak"),
    tr_later("unread"),
    tr_later("failure"),
    tr_later("needed"),
    tr_later("{} launch"),
    tr_later("{} access"),
    tr_later("{} thread"),
    tr_later("{} missing arrival"),
    tr_later("{} call"),
    tr_later("{} object"),
    tr_later("emulator"),
    // Of the bodies and the trees.
    tr_later("A block reads each body once: {} of a sector for each interaction."),
    tr_later("Without the tile it is {}."),
    tr_later("Each warp reads each body: {} of a sector for each interaction."),
    tr_later("With the tile it is {}."),
    tr_later("A Plummer sphere in equilibrium."),
    tr_later("A disk that turns round a heavy central body."),
    tr_later("Two disks that will collide."),
    tr_later("A sphere at rest."),
    tr_later("It collapses and then expands again."),
    tr_later("All masses in the file are 0, so no body pulls another one."),
    tr_later("The masses in the file add up to {}."),
    tr_later("With G = 1, the unit of length is {} of the file's units, the unit of mass {}, the "
             "unit of time {}."),
    tr_later("With G = 6.6743e-11 m^3 / (kg s^2), the unit of length is {} m, the unit of mass {} "
             "kg, the unit of time {} s."),
    tr_later("From {}."),
    tr_later("{}: no barrier, so there is nothing to show"),
    // Lines of one file. The last form, since others have such lines as values.
    tr_later("{}.cu:{} and {}"),
};

}  // namespace

std::span<const char* const> made_forms() {
    static const std::vector<const char*> all = [] {
        std::vector<const char*> joined;
        for (const auto forms : {std::span<const char* const>(before_the_checks),
                                 std::span<const char* const>(forms_of_checks),
                                 std::span<const char* const>(behind_the_checks)})
            joined.insert(joined.end(), forms.begin(), forms.end());
        return joined;
    }();
    return all;
}

}  // namespace warpscope::ui
