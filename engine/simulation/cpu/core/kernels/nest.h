#pragma once

// A kernel as a tree of counted loops around straight lines of operations, whose addresses are affine in the loop
// counters. A trace of it is made while it is read: any place of it can be reached by arithmetic, none of it is stored.

#include "simulation/cpu/core/machine.h"
#include "simulation/cpu/core/op.h"

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace orrery::pipeline {

inline constexpr std::size_t deepestNest = 12;

/// base + Σ stride[d] · counter of the loop at depth d; bytes.
struct AffineAddress {
    std::uint64_t base = 0;
    std::array<std::int64_t, deepestNest> stride{};

    AffineAddress at(std::int64_t bytes) const {
        AffineAddress moved = *this;
        moved.base += static_cast<std::uint64_t>(bytes);
        return moved;
    }
    AffineAddress by(int depth, std::int64_t bytes) const {
        AffineAddress moved = *this;
        moved.stride[static_cast<std::size_t>(depth)] += bytes;
        return moved;
    }
};

/// What an array is to the kernel that a nest is.
enum class ArrayUse : std::uint8_t {
    Input,  ///< activations that it reads
    Other   ///< weights, results, what it packs
};

struct LoopNest {
    struct Node {
        std::uint64_t trips = 0;  ///< 0: a straight line
        int depth = 0;            ///< of its counter
        std::vector<int> inside;
        std::uint32_t firstOp = 0, ops = 0;  ///< of a line; of a loop its increment and branch
        std::uint64_t length = 0;            ///< operations of one execution
    };
    std::vector<StaticOp> ops;
    std::vector<int> addressOf;  ///< per operation, −1: touches no memory
    std::vector<AffineAddress> addresses;
    std::vector<Node> nodes;            ///< the first is the whole
    std::vector<std::uint64_t> arrays;  ///< where each begins
    std::vector<std::uint64_t> sizes;   ///< bytes of each
    std::vector<ArrayUse> uses;         ///< of each
    std::uint64_t footprint = 0;        ///< bytes of its arrays

    std::uint64_t length() const { return nodes.empty() ? 0 : nodes.front().length; }
};

/// Which cache holds the arrays of each use when a kernel begins: 0 the innermost; `mostCaches`: none.
struct KernelStart {
    std::uint8_t inputs = mostCaches, others = mostCaches;
    std::uint8_t of(ArrayUse use) const { return use == ArrayUse::Input ? inputs : others; }
    bool operator==(const KernelStart&) const = default;
};

/// Writes a nest from the outside in.
class NestWriter {
public:
    NestWriter();
    /// Address of a fresh array, on a page of its own.
    AffineAddress array(std::uint64_t bytes, ArrayUse use = ArrayUse::Other);
    /// Opens a loop and returns its depth; a loop of one turn is a loop too. `close` ends it with increment and branch.
    int open(std::uint64_t trips);
    void close();
    void compute(OpKind kind, int bytes, std::uint8_t to, std::initializer_list<std::uint8_t> from);
    /// `fused`: the operation after next to it takes no slot of its own where loads fuse.
    void load(std::uint8_t to, int bytes, const AffineAddress& from, bool merges = false);
    void store(std::uint8_t data, int bytes, const AffineAddress& to);
    /// The last computation shares its slot and instruction with the load before it.
    void fuse();
    /// The last operation belongs to the instruction of the one before.
    void join() { nest_.ops.back().sameInstruction = true; }
    LoopNest finish();

private:
    std::uint32_t add(const StaticOp& op, int address);
    std::uint64_t close(int node);
    LoopNest nest_;
    std::vector<int> opened_;
    std::uint64_t nextArray_ = 1ull << 30;
};

/// Streams a nest in chunks.
class NestStream {
public:
    explicit NestStream(const LoopNest& nest);
    /// Fills the chunk; false when nothing is left.
    bool next(OpChunk& chunk, std::size_t most = OpChunk::capacity);
    /// The same of loads, stores and branches alone, for what only fills caches: up to this operation, but for the rest
    /// of its line.
    bool nextTouching(OpChunk& chunk, std::uint64_t until);
    /// Goes to the last beginning of a line at or before this operation; returns where that is.
    std::uint64_t seek(std::uint64_t op);
    std::uint64_t position() const { return position_; }

private:
    struct Frame {
        int node;
        std::size_t child;
        std::uint64_t trip;
    };
    template <class Line, class Turn>
    bool walk(OpChunk& chunk, std::size_t most, std::uint64_t until, Line&& line, Turn&& turn);
    std::uint64_t addressAt(int where) const;
    const LoopNest& nest_;
    std::vector<Frame> stack_;
    std::array<std::int64_t, deepestNest> counter_{};
    std::uint64_t position_ = 0;
};

}  // namespace orrery::pipeline
