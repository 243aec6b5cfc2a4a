#include "simulation/gpu/templates/product.h"

#include "simulation/gpu/templates/tile_loads.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace orrery::gpusim {

namespace {

std::int64_t upwards(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

int nearestPower(double value, int most) {
    int out = 1;
    while (out * 2 <= most && std::log2(value) >= std::log2(out) + 0.5) out *= 2;
    return out;
}

// Instructions of one warp of a group that stand below each other: 64 rows of the tile each.
int groupRows(const ProductSpec& s) {
    const int groups = std::max(1, s.warps / 4);
    return static_cast<int>(upwards(s.tileM >= 64 * groups ? s.tileM / groups : s.tileM, 64));
}

class ProductTemplate final : public KernelTemplate {
public:
    explicit ProductTemplate(const ProductSpec& spec) : s_(spec) {
        rowsA_ = s_.tileK * s_.aBytes, rowsB_ = s_.tileK * s_.bBytes;
        setVersion(s_.binaryVersion);
        header_.name = fmt::format("product_{}x{}x{}", s_.tileM, s_.tileN, s_.tileK);
        header_.grid = {static_cast<int>(s_.blocks()), 1, 1};
        // A cluster where all tiles have a partner along the side that they share an operand over.
        paired_ = s_.multicast && alongTiles() % 2 == 0;
        if (paired_) header_.cluster = 2;
        header_.block = {s_.warps * lanes(), 1, 1};
        header_.registers = s_.registers;
        header_.traceVersion = 4;
        header_.sharedBytes = static_cast<int>(s_.stages * (s_.tileM * rowsA_ + s_.tileN * rowsB_));
        if (s_.aStride <= 0) s_.aStride = static_cast<double>(s_.k);
        if (s_.bStride <= 0) s_.bStride = static_cast<double>(s_.k);
        const double batch = static_cast<double>(s_.batch), m = static_cast<double>(s_.m),
                     n = static_cast<double>(s_.n);
        planeA_ = m * s_.aStride * s_.aBytes, planeB_ = n * s_.bStride * s_.bBytes, planeC_ = m * n * cBytes();
        const int planes = s_.partsStored ? s_.splits : 1;
        OperandPlaces places;
        a_ = places.take(batch * planeA_), b_ = places.take(batch * planeB_), c_ = places.take(batch * planeC_ * planes);
        using Role = TemplateOperand::Role;
        operands_ = {{Role::Input, a_, batch * planeA_},
                     {Role::Weights, b_, batch * planeB_},
                     {Role::Output, c_, batch * planeC_ * planes}};
        steps_ = s_.stepsOfBlock();
        shapeWarps();
        fragmentPlaces_ = placesOfFragments();
        defineAll();
    }

    void warp(std::int64_t block, int warp, WarpSink& out) const override {
        const Where at = place(block);
        for (const int each : prologue_) out.op(each);
        if (s_.copiesPast)
            pipelined(at, warp, out);
        else
            staged(at, warp, out);
        finish(at, warp, out);
    }

    std::vector<TemplateRegion> regions(std::int64_t block) const override {
        const Where at = place(block);
        const std::int64_t from = at.split * steps_ * s_.tileK;
        const auto length = static_cast<double>(std::clamp<std::int64_t>(s_.k - from, 0, steps_ * s_.tileK));
        const auto region = [&](const TileRows& rows, double bytes) {
            return TemplateRegion{.first = rows.base,
                                  .stride = rows.stride,
                                  .rows = rows.valid,
                                  .bytes = static_cast<std::int64_t>(std::ceil(length * bytes / 16)) * 16,
                                  .piece = rows.bytes,
                                  .written = false};
        };
        const auto [a, b] = operands(at, from);
        const TileRows c = results(at);
        return {region(a, s_.aBytes),
                region(b, s_.bBytes),
                {.first = c.base,
                 .stride = c.stride,
                 .rows = c.valid,
                 .bytes = c.inside,
                 .piece = c.inside,
                 .written = !meet()}};
    }

private:
    struct Where {
        std::int64_t plane = 0, m = 0, n = 0, split = 0;
    };
    bool alongN() const { return s_.tileM > s_.tileN; }
    std::int64_t alongTiles() const { return alongN() ? upwards(s_.n, s_.tileN) : upwards(s_.m, s_.tileM); }
    double cBytes() const { return s_.splits > 1 ? 4 : s_.cBytes; }
    bool meet() const { return s_.splits > 1 && !s_.partsStored; }  // atomically

    // Through registers: the next step's rows are under way while this one multiplies.
    void staged(const Where& at, int warp, WarpSink& out) const {
        load(at, 0, warp, out);
        store(warp, out);
        out.op(barrier_);
        for (std::int64_t step = 0; step < steps_; ++step) {
            if (step + 1 < steps_) load(at, step + 1, warp, out);
            multiply(out);
            if (step + 1 < steps_) {
                store(warp, out);
                out.op(barrier_);
            }
            for (const int each : loop_) out.op(each);
        }
    }

    // As CUTLASS's multistage kernels: copies of a later step and fragments of the next part stand between the
    // multiplications, and a step's last part already reads the next step's first fragments, behind the barrier.
    void pipelined(const Where& at, int warp, WarpSink& out) const {
        for (std::int64_t step = 0; step < s_.stages - 1; ++step) load(at, step, warp, out), out.op(closeGroup_);
        const auto arrived = [&] {
            out.op(awaitGroup_, allLanes, static_cast<unsigned>(std::max(0, s_.stages - 2)));
            out.op(barrier_);
        };
        arrived();
        std::size_t half = 0;
        for (const int each : fragments_[half]) out.access(each, allLanes, places());
        Held copies;
        for (std::int64_t step = 0; step < steps_; ++step) {
            copies.clear();
            load(at, step + s_.stages - 1, warp, copies);
            std::size_t copied = 0;
            const auto last = static_cast<std::size_t>(parts_) - 1, spread = std::max<std::size_t>(1, last);
            for (std::size_t part = 0; part <= last; ++part) {
                const bool ends = part == last;
                const std::size_t until =
                    ends ? copies.size() : std::min(copies.size(), copies.size() * (part + 1) / spread);
                if (ends) {
                    for (; copied < until; ++copied) copies.give(copied, out);
                    out.op(closeGroup_);
                    if (step + 1 < steps_) arrived();
                }
                const auto& products = multiply_[half];
                const auto& next = fragments_[1 - half];
                const std::size_t n = products.size(), first = copied;
                const std::size_t fragments = ends && step + 1 == steps_ ? 0 : next.size();
                std::size_t read = 0;
                for (std::size_t i = 0; i < n; ++i) {
                    // Fragments in the first half of the part, so that they are there for the next; copies in the
                    // other.
                    for (; read < fragments && 2 * fragments * i >= read * n; ++read)
                        out.access(next[read], allLanes, places());
                    for (; copied < until && 2 * i >= n && (2 * i - n) * (until - first) >= (copied - first) * n;
                         ++copied)
                        copies.give(copied, out);
                    out.op(products[i]);
                }
                for (; read < fragments; ++read) out.access(next[read], allLanes, places());
                for (; copied < until; ++copied) copies.give(copied, out);
                half = 1 - half;
            }
            for (const int each : loop_) out.op(each);
        }
    }

    // Accesses that wait for their place among other instructions.
    class Held final : public WarpSink {
    public:
        void op(int, LaneMask, unsigned) override {}
        void access(int instruction, LaneMask lanes, std::span<const std::uint64_t> addresses) override {
            if (lanes == 0) return;
            accesses_.push_back({instruction, lanes, addresses_.size(), addresses.size()});
            addresses_.insert(addresses_.end(), addresses.begin(), addresses.end());
        }
        void clear() { accesses_.clear(), addresses_.clear(); }
        std::size_t size() const { return accesses_.size(); }
        void give(std::size_t i, WarpSink& to) const {
            const auto& one = accesses_[i];
            to.access(one.instruction, one.lanes, {addresses_.data() + one.first, one.count});
        }

    private:
        struct Access {
            int instruction = 0;
            LaneMask lanes = 0;
            std::size_t first = 0, count = 0;
        };
        std::vector<Access> accesses_;
        std::vector<std::uint64_t> addresses_;
    };

    // Blocks go down columns of eight tiles, so that a wave shares rows and columns.
    Where place(std::int64_t block) const {
        const std::int64_t down = upwards(s_.m, s_.tileM), across = upwards(s_.n, s_.tileN);
        Where at;
        at.split = block / (s_.batch * down * across);
        block %= s_.batch * down * across;
        at.plane = block / (down * across);
        block %= down * across;
        const std::int64_t group = std::min<std::int64_t>(8, down), strip = group * across;
        const std::int64_t first = block / strip * group, rows = std::min(group, down - first);
        const std::int64_t inside = block % strip;
        // Two that share an operand are neighbours.
        if (paired_) {
            const std::int64_t pair = inside / 2, pairRows = alongN() ? rows : rows / 2;
            at.m = first + (alongN() ? pair % pairRows : 2 * (pair % pairRows) + inside % 2);
            at.n = alongN() ? 2 * (pair / pairRows) + inside % 2 : pair / pairRows;
        } else {
            at.m = first + inside % rows, at.n = inside / rows;
        }
        return at;
    }

    void shapeWarps() {
        if (s_.form.kind == MultiplyForm::Kind::Group) {
            const int groups = std::max(1, s_.warps / 4);
            down_ = groupRows(s_);
            groupN_ = static_cast<int>(s_.tileM >= 64 * groups ? s_.tileN : upwards(s_.tileN, groups));
            groupN_ = std::clamp((groupN_ + 7) / 8 * 8, 8, 256);
        } else if (s_.form.kind == MultiplyForm::Kind::Warp) {
            const int warpsN = nearestPower(std::sqrt(1.0 * s_.warps * s_.tileN / s_.tileM), s_.warps);
            down_ = upwards(upwards(s_.tileM, s_.warps / warpsN), s_.form.m);
            across_ = upwards(upwards(s_.tileN, warpsN), s_.form.n);
        } else {
            const int area = std::max(1, s_.tileM * s_.tileN / (s_.warps * lanes()));
            threadM_ = 1;
            while (4 * threadM_ * threadM_ <= area) threadM_ *= 2;
            threadN_ = std::max(1, area / threadM_);
        }
    }

    void defineAll() {
        prologue_ = {define("MOV", 1), define("S2R", 2), define("S2R", 3), define("IMAD", 4, {2, 3}),
                     define("ISETP.GE.AND", -1, {4})};
        const auto accesses = [&](double rowBytes, int rows) {
            return static_cast<int>(upwards(static_cast<std::int64_t>(rows * rowBytes / 16), s_.warps * lanes()));
        };
        const int loads = accesses(rowsA_, s_.tileM) + accesses(rowsB_, s_.tileN);
        for (int i = 0; i < loads; ++i) {
            if (s_.copiesPast) {
                loads_.push_back(define(header_.cluster > 1 ? "LDGSTS.E.BYPASS.128.MULTICAST" : "LDGSTS.E.BYPASS.128",
                                        -1, {5, 6}, 16));
            } else {
                loads_.push_back(define("LDG.E.128", stagingRegister + i % 32, {5}, 16));
                stores_.push_back(define("STS.128", -1, {6, stagingRegister + i % 32}, 16));
            }
        }
        closeGroup_ = define("LDGDEPBAR");
        awaitGroup_ = define("DEPBAR.LE");
        barrier_ = define("BAR.SYNC.DEFER_BLOCKING");
        loop_ = {define("IADD3", 7, {7}), define("IADD3", 5, {5}), define("ISETP.NE.AND", -1, {7}), define("BRA")};
        if (s_.form.kind == MultiplyForm::Kind::Vector)
            defineVector();
        else
            defineTensor();
        pack_ = define("F2FP.PACK_AB", 8, {sums, sums + 1});
        packStore_ = define("STS", -1, {6, 8}, 4);
        sumStore_ = define("STS.64", -1, {6, sums}, 8);
        rowLoad_ = define("LDS.128", 9, {6}, 16);
        rowStore_ = define("STG.E.128", -1, {5, 9}, 16);
        add_ = define("RED.E.ADD.F32.FTZ.RN.STRONG.GPU", -1, {5, sums}, 4);
        exit_ = define("EXIT");
    }

    // Pieces of 16 bytes of one k: some down, some across. The next k's are read while these multiply.
    void defineVector() {
        const int vector = std::max(1, static_cast<int>(16 / std::max(1.0, s_.aBytes)));
        const int down = static_cast<int>(upwards(threadM_, vector)),
                  across = static_cast<int>(upwards(threadN_, vector));
        const int columns = static_cast<int>(upwards(threadN_, s_.form.perLane));
        for (int half = 0; half < 2; ++half) {
            auto& fragments = fragments_[static_cast<std::size_t>(half)];
            for (int i = 0; i < down; ++i) fragments.push_back(define("LDS.U.128", aRegister(half, i), {6}, 16));
            for (int j = 0; j < across; ++j) fragments.push_back(define("LDS.U.128", bRegister(half, j), {6}, 16));
            for (int i = 0, sum = 0; i < threadM_; ++i) {
                for (int j = 0; j < columns; ++j, ++sum) {
                    const int c = sums + sum % sumRegisters;
                    // A row's element is read once for all of its columns.
                    multiply_[static_cast<std::size_t>(half)].push_back(
                        define(s_.form.opcode, c,
                               {aRegister(half, i / vector), bRegister(half, j * s_.form.perLane / vector), c}, 0,
                               j + 1 < columns ? 1u : 0u));
                }
            }
        }
        parts_ = s_.tileK;
    }

    void defineTensor() {
        const bool group = s_.form.kind == MultiplyForm::Kind::Group;
        const std::string name =
            group ? fmt::format("{}.64x{}x{}{}", s_.form.opcode, groupN_, s_.form.k, s_.form.suffix) : s_.form.opcode;
        const char* matrixLoad = s_.matrixLoads || lanes() > 32 ? "LDSM.16.M88.4" : "LDS.U.128";
        const auto pairs = static_cast<int>(upwards(across_ * s_.form.n, 16));
        for (int half = 0; half < 2; ++half) {
            auto& fragments = fragments_[static_cast<std::size_t>(half)];
            for (int i = 0; i < down_ && !group; ++i)
                fragments.push_back(define(matrixLoad, aRegister(half, i), {6}, 16));
            for (int j = 0; j < pairs && !group; ++j)
                fragments.push_back(define(matrixLoad, bRegister(half, j), {6}, 16));
            int sum = 0;
            for (int i = 0; i < down_; ++i) {
                for (int j = 0; j < (group ? 1 : across_); ++j) {
                    for (int step = 0; step < s_.form.steps; ++step, ++sum) {
                        const int c = sums + sum % sumRegisters;
                        std::vector<int> from{c};
                        if (!group)
                            from = {aRegister(half, i), bRegister(half, static_cast<int>(j * s_.form.n / 16)), c};
                        multiply_[static_cast<std::size_t>(half)].push_back(
                            define(s_.form.steps > 1 ? fmt::format("{}.STEP{}", name, step) : name, c, from));
                    }
                }
            }
        }
        parts_ = static_cast<int>(upwards(s_.tileK, s_.form.k));
    }

    TileRows operand(std::uint64_t base, double first, double stride, double bytes, std::int64_t tile, int rows,
                     std::int64_t all, std::int64_t from) const {
        TileRows r;
        r.base = base + static_cast<std::uint64_t>(
                            first + (static_cast<double>(tile * rows) * stride + static_cast<double>(from)) * bytes);
        r.stride = stride * bytes;
        r.rows = rows, r.valid = std::min<std::int64_t>(rows, all - tile * rows);
        r.bytes = static_cast<std::int64_t>(s_.tileK * bytes);
        r.inside = static_cast<std::int64_t>(
            std::ceil(static_cast<double>(std::min<std::int64_t>(s_.tileK, s_.k - from)) * bytes));
        return r;
    }
    // What a block brings of both from `from` on. Of a cluster of two, which lies along the side that saves more, each
    // brings half of what they share.
    std::pair<TileRows, TileRows> operands(const Where& at, std::int64_t from) const {
        const double plane = static_cast<double>(at.plane);
        auto a = operand(a_, plane * planeA_, s_.aStride, s_.aBytes, at.m, s_.tileM, s_.m, from);
        auto b = operand(b_, plane * planeB_, s_.bStride, s_.bBytes, at.n, s_.tileN, s_.n, from);
        const auto halve = [](TileRows& rows, std::int64_t half) {
            rows.base += static_cast<std::uint64_t>(static_cast<double>(rows.rows / 2 * half) * rows.stride);
            rows.valid = std::clamp<std::int64_t>(rows.valid - rows.rows / 2 * half, 0, rows.rows / 2);
            rows.rows /= 2;
        };
        // The last of an odd number has no partner and brings all.
        const std::int64_t own = alongN() ? at.n : at.m;
        if (s_.multicast && (own ^ 1) < alongTiles()) halve(alongN() ? a : b, own & 1);
        return {a, b};
    }
    void load(const Where& at, std::int64_t step, int warp, WarpSink& out) const {
        const std::int64_t from = (at.split * steps_ + step) * s_.tileK;
        if (step >= steps_ || from >= s_.k) return;
        std::size_t i = 0;
        const auto bring = [&](const TileRows& rows) {
            forTileAccesses(rows, warp, s_.warps, lanes(),
                            [&](LaneMask active, std::span<const std::uint64_t> addresses) {
                                out.access(loads_[i++ % loads_.size()], active, addresses);
                            });
        };
        const auto [a, b] = operands(at, from);
        bring(a), bring(b);
    }
    void store(int warp, WarpSink& out) const {
        const auto warps = static_cast<std::size_t>(s_.warps);
        for (std::size_t i = 0; i < stores_.size(); ++i)
            out.access(
                stores_[i], allLanes,
                sixteenEach((i * warps + static_cast<std::size_t>(warp)) * 16 * static_cast<std::size_t>(lanes()),
                            lanes()));
    }
    // Shared-memory addresses of a fragment: lanes of a column share their words where vector units multiply.
    std::span<const std::uint64_t> places() const { return fragmentPlaces_; }
    // A wavefront reads a fragment of 512 bytes by eight each.
    LaneAddresses placesOfFragments() const {
        if (s_.form.kind != MultiplyForm::Kind::Vector) return sideBySide(lanes() > 32 ? 8 : 16, lanes());
        LaneAddresses all(lanes());
        for (std::size_t lane = 0; lane < all.size(); ++lane) all[lane] = 16 * (lane % 8);
        return all;
    }
    void multiply(WarpSink& out) const {
        const auto fragments = [&](int half) {
            for (const int each : fragments_[static_cast<std::size_t>(half)]) out.access(each, allLanes, places());
        };
        fragments(0);
        for (int part = 0; part < parts_; ++part) {
            if (part + 1 < parts_) fragments((part + 1) % 2);
            for (const int each : multiply_[static_cast<std::size_t>(part % 2)]) out.op(each);
        }
    }

    TileRows results(const Where& at) const {
        TileRows rows;
        rows.stride = static_cast<double>(s_.n) * cBytes();
        const std::int64_t plane = at.plane + (s_.partsStored ? at.split * s_.batch : 0);
        rows.base = c_ + static_cast<std::uint64_t>(static_cast<double>(plane) * planeC_ +
                                                    static_cast<double>(at.m * s_.tileM) * rows.stride +
                                                    static_cast<double>(at.n * s_.tileN) * cBytes());
        rows.rows = s_.tileM, rows.valid = std::min<std::int64_t>(s_.tileM, s_.m - at.m * s_.tileM);
        rows.bytes = std::max<std::int64_t>(16, static_cast<std::int64_t>(s_.tileN * cBytes()));
        rows.inside = static_cast<std::int64_t>(
            static_cast<double>(std::min<std::int64_t>(s_.tileN, s_.n - at.n * s_.tileN)) * cBytes());
        return rows;
    }
    // Sums leave through shared memory, so that rows are written whole; partial ones stay unrounded, or are added up
    // where they belong.
    void finish(const Where& at, int warp, WarpSink& out) const {
        const TileRows rows = results(at);
        if (meet()) {
            forTileAccesses(rows, warp, s_.warps, lanes(), [&](LaneMask, std::span<const std::uint64_t> from) {
                // Words side by side: four of each piece of 16 bytes.
                const auto width = static_cast<std::size_t>(lanes());
                std::array<std::uint64_t, 64> words{};
                for (std::size_t first = 0; first < 4 * from.size(); first += width) {
                    const std::size_t count = std::min<std::size_t>(width, 4 * from.size() - first);
                    for (std::size_t i = 0; i < count; ++i) words[i] = from[(first + i) / 4] + 4 * (i % 4);
                    out.access(add_, lanesUpTo(static_cast<int>(count)), {words.data(), count});
                }
            });
            out.op(exit_);
            return;
        }
        const bool partial = s_.splits > 1;
        const auto pair = sideBySide(partial ? 8 : 4, lanes());
        const std::int64_t pairs = upwards(static_cast<std::int64_t>(s_.tileM) * s_.tileN, 2 * lanes() * s_.warps);
        out.op(barrier_);
        for (std::int64_t i = 0; i < pairs; ++i) {
            if (!partial) out.op(pack_);
            out.access(partial ? sumStore_ : packStore_, allLanes, pair);
        }
        out.op(barrier_);
        forTileAccesses(rows, warp, s_.warps, lanes(), [&](LaneMask active, std::span<const std::uint64_t> to) {
            if (active == 0) return;
            out.access(rowLoad_, allLanes, sixteenEach(0, lanes()));
            out.access(rowStore_, active, to);
        });
        out.op(exit_);
    }

    static constexpr int stagingRegister = 200, sums = 64, sumRegisters = 128;
    static int aRegister(int half, int i) { return 10 + half * 26 + i % 8; }
    static int bRegister(int half, int j) { return 18 + half * 26 + j % 18; }
    ProductSpec s_;
    double rowsA_ = 0, rowsB_ = 0, planeA_ = 0, planeB_ = 0, planeC_ = 0;
    std::uint64_t a_ = 0, b_ = 0, c_ = 0;
    std::int64_t steps_ = 1, down_ = 1, across_ = 1;
    bool paired_ = false;
    int groupN_ = 8, threadM_ = 1, threadN_ = 1, parts_ = 1;
    std::array<int, 5> prologue_{};
    std::vector<int> loads_, stores_, loop_;
    std::array<std::vector<int>, 2> fragments_, multiply_;
    LaneAddresses fragmentPlaces_{32};
    int closeGroup_ = 0, awaitGroup_ = 0, barrier_ = 0, exit_ = 0;
    int pack_ = 0, packStore_ = 0, sumStore_ = 0, rowLoad_ = 0, rowStore_ = 0, add_ = 0;
};

}  // namespace

std::int64_t ProductSpec::blocks() const {
    return batch * upwards(m, tileM) * upwards(n, tileN) * splits;
}

std::int64_t ProductSpec::stepsOfBlock() const {
    return upwards(upwards(k, tileK), splits);
}

double productInstructions(const ProductSpec& s) {
    const double tile = static_cast<double>(s.tileM) * s.tileN;
    double perStep = 0;
    switch (s.form.kind) {
        case MultiplyForm::Kind::Vector:
            perStep = tile * s.tileK / (static_cast<double>(lanesOfVersion(s.binaryVersion)) * s.form.perLane);
            break;
        case MultiplyForm::Kind::Warp:
            perStep = tile * static_cast<double>(upwards(s.tileK, s.form.k)) * s.form.steps / (s.form.m * s.form.n);
            break;
        case MultiplyForm::Kind::Group:
            perStep = static_cast<double>(s.warps * groupRows(s) * upwards(s.tileK, s.form.k));
            break;
    }
    return static_cast<double>(s.blocks()) * static_cast<double>(s.stepsOfBlock()) * perStep;
}

KernelTemplatePtr productTemplate(const ProductSpec& spec) {
    return std::make_shared<const ProductTemplate>(spec);
}

}  // namespace orrery::gpusim
