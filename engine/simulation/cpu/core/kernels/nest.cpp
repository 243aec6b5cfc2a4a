#include "simulation/cpu/core/kernels/nest.h"

#include <algorithm>

namespace orrery::pipeline {

NestWriter::NestWriter() {
    nest_.nodes.push_back({.trips = 1, .depth = 0, .inside = {}});
    opened_ = {0};
}

AffineAddress NestWriter::array(std::uint64_t bytes, ArrayUse use) {
    AffineAddress start;
    start.base = nextArray_;
    nest_.arrays.push_back(nextArray_);
    nest_.sizes.push_back(bytes);
    nest_.uses.push_back(use);
    // A page between, and lines of different arrays on different sets.
    nextArray_ += (bytes / 4096 + 2) * 4096 + 320;
    nest_.footprint += bytes;
    return start;
}

int NestWriter::open(std::uint64_t trips) {
    const int node = static_cast<int>(nest_.nodes.size());
    const int depth = static_cast<int>(opened_.size());
    nest_.nodes.push_back({.trips = std::max<std::uint64_t>(1, trips), .depth = depth, .inside = {}});
    nest_.nodes[static_cast<std::size_t>(opened_.back())].inside.push_back(node);
    opened_.push_back(node);
    return depth;
}

void NestWriter::close() {
    auto& node = nest_.nodes[static_cast<std::size_t>(opened_.back())];
    const auto counter = static_cast<std::uint8_t>(32 + node.depth);
    node.firstOp = static_cast<std::uint32_t>(nest_.ops.size());
    node.ops = 2;
    StaticOp step{.kind = OpKind::Integer, .to = counter};
    step.from[0] = counter;
    StaticOp branch{.kind = OpKind::Branch};
    branch.from[0] = counter;
    for (const auto& op : {step, branch}) {
        nest_.ops.push_back(op);
        nest_.addressOf.push_back(-1);
    }
    opened_.pop_back();
}

std::uint32_t NestWriter::add(const StaticOp& op, int address) {
    const auto at = static_cast<std::uint32_t>(nest_.ops.size());
    auto& parent = nest_.nodes[static_cast<std::size_t>(opened_.back())];
    int line = parent.inside.empty() ? -1 : parent.inside.back();
    const auto isOpenLine = [&](int node) {
        const auto& one = nest_.nodes[static_cast<std::size_t>(node)];
        return one.trips == 0 && one.firstOp + one.ops == at && one.ops < 4000;
    };
    if (line < 0 || !isOpenLine(line)) {
        line = static_cast<int>(nest_.nodes.size());
        parent.inside.push_back(line);
        nest_.nodes.push_back({.trips = 0, .depth = 0, .inside = {}, .firstOp = at, .ops = 0});
    }
    ++nest_.nodes[static_cast<std::size_t>(line)].ops;
    nest_.ops.push_back(op);
    nest_.addressOf.push_back(address);
    return at;
}

void NestWriter::compute(OpKind kind, int bytes, std::uint8_t to, std::initializer_list<std::uint8_t> from) {
    StaticOp op{.kind = kind, .bytes = static_cast<std::uint16_t>(bytes), .to = to};
    std::size_t at = 0;
    for (const auto each : from) op.from[at++] = each;
    add(op, -1);
}

void NestWriter::load(std::uint8_t to, int bytes, const AffineAddress& from, bool merges) {
    StaticOp op{.kind = OpKind::Load, .bytes = static_cast<std::uint16_t>(bytes), .to = to};
    op.from[0] = static_cast<std::uint8_t>(32 + opened_.size() - 1);
    op.merges = merges;
    nest_.addresses.push_back(from);
    add(op, static_cast<int>(nest_.addresses.size()) - 1);
}

void NestWriter::store(std::uint8_t data, int bytes, const AffineAddress& to) {
    StaticOp op{.kind = OpKind::Store, .bytes = static_cast<std::uint16_t>(bytes)};
    op.from[0] = static_cast<std::uint8_t>(32 + opened_.size() - 1);
    op.from[2] = data;
    nest_.addresses.push_back(to);
    add(op, static_cast<int>(nest_.addresses.size()) - 1);
}

void NestWriter::fuse() {
    nest_.ops.back().fusedWithPrevious = true;
    nest_.ops.back().sameInstruction = true;
}

std::uint64_t NestWriter::close(int at) {
    std::uint64_t sum = 0;
    for (const int child : nest_.nodes[static_cast<std::size_t>(at)].inside) sum += close(child);
    auto& node = nest_.nodes[static_cast<std::size_t>(at)];
    node.length = node.trips == 0 ? node.ops : node.trips * (sum + node.ops);
    return node.length;
}

LoopNest NestWriter::finish() {
    while (opened_.size() > 1) close();
    close(0);
    return std::move(nest_);
}

NestStream::NestStream(const LoopNest& nest) : nest_(nest) {
    stack_.reserve(deepestNest + 2);
    stack_.push_back({0, 0, 0});
}

std::uint64_t NestStream::seek(std::uint64_t op) {
    stack_.clear();
    counter_.fill(0);
    position_ = 0;
    if (op >= nest_.length()) {
        position_ = nest_.length();
        return position_;
    }
    int at = 0;
    for (;;) {
        const auto& node = nest_.nodes[static_cast<std::size_t>(at)];
        if (node.trips == 0) return position_;
        const std::uint64_t turn = node.length / node.trips;
        Frame frame{at, 0, (op - position_) / turn};
        counter_[static_cast<std::size_t>(node.depth)] = static_cast<std::int64_t>(frame.trip);
        position_ += frame.trip * turn;
        while (frame.child < node.inside.size()) {
            const auto& child = nest_.nodes[static_cast<std::size_t>(node.inside[frame.child])];
            if (op < position_ + child.length) break;
            position_ += child.length;
            ++frame.child;
        }
        const bool ends = frame.child == node.inside.size();  // its increment and branch come next
        if (!ends) at = node.inside[frame.child];
        // A loop inside has a frame of its own, and its parent goes on behind it.
        if (!ends && nest_.nodes[static_cast<std::size_t>(at)].trips > 0) ++frame.child;
        stack_.push_back(frame);
        if (ends) return position_;
    }
}

std::uint64_t NestStream::addressAt(int where) const {
    const AffineAddress& affine = nest_.addresses[static_cast<std::size_t>(where)];
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < deepestNest; ++d) offset += affine.stride[d] * counter_[d];
    return affine.base + static_cast<std::uint64_t>(offset);
}

template <class Line, class Turn>
bool NestStream::walk(OpChunk& chunk, std::size_t most, std::uint64_t until, Line&& line, Turn&& turn) {
    chunk.size = 0;
    while (!stack_.empty() && position_ < until) {
        Frame& frame = stack_.back();
        const auto& node = nest_.nodes[static_cast<std::size_t>(frame.node)];
        if (frame.child < node.inside.size()) {
            const int at = node.inside[frame.child];
            const auto& child = nest_.nodes[static_cast<std::size_t>(at)];
            if (child.trips > 0) {
                ++frame.child;
                counter_[static_cast<std::size_t>(child.depth)] = 0;
                stack_.push_back({at, 0, 0});
                continue;
            }
            if (chunk.size > 0 && chunk.size + child.ops > most) break;
            ++frame.child;
            line(child);
            position_ += child.ops;
            continue;
        }
        if (node.ops > 0) {
            if (chunk.size > 0 && chunk.size + node.ops > most) break;
            turn(node, frame.trip + 1 < node.trips);
            position_ += node.ops;
        }
        if (++frame.trip < node.trips) {
            frame.child = 0;
            counter_[static_cast<std::size_t>(node.depth)] = static_cast<std::int64_t>(frame.trip);
        } else {
            counter_[static_cast<std::size_t>(node.depth)] = 0;
            stack_.pop_back();
        }
    }
    return chunk.size > 0;
}

bool NestStream::next(OpChunk& chunk, std::size_t most) {
    return walk(
        chunk, most, ~0ull,
        [&](const LoopNest::Node& line) {
            for (std::uint32_t op = line.firstOp; op < line.firstOp + line.ops; ++op) {
                const int where = nest_.addressOf[op];
                chunk.add(op, where >= 0 ? addressAt(where) : 0);
            }
        },
        [&](const LoopNest::Node& loop, bool again) {
            chunk.add(loop.firstOp);
            chunk.add(loop.firstOp + 1, 0, again);
        });
}

bool NestStream::nextTouching(OpChunk& chunk, std::uint64_t until) {
    return walk(
        chunk, OpChunk::capacity, until,
        [&](const LoopNest::Node& line) {
            for (std::uint32_t op = line.firstOp; op < line.firstOp + line.ops; ++op) {
                const int where = nest_.addressOf[op];
                if (where >= 0) chunk.add(op, addressAt(where));
            }
        },
        [&](const LoopNest::Node& loop, bool again) { chunk.add(loop.firstOp + 1, 0, again); });
}

}  // namespace orrery::pipeline
