#include "serving/routers/prefix_directory.h"

#include <algorithm>

namespace orrery {

std::uint64_t PrefixDirectory::holders(std::uint64_t hash) const {
    std::uint64_t bits = 0;
    for (const Chunks& chunks : chunks_)
        if (const auto found = chunks.find(hash); found != chunks.end()) bits |= found->second;
    return bits;
}

void PrefixDirectory::hits(const RequestStream& stream, RequestIndex r, std::vector<std::int32_t>& out) const {
    out.assign(replicas_, 0);
    if (stream.hashes.empty()) return;
    const std::int32_t most = stream.prompt[r] - 1;
    std::int64_t tokens = 0;
    std::uint64_t alive = ~std::uint64_t{0};
    for (std::uint32_t i = stream.hashBegin[r]; i < stream.hashBegin[r + 1] && alive != 0; ++i) {
        alive &= holders(stream.hashes[i]);
        tokens += stream.hashTokens;
        const auto reached = static_cast<std::int32_t>(std::min<std::int64_t>(tokens, most));
        for (std::size_t replica = 0; replica < replicas_; ++replica)
            if (alive & bit(replica)) out[replica] = reached;
        if (tokens >= most) break;
    }
}

void PrefixDirectory::sent(const RequestStream& stream, RequestIndex r, std::int32_t replica) {
    if (stream.hashes.empty()) return;
    for (std::uint32_t i = stream.hashBegin[r]; i < stream.hashBegin[r + 1]; ++i) {
        if (chunks_[0].size() >= most_ / 2) {
            chunks_[1] = std::move(chunks_[0]);
            chunks_[0].clear();
        }
        chunks_[0][stream.hashes[i]] |= bit(static_cast<std::size_t>(replica));
    }
}

void PrefixDirectory::forget(std::int32_t replica) {
    for (Chunks& chunks : chunks_)
        for (auto& [hash, bits] : chunks) bits &= ~bit(static_cast<std::size_t>(replica));
}

}  // namespace orrery
