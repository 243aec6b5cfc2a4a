#pragma once

// Paged key-value memory of one replica, counted in blocks (PagedAttention: Kwon et al., SOSP 2023). Blocks have no
// identity here; where prompts share blocks, prefix_cache.h gives them one.

#include "serving/request_table.h"

namespace orrery {

/// Where blocks have an identity (prefix_cache.h), their owner gives them back.
class KvBlockOwner {
public:
    virtual ~KvBlockOwner() = default;
    virtual void release(RequestTable& requests, RequestIndex r) = 0;
};

class KvBlocks {
public:
    KvBlocks(std::int64_t blocks, std::int32_t tokensPerBlock) : total_(blocks), free_(blocks), size_(tokensPerBlock) {}
    std::int64_t total() const { return total_; }
    std::int64_t free() const { return free_; }
    std::int64_t used() const { return total_ - free_; }
    std::int32_t tokensPerBlock() const { return size_; }
    std::int32_t blocksFor(std::int64_t tokens) const {
        return static_cast<std::int32_t>((tokens + size_ - 1) / size_);
    }
    /// Gives `count` more blocks to a request; the caller has seen that they are free.
    void take(RequestTable& requests, RequestIndex r, std::int32_t count) {
        requests.blocks[r] += count;
        free_ -= count;
    }
    void release(RequestTable& requests, RequestIndex r) {
        if (owner_) return owner_->release(requests, r);
        free_ += requests.blocks[r];
        requests.blocks[r] = 0;
    }
    /// Keeps blocks for a cache that is on its way here, before the table can count them; `count` < 0 gives back.
    void reserve(std::int64_t count) { free_ -= count; }

    /// For the owner: `held` blocks more for a request, of which `taken` were free.
    void account(RequestTable& requests, RequestIndex r, std::int32_t held, std::int32_t taken) {
        requests.blocks[r] += held;
        free_ -= taken;
    }
    void setOwner(KvBlockOwner* owner) { owner_ = owner; }

private:
    std::int64_t total_, free_;
    std::int32_t size_;
    KvBlockOwner* owner_ = nullptr;
};

}  // namespace orrery
