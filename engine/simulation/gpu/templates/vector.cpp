#include "simulation/gpu/templates/vector.h"

#include "simulation/gpu/templates/tile_loads.h"

#include <bit>
#include <cmath>

namespace orrery::gpusim {

namespace {

constexpr int blockThreads = 256;

std::int64_t piecesOf(double bytes) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(bytes / 16)));
}

// Pieces of 16 bytes, one for each lane, from piece `first` of an operand that ends after `all` pieces.
void accessPieces(WarpSink& out, int lanes, int instruction, std::uint64_t base, std::int64_t first, std::int64_t all) {
    const std::int64_t count = std::min<std::int64_t>(lanes, all - first);
    if (count <= 0) return;
    std::array<std::uint64_t, 64> addresses{};
    for (std::int64_t i = 0; i < count; ++i)
        addresses[static_cast<std::size_t>(i)] = base + 16 * static_cast<std::uint64_t>(first + i);
    out.access(instruction, lanesUpTo(static_cast<int>(count)), {addresses.data(), static_cast<std::size_t>(count)});
}

class VectorTemplate : public KernelTemplate {
protected:
    void begin(const char* name, std::int64_t blocks, int threads, int registers, int shared, int version) {
        header_.name = name;
        header_.grid = {static_cast<int>(blocks), 1, 1}, header_.block = {threads, 1, 1};
        header_.registers = registers, header_.sharedBytes = shared;
        setVersion(version);
        header_.traceVersion = 4;
        prologue_ = {define("MOV", 1), define("S2R", 2), define("S2R", 3), define("IMAD", 4, {2, 3}),
                     define("ISETP.GE.AND", -1, {4})};
        load_.clear();
        for (int i = 0; i < 32; ++i) load_.push_back(define("LDG.E.128", 64 + i, {5}, 16));
        operation_.clear();
        for (int i = 0; i < 32; ++i) operation_.push_back(define("FFMA", 96 + i, {96 + i, 64 + i, 9}));
        for (int i = 0; i < 4; ++i) special_[static_cast<std::size_t>(i)] = define("MUFU.EX2", 128 + i, {96 + i});
        store_ = define("STG.E.128", -1, {5, 96}, 16);
        exit_ = define("EXIT");
    }
    // `operations` and `specials` of a warp, for what its accesses bring.
    void compute(WarpSink& out, double operations, double specials) const {
        const auto n = static_cast<std::int64_t>(std::ceil(operations)),
                   s = static_cast<std::int64_t>(std::ceil(specials));
        for (std::int64_t i = 0; i < std::max(n, s); ++i) {
            if (i < n) out.op(operation_[static_cast<std::size_t>(i % 32)]);
            if (i < s) out.op(special_[static_cast<std::size_t>(i % 4)]);
        }
    }
    void place(double readBytes, double writtenBytes) {
        OperandPlaces places;
        from_ = places.take(readBytes), to_ = places.take(writtenBytes);
        using Role = TemplateOperand::Role;
        operands_ = {{Role::Input, from_, readBytes}, {Role::Output, to_, writtenBytes}};
    }
    // Pieces of 16 bytes, all at once.
    static TemplateRegion pieces(std::uint64_t base, std::int64_t from, std::int64_t to, bool written) {
        const std::int64_t bytes = 16 * std::max<std::int64_t>(0, to - from);
        return {.first = base + 16 * static_cast<std::uint64_t>(from),
                .stride = 0,
                .rows = 1,
                .bytes = bytes,
                .piece = bytes,
                .written = written};
    }
    std::uint64_t from_ = 0, to_ = 0;
    std::array<int, 5> prologue_{};
    std::vector<int> load_, operation_;
    std::array<int, 4> special_{};
    int store_ = 0, exit_ = 0;
};

class ElementsTemplate final : public VectorTemplate {
public:
    explicit ElementsTemplate(const ElementsSpec& spec) : s_(spec) {
        const double elements = static_cast<double>(s_.elements);
        // A thread's part: as many elements as fill its pieces of the operand that is widest.
        const double widest = std::max({s_.readBytes, s_.writeBytes, 1e-9});
        reads_ = s_.readBytes > 0 ? piecesOf(elements * s_.readBytes) : 0;
        writes_ = s_.writeBytes > 0 ? piecesOf(elements * s_.writeBytes) : 0;
        perBlock_ = static_cast<double>(blockThreads) * 16 * s_.unroll / widest;
        const auto blocks = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(elements / perBlock_)));
        begin("elements", blocks, blockThreads, 32 + 8 * s_.unroll, 0, s_.binaryVersion);
        place(elements * s_.readBytes, elements * s_.writeBytes);
    }
    void warp(std::int64_t block, int warp, WarpSink& out) const override {
        for (const int each : prologue_) out.op(each);
        const auto part = [&](double bytes, std::int64_t all, int first, auto&& each) {
            const auto from = static_cast<std::int64_t>(static_cast<double>(block) * perBlock_ * bytes / 16),
                       to = std::min(
                           all, static_cast<std::int64_t>(static_cast<double>(block + 1) * perBlock_ * bytes / 16));
            int i = first;
            for (std::int64_t at = from + lanes() * warp; at < to; at += blockThreads) each(i++, at, to);
        };
        part(s_.readBytes, reads_, 0, [&](int i, std::int64_t at, std::int64_t to) {
            accessPieces(out, lanes(), load_[static_cast<std::size_t>(i % 32)], from_, at, to);
        });
        const double elements =
            std::clamp(static_cast<double>(s_.elements) - static_cast<double>(block) * perBlock_, 0.0, perBlock_) /
            (blockThreads / lanes());
        compute(out, elements * s_.operations / lanes(), elements * s_.specials / lanes());
        part(s_.writeBytes, writes_, 0,
             [&](int, std::int64_t at, std::int64_t to) { accessPieces(out, lanes(), store_, to_, at, to); });
        out.op(exit_);
    }

    std::vector<TemplateRegion> regions(std::int64_t block) const override {
        const auto region = [&](std::uint64_t base, double bytes, std::int64_t all, bool written) {
            const auto border = [&](std::int64_t at) {
                return std::min(all, static_cast<std::int64_t>(static_cast<double>(at) * perBlock_ * bytes / 16));
            };
            return pieces(base, border(block), border(block + 1), written);
        };
        return {region(from_, s_.readBytes, reads_, false), region(to_, s_.writeBytes, writes_, true)};
    }

private:
    ElementsSpec s_;
    double perBlock_ = 1;
    std::int64_t reads_ = 0, writes_ = 0;
};

class RowsTemplate final : public VectorTemplate {
public:
    explicit RowsTemplate(const RowsSpec& spec) : s_(spec) {
        const double columns = static_cast<double>(s_.columns);
        reads_ = piecesOf(columns * s_.readBytes), writes_ = piecesOf(columns * s_.writeBytes);
        const std::int64_t width = lanesOfVersion(s_.binaryVersion);
        shortRows_ = reads_ <= width;
        const std::int64_t threads =
            shortRows_ ? 4 * width
                       : std::clamp<std::int64_t>((reads_ + 2 * width - 1) / (2 * width) * width, 2 * width, 1024);
        warps_ = static_cast<int>(threads / width);
        held_ = shortRows_ || reads_ <= threads * 16;
        const std::int64_t blocks = shortRows_ ? (s_.rows + warps_ - 1) / warps_ : s_.rows;
        begin("rows", blocks, static_cast<int>(threads),
              40 + static_cast<int>(std::min<std::int64_t>(64, 4 * reads_ / threads)), shortRows_ ? 0 : 4 * warps_,
              s_.binaryVersion);
        shuffle_ = define("SHFL.BFLY", 140, {96});
        add_ = define("FADD", 96, {96, 140});
        sharedStore_ = define("STS", -1, {6, 96}, 4);
        sharedLoad_ = define("LDS.U", 96, {6}, 4);
        barrier_ = define("BAR.SYNC.DEFER_BLOCKING");
        const double elements = static_cast<double>(s_.rows) * columns;
        place(elements * s_.readBytes, elements * s_.writeBytes);
    }
    void warp(std::int64_t block, int warp, WarpSink& out) const override {
        for (const int each : prologue_) out.op(each);
        const std::int64_t row = shortRows_ ? block * warps_ + warp : block;
        if (row < s_.rows) {
            const std::int64_t first = shortRows_ ? 0 : lanes() * warp, step = shortRows_ ? lanes() : lanes() * warps_;
            const double elements = static_cast<double>(s_.columns) / (shortRows_ ? 1 : warps_) / lanes();
            const int passes = s_.reductions + 1;
            for (int pass = 0; pass < passes; ++pass) {
                if (pass == 0 || !held_) {
                    std::size_t i = 0;
                    for (std::int64_t at = first; at < reads_; at += step)
                        accessPieces(out, lanes(), load_[i++ % 32],
                                     from_ + static_cast<std::uint64_t>(row * reads_) * 16, at, reads_);
                }
                compute(out, elements * s_.operations / passes, pass == passes - 1 ? elements * s_.specials : 0);
                if (pass < s_.reductions) reduce(warp, out);
            }
            for (std::int64_t at = first; at < writes_; at += step)
                accessPieces(out, lanes(), store_, to_ + static_cast<std::uint64_t>(row * writes_) * 16, at, writes_);
        }
        out.op(exit_);
    }

    std::vector<TemplateRegion> regions(std::int64_t block) const override {
        const std::int64_t rows = shortRows_ ? warps_ : 1, first = block * rows, end = std::min(s_.rows, first + rows);
        return {pieces(from_, first * reads_, end * reads_, false), pieces(to_, first * writes_, end * writes_, true)};
    }

private:
    // Within the warp by shuffles, then over the block's warps through shared memory.
    void reduce(int warp, WarpSink& out) const {
        for (int i = 1; i < lanes(); i *= 2) out.op(shuffle_), out.op(add_);
        if (shortRows_ || warps_ == 1) return;
        const std::uint64_t own = 4 * static_cast<std::uint64_t>(warp);
        out.access(sharedStore_, 1, {&own, 1});
        out.op(barrier_);
        LaneAddresses all(lanes());
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = 4 * (i % static_cast<std::size_t>(warps_));
        out.access(sharedLoad_, allLanes, all);
        for (int i = 1; i < warps_; i *= 2) out.op(shuffle_), out.op(add_);
        out.op(barrier_);
    }

    RowsSpec s_;
    std::int64_t reads_ = 1, writes_ = 1;
    bool shortRows_ = true, held_ = true;
    int warps_ = 4;
    int shuffle_ = 0, add_ = 0, sharedStore_ = 0, sharedLoad_ = 0, barrier_ = 0;
};

class ReduceTemplate final : public VectorTemplate {
public:
    explicit ReduceTemplate(const ReduceSpec& spec) : s_(spec) {
        pieces_ = piecesOf(static_cast<double>(s_.elements) * s_.bytes);
        const std::int64_t perBlock = std::int64_t{blockThreads} * s_.perThread;
        begin("reduce", std::max<std::int64_t>(1, (pieces_ + perBlock - 1) / perBlock), blockThreads, 32, 32,
              s_.binaryVersion);
        shuffle_ = define("SHFL.DOWN", 140, {96});
        add_ = define("FADD", 96, {96, 140});
        sharedStore_ = define("STS", -1, {6, 96}, 4);
        sharedLoad_ = define("LDS.U", 96, {6}, 4);
        barrier_ = define("BAR.SYNC.DEFER_BLOCKING");
        atomic_ = define("RED.E.ADD.F32.FTZ.RN.STRONG.GPU", -1, {5, 96}, 4);
        place(static_cast<double>(pieces_) * 16, 4);
    }
    void warp(std::int64_t block, int warp, WarpSink& out) const override {
        for (const int each : prologue_) out.op(each);
        const std::int64_t first = block * blockThreads * s_.perThread;
        for (int i = 0; i < s_.perThread; ++i)
            accessPieces(out, lanes(), load_[static_cast<std::size_t>(i % 32)], from_,
                         first + i * blockThreads + lanes() * warp, pieces_);
        compute(out, 16 / s_.bytes * s_.perThread, 0);
        for (int i = 1; i < lanes(); i *= 2) out.op(shuffle_), out.op(add_);
        const std::uint64_t own = 4 * static_cast<std::uint64_t>(warp);
        out.access(sharedStore_, 1, {&own, 1});
        out.op(barrier_);
        if (warp == 0) {
            const int warps = blockThreads / lanes();
            LaneAddresses all(warps);
            for (std::size_t i = 0; i < all.size(); ++i) all[i] = 4 * i;
            out.access(sharedLoad_, lanesUpTo(warps), all);
            for (int i = 1; i < warps; i *= 2) out.op(shuffle_, lanesUpTo(warps)), out.op(add_, lanesUpTo(warps));
            out.access(atomic_, 1, {&to_, 1});
        }
        out.op(exit_);
    }

private:
    ReduceSpec s_;
    std::int64_t pieces_ = 1;
    int shuffle_ = 0, add_ = 0, sharedStore_ = 0, sharedLoad_ = 0, barrier_ = 0, atomic_ = 0;
};

}  // namespace

KernelTemplatePtr elementsTemplate(const ElementsSpec& spec) {
    return std::make_shared<const ElementsTemplate>(spec);
}
KernelTemplatePtr rowsTemplate(const RowsSpec& spec) {
    return std::make_shared<const RowsTemplate>(spec);
}
KernelTemplatePtr reduceTemplate(const ReduceSpec& spec) {
    return std::make_shared<const ReduceTemplate>(spec);
}

}  // namespace orrery::gpusim
