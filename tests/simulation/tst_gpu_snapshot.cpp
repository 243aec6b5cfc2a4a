// A run that is cut between two kernels and goes on from the file gives what the whole run gives, to the last count;
// and what is no such file, or is of something else, is named.

#include "base/hash.h"
#include "simulation/gpu/hardware_setting.h"
#include "simulation/gpu/request.h"
#include "simulation/gpu/simulate.h"
#include "support/gpu_traces.h"

#include <QTest>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>

using namespace orrery;
using namespace orrery::gpusim;
using orrery::test::GpuTraces;

class TestGpuSnapshot : public QObject {
    Q_OBJECT
    GpuTraces traces_;
    std::vector<TraceCommand> list_;

    static Machine machine(std::vector<std::string> options = {}) {
        const auto got = readMachine({ORRERY_TEST_DATA "/gpu/small", std::move(options)});
        if (!got) qFatal("%s", toText(got.error()).c_str());
        return got->machine;
    }
    static Machine hardware() {
        Machine out = machine();
        useHardwareSetting(out, *generationOf("volta"));
        return out;
    }
    // Reads and writes twice what L2 holds, so that lines are on their way to memory when the kernel ends.
    TraceCommand streaming(int base, int stream = 0) {
        const auto text = GpuTraces::trace({64, 256, 0, 32, stream}, [&](int b, int w) {
            QString lines;
            for (int i = 0; i < 8; ++i) {
                const int at = base + ((b * 8 + w) * 8 + i) * 128;
                const auto line = [&](const char* form) { return QString(form).arg(at, 0, 16); };
                lines += orrery::test::traceLine(qPrintable(line("1 R4 LDG.E.SYS 1 R2 4 1 0x%1 4 0")), 32 * i);
                lines += orrery::test::traceLine(qPrintable(line("0 STG.E.SYS 2 R2 R4 4 1 0x%1 4 0")), 32 * i + 16);
            }
            // Stores alone are answered at once, while the lines that they displace are still on their way.
            for (int i = 0; i < 8; ++i) {
                const auto at = QString::number(base + 0x800000 + ((b * 8 + w) * 8 + i) * 128, 16);
                const auto store = QString("0 STG.E.SYS 2 R2 R4 4 1 0x%1 4 0").arg(at);
                lines += orrery::test::traceLine(qPrintable(store), 0x200 + 16 * i);
            }
            return lines;
        });
        return {TraceCommand::Kind::Kernel, 0, 0, traces_.write(text).toStdString(), {}};
    }
    struct Run {
        std::vector<KernelResult> kernels;
        std::string snapshot;
    };
    Run run(const Machine& machine, std::size_t until, const std::string& from = {}, int threads = 1) {
        Run out;
        SimulateOptions options;
        options.untilKernel = until, options.resume = from, options.threads = threads;
        if (until > 0) options.snapshot = &out.snapshot;
        auto got = simulate(machine, list_, options);
        if (!got)
            QTest::qFail(toText(got.error()).c_str(), __FILE__, __LINE__);
        else
            out.kernels = std::move(*got);
        return out;
    }
    static bool same(const KernelResult& a, const KernelResult& b) {
        return a.name == b.name && a.startCycle == b.startCycle && a.endCycle == b.endCycle &&
               std::memcmp(&a.counts, &b.counts, sizeof(Counters)) == 0;
    }
    QString refusal(const Machine& machine, std::size_t until, const std::string& from,
                    const std::vector<TraceCommand>& list) {
        std::string out;
        SimulateOptions options;
        options.untilKernel = until, options.resume = from, options.snapshot = &out;
        const auto got = simulate(machine, list, options);
        if (!got && got.error().code != "gpu.snapshot") QTest::qFail(toText(got.error()).c_str(), __FILE__, __LINE__);
        return got ? QString() : QString::fromStdString(toText(got.error()));
    }

private slots:
    void initTestCase() {
        list_ = {streaming(0x40000000),
                 streaming(0x40040000),
                 {TraceCommand::Kind::Copy, 0x40000000, 65536, {}, {}},
                 streaming(0x40000000),
                 streaming(0x40080000)};
    }
    void aRunInPartsIsTheWholeRun_data() {
        QTest::addColumn<bool>("real");
        QTest::newRow("compatibility") << false;
        QTest::newRow("hardware") << true;
    }
    void aRunInPartsIsTheWholeRun() {
        QFETCH(bool, real);
        const Machine m = real ? hardware() : machine();
        const auto whole = run(m, 0).kernels;
        QCOMPARE(whole.size(), std::size_t{4});
        // What one kernel leaves must matter to the next, or this test could not fail.
        QVERIFY(whole[2].counts.l2.readHits != whole[0].counts.l2.readHits);
        bool underWay = false;
        std::string last;
        std::vector<KernelResult> chained;
        for (std::size_t cut = 1; cut < 4; ++cut) {
            const Run first = run(m, cut);
            QCOMPARE(first.kernels.size(), cut);
            const auto rest = run(m, 0, first.snapshot, cut == 2 ? 2 : 1).kernels;
            QCOMPARE(rest.size(), 4 - cut);
            for (std::size_t i = 0; i < 4; ++i)
                QVERIFY2(same(i < cut ? first.kernels[i] : rest[i - cut], whole[i]),
                         qPrintable(QString("cut after %1, kernel %2").arg(cut).arg(i + 1)));
            std::uint64_t requests = 0;
            std::memcpy(&requests, first.snapshot.data() + first.snapshot.find('\n') + 1, sizeof requests);
            underWay = underWay || requests > 0;
            // From snapshot to snapshot.
            const Run next = run(m, cut, last);
            QCOMPARE(next.kernels.size(), std::size_t{1});
            chained.push_back(next.kernels.front());
            last = next.snapshot;
        }
        for (std::size_t i = 0; i < chained.size(); ++i) QVERIFY(same(chained[i], whole[i]));
        QVERIFY(underWay);
    }
    void otherFilesAreNamed() {
        const Machine m = machine();
        const std::string good = run(m, 2).snapshot;
        QVERIFY(refusal(m, 0, "hello", list_).contains("no snapshot"));
        QVERIFY(refusal(m, 0, good.substr(0, good.size() / 2), list_).contains("cut short"));
        std::string damaged = good;
        damaged[good.size() / 3] = static_cast<char>(damaged[good.size() / 3] ^ 1);
        QVERIFY(refusal(m, 0, damaged, list_).contains("damaged"));
        QVERIFY(refusal(m, 0, good.substr(0, good.find('\n') + 1), list_).contains("cut short"));
        // Of a build whose members look otherwise: whole, and yet not ours.
        const auto begin = std::string_view("orrery-gpu-snapshot ").size(), end = good.find('\n');
        std::string about = good.substr(begin, end - begin - 16);
        about.replace(0, about.find(' '), "1-2-3-4");
        const std::string state = good.substr(end + 1);
        QVERIFY(refusal(m, 0, good.substr(0, begin) + about + Hash().add(about).add(state).hex() + "\n" + state, list_)
                    .contains("another version"));
        QVERIFY(refusal(machine({"-gpgpu_scheduler", "gto"}), 0, good, list_).contains("another machine"));
        QVERIFY(refusal(hardware(), 0, good, list_).contains("another machine"));
        auto other = list_;
        std::swap(other[0], other[1]);
        QVERIFY(refusal(m, 0, good, other).contains("another list"));
        QVERIFY(refusal(m, 0, good, {list_[0]}).contains("another list"));
        QVERIFY(refusal(m, 2, good, list_).contains("after kernel 2"));
        QVERIFY(refusal(m, 9, {}, list_).contains("no kernel 9"));
    }
    // The hash of a file says nothing of who wrote it: whatever its bytes are, reading them ends with a result or a
    // refusal. Under a sanitiser of addresses this says more.
    void bytesOfAnotherHandAreReadWithinBounds() {
        const Machine m = machine();
        const std::string good = run(m, 2).snapshot;
        const auto begin = std::string_view("orrery-gpu-snapshot ").size(), end = good.find('\n');
        const std::string about = good.substr(begin, end - begin - 16), state = good.substr(end + 1);
        const auto crafted = [&](const std::string& bytes) {
            return good.substr(0, begin) + about + Hash().add(about).add(bytes).hex() + "\n" + bytes;
        };
        QVERIFY(refusal(m, 0, crafted(state), list_).isEmpty());
        // Bytes too many, too few, and a count of requests beyond all.
        QVERIFY(refusal(m, 0, crafted(state + "x"), list_).contains("cannot be read"));
        QVERIFY(refusal(m, 0, crafted(state.substr(0, state.size() - 1)), list_).contains("cannot be read"));
        std::string many = state;
        many.replace(0, 8, std::string(8, '\x7f'));
        QVERIFY(refusal(m, 0, crafted(many), list_).contains("cannot be read"));
        // The first request: of a kernel, an SM and a slice that are not there.
        std::uint64_t requests = 0;
        std::memcpy(&requests, state.data(), sizeof requests);
        QVERIFY(requests > 0);
        for (const std::size_t at : {offsetof(Request, kernel), offsetof(Request, sm), offsetof(Request, slice),
                                     offsetof(Request, kind), offsetof(Request, bank), offsetof(Request, bypasses)}) {
            std::string wrong = state;
            wrong[8 + at] = '\x7f',
                      wrong[8 + at + (at == offsetof(Request, sm) || at == offsetof(Request, slice))] = '\x7f';
            QVERIFY2(refusal(m, 0, crafted(wrong), list_).contains("cannot be read"), qPrintable(QString::number(at)));
        }
        // Any bytes anywhere: a few cycles of simulation are enough to meet what an index would break.
        std::mt19937_64 random(20);
        int refused = 0;
        for (int i = 0; i < 60; ++i) {
            std::string wrong = state;
            const std::size_t at = random() % wrong.size(), bytes = 1 + random() % 8;
            for (std::size_t k = at; k < std::min(wrong.size(), at + bytes); ++k)
                wrong[k] = i % 3 == 0 ? '\xff' : static_cast<char>(random());
            const std::string file = crafted(wrong);
            SimulateOptions options;
            options.resume = file, options.mostCycles = 20000;
            const auto got = simulate(m, list_, options);
            if (!got) ++refused;
            if (!got && got.error().code != "gpu.snapshot" && got.error().code != "gpu.cycles")
                QVERIFY2(got.error().code == "gpu.kernel", toText(got.error()).c_str());
        }
        QVERIFY2(refused > 0, "no change of bytes was noticed");
    }
    // The same name and another kernel; the same generation and other values; machines and kernels of no file.
    void whatAFileCannotBeHeldAgainstIsRefused() {
        const Machine m = hardware();
        const std::string good = run(m, 2).snapshot;
        Machine other = m;
        other.generation.fp32.latency += 1;
        QVERIFY(refusal(other, 0, good, list_).contains("another machine"));
        other = m;
        other.origin.clear();
        QVERIFY(refusal(other, 1, {}, list_).contains("option files"));
        QFile first(QString::fromStdString(list_[0].file));
        QVERIFY(first.open(QIODevice::ReadOnly));
        const QByteArray text = first.readAll();
        first.close();
        QByteArray changed = text;
        changed.replace("-nregs = 32", "-nregs = 40");
        QVERIFY(changed != text);
        const auto write = [&](const QByteArray& bytes) {
            return first.open(QIODevice::WriteOnly | QIODevice::Truncate) && first.write(bytes) == bytes.size() &&
                   (first.close(), true);
        };
        QVERIFY(write(changed));
        const QString said = refusal(m, 0, good, list_);
        QVERIFY(write(text));
        QVERIFY2(said.contains("another list"), qPrintable(said));
    }
    void kernelsThatOverlapHaveNoEndBetween() {
        const std::vector<TraceCommand> streams{streaming(0x40000000, 1), streaming(0x50000000, 2)};
        QVERIFY(refusal(hardware(), 2, {}, streams).contains("side by side"));
        // In the whole run the second would begin beside the first.
        QVERIFY(refusal(hardware(), 1, {}, streams).contains("kernel 2 is of another stream"));
        // With Accel-Sim's option copies run ahead, whatever the streams.
        const auto ahead = refusal(machine({"-gpgpu_concurrent_kernel_sm", "1"}), 1, {}, {streams[0], streams[0]});
        QVERIFY2(ahead.contains("copies") && !ahead.contains("several streams"), qPrintable(ahead));
        // On a machine that runs one at a time they end one after the other.
        QVERIFY(refusal(machine(), 1, {}, streams).isEmpty());
    }
};

QTEST_GUILESS_MAIN(TestGpuSnapshot)
#include "tst_gpu_snapshot.moc"
