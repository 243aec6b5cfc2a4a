#include "base/random.h"
#include "simulation/cpu/core/pipeline.h"

#include <QtTest/QtTest>

#include <cmath>
#include <numeric>
#include <set>

using namespace orrery;
using namespace orrery::pipeline;

namespace {

// A small core whose cycles can be counted on fingers: four wide, five cycles to dispatch, two integer ports, one
// multiplier of three cycles, one divider, two load ports, one store port, two floating-point ports of four cycles.
// The first cache answers in 4 cycles, the second in 12, memory 100 later.
Machine smallCore() {
    Machine m;
    m.id = m.title = "small";
    m.clock = 1e9;
    m.fetchWidth = m.issueWidth = m.retireWidth = 4;
    m.frontDepth = 5;
    m.reorderBuffer = m.scheduler = m.loadQueue = m.storeQueue = 128;
    m.integerRegisters = m.vectorRegisters = 128;
    m.vectorLoadExtra = 0;
    m.predictor = PredictorKind::Taken;
    m.portNames = {"a0", "a1", "m", "d", "l0", "l1", "s", "t", "f0", "f1", "b"};
    const auto unit = [&](OpKind kind, std::uint16_t ports, int latency, int occupancy = 1) {
        m.units[static_cast<std::size_t>(kind)] = {ports, latency, occupancy};
    };
    unit(OpKind::Integer, 0b11, 1);
    unit(OpKind::Multiply, 0b100, 3);
    unit(OpKind::Divide, 0b1000, 10, 10);
    unit(OpKind::Load, 0b110000, 4);
    unit(OpKind::Store, 0b1000000, 1);
    m.storeDataPorts = 0b10000000;
    for (const auto kind : {OpKind::VectorInteger, OpKind::FpAdd, OpKind::FpMultiply, OpKind::FpFma, OpKind::Convert})
        unit(kind, 0b1100000000, 4);
    unit(OpKind::Shuffle, 0b1000000000, 1);
    unit(OpKind::FpDivide, 0b100000000, 8, 5);
    unit(OpKind::FpSqrt, 0b100000000, 8, 8);
    unit(OpKind::Branch, 0b10000000000, 1);
    m.caches = {{"L1", 32768, 8, 4, 64, 64, false, false, false},
                {"L2", 1 << 20, 16, 12, 128, 64, false, false, false}};
    m.memoryLatency = 100e-9;
    m.memoryBandwidth = 64e9;
    return m;
}

// One operation per line of a program, `times` over. Registers by number; addresses in bytes.
struct Line {
    OpKind kind;
    int to = -1, from = -1;
    std::uint64_t address = 0;
    std::uint64_t stride = 0;  ///< added to the address at each repetition
    bool taken = true;
    int bytes = 8;
    int data = -1;  ///< of a store
};

struct Program {
    std::vector<StaticOp> ops;
    std::vector<std::uint64_t> address;
    std::vector<std::uint8_t> taken;
    void add(const Line& line, int times = 1) {
        for (int i = 0; i < times; ++i) {
            StaticOp op;
            op.kind = line.kind;
            op.bytes = static_cast<std::uint16_t>(line.bytes);
            if (line.to >= 0) op.to = static_cast<std::uint8_t>(line.to);
            if (line.from >= 0) op.from[0] = static_cast<std::uint8_t>(line.from);
            if (line.data >= 0) op.from[2] = static_cast<std::uint8_t>(line.data);
            ops.push_back(op);
            address.push_back(line.address + static_cast<std::uint64_t>(i) * line.stride);
            taken.push_back(line.taken);
        }
    }
    std::vector<OpChunk> chunks() const {
        std::vector<OpChunk> all;
        for (std::size_t i = 0; i < ops.size(); ++i) {
            if (all.empty() || all.back().size == OpChunk::capacity) all.emplace_back();
            all.back().add(static_cast<std::uint32_t>(i), address[i], taken[i]);
        }
        return all;
    }
};

Counters runOf(const Machine& machine, const Program& program, bool warmed = false,
               std::vector<Passage>* passages = nullptr) {
    if (const auto sound = check(machine); !sound) qFatal("%s", toText(sound.error()).c_str());
    const auto bound = boundOps(machine, program.ops);
    Pipeline core(machine, bound);
    const auto chunks = program.chunks();
    if (warmed) {
        for (const auto& chunk : chunks) core.warm(chunk);
    }
    std::vector<Passage> ignored;
    for (const auto& chunk : chunks) passages ? core.run(chunk, *passages) : core.run(chunk);
    return core.counters();
}

std::uint64_t slotsOf(const Counters& counts, Cause cause) {
    return counts.slotsBy[static_cast<std::size_t>(cause)];
}

bool sumsExactly(const Counters& counts) {
    return std::accumulate(counts.slotsBy.begin(), counts.slotsBy.end(), std::uint64_t{0}) ==
           counts.cycles * static_cast<std::uint64_t>(counts.retireWidth);
}

struct HandWorked {
    const char* name;
    std::uint64_t cycles;
    std::function<void(Machine&, Program&)> make;
    bool warmed = false;
};

// A lone operation is fetched in cycle 0, dispatched in 5, issued in 6, done in 6 + latency and retired then.
std::vector<HandWorked> handWorked() {
    using K = OpKind;
    return {
        {"one addition", 8,
         [](auto&, auto& p) {
             p.add({K::Integer, 1});
         }},
        {"100 independent additions on two ports", 57,
         [](auto&, auto& p) {
             p.add({K::Integer, 1}, 100);
         }},
        {"a chain of 100 additions", 107,
         [](auto&, auto& p) {
             p.add({K::Integer, 1, 1}, 100);
         }},
        {"8 independent products, pipelined", 17,
         [](auto&, auto& p) {
             p.add({K::Multiply, 1}, 8);
         }},
        {"a chain of 8 products", 31,
         [](auto&, auto& p) {
             p.add({K::Multiply, 1, 1}, 8);
         }},
        {"5 divisions hold their port", 57,
         [](auto&, auto& p) {
             p.add({K::Divide, 1}, 5);
         }},
        {"divisions of fewer cycles than latency: 6 + 4·5 + 8 + 1", 35,
         [](auto&, auto& p) {
             p.add({K::FpDivide, 70}, 5);
         }},
        {"a chain of 10 floating-point additions", 47,
         [](auto&, auto& p) {
             p.add({K::FpAdd, 70, 70}, 10);
         }},
        {"20 independent multiply-adds on two ports", 20,
         [](auto&, auto& p) {
             p.add({K::FpFma, 70}, 20);
         }},
        {"two chains side by side cost one", 47,
         [](auto&, auto& p) {
             for (int i = 0; i < 10; ++i) {
                 p.add({K::FpAdd, 70, 70});
                 p.add({K::FpAdd, 71, 71});
             }
         }},
        {"40 no-operations, four a cycle", 15, [](auto&, auto& p) { p.add({K::Nop}, 40); }},
        {"retirement of one a cycle", 45,
         [](auto& m, auto& p) {
             m.retireWidth = 1;
             p.add({K::Nop}, 40);
         }},
        {"dispatch of one a cycle", 47,
         [](auto& m, auto& p) {
             m.issueWidth = 1;
             p.add({K::Integer, 1}, 40);
         }},
        {"fetch of one a cycle", 47,
         [](auto& m, auto& p) {
             m.fetchWidth = 1;
             p.add({K::Integer, 1}, 40);
         }},
        {"a longer front end shifts all", 67,
         [](auto& m, auto& p) {
             m.frontDepth = 15;
             p.add({K::Integer, 1}, 100);
         }},
        {"taken branches end the group: one a cycle", 27, [](auto&, auto& p) { p.add({K::Branch}, 20); }},
        {"ten wrong guesses: 7 cycles each", 71,
         [](auto&, auto& p) { p.add({.kind = K::Branch, .taken = false}, 10); }},
        {"a wrong guess after a product resolves late: 10, refetch, 8 more", 18,
         [](auto&, auto& p) {
             p.add({K::Multiply, 1});
             p.add({.kind = K::Branch, .from = 1, .taken = false});
             p.add({K::Integer, 2});
         }},
        {"a wrong guess of a perfect predictor costs nothing", 8,
         [](auto& m, auto& p) {
             m.predictor = PredictorKind::Perfect;
             p.add({.kind = K::Branch, .taken = false});
             p.add({K::Integer, 2});
         }},
        {"20 loads in the first cache, two ports", 20,
         [](auto&, auto& p) {
             p.add({K::Load, 1, -1, 64}, 20);
         },
         true},
        {"a chase of 10 pointers in the first cache", 47,
         [](auto&, auto& p) {
             p.add({K::Load, 1, 1, 64}, 10);
         },
         true},
        {"a chase through memory: 12 + 100 each", 567,
         [](auto&, auto& p) {
             p.add({K::Load, 1, 1, 4096, 4096}, 5);
         }},
        {"a chase through the second cache", 199,
         [](auto& m, auto& p) {
             m.caches[0].bytes = 512;
             p.add({K::Load, 1, 1, 0, 64}, 16);
         },
         true},
        {"eight misses, four at a time, a line per cycle", 234,
         [](auto& m, auto& p) {
             m.caches[0].misses = 4;
             p.add({K::Load, 1, -1, 4096, 4096}, 8);
         }},
        {"eight misses side by side, a line per cycle: 18 + 7 + 100 + 1", 126,
         [](auto&, auto& p) {
             p.add({K::Load, 1, -1, 4096, 4096}, 8);
         }},
        {"two loads of one line on its way", 119,
         [](auto&, auto& p) {
             p.add({K::Load, 1, -1, 4096, 8}, 2);
         }},
        {"a load across two lines asks twice", 120,
         [](auto&, auto& p) {
             p.add({K::Load, 1, -1, 4096 + 60});
         }},
        {"lines of the second cache pass every 4 cycles", 81,
         [](auto& m, auto& p) {
             m.caches[0].bytes = 512;
             m.caches[1].bytesPerCycle = 16;
             p.add({K::Load, 1, -1, 0, 64}, 16);
         },
         true},
        {"memory gives a line every 8 cycles: 24 + 15·8 + 100 + 1", 245,
         [](auto& m, auto& p) {
             m.memoryBandwidth = 8e9;
             p.add({K::Load, 1, -1, 4096, 4096}, 16);
         }},
        {"a full reorder buffer hides the second miss", 233,
         [](auto& m, auto& p) {
             m.reorderBuffer = 8;
             p.add({K::Load, 1, -1, 4096});
             p.add({K::Nop}, 7);
             p.add({K::Load, 2, -1, 8192});
         }},
        {"a large one lets them overlap", 121,
         [](auto&, auto& p) {
             p.add({K::Load, 1, -1, 4096});
             p.add({K::Nop}, 7);
             p.add({K::Load, 2, -1, 8192});
         }},
        {"a full scheduler holds up what is ready", 122,
         [](auto& m, auto& p) {
             m.scheduler = 4;
             p.add({K::Load, 1, -1, 4096});
             p.add({K::Integer, 2, 1}, 4);
             p.add({K::Integer, 3});
         }},
        {"two entries in the load queue", 234,
         [](auto& m, auto& p) {
             m.loadQueue = 2;
             p.add({K::Load, 1, -1, 4096, 4096}, 4);
         }},
        {"four registers behind a miss", 125,
         [](auto& m, auto& p) {
             m.integerRegisters = 4;
             p.add({K::Load, 1, -1, 4096});
             p.add({K::Integer, 2}, 8);
         }},
        {"a store forwards: data at 6, load at 11", 12,
         [](auto&, auto& p) {
             p.add({.kind = K::Store, .address = 4096});
             p.add({K::Load, 1, -1, 4096});
         }},
        {"a store forwards late data: 16, 5 more", 22,
         [](auto&, auto& p) {
             p.add({K::Integer, 2, 2}, 10);
             p.add({.kind = K::Store, .address = 4096, .data = 2});
             p.add({K::Load, 1, -1, 4096});
         }},
        {"a load wider than the store waits until it has left, then 12", 21,
         [](auto&, auto& p) {
             p.add({.kind = K::Store, .address = 4096, .bytes = 4});
             p.add({K::Load, 1, -1, 4096});
         },
         true},
        {"stores beside each other do not forward", 11,
         [](auto&, auto& p) {
             p.add({.kind = K::Store, .address = 4096});
             p.add({K::Load, 1, -1, 4104});
         },
         true},
        {"20 stores in the first cache, one a cycle", 27,
         [](auto&, auto& p) { p.add({.kind = K::Store, .address = 4096}, 20); }, true},
        {"a full store queue waits for the line of the oldest", 123,
         [](auto& m, auto& p) {
             m.storeQueue = 2;
             p.add({.kind = K::Store, .address = 4096, .stride = 4096}, 3);
         }},
        {"wide operations hold a narrow unit twice: 6 + 9·2 + 5 + 1", 30,
         [](auto& m, auto& p) {
             m.vectorBytes = 16;
             p.add({.kind = K::FpFma, .to = 70, .bytes = 32}, 20);
         }},
        {"an addition fed by a load: 6 + 4 + 1 + 1", 12,
         [](auto&, auto& p) {
             p.add({K::Load, 1, -1, 64});
             p.add({K::Integer, 2, 1});
         },
         true},
        {"20 products, and a chain of additions that is not in the way", 29,
         [](auto&, auto& p) {
             for (int i = 0; i < 20; ++i) {
                 p.add({K::Integer, 1, 1});
                 p.add({K::Multiply, 2});
             }
         }},
    };
}

}  // namespace

class TestCorePipeline : public QObject {
    Q_OBJECT

private slots:
    void equalsHandWorkedPipelines_data() {
        QTest::addColumn<int>("at");
        const auto all = handWorked();
        for (std::size_t i = 0; i < all.size(); ++i) QTest::newRow(all[i].name) << static_cast<int>(i);
    }
    void equalsHandWorkedPipelines() {
        QFETCH(int, at);
        const auto one = handWorked()[static_cast<std::size_t>(at)];
        Machine machine = smallCore();
        Program program;
        one.make(machine, program);
        const auto counts = runOf(machine, program, one.warmed);
        QCOMPARE(counts.cycles, one.cycles);
        QVERIFY(sumsExactly(counts));
    }

    // What slots were lost to is what the program was made to lose them to.
    void namesTheCause() {
        Program chase;
        chase.add({OpKind::Load, 1, 1, 4096, 4096}, 50);
        auto counts = runOf(smallCore(), chase);
        QVERIFY(slotsOf(counts, Cause::Memory) > 95 * counts.cycles * 4 / 100);
        Program divisions;
        divisions.add({OpKind::Divide, 1, 1}, 50);
        counts = runOf(smallCore(), divisions);
        QVERIFY(slotsOf(counts, Cause::Divide) > 90 * counts.cycles * 4 / 100);
        Program wrong;
        wrong.add({.kind = OpKind::Branch, .taken = false}, 100);
        counts = runOf(smallCore(), wrong);
        QVERIFY(slotsOf(counts, Cause::Mispredict) > 60 * counts.cycles * 4 / 100);
        QCOMPARE(counts.mispredicted, std::uint64_t{100});
        Program full;
        full.add({OpKind::Integer, 1}, 4000);
        counts = runOf(smallCore(), full);
        QVERIFY(slotsOf(counts, Cause::Ports) > 45 * counts.cycles * 4 / 100);
        QCOMPARE(slotsOf(counts, Cause::Retiring), std::uint64_t{4000});
        Machine narrow = smallCore();
        narrow.fetchWidth = 1;
        counts = runOf(narrow, full);
        QVERIFY(slotsOf(counts, Cause::FrontEnd) > 70 * counts.cycles * 4 / 100);
    }

    // Random programs on random cores: slots sum to cycles, stages follow one another, no port runs two at once, no
    // narrower core is beaten by what it cannot do, and the same run gives the same.
    void lawsHoldForRandomPrograms() {
        for (std::uint64_t seed = 0; seed < 60; ++seed) {
            RandomStream random(7, seed);
            Machine machine = smallCore();
            machine.fetchWidth = 1 + static_cast<int>(random.below(8));
            machine.issueWidth = 1 + static_cast<int>(random.below(6));
            machine.retireWidth = 1 + static_cast<int>(random.below(8));
            machine.reorderBuffer = 4 + static_cast<int>(random.below(200));
            machine.scheduler = 2 + static_cast<int>(random.below(90));
            machine.loadQueue = 2 + static_cast<int>(random.below(60));
            machine.storeQueue = 2 + static_cast<int>(random.below(60));
            machine.predictor = static_cast<PredictorKind>(random.below(4));
            machine.caches[0].misses = 1 + static_cast<int>(random.below(16));
            machine.caches[1].stream = random.below(2) == 1;
            machine.caches[0].stride = random.below(2) == 1;
            machine.caches[0].nextLine = random.below(2) == 1;
            Program program;
            for (int i = 0; i < 3000; ++i) {
                const auto kind = static_cast<OpKind>(random.below(opKindCount - 1));
                program.add(
                    {.kind = kind,
                     .to = kind == OpKind::Store || kind == OpKind::Branch ? -1 : static_cast<int>(random.below(128)),
                     .from = static_cast<int>(random.below(128)),
                     .address = random.below(1 << 22),
                     .taken = random.below(3) > 0,
                     .bytes = 1 << random.below(7),
                     .data = kind == OpKind::Store ? static_cast<int>(random.below(128)) : -1});
            }
            std::vector<Passage> passages;
            const auto counts = runOf(machine, program, false, &passages);
            QVERIFY(sumsExactly(counts));
            QCOMPARE(passages.size(), program.ops.size());
            std::set<std::pair<int, std::uint64_t>> held;
            std::uint64_t before = 0, dispatchedBefore = 0;
            for (const auto& each : passages) {
                QVERIFY(each.fetch + 5 <= each.dispatch && each.dispatch <= each.issue);
                QVERIFY(each.issue <= each.complete && each.complete <= each.retire && before <= each.retire);
                QVERIFY(dispatchedBefore <= each.dispatch);
                before = each.retire;
                dispatchedBefore = each.dispatch;
                if (each.port >= 0) QVERIFY2(held.insert({each.port, each.issue}).second, "two on one port");
            }
            const auto width =
                static_cast<std::uint64_t>(std::min({machine.fetchWidth, machine.issueWidth, machine.retireWidth}));
            QVERIFY(counts.cycles * width >= program.ops.size());
            const auto again = runOf(machine, program);
            QCOMPARE(again.cycles, counts.cycles);
            QVERIFY(again.slotsBy == counts.slotsBy);
        }
    }

    // An inner loop of a fixed number of turns is learned by TAGE, also its exit; gshare learns an alternation.
    void predictorsLearn() {
        Predictor tage(PredictorKind::Tage, 12), gshare(PredictorKind::Gshare, 12);
        int wrongLoop = 0, wrongTurns = 0;
        for (int outer = 0; outer < 3000; ++outer) {
            for (int inner = 0; inner < 12; ++inner) {
                const bool right = tage.foretells(5, inner < 11);
                if (outer >= 2000) wrongLoop += !right;
            }
            const bool right = gshare.foretells(9, outer % 2 == 0);
            if (outer >= 2000) wrongTurns += !right;
        }
        QVERIFY2(wrongLoop < 120, qPrintable(QString::number(wrongLoop)));
        QVERIFY(wrongTurns < 10);
        RandomStream random(3);
        Predictor coin(PredictorKind::Tage, 12);
        int wrong = 0;
        for (int i = 0; i < 20000; ++i) wrong += !coin.foretells(1, random.below(2) == 1);
        QVERIFY2(wrong > 9000 && wrong < 11000, "a fair coin is foretold half of the time, no more");
    }

    // A stream through memory: prefetching hides latency, and no more than bandwidth allows.
    void prefetchersHideLatency() {
        Program one;
        one.add({OpKind::Load, 1, 1});
        OpChunk chunk;
        for (std::uint64_t i = 0; i < 4000; ++i) chunk.add(0, (1 << 20) + 64 * i);
        const auto cyclesOn = [&](const Machine& on) {
            const auto bound = boundOps(on, one.ops);
            Pipeline core(on, bound);
            core.run(chunk);
            return core.counters();
        };
        Machine machine = smallCore();
        const auto plain = cyclesOn(machine);
        machine.caches[1].stream = true;
        const auto ahead = cyclesOn(machine);
        machine.caches[0].stride = true;
        const auto both = cyclesOn(machine);
        QVERIFY(2 * ahead.cycles < plain.cycles);
        QVERIFY(both.cycles < ahead.cycles);
        QVERIFY(both.memory.prefetches[0] > 1000 && both.memory.prefetches[1] > 1000);
        machine.memoryBandwidth = 1e9;
        QVERIFY(cyclesOn(machine).cycles >= 4000 * 64);
    }

    // Lines that were written leave through memory once.
    void writesComeBack() {
        Machine machine = smallCore();
        machine.caches = {{"L1", 4096, 4, 4, 16, 64, false, false, false}};
        Program stream;
        stream.add({.kind = OpKind::Store, .address = 1 << 20, .stride = 64}, 1000);
        const auto counts = runOf(machine, stream);
        QCOMPARE(counts.memory.memoryReads, std::uint64_t{1000});
        QCOMPARE(counts.memory.memoryWrites, std::uint64_t{1000 - 64});
    }

    void readsEveryPreset() {
        const auto ids = machineIds();
        QVERIFY(ids.size() >= 8);
        for (const auto& id : ids) {
            const auto machine = loadMachine(id);
            QVERIFY2(machine.has_value(), machine ? "" : toText(machine.error()).c_str());
            QVERIFY(!machine->source.empty());
            Program one;
            one.add({OpKind::FpFma, 70, 70}, 1000);
            const auto counts = runOf(*machine, one);
            const int latency = machine->units[static_cast<std::size_t>(OpKind::FpFma)].latency;
            QVERIFY(counts.cycles >= static_cast<std::uint64_t>(1000 * latency));
            QVERIFY(counts.cycles < static_cast<std::uint64_t>(1000 * latency + 60));
        }
    }

    // Cycles per instruction without dependences, as Ritter and Hack measured on a Cortex-A72 (PMEvo, PLDI 2020): each
    // floating-point pipe takes 8 bytes a cycle, loads of 16 bytes one, stores of 16 bytes two.
    void throughputsOfACortexA72() {
        const auto machine = loadMachine("cortex-a72");
        QVERIFY(machine);
        const auto perOperation = [&](OpKind kind, int bytes) {
            Program many;
            Line line{.kind = kind, .bytes = bytes};
            const bool memory = kind == OpKind::Load || kind == OpKind::Store;
            for (int i = 0; i < 2000; ++i) {
                line.to = kind == OpKind::Store ? -1 : 70 + i % 20;
                line.address = memory ? static_cast<std::uint64_t>(i % 64) * 16 : 0;
                many.add(line);
            }
            return static_cast<double>(runOf(*machine, many, true).cycles) / 2000;
        };
        for (const auto& [kind, bytes, measured] : {std::tuple{OpKind::FpFma, 16, 1.015},
                                                    {OpKind::FpMultiply, 16, 1.02},
                                                    {OpKind::FpAdd, 16, 1.02},
                                                    {OpKind::FpAdd, 4, 0.514},
                                                    {OpKind::FpMultiply, 8, 0.515},
                                                    {OpKind::Convert, 16, 2.016},
                                                    {OpKind::Load, 16, 1.01},
                                                    {OpKind::Store, 16, 2.015}}) {
            const double cycles = perOperation(kind, bytes);
            QVERIFY2(std::fabs(cycles / measured - 1) < 0.06,
                     qPrintable(
                         QString("%1 bytes of kind %2: %3 cycles").arg(bytes).arg(static_cast<int>(kind)).arg(cycles)));
        }
    }

    void badMachinesAreRefused() {
        QCOMPARE(QString::fromStdString(loadMachine("skylake-srever").error().code), QString("core.unknown"));
        Machine machine = smallCore();
        machine.reorderBuffer = 0;
        QVERIFY(!check(machine));
        machine = smallCore();
        machine.units[static_cast<std::size_t>(OpKind::Load)].ports = 0;
        QVERIFY(!check(machine));
        machine = smallCore();
        machine.caches[0].bytes = 10;
        QVERIFY(!check(machine));
        QTemporaryDir folder;
        const auto refused = [&](const QByteArray& text) {
            QFile file(folder.filePath("core.yaml"));
            if (!file.open(QIODevice::WriteOnly)) qFatal("no file");
            file.write(text);
            file.close();
            return !loadMachine(folder.filePath("core.yaml").toStdString()).has_value();
        };
        QVERIFY(refused(""));
        QVERIFY(refused("orrery: core/1\n"));
        QVERIFY(refused("orrery: pipeline/1\nissue_widht: 4\nports: [a]\n"));
        QVERIFY(refused("orrery: pipeline/1\nissue_width: many\nports: [a]\n"));
        QVERIFY(refused("orrery: pipeline/1\nports: [a]\nunits: {integer: {ports: [b]}}\n"));
        QVERIFY(refused("orrery: pipeline/1\nports: [a]\nunits: {integre: {ports: [a]}}\n"));
        QVERIFY(refused("orrery: pipeline/1\nports: [a]\ncaches: [{ways: 4}]\n"));
    }
};

QTEST_GUILESS_MAIN(TestCorePipeline)
#include "tst_core_pipeline.moc"
