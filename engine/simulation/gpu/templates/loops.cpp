#include "simulation/gpu/templates/loops.h"

#include "simulation/gpu/templates/tile_loads.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

namespace orrery::gpusim {

namespace {

using Kind = LoopSpec::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 9> words{{{"vector-add", Kind::VectorAdd},
                                                                  {"relu", Kind::Relu},
                                                                  {"fir", Kind::Fir},
                                                                  {"transpose", Kind::Transpose},
                                                                  {"row-products", Kind::RowProducts},
                                                                  {"column-products", Kind::ColumnProducts},
                                                                  {"walsh", Kind::Walsh},
                                                                  {"tiled-product", Kind::TiledProduct},
                                                                  {"convolution", Kind::Convolution}}};

class LoopTemplate : public KernelTemplate {
protected:
    LoopTemplate(const LoopSpec& spec, std::int64_t threads, int block, int registers, int shared = 0) : s_(spec) {
        setVersion(s_.binaryVersion);
        header_.name = std::string(wordOf(s_.kind));
        header_.block = {block, 1, 1};
        header_.grid = {static_cast<int>((threads + block - 1) / block), 1, 1};
        header_.registers = registers, header_.sharedBytes = shared, header_.traceVersion = 4;
        threads_ = threads;
        // Arguments, the thread's number, whether it has something to do.
        prologue_ = {define("ULDC", 1), define("S2R", 2), define("IMAD", 4, {1, 2}), define("ISETP.GE", 3, {4}),
                     define("BRA", -1, {3})};
        address_ = define("LEA", 5, {4, 1});
        loop_ = {define("UIADD3", 7, {7}), define("UISETP", 8, {7}), define("BRA", -1, {8})};
        exit_ = define("EXIT");
    }
    int loadWord(int to) { return define("LDG.E", to, {5}, 4); }
    int loadFour(int to) { return define("LDG.E.128", to, {5}, 16); }
    int storeWord(int from) { return define("STG.E", -1, {5, from}, 4); }
    int storeFour(int from) { return define("STG.E.128", -1, {5, from}, 16); }

    std::int64_t firstThread(std::int64_t block, int warp) const {
        return block * header_.block[0] + std::int64_t{warp} * lanes();
    }
    LaneMask active(std::int64_t first) const {
        return lanesUpTo(static_cast<int>(std::clamp<std::int64_t>(threads_ - first, 0, lanes())));
    }
    /// `place(lane)` is the address of a lane of `mask`.
    template <class Place>
    void access(WarpSink& out, int instruction, LaneMask mask, Place&& place) const {
        std::array<std::uint64_t, 64> addresses;
        std::size_t count = 0;
        for (LaneMask left = mask & lanesUpTo(lanes()); left; left &= left - 1)
            addresses[count++] = static_cast<std::uint64_t>(place(std::int64_t{std::countr_zero(left)}));
        if (count > 0) out.access(instruction, mask, {addresses.data(), count});
    }
    void begin(WarpSink& out, int pointers) const {
        for (const int each : prologue_) out.op(each);
        for (int i = 0; i < pointers; ++i) out.op(address_);
    }
    void again(WarpSink& out) const {
        for (const int each : loop_) out.op(each);
    }
    void end(WarpSink& out) const { out.op(exit_); }

    LoopSpec s_;
    std::int64_t threads_ = 1;
    OperandPlaces places_;

private:
    std::array<int, 5> prologue_{};
    std::array<int, 3> loop_{};
    int address_ = 0, exit_ = 0;
};

class StreamLoop final : public LoopTemplate {
public:
    explicit StreamLoop(const LoopSpec& spec) : LoopTemplate(spec, spec.n, 256, 16) {
        const double bytes = 4.0 * static_cast<double>(s_.n);
        reads_ = s_.kind == Kind::VectorAdd ? 2 : 1;
        for (int i = 0; i < reads_; ++i)
            from_[static_cast<std::size_t>(i)] = places_.take(bytes),
            load_[static_cast<std::size_t>(i)] = loadWord(10 + i);
        to_ = places_.take(bytes);
        work_ = reads_ == 2 ? define("FADD", 12, {10, 11}) : define("FMNMX", 12, {10, 9});
        store_ = storeWord(12);
    }
    void warp(std::int64_t block, int warp, WarpSink& out) const override {
        const std::int64_t first = firstThread(block, warp);
        const LaneMask mask = active(first);
        begin(out, mask ? reads_ + 1 : 0);
        const auto at = [&](std::uint64_t base) {
            return [=](std::int64_t lane) { return base + 4 * static_cast<std::uint64_t>(first + lane); };
        };
        for (std::size_t i = 0; i < static_cast<std::size_t>(reads_); ++i) access(out, load_[i], mask, at(from_[i]));
        if (mask) out.op(work_, mask);
        access(out, store_, mask, at(to_));
        end(out);
    }

private:
    int reads_ = 1, work_ = 0, store_ = 0;
    std::array<int, 2> load_{};
    std::array<std::uint64_t, 2> from_{};
    std::uint64_t to_ = 0;
};

// A coefficient is the same for all threads: it comes through the scalar unit. Where both sides of a branch read, the
// compiler chooses the address and reads once.
class FirLoop final : public LoopTemplate {
public:
    explicit FirLoop(const LoopSpec& spec) : LoopTemplate(spec, spec.n, 256, 16) {
        input_ = places_.take(4.0 * static_cast<double>(s_.n)), history_ = places_.take(4.0 * s_.taps);
        to_ = places_.take(4.0 * static_cast<double>(s_.n));
        choose_ = {define("ISETP.GE", 3, {4, 7}), define("IADD3", 6, {4, 7}), define("IADD3", 8, {4, 7}),
                   define("SEL", 6, {6, 8, 3}), define("LEA", 5, {6, 1})};
        coefficient_ = define("ULDC", 9, {7});
        load_ = loadWord(10), multiply_ = define("FFMA", 12, {9, 10, 12}), store_ = storeWord(12);
    }
    void warp(std::int64_t block, int warp, WarpSink& out) const override {
        const std::int64_t first = firstThread(block, warp);
        const LaneMask mask = active(first);
        begin(out, 1);
        for (std::int64_t i = 0; mask && i < s_.taps; ++i) {
            out.op(coefficient_);
            for (const int each : choose_) out.op(each, mask);
            access(out, load_, mask, [&](std::int64_t lane) {
                const std::int64_t id = first + lane;
                return id >= i ? static_cast<std::int64_t>(input_) + 4 * (id - i)
                               : static_cast<std::int64_t>(history_) + 4 * (s_.taps - (i - id));
            });
            out.op(multiply_, mask);
            again(out);
        }
        access(out, store_, mask,
               [&](std::int64_t lane) { return static_cast<std::int64_t>(to_) + 4 * (first + lane); });
        end(out);
    }

private:
    std::array<int, 5> choose_{};
    int coefficient_ = 0, load_ = 0, multiply_ = 0, store_ = 0;
    std::uint64_t input_ = 0, history_ = 0, to_ = 0;
};

// 16 × 16 threads with 4 × 4 elements each. Blocks of a row stand along a diagonal.
class TransposeLoop final : public LoopTemplate {
public:
    explicit TransposeLoop(const LoopSpec& spec) : LoopTemplate(spec, spec.n / 4 * (spec.n / 4), 256, 40, 16384) {
        const double bytes = 4.0 * static_cast<double>(s_.n) * static_cast<double>(s_.n);
        from_ = places_.take(bytes), to_ = places_.take(bytes);
        remainder_ = define("MUFU.RCP", 6, {4}), index_ = define("IMAD", 4, {6, 4});
        for (int i = 0; i < 4; ++i) {
            const auto at = static_cast<std::size_t>(i);
            load_[at] = loadFour(10 + i), write_[at] = define("STS.128", -1, {6, 10 + i}, 16);
            read_[at] = define("LDS.128", 20 + i, {6}, 16), turn_[at] = define("MOV", 30 + i, {20 + i}),
            store_[at] = storeFour(30 + i);
        }
        barrier_ = define("BAR.SYNC");
    }
    void warp(std::int64_t block, int warp, WarpSink& out) const override {
        const std::int64_t across = s_.n / 64, bx = block % across, by = block / across;
        const std::int64_t gy = bx, gx = (bx + by) % across, width = s_.n / 4;
        begin(out, 2);
        out.op(remainder_);
        for (int i = 0; i < 6; ++i) out.op(index_);
        const auto x = [&](std::int64_t lane) { return (std::int64_t{warp} * lanes() + lane) % 16; };
        const auto y = [&](std::int64_t lane) { return (std::int64_t{warp} * lanes() + lane) / 16; };
        const auto image = [&](std::uint64_t base, std::int64_t column, std::int64_t row, std::int64_t i) {
            return [=, this](std::int64_t lane) {
                return static_cast<std::int64_t>(base) +
                       16 * ((column * 16 + x(lane)) + (row * 16 + y(lane)) * width * 4 + i * width);
            };
        };
        for (std::int64_t i = 0; i < 4; ++i)
            access(out, load_[static_cast<std::size_t>(i)], allLanes, image(from_, gx, gy, i));
        for (std::int64_t i = 0; i < 4; ++i)
            access(out, write_[static_cast<std::size_t>(i)], allLanes,
                   [&](std::int64_t lane) { return 16 * (y(lane) * 64 + x(lane) + 16 * i); });
        out.op(barrier_);
        for (std::int64_t i = 0; i < 4; ++i)
            access(out, read_[static_cast<std::size_t>(i)], allLanes,
                   [&](std::int64_t lane) { return 16 * (x(lane) * 64 + y(lane) + 16 * i); });
        for (int i = 0; i < 16; ++i) out.op(turn_[static_cast<std::size_t>(i) % 4]);
        for (std::int64_t i = 0; i < 4; ++i)
            access(out, store_[static_cast<std::size_t>(i)], allLanes, image(to_, gy, gx, i));
        end(out);
    }

private:
    int remainder_ = 0, index_ = 0, barrier_ = 0;
    std::array<int, 4> load_{}, write_{}, read_{}, turn_{}, store_{};
    std::uint64_t from_ = 0, to_ = 0;
};

// The sum may lie where the operands do, for all that the compiler knows: it is stored in every step, and what comes
// next is read behind the store.
class MatrixVectorLoop final : public LoopTemplate {
public:
    explicit MatrixVectorLoop(const LoopSpec& spec) : LoopTemplate(spec, spec.n, 256, 16) {
        matrix_ = places_.take(4.0 * static_cast<double>(s_.n) * static_cast<double>(s_.n));
        vector_ = places_.take(4.0 * static_cast<double>(s_.n)), to_ = places_.take(4.0 * static_cast<double>(s_.n));
        loadMatrix_ = loadWord(10), loadVector_ = define("LDG.E", 11, {7}, 4),
        multiply_ = define("FFMA", 12, {10, 11, 12});
        store_ = define("STG.E", -1, {6, 12}, 4), advance_ = define("LEA", 5, {5}),
        first_ = define("LDG.E", 12, {6}, 4);
    }
    void warp(std::int64_t block, int warp, WarpSink& out) const override {
        const std::int64_t first = firstThread(block, warp);
        const LaneMask mask = active(first);
        begin(out, mask ? 2 : 0);
        const auto own = [&](std::int64_t lane) { return static_cast<std::int64_t>(to_) + 4 * (first + lane); };
        access(out, first_, mask, own);
        const bool rows = s_.kind == Kind::RowProducts;
        for (std::int64_t j = 0; mask && j < s_.n; ++j) {
            access(out, loadMatrix_, mask, [&](std::int64_t lane) {
                return static_cast<std::int64_t>(matrix_) +
                       4 * (rows ? (first + lane) * s_.n + j : j * s_.n + first + lane);
            });
            access(out, loadVector_, mask, [&](std::int64_t) { return static_cast<std::int64_t>(vector_) + 4 * j; });
            out.op(multiply_, mask);
            access(out, store_, mask, own);
            out.op(advance_, mask);
            again(out);
        }
        end(out);
    }

private:
    int loadMatrix_ = 0, loadVector_ = 0, multiply_ = 0, store_ = 0, advance_ = 0, first_ = 0;
    std::uint64_t matrix_ = 0, vector_ = 0, to_ = 0;
};

// The division of the thread's number by `step` takes a reciprocal and its corrections.
class WalshLoop final : public LoopTemplate {
public:
    explicit WalshLoop(const LoopSpec& spec) : LoopTemplate(spec, spec.n / 2, 256, 16) {
        array_ = places_.take(4.0 * static_cast<double>(s_.n));
        reciprocal_ = define("MUFU.RCP", 6, {7}), convert_ = define("I2F", 6, {6}),
        high_ = define("IMUL.HI", 6, {6, 4});
        correct_ = define("IADD3", 6, {6, 4});
        load_ = {loadWord(10), loadWord(11)};
        add_ = {define("FADD", 12, {10, 11}), define("FADD", 13, {10, 11})};
        store_ = {storeWord(12), storeWord(13)};
    }
    void warp(std::int64_t block, int warp, WarpSink& out) const override {
        const std::int64_t first = firstThread(block, warp);
        const LaneMask mask = active(first);
        begin(out, 0);
        out.op(convert_), out.op(reciprocal_), out.op(convert_);
        for (int i = 0; i < 3; ++i) out.op(high_);
        for (int i = 0; i < 10; ++i) out.op(correct_);
        const auto place = [&](std::int64_t shift) {
            return [=, this](std::int64_t lane) {
                const std::int64_t id = first + lane;
                return static_cast<std::int64_t>(array_) + 4 * (2 * s_.step * (id / s_.step) + id % s_.step + shift);
            };
        };
        access(out, load_[0], mask, place(0)), access(out, load_[1], mask, place(s_.step));
        out.op(add_[0], mask), out.op(add_[1], mask);
        access(out, store_[0], mask, place(0)), access(out, store_[1], mask, place(s_.step));
        end(out);
    }

private:
    int reciprocal_ = 0, convert_ = 0, high_ = 0, correct_ = 0;
    std::array<int, 2> load_{}, add_{}, store_{};
    std::uint64_t array_ = 0;
};

// Blocks of 8 × 8 threads. The tile of A goes through memory that all blocks share, not through shared memory.
class TiledProductLoop final : public LoopTemplate {
public:
    explicit TiledProductLoop(const LoopSpec& spec) : LoopTemplate(spec, spec.n / 4 * (spec.n / 4), 64, 80) {
        const double bytes = 4.0 * static_cast<double>(s_.n) * static_cast<double>(s_.n);
        a_ = places_.take(bytes), b_ = places_.take(bytes), c_ = places_.take(bytes), tile_ = places_.take(4096);
        for (int i = 0; i < 4; ++i) {
            const auto at = static_cast<std::size_t>(i);
            loadA_[at] = loadFour(10 + i), copy_[at] = storeFour(10 + i);
            loadTile_[at] = loadFour(20 + i), loadB_[at] = loadFour(30 + i), store_[at] = storeFour(40 + 4 * i);
        }
        const bool packs = lanes() > 32;
        for (int row = 0; row < 4; ++row) {
            for (int k = 0; k < 4; ++k) {
                for (int column = 0; column < 4; column += packs ? 2 : 1)
                    multiply_.push_back(define(packs ? "v_pk_fma_f32" : "FFMA", 40 + 4 * row + column,
                                               {20 + row, 30 + k, 40 + 4 * row + column}));
            }
        }
        advance_ = define("LEA", 5, {5}), barrier_ = define("BAR.SYNC");
    }
    void warp(std::int64_t block, int warp, WarpSink& out) const override {
        const std::int64_t width = s_.n / 4, across = width / 8, bx = block % across, by = block / across;
        const auto x = [&](std::int64_t lane) { return (std::int64_t{warp} * lanes() + lane) % 8; };
        const auto y = [&](std::int64_t lane) { return (std::int64_t{warp} * lanes() + lane) / 8; };
        const auto gx = [&](std::int64_t lane) { return bx * 8 + x(lane); };
        const auto gy = [&](std::int64_t lane) { return by * 8 + y(lane); };
        const auto at = [](std::uint64_t base, std::int64_t four) {
            return static_cast<std::int64_t>(base) + 16 * four;
        };
        begin(out, 4);
        for (std::int64_t i = 0; i < width / 8; ++i) {
            for (std::int64_t r = 0; r < 4; ++r)
                access(out, loadA_[static_cast<std::size_t>(r)], allLanes,
                       [&](std::int64_t lane) { return at(a_, i * 8 + x(lane) + (4 * gy(lane) + r) * width); });
            for (std::int64_t r = 0; r < 4; ++r)
                access(out, copy_[static_cast<std::size_t>(r)], allLanes,
                       [&](std::int64_t lane) { return at(tile_, x(lane) + 8 * (4 * y(lane) + r)); });
            out.op(barrier_);
            for (std::int64_t j = 0; j < 8; ++j) {
                for (std::int64_t r = 0; r < 4; ++r)
                    access(out, loadTile_[static_cast<std::size_t>(r)], allLanes,
                           [&](std::int64_t lane) { return at(tile_, j + (4 * y(lane) + r) * 8); });
                for (std::int64_t r = 0; r < 4; ++r)
                    access(out, loadB_[static_cast<std::size_t>(r)], allLanes,
                           [&](std::int64_t lane) { return at(b_, gx(lane) + (i * 32 + 4 * j + r) * width); });
                for (const int each : multiply_) out.op(each);
                for (int k = 0; k < 4; ++k) out.op(advance_);
                again(out);
            }
            out.op(barrier_);
            again(out);
        }
        for (std::int64_t r = 0; r < 4; ++r)
            access(out, store_[static_cast<std::size_t>(r)], allLanes,
                   [&](std::int64_t lane) { return at(c_, gx(lane) + (4 * gy(lane) + r) * width); });
        end(out);
    }

private:
    std::array<int, 4> loadA_{}, copy_{}, loadTile_{}, loadB_{}, store_{};
    std::vector<int> multiply_;
    int advance_ = 0, barrier_ = 0;
    std::uint64_t a_ = 0, b_ = 0, c_ = 0, tile_ = 0;
};

class ConvolutionLoop final : public LoopTemplate {
public:
    explicit ConvolutionLoop(const LoopSpec& spec) : LoopTemplate(spec, spec.n * spec.n, 64, 24) {
        const double side = static_cast<double>(s_.n + s_.taps - 1);
        image_ = places_.take(4 * side * side),
        to_ = places_.take(4.0 * static_cast<double>(s_.n) * static_cast<double>(s_.n));
        reciprocal_ = define("MUFU.RCP", 6, {7}), correct_ = define("IADD3", 6, {6, 4});
        index_ = define("IADD3", 6, {6, 7}), address_ = define("LEA", 5, {6, 1}), mask_ = define("ULDC", 9, {7});
        load_ = loadWord(10), convert_ = define("I2F", 11, {10}), multiply_ = define("FFMA", 12, {11, 9, 12});
        toWhole_ = define("F2I", 13, {12}), store_ = storeWord(13);
    }
    void warp(std::int64_t block, int warp, WarpSink& out) const override {
        const std::int64_t first = firstThread(block, warp), wide = s_.n + s_.taps - 1;
        const LaneMask mask = active(first);
        begin(out, 1);
        out.op(reciprocal_);
        for (int i = 0; i < 12; ++i) out.op(correct_);
        for (std::int64_t m = 0; m < s_.taps; ++m) {
            for (std::int64_t n = 0; n < s_.taps; ++n) {
                out.op(index_, mask), out.op(address_, mask), out.op(mask_);
                access(out, load_, mask, [&](std::int64_t lane) {
                    const std::int64_t id = first + lane;
                    return static_cast<std::int64_t>(image_) + 4 * ((id / s_.n + m) * wide + id % s_.n + n);
                });
                out.op(convert_, mask), out.op(multiply_, mask);
                again(out);
            }
            again(out);
        }
        out.op(toWhole_, mask);
        access(out, store_, mask,
               [&](std::int64_t lane) { return static_cast<std::int64_t>(to_) + 4 * (first + lane); });
        end(out);
    }

private:
    int reciprocal_ = 0, correct_ = 0, index_ = 0, address_ = 0, mask_ = 0, load_ = 0, convert_ = 0, multiply_ = 0,
        toWhole_ = 0, store_ = 0;
    std::uint64_t image_ = 0, to_ = 0;
};

}  // namespace

std::optional<Kind> loopKindOf(std::string_view word) {
    for (const auto& [name, kind] : words) {
        if (name == word) return kind;
    }
    return std::nullopt;
}

std::string_view wordOf(Kind kind) {
    return words[static_cast<std::size_t>(kind)].first;
}

Expected<KernelTemplatePtr> loopTemplate(const LoopSpec& s) {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    const bool squares = s.kind == Kind::Transpose || s.kind == Kind::TiledProduct || s.kind == Kind::Convolution;
    const std::int64_t multiple = s.kind == Kind::Transpose      ? 64
                                  : s.kind == Kind::TiledProduct ? 32
                                  : s.kind == Kind::Walsh        ? 512
                                                                 : 1;
    if (s.n < 1 || s.n > (squares ? 1 << 16 : most) || s.n % multiple != 0 || s.taps < 1 || s.taps > 4096 ||
        s.step < 1) {
        return fail("gpu.template", fmt::format("{} has no kernel of size {}", wordOf(s.kind), s.n),
                    multiple > 1 ? fmt::format("a multiple of {}", multiple) : "sizes from 1", "change n=");
    }
    switch (s.kind) {
        case Kind::VectorAdd:
        case Kind::Relu:
            return std::make_shared<const StreamLoop>(s);
        case Kind::Fir:
            return std::make_shared<const FirLoop>(s);
        case Kind::Transpose:
            return std::make_shared<const TransposeLoop>(s);
        case Kind::RowProducts:
        case Kind::ColumnProducts:
            return std::make_shared<const MatrixVectorLoop>(s);
        case Kind::Walsh:
            return std::make_shared<const WalshLoop>(s);
        case Kind::TiledProduct:
            return std::make_shared<const TiledProductLoop>(s);
        case Kind::Convolution:
            return std::make_shared<const ConvolutionLoop>(s);
    }
    return fail("gpu.template", "no such kernel");
}

}  // namespace orrery::gpusim
