#include "serving/fleet/prefix_cache.h"
#include "serving/traffic/traces.h"
#include "support/vllm_fixture.h"

#include <QtTest/QtTest>

#include <unordered_set>

using namespace orrery;

namespace {

// Requests of 4-token blocks, one letter per block.
struct Texts {
    RequestStream stream;
    RequestTable table;
    explicit Texts(std::initializer_list<const char*> texts) {
        stream.hashTokens = 4;
        stream.hashBegin.push_back(0);
        for (const char* text : texts) {
            std::uint64_t hash = 7;
            std::int32_t blocks = 0;
            for (const char* c = text; *c; ++c, ++blocks)
                stream.hashes.push_back(hash = hash * 1000003 + static_cast<std::uint64_t>(*c));
            stream.hashBegin.push_back(static_cast<std::uint32_t>(stream.hashes.size()));
            stream.arrival.push_back(0);
            stream.prompt.push_back(blocks * 4);
            stream.output.push_back(1);
        }
        table.reset(stream);
    }
};

// What a request does without a scheduler: shares, takes the rest, computes all of it.
PrefixCache::Hit serve(PrefixCache& cache, Texts& texts, RequestIndex r) {
    const std::int32_t blocks = texts.stream.prompt[r] / 4;
    const auto hit = cache.find(texts.table, r, blocks);
    cache.share(texts.table, r, hit.blocks);
    cache.take(texts.table, r, blocks - hit.blocks);
    cache.name(texts.table, r, blocks * 4);
    return hit;
}

}  // namespace

class TestPrefixCache : public QObject {
    Q_OBJECT
private slots:
    void whatBeginsAlikeIsFound() {
        Texts texts{"abcd", "abxy", "bbcd", "abcde"};
        KvBlocks pool(100, 4);
        PrefixCache cache(pool);
        QCOMPARE(serve(cache, texts, 0).blocks, 0);
        const auto second = serve(cache, texts, 1);
        QCOMPARE(second.blocks, 2);
        QCOMPARE(second.idle, 0);                    // the first still holds them
        QCOMPARE(serve(cache, texts, 2).blocks, 0);  // the same letters after another beginning
        QCOMPARE(serve(cache, texts, 3).blocks, 4);
        QCOMPARE(pool.used(), 4 + 2 + 4 + 1);
        QCOMPARE(texts.table.blocks[3], 5);
    }
    void blocksAreFreeWhenTheLastHolderGoes() {
        Texts texts{"abcd", "abcd"};
        KvBlocks pool(100, 4);
        PrefixCache cache(pool);
        serve(cache, texts, 0);
        serve(cache, texts, 1);
        QCOMPARE(pool.used(), 4);
        pool.release(texts.table, 0);
        QCOMPARE(pool.used(), 4);
        pool.release(texts.table, 1);
        QCOMPARE(pool.used(), 0);
        const auto hit = cache.find(texts.table, 0, 4);
        QCOMPARE(hit.blocks, 4);  // free, and still there
        QCOMPARE(hit.idle, 4);
    }
    void theLeastRecentlyUsedIsReallocatedAndItsEndFirst() {
        Texts texts{"ab", "cd", "efg", "ab", "cd"};
        KvBlocks pool(6, 4);
        PrefixCache cache(pool);
        serve(cache, texts, 0);
        pool.release(texts.table, 0);
        serve(cache, texts, 1);
        pool.release(texts.table, 1);
        // Two blocks were never used and go first, then one of the oldest text: its last.
        serve(cache, texts, 2);
        QCOMPARE(cache.find(texts.table, 3, 2).blocks, 1);
        QCOMPARE(cache.find(texts.table, 4, 2).blocks, 2);
        QCOMPARE(cache.evictions(), 1u);
    }
    void unfinishedBlocksAndTextsWithoutHashesAreNotShared() {
        Texts texts{"abc", "abc"};
        KvBlocks pool(100, 4);
        PrefixCache cache(pool);
        cache.take(texts.table, 0, 3);
        cache.name(texts.table, 0, 7);  // one block and three quarters
        QCOMPARE(cache.find(texts.table, 1, 3).blocks, 1);
        QCOMPARE(PrefixCache::nameOf(RequestStream{}, 0, 0, 4), 0u);
    }
    void smallBlocksShareTheHashOfALargeOne() {
        Texts texts{"ab", "ax"};
        // Blocks of 2 tokens: the four of text 0 are named apart, the first two as those of text 1.
        std::unordered_set<std::uint64_t> names;
        for (int b = 0; b < 4; ++b) names.insert(PrefixCache::nameOf(texts.stream, 0, b, 2));
        QCOMPARE(names.size(), 4u);
        for (int b = 0; b < 4; ++b)
            QCOMPARE(PrefixCache::nameOf(texts.stream, 0, b, 2) == PrefixCache::nameOf(texts.stream, 1, b, 2), b < 2);
        // A block of 8 tokens is named by what ends with it.
        QVERIFY(PrefixCache::nameOf(texts.stream, 0, 0, 8) != PrefixCache::nameOf(texts.stream, 1, 0, 8));
    }
    void theHostKeepsWhatTheDeviceLoses() {
        Texts texts{"ab", "cdef", "ab"};
        KvBlocks pool(4, 4);
        PrefixCache cache(pool, 1);
        serve(cache, texts, 0);
        pool.release(texts.table, 0);
        serve(cache, texts, 1);
        // Both blocks of `ab` were reallocated, the end first; the host has room for one.
        QCOMPARE(cache.inHost(), 1u);
        const auto hit = cache.find(texts.table, 2, 2);
        QCOMPARE(hit.blocks, 0);
        QCOMPARE(hit.host, 1);
    }
    void aSharedPromptIsComputedOnce() {
        auto stream = orrery::testing::arrivals({{0, 64, 2}, {100, 64, 2}, {200, 64, 2}});
        stream->hashTokens = 16;
        stream->hashes = {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 7, 8};
        stream->hashBegin = {0, 4, 8, 12};
        SchedulerSpec spec;
        spec.id = "vllm-v1";
        spec.prefixCache = true;
        const auto result = orrery::testing::run(
            orrery::testing::replicaOf(spec, 100, std::make_shared<orrery::testing::LinearTime>(0, 1.0)), stream);
        QVERIFY(result);
        // The last token of a prompt is always computed, and with it its block.
        QCOMPARE(result->requests.cached, std::vector<std::int32_t>({0, 48, 32}));
        QCOMPARE(toSeconds(result->requests.firstToken[1]), 100.0 + 16);
        QCOMPARE(toSeconds(result->requests.firstToken[2]), 200.0 + 32);
    }
    void aHitInTheHostCostsItsCopy() {
        // The second text takes every block; the first one's come back from the host.
        auto stream = orrery::testing::arrivals({{0, 64, 1}, {100, 80, 1}, {300, 64, 1}});
        stream->hashTokens = 16;
        stream->hashes = {1, 2, 3, 4, 11, 12, 13, 14, 15, 1, 2, 3, 4};
        stream->hashBegin = {0, 4, 9, 13};
        SchedulerSpec spec;
        spec.id = "vllm-v1";
        spec.prefixCache = true;
        spec.more["hostBlocks"] = 100;
        spec.more["hostSecondsPerBlock"] = 2;
        const auto result = orrery::testing::run(
            orrery::testing::replicaOf(spec, 5, std::make_shared<orrery::testing::LinearTime>(0, 1.0)), stream);
        QVERIFY(result);
        QCOMPARE(result->requests.cached[2], 48);
        QCOMPARE(toSeconds(result->requests.firstToken[2]), 300.0 + 3 * 2 + 16);
    }
    void mooncakeTracesHitAsMeasured_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<double>("share");
        // Of all blocks of 512 tokens, those that an unbounded cache holds (counted apart from this code).
        QTest::newRow("conversation") << "mooncake_conversation_trace.jsonl" << 0.3664;
        QTest::newRow("synthetic") << "mooncake_synthetic_trace.jsonl" << 0.6396;
    }
    void mooncakeTracesHitAsMeasured() {
        QFETCH(QString, file);
        QFETCH(double, share);
        const QString path = QString(ORRERY_REFERENCE) + "/serving/data/traces/" + file;
        if (!QFile::exists(path)) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        const auto stream = readTrace({.file = path.toStdString()});
        QVERIFY(stream);
        QCOMPARE(stream->hashTokens, 512);
        RequestTable table;
        table.reset(*stream);
        KvBlocks pool(static_cast<std::int64_t>(stream->hashes.size()), 512);
        PrefixCache cache(pool);
        double hits = 0;
        for (RequestIndex r = 0; r < stream->size(); ++r) {
            const auto count = static_cast<std::int32_t>(stream->hashBegin[r + 1] - stream->hashBegin[r]);
            const auto hit = cache.find(table, r, count);
            hits += hit.blocks;
            cache.share(table, r, hit.blocks);
            cache.take(table, r, count - hit.blocks);
            cache.name(table, r, count * 512);
            pool.release(table, r);
        }
        const double found = hits / static_cast<double>(stream->hashes.size());
        QVERIFY2(std::abs(found - share) < 1e-4, qPrintable(QString::number(found)));
        QCOMPARE(pool.used(), 0);
    }
};

QTEST_GUILESS_MAIN(TestPrefixCache)
#include "tst_prefix_cache.moc"
