// Execution traces of ranks: files of other tools as they are, the same trace out and in again, and what no reader may
// accept.

#include "base/random.h"
#include "workload/traces/chakra.h"
#include "workload/traces/wire.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

using namespace orrery;

namespace {

std::string reference(std::string_view path) {
    return std::string(ORRERY_REFERENCE) + "/training/" + std::string(path);
}

TraceNode node(std::uint64_t id, TraceWork work) {
    TraceNode made;
    made.id = id;
    made.work = work;
    return made;
}

}  // namespace

class TstTraces : public QObject {
    Q_OBJECT
private slots:
    void generated();
    void outAndIn();
    void waitsAreRepaired();
    void cyclesAreNamed();
    void damaged();
    void hostile();
};

// A trace of a transformer, rank 0 of dp 2, tp 2, pp 2: 348 nodes, with their attributes in the types they came in.
void TstTraces::generated() {
    const std::string path = reference("cases/stg_llama4L_dp2tp2pp2_hgxh100_aware/et/workload.0.et");
    if (!std::ifstream(path)) QSKIP("no reference data");
    const auto trace = readChakra(path);
    QVERIFY2(trace.has_value(), trace ? "" : toText(trace.error()).c_str());
    const TraceTotals all = totals(*trace);
    QCOMPARE(all.nodes, std::size_t{348});
    QCOMPARE(all.computes, std::size_t{250});
    QCOMPARE(all.collectives, std::size_t{90});
    QCOMPARE(all.messages, std::size_t{8});
    const auto product =
        std::find_if(trace->nodes.begin(), trace->nodes.end(), [](const TraceNode& one) { return one.id == 7; });
    QVERIFY(product != trace->nodes.end());
    QCOMPARE(product->flops, 103079215104.0);
    QCOMPARE(trace->name(*product), std::string_view("mb0.transformer.0.mha.qkv@0_COMP"));
    QCOMPARE(trace->waitsOf(*product).size(), std::size_t{1});
    const TraceNode& gather = *(product + 1);
    QCOMPARE(gather.collective, TraceCollective::AllGather);
    QCOMPARE(gather.bytes, std::int64_t{8388608});
    QCOMPARE(trace->groups[static_cast<std::size_t>(gather.group)], std::string("5"));
}

void TstTraces::outAndIn() {
    RandomStream random(3);
    for (int round = 0; round < 40; ++round) {
        TraceBuilder builder;
        const std::size_t count = 1 + random.below(60);
        for (std::size_t i = 0; i < count; ++i) {
            TraceNode made = node(i * 3 + 1, static_cast<TraceWork>(random.below(7)));
            made.onHost = made.work == TraceWork::Compute && random.below(4) == 0;
            made.microseconds = static_cast<double>(random.below(100000));
            if (made.work == TraceWork::Compute) {
                made.flops = static_cast<double>(random.below(1ULL << 40));
                made.tensorBytes = static_cast<double>(random.below(1ULL << 30));
            } else {
                made.bytes = static_cast<std::int64_t>(random.below(1ULL << 40));
            }
            if (made.work == TraceWork::Collective) {
                made.collective = static_cast<TraceCollective>(random.below(9));
                made.group = builder.groupNamed(fmt::format("group {}", random.below(3) + 1));
                made.priority = static_cast<std::int32_t>(random.below(3));
                if (random.below(2) == 0) made.dimensions = static_cast<std::uint32_t>(random.below(1ULL << 32));
            }
            if (made.work == TraceWork::Send || made.work == TraceWork::Receive) {
                made.peer = static_cast<std::int32_t>(random.below(1000));
                made.tag = static_cast<std::int32_t>(random.below(9)) - 4;
            }
            std::vector<std::uint64_t> waits;
            for (std::size_t w = 0; i > 0 && w < random.below(4); ++w) waits.push_back(random.below(i) * 3 + 1);
            builder.add(made, fmt::format("node \xc3\xa9 {}", i), waits);
        }
        const auto before = builder.finish("test");
        QVERIFY(before.has_value());
        const auto after = parseChakra(chakraText(*before), "test");
        QVERIFY2(after.has_value(), after ? "" : toText(after.error()).c_str());
        QCOMPARE(after->nodes.size(), before->nodes.size());
        QCOMPARE(after->waits, before->waits);
        for (std::size_t i = 0; i < before->nodes.size(); ++i) {
            const TraceNode &a = before->nodes[i], &b = after->nodes[i];
            QCOMPARE(b.id, a.id);
            QCOMPARE(static_cast<int>(b.work), static_cast<int>(a.work));
            QCOMPARE(b.onHost, a.onHost);
            QCOMPARE(b.microseconds, a.microseconds);
            QCOMPARE(b.flops, a.flops);
            QCOMPARE(b.tensorBytes, a.tensorBytes);
            QCOMPARE(b.bytes, a.bytes);
            QCOMPARE(b.peer, a.peer);
            QCOMPARE(b.tag, a.tag);
            QCOMPARE(b.priority, a.priority);
            QCOMPARE(b.dimensions, a.dimensions);
            QCOMPARE(after->name(b), before->name(a));
            if (a.work != TraceWork::Collective) continue;
            QCOMPARE(static_cast<int>(b.collective), static_cast<int>(a.collective));
            QCOMPARE(after->groups[static_cast<std::size_t>(b.group)],
                     before->groups[static_cast<std::size_t>(a.group)]);
        }
    }
}

void TstTraces::waitsAreRepaired() {
    TraceBuilder builder;
    const std::uint64_t absent[] = {77, 78}, itself[] = {2, 1, 1};
    builder.add(node(2, TraceWork::Compute), "b", itself);
    builder.add(node(1, TraceWork::Compute), "a", absent);
    const auto trace = builder.finish("test");
    QVERIFY(trace.has_value());
    QCOMPARE(trace->nodes.front().id, std::uint64_t{1});
    QCOMPARE(trace->waits, std::vector<std::uint32_t>{0});
    QCOMPARE(trace->warnings.size(), std::size_t{2});
    QCOMPARE(trace->warnings.front().code, std::string("trace.dangling"));
    QVERIFY(trace->warnings.front().message.starts_with("2 dependencies"));
    TraceBuilder twice;
    twice.add(node(2, TraceWork::Compute), "b", {});
    twice.add(node(2, TraceWork::Compute), "a", {});
    const auto refused = twice.finish("test");
    QVERIFY(!refused && refused.error().code == "trace.duplicate");
}

void TstTraces::cyclesAreNamed() {
    TraceBuilder builder;
    const std::uint64_t one[] = {1}, two[] = {2}, three[] = {3};
    builder.add(node(1, TraceWork::Compute), "first", three);
    builder.add(node(2, TraceWork::Compute), "second", one);
    builder.add(node(3, TraceWork::Compute), "third", two);
    builder.add(node(4, TraceWork::Compute), "outside", three);
    const auto trace = builder.finish("test");
    QVERIFY(!trace);
    QCOMPARE(trace.error().code, std::string("trace.cycle"));
    for (const char* name : {"first", "second", "third"})
        QVERIFY2(trace.error().message.find(name) != std::string::npos, trace.error().message.c_str());
    QVERIFY(trace.error().message.find("outside") == std::string::npos);
}

// Files cut short, bytes changed: a diagnostic or another trace, never anything else.
void TstTraces::damaged() {
    TraceBuilder builder;
    for (std::uint64_t i = 0; i < 20; ++i) {
        const std::uint64_t before[] = {i == 0 ? 99 : i - 1};
        TraceNode made = node(i, i % 2 == 0 ? TraceWork::Compute : TraceWork::Collective);
        made.bytes = 1000;
        builder.add(made, "some name", before);
    }
    const std::string good = chakraText(*builder.finish("test"));
    RandomStream random(5);
    int refused = 0;
    for (std::size_t cut = 0; cut < good.size(); ++cut)
        refused += parseChakra(std::string_view(good).substr(0, cut), "test") ? 0 : 1;
    QVERIFY(refused > static_cast<int>(good.size()) / 2);
    for (int round = 0; round < 3000; ++round) {
        std::string bad = good;
        for (std::size_t n = 1 + random.below(4); n > 0; --n)
            bad[random.below(bad.size())] = static_cast<char>(random.below(256));
        if (const auto trace = parseChakra(bad, "test"); !trace) QVERIFY(!trace.error().message.empty());
    }
    const auto none = readChakra("/nowhere/at.all");
    QVERIFY(!none && none.error().code == "reference.unreadable");
}

// What files may claim: types and sizes beyond every number, nothing at all a million times, communicators and
// dependencies by the hundred thousand.
void TstTraces::hostile() {
    const auto fileOf = [](std::string_view message) {
        WireWriter file;
        file.varint(0);  // about the file: nothing
        file.varint(message.size());
        return file.out() + std::string(message);
    };
    WireWriter strange;
    strange.whole(1, 7);
    strange.whole(3, ~0ULL);  // type
    strange.whole(7, ~0ULL);  // microseconds
    const auto read = parseChakra(fileOf(strange.out()), "test");
    QVERIFY(read.has_value());
    QCOMPARE(static_cast<int>(read->nodes.front().work), static_cast<int>(TraceWork::Nothing));
    // Out again: what does not fit is the most that does.
    const auto again = parseChakra(chakraText(*read), "test");
    QVERIFY(again && again->nodes.front().microseconds > 9e18);

    const auto zeros = parseChakra(std::string(1 << 20, '\0'), "test");
    QVERIFY(!zeros);
    QCOMPARE(zeros.error().code, std::string("trace.syntax"));

    TraceBuilder builder;
    const auto begun = std::chrono::steady_clock::now();
    for (int g = 1; g <= 200000; ++g) QCOMPARE(builder.groupNamed(fmt::format("group {}", g)), g - 1);
    std::vector<std::uint64_t> waits;
    for (std::uint64_t id = 0; id < 200000; ++id) {
        builder.add(node(id, TraceWork::Nothing), {}, {});
        waits.push_back(id);
    }
    waits.insert(waits.end(), waits.begin(), waits.end());
    builder.add(node(200000, TraceWork::Compute), "last", waits);
    const auto wide = builder.finish("test");
    QVERIFY(wide.has_value());
    QCOMPARE(wide->waits.size(), std::size_t{200000});
    QVERIFY(std::chrono::steady_clock::now() - begun < std::chrono::seconds(10));
}

QTEST_APPLESS_MAIN(TstTraces)
#include "tst_traces.moc"
