// Runs of Vidur that were recorded with the tables that made them: every request must end at the recorded time.

#include "methods/system/cases/vidur_case.h"
#include "base/text/table.h"
#include "methods/trace/vidur_tables.h"
#include "serving/serving_simulation.h"

#include <QDirIterator>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <map>
#include <numeric>

using namespace orrery;

namespace {

const QString cases = QString(ORRERY_REFERENCE) + "/serving/cases/";

std::string tablesOf(const VidurCase& given) {
    const QString folder = cases + "_tables/";
    const bool seven = given.model == "meta-llama/Llama-2-7b-hf", big = given.model == "meta-llama/Llama-2-70b-hf";
    return (folder + (seven ? "l7_a100_tp1" : big ? "l70_a100_tp2_pp2" : "c34_a100_tp2")).toStdString();
}

void write(const QString& path, const QByteArray& text) {
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
}

const QByteArray trace = "arrived_at,num_prefill_tokens,num_decode_tokens\n0.5,100,20\n0.25,50,10\n";

// Three tables of a machine that takes a hundredth of a millisecond for everything.
void writeTables(const QString& folder, int tokens = 64) {
    QByteArray ops = "num_tokens,attn_pre_proj,attn_post_proj,mlp_up_proj,mlp_down_proj,mlp_act,attn_rope\n";
    for (int t = 1; t <= tokens; ++t) ops += QByteArray::number(t) + ",0.01,0.01,0.01,0.01,0.01,0.01\n";
    QByteArray decode = "batch_size,kv_cache_size,ms\n", prefill = "kv_cache_size,chunk,ms\n";
    for (int kv = 0; kv <= 128; kv += 64) {
        for (int b = 1; b <= 4; ++b) decode += QString("%1,%2,0.01\n").arg(b).arg(kv).toUtf8();
        for (int c = 1; c <= tokens; ++c) prefill += QString("%1,%2,0.01\n").arg(kv).arg(c).toUtf8();
    }
    write(folder + "/token_ops.csv", ops);
    write(folder + "/attn_decode.csv", decode);
    write(folder + "/attn_prefill.csv", prefill);
}

IterationWork prompt(const PromptChunk& chunk) {
    IterationWork work;
    work.prompts = {&chunk, 1};
    work.tokens = chunk.tokens;
    work.sampled = 1;
    return work;
}

}  // namespace

class TestServingVidur : public QObject {
    Q_OBJECT
private slots:
    void everyRequestEndsAsRecorded_data() {
        QTest::addColumn<QString>("folder");
        QDirIterator it(cases, QDir::Dirs | QDir::NoDotAndDotDot);
        while (it.hasNext()) {
            const QString folder = it.next();
            if (QFile::exists(folder + "/args.txt")) QTest::newRow(qPrintable(it.fileName())) << folder;
        }
        if (!QDir(cases).exists()) QTest::newRow("none") << QString();
    }
    void everyRequestEndsAsRecorded() {
        QFETCH(QString, folder);
        if (folder.isEmpty()) QSKIP("no reference data");
        auto given = readVidurCase(folder.toStdString());
        QVERIFY2(given, given ? "" : toText(given.error()).c_str());
        const auto time = readVidurTables(tablesOf(*given), given->tables);
        QVERIFY2(time, time ? "" : toText(time.error()).c_str());
        for (auto& replica : given->fleet.replicas) replica.time = *time;
        ServingOptions options;
        options.seed = given->seed;
        options.batches = true;
        const auto requests = std::make_shared<const RequestStream>(std::move(given->requests));
        const auto result = simulate(std::make_shared<const FleetSpec>(given->fleet), requests, options);
        QVERIFY2(result, result ? "" : toText(result.error()).c_str());

        const auto recorded = readTable(folder.toStdString() + "/requests.csv", {});
        QVERIFY(recorded);
        const auto& ended = **recorded->column("completed_at");
        const auto& first = **recorded->column("prefill_completed_at");
        const auto& scheduled = **recorded->column("scheduled_at");
        const auto& restarts = **recorded->column("num_restarts");
        QCOMPARE(result->requests.size(), ended.size());
        for (std::size_t r = 0; r < ended.size(); ++r) {
            const auto id = static_cast<std::size_t>(requests->id[r]);
            QVERIFY2(std::abs(toSeconds(result->requests.ended[r]) - ended[id]) < 1e-9,
                     qPrintable(QString::number(id)));
            QVERIFY(std::abs(toSeconds(result->requests.firstToken[r]) - first[id]) < 1e-9);
            QVERIFY(std::abs(toSeconds(result->requests.scheduled[r]) - scheduled[id]) < 1e-9);
            QCOMPARE(static_cast<double>(result->requests.restarts[r]), restarts[id]);
        }
        compareBatches(folder, *result, given->fleet);
    }

    // Figures of the notes of those who ran Vidur: blocks per replica for models, lengths and devices.
    void memoryIsPlannedAsVidurDoes() {
        const auto* seven = findVidurModel("meta-llama/Llama-2-7b-hf");
        QCOMPARE(vidurRequestSlots(*seven, 80, 0.1, 1, 1, 1024) * 64, 7616);
        QCOMPARE(vidurRequestSlots(*seven, 80, 0.1, 1, 1, 512) * 32, 7648);
        QCOMPARE(vidurRequestSlots(*seven, 80, 0.1, 1, 1, 2048) * 128, 7552);
        QCOMPARE(vidurRequestSlots(*findVidurModel("codellama/CodeLlama-34b-Instruct-hf"), 80, 0.1, 2, 1, 2048) * 128,
                 28032);
        QVERIFY(vidurRequestSlots(*findVidurModel("Qwen/Qwen-72B"), 80, 0.1, 1, 1, 2048) < 1);
        QVERIFY(!findVidurModel("gpt-2"));
    }

    // By hand: 6 operators and attention of 0.01 ms, two layers.
    void tablesAddUp() {
        QTemporaryDir folder;
        writeTables(folder.path());
        VidurTableSpec spec{.layers = 2};
        const auto time = readVidurTables(folder.path().toStdString(), spec);
        QVERIFY2(time, time ? "" : toText(time.error()).c_str());
        const PromptChunk chunk{10, 0};
        QCOMPARE((*time)->price(prompt(chunk)).lastSeconds, 2 * 0.07e-3);
        QCOMPARE((*time)->assumptions().size(), std::size_t{6});  // four operators are missing and said to be
        // Two sequences of 63 and 65 tokens: with the token itself their mean is 65, which is read at 128.
        const std::int32_t contexts[] = {63, 65};
        IterationWork work;
        work.decodes = contexts;
        work.decodeContext = 128;
        work.tokens = work.sampled = 2;
        QCOMPARE((*time)->price(work).lastSeconds, 2 * 0.07e-3);
        spec.groupedHeads = true;
        QCOMPARE((*readVidurTables(folder.path().toStdString(), spec))->price(work).lastSeconds, 2 * 0.071e-3);
    }

    // Host work is paid on every stage, as Vidur has it: 5 × 0.2 ms for a batch of one.
    void hostWorkIsAdded() {
        QTemporaryDir folder;
        writeTables(folder.path());
        write(folder.path() + "/cpu_overhead.csv",
              "batch_size,schedule,sampler_e2e,prepare_inputs_e2e,process_model_outputs,ray_comm_time\n"
              "1,0.2,0.2,0.2,0.2,0.2\n2,0.3,0.3,0.3,0.3,0.3\n");
        const auto time = readVidurTables(folder.path().toStdString(), {.layers = 2, .host = true});
        QVERIFY2(time, time ? "" : toText(time.error()).c_str());
        const PromptChunk chunk{10, 0};
        QCOMPARE((*time)->price(prompt(chunk)).lastSeconds, 2 * 0.07e-3 + 1e-3);
        QCOMPARE((*time)->price(prompt(chunk)).host, 0.0);
    }

    // A stage has its share of the layers, and hands over to the next one unless it is the last.
    void stagesHandOver() {
        QTemporaryDir folder;
        writeTables(folder.path());
        QFile table(folder.path() + "/token_ops.csv");
        QVERIFY(table.open(QIODevice::ReadOnly));
        QByteArray text = table.readAll();
        table.close();
        text.replace(",attn_rope\n", ",attn_rope,send_recv,all_reduce\n").replace(",0.01\n", ",0.01,0.5,0.03\n");
        write(table.fileName(), text);
        const auto time = readVidurTables(folder.path().toStdString(), {.layers = 4, .stages = 2, .devices = 2});
        QVERIFY2(time, time ? "" : toText(time.error()).c_str());
        const PromptChunk chunk{10, 0};
        const auto price = (*time)->price(prompt(chunk));
        QCOMPARE(price.lastSeconds, 2 * (0.07e-3 + 2 * 0.05e-3));  // all-reduce 0.03 ms and 0.02 ms to launch it, twice
        QCOMPARE(price.seconds, price.lastSeconds + 0.5e-3);
    }

    void beyondTheTablesIsSaid() {
        QTemporaryDir folder;
        writeTables(folder.path());
        const PromptChunk in{64, 0}, beyond{128, 0};
        for (const bool saturate : {true, false}) {
            const auto time = readVidurTables(folder.path().toStdString(), {.layers = 1, .saturate = saturate});
            const auto inside = (*time)->price(prompt(in)), outside = (*time)->price(prompt(beyond));
            QCOMPARE(inside.domain, DomainVerdict::Inside);
            QCOMPARE(outside.domain, DomainVerdict::Outside);
            if (saturate) {
                QCOMPARE(outside.lastSeconds, inside.lastSeconds);
            } else {
                QVERIFY(outside.lastSeconds > inside.lastSeconds);
            }
        }
    }

    void badCasesAreRefused_data() {
        QTest::addColumn<QByteArray>("args");
        QTest::addColumn<QByteArray>("requests");
        QTest::addColumn<QString>("code");
        QTest::newRow("model") << QByteArray("--replica_config_model_name gpt-5") << trace << "vidur.unknown-model";
        QTest::newRow("device") << QByteArray("--replica_config_device tpu") << trace << "vidur.unknown-device";
        QTest::newRow("scheduler") << QByteArray("--replica_scheduler_config_type magic") << trace
                                   << "vidur.unknown-scheduler";
        QTest::newRow("router") << QByteArray("--global_scheduler_config_type magic") << trace
                                << "vidur.unknown-router";
        QTest::newRow("block 0") << QByteArray("--sarathi_scheduler_config_block_size 0") << trace
                                 << "vidur.bad-number";
        QTest::newRow("word") << QByteArray("--cluster_config_num_replicas many") << trace << "vidur.bad-number";
        QTest::newRow("half a device") << QByteArray("--replica_config_tensor_parallel_size 1.5") << trace
                                       << "vidur.bad-number";
        QTest::newRow("heads") << QByteArray("--replica_config_tensor_parallel_size 3") << trace
                               << "vidur.bad-parallelism";
        QTest::newRow("too big") << QByteArray("--replica_config_model_name Qwen/Qwen-72B") << trace
                                 << "vidur.does-not-fit";
        QTest::newRow("column") << QByteArray() << QByteArray("arrived_at,num_prefill_tokens\n1,2\n")
                                << "trace.no-column";
        QTest::newRow("negative") << QByteArray() << QByteArray(trace).replace("0.5", "-1") << "vidur.bad-request";
        QTest::newRow("nan") << QByteArray() << QByteArray(trace).replace("0.5", "nan") << "trace.bad-number";
        QTest::newRow("no output") << QByteArray() << QByteArray(trace).replace("20", "0") << "vidur.bad-request";
        QTest::newRow("huge") << QByteArray() << QByteArray(trace).replace("20", "1e30") << "vidur.bad-request";
        QTest::newRow("letters") << QByteArray() << QByteArray(trace).replace("20", "ten") << "trace.bad-number";
        QTest::newRow("short") << QByteArray() << QByteArray(trace).replace(",20", "") << "trace.short-row";
        QTest::newRow("no trace") << QByteArray() << QByteArray() << "trace.no-table";
    }
    void badCasesAreRefused() {
        QFETCH(QByteArray, args);
        QFETCH(QByteArray, requests);
        QFETCH(QString, code);
        QTemporaryDir folder;
        write(folder.path() + "/args.txt", args);
        if (!requests.isEmpty()) write(folder.path() + "/trace.csv", requests);
        const auto given = readVidurCase(folder.path().toStdString());
        QVERIFY(!given);
        QCOMPARE(QString::fromStdString(given.error().code), code);
        QVERIFY(!given.error().expected.empty());
        QVERIFY(!given.error().place.file.empty());
    }
    void requestsAreSortedByArrivalAndKeepTheirNumbers() {
        QTemporaryDir folder;
        write(folder.path() + "/args.txt", "");
        write(folder.path() + "/trace.csv", trace);
        const auto given = readVidurCase(folder.path().toStdString());
        QVERIFY2(given, given ? "" : toText(given.error()).c_str());
        QCOMPARE(given->requests.id, (std::vector<std::int64_t>{1, 0}));
        QCOMPARE(given->requests.prompt, (std::vector<std::int32_t>{50, 100}));
        QVERIFY(!readVidurCase("/nowhere"));
    }

    void badTablesAreRefused_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QByteArray>("from");
        QTest::addColumn<QByteArray>("to");
        QTest::addColumn<QString>("code");
        QTest::newRow("column") << "token_ops" << QByteArray("mlp_act") << QByteArray("mlp_bat") << "trace.no-column";
        QTest::newRow("gap") << "token_ops" << QByteArray("\n7,") << QByteArray("\n6,") << "trace.gap";
        QTest::newRow("zero") << "token_ops" << QByteArray("\n7,") << QByteArray("\n0,") << "trace.bad-row";
        QTest::newRow("negative") << "attn_decode" << QByteArray("3,64,0.01") << QByteArray("3,64,-1")
                                  << "trace.bad-row";
        QTest::newRow("hole") << "attn_decode" << QByteArray("3,64,0.01\n") << QByteArray() << "trace.gap";
        QTest::newRow("step") << "attn_prefill" << QByteArray("64,5,") << QByteArray("65,5,") << "trace.bad-row";
        QTest::newRow("huge") << "attn_prefill" << QByteArray("64,5,") << QByteArray("64,1e30,") << "trace.bad-row";
        QTest::newRow("wide") << "attn_prefill" << QByteArray("64,5,") << QByteArray("64,900000000,")
                              << "trace.too-large";
        QTest::newRow("text") << "attn_prefill" << QByteArray("64,5,0.01") << QByteArray("64,5,fast")
                              << "trace.bad-number";
    }
    void badTablesAreRefused() {
        QFETCH(QString, file);
        QFETCH(QByteArray, from);
        QFETCH(QByteArray, to);
        QFETCH(QString, code);
        QTemporaryDir folder;
        writeTables(folder.path());
        const QString path = folder.path() + "/" + file + ".csv";
        QFile table(path);
        QVERIFY(table.open(QIODevice::ReadOnly));
        QByteArray text = table.readAll();
        table.close();
        const auto at = text.indexOf(from);
        QVERIFY(at >= 0);
        text.replace(at, from.size(), to);
        write(path, text);
        const auto time = readVidurTables(folder.path().toStdString(), {.layers = 2});
        QVERIFY(!time);
        QCOMPARE(QString::fromStdString(time.error().code), code);
        QVERIFY(time.error().place.file.starts_with(folder.path().toStdString()));
    }
    void missingTablesAreRefused() {
        QTemporaryDir folder;
        const auto time = readVidurTables(folder.path().toStdString(), {});
        QVERIFY(!time);
        QCOMPARE(time.error().code, std::string("trace.no-table"));
        writeTables(folder.path());
        QCOMPARE(readVidurTables(folder.path().toStdString(), {.devices = 2}).error().code,
                 std::string("trace.no-column"));
        QCOMPARE(readVidurTables(folder.path().toStdString(), {.layers = 3, .stages = 2}).error().code,
                 std::string("trace.bad-model"));
        QCOMPARE(readVidurTables(folder.path().toStdString(), {.host = true}).error().code,
                 std::string("trace.no-table"));
    }

private:
    // The recorded batches stand in the order in which they ended, with the blocks and the queue of that moment:
    // without what has ended with them, with what has arrived since they were made.
    static void compareBatches(const QString& folder, const ServingResult& result, const FleetSpec& fleet) {
        const auto recorded = readTable(folder.toStdString() + "/batches.csv", {});
        QVERIFY(recorded);
        const auto& log = result.batches;
        const auto& requests = result.requests;
        QCOMPARE(log.size(), recorded->lines.size());
        std::vector<std::size_t> order(log.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return log.end[a] < log.end[b]; });
        const auto& scheduler = fleet.replicas.front().scheduler;
        std::map<std::pair<std::int32_t, SimTime>, std::int64_t> freed;
        std::vector<std::vector<SimTime>> arrivals(fleet.replicas.size());
        for (std::size_t r = 0; r < requests.size(); ++r) {
            const std::int64_t text = requests.prompt[r] + requests.output[r] - 1;
            const bool reserved = scheduler.maxModelLength > 0;
            freed[{requests.replica[r], requests.ended[r]}] += (reserved ? scheduler.maxModelLength : text + 15) / 16;
            arrivals[static_cast<std::size_t>(requests.replica[r])].push_back(requests.arrived[r]);
        }
        const auto arrivedBy = [&](std::int32_t replica, SimTime time) {
            const auto& all = arrivals[static_cast<std::size_t>(replica)];
            return std::upper_bound(all.begin(), all.end(), time) - all.begin();
        };
        const auto same = [&](const char* name, auto ours, std::size_t row) {
            const double theirs = (**recorded->column(name))[row];
            if (static_cast<double>(ours) == theirs) return true;
            qWarning("row %zu: %s is %g, recorded %g", row, name, static_cast<double>(ours), theirs);
            return false;
        };
        const auto& end = **recorded->column("completed_at");
        for (std::size_t row = 0; row < order.size(); ++row) {
            const std::size_t i = order[row];
            const std::int32_t replica = log.replica[i];
            const auto gone = freed.find({replica, log.end[i]});
            QVERIFY(same("replica", replica, row));
            QVERIFY(same("size", log.sequences[i], row));
            QVERIFY(same("prefill_tokens", log.promptTokens[i], row));
            QVERIFY(same("decode_tokens", log.decodeTokens[i], row));
            QVERIFY(same("blocks_allocated_after", log.usedBlocks[i] - (gone == freed.end() ? 0 : gone->second), row));
            QVERIFY(same("queue_len_after",
                         log.waiting[i] + arrivedBy(replica, log.end[i]) - arrivedBy(replica, log.begin[i]), row));
            QVERIFY(std::abs(toSeconds(log.end[i]) - end[row]) < 1e-9);
        }
    }
};

QTEST_GUILESS_MAIN(TestServingVidur)
#include "tst_serving_vidur.moc"
