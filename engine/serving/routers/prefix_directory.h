#pragma once

// What a router believes about prefix caches: which replicas were lately sent a text that begins so. Bounded, the
// oldest entries go first; caches themselves are in prefix_cache.h and may have forgotten more.

#include "serving/traffic/request_stream.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace orrery {

class PrefixDirectory {
public:
    explicit PrefixDirectory(std::size_t replicas, std::size_t entries = std::size_t{1} << 20)
        : replicas_(replicas), most_(entries) {}

    /// Prompt tokens of the longest beginning that each replica was sent, at most prompt − 1: the last token is always
    /// computed. `out` has one entry per replica.
    void hits(const RequestStream& stream, RequestIndex r, std::vector<std::int32_t>& out) const;
    void sent(const RequestStream& stream, RequestIndex r, std::int32_t replica);
    /// Its memory is lost.
    void forget(std::int32_t replica);
    std::size_t size() const { return chunks_[0].size() + chunks_[1].size(); }

private:
    // Two generations: when the younger is full, the older goes. Replicas as bits, 64 at most; more share bits.
    using Chunks = std::unordered_map<std::uint64_t, std::uint64_t>;
    std::uint64_t bit(std::size_t replica) const { return std::uint64_t{1} << (replica % 64); }
    std::uint64_t holders(std::uint64_t hash) const;
    std::size_t replicas_, most_;
    Chunks chunks_[2];
};

}  // namespace orrery
