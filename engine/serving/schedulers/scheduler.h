#pragma once

// Who runs next: the policy of one replica. One file per policy in schedulers/, listed in schedulers.cpp. A scheduler
// owns its queues and decides about KV blocks; the replica (replica.h) prices what it chose, lets time pass and counts
// tokens. It is asked again whenever a pipeline stage is free.

#include "base/diagnostic.h"
#include "serving/fleet/kv_blocks.h"
#include "serving/request_table.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// What one iteration computes. Memory is reused from iteration to iteration.
struct Batch {
    std::vector<RequestIndex> requests;
    std::vector<std::int32_t> tokens;   ///< per request; a decoding one: 1 (+ drafts)
    std::vector<RequestIndex> dropped;  ///< preempted or rejected while it was made, for the record
    double delay = 0;                   ///< seconds before it can start: caches that move to or from host memory
    void clear() {
        delay = 0;
        requests.clear();
        tokens.clear();
        dropped.clear();
    }
    void add(RequestIndex r, std::int32_t count) {
        requests.push_back(r);
        tokens.push_back(count);
    }
    bool empty() const { return requests.empty(); }
};

/// A policy and its numbers; every policy reads the fields that its card names and ignores the rest.
struct SchedulerSpec {
    std::string id = "vllm-v1";
    std::int32_t maxSequences = 128;  ///< in one batch or running, as the policy has it
    std::int32_t tokenBudget = 2048;  ///< tokens of one iteration
    std::int32_t chunk = 512;         ///< Sarathi: tokens of one iteration with prompts in it
    std::int32_t longPrompt = 0;      ///< vLLM V1: tokens of one prompt per iteration; 0: no limit
    std::int32_t maxModelLength = 0;  ///< tokens of text; 0: no limit
    double watermark = 0.01;          ///< share of blocks that admission leaves free
    bool chunkedPrefill = true;
    bool reserveWholePrompt = true;  ///< admission asks for blocks of the whole prompt
    bool prefixCache = false;
    bool byPriority = false;     ///< queue and victims by priority, then arrival
    bool swap = false;           ///< preempted sequences go to host memory instead of starting again
    std::int32_t lookahead = 0;  ///< draft tokens that need blocks beyond the next token
    std::int32_t stages = 1;     ///< of the pipeline; filled in by the replica
    double kvBytesPerToken = 0;  ///< filled in by the replica
    /// Reproduces a published simulator where it differs from the engine that it simulates: `vidur`, `splitwise`,
    /// `distserve`. Empty: the engine's own semantics.
    std::string compatibility;
    std::map<std::string, double, std::less<>> more;  ///< what only one policy knows, by the names on its card
    bool operator==(const SchedulerSpec&) const = default;
};

class Scheduler {
public:
    virtual ~Scheduler() = default;
    /// A request has come to this replica: new, or with its KV from elsewhere (computed > 0, blocks not yet taken).
    virtual void add(RequestIndex r, SimTime now) = 0;
    /// Fills the next iteration; leaves it empty if nothing can run. Requests that can never fit are rejected here.
    virtual void next(Batch& batch, SimTime now) = 0;
    /// The iteration is over and the table counts it: free what is finished, keep the rest. (Where a replica fails, the
    /// table does not count it, and everything comes back this way before it is evicted.)
    virtual void finish(const Batch& batch, SimTime now) = 0;
    /// Takes back everything that is queued or running, blocks freed and states set to Waiting: the replica fails or
    /// drains. `all` false: only what has not started.
    virtual void evict(std::vector<RequestIndex>& out, bool all) = 0;
    /// The prompt of a running request is done and it decodes elsewhere: forgets it. Its blocks stay taken until its KV
    /// cache has gone; the simulation frees them then. False: this policy cannot, it serves whole requests only.
    virtual bool depart(RequestIndex) { return false; }
    /// A cache that comes from elsewhere keeps the blocks that were reserved for it on the way (they stand in the table
    /// when it is added). False: they are given back first, and the policy admits the request like any other.
    virtual bool adoptsBlocks() const { return false; }
    virtual std::int32_t waiting() const = 0;
    virtual std::int32_t running() const = 0;
    /// Pieces of work in its queue; differs from waiting() where a request is more than one.
    virtual std::int32_t pendingTasks() const { return waiting(); }
    /// Tokens of text that are queued but not computed, for routers.
    virtual std::int64_t pendingTokens() const = 0;
    /// Blocks to reserve for a cache that is to come here.
    virtual std::int64_t blocksToArrive(RequestIndex, std::int64_t ofItsText) const { return ofItsText; }
};

struct SchedulerOption {
    std::string_view key;  ///< field of SchedulerSpec, or a name in `more`
    std::string_view title;
    double fallback;
    std::string_view meaning;
    bool onOff = false;  ///< 0 or 1 though it is no switch of SchedulerSpec
};
struct SchedulerCard {
    std::string_view id;  ///< `vllm-v1`
    std::string_view title;
    std::string_view summary;  ///< two sentences for a person choosing
    std::string_view lineage;  ///< paper or code, with version
    std::vector<SchedulerOption> options;
    std::unique_ptr<Scheduler> (*make)(const SchedulerSpec&, RequestTable&, KvBlocks&);
};
/// In the order in which lists show them.
std::span<const SchedulerCard> schedulers();
const SchedulerCard* findScheduler(std::string_view id);
/// Fails on an unknown id or compatibility and on numbers that make no sense (no sequences, a budget of 0 tokens).
Expected<void> check(const SchedulerSpec& spec);

}  // namespace orrery
