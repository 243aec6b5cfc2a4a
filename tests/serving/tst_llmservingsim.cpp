#include "methods/system/cases/llmservingsim_bench.h"
#include "methods/system/planned_fleet.h"
#include "methods/trace/engine_overheads.h"
#include "methods/trace/llmservingsim_tables.h"
#include "methods/trace/profile_repeats.h"
#include "serving/fleet/expert_routing.h"

#include <QtTest/QtTest>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

using namespace orrery;

namespace {

void write(const QString& path, const char* text) {
    std::filesystem::create_directories(std::filesystem::path(path.toStdString()).parent_path());
    std::ofstream(path.toStdString()) << text;
}

// A profile on which prices can be worked out by hand: 2 layers, microseconds.
const char* const dense =
    "layer,tokens,time_us\n"
    "embedding,1,10\nembedding,101,110\nfinal_layernorm,1,1\nlayernorm,1,2\nqkv_proj,1,5\nqkv_proj,101,105\n"
    "o_proj,1,3\ndown_proj,1,4\n";
const char* const perSequence = "layer,sequences,time_us\nlm_head,1,100\nlm_head,11,200\nsampler,1,50\n";
const char* const attention =
    "prefill_chunk,kv_prefill,n_decode,kv_decode,time_us\n"
    "0,0,1,0,10\n0,0,1,100,20\n0,0,3,0,30\n0,0,3,100,60\n64,0,0,0,40\n64,100,0,0,50\n";
const char* const meta =
    "skew_fit:\n  enabled: true\n  bucket_axes:\n    n_bins: [0, 2, 99]\n    n_labels: [few, many]\n"
    "    skew_rate_bins: [-1, 0.5, 2]\n    skew_rate_labels: [low, high]\n"
    "    kv_big_bins: [0, 50, 1e9]\n    kv_big_labels: [short, long]\n    kp_bins: [-1, 0, 1e9]\n    kp_labels: [none, "
    "some]\n"
    "  per_tp:\n    1:\n      alpha_default: 0.5\n";
const char* const skew = "pc,n_label,skew_rate_label,kv_big_label,kp_label,alpha\n0,many,high,long,none,-0.25\n";

struct Profile {
    QTemporaryDir folder;
    Profile() {
        put("tp1/dense.csv", dense);
        put("tp1/per_sequence.csv", perSequence);
        put("tp1/attention.csv", attention);
        put("tp1/skew_fit.csv", skew);
        put("meta.yaml", meta);
    }
    void put(const char* name, const char* text) const { write(folder.filePath(name), text); }
    std::string path() const { return folder.path().toStdString(); }
    Expected<IterationTimePtr> read(LlmServingSimOptions options = {},
                                    LlmServingSimModel model = {.layers = 2, .hidden = 8}) const {
        return readLlmServingSimTables(path(), model, options);
    }
};
double microseconds(const IterationTime& time, std::vector<PromptChunk> prompts, std::vector<std::int32_t> decodes) {
    IterationWork work;
    work.prompts = prompts;
    work.decodes = decodes;
    work.decodeContext = std::accumulate(decodes.begin(), decodes.end(), std::int64_t{0});
    work.tokens = static_cast<std::int32_t>(decodes.size());
    for (const PromptChunk& prompt : prompts) work.tokens += prompt.tokens;
    return time.price(work).lastSeconds * 1e6;
}
bool near(double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b));
}

const std::string reference = std::string(ORRERY_REFERENCE) + "/serving/data/llmservingsim";

}  // namespace

class TestLlmServingSim : public QObject {
    Q_OBJECT
private slots:
    void operatorsAddUp() {
        const Profile profile;
        const auto time = profile.read();
        QVERIFY(time);
        // One decoding sequence of 50 tokens: embedding and final norm, two layers, head of one sequence.
        const double layer = 2 * 2 + 5 + 3 + 4;
        QVERIFY(near(microseconds(**time, {}, {50}), 10 + 1 + 2 * (layer + 15) + 150));
        // 64 prompt tokens after 50: between the points of the cache, tokens on the lines of embedding and qkv.
        const double longer = 2 * 2 + (5 + 63) + 3 + 4;
        QVERIFY(near(microseconds(**time, {{64, 50}}, {}), (10 + 63) + 1 + 2 * (longer + 45) + 150));
    }
    void unevenLengthsFollowTheirBucketOrTheDefault() {
        const Profile profile;
        const auto time = profile.read();
        QVERIFY(time);
        // Two sequences of 20 and 80: mean 50, longest 80. Between one and three sequences: 15 and 45 at 50.
        const auto at = [](double n, double kv) {
            return (10 + kv / 10) + (n - 1) / 2 * ((30 + 3 * kv / 10) - (10 + kv / 10));
        };
        const auto total = [](double heads) { return 11 + 1 + 2 * ((2 * 2 + 6 + 3 + 4) + heads) + 160; };
        // Two of whole mean tokens are never beyond a half of their gap: no bucket, so the default.
        QVERIFY(near(microseconds(**time, {}, {20, 80}), total(at(2, 50) + 0.5 * (at(2, 80) - at(2, 50)))));
        // Three of 10, 90 and 92: mean 64, skew 54 ÷ 82, the bucket (many, high, long, none).
        const double three = 12 + 1 + 2 * ((2 * 2 + 7 + 3 + 4) + at(3, 64) - 0.25 * (at(3, 92) - at(3, 64))) + 170;
        QVERIFY(near(microseconds(**time, {}, {10, 92, 90}), three));
    }
    void beyondTheTableIsSaid() {
        const Profile profile;
        const auto time = profile.read();
        QVERIFY(time);
        IterationWork work;
        const std::vector<std::int32_t> decodes{150};
        work.decodes = decodes;
        work.decodeContext = 150;
        work.tokens = 1;
        QCOMPARE(int((*time)->price(work).domain), int(DomainVerdict::Edge));
        QVERIFY(near((*time)->price(work).lastSeconds * 1e6, 11 + 2 * (16 + 25) + 150));
        const std::vector<std::int32_t> far{900};
        work.decodes = far;
        work.decodeContext = 900;
        QCOMPARE(int((*time)->price(work).domain), int(DomainVerdict::Outside));
    }
    void tensorParallelismPaysItsRings() {
        const Profile profile;
        for (const char* name : {"dense.csv", "per_sequence.csv", "attention.csv"})
            std::filesystem::copy_file(
                profile.path() + "/tp1/" + name,
                (std::filesystem::create_directories(profile.path() + "/tp2"), profile.path() + "/tp2/" + name));
        const auto free = profile.read({.tensorParallel = 2});
        const auto paid = profile.read({.tensorParallel = 2, .link = {.bytesPerSecond = 1e9, .latency = 1e-6}});
        QVERIFY(free && paid);
        // One token of 8 × 2 bytes: per layer two all-reduces of two steps with half the bytes each.
        QVERIFY(near(microseconds(**paid, {}, {50}) - microseconds(**free, {}, {50}), 2 * 2 * 2 * (1 + 8e-3)));
        QVERIFY(!profile.read({.tensorParallel = 4}));
    }
    void expertsWaitForTheSlowestRank() {
        const Profile profile;
        profile.put("tp1/moe.csv", "tokens,activated_experts,time_us\n1,1,10\n100,1,109\n1,4,40\n100,4,139\n");
        const LlmServingSimModel model{.layers = 1, .hidden = 8, .experts = 8, .expertsPerToken = 2};
        const auto alone = profile.read({}, model);
        QVERIFY(alone);
        const auto denseOnly = profile.read({}, {.layers = 1, .hidden = 8});
        // One token activates two of eight experts: a third of the way from 10 to 40 µs.
        QVERIFY(near(microseconds(**alone, {}, {50}) - microseconds(**denseOnly, {}, {50}), 20));
        const auto ranks = profile.read({.expertParallel = 2, .link = {.bytesPerSecond = 1e9, .latency = 1e-6}}, model);
        QVERIFY(ranks);
        // Two data-parallel ranks bring a token each: the experts see two, of which both ranks get 1.57, rounded.
        const auto together = profile.read({.expertParallel = 2, .dataParallel = 2}, model);
        QVERIFY(together);
        QVERIFY(near(microseconds(**together, {}, {50}) - microseconds(**denseOnly, {}, {50}), 10 + 1 + 10));
        // A token reaches each of two ranks with probability 1 − C(4,2) ÷ C(8,2) = 0.79, one expert there; gather of
        // (8 + 8) · 2 bytes and scatter of half of 8 · 2 bytes.
        QVERIFY(
            near(microseconds(**ranks, {}, {50}) - microseconds(**denseOnly, {}, {50}), 10 + (1 + 32e-3) + (1 + 8e-3)));
    }
    void routingIsConserved_data() {
        QTest::addColumn<int>("kind");
        for (int kind = 0; kind < 4; ++kind)
            QTest::addRow("%s", std::string(toText(RoutingKind(kind))).c_str()) << kind;
    }
    void routingIsConserved() {
        QFETCH(int, kind);
        ExpertRouting routing{.kind = RoutingKind(kind), .skew = 1.2};
        if (routing.kind == RoutingKind::Trace)
            for (int e = 0; e < 60; ++e) routing.weights.push_back(1 + e % 7);
        for (const int ranks : {1, 3, 8})
            for (const std::int64_t tokens : {1, 5, 64, 777}) {
                const ExpertLoad load = routeTokens(routing, 60, 4, ranks, tokens);
                QCOMPARE(std::accumulate(load.pairs.begin(), load.pairs.end(), std::int64_t{0}), 4 * tokens);
                for (std::size_t r = 0; r < load.tokens.size(); ++r) {
                    QVERIFY(load.tokens[r] >= 0 && load.tokens[r] <= tokens);
                    QVERIFY(load.activated[r] <= 60 / ranks + 1);
                    if (routing.kind != RoutingKind::Balanced) {
                        QVERIFY(load.tokens[r] <= load.pairs[r]);
                        QVERIFY(load.activated[r] <= load.pairs[r]);
                    }
                }
                QVERIFY(routeTokens(routing, 60, 4, ranks, tokens).pairs == load.pairs);
            }
    }
    void evenDrawsApproachTheExpectation() {
        const ExpertLoad drawn = routeTokens({.kind = RoutingKind::Random}, 64, 6, 4, 20000);
        const ExpertLoad expected = routeTokens({}, 64, 6, 4, 20000);
        for (std::size_t r = 0; r < 4; ++r) {
            QVERIFY(std::abs(double(drawn.tokens[r]) / double(expected.tokens[r]) - 1) < 0.02);
            QVERIFY(std::abs(double(drawn.pairs[r]) / double(expected.pairs[r]) - 1) < 0.03);
            QCOMPARE(drawn.activated[r], 16);
        }
        // A skewed gate loads its busiest rank more than an even one.
        const ExpertLoad skewed = routeTokens({.kind = RoutingKind::Zipf, .skew = 1.5}, 64, 6, 4, 20000);
        QVERIFY(*std::max_element(skewed.pairs.begin(), skewed.pairs.end()) > 1.2 * double(expected.pairs[0]));
    }
    void graphsPadAndTheHostHides() {
        QCOMPARE(vllmGraphSizes(40), std::vector<std::int32_t>({1, 2, 4, 8, 16, 24, 32, 40}));
        QCOMPARE(vllmGraphSizes(512).size(), std::size_t(51));  // as vLLM 0.19 captures for 512
        const Profile profile;
        const auto time = profile.read();
        QVERIFY(time);
        const auto padded = withGraphPadding(*time, {1, 2, 4, 8});
        // Five sequences run as eight tokens, with attention and head of five.
        const std::vector<std::int32_t> five(5, 50);
        QVERIFY(near(microseconds(*padded, {}, five) - microseconds(**time, {}, five), 3 + 2 * 3));
        QVERIFY(near(microseconds(*padded, {{64, 0}}, {}), microseconds(**time, {{64, 0}}, {})));

        IterationWork work;
        const std::vector<std::int32_t> one{50};
        work.decodes = one;
        work.decodeContext = 50;
        work.tokens = 1;
        const double device = (*time)->price(work).lastSeconds;
        const auto slow = withHostOverhead(*time, {.perIteration = device / 2});
        QVERIFY(near(slow->price(work).host, device / 2));
        QCOMPARE(withHostOverhead(*time, {.perIteration = device / 2, .asynchronous = true})->price(work).host, 0.0);
        QVERIFY(near(withHostOverhead(*time, {.perIteration = 3 * device, .asynchronous = true})->price(work).host,
                     2 * device));
    }
    void brokenProfilesAreRefused_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("code");
        QTest::addColumn<int>("line");
        const auto row = [](const char* name, const char* file, const char* text, const char* code, int line) {
            QTest::newRow(name) << QString(file) << QString(text) << QString(code) << line;
        };
        row("no column", "tp1/dense.csv", "layer,time_us\nembedding,1\n", "tables.no-column", 1);
        row("no rows", "tp1/attention.csv", "prefill_chunk,kv_prefill,n_decode,kv_decode,time_us\n", "tables.empty", 0);
        row("nothing", "tp1/dense.csv", "", "tables.empty", 0);
        row("not a number", "tp1/per_sequence.csv", "layer,sequences,time_us\nlm_head,1,fast\n", "tables.bad-number",
            2);
        row("negative", "tp1/dense.csv", "layer,tokens,time_us\nembedding,1,2\nqkv_proj,1,-4\n", "tables.bad-number",
            3);
        row("not finite", "tp1/dense.csv", "layer,tokens,time_us\nembedding,1,nan\n", "tables.bad-number", 2);
        row("short row", "tp1/attention.csv", "prefill_chunk,kv_prefill,n_decode,kv_decode,time_us\n0,0,1\n",
            "tables.short-row", 2);
        row("no such layer", "tp1/dense.csv", "layer,tokens,time_us\nembedding,1,2\nlayernorm,1,2\no_proj,1,1\n",
            "tables.missing", 0);
        row("not YAML", "meta.yaml", "skew_fit: [\n", "tables.unreadable", 2);
        row("labels without bins", "meta.yaml",
            "skew_fit: {enabled: true, bucket_axes: {n_labels: [a]}, per_tp: {1: {alpha_default: 0}}}\n",
            "tables.missing", 0);
        row("experts without tables", "tp1/moe.csv", "tokens,time_us\n1,2\n", "tables.no-column", 1);
    }
    void brokenProfilesAreRefused() {
        QFETCH(QString, file);
        QFETCH(QString, text);
        QFETCH(QString, code);
        QFETCH(int, line);
        const Profile profile;
        profile.put(file.toUtf8().constData(), text.toUtf8().constData());
        const bool experts = file.contains("moe");
        const auto read =
            profile.read({}, {.layers = 2, .hidden = 8, .experts = experts ? 4 : 0, .expertsPerToken = 1});
        QVERIFY(!read);
        QCOMPARE(QString::fromStdString(read.error().code), code);
        QVERIFY(QString::fromStdString(read.error().place.file).contains(QFileInfo(file).fileName()));
        if (line > 0) QCOMPARE(read.error().place.line, line);
        QVERIFY(!read.error().expected.empty());
    }
    void brokenRecordingsAreRefused_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("code");
        QTest::addColumn<int>("line");
        const QString good =
            R"({"request_id": "a", "input_toks": 5, "output_toks": 2, "arrival_time": 1, "queued_ts": 9, "scheduled_ts": 9, "first_token_ts": 10, "last_token_ts": 11})"
            "\n";
        QTest::newRow("empty") << QString() << "bench.empty" << 0;
        QTest::newRow("not JSON") << good + "{\n"
                                  << "bench.unreadable" << 2;
        QTest::newRow("missing") << QString(good).replace("first_token_ts", "first") << "bench.number" << 1;
        QTest::newRow("failed request") << QString(good).replace("\"output_toks\": 2", "\"output_toks\": 0")
                                        << "bench.number" << 1;
        QTest::newRow("negative") << QString(good).replace(": 5,", ": -5,") << "bench.number" << 1;
        QTest::newRow("huge") << QString(good).replace(": 5,", ": 5e12,") << "bench.number" << 1;
        QTest::newRow("backwards") << good + QString(good).replace(": 11", ": 8") << "bench.number" << 2;
        QTest::newRow("a null") << QString(good).replace(": 10", ": null") << "bench.number" << 1;
    }
    void brokenRecordingsAreRefused() {
        QFETCH(QString, text);
        QFETCH(QString, code);
        QFETCH(int, line);
        const QTemporaryDir folder;
        write(folder.filePath("vllm/requests.jsonl"), text.toUtf8().constData());
        const auto bench = readLlmServingSimBench(folder.path().toStdString());
        QVERIFY(!bench);
        QCOMPARE(QString::fromStdString(bench.error().code), code);
        if (line > 0) QCOMPARE(bench.error().place.line, line);
        QVERIFY(!readLlmServingSimBench("/nowhere"));
    }
    void theRealRunIsReproduced() {
        const std::string run = reference + "/bench/RTXPRO6000/Llama-3.1-8B";
        if (!std::filesystem::exists(run)) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        const auto bench = readLlmServingSimBench(run);
        QVERIFY2(bench, bench ? "" : toText(bench.error()).c_str());
        QCOMPARE(bench->recorded.size(), std::size_t(300));
        QCOMPARE(bench->scheduler.maxSequences, 128);
        const auto fleet = fleetOf(*bench, reference + "/perf");
        QVERIFY2(fleet, fleet ? "" : toText(fleet.error()).c_str());
        // 96 GiB × 0.9 less the weights, 2 MiB per block: what LLMServingSim logs for this run.
        QCOMPARE(fleet->replicas[0].kvBlocks, 36578);
        const auto result = simulate(std::make_shared<FleetSpec>(*fleet), bench->requests);
        QVERIFY(result);
        const BenchComparison c = compare(*bench, result->requests);
        QCOMPARE(c.requests, std::size_t(300));
        // The recorded means are those of LLMServingSim's own summary of this run.
        QVERIFY(std::abs(c.ttftRecorded - 7.0972) < 1e-3);
        QVERIFY(std::abs(c.tpotRecorded - 0.0325) < 1e-4);
        QVERIFY(std::abs(c.endToEndRecorded - 28.2007) < 1e-3);
        const auto said =
            QString("TTFT %1 TPOT %2 E2E %3 MAPE %4").arg(c.ttft).arg(c.tpot).arg(c.endToEnd).arg(c.endToEndMape);
        QVERIFY2(std::abs(c.ttft) < 0.03 && std::abs(c.tpot) < 0.03 && std::abs(c.endToEnd) < 0.03, qPrintable(said));
        QVERIFY2(c.endToEndMape < 0.03, qPrintable(said));
        qInfo("%s", qPrintable(said));
    }
    // 13,006 points of the RTX PRO 6000 profile stand in both sweeps: they differ by a per cent at most, nine times in
    // ten.
    void aProfileSaysHowWellItRepeats() {
        const std::string folder = reference + "/perf/RTXPRO6000/meta-llama/Llama-3.1-8B/bf16/tp1";
        if (!std::filesystem::exists(folder)) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        const auto repeats = readProfileRepeats(folder);
        QVERIFY(repeats && repeats->known());
        QCOMPARE(repeats->points, std::size_t(13006));
        QVERIFY(std::abs(repeats->low - 2.9823 / 3.0021) < 1e-4 && std::abs(repeats->high - 3.0286 / 3.0021) < 1e-4);
        QTemporaryDir none;
        const auto without = readProfileRepeats(none.path().toStdString());
        QVERIFY(without && !without->known());
        QCOMPARE(without->low, 1.0);
        const auto file = [&](const char* name, const char* text) {
            std::ofstream(none.path().toStdString() + "/" + name) << text;
        };
        file("attention.csv", "prefill_chunk,kv_prefill,n_decode,kv_decode,time_us\n0,0,1,16,8\n");
        file("skew.csv", "pc,kp,n,kv_mean,kv_big,t_mean_us,t_max_us\n0,0,1,16,32,24,fast\n");
        QVERIFY(!readProfileRepeats(none.path().toStdString()));
        file("skew.csv", "pc,kp,n,kv_mean,kv_big,t_mean_us,t_max_us\n0,0,1,16,32,24,30\n");
        const auto few = readProfileRepeats(none.path().toStdString());
        QVERIFY(few && !few->known());
    }
    void theRealRunByOurOwnKernels() {
        // Without the run's operator tables: kernels of a method that has seen no measurement of this device.
        const std::string run = reference + "/bench/RTXPRO6000/Llama-3.1-8B";
        if (!std::filesystem::exists(run)) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        const auto bench = readLlmServingSimBench(run);
        QVERIFY(bench);
        const auto fleet = fleetOf(*bench, "rtx-pro-6000-server", "tile-hybrid", "");
        QVERIFY2(fleet, fleet ? "" : toText(fleet.error()).c_str());
        const auto result = simulate(std::make_shared<FleetSpec>(*fleet), bench->requests);
        QVERIFY(result);
        const BenchComparison c = compare(*bench, result->requests);
        QCOMPARE(c.requests, std::size_t(300));
        const auto said =
            QString("TTFT %1 TPOT %2 E2E %3 MAPE %4").arg(c.ttft).arg(c.tpot).arg(c.endToEnd).arg(c.endToEndMape);
        QVERIFY2(std::max({std::abs(c.ttft), std::abs(c.tpot), std::abs(c.endToEnd), c.endToEndMape}) < 0.12,
                 qPrintable(said));
        qInfo("%s", qPrintable(said));
        QVERIFY(!fleetOf(*bench, "no-such-device", "tile-hybrid", ""));
        QVERIFY(!fleetOf(*bench, "rtx-pro-6000-server", "roofline", ""));
    }
};

QTEST_GUILESS_MAIN(TestLlmServingSim)
#include "tst_llmservingsim.moc"
