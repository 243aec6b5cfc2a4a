#include "simulation/gpu/templates/attention.h"

#include "simulation/gpu/templates/tile_loads.h"

#include <fmt/format.h>

#include <cmath>

namespace orrery::gpusim {

namespace {

int upTo(int value, int multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

std::int64_t partsOf(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

std::int64_t rowsOfBlocks(const FlashSpec& s) {
    return s.grouped ? s.queries * std::max<std::int64_t>(1, s.heads / std::max<std::int64_t>(1, s.kvHeads))
                     : s.queries;
}

std::int64_t stepsOf(const FlashSpec& s, std::int64_t tile) {
    std::int64_t seen = s.keys;
    if (s.causal && !s.grouped)
        seen = std::clamp<std::int64_t>(s.keys - s.queries + (tile + 1) * s.tileQueries, 1, s.keys);
    return std::max<std::int64_t>(1, partsOf(partsOf(seen, s.tileKeys), s.cuts));
}

class FlashTemplate final : public KernelTemplate {
public:
    explicit FlashTemplate(const FlashSpec& spec) : s_(spec) {
        keyRow_ = std::max(16.0, s_.keyDim * s_.cacheBytes), valueRow_ = std::max(16.0, s_.valueDim * s_.cacheBytes);
        setVersion(s_.binaryVersion);
        header_.name = s_.grouped ? "attention_decode" : "attention";
        header_.grid = {static_cast<int>(s_.blocks()), 1, 1}, header_.block = {lanes() * s_.warps, 1, 1};
        header_.registers = std::min(240, 96 + s_.tileQueries * s_.valueDim / (lanes() * s_.warps));
        header_.sharedBytes = static_cast<int>(s_.tileQueries * s_.keyDim * s_.bytes +
                                               2 * s_.tileKeys * (keyRow_ + (s_.latent ? 0 : valueRow_)));
        header_.traceVersion = 4;
        const double batch = static_cast<double>(s_.batch), queries = static_cast<double>(s_.queries),
                     heads = static_cast<double>(s_.heads), keys = static_cast<double>(s_.keys),
                     kvHeads = static_cast<double>(s_.kvHeads);
        OperandPlaces places;
        query_ = places.take(batch * heads * queries * s_.keyDim * s_.bytes);
        key_ = places.take(batch * kvHeads * keys * keyRow_);
        value_ = s_.latent ? key_ : places.take(batch * kvHeads * keys * valueRow_);
        const double results = batch * heads * queries * s_.valueDim * s_.bytes * (s_.cuts > 1 ? 2 * s_.cuts : 1);
        out_ = places.take(results);
        using Role = TemplateOperand::Role;
        operands_ = {{Role::Input, query_, batch * heads * queries * s_.keyDim * s_.bytes},
                     {Role::Input, key_, batch * kvHeads * keys * keyRow_},
                     {Role::Output, out_, results}};
        if (!s_.latent) operands_.push_back({Role::Input, value_, batch * kvHeads * keys * valueRow_});
        defineAll();
    }

    void warp(std::int64_t block, int warp, WarpSink& out) const override {
        for (const int each : prologue_) out.op(each);
        const auto [rows, tile, cut, steps, plane, kvPlane] = place(block);
        move(query_, queryLoad_, plane * rows + tile * s_.tileQueries, rows - tile * s_.tileQueries, s_.tileQueries,
             s_.keyDim * s_.bytes, warp, out);
        keys(kvPlane, cut * steps, warp, out);
        for (std::int64_t step = 0; step < steps; ++step) {
            if (step + 1 < steps)
                keys(kvPlane, cut * steps + step + 1, warp, out);
            else if (s_.copiesPast)
                out.op(closeGroup_);
            if (s_.copiesPast) out.op(awaitGroup_, allLanes, 1);
            out.op(barrier_);
            multiply(scores_, out);
            softmax(out);
            multiply(values_, out);
            out.op(barrier_);
            for (const int each : loop_) out.op(each);
        }
        move(out_, store_, (plane * s_.cuts + cut) * rows + tile * s_.tileQueries, rows - tile * s_.tileQueries,
             s_.tileQueries, s_.valueDim * s_.bytes * (s_.cuts > 1 ? 2 : 1), warp, out);
        out.op(exit_);
    }

    std::vector<TemplateRegion> regions(std::int64_t block) const override {
        const auto [rows, tile, cut, steps, plane, kvPlane] = place(block);
        const std::int64_t first = tile * s_.tileQueries, held = std::min<std::int64_t>(s_.tileQueries, rows - first);
        const std::int64_t key = cut * steps * s_.tileKeys,
                           seen = std::clamp<std::int64_t>(steps * s_.tileKeys, 0, s_.keys - key);
        // Rows one after the other, of which a step takes a few.
        const auto region = [](std::uint64_t base, std::int64_t row, double bytes, std::int64_t count,
                               std::int64_t atOnce, bool written) {
            const auto each = [bytes](std::int64_t n) {
                return static_cast<std::int64_t>(static_cast<double>(n) * bytes);
            };
            return TemplateRegion{.first = base + static_cast<std::uint64_t>(each(row)),
                                  .stride = 0,
                                  .rows = 1,
                                  .bytes = each(count),
                                  .piece = each(std::min(count, atOnce)),
                                  .written = written};
        };
        std::vector<TemplateRegion> out{region(query_, plane * rows + first, s_.keyDim * s_.bytes, held, held, false),
                                        region(key_, kvPlane * s_.keys + key, keyRow_, seen, s_.tileKeys, false),
                                        region(out_, (plane * s_.cuts + cut) * rows + first,
                                               s_.valueDim * s_.bytes * (s_.cuts > 1 ? 2 : 1), held, held, true)};
        if (!s_.latent) out.push_back(region(value_, kvPlane * s_.keys + key, valueRow_, seen, s_.tileKeys, false));
        return out;
    }

private:
    struct Where {
        std::int64_t rows = 0, tile = 0, cut = 0, steps = 0, plane = 0, kvPlane = 0;
    };
    Where place(std::int64_t block) const {
        Where at;
        at.rows = rowsOfBlocks(s_);
        const std::int64_t tiles = partsOf(at.rows, s_.tileQueries), heads = s_.grouped ? s_.kvHeads : s_.heads;
        const std::int64_t head = block / tiles % heads, sequence = block / (tiles * heads * s_.cuts);
        at.tile = block % tiles, at.cut = block / (tiles * heads) % s_.cuts;
        at.steps = s_.steps > 0 ? s_.steps : stepsOf(s_, at.tile);
        at.plane = sequence * heads + head;
        at.kvPlane = sequence * s_.kvHeads + (s_.grouped ? head : head * s_.kvHeads / s_.heads);
        return at;
    }

    /// One product of a step: fragments and multiplications of a warp.
    struct Product {
        std::vector<int> fragments, multiply;
        int parts = 1;  ///< times that both are done
    };

    void defineAll() {
        prologue_ = {define("MOV", 1), define("S2R", 2), define("S2R", 3), define("IMAD", 4, {2, 3}),
                     define("ISETP.GE.AND", -1, {4})};
        queryLoad_ = define("LDG.E.128", 200, {5}, 16);
        for (int i = 0; i < 16; ++i) {
            if (s_.copiesPast)
                keyLoad_.push_back(define("LDGSTS.E.BYPASS.128", -1, {5, 6}, 16));
            else
                keyLoad_.push_back(define("LDG.E.128", 201 + i, {5}, 16));
        }
        for (int i = 0; i < 16; ++i) keyStore_.push_back(define("STS.128", -1, {6, 201 + i}, 16));
        store_ = define("STG.E.128", -1, {5, 64}, 16);
        closeGroup_ = define("LDGDEPBAR"), awaitGroup_ = define("DEPBAR.LE");
        barrier_ = define("BAR.SYNC.DEFER_BLOCKING");
        loop_ = {define("IADD3", 7, {7}), define("ISETP.NE.AND", -1, {7}), define("BRA")};
        // Where a block holds few queries its warps share the keys.
        const int down = std::max(1, std::min(s_.warps, s_.tileQueries / 16)), across = s_.warps / down;
        const int rows = s_.tileQueries / down, keys = std::max(8, s_.tileKeys / across);
        scores_ = product(rows, keys, s_.keyDim, 64);
        values_ = product(rows, s_.valueDim, keys, 128);
        const int held = std::max(1, rows * keys / lanes()), sums = std::max(1, rows * s_.valueDim / lanes());
        for (int i = 0; i < std::min(held, 32); ++i) {
            maximum_.push_back(define("FMNMX", 20 + i % 4, {20 + i % 4, 64 + i}));
            scale_.push_back(define("FFMA", 64 + i, {64 + i, 8, 20 + i % 4}));
            exponential_.push_back(define("MUFU.EX2", 64 + i, {64 + i}));
            sum_.push_back(define("FADD", 24 + i % 4, {24 + i % 4, 64 + i}));
            pack_.push_back(define("F2FP.PACK_AB", 64 + i, {64 + i}));
        }
        for (int i = 0; i < 32; ++i) rescale_.push_back(define("FMUL", 128 + i, {128 + i, 9}));
        shuffle_ = define("SHFL.BFLY", 10, {20});
        held_ = held, sums_ = sums, shuffles_ = 2 * std::max(1, rows / 8);
        exit_ = define("EXIT");
    }
    Product product(int m, int n, int k, int c) {
        Product p;
        const MultiplyForm& f = s_.form;
        if (f.kind == MultiplyForm::Kind::Vector) {
            // A lane's multiplications of one k, and the pieces of 16 bytes that feed them.
            const int each = std::max(1, m * n / (lanes() * f.perLane));
            for (int i = 0; i < std::max(1, each / 8); ++i)
                p.fragments.push_back(define("LDS.U.128", 30 + i % 16, {6}, 16));
            for (int i = 0; i < each; ++i)
                p.multiply.push_back(define(f.opcode, c + i % 60, {30 + i % 8, 38 + i % 8, c + i % 60}));
            p.parts = k;
            return p;
        }
        const int down = upTo(m, 16) / 16, across = upTo(n, f.n) / f.n;
        for (int i = 0; i < down + (across * f.n + 15) / 16; ++i)
            p.fragments.push_back(define("LDSM.16.M88.4", 30 + i % 32, {6}, 16));
        for (int i = 0; i < down * (16 / std::min(16, f.m)) * across; ++i) {
            for (int step = 0; step < f.steps; ++step) {
                const int sum = c + (i * f.steps + step) % 60;
                p.multiply.push_back(define(f.steps > 1 ? fmt::format("{}.STEP{}", f.opcode, step) : f.opcode, sum,
                                            {30 + i % down, 30 + down % 32, sum}));
            }
        }
        p.parts = std::max(1, (k + f.k - 1) / f.k);
        return p;
    }

    // Rows of queries or results, each thread 16 bytes.
    void move(std::uint64_t base, int instruction, std::int64_t row, std::int64_t valid, int rows, double bytes,
              int warp, WarpSink& out) const {
        TileRows tile;
        tile.stride = bytes;
        tile.base = base + static_cast<std::uint64_t>(static_cast<double>(row) * bytes);
        tile.rows = rows, tile.valid = std::min<std::int64_t>(rows, valid);
        tile.bytes = std::max<std::int64_t>(16, static_cast<std::int64_t>(bytes) / 16 * 16), tile.inside = tile.bytes;
        forTileAccesses(tile, warp, s_.warps, lanes(), [&](LaneMask active, std::span<const std::uint64_t> addresses) {
            out.access(instruction, active, addresses);
        });
    }
    void keys(std::int64_t plane, std::int64_t step, int warp, WarpSink& out) const {
        std::size_t i = 0;
        std::array<bool, 16> used{};
        const auto load = [&](std::uint64_t base, double bytes) {
            TileRows tile;
            tile.stride = bytes;
            tile.base =
                base + static_cast<std::uint64_t>(static_cast<double>(plane * s_.keys + step * s_.tileKeys) * bytes);
            tile.rows = s_.tileKeys;
            tile.valid = std::min<std::int64_t>(s_.tileKeys, s_.keys - step * s_.tileKeys);
            tile.bytes = static_cast<std::int64_t>(bytes) / 16 * 16, tile.inside = tile.bytes;
            forTileAccesses(tile, warp, s_.warps, lanes(),
                            [&](LaneMask active, std::span<const std::uint64_t> addresses) {
                                if (active != 0) used[i % 16] = true;
                                out.access(keyLoad_[i++ % 16], active, addresses);
                            });
        };
        load(key_, keyRow_);
        if (!s_.latent) load(value_, valueRow_);
        if (s_.copiesPast) {
            out.op(closeGroup_);
            return;
        }
        for (std::size_t j = 0; j < std::min<std::size_t>(i, 16); ++j) {
            if (used[j])
                out.access(keyStore_[j], allLanes, sixteenEach(16 * static_cast<std::size_t>(lanes()) * j, lanes()));
        }
    }
    void multiply(const Product& p, WarpSink& out) const {
        const bool eight = lanes() > 32 && s_.form.kind != MultiplyForm::Kind::Vector;
        const auto places = sideBySide(eight ? 8 : 16, lanes());
        for (int part = 0; part < p.parts; ++part) {
            for (const int each : p.fragments) out.access(each, allLanes, places);
            for (const int each : p.multiply) out.op(each);
        }
    }
    void softmax(WarpSink& out) const {
        const auto all = [&](const std::vector<int>& list, int count) {
            for (int i = 0; i < count; ++i) out.op(list[static_cast<std::size_t>(i) % list.size()]);
        };
        all(maximum_, held_);
        for (int i = 0; i < shuffles_; ++i) out.op(shuffle_);
        all(scale_, held_), all(exponential_, held_), all(sum_, held_), all(pack_, (held_ + 1) / 2);
        all(rescale_, sums_);
    }

    FlashSpec s_;
    double keyRow_ = 0, valueRow_ = 0;
    std::uint64_t query_ = 0, key_ = 0, value_ = 0, out_ = 0;
    std::array<int, 5> prologue_{};
    std::vector<int> keyLoad_, keyStore_, loop_, maximum_, scale_, exponential_, sum_, pack_, rescale_;
    Product scores_, values_;
    int queryLoad_ = 0, store_ = 0, closeGroup_ = 0, awaitGroup_ = 0, barrier_ = 0, shuffle_ = 0, exit_ = 0;
    int held_ = 1, sums_ = 1, shuffles_ = 2;
};

}  // namespace

std::int64_t FlashSpec::blocks() const {
    return batch * (grouped ? kvHeads : heads) * partsOf(rowsOfBlocks(*this), tileQueries) * cuts;
}

double FlashSpec::meanSteps() const {
    const std::int64_t tiles = partsOf(rowsOfBlocks(*this), tileQueries);
    double all = 0;
    for (std::int64_t tile = 0; tile < tiles; ++tile) all += static_cast<double>(stepsOf(*this, tile));
    return all / static_cast<double>(tiles);
}

KernelTemplatePtr flashTemplate(const FlashSpec& spec) {
    return std::make_shared<const FlashTemplate>(spec);
}

}  // namespace orrery::gpusim
