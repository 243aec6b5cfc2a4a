#include "base/random.h"
#include "learning/calibration.h"
#include "methods/tile/features_attention.h"
#include "methods/tile/tile_wave_attention.h"
#include "support/tile_fixture.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;
using namespace orrery::fixture;

namespace {

constexpr auto prefill = KernelKind::PrefillAttention;
constexpr auto decode = KernelKind::DecodeAttention;

// The definition, score by score: what attentionTiles() must count.
AttentionTiles countedTiles(const Kernel& kernel) {
    const AttentionShape& a = kernel.attention;
    AttentionTiles out = attentionTiles(kernel);
    const auto edge = std::int64_t(out.tileQueries), lane = std::int64_t(out.tileKeys);
    double tiles = 0, scores = 0, longest = 0;
    for (std::int64_t row = 0; row * edge < a.queries; ++row) {
        std::vector<bool> touched(std::size_t(a.keys / lane + 1));
        for (std::int64_t q = row * edge; q < std::min(a.queries, (row + 1) * edge); ++q) {
            for (std::int64_t k = 0; k < a.keys; ++k) {
                const std::int64_t at = a.keys - a.queries + q;  // where this query stands among the keys
                if (a.causal && k > at) continue;
                if (kernel.window > 0 && k <= at - kernel.window) continue;
                touched[std::size_t(k / lane)] = true;
                ++scores;
            }
        }
        const auto here = double(std::count(touched.begin(), touched.end(), true));
        tiles += here;
        longest = std::max(longest, here);
    }
    out.tiles = tiles, out.scores = scores, out.longest = longest;
    return out;
}

// The handmade device with 2048 operations a cycle in a multiprocessor and 164 KiB of shared memory.
GpuView ampereLike() {
    GpuView gpu = handmadeGpu();
    for (const auto& [type, rate] : {std::pair(DType::BF16, 204.8e12), std::pair(DType::FP8, 409.6e12)})
        gpu.device.peaks[std::size_t(UnitKind::Tensor)][std::size_t(type)] = FlopsPerSecond(rate);
    gpu.device.peaks[std::size_t(UnitKind::Tensor)][std::size_t(DType::F16)] = FlopsPerSecond(204.8e12);
    gpu.sharedBytes = 164 * 1024;
    return gpu;
}

Kernel randomAttention(RandomStream& random, KernelKind kind) {
    const auto power = [&](int most) { return std::int64_t(1) << random.below(std::uint64_t(most) + 1); };
    const std::int64_t kvHeads = power(5), group = power(6);
    Kernel kernel = attention(kind, power(7), kvHeads * group, kvHeads, std::int64_t(1 + random.below(20000)),
                              std::int64_t(64 * (1 + random.below(4))));
    if (random.uniform() < 0.3) kernel.window = power(13);
    if (random.uniform() < 0.3) kernel.kvType = DType::FP8;
    return kernel;
}

}  // namespace

class TestTileAttention : public QObject {
    Q_OBJECT
private slots:
    void tilesAreThoseOfTheMask() {
        RandomStream random(7);
        for (int i = 0; i < 40; ++i) {
            Kernel kernel = attention(prefill, 1, 1, 1, std::int64_t(1 + random.below(600)), i % 2 ? 128 : 256);
            AttentionShape& a = kernel.attention;
            a.causal = random.uniform() < 0.8;
            if (a.causal && random.uniform() < 0.5) a.keys += std::int64_t(random.below(400));  // a chunk of a prompt
            if (a.causal && random.uniform() < 0.5) kernel.window = std::int64_t(1 + random.below(500));
            const AttentionTiles got = attentionTiles(kernel), want = countedTiles(kernel);
            const QByteArray what = QByteArray::number(int(a.queries)) + " of " + QByteArray::number(int(a.keys)) +
                                    " window " + QByteArray::number(int(kernel.window));
            QVERIFY2(got.tiles == want.tiles, what);
            QVERIFY2(got.longest == want.longest, what);
            QVERIFY2(kernel.window > 0 || std::abs(got.scores - want.scores) < 1e-9 * want.scores, what);
        }
    }

    void sampledRowsOfLongPromptsMissLittle() {
        const Kernel kernel = attention(prefill, 1, 1, 1, 1 << 20, 128);
        const double n = (1 << 20) / 128.0, want = n * (n + 1) / 2;
        QVERIFY(std::abs(attentionTiles(kernel).tiles / want - 1) < 0.01);
    }

    void longPromptTakesItsProductsNearThePeak() {
        const GpuView gpu = handmadeGpu();
        const TileFamily& family = prefillAttentionFamily();
        const Kernel kernel = attention(prefill, 8, 32, 8, 16384, 128);
        const double scores = 16384.0 * 16385 / 2 * 8 * 32;
        const double peak = scores * 4 * 128 / 1e15;
        const double price = nominalSeconds(family, kernel, gpu);
        QVERIFY(price > peak);
        QVERIFY(price < 4 * peak);
    }

    void nothingBeatsThePeakOrAColdMemory() {
        const GpuView gpu = handmadeGpu();
        RandomStream random(11);
        for (int i = 0; i < 4000; ++i) {
            const KernelKind kind = i % 2 ? prefill : decode;
            const Kernel kernel = randomAttention(random, kind);
            const TileFamily& family = i % 2 ? prefillAttentionFamily() : decodeAttentionFamily();
            std::vector<double> values;
            for (const TileParameter& p : family.parameters) {
                values.push_back(p.low * std::pow(p.high / p.low, random.uniform()));
            }
            const TilePhysics price = family.physics(kernel, gpu, values);
            QVERIFY(std::isfinite(price.seconds) && price.seconds > 0);
            if (i % 2) {
                const AttentionTiles tiles = attentionTiles(kernel);
                const double flops =
                    4.0 * tiles.scores * kernel.attention.headDim * kernel.attention.batch * kernel.attention.heads;
                QVERIFY(price.seconds >= flops / gpu.peak(true, DType::FP8));
            }
            QVERIFY(price.seconds >= price.dramBytes / gpu.dramBandwidth);
        }
    }

    void largeCachesAreReadFromMemory() {
        const GpuView gpu = handmadeGpu();
        const Kernel kernel = attention(decode, 64, 32, 8, 32768, 128);
        const double bytes = 64.0 * 8 * 32768 * 2 * 128 * 2;
        const DecodePlan plan = decodePlan(kernel, gpu);
        QCOMPARE(plan.cacheBytes, bytes);
        QVERIFY(plan.grouped);
        const double price = nominalSeconds(decodeAttentionFamily(), kernel, gpu);
        QVERIFY(price > bytes / 2e12);
        QVERIFY(price < 1.6 * bytes / 2e12);
    }

    // decoderXQARunner.cpp: blocks × 4 ≥ multiprocessors, of which a history of 128 tokens gives one.
    void groupedKernelIsChosenAsTheEngineDoes() {
        GpuView gpu = handmadeGpu();
        gpu.sms = 132;
        QVERIFY(!decodePlan(attention(decode, 1, 32, 1, 4096, 128), gpu).grouped);  // 32 × 4 < 132
        QVERIFY(decodePlan(attention(decode, 1, 32, 1, 8192, 128), gpu).grouped);
        QVERIFY(!decodePlan(attention(decode, 64, 32, 32, 4096, 128), gpu).grouped);      // no group
        QVERIFY(!decodePlan(attention(decode, 64, 64, 1, 4096, 128), gpu).grouped);       // group of 64
        QCOMPARE(decodePlan(attention(decode, 1, 32, 8, 65536, 128), gpu).splits, 64.0);  // round √(8 × 512)
        QCOMPARE(decodePlan(attention(decode, 512, 32, 8, 65536, 128), gpu).splits, 1.0);
    }

    // FlashAttention and FlashInfer: a tile takes any number of query heads of one cache head, 64 and 64.
    void flashDecodingReadsTheCacheOnce() {
        const GpuView gpu = handmadeGpu();
        const auto flash = [](Kernel kernel) {
            kernel.flashDecoding = true;
            return kernel;
        };
        const Kernel wide = attention(decode, 64, 64, 1, 4096, 128), narrow = attention(decode, 64, 32, 1, 4096, 128);
        const auto seconds = [&](const Kernel& kernel) { return nominalSeconds(decodeAttentionFamily(), kernel, gpu); };
        const DecodePlan plan = decodePlan(flash(wide), gpu);
        QVERIFY(plan.grouped);
        QCOMPARE(plan.heads, 64.0);  // one tile for each sequence
        QCOMPARE(decodePlan(flash(attention(decode, 64, 128, 1, 4096, 128)), gpu).heads, 128.0);
        // Head by head each of 64 reads the cache; together they read it once, as 32 do.
        QVERIFY(seconds(wide) > 5 * seconds(flash(wide)));
        QVERIFY(seconds(flash(wide)) < 1.5 * seconds(flash(narrow)));
        QVERIFY(seconds(flash(wide)) >= seconds(flash(narrow)));
        const double cache = 64.0 * 4096 * 2 * 128 * 2;
        QVERIFY(seconds(flash(wide)) > cache / gpu.dramBandwidth);
        // It widens a cache of 8 bits: that is no slower, and not twice as fast.
        Kernel eight = flash(narrow);
        eight.kvType = DType::FP8;
        QVERIFY(seconds(eight) <= seconds(flash(narrow)));
        QVERIFY(seconds(eight) > 0.6 * seconds(flash(narrow)));
        QVERIFY(kernelIdentity(wide) != kernelIdentity(flash(wide)));
        QVERIFY(toText(wide) != toText(flash(wide)));
    }

    void windowsAndGroupsSaveBytes() {
        const GpuView gpu = handmadeGpu();
        Kernel kernel = attention(decode, 64, 32, 8, 65536, 128);
        const double whole = nominalSeconds(decodeAttentionFamily(), kernel, gpu);
        kernel.window = 1024;
        QVERIFY(nominalSeconds(decodeAttentionFamily(), kernel, gpu) < 0.1 * whole);
        QVERIFY(nominalSeconds(decodeAttentionFamily(), attention(decode, 64, 32, 32, 65536, 128), gpu) > 2 * whole);
        Kernel prompt = attention(prefill, 4, 32, 8, 16384, 128);
        const double full = nominalSeconds(prefillAttentionFamily(), prompt, gpu);
        prompt.window = 512;
        QVERIFY(nominalSeconds(prefillAttentionFamily(), prompt, gpu) < 0.2 * full);
        prompt.window = 0;
        prompt.attention.causal = false;
        QVERIFY(nominalSeconds(prefillAttentionFamily(), prompt, gpu) > 1.7 * full);
    }

    // DeepSeek-V2: 512 + 64 numbers per token serve all heads, and are read once, not once for so many heads.
    void latentAttentionReadsOneVectorPerToken() {
        const GpuView gpu = handmadeGpu();
        const auto latent = [](std::int64_t batch, std::int64_t heads, std::int64_t length) {
            Kernel kernel = attention(decode, batch, heads, 1, length, 576);
            kernel.attention.valueDim = 512;
            return kernel;
        };
        for (const std::int64_t heads : {1, 16, 128}) {
            const Kernel kernel = latent(64, heads, 65536);
            QCOMPARE(tileFamilyOf(kernel)->name, latentDecodeFamily().name);
            QCOMPARE(QString::fromStdString(kernelVariant(kernel)), QString("bf16 latent"));
            QCOMPARE(latentPlan(kernel, gpu).rowBytes, 1152.0);
            const double cold = 64.0 * 65536 * 1152 / gpu.dramBandwidth;
            const double price = nominalSeconds(latentDecodeFamily(), kernel, gpu);
            QVERIFY(price > cold && price < 1.5 * cold);
        }
        const double few = nominalSeconds(latentDecodeFamily(), latent(64, 16, 65536), gpu);
        QVERIFY(nominalSeconds(latentDecodeFamily(), latent(64, 128, 65536), gpu) < 1.4 * few);
        QVERIFY(latentPlan(latent(1, 128, 65536), gpu).splits > 10);
        QCOMPARE(latentPlan(latent(512, 128, 65536), gpu).splits, 1.0);
        // Expanded keys of one head are no latent cache, and grouped heads have other kernels.
        Kernel expanded = latent(4, 1, 1024);
        expanded.attention.headDim = 192, expanded.attention.valueDim = 128;
        QCOMPARE(tileFamilyOf(expanded)->name, decodeAttentionFamily().name);
        QCOMPARE(tileFamilyOf(attention(decode, 4, 32, 1, 1024, 128))->name, decodeAttentionFamily().name);
    }

    // Without room for queries and pages of the cache in shared memory, as on Ampere and Ada, no sequence is cut, and a
    // narrow cache is widened first.
    void smallSharedMemoryWalksALatentCache() {
        GpuView small = ampereLike(), large = small;
        large.sharedBytes = 228 * 1024;
        const auto latent = [](std::int64_t batch, std::int64_t heads, std::int64_t length, DType cache) {
            Kernel kernel = attention(decode, batch, heads, 1, length, 576);
            kernel.attention.valueDim = 512, kernel.kvType = cache;
            return kernel;
        };
        const auto seconds = [](const Kernel& kernel, const GpuView& gpu) {
            return nominalSeconds(latentDecodeFamily(), kernel, gpu);
        };
        const Kernel one = latent(1, 16, 65536, DType::BF16), twice = latent(1, 16, 131072, DType::BF16);
        QCOMPARE(latentPlan(one, small).splits, 1.0);
        QVERIFY(latentPlan(one, large).splits > 10);
        QVERIFY(std::abs(seconds(twice, small) / seconds(one, small) - 2) < 0.02);
        QVERIFY(seconds(one, small) > 20 * seconds(one, large));
        // As many sequences as multiprocessors are walked side by side.
        QVERIFY(seconds(latent(100, 16, 65536, DType::BF16), small) < 1.3 * seconds(one, small));
        QCOMPARE(seconds(latent(1, 16, 65536, DType::FP8), small), seconds(one, small));
        QVERIFY(seconds(latent(64, 16, 65536, DType::FP8), large) <
                0.7 * seconds(latent(64, 16, 65536, DType::BF16), large));
        // In turn: a key's 2 · 64 · 1088 operations at 2048 a cycle, and 11,008 B out of shared memory at 128.
        const double key = (2.0 * 64 * 1088 / 2048 + 11008.0 / 128) / small.clock;
        QVERIFY(std::abs((seconds(twice, small) - seconds(one, small)) / (65536 * key) - 1) < 0.01);
        small.warpSize = 64;  // nothing was measured of wavefronts
        QVERIFY(latentPlan(one, small).splits > 10);
    }

    // Only kernels of units that fetch their operands take a narrow cache as it is.
    void narrowCachesAreWidenedWithoutFetching() {
        GpuView small = ampereLike(), large = small;
        large.sharedBytes = 228 * 1024;
        Kernel wide = attention(prefill, 8, 32, 8, 8192, 128), narrow = wide;
        narrow.kvType = DType::FP8;
        const auto ratio = [&](const TileFamily& family, const GpuView& gpu) {
            return nominalSeconds(family, narrow, gpu) / nominalSeconds(family, wide, gpu);
        };
        QVERIFY(std::abs(ratio(prefillAttentionFamily(), small) - 1) < 0.03);
        QVERIFY(ratio(prefillAttentionFamily(), large) < 0.9);
        wide = attention(decode, 16, 64, 8, 2048, 128), narrow = wide;
        narrow.kvType = DType::FP8;
        QVERIFY(decodePlan(wide, small).grouped && decodePlan(narrow, small).grouped);
        QVERIFY(ratio(decodeAttentionFamily(), large) < 0.8 * ratio(decodeAttentionFamily(), small));
    }

    // With keys and values expanded from a latent cache nothing is copied but what positions turn.
    void latentPrefillPreparesLess() {
        const GpuView gpu = handmadeGpu();
        Kernel plain = attention(prefill, 8, 128, 128, 1024, 192), latent = plain;
        latent.attention.valueDim = 128;
        QVERIFY(prefillTraffic(latent, gpu).prepared < 0.3 * prefillTraffic(plain, gpu).prepared);
        Kernel narrow = latent;
        narrow.kvType = DType::FP8;
        QVERIFY(prefillTraffic(narrow, gpu).prepared > 2 * prefillTraffic(latent, gpu).prepared);
        QCOMPARE(QString::fromStdString(kernelVariant(narrow)), QString("bf16 fp8 kv latent"));
    }

    // A block's prologue is so many cycles: of two devices that differ by their clock alone, the faster is so in
    // blocks.
    void blocksTakeCycles() {
        GpuView slow = handmadeGpu(), fast = slow;
        slow.clock /= 2;
        const Kernel kernel = attention(decode, 512, 32, 8, 64, 128);
        const auto values = nominalParameters(decodeAttentionFamily());
        const double before = decodeAttentionFamily().physics(kernel, slow, values).compute;
        QVERIFY(decodeAttentionFamily().physics(kernel, fast, values).compute < 0.75 * before);
    }

    // Launches, tiles and blocks of prefill are cycles: without a power cap, twice the clock halves a short prompt.
    void shortPromptsTakeCycles() {
        GpuView slow = ampereLike(), fast = slow;
        slow.clock /= 2;
        const Kernel kernel = attention(prefill, 1, 4, 1, 16, 128);
        const TileFamily& family = prefillAttentionFamily();
        const auto values = nominalParameters(family);
        const TilePhysics before = family.physics(kernel, slow, values), after = family.physics(kernel, fast, values);
        QVERIFY(std::abs(before.launch / after.launch - 2) < 1e-9);
        QVERIFY(before.seconds > 1.8 * after.seconds);
        // With 228 KiB of shared memory kernels describe copies of tiles before they start.
        GpuView large = fast;
        large.sharedBytes = 228 * 1024;
        QVERIFY(family.physics(kernel, large, values).launch > 1.2 * after.launch);
    }

    // A cap lengthens what keeps tensor units at work, the more the tighter it is, and nothing that waits for a launch.
    void powerCapsSlowLongPrompts() {
        GpuView gpu = ampereLike();
        gpu.process = "4N";
        const TileFamily& family = prefillAttentionFamily();
        const Kernel large = attention(prefill, 8, 32, 8, 8192, 128), small = attention(prefill, 1, 4, 1, 16, 128);
        const double free = nominalSeconds(family, large, gpu), start = nominalSeconds(family, small, gpu);
        double before = free;
        for (const double cap : {1000.0, 80.0, 50.0, 25.0, 12.0}) {
            gpu.powerCap = cap;
            const double price = nominalSeconds(family, large, gpu);
            QVERIFY2(price >= before, qPrintable(QString::number(cap)));
            QVERIFY(std::abs(nominalSeconds(family, small, gpu) / start - 1) < 0.02);
            before = price;
        }
        QVERIFY(before > 1.2 * free);
        gpu.powerCap = 1000;
        QCOMPARE(nominalSeconds(family, large, gpu), free);
    }

    // Each half of a halved cache keeps its own copy: with one of one piece, more stays there.
    void cachesOfOnePieceKeepMore() {
        GpuView whole = handmadeGpu(), halves = whole;
        whole.dramTiming = "GDDR6", halves.dramTiming = "HBM3";
        const Kernel prompt = attention(prefill, 4, 16, 16, 512, 128), token = attention(decode, 32, 32, 8, 256, 128);
        QVERIFY(nominalSeconds(prefillAttentionFamily(), prompt, whole) <
                0.97 * nominalSeconds(prefillAttentionFamily(), prompt, halves));
        QVERIFY(nominalSeconds(decodeAttentionFamily(), token, whole) <
                0.97 * nominalSeconds(decodeAttentionFamily(), token, halves));
    }

    // Without units that fetch for themselves, warps of 16 rows read each key and value for every 16 queries: 128
    // queries of 128 + 128 numbers read 8 × 128 × 256 × 2 B a tile, at 128 B a cycle, in turn with 2 × 128 × 128 × 256
    // operations at 2048.
    void warpsThatLoadMultiplyInTurn() {
        GpuView gpu = ampereLike();
        const Kernel kernel = attention(prefill, 100, 32, 32, 4096, 128);
        const TileFamily& family = prefillAttentionFamily();
        std::vector<double> values = nominalParameters(family);
        const auto at = [&](std::string_view name) -> double& {
            for (std::size_t i = 0; i < values.size(); ++i) {
                if (family.parameters[i].name == name) return values[i];
            }
            return values.front();
        };
        at("tensor share") = 1, at("per tile") = 1e-15, at("exponential share") = 1e9, at("tail") = 1e-9;
        at("per block") = 1e-15, at("fragment share") = 1;
        const double tiles = attentionTiles(kernel).tiles * 100 * 32 / gpu.sms;
        const double inTurn = tiles * (2.0 * 128 * 128 * 256 / 2048 + 8.0 * 128 * 256 * 2 / 128) / gpu.clock;
        QVERIFY(std::abs(family.physics(kernel, gpu, values).compute / inTurn - 1) < 1e-6);
        gpu.sharedBytes = 228 * 1024;
        QVERIFY(std::abs(family.physics(kernel, gpu, values).compute / (0.5 * inTurn) - 1) < 1e-6);
    }

    void morePricesMore() {
        const GpuView gpu = handmadeGpu();
        for (const KernelKind kind : {prefill, decode}) {
            const TileFamily& family = kind == prefill ? prefillAttentionFamily() : decodeAttentionFamily();
            double before = 0;
            for (std::int64_t length = 256; length <= 131072; length *= 2) {
                const double price = nominalSeconds(family, attention(kind, 16, 16, 16, length, 128), gpu);
                QVERIFY(price > before);
                before = price;
            }
            before = 0;
            for (std::int64_t batch = 1; batch <= 1024; batch *= 2) {
                const double price = nominalSeconds(family, attention(kind, batch, 32, 32, 4096, 128), gpu);
                QVERIFY(price >= before);
                before = price;
            }
            GpuView faster = gpu;
            faster.dramBandwidth *= 2;
            const Kernel kernel = attention(kind, 64, 32, 32, 4096, 128);
            QVERIFY(nominalSeconds(family, kernel, faster) < nominalSeconds(family, kernel, gpu));
        }
    }

    void featuresAreFiniteAndTheSameEachTime() {
        const GpuView gpu = handmadeGpu();
        GpuView bare = gpu;
        bare.l2Bytes = 0;
        RandomStream random(3);
        for (int i = 0; i < 500; ++i) {
            const KernelKind kind = i % 2 ? prefill : decode;
            const TileFamily& family = i % 2 ? prefillAttentionFamily() : decodeAttentionFamily();
            const HybridFamily& hybrid = i % 2 ? prefillAttentionFeatures() : decodeAttentionFeatures();
            QCOMPARE(hybrid.name, family.name);
            Kernel kernel = randomAttention(random, kind);
            if (i % 10 == 0) kernel.attention = {0, 0, 0, 0, 0, 0, 0, true, true};
            const GpuView& one = i % 7 ? gpu : bare;
            const auto values = nominalParameters(family);
            const TilePhysics price = family.physics(kernel, one, values);
            QVERIFY(std::isfinite(price.seconds) && price.seconds > 0);
            std::vector<double> first(hybrid.featureNames.size(), NAN), second(first);
            hybrid.features(kernel, one, price, first);
            hybrid.features(kernel, one, family.physics(kernel, one, values), second);
            for (std::size_t f = 0; f < first.size(); ++f) {
                QVERIFY2(std::isfinite(first[f]), std::string(hybrid.featureNames[f]).c_str());
                QCOMPARE(first[f], second[f]);
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestTileAttention)
#include "tst_tile_attention.moc"
