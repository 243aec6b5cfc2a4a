#include "serving/fleet/prefix_cache.h"

#include "base/hash.h"

#include <algorithm>
#include <cassert>

namespace orrery {

std::uint64_t PrefixCache::nameOf(const RequestStream& stream, RequestIndex r, std::int32_t index, std::int32_t size) {
    if (stream.hashTokens <= 0 || stream.hashBegin.empty()) return 0;
    const std::int64_t last = (static_cast<std::int64_t>(index) + 1) * size - 1;
    const std::int64_t at = stream.hashBegin[r] + last / stream.hashTokens;
    if (at >= stream.hashBegin[r + 1]) return 0;
    // Names of blocks that share a stream hash must differ.
    const std::uint64_t name =
        mixedBits(stream.hashes[static_cast<std::size_t>(at)] ^ mixedBits(static_cast<std::uint64_t>(index)));
    return name == 0 ? 1 : name;
}

PrefixCache::PrefixCache(KvBlocks& blocks, std::int64_t hostBlocks)
    : pool_(blocks), nodes_(static_cast<std::size_t>(blocks.total()) + 1), hostRoom_(hostBlocks) {
    assert(blocks.used() == 0);
    for (Block b = 1; b < nodes_.size(); ++b) append(b);
    blocks.setOwner(this);
}

PrefixCache::~PrefixCache() {
    pool_.setOwner(nullptr);
}

void PrefixCache::unlink(Block block) {
    Node& node = nodes_[block];
    nodes_[node.before].after = node.after;
    nodes_[node.after].before = node.before;
}

void PrefixCache::append(Block block) {
    Node& node = nodes_[block];
    node.before = nodes_[0].before;
    node.after = 0;
    nodes_[node.before].after = block;
    nodes_[0].before = block;
}

PrefixCache::Held& PrefixCache::heldBy(RequestIndex r) {
    const auto [at, isNew] = slot_.try_emplace(r, static_cast<std::uint32_t>(held_.size()));
    if (isNew) {
        if (spare_.empty()) {
            held_.emplace_back();
        } else {
            at->second = spare_.back();
            spare_.pop_back();
        }
    }
    return held_[at->second];
}

PrefixCache::Hit PrefixCache::find(const RequestTable& requests, RequestIndex r, std::int32_t most) const {
    Hit hit;
    const std::int32_t size = pool_.tokensPerBlock();
    for (; hit.blocks < most; ++hit.blocks) {
        // Names of blocks that share a stream hash must differ.
        const std::uint64_t name = nameOf(*requests.stream, r, hit.blocks, size);
        if (name == 0) return hit;
        const auto at = byHash_.find(name);
        if (at == byHash_.end()) break;
        hit.idle += nodes_[at->second].holders == 0;
    }
    if (hostRoom_ > 0)
        while (hit.blocks + hit.host < most && host_.contains(nameOf(*requests.stream, r, hit.blocks + hit.host, size)))
            ++hit.host;
    return hit;
}

void PrefixCache::share(RequestTable& requests, RequestIndex r, std::int32_t count) {
    if (count <= 0) return;
    Held& held = heldBy(r);
    assert(held.blocks.empty());
    std::int32_t taken = 0;
    for (std::int32_t i = 0; i < count; ++i) {
        const Block block = byHash_.at(nameOf(*requests.stream, r, i, pool_.tokensPerBlock()));
        if (nodes_[block].holders++ == 0) {
            unlink(block);
            ++taken;
        }
        held.blocks.push_back(block);
    }
    held.named = count;
    pool_.account(requests, r, count, taken);
}

void PrefixCache::forget(Block block) {
    Node& node = nodes_[block];
    if (node.name == 0) return;
    byHash_.erase(node.name);
    ++evictions_;
    if (hostRoom_ > 0 && !host_.contains(node.name)) {
        if (static_cast<std::int64_t>(host_.size()) >= hostRoom_) {
            host_.erase(hostOrder_.front());
            hostOrder_.pop_front();
        }
        host_[node.name] = hostOrder_.insert(hostOrder_.end(), node.name);
    }
    node.name = 0;
}

void PrefixCache::take(RequestTable& requests, RequestIndex r, std::int32_t count) {
    if (count <= 0) return;
    Held& held = heldBy(r);
    for (std::int32_t i = 0; i < count; ++i) {
        const Block block = nodes_[0].after;
        assert(block != 0);
        unlink(block);
        forget(block);
        nodes_[block].holders = 1;
        held.blocks.push_back(block);
    }
    pool_.account(requests, r, count, count);
}

void PrefixCache::name(const RequestTable& requests, RequestIndex r, std::int32_t tokens) {
    const auto slot = slot_.find(r);
    if (slot == slot_.end()) return;
    Held& held = held_[slot->second];
    const std::int32_t size = pool_.tokensPerBlock();
    const std::int32_t full = std::min(tokens / size, static_cast<std::int32_t>(held.blocks.size()));
    for (; held.named < full; ++held.named) {
        // Names of blocks that share a stream hash must differ.
        const std::uint64_t name = nameOf(*requests.stream, r, held.named, size);
        if (name == 0) {
            held.named = full;
            return;
        }
        const Block block = held.blocks[static_cast<std::size_t>(held.named)];
        if (nodes_[block].name != 0 || !byHash_.try_emplace(name, block).second) continue;
        nodes_[block].name = name;
        if (const auto at = host_.find(name); at != host_.end()) {
            // Used again: the copy in the host is the freshest there.
            hostOrder_.splice(hostOrder_.end(), hostOrder_, at->second);
        }
    }
}

void PrefixCache::release(RequestTable& requests, RequestIndex r) {
    const auto slot = slot_.find(r);
    if (slot == slot_.end()) return;
    Held& held = held_[slot->second];
    std::int32_t freed = 0;
    for (auto block = held.blocks.rbegin(); block != held.blocks.rend(); ++block)
        if (--nodes_[*block].holders == 0) {
            append(*block);
            ++freed;
        }
    pool_.account(requests, r, -static_cast<std::int32_t>(held.blocks.size()), -freed);
    held.blocks.clear();
    held.named = 0;
    spare_.push_back(slot->second);
    slot_.erase(slot);
}

}  // namespace orrery
