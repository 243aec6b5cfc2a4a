#pragma once

// Automatic prefix caching as vLLM V1 has it (vllm/v1/core/block_pool.py, kv_cache_manager.py, v0.9 to v0.19): a full
// block is named by the hash of all text up to its end; prompts that begin alike share blocks. A block that nobody
// holds goes to the end of a free list but keeps its name, and is found again until it is reallocated: least recently
// used first, of one request the last block first. Equal blocks made side by side are kept twice, one of them is named.
// Text is compared by RequestStream::hashes; a stream without them shares nothing.
//
// Behind it, if asked for, a tier in host memory: what is reallocated on the device moves there (least recently used
// goes), and a hit there costs the copy back.

#include "serving/fleet/kv_blocks.h"

#include <list>
#include <unordered_map>
#include <vector>

namespace orrery {

class PrefixCache : public KvBlockOwner {
public:
    /// Takes over `blocks`, all of them free. O(blocks) memory. `hostBlocks`: room of the second tier, 0: none.
    explicit PrefixCache(KvBlocks& blocks, std::int64_t hostBlocks = 0);
    ~PrefixCache() override;
    PrefixCache(const PrefixCache&) = delete;
    PrefixCache& operator=(const PrefixCache&) = delete;

    struct Hit {
        std::int32_t blocks = 0;  ///< at the beginning of the text, on the device
        std::int32_t idle = 0;    ///< of these held by nobody: sharing them takes them off the free list
        std::int32_t host = 0;    ///< that follow in the second tier: need fresh blocks and a copy
    };
    /// The longest chain of cached blocks, at most `most` of them.
    Hit find(const RequestTable& requests, RequestIndex r, std::int32_t most) const;
    /// Gives the first `count` blocks of the chain just found to a request that holds none.
    void share(RequestTable& requests, RequestIndex r, std::int32_t count);
    /// Gives `count` fresh blocks; the caller has seen that they are free.
    void take(RequestTable& requests, RequestIndex r, std::int32_t count);
    /// Names the full blocks among the first `tokens` tokens of a request. Those of prompts that are being computed
    /// may be named when they are scheduled, as vLLM does: an iteration writes keys and values before it reads them.
    void name(const RequestTable& requests, RequestIndex r, std::int32_t tokens);
    void release(RequestTable& requests, RequestIndex r) override;

    std::size_t named() const { return byHash_.size(); }
    std::size_t inHost() const { return host_.size(); }
    /// Blocks looked up by find() that led to share(), and found; for hit rates.
    std::uint64_t evictions() const { return evictions_; }

    /// Name of block `index` (tokens [index · size, (index + 1) · size)) of a request; 0: has none.
    static std::uint64_t nameOf(const RequestStream& stream, RequestIndex r, std::int32_t index, std::int32_t size);

private:
    using Block = std::uint32_t;
    struct Node {
        Block before = 0, after = 0;  ///< in the free list
        std::int32_t holders = 0;
        std::uint64_t name = 0;
    };
    struct Held {
        std::vector<Block> blocks;
        std::int32_t named = 0;  ///< the first so many have been looked at by name()
    };
    void unlink(Block block);
    void append(Block block);
    void forget(Block block);
    Held& heldBy(RequestIndex r);

    KvBlocks& pool_;
    std::vector<Node> nodes_;  ///< [0] is the head of the free list
    std::unordered_map<std::uint64_t, Block> byHash_;
    std::unordered_map<RequestIndex, std::uint32_t> slot_;
    std::vector<Held> held_;
    std::vector<std::uint32_t> spare_;  ///< unused entries of held_
    std::int64_t hostRoom_;
    std::list<std::uint64_t> hostOrder_;  ///< least recently used first
    std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> host_;
    std::uint64_t evictions_ = 0;
};

}  // namespace orrery
